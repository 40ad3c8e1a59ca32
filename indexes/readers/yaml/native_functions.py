"""Reads native_functions.yaml: every operator, with the line of every field."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from indexes.model.schema import parse_schema
from indexes.model.vocabulary import FLAGS, Kernel, Location, NativeFunction, Problem
from indexes.readers.yaml.accepted import Accepted
from indexes.readers.yaml.nodes import Entry, Field, Node, read_entries


def read_native_functions(
    data: bytes, path: str, accepted: Accepted | None = None
) -> tuple[tuple[NativeFunction, ...], tuple[Problem, ...]]:
    """Every readable entry in file order, and problems, such as what torchgen would not accept."""
    accepted = accepted or Accepted()
    entries, problems = read_entries(data, path)
    functions: list[NativeFunction] = []
    for entry in entries:
        function = _EntryReader(entry, path, problems).read()
        if function is not None:
            functions.append(function)
            problems += accepted.refused(function)
    return tuple(functions), tuple(sorted(problems, key=lambda p: p.line))


@dataclass(slots=True)
class _EntryReader:
    """Makes a NativeFunction from the fields of an entry and reports wrong types."""

    entry: Entry
    path: str
    problems: list[Problem]

    def read(self) -> NativeFunction | None:
        func = self.entry.fields.get("func")
        text = func.value.text if func else None
        try:
            if func is None or text is None:
                raise ValueError("func is not text" if func else "entry without func")
            schema = parse_schema(text)
        except ValueError as error:
            self._problem(func.line if func else self.entry.line, str(error))
            return None
        return self._function(schema.name, schema.overload, text)

    def _function(self, name: str, overload: str, schema: str) -> NativeFunction:
        values: dict[str, Any] = {}
        flags: dict[str, str] = {}
        for key, field in self.entry.fields.items():
            value = self._value(field)
            if value is None or key in FLAGS or key not in _FORMS:
                flags[key] = ", ".join(field.value.texts or ())
            else:
                values[key] = value
        del values["func"]
        return NativeFunction(
            name,
            overload,
            schema,
            Location(self.path, self.entry.line, self.entry.end_line),
            {key: field.line for key, field in self.entry.fields.items()},
            # None for a broken block would claim a composite kernel that may not exist.
            values.pop("dispatch", () if "dispatch" in flags else None),
            flags=flags,
            **values,
        )

    def _value(self, field: Field) -> Any:
        if field.key == "dispatch":
            return self._dispatch(field)
        read, wanted = _FORMS.get(field.key, _TEXTS)
        if (value := read(field.value)) is None:
            self._problem(field.line, f"{field.key or 'a key'} is not {wanted}")
        return value

    def _dispatch(self, field: Field) -> tuple[Kernel, ...] | None:
        if field.value.fields is None:
            self._problem(field.line, "dispatch is not a mapping from dispatch key to kernel")
            return None
        return tuple(k for each in field.value.fields.values() for k in self._kernels(each))

    def _kernels(self, field: Field) -> list[Kernel]:
        symbol = field.value.text
        keys = [key.strip() for key in field.key.split(",") if key.strip()]
        if symbol is None or not keys:
            self._problem(field.line, f"dispatch of {field.key or 'a key'} names no kernel")
            return []
        return [Kernel(key, symbol, field.line) for key in keys]

    def _problem(self, line: int, message: str) -> None:
        self.problems.append(Problem(self.path, line, message))


def _inner_loops(node: Node) -> dict[str, str] | None:
    if node.text is not None:
        return {"Generic": node.text}
    texts = {key: field.value.text for key, field in (node.fields or {}).items()}
    found = {key: text for key, text in texts.items() if text is not None}
    return found if node.fields is not None and len(found) == len(texts) else None


_TEXT = (attrgetter("text"), "text")
_TEXTS = (attrgetter("texts"), "text")
_WORDS = (attrgetter("words"), "text or a list of text")
_BOOLEAN = (attrgetter("boolean"), "True or False")
_FORMS: dict[str, tuple[Callable[[Node], Any], str]] = {
    "func": _TEXT,
    "variants": _WORDS,
    "dispatch": _TEXTS,
    "structured": _BOOLEAN,
    "structured_delegate": _TEXT,
    "structured_inherits": _TEXT,
    "precomputed": (attrgetter("texts"), "a list of text"),
    "ufunc_inner_loop": (_inner_loops, "text or a mapping"),
    "autogen": _WORDS,
    "tags": _WORDS,
    "python_module": _TEXT,
    "device_guard": _BOOLEAN,
    "manual_kernel_registration": _BOOLEAN,
    "manual_cpp_binding": _BOOLEAN,
    "use_const_ref_for_mutable_tensors": _BOOLEAN,
}
"""How each field's value is read, and its form; absent fields have NativeFunction's defaults."""
