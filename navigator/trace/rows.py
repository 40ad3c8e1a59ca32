"""Rows of a linked trace as JSON, as described in docs/json.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Definition, DerivativeEntry, Formula, KernelRow
from indexes.queries.dispatch_path.recorded import DispatchPath, DispatchStep
from indexes.serialize.answers import Object, shape, to_object
from navigator.trace.compiling.answers import compiled_row, kernel_row_of
from navigator.trace.compiling.graphs import is_from_log
from navigator.trace.link import Linker
from navigator.trace.links import OpLink
from navigator.trace.model import Allocation, DeviceKernel, StackFrame, TraceOp
from navigator.trace.overloads import common_form
from navigator.trace.table import States
from navigator.trace.trace import Trace

_STEP = (
    "key kernel=slot.kernel kind=slot.kind fallthrough=slot.fallthrough path=location.path "
    "line=location.line origin=slot.origin rule=slot.rule confidence=slot.confidence"
)

shape(StackFrame, "path line function")


def trace_rows(trace: Trace, linker: Linker) -> Iterator[Object]:
    """Every row by id, followed by its device work and memory events; then those of no row."""
    for op in trace.ops():
        yield op_row(trace, op, linker)
        yield from (kernel_row(one, linker, trace) for one in trace.kernels_of(op.id))
        yield from map(allocation_row, trace.allocations_of(op.id))
    yield from (kernel_row(one, linker, trace) for one in trace.kernels() if one.op_id is None)
    yield from map(allocation_row, trace.allocations_of(None))


def op_row(trace: Trace, op: TraceOp, linker: Linker) -> Object:
    """A row: an operator, a Node, a call of the program or a region."""
    link = linker.link(op)
    status = _status(op, link, linker)
    made = trace.backward_of(op.id)
    taken, results = trace.table.states_of(op.id)
    return to_object(
        op,
        "kind id parent name overload status candidates shared phase origin? grad_fn=node node_id "
        "forward_id forward_note call_id made_node made_node_id sequence "
        "thread start_us duration_us unfinished? device layout keys dispatch_path inputs output? "
        "given? made? "
        "module? user stack schema kernel derivative inductor? compiled? resolved reason note",
        kind=_KINDS.get(op.kind, "region"),
        region=None if op.kind in _KINDS else op.kind,
        overload=link.full_name.partition(".")[2] if link.full_name else op.overload,
        status=status,
        candidates=link.candidates,
        shared=_shared(link, linker) if status == "candidates" else None,
        unfinished=op.unfinished or None,
        node_id=trace.node_of(op.id),
        forward_note=trace.forward_note(op.id),
        call_id=trace.call_of(op.id),
        made_node=trace.op(made).node if made is not None else None,
        made_node_id=made,
        sequence=op.sequence if op.sequence >= 0 else None,
        keys=op.keys or link.keys,
        dispatch_path=_path(linker.path(op)),
        inputs=[str(value) for value in op.inputs],
        given=_states(taken),
        made=_states(results),
        user=to_object(op.user, "path line", exact=op.user_exact) if op.user else None,
        schema=_schema(link),
        kernel=_kernel(link.kernel),
        derivative=_derivative(op, link),
        inductor=linker.compiler_places(link.full_name)
        if is_from_log(trace.table, op.id)
        else None,
        compiled=compiled_row(trace.table, op.id),
        resolved=link.resolved,
        reason="; ".join(link.reasons) or None,
        note=link.note or None,
    )


def _states(states: States) -> list[list[Object | None]] | None:
    """The storages of a call's inputs or results, with empty lists for other values."""
    values = [[one and to_object(one, "storage offset version") for one in some] for some in states]
    return values if any(values) else None


_KINDS = {"op": "op", "node": "node", "call": "call"}


def _status(op: TraceOp, link: OpLink, linker: Linker) -> str | None:
    """Whether the function of an operator, or the formula of a Node, is known."""
    if op.kind not in ("op", "node", "region"):
        return None
    if op.kind == "node":
        return "exact" if link.node is not None and not link.node.reason else "unknown"
    if link.kernel is not None and link.kernel.definitions:
        return "exact"
    several = link.candidates or len(linker.possible(link).kernels) > 1
    return "candidates" if several and link.kernel is None else "unknown"


