"""The work of each place on a path: computes, chooses, dispatches, checks, allocates, moves or
helps.

It follows from PyTorch's own mechanisms: a loop, a launch or a library call in a body; the
arguments in a schema; whether a computing place is reached.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Literal

from indexes.linking.facts import Edge, Known
from indexes.linking.graph import Graph, GraphFacts, Node, node_kind
from indexes.linking.usual_conditions import Defaults, is_of_other_builds, taken
from indexes.linking.visible import is_header, is_metal_kernel, path_device
from indexes.model.idioms import LOOPS, VENDOR_NAMESPACES, split_outside
from indexes.model.regex import regex
from indexes.model.schema import Schema, parse_schema
from indexes.model.vocabulary import Definition, NativeFunction, Work

ComputingKind = Literal["loop", "launch", "library", "graph", "metal"]
"""How a function computes: loop over elements, kernel launch, library call, MPSGraph, Metal
kernel."""

_LAUNCHING: dict[object, ComputingKind] = {
    "MPSGraph": "graph",
    "Metal": "metal",
    "CUDA": "launch",
    "SYCL": "launch",
}
"""How libraries compute that run code of PyTorch."""
_SET_UP = regex(
    r"Create|Destroy|Delete|Find(?![a-z])|Set(?![a-z])|Get(?![a-z])|Init|Query|Version|Heuristic|Plan(?!e)|Desc"
    r"|Support|String|Status|Info\b|Num[A-Z]|[bB]uffer_?[sS]ize|[wW]ork_?[sS]pace_?[sS]ize|Builder"
    r"|_(?:create|destroy|set|get|init(?:ialize)?|version|query|strerror|verbose|handle|analysis|is|copy)(?:_|\b)"
    r"|\b(?:is|has|make|check)_|_t\b|_ptr\b|_iterator\b|_cast\b|\b(?:magma_queue|par|tie|pair|get|swap)\b"
)
"""Library functions that prepare, query or clean up, and library types that are constructed."""
_RUNS = {
    "oneDNN": regex(r"(?:::|^)(?:compute|execute)\w*$"),
    "MPSGraph": regex(r"(?:::|^)(?:run|execute)|encode"),
    "Metal": regex(r"dispatch|encode|exec"),
    "CUB": regex(r"::Device"),
    "cuDNN": regex(r"^cudnn[A-Z]|^execute$"),
    "CUTLASS": regex(r"::device::"),
    "XNNPACK": regex(r"_run_"),
    "AOTriton": regex(r"::attn_"),
}
"""For libraries with mostly preparing functions, the pattern of those that compute."""
_NUMBERS = "Thrust"
"""The library that also has functions of scalars."""
_TEMPLATES = ("CUB", "CUTLASS")
"""Libraries that headers call with their caller's types."""
_CHECK = regex(r"(?:TORCH|AT|C10|CUDA|MPS)_\w*(?:CHECK|ASSERT|ERROR)")
_INNER_LOOPS = "at::native::ufunc"
"""The namespace of functions around which torchgen writes loops."""
_GIVEN = regex(
    r"\b(?:[Ff]unc(?:tion)?(?:_t)?|func\d?_t|[a-z]+_(?:func|fn|op)_t|F|Fn|Func[A-Z]\w*)"
    r"\s*(?:const\s*)?&{0,2}\s+?\w+\s*(?:,|=|$)"
)
"""A parameter of a template that is a function: ``const func_t& f``."""
_DATA = regex(
    r"\s*(?:const\s+)?(?:\w+::)*(?:(?:optional|ArrayRef|array)<[\w:,\s]+>|Tensor(?:Iterator)?(?:Base)?|TensorList"
    r"|IntArrayRef|Scalar|Generator|RNG|bool|int|double|float|u?int\d+_t|\w+_t(?=\s*\*))\s*(?:const\s*)?[&*]?\s*\w+"
    r"\s*(?:=.*)?$"
)
"""A parameter that is a tensor, a number or a source of random numbers."""
_OPTIONS = frozenset(("dtype", "layout", "device", "pin_memory"))


def runs_library(edge: Edge) -> bool:
    """Whether a library function computes, rather than prepares, queries or cleans up."""
    name = edge.symbol.removeprefix("at::").removeprefix("native::")
    runs = _RUNS.get(str(edge.target))
    return not _SET_UP.search(name) and (runs is None or bool(runs.search(name)))


def _runs_here(edge: Edge) -> ComputingKind | None:
    """How a template's edge runs what the template is given."""
    if edge.kind in ("loop", "launch") and not is_plain_loop(edge):
        return "loop" if edge.kind == "loop" else "launch"
    if edge.target == "SYCL":
        return "launch"
    return "library" if edge.target in _TEMPLATES and runs_library(edge) else None


