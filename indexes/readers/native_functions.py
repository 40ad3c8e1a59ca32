"""Reads native_functions.yaml: every operator PyTorch declares, with the line of every field."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from indexes.model import Kernel, Location, NativeFunction, Problem
from indexes.readers.yaml_nodes import (
    Entry,
    Field,
    Node,
    fields_of,
    is_null,
    read_entries,
    text_of,
    texts_of,
)
from indexes.schema import parse_schema

T = TypeVar("T")

_OWN = frozenset(
    {"func", "variants", "dispatch", "structured", "structured_delegate", "structured_inherits"}
    | {"precomputed", "ufunc_inner_loop", "autogen", "tags", "python_module"}
)
"""Fields with a place of their own in NativeFunction; all others go to ``flags``."""


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
        text = self._get("func", text_of, "text", None)
        if text is None:
            if "func" not in self._fields:
                self._problem(self._entry.line, "entry without func")
            return None
        try:
            schema = parse_schema(text)
        except ValueError as error:
            self._problem(self._fields["func"].line, str(error))
            return None
        return self._function(schema.name, schema.overload, text)

    def _function(self, name: str, overload: str, schema: str) -> NativeFunction:
        get = self._get
        return NativeFunction(
            name=name,
            overload=overload,
            schema=schema,
            location=Location(self._path, self._entry.line, self._entry.end_line),
            field_lines={key: field.line for key, field in self._fields.items()},
            dispatch=self._dispatch(),
            variants=get("variants", texts_of, "text", ("function",)),
            structured=get("structured", _boolean, "True or False", False),
            structured_delegate=get("structured_delegate", text_of, "text", None),
            structured_inherits=get("structured_inherits", text_of, "text", None),
            precomputed=get("precomputed", _texts_whole, "a list of text", ()),
            ufunc_inner_loop=get("ufunc_inner_loop", _inner_loops, "text or a mapping", {}),
            autogen=get("autogen", texts_of, "text", ()),
            tags=get("tags", texts_of, "text or a list of text", ()),
            python_module=get("python_module", text_of, "text", None),
            flags=self._flags(),
        )

    def _get(self, name: str, read: Callable[[Node], T | None], wanted: str, default: T) -> T:
        """The field's value; the default where it is absent or, with a problem, wrong."""
        field = self._fields.get(name)
        if field is None:
            return default
        value = read(field.value)
        if value is None:
            self._problem(field.line, f"{name} is not {wanted}")
            return default
        return value

    def _flags(self) -> dict[str, str]:
        flags: dict[str, str] = {}
        for name, field in self._fields.items():
            if name not in _OWN:
                texts = _texts_whole(field.value)
                if texts is None:
                    self._problem(field.line, f"{name or 'a key'} is not text")
                else:
                    flags[name] = ", ".join(texts)
        return flags

    def _dispatch(self) -> tuple[Kernel, ...] | None:
        """Empty for a broken block: None would claim a composite kernel that may not exist."""
        field = self._fields.get("dispatch")
        if field is None:
            return None
        fields = fields_of(field.value, self._entry.offset)
        if fields is None:
            self._problem(field.line, "dispatch is not a mapping from dispatch key to kernel")
            return None if is_null(field.value) else ()
        return tuple(kernel for each in fields.values() for kernel in self._kernels(each))

    def _kernels(self, field: Field) -> list[Kernel]:
        symbol = text_of(field.value)
        keys = [key.strip() for key in field.key.split(",") if key.strip()]
        if symbol is None or not keys:
            self._problem(field.line, f"dispatch of {field.key or 'a key'} names no kernel")
            return []
        return [Kernel(key, symbol, field.line) for key in keys]

    def _problem(self, line: int, message: str) -> None:
        self._problems.append(Problem(self._path, line, message))


def _boolean(node: Node) -> bool | None:
    if node.tag != "tag:yaml.org,2002:bool":
        return None
    return node.value.lower() in ("true", "yes", "on")


def _texts_whole(node: Node) -> tuple[str, ...] | None:
    """As ``texts_of``, but a scalar is one text, commas and all."""
    if node.id == "scalar":
        return (node.value,)
    return texts_of(node) if node.id == "sequence" else None


def _inner_loops(node: Node) -> dict[str, str] | None:
    text = text_of(node)
    if text is not None:
        return {"Generic": text}
    fields = fields_of(node, 0)
    if fields is None:
        return None
    texts = {key: text_of(field.value) for key, field in fields.items()}
    return None if None in texts.values() else {k: t for k, t in texts.items() if t is not None}
