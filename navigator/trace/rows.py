"""A linked trace as rows of JSON, by the contract of ``torchnav export trace``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexes.model.vocabulary import Definition, DerivativeEntry, Formula, KernelRow
from indexes.serialize.answers import Object, shape, to_object
from navigator.trace.dispatch_path import DispatchPath, DispatchStep
from navigator.trace.link import Linker, OpLink
from navigator.trace.model import DeviceKernel, StackFrame, TraceOp
from navigator.trace.trace import Trace

_EXPORTED = ("op", "region")
_STEP = (
    "key kernel=slot.kernel kind=slot.kind fallthrough=slot.fallthrough path=location.path "
    "line=location.line origin=slot.origin rule=slot.rule confidence=slot.confidence"
)

shape(StackFrame, "path line function")


def trace_rows(trace: Trace, linker: Linker) -> Iterator[Object]:
    """Every operator by id, each followed by the device work it launched; then the rest."""
    for op in trace.ops():
        if op.kind in _EXPORTED or op.id in trace.table.kernels.by_op:
            yield op_row(op, linker.link(op), linker.path(op))
            for kernel in trace.kernels_of(op.id):
                yield kernel_row(kernel, linker)
    for kernel in trace.kernels():
        if kernel.op_id is None:
            yield kernel_row(kernel, linker)


def op_row(op: TraceOp, link: OpLink, path: DispatchPath | None) -> Object:
    return to_object(
        op,
        "kind id parent name overload candidates phase origin? grad_fn=node forward_id sequence "
        "thread start_us duration_us device layout keys dispatch_path inputs module? user stack "
        "schema kernel derivative resolved reason note",
        kind="op",
        overload=link.full_name.partition(".")[2] if link.full_name else op.overload,
        candidates=link.candidates,
        sequence=op.sequence if op.sequence >= 0 else None,
        keys=op.keys or link.keys,
        dispatch_path=_path(path),
        inputs=[str(value) for value in op.inputs],
        user=to_object(op.user, "path line", exact=op.user_exact) if op.user else None,
        schema=_schema(link),
        kernel=_kernel(link.kernel),
        derivative=_derivative(op, link),
        resolved=link.resolved,
        reason="; ".join(link.reasons) or None,
        note=link.note or None,
    )


def kernel_row(kernel: DeviceKernel, linker: Linker) -> Object:
    answer = linker.kernel_name(kernel)
    return to_object(
        kernel,
        "kind id name work=kind op_id launch? start_us duration_us device stream source launcher "
        "library confidence rule reason",
        kind="device_kernel",
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
    places = [one.location for one in row.definitions]
    return to_object(
        row,
        "symbol key kind path line definitions confidence rule reason? registered?",
        path=places[0].path if places else None,
        line=places[0].line if places else None,
        definitions=places,
    )


def _derivative(op: TraceOp, link: OpLink) -> Object | None:
    """In a backward pass the Node that ran; else how the operator would be differentiated."""
    node, entry = link.node, link.derivative
    if node is not None and node.entry is not None:
        return _entry(node.entry, node.grad_fn, node.formulas)
    if node is not None:
        made: Object = {"op": None, "grad_fn": node.grad_fn, "formulas": {}}
        return to_object(node.definition, "op path line", **made) if node.definition else None
    if op.phase == "backward" or entry is None:
        return None
    grad_fn = next((one.grad_fn for one in entry.sets if one.grad_fn), None)
    default = entry.sets[0].formulas if entry.sets else ()
    return _entry(entry, grad_fn, [one for one in default if one.kind == "gradient"])


def _entry(entry: DerivativeEntry, grad_fn: str | None, formulas: Sequence[Formula]) -> Object:
    texts = {", ".join(one.inputs): to_object(one, "text path line") for one in formulas}
    return to_object(entry, "op path line", grad_fn=grad_fn, formulas=texts)


def _symbol(one: Definition | None) -> Object | None:
    return to_object(one, "symbol=qualified path line") if one else None
