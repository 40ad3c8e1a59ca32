"""The ends of routes: a loop, launch or library in a function, or what only seems to compute."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from indexes.linking.facts import TO_STUBS, Call, Edge, Known, StubEntry
from indexes.linking.graph import COPY, UFUNC_LOOP, Graph, Node, Step
from indexes.linking.usual_conditions import condition_of
from indexes.linking.visible import is_header, is_metal_kernel, path_device
from indexes.linking.works import ComputingKind, is_generic, is_named_shader, is_plain_loop
from indexes.model.answers import RouteKind
from indexes.model.files import GIVEN_SEPARATOR
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Choice, KernelRow, NativeFunction
from indexes.queries.routing.argument_values import CAST, COMPOSITE, SPREAD, Walk
from indexes.queries.routing.conditions import (
    REFUSED,
    UNUSUAL,
    is_helper,
    is_of_operator,
    is_stub_of,
    packs_for_another,
    words_in,
)
from indexes.queries.routing.costs import FILL, FILLS, HELP, Prices, price_of_types
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
_BATCHES = 3.0
"""The cost of a loop over batches, around functions of its own that compute."""
_DTYPE_SWITCH = ("AT_DISPATCH_", "_AT_DISPATCH", "THO_DISPATCH_")
_WEAK = 6.0
"""The cost if a function only seems to compute."""
_GUESS = 20.0
"""The extra cost if only a function's place suggests that it computes."""
_PLAIN: dict[str, RouteKind] = {"CPU": "loop", "MPS": "metal"}
"""How a device's kernel computes if it does not show it."""
_ACCESSOR = "accessor"
"""The method of a tensor by which code on the CPU reads and writes its elements."""
_CHECKS = frozenset(("checkBackend", "checkDeviceType"))
"""Device checks of ATen/TensorUtils.h."""
_MEMORY = regex(r"(?:cuda|hip)?[mM]emcpy(?:Peer)?Async$").match
"""The driver's copy, or the allocator's function that calls it."""
_BLIT = regex(r"copyFrom|fillBuffer").match
"""A message to an MTLBlitCommandEncoder."""