def _shared(link: OpLink, linker: Linker) -> Object:
    """The common values of all candidates."""
    possible = linker.possible(link)
    places = [definition.location for row in possible.kernels for definition in row.definitions]
    makers = {_grad_fn(linker.schemas.derivative(schema.full_name)) for schema in possible.schemas}
    return {
        "schema": common_form([parse_schema(one.schema) for one in possible.schemas]),
        "schema_path": _only(one.location.path for one in possible.schemas),
        "kernel": _only(row.symbol for row in possible.kernels),
        "kernel_path": _only(place.path for place in places),
        "grad_fn": _only(makers),
    }


def _only(values: Iterable[str | None]) -> str | None:
    """The common value, or None if they differ."""
    found = set(values)
    return found.pop() if len(found) == 1 else None


def allocation_row(allocation: Allocation) -> Object:
    return to_object(
        allocation,
        "kind id name op_id start_us bytes device address total_bytes reserved_bytes?",
        kind="allocation",
        name="free" if allocation.bytes < 0 else "allocate",
    )


def kernel_row(kernel: DeviceKernel, linker: Linker, trace: Trace) -> Object:
    answer = linker.kernel_name(kernel)
    return to_object(
        kernel,
        "kind id name work=kind op_id launch? start_us duration_us device stream source launcher "
        "library confidence rule kernel_id? reason",
        kind="device_kernel",
        kernel_id=kernel_row_of(trace.table, kernel.op_id, kernel.name),
        source=_symbol(answer.source),
        launcher=_symbol(answer.launcher),
        library=answer.library,
        confidence=answer.confidence,
        rule=answer.rule,
        reason="; ".join(r for r in (kernel.reason, answer.reason) if r) or None,
    )


def _path(path: DispatchPath | None) -> Object | None:
    if path is None:
        return None
    certain = bool(path.steps) and path.is_certain
    steps = [_step(step) for step in path.steps]
    return to_object(path, "steps end certain assumed?", steps=steps, certain=certain)


def _step(step: DispatchStep) -> Object:
    missing = {} if step.slot else {"kind": "missing", "fallthrough": False}
    return to_object(step, _STEP, **missing)


def _schema(link: OpLink) -> Object | None:
    if link.schema is None:
        return None
    return to_object(link.schema, "path line text=schema rule", rule=link.overload_rule)


def _kernel(row: KernelRow | None) -> Object | None:
    if row is None:
        return None
    places = [definition.location for definition in row.definitions]
    return to_object(
        row,
        "symbol key kind path line definitions confidence rule reason? registered?",
        path=places[0].path if places else None,
        line=places[0].line if places else None,
        definitions=places,
    )


def _derivative(op: TraceOp, link: OpLink) -> Object | None:
    """In a backward pass the Node that ran; else the operator's derivative."""
    node, entry = link.node, link.derivative
    if node is not None and node.entry is not None:
        return _entry(node.entry, node.grad_fn, node.formulas)
    if node is not None:
        made: Object = {"op": None, "grad_fn": node.grad_fn, "formulas": {}}
        return to_object(node.definition, "op path line", **made) if node.definition else None
    if op.phase == "backward" or entry is None:
        return None
    default = entry.sets[0].formulas if entry.sets else ()
    return _entry(entry, _grad_fn(entry), [one for one in default if one.kind == "gradient"])


def _grad_fn(entry: DerivativeEntry | None) -> str | None:
    sets = entry.sets if entry is not None else ()
    return next((one.grad_fn for one in sets if one.grad_fn), None)


def _entry(entry: DerivativeEntry, grad_fn: str | None, formulas: Sequence[Formula]) -> Object:
    texts = {", ".join(one.inputs): to_object(one, "text path line") for one in formulas}
    return to_object(entry, "op path line", grad_fn=grad_fn, formulas=texts)


def _symbol(definition: Definition | None) -> Object | None:
    return to_object(definition, "symbol=qualified path line") if definition else None
