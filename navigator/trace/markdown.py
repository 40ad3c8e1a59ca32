"""One operator call of a trace as Markdown, for pasting into an issue."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from indexes.model.vocabulary import Location
from indexes.source.source import permalink
from navigator.trace.link import Linker
from navigator.trace.model import TraceOp
from navigator.trace.trace import Trace
from navigator.trace.wording import duration

Link = Callable[[Location], str]
"""A place as Markdown: a permalink where the tree's commit is known."""


def op_markdown(trace: Trace, op: TraceOp, linker: Linker) -> str:
    """What ran, on what, from which line, and where its source is."""
    lines = [f"### `{_code(op.label)}`", ""]
    lines += [f"- {name}: {text}" for name, text in _facts(trace, op, linker) if text]
    return "\n".join(lines) + "\n"


def _facts(trace: Trace, op: TraceOp, linker: Linker) -> Iterator[tuple[str, str]]:
    link = linker.link(op)
    place = _places(linker)
    schemas = _places(linker, of_schemas=True)
    yield "inputs", ", ".join(f"`{_code(str(value))}`" for value in op.inputs)
    yield "output", f"`{_code(op.output)}`" if op.output else ""
    device = op.device or "a device that the trace does not name"
    yield "ran", f"{op.phase}, on {device}, {duration(op.duration_us)}"
    yield "called from", f"`{_code(str(op.user))}`" if op.user else ""
    yield "module", f"`{_code(op.module)}`" if op.module else ""
    if link.schema is not None:
        text = f"`{_code(link.schema.schema)}` ({schemas(link.schema.location)})"
        yield "schema", text
    if link.kernel is not None:
        where = ", ".join(place(one.location) for one in link.kernel.definitions)
        yield f"kernel for {link.kernel.key}", f"`{_code(link.kernel.symbol)}` {where}".strip()
    yield from _gradient(trace, op, linker, schemas)
    for kernel in trace.kernels_of(op.id):
        answer = linker.kernel_name(kernel)
        source = place(answer.source.location) if answer.source else answer.library or ""
        yield "device kernel", f"`{_code(kernel.name)}` {source}".strip()
    yield "not resolved", "; ".join(link.reasons)
    yield "source", _source(linker)


def _gradient(trace: Trace, op: TraceOp, linker: Linker, place: Link) -> Iterator[tuple[str, str]]:
    node = linker.link(op).node
    if node is None:
        return
    yield "autograd node", f"`{_code(node.grad_fn)}`"
    for formula in node.formulas:
        inputs = ", ".join(formula.inputs)
        yield f"formula for {inputs}", f"`{_code(formula.text)}` ({place(formula.location)})"
    forward = trace.op(op.node_id).forward_id if op.node_id is not None else None
    if forward is not None:
        other = trace.op(forward)
        yield "gradient of", f"`{_code(other.label)}` at `{_code(str(other.user))}`"


def _places(linker: Linker, *, of_schemas: bool = False) -> Link:
    info = (linker.schemas if of_schemas else linker.index).info

    def place(location: Location) -> str:
        address = permalink(info, location.path, location.line)
        return f"[`{location}`]({address})" if address else f"`{location}`"

    return place


def _source(linker: Linker) -> str:
    info = linker.index.info
    commit = f" at {info.commit[:12]}" if info.commit else ""
    note = f"; {linker.note}" if linker.note else ""
    return f"PyTorch {info.version}{commit}{note}"


def _code(text: str) -> str:
    """Text between backticks: neither a backtick nor a line end can leave them."""
    return " ".join(text.replace("`", "'").split())
