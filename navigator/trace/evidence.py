"""Narrows down the possible overloads of a call by the context that the trace shows.

Each rule follows from PyTorch's mechanisms and only removes candidates:

* the Node that the call made is recorded by the overloads of one derivative formula;
* a kernel that calls an operator on every way through it leaves that call in the trace, below
  its own: so do the kernels that torchgen makes for ``out`` overloads, and those of named tensors;
* a kernel or a formula calls the overload that its source names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from indexes.codegen.variants import called_by_generated
from indexes.linking.facts import TO_OPERATORS, Edge, Known
from indexes.linking.formulas import formula_edges
from indexes.linking.graph import Graph, Node
from indexes.model.errors import SourceError
from indexes.model.files import Branch
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import KernelRow, OperatorSummary
from indexes.queries.index import Index
from navigator.trace.model import Input, TraceOp
from navigator.trace.overloads import takes_tensor
from navigator.trace.program_code import RULE

_DISPATCHES = "operator"
_HELPERS = 2
"""Depth of functions below a kernel that are searched for unconditional calls."""
_WINDING = re.compile(
    r"\b(?:for|while|do|switch|goto|try|else\s+if)\b|\[[^][]*\]\s*\([^()]*\)\s*\{"
)
"""Constructs that may skip a call but are not branches in the index: loops, lambdas."""
_SILENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"", re.DOTALL)
"""Comments and strings."""
_SHORT_CUT = re.compile(r"&&|\|\|")


class CallContext(NamedTuple):
    """What a trace shows around a call."""

    made_node: str
    """The Node that the call made: ``MulBackward0``; empty if unknown."""
    below: frozenset[str]
    """Names of operators that ran below it, without ``aten::``."""
    keys: tuple[str, ...]
    """The backend's dispatch key; several if the device is unknown."""
    layouts: bool
    """Whether its tensors may have any layout, since its inputs were not recorded."""
    callers: tuple[str, ...] = ()
    """Possible overloads of the operator that calls it; empty without one."""
    node: str = ""
    """The Node whose formula calls it directly, or empty."""


