"""Searches for what computes an operator on a device: an inner loop, a launch, a library or a plain
C++ loop. The cheapest path is the usual one."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import count

from indexes.codegen.variants import called_by_generated
from indexes.linking.facts import Edge, Known, StubEntry
from indexes.linking.graph import COPY, Graph, Node, Step
from indexes.linking.usual_conditions import Defaults, taken
from indexes.linking.visible import is_header, path_device
from indexes.linking.works import (
    ComputingKind,
    is_check,
    is_generic,
    is_named_shader,
    is_plain_loop,
)
from indexes.model.answers import RouteKind
from indexes.model.files import GIVEN_SEPARATOR
from indexes.model.regex import regex
from indexes.model.vocabulary import Choice, KernelRow, NativeFunction
from indexes.queries.routing.argument_values import COMPOSITE, Walk, defaults_of
from indexes.queries.routing.conditions import (
    UNUSUAL,
    is_helper,
    is_of_operator,
    is_of_values,
    is_overload_of,
    packs_for_another,
    price_of_name,
)
from indexes.queries.routing.costs import ASIDE, FILL, FILLS, HELP, Prices
from indexes.store.lookup import Lookup

DEVICES = ("CPU", "CUDA", "MPS", "XPU", "PrivateUse1")
_MADE = 3.0
"""The cost of torchgen's kernel, stub and loop around an inner loop."""
_ELSEWHERE = 4.0
"""The cost of a shared function in a header outside the kernels' folder."""
_ELEMENT = 2.0
"""The cost of a library function called per element: the loop around it computes."""
_AROUND = 0.8
"""The cost of a loop around library calls: a little more than a step to those."""
_DTYPE_SWITCH = ("AT_DISPATCH_", "_AT_DISPATCH", "THO_DISPATCH_")
_WEAK = 6.0
"""The cost if a function only seems to compute."""
_GUESS = 20.0
"""The extra cost if only a function's place suggests that it computes."""
_PLAIN: dict[str, RouteKind] = {"CPU": "loop", "MPS": "metal"}
"""How a device's kernel computes if it does not show it."""
_CHECKS = frozenset(("checkBackend", "checkDeviceType"))
"""Device checks of ATen/TensorUtils.h."""
_BLIT = regex(r"copyFrom|fillBuffer").match
"""A message to an MTLBlitCommandEncoder."""


@dataclass(frozen=True, slots=True)
class End:
    """A computing function at the end of a path."""

    kind: RouteKind
    known: Known
    edge: Edge | None
    conditions: tuple[Choice, ...] = ()
    guessed: bool = False
    """Whether it only seems to compute."""