class Works:
    """Determines works, with caches."""

    def __init__(self, facts: GraphFacts) -> None:
        self.facts = facts
        self.graph = Graph(facts)
        self._leads: dict[Node, bool] = {}
        self.computing = lru_cache(16384)(self._computing)
        self.operator = lru_cache(4096)(self._operator_work)
        self._generic = lru_cache(4096)(self._is_generic)
        self._edge_kind = lru_cache(16384)(self._edge_computing)

    def of(self, node: Node) -> Work:
        """The work of a place."""
        if isinstance(node.what, int):
            return self._function(node, node.what)
        if node.kind == "stub":
            return "dispatches"
        work = self.operator(node.what)
        answers = work == "dispatches" and self.answers_alone(node.what)
        return "helps" if answers and not self.leads(node) else work

    def of_edge(self, edge: Edge, device: str = "") -> Work:
        """The work of the target of an edge."""
        kind = node_kind(edge)
        if edge.kind == "library":
            return "computes" if runs_library(edge) else "helps"
        if edge.kind in ("loop", "launch", "shader"):
            return "computes"
        return self.of(Node(kind, edge.target, device)) if kind else "helps"

    # ------------------------------------------------------------------------ operators

    def _operator_work(self, name: str) -> Work:
        native = self.facts.native(name)
        return schema_work(native, self.facts.overloads(native.name)) if native else "dispatches"

    def answers_alone(self, name: str) -> bool:
        """Whether an operator neither makes nor changes a tensor, as ``is_complex``."""
        native = self.facts.native(name)
        schema = _parsed(native.schema) if native else None
        if schema is None or any(one.mutable for one in schema.arguments):
            return False
        return not any(one.base_type == "Tensor" for one in schema.returns)

    # ------------------------------------------------------------------------ functions

    def _function(self, node: Node, number: int) -> Work:
        if self.computing(number):
            return "computes"
        for row in self.facts.kernel_rows_of(number):
            if (work := self.operator(row.op)) not in ("dispatches", "helps"):
                return work
        if self.leads(node):
            return "chooses" if self._ways(node) > 1 else "dispatches"
        return "checks" if self._checks(number) else "helps"

    def _ways(self, node: Node) -> int:
        """The number of different next places that lead to what computes."""
        below = {step.lower for step in self.graph.down(node)}
        return sum(self.leads(one) for one in below)

    def _checks(self, number: int) -> bool:
        known = self.facts.by_id(number)
        calls = self.facts.calls(known) if known else ()
        checks = sum(is_check(call.name) for call in calls)
        return bool(checks) and 2 * checks >= len(calls)

    def _computing(self, number: int) -> ComputingKind | None:
        known = self.facts.by_id(number)
        if known is None:
            return None
        if known.definition.cuda_global:
            return "launch"
        if is_metal_kernel(known.definition.parameters):
            return "metal"
        if known.definition.name == "operator()" or known.definition.scope == _INNER_LOOPS:
            return "loop"
        return next(filter(None, map(self._edge_kind, self._edges_of(known))), None)

    def computing_edges(self, known: Known) -> list[tuple[Edge, ComputingKind]]:
        """The edges by which a function computes, in order, each with how."""
        kinds = ((edge, self._edge_kind(edge)) for edge in self._edges_of(known))
        return [(edge, kind) for edge, kind in kinds if kind]

    def usual_edges(
        self, known: Known, above: int | str | None
    ) -> list[tuple[Edge, ComputingKind]]:
        """The edges by which a function computes: Metal kernels named in it or its caller instead
        of the call that starts them; where it formats its caller's string into their names, only
        those meant, and none in the caller."""
        edges = self.computing_edges(known)
        called = (one.target for one in self.facts.edges(known.id) if one.kind == "call")
        formatted = {e.target for c in called for e in self._shaders(c) if not is_named_shader(e)}
        edges = [e for e in edges if not (is_named_shader(e[0]) and e[0].target in formatted)]
        meant = self.shaders_meant(above)
        if any(edge.target in meant for edge, _ in edges):
            return [one for one in edges if one[0].target in meant]
        is_named = bool(self._shaders(above)) or any(is_named_shader(edge) for edge, _ in edges)
        starts = [e for e, kind in edges if is_named and kind == "metal" and e.kind == "library"]
        return [one for one in edges if one[0] not in starts]

    def shaders_meant(self, caller: int | str | None) -> set[int | str]:
        """The Metal kernels that strings of a function mean."""
        return {one.target for one in self._shaders(caller) if is_named_shader(one)}

    def _shaders(self, caller: int | str | None) -> list[Edge]:
        edges = self.facts.edges(caller) if isinstance(caller, int) else ()
        return [one for one in edges if one.kind == "shader"]

    def _edges_of(self, known: Known) -> Iterator[Edge]:
        return (
            edge for edge in self.facts.edges(known.id) if edge.kind not in ("functor", "macro")
        )

    def _edge_computing(self, edge: Edge) -> ComputingKind | None:
        """How an edge makes its caller a computing function: a loop, a launch, a library call, or a
        call of a header's template that runs what it is given."""
        if edge.kind in ("loop", "launch"):
            return "launch" if edge.kind == "launch" else None if is_plain_loop(edge) else "loop"
        if edge.kind == "shader":
            return "metal"
        if edge.kind == "library":
            return self._library(edge)
        if edge.kind in ("call", "chooser") and isinstance(edge.target, int):
            return self._generic(edge.target)[0]
        return None

    def _library(self, edge: Edge) -> ComputingKind | None:
        """How a library function computes; None if it prepares or is a class of the tree."""
        scope, _, name = edge.symbol.lstrip(":").rpartition("::")
        vendor = VENDOR_NAMESPACES.get(scope.partition("::")[0], _NUMBERS)
        own = vendor == _NUMBERS and self.facts.is_type(name)
        return _LAUNCHING.get(edge.target, "library") if runs_library(edge) and not own else None

    def _is_generic(
        self, number: int, given: Defaults = ()
    ) -> tuple[ComputingKind | None, int | None]:
        """How a header's template runs what it is given, as ``gpu_kernel``, and the number of the
        ``__global__`` function that it usually launches, or of what launches a compiled string."""
        first = self.facts.by_id(number)
        if first is None or not is_generic(first):
            return ("launch", number) if first and self._is_driver(first) else (None, None)
        usual_first = partial(self._usual_first, given=given)
        seen, pending = {number}, [usual_first(first)]  # templates call each other deeply
        while pending:
            edge = next(pending[-1], None)
            if edge is None:
                pending.pop()
            elif kind := _runs_here(edge):
                is_known = kind == "launch" and isinstance(edge.target, int)
                return kind, int(edge.target) if is_known else None
            elif edge.kind == "call" and isinstance(edge.target, int) and edge.target not in seen:
                seen.add(edge.target)
                known = self.facts.by_id(edge.target)
                if known and is_generic(known):
                    pending.append(usual_first(known))
                elif known and self._is_driver(known):
                    return "launch", known.id
        return None, None

    def _usual_first(self, known: Known, given: Defaults) -> Iterator[Edge]:
        """The edges of a template in source order, those that are not usual last."""
        device = path_device(known.definition.location.path)
        is_unusual = partial(self._is_unusual, device=device, given=given)
        return iter(sorted(self._edges_of(known), key=is_unusual))

    def _is_unusual(self, edge: Edge, device: str, given: Defaults) -> bool:
        """Whether the usual case does not pass an edge of a template, or no usual build has it."""
        target = self.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        found = target and target.definition
        if found and is_of_other_builds(found.guard, found.location.path, device):
            return True
        choices = self.facts.conditions(edge) if edge.branch and not edge.macro else ()
        unlikely = (one.arm == "then" and "UNLIKELY" in one.text for one in choices)
        return any(unlikely) or any(taken(one, device, given) is False for one in choices)

    def launched_by(self, edge: Edge, given: Defaults = ()) -> Known | None:
        """The ``__global__`` function that a header's template launches for its caller, or what
        launches a compiled string, as the jiterator does. ``given``: what is known of the tensors'
        memory and types."""
        if edge.kind != "call" or not isinstance(edge.target, int):
            return None
        number = self._generic(edge.target, given)[1]
        return None if number is None else self.facts.by_id(number)

    def _is_driver(self, known: Known) -> bool:
        edges = self._edges_of(known)
        return any(one.kind == "library" and one.target == "CUDA" for one in edges)

    # ---------------------------------------------------------------------------- leading

    def leads(self, node: Node) -> bool:
        """Whether a place computes, or leads there other than by a copy, a new tensor or a view."""
        if node not in self._leads:
            self._search(node)
        return self._leads[node]

    def _search(self, start: Node) -> None:
        """Walks down; the result holds for all places passed if nothing is found, else for the
        path."""
        before: dict[Node, Node | None] = {start: None}
        pending = deque([start])
        while pending:
            node = pending.popleft()
            number = node.what if isinstance(node.what, int) else None
            if self._leads.get(node) or (number and self.computing(number)):
                way: Node | None = node
                while way:
                    self._leads[way] = True
                    way = before[way]
                return
            for step in () if node in self._leads else self.graph.down(node):
                if step.lower not in before and not self._is_aside(step.lower):
                    before[step.lower] = node
                    pending.append(step.lower)
        self._leads.update(dict.fromkeys(before, False))

    def _is_aside(self, node: Node) -> bool:
        return node.kind == "operator" and self.operator(str(node.what)) != "dispatches"

    def is_specialised(self, edge: Edge) -> bool:
        """Whether a function is of a class specialized for one type; C++ prefers the template."""
        edges = self.facts.edges(edge.caller) if edge.kind == "functor" else ()
        same = {one.target for one in edges if (one.line, one.symbol) == (edge.line, edge.symbol)}
        found = self.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        others = (self.facts.by_id(one) for one in same if isinstance(one, int))
        return any(found and one and _is_before(one.definition, found.definition) for one in others)


