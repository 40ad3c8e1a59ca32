"""YAML as nodes with lines.

Nodes are read as strings and nothing is constructed, so that no tag, anchor or type of a hostile
file has an effect.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from indexes.model.errors import YAML_NESTING, YAML_PARTS
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Node:
    """A value with its lines, counted from 1."""

    node: yaml.Node
    lines: list[str]
    """The text that contains it."""
    offset: int
    """The number of lines of the file before this text."""

    @property
    def line(self) -> int:
        """Its first line."""
        return int(self.node.start_mark.line) + 1 + self.offset

    @property
    def last(self) -> int:
        """Its last line with text. A block's end is behind the comments after it."""
        mark = self.node.end_mark
        end: int = mark.line
        if isinstance(self.node, yaml.CollectionNode) and not self.node.flow_style:
            end += end < len(self.lines) and mark.column == len(self.lines[end])  # the file ends
            while end > self.line - self.offset and _IDLE.fullmatch(self.lines[end - 1]):
                end -= 1
        elif mark.column or end == self.node.start_mark.line:
            end += 1
        return end + self.offset

    @property
    def is_null(self) -> bool:
        return self._is("null")

    @property
    def boolean(self) -> bool | None:
        """True or False for YAML's spellings of them."""
        return self.node.value.lower() in ("true", "yes", "on") if self._is("bool") else None

    @property
    def text(self) -> str | None:
        """The text of a scalar without quotes; None for null, lists and mappings."""
        return None if self.is_null else self.spelled

    @property
    def spelled(self) -> str | None:
        """As ``text``, but null as spelled."""
        return self.node.value if isinstance(self.node, yaml.ScalarNode) else None

    @property
    def items(self) -> list[Node]:
        """The items of a list; none for other nodes."""
        values = self.node.value if self.is_list else ()
        return [Node(value, self.lines, self.offset) for value in values]

    @property
    def is_list(self) -> bool:
        return isinstance(self.node, yaml.SequenceNode)

    @property
    def texts(self) -> tuple[str, ...] | None:
        """The texts of a list of scalars or of one scalar; None for anything else."""
        found = [item.text for item in self.items] if self.is_list else [self.spelled]
        texts = tuple(text for text in found if text is not None)
        return texts if len(texts) == len(found) else None

    @property
    def words(self) -> tuple[str, ...] | None:
        """As ``texts``, but a scalar is a list with commas and null is empty."""
        if self.is_list or self.spelled is None:
            return self.texts
        return tuple(word.strip() for word in (self.text or "").split(",") if word.strip())

    @property
    def fields(self) -> dict[str, Field] | None:
        """The fields of a mapping in order; None for other nodes."""
        if not isinstance(self.node, yaml.MappingNode):
            return None
        pairs = ((Node(k, self.lines, self.offset), v) for k, v in self.node.value)
        fields = (
            Field(k.spelled or "", Node(v, self.lines, self.offset), k.line) for k, v in pairs
        )
        return {field.key: field for field in fields}

    def _is(self, kind: str) -> bool:
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag.endswith(
            f"yaml.org,2002:{kind}"
        )


@dataclass(frozen=True, slots=True)
class Field:
    """One ``key: value`` of a mapping."""

    key: str
    """Empty for a key that is not a string."""
    value: Node
    line: int
    """Line of the key."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One ``- key: value`` block of the top-level list."""

    fields: dict[str, Field]
    line: int
    end_line: int


_ENTRY = regex(r"^- ?", re.M)
_BREAK = regex(r"\r\n|[\r\n\x85\u2028\u2029]")
_IDLE = regex(r"\s*(?:#.*)?")
_STRUCTURE = regex(r"^[ \-?]{99,}|^- |[\[\]{}]", re.M)


def read_entries(data: bytes, path: str) -> tuple[list[Entry], list[Problem]]:
    """The entries of a file that is a list of mappings, and problems.

    A file that is not valid YAML is read entry by entry, so that a broken entry costs only itself.
    """
    text = decoded(data)
    if _is_too_large(text):
        return [], [Problem(path, 1, _TOO_LARGE)]
    problems: list[Problem] = []
    broken: list[Problem] = []
    node = compose(text, 0, path, broken)
    if not broken:
        return _listed(node, 1, path, problems), problems
    entries: list[Entry] = []
    for chunk, offset in _chunks(text):
        node = compose(chunk, offset, path, problems)
        if node is not None:
            entries += _listed(node, offset + 1, path, problems)
    return entries, problems or broken


def decoded(data: bytes) -> str:
    """A file's text; bytes that are not UTF-8 are replaced."""
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def compose(text: str, offset: int, path: str, problems: list[Problem]) -> Node | None:
    """The root node of a YAML text that begins ``offset`` lines into its file; None for an empty or
    invalid one, the latter with a problem."""
    if _is_too_large(text):
        problems.append(Problem(path, 1 + offset, _TOO_LARGE))
        return None
    if (deep := _too_deep(text)) is not None:
        problems.append(Problem(path, deep + offset, "not YAML: nested too deep"))
        return None
    try:
        node = yaml.compose(text, Loader=_LOADER)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = mark.line + 1 if mark else 1 + text.count("\n", 0, getattr(error, "position", 0))
        what = getattr(error, "problem", None) or getattr(error, "reason", "nested too deep")
        problems.append(Problem(path, line + offset, f"not YAML: {what}"))
        return None
    return None if node is None else Node(node, _BREAK.split(text), offset)


_TOO_LARGE = f"more than {YAML_PARTS:,} keys and values"


def _is_too_large(text: str) -> bool:
    return len(text) > YAML_PARTS and sum(map(text.count, ",:[{-?\n")) > YAML_PARTS


def _too_deep(text: str) -> int | None:
    """The line of nesting too deep for the C parser's stack.

    Flow nesting counts brackets from each top-level ``- ``. Block nesting takes at least a column a
    level.
    """
    depth = 0
    for match in _STRUCTURE.finditer(text):
        token = match[0]
        if len(token) > 1:
            depth = 0 if len(token) == 2 else YAML_NESTING
        else:
            depth = depth + 1 if token in "[{" else max(depth - 1, 0)
        if depth >= YAML_NESTING:
            return text.count("\n", 0, match.start()) + 1
    return None


def _listed(node: Node | None, line: int, path: str, problems: list[Problem]) -> list[Entry]:
    items = node.items if node else []
    if not items:
        where = node.line if node else line
        problems.append(Problem(path, where, "not a list of `- key: value` blocks"))
    entries: list[Entry] = []
    for item in items:
        if (fields := item.fields) is None:
            problems.append(Problem(path, item.line, "entry is not a mapping"))
        else:
            entries.append(Entry(fields, item.line, item.last))
    return entries


def _chunks(text: str) -> Iterator[tuple[str, int]]:
    """Each entry's text with the number of lines before it, without what precedes the first."""
    starts = [match.start() for match in _ENTRY.finditer(text)] or [0]
    offset = text.count("\n", 0, starts[0])
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        yield text[start:end], offset
        offset += text.count("\n", start, end)