class Ends:
    """Finds what computes in the functions on the paths of one search."""

    def __init__(self, facts: Lookup, prices: Prices, graph: Graph) -> None:
        self.facts = facts
        self.works = facts.works
        self.prices = prices
        self._graph = graph

    def of_node(self, node: Node, walk: Walk) -> Iterator[tuple[float, End]]:
        """What computes in a node itself."""
        known = self.facts.by_id(node.what) if isinstance(node.what, int) else None
        if known is None or self.is_checked(known, walk.device):
            return
        before = walk.before[node]
        if before and isinstance(before[1].why, KernelRow) and before[1].why.kind == "ufunc":
            yield _MADE, End("launch" if walk.device == "CUDA" else "loop", known, None)
            return
        if is_generic(known) and not self.facts.kernel_rows_of(known.id):
            return
        if known.definition.cuda_global:
            end = End("launch", known, None)
            yield HELP * self._fills(end, walk), end
            return
        if not self.is_of(known, walk.device):
            return
        meant = self.works.shaders_meant(before[0].what) if before else set()
        strong = self.works.usual_edges(known, meant) or self._copies(known, node, walk)
        if not strong:
            yield from self._weak(known, node, walk)
        for edge, kind in strong:
            name = edge.symbol.rpartition("::")[2]
            packs = packs_for_another(known.definition.name, walk.native)
            is_it = edge.kind == "library" and (packs or name == known.definition.name)
            if not is_it and not (kind == "loop" and walk.device != "CPU"):
                price, end = self._end(known, edge, kind, walk, edge.target in meant)
                price += _ELEMENT * (edge.kind == "library" and self._is_of_element(known, before))
                price += FILL * packs_for_another(name, walk.native)
                yield price + HELP * self._fills(end, walk), end

    def _is_of_element(self, known: Known, before: tuple[Node, Step] | None) -> bool:
        """Whether a function is called with single values in a loop."""
        caller = before[0].what if before else ""
        if not isinstance(caller, int) or self.works.computing(caller) != "loop":
            return False
        return is_of_values(known)

    def _copies(self, known: Known, node: Node, walk: Walk) -> list[tuple[Edge, ComputingKind]]:
        """Messages by which a device copies memory, which compute in an operator that moves."""
        if self.works.operator(walk.operator[node]) != "moves":
            return []
        edges = self.facts.edges(known.id)
        return [(edge, "metal") for edge in edges if edge.target == "Metal" and _BLIT(edge.symbol)]

    def _fills(self, end: End, walk: Walk) -> bool:
        """Whether a launched function writes one value or indices, for an operator that does
        more."""
        name = end.known.definition.name if end.kind in ("launch", "metal") else ""
        return bool(FILLS.search(name)) and not FILLS.search(walk.native.name)

    def _end(
        self, known: Known, edge: Edge, kind: ComputingKind, walk: Walk, is_meant: bool
    ) -> tuple[float, End]:
        """The cost of an edge that computes, and its end: ``known``, or what the edge names."""
        conditions = self.prices.choices(edge)
        path = known.definition.location.path
        price = 1.0 + _ELSEWHERE * (is_header(path) and "/native/" not in path)
        price += sum(self.prices.conditions.prices(edge, walk))
        given = self.prices.given.inside(walk, edge.caller)
        price += self.prices.order.price(edge, walk.device, given)
        price += _AROUND * (edge.symbol.endswith("parallel_for") and self._by_library(known))
        is_named = edge.kind == "launch" or is_named_shader(edge) or is_meant
        if is_named and isinstance(edge.target, int):
            known = self.facts.by_id(edge.target) or known
            price += price_of_name(known, walk.native)
            edge = edge._replace(confidence="by rule") if is_meant else edge
        return price, End(kind, known, edge, conditions)

    def _by_library(self, known: Known) -> bool:
        """Whether a function calls others that call a library: its loop is over batches."""
        called = (one.target for one in self.facts.edges(known.id) if one.kind == "call")
        return any(isinstance(o, int) and self.works.computing(o) == "library" for o in called)

    def _weak(self, known: Known, node: Node, walk: Walk) -> Iterator[tuple[float, End]]:
        """Functions with a C++ loop over elements; and those instantiated for dtypes without
        visible computing: the one called by a dtype switch, or with the switch."""
        calls, edges = self.facts.calls(known), self.facts.edges(known.id)
        loops = self._loops(known, walk.device)
        built = self.prices.given.is_built(known.definition.guard, walk.device)
        keys = {row.key for row in self.facts.kernel_rows_of(known.id)}
        is_view = self.works.operator(walk.operator[node]) == "helps"
        switches = [e for e in edges if e.symbol.startswith(_DTYPE_SWITCH) and not e.macro]
        made_of_operators = keys == {"CompositeImplicitAutograd"} and not (loops and switches)
        if built is False or is_view or (made_of_operators and self._leads_on(node)):
            return
        kind: RouteKind = _PLAIN.get(walk.device, "launch")
        if switched := any(call.name.startswith(_DTYPE_SWITCH) for call in calls):
            made = {call.name for call in calls if "_t" in call.template}
            for edge in edges:
                target = self.facts.by_id(edge.target) if isinstance(edge.target, int) else None
                if target and target.definition.name in made and self._is_made(target):
                    guessed = not self._loops(target, walk.device)
                    price = _WEAK + HELP * is_helper(target.definition.name)
                    price += self._unusual(edge, walk)
                    yield price, End(kind, target, edge, self.prices.choices(edge), guessed)
        elif not self._is_own(known, node, walk, bool(loops)) or self._leads_on(node):
            return
        price = min((self._unusual(one, walk) for one in (*loops, *switches)), default=0.0)
        inside = {one.branch for one in loops} & {one.branch for one in switches}
        price += 1.0 + _WEAK * (not (inside and keys)) + _GUESS * (not (loops or switched))
        yield price, End(kind, known, None, guessed=not loops)

    def _is_own(self, known: Known, node: Node, walk: Walk, loops: bool) -> bool:
        """Whether a function with a loop is a kernel, named after its operator, or registered on a
        stub."""
        before, rows = walk.before[node], self.facts.kernel_rows_of(known.id)
        is_registered = isinstance(before and before[1].why, StubEntry)
        return is_registered or (loops and (bool(rows) or is_of_operator(known, walk.base[node])))

    def _leads_on(self, node: Node) -> bool:
        """Whether a function leads to what computes, or copies."""
        copies = any(step.lower.what == COPY for step in self._graph.down(node))
        return copies or self.works.leads(node)

    def _loops(self, known: Known, device: str) -> list[Edge]:
        """The C++ loops in a function, by which CPU code computes."""
        edges = self.facts.edges(known.id) if device == "CPU" else ()
        return [one for one in edges if is_plain_loop(one)]

    def _unusual(self, edge: Edge, walk: Walk) -> float:
        """The extra cost of an edge that the usual case does not reach."""
        return UNUSUAL * any(one >= UNUSUAL for one in self.prices.conditions.prices(edge, walk))

    def _is_made(self, known: Known) -> bool:
        """Whether a function called for a dtype is its caller's own."""
        path = known.definition.location.path
        return not is_generic(known) and (not is_header(path) or "/native/" in path)

    def is_of(self, known: Known, device: str) -> bool:
        """Whether a function without a launch can compute on a device: other than on the CPU, only
        in a file for it."""
        return device == "CPU" or path_device(known.definition.location.path) == device

    def is_checked(self, known: Known, device: str) -> bool:
        """Whether a function refuses tensors of a device, as ``checkBackend(.., Backend::CPU)``
        does."""
        checks = (c for c in self.facts.sites(known) if c.name in _CHECKS and not c.branch)
        named = {one.given.rpartition(GIVEN_SEPARATOR)[2] for one in checks}
        return bool(named) and not named.isdisjoint(DEVICES) and device not in named