def _is_before(one: Definition, other: Definition) -> bool:
    if (one.scope, one.parameters) != (other.scope, other.parameters):
        return False
    place, later = one.location, other.location
    return place.path == later.path and place.line < later.line


def is_plain_loop(edge: Edge) -> bool:
    """Whether an edge is a C++ ``for``, which may run over anything."""
    return edge.kind == "loop" and edge.symbol.rpartition("::")[2] not in LOOPS


def is_check(macro: str) -> bool:
    """Whether a macro checks or raises: ``TORCH_CHECK``, ``AT_ERROR``."""
    return _CHECK.match(macro) is not None


def is_generic(known: Known) -> bool:
    """Whether a function is a header's template, or one that runs what it is given."""
    found = known.definition
    path = found.location.path
    if not found.template or is_header(path):
        return found.template and (found.cuda_global or not _takes_data(found.parameters))
    if not path.endswith(".cpp") or found.name == "operator()":
        return False
    return _GIVEN.search(found.parameters) is not None


def _takes_data(parameters: str) -> bool:
    """Whether a template takes tensors and numbers alone, so that it runs nothing it is given, as
    those of distributions for each kind of generator."""
    holds_data = "Tensor" in parameters or "*" in parameters
    parts = split_outside(parameters, angles=True) if holds_data else ()
    return bool(parts) and all(map(_DATA.match, parts))


