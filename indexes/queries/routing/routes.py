"""Routes: the paths from an operator to what computes, for each device, the usual one first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace

from indexes.codegen.variants import is_composite_implicit
from indexes.linking.facts import TO_OPERATORS, Edge, Known
from indexes.linking.graph import Node, Step
from indexes.linking.usual_conditions import taken
from indexes.linking.works import is_plain_loop, is_put_together, is_view
from indexes.model.answers import Route, Way, short_name
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Choice, Confidence, KernelRow, Location, NativeFunction
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.routing.argument_values import COMPOSITE, Walk
from indexes.queries.routing.conditions import (
    UNUSUAL,
    Arms,
    arms_of,
    condition_words,
    is_always,
    is_helper,
    other_arm,
)
from indexes.queries.routing.costs import ASIDE, ROCM
from indexes.queries.routing.ends import DEVICES, End, is_of_threads, runs_functor
from indexes.queries.routing.search import OF_TREE, Found, Search

_MOST = 12
"""Most routes of a device."""
_NOTHING = "no code that computes was found below it"
_COMPUTES_NOTHING = "computes nothing"
_OR_COPIES = "computes nothing, or copies by {}"
_VIEWS = "made of views: computes nothing"
_PYTHON = "a Python function: what it calls is not followed"
_UNSEEN = "no loop, launch or library in its body"
_UNFOLLOWED = "the methods that it calls are not followed"
_CHECKED = "only checks in its body"
_UNREAD = "its body was not read"
LACKS = "no {} kernel in this tree"
_BOXED = "{} runs {}: no kernel for {}"
_ROCM_BUILD = "built for ROCm"
_ON_HOST = "run on the {}"
_GUESSED = "inferred: no loop is seen in its body"


def routes(index: IndexedTree, native: NativeFunction) -> tuple[Route, ...]:
    """The routes to what computes, device by device, best first."""
    finder, has_kernels = _Finder(index), index.facts.has_kernels
    devices = (one for one in DEVICES if one in OF_TREE or has_kernels(one))
    return tuple(one for device in devices for one in finder.of(native, device))


_NEAR = 200
"""Functions behind the other branch that are checked for the same end."""


class _Finder:
    def __init__(self, index: IndexedTree) -> None:
        self.facts = index.facts
        self.search = Search(index.facts)
        self.works = self.search.works
        self._computing: set[str] = set()
        """Operators that compute on a device that was asked for before."""

    def of(self, native: NativeFunction, device: str) -> list[Route]:
        """The routes of an operator on a device, the usual one first."""
        found = self._find(native, device)
        if found and found[0].kind != "none":
            self._computing.add(native.full_name)
        return found

    def _find(self, native: NativeFunction, device: str) -> list[Route]:
        rows = self.search.rows(native.full_name, device)
        if boxed := self.facts.boxed_kernels.get((native.full_name, device)):
            return self._none(native, device, self._lacks(native.full_name, device), boxed)
        if not rows:
            return []
        is_plain_view = is_view(parse_schema(native.schema))
        if is_plain_view and (nothing := self._nothing(native, device, by_copy=False)):
            return self._of_view(native, device, nothing)
        called = self.search.called(rows[0])
        if called and not self.search.rows(called.full_name, device):
            return self._none(native, device, self._lacks(called.full_name, device), None)
        inner = [_through(native, one) for one in self.of(called, device)] if called else []
        if inner and not self._computes_nothing(called, inner[0]):
            return inner
        found = list(self.search.ways(native, device))
        if self.search.always_missing:
            return self._unseen(native, device)
        is_far = not found or found[0][3].guessed or found[0][0] >= min(ASIDE.values())
        instead = self._instead(native, device, found) if is_far or called else []
        own = instead or self._routes(found)
        if own and not instead and (missing := self._missing_before(*found[0][1:3])):
            kernel = self._kernel(native, device)
            return self._none(native, device, self._lacks(missing, device), kernel)
        return own or inner or self._unseen(native, device)

    def _routes(self, found: Sequence[Found]) -> list[Route]:
        """The routes of what was found, each once; of a step that runs too, the usual is marked."""
        running = next((one for one in found if runs_functor(found[0][3], one[3])), None)
        edges = (one[3].edge for one in found)
        called = {
            one.symbol.rpartition("::")[2] for one in edges if one and one.target == "MPSGraph"
        }
        # The tree's own runMPSGraph is what the ends before it call already.
        others = (one for one in found[1:] if one[3].known.definition.name not in called)
        shown = [*found[:1], *(one for one in others if not self.search.is_on(found[0], one))]
        steps = [self.search.runs_too(found[0], one) for one in shown[:_MOST]]
        usual = {steps.index(one) for one in steps if one}
        return [
            replace(self._route(*one), beside=at in usual or one is running)
            for at, one in enumerate(shown[:_MOST])
        ]

    def _missing_before(self, walk: Walk, node: Node) -> str:
        """The operator without a kernel of which a view is made that a path goes on from:
        ``_coalesce`` for ``x.coalesce().values().sum()``; empty if there is none."""
        order = self.search.prices.order
        steps = (step.why for step in self.search.way(walk, node))
        called = [why for why in steps if isinstance(why, Edge) and why.kind == "operator"]
        around = (one for why in called for one in order.made_for(why) if not one.branch)
        names = dict.fromkeys(str(one.target) for one in around if one.kind == "operator")
        natives = map(self.facts.native, names)
        made = (one for one in natives if one and self._is_composite_view(one, walk.device))
        return next(filter(None, (self._missing_in(one, walk.device) for one in made)), "")

    def _is_composite_view(self, native: NativeFunction, device: str) -> bool:
        is_made = is_composite_implicit(native) and is_view(parse_schema(native.schema))
        return is_made and bool(self.search.rows(native.full_name, device))

    def _missing_in(self, native: NativeFunction, device: str) -> str:
        """The operator without a kernel that a view is made of; empty if there is none."""
        if next(self.search.ways(native, device), None):
            return ""
        is_usual = min(self.search.missing.values(), default=math.inf) < UNUSUAL
        return self._missing(self.search.rows(native.full_name, device)[0]) if is_usual else ""

    def _of_view(self, native: NativeFunction, device: str, nothing: Route) -> list[Route]:
        """A view; one made of operators may usually return another tensor, as ``coalesce``."""
        if not is_composite_implicit(native):
            return [nothing]
        found = list(self.search.ways(native, device))
        if not found and min(self.search.missing.values(), default=math.inf) < UNUSUAL:
            return self._unseen(native, device)
        if not found or found[0][0] >= UNUSUAL + ASIDE["moves"] or self._is_unusual(*found[0][1:]):
            return [self._or_copies(native, nothing)]
        return [self._route(*one) for one in found[:_MOST]]

    def _or_copies(self, native: NativeFunction, nothing: Route) -> Route:
        """The route of a composite view, with the operator that copies where no view is made."""
        from indexes.queries.recording import Recording

        below = Recording(self.facts, nothing.device, ()).below(native.full_name)
        copies = sorted(one for one in below if self.works.operator(one) == "moves")
        return replace(nothing, note=_OR_COPIES.format(copies[0])) if copies else nothing

    def _instead(self, native: NativeFunction, device: str, found: Sequence[Found]) -> list[Route]:
        """What to answer if only a guess, or something beside the way, was found."""
        missing = self.search.missing
        if not found and min(missing.values(), default=math.inf) < math.inf:
            return self._unseen(native, device)
        cost = found[0][0] if found else math.inf
        is_usual = found and not (found[0][3].guessed or self._is_unusual(*found[0][1:]))
        row = self.search.rows(native.full_name, device)[0]
        by_copy = bool(is_usual) and row.kind != "generated"
        if nothing := self._nothing(native, device, by_copy):
            return [nothing]
        if missing and (not found or self._is_beside_missing(*found[0][:3])):
            return self._unseen(native, device)
        if native.defined_by and not row.calls and cost >= min(ASIDE.values()):
            # What operators do on the way, as a copy, is not what one of a library is for, unless
            # it is known to do what another does.
            own = [self._route(*one) for one in found if self._is_own(*one[1:])]
            return own[:_MOST] or self._unseen(native, device)
        return []

    def _computes_nothing(self, called: NativeFunction | None, route: Route) -> bool:
        """Whether an operator only gives its result to one that copies it, on any device."""
        if route.note != _NOTHING or called is None:
            return _COMPUTES_NOTHING in route.note
        return not self.works.leads(Node("operator", called.full_name, "CPU"))

    def _lacks(self, name: str, device: str) -> str:
        """Which operator lacks a kernel for a device, and the boxed function that runs it."""
        if boxed := self.facts.boxed_kernels.get((name, device)):
            return _BOXED.format(boxed.definition.name, name, device)
        return f"{name.removeprefix('at::native::')}: {LACKS.format(device)}"

    def _none(
        self, native: NativeFunction, device: str, note: str, kernel: Known | None
    ) -> list[Route]:
        here = Way(native.full_name, native.location)
        return [Route(device, "none", *_place(kernel, here), (here,), (), "by rule", note)]

    def _is_beside_missing(self, cost: float, walk: Walk, node: Node) -> bool:
        """Whether a path passes an operator beside what computes, or costs much more than the path
        to an operator without a kernel."""
        if cost >= min(self.search.missing.values()) + min(ASIDE.values()):
            return True
        return any(self.works.of(one.lower) in ASIDE for one in self.search.way(walk, node))

    def _is_own(self, walk: Walk, node: Node, end: End) -> bool:
        """Whether the end is reached without another operator."""
        steps = self.search.way(walk, node)
        return not end.guessed and all(one.lower.kind != "operator" for one in steps)

    def _is_unusual(self, walk: Walk, node: Node, end: End) -> bool:
        """Whether a path has a condition that does not hold in the usual case."""
        steps = (one.why for one in self.search.way(walk, node))
        choices_of = self.search.prices.choices
        choices = [c for why in steps if isinstance(why, Edge) for c in choices_of(why)]
        return any(taken(one, walk.device) is False for one in (*choices, *end.conditions))

    def _unseen(self, native: NativeFunction, device: str) -> list[Route]:
        """The kernel itself, if nothing below it is known to compute; for one made of operators,
        the first without a kernel for the device."""
        kernel, (row, *_) = self._kernel(native, device), self.search.rows(native.full_name, device)
        if missing := self._missing(row):
            return self._none(native, device, self._lacks(missing, device), kernel)
        if row.kind == "python":
            here = Way(native.full_name, native.location)
            made = (row.symbol, row.definitions[0].location, (here,), (), row.confidence, _PYTHON)
            return [Route(device, "none", *made)]
        if kernel is None:
            return []
        if row.key in COMPOSITE and self._makes_views(Node("definition", kernel.id, device)):
            note = _VIEWS
        elif row.key in COMPOSITE and not self.search.only_checks(kernel):
            note = self._overridden(kernel) or _NOTHING
        else:
            note = self._nothing_seen(kernel)
        return self._none(native, device, note, kernel)

    def _makes_views(self, kernel: Node) -> bool:
        """Whether everything below a kernel is known, and makes views or returns information."""
        graph = self.works.graph
        nodes = [kernel, *(step.lower for step in graph.without_dispatch(kernel))]
        below = [step.lower for node in nodes for step in graph.down(node)]
        works = {self.works.of(node) for node in below if node.kind == "operator"}
        numbers = [node.what for node in nodes if isinstance(node.what, int)]
        kinds = {edge.kind for number in numbers for edge in self.facts.edges(number)}
        are_followed = kinds <= {*TO_OPERATORS, "call", "macro", "passed", "functor"}
        return are_followed and "helps" in works <= {"helps", "checks", "allocates"}

    def _missing(self, row: KernelRow) -> str:
        """The operator without a kernel that keeps a kernel from computing; for a device's own
        kernel one that it always calls."""
        found = self.search.missing
        called = (one for one, cost in found.items() if row.key in COMPOSITE or cost < math.inf)
        return self.search.always_missing or next(called, "")

    def _nothing_seen(self, kernel: Known) -> str:
        """What is known about a kernel in which nothing computes or that was not read."""
        from indexes.readers.cxx.facts import keeps_bodies, keeps_whole_bodies
        from indexes.store.registrations import library_uses

        name, path = short_name(kernel.definition.qualified), kernel.definition.location.path
        if not (keeps_bodies(path) or library_uses(self.facts, path=path)):
            return f"{name}: {_UNREAD}"
        if self.search.only_checks(kernel):
            return f"{name}: {_CHECKED}"
        if keeps_whole_bodies(path):
            return f"{name}: {_UNSEEN}"
        return self._overridden(kernel) or f"{name}: {_UNFOLLOWED}"

    def _overridden(self, kernel: Known) -> str:
        """The classes, one of which runs a virtual method that a kernel calls; may be empty."""
        found: dict[str, list[Known]] = {}
        for edge in self.facts.edges(kernel.id):
            target = edge.target if edge.candidates > 1 else ""
            one = self.facts.by_id(target) if isinstance(target, int) else None
            if one and not is_helper(one.definition.name):
                found.setdefault(edge.symbol, []).append(one)
        for methods in found.values():
            # Those that are defined inside their class are interfaces and stand-ins, mostly.
            methods.sort(key=lambda one: one.definition.virtual)
            classes = dict.fromkeys(one.definition.scope.rpartition("::")[2] for one in methods)
            if len(classes) > 1:
                named = [*classes][:2] + [f"{len(classes) - 2} more"] * (len(classes) > 2)
                return f"{kernel.definition.name}: one of {', '.join(named)}"
        return ""

    def _nothing(self, native: NativeFunction, device: str, by_copy: bool) -> Route | None:
        """The route of an operator that computes nothing; ``by_copy``: other than by a copy."""
        if native.defined_by:
            return None  # what it does to objects that are no tensors, no schema tells
        schema = parse_schema(native.schema)
        works = self.works.of(Node("operator", native.full_name, device))
        if is_view(schema) and works == "helps":
            note = "a view: computes nothing"
        elif works in ("helps", "checks"):
            note = "computes nothing"
        elif (
            works == "allocates"
            and self._is_read(native, device)
            and native.full_name not in self._computing
            and (not by_copy or is_put_together(native, self.facts.overloads(native.name)))
        ):
            note = "a new tensor: computes nothing"
        else:
            return None
        here = Way(native.full_name, native.location)
        place = _place(self._kernel(native, device), here)
        return Route(device, "none", *place, (here,), note=note)

    def _is_read(self, native: NativeFunction, device: str) -> bool:
        """Whether a kernel is known or generated, so that its contents are known."""
        rows = self.search.rows(native.full_name, device)
        return any(row.definitions or row.kind == "generated" for row in rows)

    def _kernel(self, native: NativeFunction, device: str) -> Known | None:
        definitions = (
            d for row in self.search.rows(native.full_name, device) for d in row.definitions
        )
        return next(filter(None, map(self.facts.known, definitions)), None)

    # ------------------------------------------------------------------------ conditions

    def _conditions(self, walk: Walk, node: Node, end: End) -> Iterator[Choice]:
        """The conditions of a path to an end, without those whose other branch leads there too."""
        steps = self.search.way(walk, node)
        ahead = {end.known.id, *(step.lower.what for step in steps)}
        for step in steps:
            choices = self.search.prices.choices(step.why) if isinstance(step.why, Edge) else ()
            for one in choices:
                known = taken(one, walk.device, self.search.given(walk, step))
                joined = known is None and self._is_joined(step, choices, one, ahead, walk.device)
                joined = joined or self._is_of_all_cases(step, one)
                if not joined and not self._always_holds(one, walk, step.upper.what):
                    yield one
            ahead.discard(step.upper.what)
        same, caller = self._same(end), end.edge.caller if end.edge else end.known.id
        for one in end.conditions:
            ways = self._alternatives(one, end, walk.device)
            ways = ways or self._other_arm(one, end.conditions, same, walk.device)
            is_known = is_of_threads(one, end.edge) or self._always_holds(one, walk, caller)
            if not ways and not is_known:
                yield one

    def _always_holds(self, choice: Choice, walk: Walk, caller: int | str) -> bool:
        """Whether a condition holds by the arguments on the path, or by the tree's definitions."""
        given = self.search.prices.given
        always = given.inside(walk, caller, always=True) if isinstance(caller, int) else ()
        always = (*always, *given.flags(choice.text, walk.device))
        return bool(always) and taken(choice, walk.device, always) is True

    def _is_of_all_cases(self, step: Step, choice: Choice) -> bool:
        """Whether several cases of a switch lead where a step does."""
        cases = self.search.prices.conditions.cases
        return isinstance(step.why, Edge) and cases(step.why, choice) > 1

    def _same(self, end: End) -> list[Edge]:
        """The calls of an end by its caller, in all branches."""
        if end.edge is None or end.known.id == end.edge.caller:
            return []
        return [one for one in self.facts.edges(end.edge.caller) if one.target == end.edge.target]

    def _alternatives(self, choice: Choice, end: End, device: str) -> list[Edge]:
        """The calls and loops that compute in the other branch of an end's condition, as for a
        transform and its inverse."""
        if end.edge is None or end.known.id != end.edge.caller:
            return []
        edges = [edge for edge, kind in self.works.computing_edges(end.known) if kind == end.kind]
        if end.kind == "loop":
            edges += filter(is_plain_loop, self.facts.edges(end.known.id))
        return self._other_arm(choice, end.conditions, edges, device)

    def _is_joined(
        self,
        step: Step,
        choices: Sequence[Choice],
        choice: Choice,
        ahead: Set[int | str],
        device: str,
    ) -> bool:
        """Whether the other branch of a step's condition also always leads on."""
        steps = self.works.graph.down(step.upper)
        lower = {one.why: one.lower for one in steps if isinstance(one.why, Edge)}
        beside = self._in_other_branch(choice, lower, device)
        leading = [one for one in beside if self._always_leads(lower[one], ahead)]
        return bool(self._other_arm(choice, choices, leading, device))

    def _other_arm(
        self, choice: Choice, choices: Sequence[Choice], edges: Iterable[Edge], device: str
    ) -> list[Edge]:
        """The edges in the other branch of one of some conditions, if one of them is usually
        passed there."""
        ways = self._in_other_branch(choice, edges, device)
        given = arms_of(one for one in choices if one != choice) | {other_arm(choice)}
        return list(ways) if is_always(list(ways.values()), given) else []

    def _in_other_branch(
        self, choice: Choice, edges: Iterable[Edge], device: str
    ) -> dict[Edge, Arms]:
        """The edges in the other branch of a condition, with those of their branches that are not
        usually taken."""
        ways: dict[Edge, Arms] = {}
        for edge in edges:
            around = self.search.prices.choices(edge)
            kept = (c for c in around if c.text == choice.text or not taken(c, device))
            if other_arm(choice) in (arms := arms_of(kept)):
                ways[edge] = arms
        return ways

    def _always_leads(self, start: Node, ahead: Set[int | str]) -> bool:
        seen, pending = {start}, [start]
        while pending and len(seen) < _NEAR:
            node = pending.pop()
            if node.what in ahead:
                return True
            for step in self.works.graph.down(node) if node.kind == "definition" else ():
                always = isinstance(step.why, Edge) and not step.why.branch
                if always and step.lower not in seen:
                    seen.add(step.lower)
                    pending.append(step.lower)
        return False

    # ------------------------------------------------------------------------ in words

    def _route(self, cost: float, walk: Walk, node: Node, end: End) -> Route:
        steps = self.search.way(walk, node)
        via = [self._place(step.upper, step) for step in steps[:1]]
        via += [self._place(step.lower, step) for step in steps]
        last = self.facts.by_id(node.what) if isinstance(node.what, int) else None
        if last and last.id == end.known.id:
            via = via[:-1]
        if not via:
            via = [self._place(node, None)]
        words = condition_words(self._conditions(walk, node, end), walk.device)
        found = end.known.definition
        words += (_ROCM_BUILD,) * (ROCM in found.location.path)
        words += (_ON_HOST.format(walk.device),) * (walk.device != walk.asked)
        note = _GUESSED if end.guessed else ""
        if end.edge and end.edge.kind == "library":
            joined = (
                edge for one in end.conditions for edge in self._alternatives(one, end, walk.device)
            )
            edges = sorted([end.edge, *joined], key=lambda one: one.line)
            note = " or ".join(dict.fromkeys(one.symbol for one in edges))
        elif end.edge and (launched := self.search.ends.launched(walk, end.edge)):
            note = launched.definition.name
        return Route(
            walk.asked,
            end.kind,
            found.qualified,
            found.location,
            tuple(via),
            words,
            self._confidence(walk, steps, end),
            note,
        )

    def _place(self, node: Node, step: Step | None) -> Way:
        if isinstance(node.what, int):
            known = self.facts.by_id(node.what)
            assert known is not None
            return Way(known.definition.qualified, known.definition.location)
        if node.kind == "operator" and (native := self.facts.native(node.what)):
            return Way(native.full_name, native.location)
        return Way(node.what, self._call_place(step))

    def _call_place(self, step: Step | None) -> Location:
        if step and isinstance(step.why, Edge):
            caller = self.facts.by_id(step.why.caller)
            return Location(caller.definition.location.path if caller else "", step.why.line)
        return Location("", 0)

    def _confidence(self, walk: Walk, steps: Sequence[Step], end: End) -> Confidence:
        """The confidence of a route; one of several computing steps of a body is chosen by rule."""
        if end.guessed:
            return "by rule"
        sure = {s.why.confidence for s in steps if isinstance(s.why, (Edge, KernelRow))}
        edges = (*(s.why for s in steps), end.edge)
        is_of_many = any(isinstance(one, Edge) and self._is_of_many(walk, one) for one in edges)
        if is_of_many or any(map(self._may_view, steps)):
            sure.add("by rule")
        return next((one for one in ("ambiguous", "by rule") if one in sure), "exact")

    def _may_view(self, step: Step) -> bool:
        """Whether a step leads to an operator that copies only where it can't make a view."""
        native = self.facts.native(str(step.lower.what)) if step.lower.kind == "operator" else None
        return native is not None and is_view(parse_schema(native.schema))

    def _is_of_many(self, walk: Walk, edge: Edge) -> bool:
        """Whether an edge is one of several computing steps of a body, one after the other."""
        prices = self.search.prices
        return prices.order.is_of_many(edge, walk.device, prices.given.inside(walk, edge.caller))


def _through(native: NativeFunction, route: Route) -> Route:
    """A route of the operator that a kernel calls which torchgen makes for another."""
    via = (Way(native.full_name, native.location), *route.via)
    sure: Confidence = "ambiguous" if route.confidence == "ambiguous" else "by rule"
    return replace(route, via=via, confidence=sure)


def _place(kernel: Known | None, otherwise: Way) -> tuple[str, Location]:
    if kernel is None:
        return otherwise.symbol, otherwise.location
    return kernel.definition.qualified, kernel.definition.location
