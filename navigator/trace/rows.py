"""A linked trace as rows of JSON, by the contract of ``torchnav export trace``."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.vocabulary import Definition, DerivativeEntry, Formula, KernelRow, Location
from indexes.serialize.answers import Json, Object, device_kernel_json
from navigator.trace.dispatch_path import DispatchPath, DispatchStep
from navigator.trace.link import Linker, NodeLink, OpLink
from navigator.trace.model import DeviceKernel, TraceOp
from navigator.trace.trace import Trace

_EXPORTED = ("op", "region")


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
    return {
        "kind": "op",
        "id": op.id,
        "parent": op.parent,
        "name": op.name,
        "overload": _overload(op, link),
        "candidates": list(link.candidates),
        "phase": op.phase,
        "origin": op.origin or None,
        "grad_fn": op.node,
        "forward_id": op.forward_id,
        "sequence": op.sequence if op.sequence >= 0 else None,
        "thread": op.thread,
        "start_us": op.start_us,
        "duration_us": op.duration_us,
        "device": op.device,
        "layout": op.layout,
        "keys": list(op.keys or link.keys),
        "dispatch_path": _path(path),
        "inputs": [str(value) for value in op.inputs],
        "module": op.module or None,
        "user": _user(op),
        "stack": [{**_line(f.location), "function": f.function} for f in op.stack],
        "schema": _schema(link),
        "kernel": _kernel(link.kernel),
        "derivative": _derivative(op, link),
        "resolved": link.resolved,
        "reason": "; ".join(link.reasons) or None,
        "note": link.note or None,
    }


def kernel_row(kernel: DeviceKernel, linker: Linker) -> Object:
    answer = linker.kernel_name(kernel)
    facts = device_kernel_json(answer)
    return {
        "kind": "device_kernel",
        "id": kernel.id,
        "name": kernel.name,
        "work": kernel.kind,
        "op_id": kernel.op_id,
        "launch": kernel.launch or None,
        "start_us": kernel.start_us,
        "duration_us": kernel.duration_us,
        "device": kernel.device,
        "stream": kernel.stream,
        "source": _symbol(answer.source),
        "launcher": facts["launcher"],
        "library": answer.library,
        "confidence": answer.confidence,
        "rule": answer.rule,
        "reason": "; ".join(r for r in (kernel.reason, answer.reason) if r) or None,
    }


def _overload(op: TraceOp, link: OpLink) -> str | None:
    if link.full_name:
        return link.full_name.partition(".")[2]
    return op.overload


def _path(path: DispatchPath | None) -> Object | None:
    if path is None:
        return None
    return {
        "steps": [_step(step) for step in path.steps],
        "end": path.end,
        "certain": bool(path.steps) and path.is_certain,
        "assumed": path.assumed or None,
    }


def _step(step: DispatchStep) -> Object:
    slot, where = step.slot, step.location
    return {
        "key": step.key,
        "kernel": slot.kernel if slot else None,
        "kind": slot.kind if slot else "missing",
        "fallthrough": bool(slot and slot.fallthrough),
        "path": where.path if where else None,
        "line": where.line if where else None,
        "origin": slot.origin if slot else None,
        "rule": slot.rule if slot else None,
        "confidence": slot.confidence if slot else None,
    }


def _user(op: TraceOp) -> Object | None:
    if op.user is None:
        return None
    return {**_line(op.user), "exact": op.user_exact}


def _schema(link: OpLink) -> Object | None:
    if link.schema is None:
        return None
    return {**_line(link.schema.location), "text": link.schema.schema, "rule": link.overload_rule}


def _kernel(row: KernelRow | None) -> Object | None:
    if row is None:
        return None
    places: list[Json] = [_line(one.location) for one in row.definitions]
    first = row.definitions[0].location if row.definitions else None
    return {
        "symbol": row.symbol,
        "key": row.key,
        "kind": row.kind,
        "path": first.path if first else None,
        "line": first.line if first else None,
        "definitions": places,
        "confidence": row.confidence,
        "rule": row.rule,
        "reason": row.reason or None,
    }


def _derivative(op: TraceOp, link: OpLink) -> Object | None:
    """In a backward pass the Node that ran; else how the operator would be differentiated."""
    if link.node is not None:
        return _node(link.node)
    if op.phase == "backward" or link.derivative is None:
        return None
    return _entry(link.derivative)


def _entry(entry: DerivativeEntry) -> Object:
    grad_fn = next((one.grad_fn for one in entry.sets if one.grad_fn), None)
    formulas = (f for one in entry.sets[:1] for f in one.formulas if f.kind == "gradient")
    return {
        "op": entry.op,
        **_line(entry.location),
        "grad_fn": grad_fn,
        "formulas": _formulas(formulas),
    }


def _node(node: NodeLink) -> Object | None:
    if node.entry is not None:
        entry = _entry(node.entry)
        return {**entry, "grad_fn": node.grad_fn, "formulas": _formulas(iter(node.formulas))}
    if node.definition is None:
        return None
    return {"op": None, **_line(node.definition.location), "grad_fn": node.grad_fn, "formulas": {}}


def _formulas(formulas: Iterator[Formula]) -> Object:
    return {
        ", ".join(formula.inputs): {"text": formula.text, **_line(formula.location)}
        for formula in formulas
    }


def _symbol(one: Definition | None) -> Object | None:
    return {"symbol": one.qualified, **_line(one.location)} if one else None


def _line(location: Location) -> Object:
    return {"path": location.path, "line": location.line}