# ------------------------------------------------------------------------------- schemas


@lru_cache(8192)
def _parsed(text: str) -> Schema:
    return parse_schema(text)


def is_named_shader(edge: Edge) -> bool:
    """Whether an edge leads to the Metal kernel that a string means."""
    return edge.kind == "shader" and edge.confidence != "ambiguous"


def schema_work(native: NativeFunction, overloads: Sequence[NativeFunction]) -> Work:
    """The work that an operator's schema shows; ``dispatches`` if it shows none."""
    schema = _parsed(native.schema)
    if makes_new(schema) or _fills_new(schema, map(_schema_of, overloads)):
        return "allocates"
    if moves(schema):
        return "moves"
    if is_view(schema) or "inplace_view" in native.tags:
        return "helps"
    if not schema.returns and not any(one.mutable for one in schema.arguments):
        return "checks"
    return "dispatches"


def _schema_of(native: NativeFunction) -> Schema:
    return _parsed(native.schema)


def makes_new(schema: Schema) -> bool:
    """Whether it makes a tensor from options, even if with the shape of another."""
    names = {one.name for one in schema.arguments}
    return names >= _OPTIONS and "non_blocking" not in names


def is_put_together(native: NativeFunction, overloads: Iterable[NativeFunction]) -> bool:
    """Whether it makes a tensor of given parts, as a sparse one of indices and values. An argument
    that is a number in another overload is no part: the ends of ``linspace``."""
    schema = _schema_of(native)
    numbers = {a.name for o in overloads for a in _schema_of(o).arguments if a.type == "Scalar"}
    parts = {one.name for one in schema.arguments if one.type == "Tensor" and not one.is_out}
    return makes_new(schema) and bool(parts - numbers - {"self"})


def _fills_new(schema: Schema, overloads: Iterable[Schema]) -> bool:
    """Whether it is the ``out`` of an overload that makes a tensor from options."""
    given = _given(schema)
    return bool(schema.out_arguments) and any(
        makes_new(one) and _given(one) - _OPTIONS == given for one in overloads
    )


def _given(schema: Schema) -> set[str]:
    return {one.name for one in schema.arguments if not one.is_out}


def moves(schema: Schema) -> bool:
    """Whether it only copies values to another place, layout or type, or fills with one value."""
    given = _given(schema)
    if not given.isdisjoint(("non_blocking", "dst")):
        return True
    if "memory_format" in given and not given >= _OPTIONS and schema.returns:
        return any(one.name == "self" and not one.mutable for one in schema.arguments)
    if given == {"self", "repeats"} or (given <= {"tensors", "dim"} and "tensors" in given):
        return bool(schema.returns)  # lines values up again, joins or lines up tensors
    return is_fill(schema)


def is_fill(schema: Schema) -> bool:
    """Whether it writes one value to all elements."""
    return _given(schema) == {"self", "value"} and schema.base == "fill"


def is_view(schema: Schema) -> bool:
    """Whether it returns a tensor that shares memory with an argument."""
    return any(one.annotation and not one.mutable for one in schema.returns)
