"""ONNX symbolics of versions that register whole modules: ``symbolic_opset9.add``.

There every public function of a ``symbolic_opsetN`` module whose first parameter is the graph
``g`` is the symbolic of the operator of its name."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.regex import regex
from indexes.readers.python.blocks import Text
from indexes.readers.python.facts import PythonFact, module_name, pack

_PATH = regex(r"onnx/symbolic_opset(\d+)\.py$")
_TAKES_GRAPH = regex(rb"def\s+\w+\(\s*g\s*[,:)]")


def registers_by_name(path: str, data: bytes) -> bool:
    """Whether a file's functions are symbolics by their names alone."""
    return bool(_PATH.search(path)) and b"onnx_symbolic" not in data


def read_symbolics(text: Text, path: str) -> Iterator[PythonFact]:
    """The symbolics of such a file."""
    opset = _PATH.search(path)
    for block in text.blocks:
        head = block.head
        if head.parent >= 0 or head.indent or head.name.startswith(("_", "prim_")):
            continue
        if _TAKES_GRAPH.match(text.data, head.start):
            detail = pack(opset=opset[1] if opset else "")
            symbol = f"{module_name(path)}.{head.name}"
            target = f"aten::{head.name}"
            yield PythonFact("onnx", target, symbol, head.line, block.end_line, detail)