_VALUES = regex(r"(?:(?:const\s+)?(?!\w*(?:Tensor|Iter|List|Ref|[hH]andle))\w+\s+\w+(?:,\s*|$))+$")
"""Parameters of a function of single values."""
_NAMED = 0.5
"""The bonus if a launched function is named after the operator."""
_OVERLOAD = 0.1
"""The bonus if it is also named after the overload: ``bitwise_and_tensor``."""
_WORD = 0.05
"""The bonus for each word of the operator's name."""
_FORM = regex(r"_(?:strided|cast|scalar|broadcast)(?:_|$)").search
"""In names of kernels for other operands than contiguous ones of one dtype and shape."""
_OTHER_FORM = 0.1
_BUFFER = 0.01
"""The cost of each buffer of a Metal kernel: one for tensors whose elements lie apart takes offsets
or strides too."""
_SHARED = 0.2
"""The cost of a header's shared kernel, which takes one of the operator's own."""


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
            around = self._ufunc_loop(known) if walk.device == "CUDA" else None
            yield _MADE, End("launch" if walk.device == "CUDA" else "loop", known, around)
            return
        if is_generic(known) and not self.facts.kernel_rows_of(known.id):
            return
        if known.definition.cuda_global:
            end = End("launch", known, None)
            yield HELP * self._fills(end, walk), end
            return
        if not self.is_of(known, walk.device):
            return
        above = before[0].what if before else None
        meant = self.works.shaders_meant(above)
        strong = self.works.usual_edges(known, above) or self._copies(known, node, walk)
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

    def _ufunc_loop(self, known: Known) -> Edge | None:
        """The call of the loop that torchgen writes around an inner function."""
        loops = self.facts.named(UFUNC_LOOP)
        return Edge(known.id, 0, "call", UFUNC_LOOP, loops[0].id) if loops else None

    def launched(self, walk: Walk, edge: Edge) -> Known | None:
        """The kernel that an end's template launches, for the memory and dtypes of its tensors."""
        inside = self.prices.given.inside(walk, edge.caller)
        given = {one: None for one in inside if one in (*SPREAD, *CAST)}
        if parse_schema(walk.native.schema).inplace and self._makes_bool(edge):
            given |= dict.fromkeys(CAST)  # to the dtype of what it writes to
        return self.works.launched_by(edge, tuple(given))

    def _makes_bool(self, edge: Edge) -> bool:
        """Whether what a template is given returns a bool, for tensors of all dtypes."""
        sites = self.prices.order.sites(edge)
        functors = (one.target for one in self.facts.edges(edge.caller) if one.kind == "functor")
        known = (self.facts.by_id(one) for one in functors if isinstance(one, int))
        returned = {one.definition.returns for one in known if one}
        return returned == {"b"} or any(
            one.template.split(",")[-1].strip() == "bool" for one in sites
        )

    def _is_of_element(self, known: Known, before: tuple[Node, Step] | None) -> bool:
        """Whether a function is called with single values in a loop."""
        caller = before[0].what if before else ""
        if not isinstance(caller, int) or self.works.computing(caller) != "loop":
            return False
        return _is_of_values(known)

    def _copies(self, known: Known, node: Node, walk: Walk) -> list[tuple[Edge, ComputingKind]]:
        """Messages and functions by which a device copies memory, which compute in an operator that
        moves."""
        if self.works.operator(walk.operator[node]) != "moves":
            return []
        if walk.device == "CUDA" and not _MEMORY(known.definition.name):
            copied = (one for one in self.facts.sites(known) if _MEMORY(one.name))
            return [(_runtime_edge(known, one), "library") for one in copied]
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
        if edge.symbol.endswith("parallel_for"):
            price += self._around(edge, walk)
        is_named = edge.kind == "launch" or is_named_shader(edge) or is_meant
        if is_named and isinstance(edge.target, int):
            known = self.facts.by_id(edge.target) or known
            price += _price_of_name(known, walk.native)
            edge = edge._replace(confidence="by rule") if is_meant else edge
        return price, End(kind, known, edge, conditions)

    def _around(self, loop: Edge, walk: Walk) -> float:
        """The cost of a parallel loop around functions that call a library, or others of its file
        that lead to what computes; elementwise operators have no batches."""
        steps = self._graph.down(Node("definition", loop.caller, "CPU"))
        called = (step.lower.what for step in steps)
        if any(isinstance(o, int) and self.works.computing(o) == "library" for o in called):
            return _AROUND
        known = self.facts.by_id(loop.caller)
        name = walk.operator.get(Node("definition", loop.caller, walk.device), "")
        native = self.facts.native(name)
        if known is None or (native and self.prices.is_pointwise(native)):
            return 0.0
        inside = (s for s in steps if isinstance(s.why, Edge) and s.why.line >= loop.line)
        return _BATCHES * any(map(self.works.leads, self._in_file(known, inside)))

    def _weak(self, known: Known, node: Node, walk: Walk) -> Iterator[tuple[float, End]]:
        """Functions with a C++ loop over elements; and those instantiated for dtypes without
        visible computing: the one called by a dtype switch, or with the switch."""
        calls, edges = self.facts.calls(known), self.facts.edges(known.id)
        loops = self._loops(known, walk.device)
        built = self.prices.given.is_built(known.definition.guard, walk.device)
        keys = {row.key for row in self.facts.kernel_rows_of(known.id)}
        work = self.works.operator(walk.operator[node])
        switches = [e for e in edges if e.symbol.startswith(_DTYPE_SWITCH) and not e.macro]
        # A kernel for all devices reads no elements, except where it switches by their type or has
        # an accessor of them.
        read = (one.name == _ACCESSOR for one in self.facts.sites(known))
        reads = bool(loops) and (bool(switches) or (work == "dispatches" and any(read)))
        is_of_all = bool(keys) and keys.issubset(COMPOSITE)
        made_of_operators, reads_all = is_of_all and not reads, is_of_all and reads
        leads_on = self._leads_on(node, bool(loops))
        if built is False or work == "helps" or (made_of_operators and leads_on):
            return
        kind: RouteKind = _PLAIN.get(walk.device, "launch")
        if switched := any(call.name.startswith(_DTYPE_SWITCH) for call in calls):
            made = {call.name for call in calls if "_t" in call.template}
            for edge in edges:
                target = self.facts.by_id(edge.target) if isinstance(edge.target, int) else None
                if target and target.definition.name in made and self._is_made(target):
                    guessed = not self._loops(target, walk.device)
                    launches = self.works.computing(target.id) == "launch"
                    if guessed and (launches or self._computes_below(target, walk.device)):
                        continue
                    price = _WEAK + HELP * is_helper(target.definition.name)
                    price += self._unusual(edge, walk)
                    price += price_of_types(target.definition, walk.device)
                    yield price, End(kind, target, edge, self.prices.choices(edge), guessed)
        elif not self._is_own(known, node, walk, bool(loops)) or (leads_on and not reads_all):
            return
        if not loops and self._computes_below(known, walk.device):
            return
        named = (
            o for o in edges if o.kind in TO_STUBS and is_stub_of(str(o.target), walk.native.name)
        )
        inside = {one.branch for one in loops} & {one.branch for one in switches}
        inside -= {one.branch for one in named}  # around those: ``add_stub`` of each row
        meant = [one for one in (*loops, *switches) if one.branch in (inside or {one.branch})]
        price = min((self._unusual(one, walk) for one in meant), default=0.0)
        is_guess = made_of_operators or not (loops or switched)
        is_around = loops and not leads_on and self.works.leads(node)  # around an object's calls
        is_loop = is_around or (inside and keys)
        price += 1.0 + _WEAK * (not is_loop) + _GUESS * is_guess
        yield price, End(kind, known, None, guessed=not loops)

    def _is_own(self, known: Known, node: Node, walk: Walk, loops: bool) -> bool:
        """Whether a function with a loop is a kernel, named after its operator, or registered on a
        stub."""
        before, rows = walk.before[node], self.facts.kernel_rows_of(known.id)
        is_registered = isinstance(before and before[1].why, StubEntry)
        return is_registered or (loops and (bool(rows) or is_of_operator(known, walk.base[node])))

    def _leads_on(self, node: Node, loops: bool) -> bool:
        """Whether a function leads to what computes, or copies, other than by objects that a loop
        calls, as a distribution."""
        below = [step.lower for step in self._graph.down(node)]
        if any(one.what == COPY for one in below) or not self.works.leads(node):
            return any(one.what == COPY for one in below)
        return not (loops and all(map(self._is_object, filter(self.works.leads, below))))

    def _is_object(self, node: Node) -> bool:
        known = self.facts.by_id(node.what) if isinstance(node.what, int) else None
        return known is not None and known.definition.name == "operator()"

    def _computes_below(self, known: Known, device: str) -> bool:
        """Whether a function that seems to compute calls one in its file that does."""
        if self.works.computing(known.id):
            return False
        steps = self._graph.without_dispatch(Node("definition", known.id, device))
        return any(self.works.of(one) == "computes" for one in self._in_file(known, steps))

    def _in_file(self, known: Known, steps: Iterable[Step]) -> Iterator[Node]:
        """The other functions of a function's file among what steps lead to."""
        path = known.definition.location.path
        for node in (step.lower for step in steps if step.lower.what != known.id):
            other = self.facts.by_id(node.what) if isinstance(node.what, int) else None
            if other and other.definition.location.path == path:
                yield node

    def _loops(self, known: Known, device: str) -> list[Edge]:
        """The C++ loops in a function, by which CPU code computes."""
        edges = self.facts.edges(known.id) if device == "CPU" else ()
        return [one for one in edges if is_plain_loop(one)]

    def _unusual(self, edge: Edge, walk: Walk) -> float:
        """The extra cost of an edge that the usual case does not reach."""
        prices = self.prices.conditions.prices(edge, walk)
        return UNUSUAL * any(one in (REFUSED, UNUSUAL) for one in prices)

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


