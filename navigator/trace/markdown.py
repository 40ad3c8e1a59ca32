"""One operator call of a trace as Markdown, for pasting into an issue."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from indexes.model.vocabulary import Location
from indexes.source.source import permalink
from navigator.text.clean import markdown_code as code
from navigator.text.clean import markdown_link
from navigator.text.clean import markdown_text as text
from navigator.trace.link import Linker
from navigator.trace.model import TraceOp
from navigator.trace.trace import Trace
from navigator.trace.wording import duration

Link = Callable[[Location], str]
"""A place as Markdown: a permalink where the tree's commit is known."""


def op_markdown(trace: Trace, op: TraceOp, linker: Linker) -> str:
    """What ran, on what, from which line, and where its source is."""
    lines = [f"### {code(op.label)}", ""]
    lines += [f"- {name}: {value}" for name, value in _facts(trace, op, linker) if value]
    return "\n".join(lines) + "\n"


def _facts(trace: Trace, op: TraceOp, linker: Linker) -> Iterator[tuple[str, str]]:
    link = linker.link(op)
    place = _places(linker)
    schemas = _places(linker, of_schemas=True)
    yield "inputs", ", ".join(code(str(value)) for value in op.inputs)
    yield "output", code(op.output) if op.output else ""
    device = text(op.device or "a device that the trace does not name")
    yield "ran", f"{text(op.phase)}, on {device}, {duration(op.duration_us)}"
    yield "called from", code(str(op.user)) if op.user else ""
    yield "module", code(op.module) if op.module else ""
    if link.schema is not None:
        yield "schema", f"{code(link.schema.schema)} ({schemas(link.schema.location)})"
    if link.kernel is not None:
        where = ", ".join(place(one.location) for one in link.kernel.definitions)
        yield f"kernel for {text(link.kernel.key)}", f"{code(link.kernel.symbol)} {where}".strip()
    yield from _gradient(trace, op, linker, schemas)
    for kernel in trace.kernels_of(op.id):
        answer = linker.kernel_name(kernel)
        source = place(answer.source.location) if answer.source else text(answer.library or "")
        yield "device kernel", f"{code(kernel.name)} {source}".strip()
    yield "not resolved", text("; ".join(link.reasons))
    yield "source", _source(linker)


def _gradient(trace: Trace, op: TraceOp, linker: Linker, place: Link) -> Iterator[tuple[str, str]]:
    node = linker.link(op).node
    if node is None:
        return
    yield "autograd node", code(node.grad_fn)
    for formula in node.formulas:
        inputs = ", ".join(formula.inputs)
        yield f"formula for {text(inputs)}", f"{code(formula.text)} ({place(formula.location)})"
    forward = trace.op(op.node_id).forward_id if op.node_id is not None else None
    if forward is not None:
        other = trace.op(forward)
        yield "gradient of", f"{code(other.label)} at {code(str(other.user))}"


def _places(linker: Linker, *, of_schemas: bool = False) -> Link:
    info = (linker.schemas if of_schemas else linker.index).info

    def place(location: Location) -> str:
        return markdown_link(str(location), permalink(info, location.path, location.line))

    return place


def _source(linker: Linker) -> str:
    info = linker.index.info
    commit = f" at {info.commit[:12]}" if info.commit else ""
    note = f"; {linker.note}" if linker.note else ""
    return text(f"PyTorch {info.version}{commit}{note}")
