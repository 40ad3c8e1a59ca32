"""Searches for what computes an operator on a device: an inner loop, a launch, a library or a plain
C++ loop. The cheapest path is the usual one."""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from functools import lru_cache, partial
from itertools import count

from indexes.codegen.variants import called_by_generated
from indexes.linking.facts import Call, Edge, Known
from indexes.linking.graph import Node, Step, dispatched_device
from indexes.linking.usual_conditions import Defaults, taken
from indexes.linking.works import is_check
from indexes.model.files import GIVEN_SEPARATOR
from indexes.model.regex import regex
from indexes.model.vocabulary import KernelRow, NativeFunction
from indexes.queries.routing.argument_values import COMPOSITE, Walk, defaults_of
from indexes.queries.routing.conditions import UNUSUAL, are_likely
from indexes.queries.routing.costs import ASIDE, Prices
from indexes.queries.routing.ends import DEVICES, End, Ends
from indexes.store.lookup import Lookup

OF_TREE = DEVICES[:3]
"""Devices with kernels in the tree; others come with extensions."""
_SPARSE = "Sparse"
_DENSE, _DENSE_INSTEAD = 3.0, 9.0
"""The cost of a kernel for dense tensors in an operator of sparse ones; where there is a sparse
one."""
_HOST = "CPU"
_IS_HOST = regex(r"(?:.*\W)?k?CPU$|\"?cpu\"?$", re.IGNORECASE).match
"""An argument that says that something is to be on the CPU: ``at::kCPU``, ``"cpu"``."""
_TO = ("to", "cpu")
_NAMES = regex(r"(?<=\.)\w+")
_ON_VALUES = regex(r"\._?values$").search
"""A call on the values of a sparse tensor: ``x._values().norm(p)``."""
_REACH = 10.0
"""The most that another route may cost above the usual one."""

