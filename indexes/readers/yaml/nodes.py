"""YAML as nodes with lines, for the readers of native_functions.yaml and derivatives.yaml.

Nothing is constructed from the text: nodes are read as strings, so no tag, anchor or
type of a hostile file can do more than be a string of the wrong kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.yaml.lines import Field, Lines, Node

_YamlNode: TypeAlias = Any
"""A ``yaml.nodes.Node``, whose type stubs leave out ``id`` and ``flow_style``."""


class Entry(NamedTuple):
    """One ``- key: value`` block of the file's top-level list."""

    fields: dict[str, Field]
    line: int
    end_line: int


def read_entries(data: bytes, path: str) -> tuple[list[Entry], list[Problem]]:
    """The entries of a file that is a list of mappings, and what could not be read.

    A file that is not YAML as a whole is read entry by entry, so that a broken or
    cut-off entry costs only itself.
    """
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    entries = _by_lines(text, path)
    if entries is not None:
        return entries, []
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


def fields_of(node: Node) -> dict[str, Field] | None:
    """The fields of a mapping with string keys, in order; None for any other node."""
    return {field.key: field for field in node.fields} if node.id == "mapping" else None


def is_null(node: Node) -> bool:
    return node.means == "null"


def text_of(node: Node) -> str | None:
    """The text of a scalar; None for null, lists and mappings."""
    return node.text if node.id == "scalar" and node.means != "null" else None


def texts_of(node: Node) -> tuple[str, ...] | None:
    """A list of scalars, or one scalar with commas; None for anything else."""
    if node.id == "sequence":
        texts = [text_of(item) for item in node.items]
        return None if None in texts else tuple(t for t in texts if t is not None)
    text = text_of(node)
    if text is None:
        return () if node.id == "scalar" else None
    return tuple(part.strip() for part in text.split(",") if part.strip())


_UNUSUAL_BREAKS = "\r\x85\u2028\u2029"


def _by_lines(text: str, path: str) -> list[Entry] | None:
    """The entries of a file in the plain shape, where at most some entries are left to a YAML
    parser; None when the file is to be read as a whole."""
    if any(char in text for char in _UNUSUAL_BREAKS):
        return None
    lines = Lines(text)
    starts = lines.starts()
    if not starts:
        return None
    entries: list[Entry] = []
    for start, stop in zip(starts, [*starts[1:], len(lines.texts)], strict=True):
        node = lines.entry(start, stop) or _one_entry(lines.texts[start:stop], start, path)
        if node is None:
            return None
        entries.append(_entry(node))
    return entries


def _one_entry(lines: list[str], offset: int, path: str) -> Node | None:
    """The mapping of an entry in another shape, ``offset`` lines into its file."""
    node = compose("\n".join(lines), offset, path, [])
    if node is None or node.id != "sequence" or [item.id for item in node.items] != ["mapping"]:
        return None
    return node.items[0]


def _entry(node: Node) -> Entry:
    return Entry({field.key: field for field in node.fields}, node.line, node.last)


_ENTRY = regex(r"^- ?", re.M)
_STRUCTURE = regex(r"^[ \-?]{99,}|^- |[\[\]{}]", re.M)
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
    """The root node of a YAML text that stands ``offset`` lines into its file; None, with a
    problem, for what is not YAML or is empty."""
    import yaml

    deep = _too_deep(text)
    if deep is not None:
        problems.append(Problem(path, deep + offset, "not YAML: nested too deep"))
        return None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        node: _YamlNode | None = yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = mark.line + 1 if mark else 1 + text.count("\n", 0, getattr(error, "position", 0))
        what = (
            getattr(error, "problem", None) or getattr(error, "reason", None) or "nested too deep"
        )
        problems.append(Problem(path, line + offset, f"not YAML: {what}"))
        return None
    return None if node is None else _Reader(offset).node(node)


class _Reader:
    """Turns a parser's nodes into ours, an aliased one once."""

    def __init__(self, offset: int) -> None:
        self._offset = offset
        self._known: dict[int, Node] = {}

    def node(self, node: _YamlNode) -> Node:
        found = self._known.get(id(node))
        if found is None:
            line, last = node.start_mark.line + 1 + self._offset, self._end(node)
            self._known[id(node)] = Node("cycle", line, last)
            found = self._known[id(node)] = self._read(node, line, last)
        return found

    def _read(self, node: _YamlNode, line: int, last: int) -> Node:
        if node.id == "scalar":
            tag = node.tag.removeprefix("tag:yaml.org,2002:")
            means = tag if tag in ("null", "bool") else ""
            return Node("scalar", line, last, node.value, means)
        ends = bool(node.value) and not node.flow_style
        if node.id == "sequence":
            items = tuple(map(self.node, node.value))
            return Node("sequence", line, items[-1].last if ends else last, items=items)
        fields = tuple(self._field(key, value) for key, value in node.value)
        return Node("mapping", line, fields[-1].last if ends else last, fields=fields)

    def _field(self, key: _YamlNode, value: _YamlNode) -> Field:
        name = key.value if key.id == "scalar" else ""
        return Field(name, self.node(value), key.start_mark.line + 1 + self._offset)

    def _end(self, node: _YamlNode) -> int:
        """A block's end mark is past the comments after it; that of a scalar is not."""
        line: int = node.end_mark.line
        at_start = node.end_mark.column == 0 and line > node.start_mark.line
        return line + self._offset + (0 if at_start else 1)


def _listed(node: Node | None, offset: int, path: str, problems: list[Problem]) -> list[Entry]:
    if node is None or node.id != "sequence":
        line = 1 + offset if node is None else node.line
        problems.append(Problem(path, line, "not a list of `- key: value` blocks"))
        return []
    entries: list[Entry] = []
    for item in node.items:
        if item.id != "mapping":
            problems.append(Problem(path, item.line, "entry is not a mapping"))
        else:
            entries.append(_entry(item))
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