class Evidence:
    """Narrows candidates down by the source of one tree."""

    def __init__(self, index: Index) -> None:
        self._index, self._facts = index, index.facts
        self._graph = Graph(index.facts)
        self.narrowed = cache(self._narrowed)
        self._called_by = cache(self._find_called)
        self._called_in_formula = cache(self._find_in_formula)
        self._unsure_lines = cache(self._find_unsure_lines)

    def _narrowed(
        self, candidates: tuple[str, ...], context: CallContext
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The remaining candidates, and what ruled out others, one phrase each."""
        rules: list[str] = []
        for holds, rule in self._tests(candidates, context):
            left = tuple(filter(holds, candidates))
            if left and left != candidates:
                candidates, rules = left, [*rules, rule]
        return candidates, tuple(rules)

    def _tests(
        self, candidates: tuple[str, ...], context: CallContext
    ) -> Iterator[tuple[Callable[[str], bool], str]]:
        if context.made_node:
            recorded = self._index.node_operators(context.made_node)
            yield recorded.__contains__, f"it made {context.made_node}"
        yield (
            lambda op: not self._lacks_a_call(op, context),
            "others call an operator that did not run below it",
        )
        name = _base(candidates[0])
        if name in self._facts.called_by_signs:
            return  # ``grad * 2`` calls it without naming it
        if context.callers:
            called = [self._called_by(caller, context.keys, name) for caller in context.callers]
            names = frozenset().union(*called) if all(called) else frozenset()
            yield names.__contains__, f"what {_base(context.callers[0])} calls in its source"
        if context.node:
            names = self._called_in_formula(context.node, name)
            yield names.__contains__, f"what the formula of {context.node} calls"

    # ----------------------------------------------------------- what would stand below

    def _lacks_a_call(self, op: str, context: CallContext) -> bool:
        """Whether every possible kernel would have called an operator that did not run."""
        rows = [row for key in context.keys for row in self._served(op, key, context.layouts)]
        return bool(rows) and all(row and self._row_lacks(row, context.below) for row in rows)

    def _served(self, op: str, key: str, layouts: bool) -> list[KernelRow | None]:
        """The kernel for a key and, if any layout is possible, those for sparse, quantized and
        nested tensors."""
        of_device = [row for row in self._facts.kernels(op) if row.key.endswith(key)]
        others = [row for row in of_device if row.key != key] if layouts else []
        return [*self._serving(op, (key,)), *others]

    def _serving(self, op: str, keys: tuple[str, ...]) -> list[KernelRow | None]:
        """The kernel for each key, or None."""
        rows = {row.key: row for row in self._facts.kernels(op)}
        return [next((rows[k] for k in serving_keys(key) if k in rows), None) for key in keys]

    def _row_lacks(self, row: KernelRow, below: frozenset[str]) -> bool:
        if row.kind == "generated":
            native = self._facts.native(row.op)
            called = native and called_by_generated(native, self._facts.overloads)
            return called is not None and called.name not in below
        bodies = list(filter(None, map(self._facts.known, row.definitions)))
        return bool(bodies) and all(self._always_lacks(body, below, _HELPERS) for body in bodies)

    def _always_lacks(self, body: Known, below: frozenset[str], deeper: int) -> bool:
        """Whether every path through a body calls an operator that is not in ``below``."""
        lacking = [e for e in self._facts.edges(body.id) if self._edge_lacks(e, below, deeper)]
        unsure = self._unsure_lines(body) if lacking else None
        if unsure is None:
            return False
        targets = {edge.branch for edge in lacking if edge.line not in unsure}
        return _on_every_way(0, targets, self._facts.branches(body.id))

    def _edge_lacks(self, edge: Edge, below: frozenset[str], deeper: int) -> bool:
        if edge.macro:  # the macro's other contents are unknown
            return False
        if edge.kind == _DISPATCHES:
            return _base(str(edge.target)) not in below
        helper = None
        if edge.kind == "call" and edge.candidates == 1 and deeper:
            helper = self._facts.by_id(int(edge.target))
        return helper is not None and self._always_lacks(helper, below, deeper - 1)

    def _find_unsure_lines(self, body: Known) -> frozenset[int] | None:
        """Lines where calls may be skipped without a known branch; None if anywhere."""
        place = body.definition.location
        if body.definition.macro:
            return None
        try:
            lines = self._index.lines(place.path)[place.line - 1 : place.end_line]
        except SourceError:
            return None
        text = _SILENT.sub(_blank, "\n".join(lines))
        if _WINDING.search(text) or not _is_flat(text):
            return None
        return frozenset(place.line + line for line in _short_cut_lines(text))

    # ------------------------------------------------------------------ what calls it

    def _find_called(self, caller: str, keys: tuple[str, ...], name: str) -> frozenset[str]:
        """The overloads of an operator that another operator's kernels call directly or through
        functions; empty if a call's target is unknown."""
        node, rows = Node("operator", caller), filter(None, self._serving(caller, keys))
        starts = [step.lower for row in rows for step in self._graph.row_steps(node, row)]
        return _overloads_named(name, self._edges_below(starts))

    def _find_in_formula(self, node: str, name: str) -> frozenset[str]:
        """The same for the formulas behind a Node."""
        entries = self._index.node(node)
        edges = [edge for entry in entries for edge in formula_edges(-1, entry, self._facts)]
        starts = [Node("definition", edge.target) for edge in edges if edge.kind == "call"]
        return _overloads_named(name, [*edges, *self._edges_below(starts)])

    def _edges_below(self, starts: Sequence[Node]) -> Iterator[Edge]:
        """The calls of functions, followed to the next operator."""
        found = [*starts]
        for start in starts:
            if start.kind != "operator":
                found += (step.lower for step in self._graph.without_dispatch(start))
        for body in dict.fromkeys(one.what for one in found if isinstance(one.what, int)):
            yield from self._facts.edges(body)


def _overloads_named(name: str, edges: Iterable[Edge]) -> frozenset[str]:
    """The overloads of an operator that calls lead to; empty if one is unknown."""
    found: set[str] = set()
    for edge in edges:
        if edge.kind in TO_OPERATORS and _base(str(edge.target)) == name:
            found.add(str(edge.target))
        elif edge.kind == "unknown" and edge.symbol.rpartition("::")[2] == name:
            return frozenset()
    return frozenset(found)


def _base(full_name: str) -> str:
    return full_name.partition(".")[0]


def _blank(silent: re.Match[str]) -> str:
    """Replaces a comment or string by as many empty lines."""
    return " " + "\n" * silent[0].count("\n")


def _short_cut_lines(text: str) -> Iterator[int]:
    """Lines, from 0, of statements that ``&&`` or ``||`` may evaluate in part."""
    for statement in re.finditer(r"[^;{}]+", text):
        if _SHORT_CUT.search(statement[0]):
            first = text.count("\n", 0, statement.start())
            yield from range(first, first + statement[0].count("\n") + 1)


def _is_flat(text: str) -> bool:
    """Whether a body contains no inner block."""
    depth = 0
    for bracket in re.findall(r"[{}]", text):
        depth += 1 if bracket == "{" else -1
        if depth > 2:
            return False
    return True


def _on_every_way(branch: int, targets: set[int], branches: Sequence[Branch]) -> bool:
    """Whether each path through a branch, 0 for the whole body, passes a branch in ``targets``."""
    if branch in targets:
        return True
    inner = [one for one in branches if one.parent == branch]
    for _, listed in groupby(sorted(inner, key=attrgetter("line", "text")), attrgetter("line")):
        arms = list(listed)
        names = {arm.arm for arm in arms}
        whole = names == {"then", "else"} or names == {"then", "otherwise"}
        if whole and all(_on_every_way(arm.number, targets, branches) for arm in arms):
            return True
    return False


_BACKENDS = {
    name.lower(): name
    for name in "CPU CUDA HIP XPU MPS Meta XLA HPU MTIA Vulkan Lazy IPU MAIA VE".split()
}
"""``c10::DeviceType`` to the backend's part of a dispatch key (c10/core/Backend.h). Devices with
other names are plug-ins with the key PrivateUse1."""
_LAYOUTS = {
    "sparse_coo": "Sparse",
    **dict.fromkeys(("sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"), "SparseCsr"),
    "_mkldnn": "Mkldnn",
    "jagged": "NestedTensor",
}
_QUANTIZED = ("qint", "quint")
_LAYOUT_NUMBERS = {
    str(number): name
    for number, name in enumerate(
        "strided sparse_coo sparse_csr _mkldnn sparse_csc sparse_bsr sparse_bsc jagged".split()
    )
}
"""c10::Layout as numbered in profiles (c10/core/Layout.h)."""
_MAKES = "Layout? layout"
_NESTED = "CompositeImplicitAutogradNestedTensor"
_OF_BACKEND = re.compile(
    rf"(?:Sparse|SparseCsr|Quantized|NestedTensor|Mkldnn)?(?:{'|'.join(_BACKENDS.values())}"
    r"|PrivateUse1)"
)


def devices_needed(ran: Iterable[Iterable[str]]) -> frozenset[str]:
    """Device types that the operators in ``ran`` require, beyond the CPU: those that support all of
    them, else some. ``ran`` has the dispatch keys of each operator's kernels."""
    each = [found for keys in ran if (found := _devices_of(set(keys)))]
    return frozenset.intersection(*each) or frozenset.union(*each) if each else frozenset()


def _devices_of(keys: set[str]) -> frozenset[str]:
    """None if a CPU can run it, also by a composite kernel."""
    if any(key.startswith("Composite") or key.endswith(_BACKENDS["cpu"]) for key in keys):
        return frozenset()
    kinds = _BACKENDS.keys() - {"meta"}
    return frozenset(kind for kind in kinds for key in keys if key.endswith(_BACKENDS[kind]))


def backend_keys(op: TraceOp, device_types: Sequence[str]) -> tuple[str, ...]:
    """``("CUDA",)``, ``("SparseCPU",)``, ``("QuantizedCPU",)``: the keys selected by its inputs.

    If its device is unknown, one key for each of ``device_types``; none for tensors of unknown
    layout.
    """
    recorded = next(filter(_OF_BACKEND.fullmatch, op.keys), None)
    if recorded is not None:
        return (recorded,)
    prefix = _functionality(op.layout, op.inputs)
    if prefix is None:
        return ()
    types = (op.device.partition(":")[0],) if op.device else device_types
    return tuple(prefix + _BACKENDS.get(kind, "PrivateUse1") for kind in types)


def _functionality(layout: str, inputs: Sequence[Input]) -> str | None:
    for part in layout.split("+"):
        prefix = _LAYOUTS.get(part.rpartition("/")[2])
        if prefix is not None:
            return prefix
    if any(value.dtype.startswith(_QUANTIZED) for value in inputs):
        return "Quantized"
    return None if any(map(_is_unknown, inputs)) else ""


def _is_unknown(value: Input) -> bool:
    """Whether a tensor has sizes but no strides, unlike other inputs: sparse or blocked."""
    return value.kind == "tensor" and bool(value.shape) and value.strides == ()


def keys_of_call(
    op: TraceOp,
    schema: OperatorSummary | None,
    rows: dict[str, KernelRow],
    types: Sequence[str],
    has_device: bool,
) -> tuple[str, ...]:
    """Possible backend keys of a call; only keys with kernels, since it ran.

    ``has_device``: whether the trace has its device; else one is assumed.
    """
    keys = backend_keys(_with_requested_layout(op, schema) if schema else op, types)
    if schema is None or not keys or any(row.rule == RULE for row in rows.values()):
        return keys
    shown = any(value.kind in ("tensor", "tensors") for value in op.inputs)
    if op.inputs and not (shown or op.keys) and takes_tensor(schema.schema):
        return (*keys, *_other_layouts(rows, keys))
    if any(serving_key in rows for key in keys for serving_key in serving_keys(key)):
        return keys
    if not has_device:
        return tuple(rows) or keys
    may_differ = _MAKES in schema.schema or not shown
    return (_other_layouts(rows, keys) if may_differ else ()) or keys


def _with_requested_layout(op: TraceOp, schema: OperatorSummary) -> TraceOp:
    """The key of a factory operator for its requested layout: BackendSelect adds it to those of the
    tensors (torchgen's needs_backend_select)."""
    parsed = parse_schema(schema.schema)
    if _MAKES not in schema.schema or parsed.name.endswith("_like") or parsed.name[:4] == "new_":
        return op
    values = {one.name: it.value for one, it in zip(parsed.arguments, op.inputs, strict=False)}
    layout = _LAYOUT_NUMBERS.get(values.get("layout", ""))
    plain = layout == "strided" and any(one.kind == "tensor" for one in op.inputs)
    return op if layout is None or plain else replace(op, layout=layout)


def _other_layouts(rows: Iterable[str], keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys of other layouts on the same devices."""
    return tuple(k for k in rows if (k not in keys and k.endswith(keys)) or k == _NESTED)


def serving_keys(key: str) -> tuple[str, ...]:
    """The dispatch keys and aliases in which a kernel for ``key`` is looked up, in the order of
    ``OperatorEntry::computeDispatchTableEntryWithDebug``."""
    nested = ("CompositeImplicitAutogradNestedTensor",) if key.startswith("NestedTensor") else ()
    functional = () if key.startswith("Sparse") else ("CompositeExplicitAutogradNonFunctional",)
    return (key, *functional, "CompositeExplicitAutograd", *nested, "CompositeImplicitAutograd")