Found = tuple[float, Walk, Node, End]
"""The cost of a path, the walk that found it, its last node and its end."""


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
        self._graph = self.works.graph
        self.ends = Ends(facts, self.prices, self._graph)
        self._copies = lru_cache(4096)(self._find_copies)

    def rows(self, name: str, device: str) -> Sequence[KernelRow]:
        """The kernel for dense tensors of a device: its own, or the composite one."""
        rows = self.facts.kernels(name)
        others = [row for row in rows if _is_of_layout(row.key, device)]
        for key in (device, *COMPOSITE):
            chosen = [row for row in rows if row.key == key]
            if chosen and not (others and key == device and self._raises(chosen)):
                return chosen
        made = (row for row in self._graph.made_rows(name) if row.key == device)
        return [row for row in others if row.key == others[0].key] or list(made)

    def _raises(self, rows: Sequence[KernelRow]) -> bool:
        """Whether kernels only raise, as those of dense tensors for ``sspaddmm.out``."""
        found = [self.facts.known(one) for row in rows for one in row.definitions]
        return bool(found) and all(known and self.only_checks(known) for known in found)

    def called(self, row: KernelRow) -> NativeFunction | None:
        """The operator that a generated kernel calls; None for another kernel."""
        native = self.facts.native(row.op) if row.kind == "generated" else None
        return native and called_by_generated(native, self.facts.overloads)

    # ---------------------------------------------------------------------- the walk

    def ways(self, native: NativeFunction, device: str) -> Iterator[Found]:
        """The ends, by cost."""
        start = Node("operator", native.full_name, device)
        rows = self.rows(native.full_name, device)
        is_sparse = native.python_module == "sparse" or any(_SPARSE in row.key for row in rows)
        walk, order = Walk(device, native, is_sparse, defaults=defaults_of(native)), count()
        walks = {device: walk, _HOST: walk if device == _HOST else replace(walk, device=_HOST)}
        self.missing, self.always_missing = {}, ""
        aside = ASIDE.get(self.works.operator(native.full_name), 0.0)
        heap: list[tuple[float, int, Node, tuple[Node, Step] | None, End | None]] = []
        heapq.heappush(heap, (0.0, next(order), start, None, None))
        seen: set[object] = set()
        best = None
        while heap:
            cost, _, node, before, end = heapq.heappop(heap)
            walk = walks[node.device]
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
            is_moved = bool(aside) and self.works.of(node) == "moves"
            limit = UNUSUAL + aside * (is_moved or _is_overload_of(node, native))
            if before and cost < limit and self._has_none(node, walk.device, is_moved):
                self._keep_missing(cost, walk, node)
            for price, one in self.ends.of_node(node, walk):
                heapq.heappush(heap, (cost + price, next(order), node, None, one))
            for step, price in self._priced(node, walk, cost < UNUSUAL):
                heapq.heappush(heap, (cost + price, next(order), step.lower, (node, step), None))

    def _priced(self, node: Node, walk: Walk, is_usual: bool) -> Iterator[tuple[Step, float]]:
        """The steps from a node that a path can take, with their costs; from one that is usual, to
        the CPU too."""
        steps = self._steps(node, walk)
        for step in map(self._placed, steps) if is_usual else steps:
            if step.lower not in walk.before and not self._only_asks(step, walk):
                price = self.prices.of(step, walk) + self._dense_price(step, walk)
                if price < math.inf:
                    yield step, price

    def _placed(self, step: Step) -> Step:
        """A step; to the CPU if what is called is given what was copied there."""
        why, lower = step.why, step.lower
        if not isinstance(why, Edge) or lower.device == _HOST or not self._is_on_host(why):
            return step
        return step._replace(lower=lower._replace(device=_HOST))

    def _is_on_host(self, edge: Edge) -> bool:
        """Whether a stub is told to use its kernel of the CPU, or a call is given a copy on the CPU
        or what such a kernel returned: ``at::nonzero(x.to("cpu"))``, ``at::cpu::empty({0}).f()``.
        """
        if edge.kind == "stub":
            return any(map(_is_for_host, self.prices.order.sites(edge)[:1]))
        calls, called = self._copies(edge.caller), (edge.line, edge.symbol.rpartition("::")[2])
        own = next((n for n, (c, _) in enumerate(calls) if (c.line, c.name) == called), None)
        if own is None:
            return False
        before = {one.name: told for one, told in calls[:own] if told is not None}
        rest = (pair for pair in calls[:own:-1] if pair[0].line <= edge.line + 1)
        behind = {one.name: told for one, told in rest if told is not None}
        on, given = map(_NAMES.findall, (calls[own][0].receiver, calls[own][0].arguments))
        return any(map(before.get, on)) or any(map((before | behind).get, given))

    def _find_copies(self, caller: int) -> list[tuple[Call, bool | None]]:
        """The calls of a body, each with whether its result is on the CPU, as a copy's or that of
        a kernel of the CPU; None if no other device is told. Empty if none is."""
        known, edges = self.facts.by_id(caller), self.facts.edges(caller)
        served = ((e.line, e.symbol) for e in edges if dispatched_device(e) == _HOST)
        places = {(line, symbol.rpartition("::")[2]) for line, symbol in served}
        found = [
            (one, _is_for_host(one) if one.name in _TO else (one.line, one.name) in places or None)
            for one in (self.facts.sites(known) if known else ())
        ]
        return found if any(told for _, told in found) else []

    def _keep_missing(self, cost: float, walk: Walk, node: Node) -> None:
        is_sure = self._is_sure(walk, node)
        self.missing[str(node.what)] = cost if is_sure else math.inf
        if is_sure and walk.device in OF_TREE and self._is_exact(walk, node):
            self.always_missing = self.always_missing or str(node.what)

    def way(self, walk: Walk, node: Node) -> list[Step]:
        """The steps from the operator to a node."""
        steps, before = [], walk.before[node]
        while before:
            steps.append(before[1])
            before = walk.before[before[0]]
        return steps[::-1]

    def is_on(self, first: Found, other: Found) -> bool:
        """Whether a route is the first one again: to the launch inside the template that the first
        one calls, or to a function on its way, or that runs a functor on its way, that only seems
        to compute, has a loop around it, or launches its Metal kernel."""
        end = first[3].edge
        if end and end.kind == "call" and end in self.edges(*other[1:]):
            return True
        known, edge = other[3].known.id, other[3].edge
        only_seems = edge is None or (edge.kind == "call" and edge.target == known)
        is_around = edge is not None and edge.kind in ("loop", "shader") and edge.caller == known
        given = [one for one in self.edges(*first[1:]) if one.kind == "functor"]
        runs = (e.target for one in given for e in self.facts.edges(one.caller) if _runs(e, one))
        on_way = known in (*(step.lower.what for step in self.way(*first[1:3])), *runs)
        return on_way and (only_seems or is_around)

    def runs_too(self, first: Found, other: Found) -> Edge | None:
        """The step by which another path leaves the first one in a body that usually takes both;
        None if it does not."""
        ways = [*zip(self.edges(*first[1:]), self.edges(*other[1:]), strict=False)]
        at = next((n for n, pair in enumerate(ways) if pair[0] != pair[1]), None)
        if at is None or ways[at][0].caller != ways[at][1].caller:
            return None
        (here, there), inside = ways[at], self.prices.given.inside
        walk, given = first[1], inside(first[1], here.caller)
        passes_both = partial(self.prices.order.passes_both, device=walk.device, defaults=given)
        others = self.facts.edges(here.caller) if here.symbol != there.symbol else (there,)
        is_passed = any(passes_both(here, one) for one in others if one.target == there.target)
        rest = self.edges(*other[1:])[at + 1 :] if _runs(there, here) else ()
        known = ((self.prices.choices(one), inside(other[1], one.caller)) for one in rest)
        is_usual = is_passed and all(are_likely(c, other[1].device, told) for c, told in known)
        return there if is_usual else None

    def edges(self, walk: Walk, node: Node, end: End) -> list[Edge]:
        """The edges of a path, with that of its end."""
        edges = (*(step.why for step in self.way(walk, node)), end.edge)
        return [one for one in edges if isinstance(one, Edge)]

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

    def _has_none(self, node: Node, device: str, is_moved: bool) -> bool:
        """Whether a node is an operator without a kernel of its own for the device, or with one
        that only raises, or a stub without a registration for it. ``is_moved``: it fills or copies,
        in an operator that does no more."""
        if node.kind == "stub":
            entries = self.facts.registered_on(str(node.what))
            own = any(one.device == device and one.function != "nullptr" for one in entries)
            return not own and not self._graph.ufunc_rows(str(node.what))
        if (node.what, device) in self.facts.boxed_kernels:
            return True
        works = self.works.of(node)
        if node.kind != "operator" or not (is_moved or works in ("dispatches", "allocates")):
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
                native = self.facts.native(walk.operator[node])
                of_view = native and "inplace_view" in native.tags  # what it dispatches is beside
                down = self._graph.down(node)
                yield from (s for s in down if not (of_view and s.lower.kind == "operator"))
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

    def _dense_price(self, step: Step, walk: Walk) -> float:
        """The cost of a kernel for dense tensors in an operator of sparse ones."""
        row = step.why
        if not (walk.is_sparse and isinstance(row, KernelRow) and row.key == walk.device):
            return 0.0
        if any(map(self._is_on_values, self.way(walk, step.upper))):
            return 0.0
        keys = {one.key for one in self.facts.kernels(row.op)}
        return _DENSE_INSTEAD if f"{_SPARSE}{walk.device}" in keys else _DENSE

    def _is_on_values(self, step: Step) -> bool:
        """Whether a step is called on the values of a sparse tensor, which are dense."""
        sites = self.prices.order.sites(step.why) if isinstance(step.why, Edge) else ()
        return any(_ON_VALUES(one.receiver) for one in sites)

    def _is_of_host(self, node: Node, walk: Walk) -> bool:
        """Whether a function checks for tensors on another device, or calls a CPU library on a path
        for another device, so that it only prepares or finishes."""
        known = self.facts.by_id(node.what) if isinstance(node.what, int) else None
        if known is None or self.ends.is_checked(known, walk.device):
            return known is not None
        if walk.device == "CPU" or self.ends.is_of(known, walk.device):
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
        rest = [use for use in uses if use.name not in others and not is_check(use.name)]
        if known.definition.location.line != known.definition.location.end_line:
            checks = {use.line for use in uses if is_check(use.name)}
            rest = [use for use in rest if use.line not in checks]
        return bool(uses) and all(self.prices.is_in_check(known, use.line) for use in rest)


def _is_for_host(call: Call) -> bool:
    """Whether the first argument of a call, or its name, asks for something on the CPU."""
    return bool(_IS_HOST(call.given.partition(GIVEN_SEPARATOR)[0] or call.name))


def _runs(call: Edge, functor: Edge) -> bool:
    """Whether a call may be given a functor."""
    return (call.kind, functor.kind, call.line) == ("call", "functor", functor.line)


def _is_of_layout(key: str, device: str) -> bool:
    """Whether a key is for tensors that are not dense: SparseCPU."""
    return key != device and key.endswith(device) and not key.startswith("Autograd")


def _is_overload_of(node: Node, native: NativeFunction) -> bool:
    return node.kind == "operator" and str(node.what).partition(".")[0] == native.name
