"""YAML as nodes with lines, for the readers of native_functions.yaml and derivatives.yaml.

Nothing is constructed from the text: nodes are read as strings, so no tag, anchor or
type of a hostile file can do more than be a string of the wrong kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from indexes.model import Problem

Node: TypeAlias = Any
"""A ``yaml.nodes.Node``, whose type stubs leave out ``id`` and ``flow_style``."""


class Field(NamedTuple):
    """One ``key: value`` of a mapping."""

    key: str
    value: Node
    line: int
    """Line of the key, in the file."""


class Entry(NamedTuple):
    """One ``- key: value`` block of the file's top-level list."""

    fields: dict[str, Field]
    line: int
    end_line: int
    offset: int
    """Lines before the text its nodes' marks count from."""


def read_entries(data: bytes, path: str) -> tuple[list[Entry], list[Problem]]:
    """The entries of a file that is a list of mappings, and what could not be read.

    A file that is not YAML as a whole is read entry by entry, so that a broken or
    cut-off entry costs only itself.
    """
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    problems: list[Problem] = []
    broken: list[Problem] = []
    node = compose(text, 0, path, broken)
    if broken:
        entries = _entry_by_entry(text, path, problems)
    else:
        entries = _listed(node, 0, path, problems)
    if not entries and not problems:
        problems += broken or [Problem(path, 1, "no entries: not a list of `- key: value` blocks")]
    return entries, problems


def fields_of(node: Node, offset: int) -> dict[str, Field] | None:
    """The fields of a mapping with string keys, in order; None for any other node."""
    if node.id != "mapping":
        return None
    fields: dict[str, Field] = {}
    for key, value in node.value:
        name = key.value if key.id == "scalar" else ""
        fields[name] = Field(name, value, key.start_mark.line + 1 + offset)
    return fields


def is_null(node: Node) -> bool:
    return bool(node.id == "scalar" and node.tag == "tag:yaml.org,2002:null")


def text_of(node: Node) -> str | None:
    """The text of a scalar; None for null, lists and mappings."""
    if node.id != "scalar" or is_null(node):
        return None
    value: str = node.value
    return value


def texts_of(node: Node) -> tuple[str, ...] | None:
    """A list of scalars, or one scalar with commas; None for anything else."""
    if node.id == "sequence":
        texts = [text_of(item) for item in node.value]
        return None if None in texts else tuple(t for t in texts if t is not None)
    text = text_of(node)
    if text is None:
        return () if node.id == "scalar" else None
    return tuple(part.strip() for part in text.split(",") if part.strip())


def line_of(node: Node, offset: int) -> int:
    """The line the node starts on."""
    line: int = node.start_mark.line
    return line + 1 + offset


def last_line(node: Node, offset: int) -> int:
    """The last line with text of the node: a block's end mark is past the comments after it."""
    seen = 0
    while node.id != "scalar" and not node.flow_style and node.value and seen < 32:
        last = node.value[-1]
        node = last[1] if node.id == "mapping" else last
        seen += 1
    line: int = node.end_mark.line
    at_start = node.end_mark.column == 0 and line > node.start_mark.line
    return line + offset + (0 if at_start else 1)


_ENTRY = re.compile(r"^- ?", re.M)
_STRUCTURE = re.compile(r"^[ \-?]{99,}|^- |[\[\]{}]", re.M)
_DEEPEST = 99


def _too_deep(text: str) -> int | None:
    """The line of nesting that no real file has, and that the C parser's stack may not bear.

    Flow nesting counts brackets, from each top-level ``- `` anew: inside brackets that is
    an error. Block nesting takes a column a level at least.
    """
    depth = 0
    for match in _STRUCTURE.finditer(text):
        token = match[0]
        if len(token) > 1:
            depth = 0 if len(token) == 2 else _DEEPEST
        else:
            depth = depth + 1 if token in "[{" else max(depth - 1, 0)
        if depth >= _DEEPEST:
            return text.count("\n", 0, match.start()) + 1
    return None


def compose(text: str, offset: int, path: str, problems: list[Problem]) -> Node | None:
    """The root node of a YAML text; None, with a problem, for what is not YAML or is empty."""
    import yaml

    deep = _too_deep(text)
    if deep is not None:
        problems.append(Problem(path, deep + offset, "not YAML: nested too deep"))
        return None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node: Node | None = yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = mark.line + 1 if mark else 1 + text.count("\n", 0, getattr(error, "position", 0))
        what = (
            getattr(error, "problem", None) or getattr(error, "reason", None) or "nested too deep"
        )
        problems.append(Problem(path, line + offset, f"not YAML: {what}"))
        return None
    return node


def _listed(node: Node | None, offset: int, path: str, problems: list[Problem]) -> list[Entry]:
    if node is None or node.id != "sequence":
        line = 1 + offset if node is None else line_of(node, offset)
        problems.append(Problem(path, line, "not a list of `- key: value` blocks"))
        return []
    entries: list[Entry] = []
    for item in node.value:
        fields = fields_of(item, offset)
        if fields is None:
            problems.append(Problem(path, line_of(item, offset), "entry is not a mapping"))
        else:
            start, end = line_of(item, offset), last_line(item, offset)
            entries.append(Entry(fields, start, end, offset))
    return entries


def _entry_by_entry(text: str, path: str, problems: list[Problem]) -> list[Entry]:
    entries: list[Entry] = []
    for chunk, offset in _chunks(text):
        node = compose(chunk, offset, path, problems)
        if node is not None:
            entries += _listed(node, offset, path, problems)
    return entries


def _chunks(text: str) -> Iterator[tuple[str, int]]:
    """Each entry's text with the number of lines before it; what precedes the first is dropped."""
    starts = [match.start() for match in _ENTRY.finditer(text)] or [0]
    offset = last = 0
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        offset += text.count("\n", last, start)
        last = start
        yield text[start:end], offset
