"""Entries of native_functions.yaml for tests, from their text."""

from __future__ import annotations

from indexes.model.vocabulary import NativeFunction
from indexes.readers.yaml.native_functions import read_native_functions


def natives(text: str) -> tuple[NativeFunction, ...]:
    """The entries of a text."""
    found, problems = read_native_functions(text.encode(), "native_functions.yaml")
    assert not problems
    return found


def unary(*names: str, module: str = "") -> str:
    """Entries of operators that take a tensor and give one."""
    extra = f"\n  python_module: {module}" if module else ""
    return "\n\n".join(f"- func: {name}(Tensor self) -> Tensor{extra}" for name in names) + "\n"
