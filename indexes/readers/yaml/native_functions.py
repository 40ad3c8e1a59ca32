"""Reads native_functions.yaml: every operator PyTorch declares, with the line of every field."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any

from indexes.model.vocabulary import Kernel, Location, NativeFunction, Problem
from indexes.readers.yaml.nodes import Entry, Field, Node, read_entries
from indexes.readers.yaml.schema import parse_schema


def read_native_functions(
    data: bytes, path: str
) -> tuple[tuple[NativeFunction, ...], tuple[Problem, ...]]:
    """Every readable entry in file order, and a problem for each that is not."""
    entries, problems = read_entries(data, path)
    functions: list[NativeFunction] = []
    for entry in entries:
        function = _EntryReader(entry, path, problems).read()
        if function is not None:
            functions.append(function)
    return tuple(functions), tuple(sorted(problems, key=lambda p: p.line))


class _EntryReader:
    """Turns the fields of one entry into a NativeFunction, noting what has the wrong type."""

    def __init__(self, entry: Entry, path: str, problems: list[Problem]) -> None:
        self._entry = entry
        self._fields = entry.fields
        self._path = path
        self._problems = problems

    def read(self) -> NativeFunction | None:
        func = self._fields.get("func")
        if func is None:
            self._problem(self._entry.line, "entry without func")
            return None
        text = func.value.text
        if text is None:
            self._problem(func.line, "func is not text")
            return None
        try:
            schema = parse_schema(text)
        except ValueError as error:
            self._problem(func.line, str(error))
            return None
        return self._function(schema.name, schema.overload, text)

    def _function(self, name: str, overload: str, schema: str) -> NativeFunction:
        flags: dict[str, str] = {}
        values: dict[str, Any] = {}
        for key, field in self._fields.items():
            if key in _READ:
                read, wanted = _READ[key]
                if (value := read(field.value)) is None:
                    self._problem(field.line, f"{key} is not {wanted}")
                else:
                    values[key] = value
            elif key not in _OWN:
                self._flag(field, flags)
        return NativeFunction(
            name,
            overload,
            schema,
            Location(self._path, self._entry.line, self._entry.end_line),
            {key: field.line for key, field in self._fields.items()},
            self._dispatch(),
            flags=flags,
            **values,
        )

    def _flag(self, field: Field, flags: dict[str, str]) -> None:
        texts = field.value.texts
        if texts is None:
            self._problem(field.line, f"{field.key or 'a key'} is not text")
        else:
            flags[field.key] = ", ".join(texts)

    def _dispatch(self) -> tuple[Kernel, ...] | None:
        """Empty for a broken block: None would claim a composite kernel that may not exist."""
        field = self._fields.get("dispatch")
        if field is None:
            return None
        fields = field.value.fields
        if fields is None:
            self._problem(field.line, "dispatch is not a mapping from dispatch key to kernel")
            return None if field.value.is_null else ()
        return tuple(kernel for each in fields.values() for kernel in self._kernels(each))

    def _kernels(self, field: Field) -> list[Kernel]:
        symbol = field.value.text
        keys = [key.strip() for key in field.key.split(",") if key.strip()]
        if symbol is None or not keys:
            self._problem(field.line, f"dispatch of {field.key or 'a key'} names no kernel")
            return []
        return [Kernel(key, symbol, field.line) for key in keys]

    def _problem(self, line: int, message: str) -> None:
        self._problems.append(Problem(self._path, line, message))


def _inner_loops(node: Node) -> dict[str, str] | None:
    if node.text is not None:
        return {"Generic": node.text}
    texts = {key: field.value.text for key, field in (node.fields or {}).items()}
    found = {key: text for key, text in texts.items() if text is not None}
    return found if node.fields is not None and len(found) == len(texts) else None


_READ: dict[str, tuple[Callable[[Node], Any], str]] = {
    "variants": (attrgetter("words"), "text"),
    "structured": (attrgetter("boolean"), "True or False"),
    "structured_delegate": (attrgetter("text"), "text"),
    "structured_inherits": (attrgetter("text"), "text"),
    "precomputed": (attrgetter("texts"), "a list of text"),
    "ufunc_inner_loop": (_inner_loops, "text or a mapping"),
    "autogen": (attrgetter("words"), "text"),
    "tags": (attrgetter("words"), "text or a list of text"),
    "python_module": (attrgetter("text"), "text"),
}
"""How a field's value is read, and what it has to be; absent ones have NativeFunction's
defaults."""
_OWN = frozenset({"func", "dispatch"})
"""Fields that are read by themselves; all others go to ``flags``."""