def runs_functor(first: End, other: End) -> bool:
    """Whether a Metal kernel may run the functor that another end is, both named by one call."""
    calls = [(e.kind, e.caller, e.line) for e in (first.edge, other.edge) if e]
    kernels = [is_metal_kernel(one.known.definition.parameters) for one in (first, other)]
    return sorted(kernels) == [False, True] and len(calls) == 2 and calls[0] == calls[1]


_GRAIN = regex(r"grain_?size", re.IGNORECASE)
_MANY = regex(r"[\w.()]+\s*[<>]=?\s*\d{2,}$")


def is_of_threads(choice: Choice, edge: Edge | None) -> bool:
    """Whether a condition only decides whether an end's loop is split among threads."""
    text = condition_of(choice)
    is_parallel = edge is not None and edge.symbol.endswith("parallel_for")
    return bool(_GRAIN.search(text)) or (is_parallel and bool(_MANY.match(text)))


def _runtime_edge(known: Known, call: Call) -> Edge:
    """The edge of a call of CUDA's runtime, which is in no graph."""
    return Edge(known.id, call.line, "library", call.name, "CUDA", branch=call.branch)


def _is_of_values(known: Known) -> bool:
    """Whether a function takes only single values."""
    return bool(_VALUES.match(known.definition.parameters))


def _price_of_name(launched: Known, native: NativeFunction) -> float:
    """The cost by the name and place of what is launched for an operator."""
    found, overload = launched.definition, native.overload.lower()
    price = _SHARED * is_header(found.location.path)
    price += _OTHER_FORM * (_FORM(found.name) is not None)
    price += _BUFFER * found.parameters.count("[[buffer(")
    price -= _NAMED * is_of_operator(launched, native.name.strip("_"))
    price -= _OVERLOAD * (bool(overload) and found.name.endswith(f"_{overload}"))
    return price - _WORD * words_in(found.name, native.name)
