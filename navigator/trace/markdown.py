"""An operator call of a trace as Markdown, for issues."""

from __future__ import annotations

from collections.abc import Iterator

from navigator.text.markdown import code, place, words
from navigator.trace.compiling.words import compiled_words
from navigator.trace.link import Linker
from navigator.trace.model import TraceOp
from navigator.trace.trace import Trace
from navigator.trace.wording import duration


def op_markdown(trace: Trace, op: TraceOp, linker: Linker) -> str:
    """The operator, its inputs, its line, and its source."""
    lines = [f"### {code(op.label)}", ""]
    lines += [f"- {name}: {text}" for name, text in _facts(trace, op, linker) if text]
    return "\n".join(lines) + "\n"


def _facts(trace: Trace, op: TraceOp, linker: Linker) -> Iterator[tuple[str, str]]:
    link, source = linker.link(op), linker.index.info
    yield "inputs", ", ".join(map(code, op.inputs))
    yield "output", code(op.output) if op.output else ""
    device = op.device or "a device that the trace does not name"
    yield "ran", f"{words(op.phase)}, on {words(device)}, {duration(op.duration_us)}"
    yield "called from", code(op.user) if op.user else ""
    yield "module", code(op.module) if op.module else ""
    if link.schema is not None:
        where = place(linker.schemas.info, link.schema.location)
        yield "schema", f"{code(link.schema.schema)} ({where})"
    if link.kernel is not None:
        where = ", ".join(place(source, one.location) for one in link.kernel.definitions)
        yield f"kernel for {words(link.kernel.key)}", f"{code(link.kernel.symbol)} {where}".strip()
    yield from _gradient(trace, op, linker)
    for kernel in trace.kernels_of(op.id):
        answer = linker.kernel_name(kernel)
        where = (
            place(source, answer.source.location) if answer.source else words(answer.library or "")
        )
        yield "device kernel", f"{code(kernel.name)} {where}".strip()
    for text in compiled_words(trace.table, op.id, linker):
        yield "torch.compile", words(text)
    yield "not resolved", words("; ".join(link.reasons))
    yield "source", _source(linker)


def _gradient(trace: Trace, op: TraceOp, linker: Linker) -> Iterator[tuple[str, str]]:
    node = linker.link(op).node
    if node is None:
        return
    where = place(linker.index.info, node.definition.location) if node.definition else ""
    yield "autograd node", f"{code(node.grad_fn)} {where}".strip()
    for formula in node.formulas:
        where = place(linker.schemas.info, formula.location)
        yield f"formula for {words(', '.join(formula.inputs))}", f"{code(formula.text)} ({where})"
    forward = trace.op(op.node_id).forward_id if op.node_id is not None else None
    if forward is not None:
        other = trace.op(forward)
        yield "gradient of", f"{code(other.label)} at {code(other.user)}"


def _source(linker: Linker) -> str:
    info = linker.index.info
    commit = f" at {info.commit[:12]}" if info.commit else ""
    note = f"; {linker.note}" if linker.note else ""
    return words(f"PyTorch {info.version}{commit}{note}")