_OF_TREE = DEVICES[:3]
"""Devices with kernels in the tree; others come with extensions."""
_SPARSE = "Sparse"
_REACH = 10.0
"""The most that another route may cost above the usual one."""


class Search:
    """Finds the paths from an operator to what computes it."""

    def __init__(self, facts: Lookup) -> None:
        self.facts = facts
        self.works = facts.works
        self.prices = Prices(facts)
        self.missing: dict[str, float] = {}
        """Operators that the last walk came to and that have no kernel for its device, with the
        cost of the way to them where it is always taken."""
        self.always_missing = ""
        """The first of them that nothing leads past, on a way that is exact."""
        self._graph = Graph(facts)
        self._ends = Ends(facts, self.prices, self._graph)

    def rows(self, name: str, device: str) -> Sequence[KernelRow]:
        """The kernel for dense tensors of a device: its own, or the composite one."""
        rows = self.facts.kernels(name)
        others = [row for row in rows if _is_of_layout(row.key, device)]
        for key in (device, *COMPOSITE):
            chosen = [row for row in rows if row.key == key]
            if chosen and not (others and key == device and self._raises(chosen)):
                return chosen
        return [row for row in others if row.key == others[0].key]

    def _raises(self, rows: Sequence[KernelRow]) -> bool:
        """Whether kernels only raise, as those of dense tensors for ``sspaddmm.out``."""
        found = [self.facts.known(one) for row in rows for one in row.definitions]
        return bool(found) and all(known and self.only_checks(known) for known in found)

    def called(self, row: KernelRow) -> NativeFunction | None:
        """The operator that a generated kernel calls; None for another kernel."""
        native = self.facts.native(row.op) if row.kind == "generated" else None
        return native and called_by_generated(native, self.facts.overloads)

    # ---------------------------------------------------------------------- the walk

    def ways(self, native: NativeFunction, device: str) -> Iterator[tuple[float, Walk, Node, End]]:
        """The ends, by cost."""
        start = Node("operator", native.full_name, device)
        rows = self.rows(native.full_name, device)
        is_sparse = native.python_module == "sparse" or any(_SPARSE in row.key for row in rows)
        walk, order = Walk(device, native, is_sparse, defaults=defaults_of(native)), count()
        self.missing, self.always_missing = {}, ""
        aside = ASIDE.get(self.works.operator(native.full_name), 0.0)
        heap: list[tuple[float, int, Node, tuple[Node, Step] | None, End | None]] = []
        heapq.heappush(heap, (0.0, next(order), start, None, None))
        seen: set[object] = set()
        best = None
        while heap:
            cost, _, node, before, end = heapq.heappop(heap)
            if best is not None and cost > best + _REACH:
                return
            if end is not None:
                if (end.known.id, end.kind) not in seen and not self._is_beside(walk, node, end):
                    seen.add((end.known.id, end.kind))
                    best = cost if best is None else best
                    yield cost, walk, node, end
                continue
            if node in walk.before:
                continue
            walk.before[node] = before
            walk.operator[node] = self._operator(walk, node, before)
            walk.base[node] = walk.operator[node].partition(".")[0].strip("_")
            limit = UNUSUAL + aside * is_overload_of(node, native)
            if before and cost < limit and self._has_none(node, device):
                self._keep_missing(cost, walk, node)
            for price, one in self._ends.of_node(node, walk):
                heapq.heappush(heap, (cost + price, next(order), node, None, one))
            for step in self._steps(node, walk):
                if step.lower not in walk.before and not self._only_asks(step, walk):
                    price = self.prices.of(step, walk)
                    heapq.heappush(
                        heap, (cost + price, next(order), step.lower, (node, step), None)
                    )

    def _keep_missing(self, cost: float, walk: Walk, node: Node) -> None:
        is_sure = self._is_sure(walk, node)
        self.missing[str(node.what)] = cost if is_sure else math.inf
        if is_sure and walk.device in _OF_TREE and self._is_exact(walk, node):
            self.always_missing = self.always_missing or str(node.what)

    def way(self, walk: Walk, node: Node) -> list[Step]:
        """The steps from the operator to a node."""
        steps, before = [], walk.before[node]
        while before:
            steps.append(before[1])
            before = walk.before[before[0]]
        return steps[::-1]

    def given(self, walk: Walk, step: Step) -> Defaults:
        """The arguments of the function that a step starts from."""
        upper = step.upper.what
        return self.prices.given.inside(walk, upper) if isinstance(upper, int) else walk.defaults

    def _is_sure(self, walk: Walk, node: Node) -> bool:
        """Whether all conditions on the path hold on the device."""
        return all(
            taken(one, walk.device, self.given(walk, step))
            for step in self.way(walk, node)
            if isinstance(step.why, Edge)
            for one in self.prices.choices(step.why)
        )

    def _is_exact(self, walk: Walk, node: Node) -> bool:
        """Whether no step of a path is one of several, or follows only by a rule."""
        steps = (step.why for step in self.way(walk, node))
        edges = (why for why in steps if isinstance(why, Edge))
        return all(
            one.confidence == "exact" and one.kind in ("call", "operator", "stub") for one in edges
        )

    def _is_beside(self, walk: Walk, node: Node, end: End) -> bool:
        """Whether an end computes only in the unusual case of a view, copy or new tensor on the
        path, as ``empty`` may fill and ``contiguous`` copy."""
        passed = False
        for step in self.way(walk, node):
            passed = passed or self._gives_memory(step)
            asked = passed or self._may_copy(step, walk)
            choices = self.prices.choices(step.why) if asked and isinstance(step.why, Edge) else ()
            given = self.given(walk, step)
            if any(taken(one, walk.device, given) is False for one in choices):
                return True
        return passed and any(taken(one, walk.device) is False for one in end.conditions)

    def _gives_memory(self, step: Step) -> bool:
        """Whether a step leads to an operator that allocates, or to its kernel."""
        lower = step.lower
        ops = [str(lower.what)] if lower.kind == "operator" else []
        if isinstance(lower.what, int) and isinstance(step.why, Edge):
            ops = [row.op for row in self.facts.kernel_rows_of(lower.what)]
        return bool(ops) and all(self.works.operator(one) in ("allocates", "helps") for one in ops)

    def _may_copy(self, step: Step, walk: Walk) -> bool:
        """Whether a step leads from a moving operator to its copy, within one that does more."""
        if step.lower.kind != "operator" or not isinstance(step.why, Edge):
            return False
        above, requested = map(
            self.works.operator, (walk.operator[step.upper], walk.native.full_name)
        )
        return above == "moves" != requested

    def _only_asks(self, step: Step, walk: Walk) -> bool:
        """Whether a step leads to an operator that makes no tensor, as ``item``, though the
        requested one does."""
        if step.lower.kind != "operator" or isinstance(step.why, KernelRow):
            return False
        alone = self.works.answers_alone
        return alone(str(step.lower.what)) and not alone(walk.native.full_name)

    def _has_none(self, node: Node, device: str) -> bool:
        """Whether a node is an operator without a kernel of its own for the device, or with one
        that only raises, or a stub without a registration for it."""
        if node.kind == "stub":
            entries = self.facts.registered_on(str(node.what))
            own = any(one.device == device and one.function != "nullptr" for one in entries)
            return not own and not self._graph.ufunc_rows(str(node.what))
        if (node.what, device) in self.facts.boxed_kernels:
            return True
        if node.kind != "operator" or self.works.of(node) not in ("dispatches", "allocates"):
            return False
        rows = self.rows(str(node.what), device)
        return not rows or self._raises(rows)

    def _operator(self, walk: Walk, node: Node, before: tuple[Node, Step] | None) -> str:
        """The operator of a kernel or of its functions."""
        if node.kind == "operator":
            return str(node.what)
        above = walk.operator[before[0]] if before else ""
        rows = self.facts.kernel_rows_of(node.what) if isinstance(node.what, int) else ()
        names = [row.op for row in rows]
        return names[0] if names and above not in names else above

    def _steps(self, node: Node, walk: Walk) -> Iterator[Step]:
        if node.kind != "operator":
            if not self._is_of_host(node, walk):
                yield from self._graph.down(node)
            return
        if (node.what, walk.device) in self.facts.boxed_kernels:
            return
        chosen = self.rows(str(node.what), walk.device)
        if walk.is_sparse:
            rows, key = self.facts.kernels(str(node.what)), f"{_SPARSE}{walk.device}"
            chosen = [*chosen, *(row for row in rows if row.key == key)]
        for step in self._graph.down(node):
            if not isinstance(step.why, KernelRow) or step.why in chosen:
                yield step

    def _is_of_host(self, node: Node, walk: Walk) -> bool:
        """Whether a function checks for tensors on another device, or calls a CPU library on a path
        for another device, so that it only prepares or finishes."""
        known = self.facts.by_id(node.what) if isinstance(node.what, int) else None
        if known is None or self._ends.is_checked(known, walk.device):
            return known is not None
        if walk.device == "CPU" or self._ends.is_of(known, walk.device):
            return False
        calls = (edge for edge, kind in self.works.computing_edges(known) if kind == "library")
        return any(not edge.branch for edge in calls)

    def only_checks(self, known: Known) -> bool:
        """Whether a function only checks: it always raises, or calls such a function."""
        edges = (edge for edge in self.facts.edges(known.id) if edge.kind == "call")
        called = (self.facts.by_id(one.target) for one in edges if isinstance(one.target, int))
        names = {one.definition.name for one in called if one and self._checks(one)}
        return self._checks(known, names)

    def _checks(self, known: Known, others: Set[str] = frozenset()) -> bool:
        """Whether a function calls only checks, what they ask and some others."""
        uses = self.facts.sites(known)
        checks = {use.line for use in uses if is_check(use.name)}
        rest = {use.line for use in uses if use.name not in others} - checks
        return bool(uses) and all(self.prices.is_in_check(known, line) for line in rest)


def _is_of_layout(key: str, device: str) -> bool:
    """Whether a key is for tensors that are not dense: SparseCPU."""
    return key != device and key.endswith(device) and not key.startswith("Autograd")
