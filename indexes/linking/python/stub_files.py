"""Stub files (``.pyi``) that generators of the tree make: what stands at a line of one."""

from __future__ import annotations

from dataclasses import dataclass

from indexes.linking.python.paths import PythonIndex
from indexes.model.files import canonical
from indexes.model.vocabulary import Location
from indexes.readers.python.blocks import blocks, innermost


@dataclass(frozen=True, slots=True)
class StubLine:
    """What stands at a line of a generated stub file."""

    python_path: str
    """``torch.relu``, ``torch.Tensor.relu``, ``torch._C._nn.gelu``; empty when not known."""
    template: Location
    generator: Location
    """The generator's line that writes the file."""
    rule: str


def stub_line(path: str, line: int, data: bytes | None, facts: PythonIndex) -> StubLine | None:
    """The answer for a line of a ``.pyi`` that a generator of this tree makes, else None.

    ``path`` may be absolute; ``data`` is the file's text if there is one (an installed torch has
    it), without which only the generator is known."""
    made = "torch/" + path.replace("\\", "/").rpartition("torch/")[2]
    found = next((one for one in facts.by_target(made) if one[1].kind == "generated_file"), None)
    if found is None:
        return None
    generator, fact = found
    written_at = Location(generator, fact.line, fact.end_line)
    rule = f"{made} is generated from {fact.symbol} by {generator}"
    declared = _declared(made, line, data) if data else ""
    return StubLine(declared, Location(fact.symbol, 0), written_at, rule)


def _declared(made: str, line: int, data: bytes) -> str:
    block = innermost(blocks(data), line)
    if block is None:
        return ""
    owner, _, name = block.head.qualified.rpartition(".")
    if owner in {"TensorBase", "_TensorBase"}:
        return f"torch.Tensor.{name}"
    module = made.removesuffix(".pyi").removesuffix("/__init__").replace("/", ".")
    return canonical(f"{module}.{block.head.qualified}")
