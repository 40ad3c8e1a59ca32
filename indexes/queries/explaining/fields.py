"""Explains fields of native_functions.yaml and derivatives.yaml by the tree's own documents: the
README of ATen/native, the comment in derivatives.yaml, comments of torchgen's model, descriptions
of tags."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile

from indexes.model.errors import NotFound
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.naming.near import near
from indexes.readers.python.blocks import parse
from indexes.source.source import Source

README = "aten/src/ATen/native/README.md"
_MODELS = ("torchgen/model.py", "tools/codegen/model.py")
_HEADING = regex(r"(#+)\s+(.*)")
_KEY = regex(r"\s*(?:-\s+)?([A-Za-z_][\w ,]*?)\s*:")
_ITEM = regex(r"(\s*)-\s")
_QUOTED = regex(r"['\"`](\w+)['\"`:\[(]")
_IN_DOUBLE = regex(r"\"(\w+)\"|(?<=\W)(\w+)\(\"")
_MOST = 3
"""Most passages of one document."""


@dataclass(frozen=True, slots=True)
class Passage:
    """What a document of the tree says of a field."""

    location: Location
    text: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A field of a YAML entry, explained by the tree's own documents."""

    field: str
    passages: tuple[Passage, ...]
    absent: tuple[str, ...]
    """Relevant documents that this source lacks."""
    mentions: tuple[Location, ...] = ()
    """The places that refer to a note."""


class Fields:
    """Answers what a field means."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._model = next(filter(source.text, _MODELS), "")
        self._derivatives = source.locate("derivatives.yaml") or ""
        self._tags = source.locate("tags.yaml") or ""

    def explain(self, field: str) -> Explanation:
        """The documents' passages on a field, a tag, or a name in formulas.

        Raises:
            NotFound: There are none; with similar names.
        """
        found = self._all(field)
        if not found:
            raise NotFound(self._unexplained(field), near(field, self.names()))
        return Explanation(field, tuple(found), tuple(self._absent()))

    def at(self, path: str, line: int) -> Explanation:
        """The meaning of the field on a line of a YAML file; for a formula, of its key.

        Raises:
            NotFound: The line has no field.
        """
        if path not in (self._derivatives, self._source.locate("native_functions.yaml")):
            raise NotFound("put the cursor on a line of native_functions.yaml or derivatives.yaml")
        found = _key_at(self._source.text(path).split("\n"), line)
        if not found:
            raise NotFound("there is no field on this line")
        if path == self._derivatives:
            passages = self._in_header(found) or [*self._formulas()]
        else:
            passages = [*self._in_readme(found), *self._in_model(found)]
        value = self._source.text(path).split("\n")[line - 1].partition(":")[2]
        for word in dict.fromkeys(re.findall(r"\w+", value)):
            passages += self._of_word(word, path)[:1] if word != found else []
        if not passages:
            raise NotFound(self._unexplained(found))
        return Explanation(found, tuple(dict.fromkeys(passages)), tuple(self._absent()))

    def _of_word(self, word: str, path: str) -> list[Passage]:
        """The meaning of a word in a value: in a formula the name's, else the tag's."""
        if path == self._derivatives:
            return self._in_header(word) if word in self._in_formulas else []
        return [*self._in_tags(word)]

    def _unexplained(self, field: str) -> str:
        lacking = " or ".join(self._absent())
        without = f": it has no {lacking}" if lacking else ""
        return f"this tree does not explain {field}{without}"

    def _all(self, field: str) -> list[Passage]:
        found = [*self._in_readme(field), *self._in_model(field)]
        return [*found, *self._in_header(field), *self._in_tags(field)]

    def names(self) -> list[str]:
        sections = (name for _, _, names in self._sections for name in names)
        quoted = (name for _, text in self._items for name in _QUOTED.findall(text))
        return sorted({*sections, *self._comments, *quoted, *(name for name, *_ in self._tag_rows)})

    def _text(self, path: str) -> str:
        return self._source.text(path) if path else ""

    def _absent(self) -> Iterator[str]:
        if not self._text(README):
            yield README
        if not self._model:
            yield _MODELS[0]

    # ----------------------------------------------------------------- README.md

    @cached_property
    def _sections(self) -> list[tuple[int, list[str], list[str]]]:
        """Line, lines and names in the heading of each section."""
        lines = self._text(README).split("\n")
        heads = list(_headings(lines))
        return [
            (at + 1, lines[at : _section_end(heads, number, len(lines))], _QUOTED.findall(words))
            for number, (at, _, words) in enumerate(heads)
        ]

    def _in_readme(self, field: str) -> Iterator[Passage]:
        for line, lines, names in self._sections:
            if field in names:
                yield _passage(README, line, lines)

    # ------------------------------------------------------------------ model.py

    @cached_property
    def _comments(self) -> dict[str, list[Passage]]:
        """The comments above NativeFunction's fields, and where its YAML is read."""
        text = self._text(self._model)
        lines = text.split("\n")
        found: dict[str, list[Passage]] = {}
        for node in _class_body(text, "NativeFunction"):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                name = node.target.id
            elif not (name := _popped(node)):
                continue
            first = _comment_start(lines, node.lineno)
            if first < node.lineno:
                here = lines[first - 1 : node.end_lineno]
                found.setdefault(name, []).append(_passage(self._model, first, here))
        return found

    def _in_model(self, field: str) -> list[Passage]:
        return self._comments.get(field, [])

    # ---------------------------------------------------------- derivatives.yaml

    @cached_property
    def _items(self) -> list[tuple[int, str]]:
        """The paragraphs and list items of the comment at the top, with lines."""
        text = self._text(self._derivatives)
        lines = [one[1:] for one in takewhile(lambda one: one.startswith("#"), text.split("\n"))]
        starts = [at for at, one in enumerate(lines) if _starts(lines, at, one)]
        return [
            (at + 1, "\n".join(lines[at:end]).rstrip())
            for at, end in zip(starts, [*starts[1:], len(lines)], strict=True)
        ]

    @cached_property
    def _in_formulas(self) -> set[str]:
        """The names that items begin with, and quoted ones: possible values."""
        leads = (text.split("\n")[0] for _, text in self._items)
        found = {name for one in leads for name in _QUOTED.findall(one)}
        pairs = (pair for _, text in self._items for pair in _IN_DOUBLE.findall(text))
        return found | {name for pair in pairs for name in pair if name}

    def _in_header(self, field: str) -> list[Passage]:
        """The items that begin with a field if any, else those that name it."""
        named = re.compile(rf"['\"`]{re.escape(field)}['\"`:\[(]|\b{re.escape(field)}\(\"")
        found = [one for one in self._items if named.search(one[1])]
        first = [one for one in found if named.search(one[1].split("\n")[0][:_LEAD])]
        rest = [one for one in found if one not in first]
        return [_passage(self._derivatives, at, text.split("\n")) for at, text in first + rest][
            :_MOST
        ]

    def _formulas(self) -> Iterator[Passage]:
        """The first item in the list of keys that names no key: formulas, whose keys are
        arguments."""
        keys = [at for at, (_, text) in enumerate(self._items) if _QUOTED.search(text[:_LEAD])]
        for at, text in self._items[keys[0] :] if keys else []:
            if _ITEM.match(text) and not _QUOTED.search(text.split("\n")[0]):
                yield _passage(self._derivatives, at, text.split("\n"))
                return

    # ------------------------------------------------------------------ tags.yaml

    @cached_property
    def _tag_rows(self) -> list[tuple[str, int, list[str]]]:
        lines = self._text(self._tags).split("\n")
        heads = [at for at, one in enumerate(lines) if one.startswith("- tag:")]
        ends = [*heads[1:], len(lines)]
        return [
            (lines[at].partition(":")[2].strip(), at + 1, lines[at:end])
            for at, end in zip(heads, ends, strict=True)
        ]

    def _in_tags(self, field: str) -> Iterator[Passage]:
        for name, line, lines in self._tag_rows:
            if name == field:
                yield _passage(self._tags, line, lines)


_LEAD = 80
"""Characters in which an item says what it is about."""


def _passage(path: str, line: int, lines: Iterable[str]) -> Passage:
    text = "\n".join(lines).rstrip()
    return Passage(Location(path, line, line + text.count("\n")), text)


def _headings(lines: list[str]) -> Iterator[tuple[int, int, str]]:
    """Line from 0, level and words of each Markdown heading outside code blocks."""
    code = False
    for at, line in enumerate(lines):
        code ^= line.startswith("```")
        if not code and (found := _HEADING.match(line)):
            yield at, len(found[1]), found[2]


def _section_end(heads: list[tuple[int, int, str]], number: int, end: int) -> int:
    level = heads[number][1]
    return next((at for at, other, _ in heads[number + 1 :] if other <= level), end)


def _starts(lines: list[str], at: int, line: str) -> bool:
    """Whether an item, or a paragraph outside items, begins at a line."""
    if _ITEM.match(line):
        return True
    outside = len(line) - len(line.lstrip()) <= 1
    return bool(line.strip()) and outside and (at == 0 or not lines[at - 1].strip())


def _class_body(text: str, name: str) -> Iterator[ast.stmt]:
    """The statements of a class and its methods."""
    try:
        module = parse(text)
    except SyntaxError:
        return
    for cls in module.body:
        if isinstance(cls, ast.ClassDef) and cls.name == name:
            for one in ast.walk(cls):
                if isinstance(one, ast.stmt) and not isinstance(one, ast.ClassDef):
                    yield one


def _popped(node: ast.stmt) -> str:
    """The key that a statement pops from an entry: ``e.pop("tags", [])``."""
    value = node.value if isinstance(node, ast.Assign) else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Attribute):
        return ""
    key = value.args[0] if value.args and value.func.attr == "pop" else None
    return str(key.value) if isinstance(key, ast.Constant) else ""


def _comment_start(lines: list[str], line: int) -> int:
    """The first line of the comment directly above a line; the line itself if none."""
    while line > 1 and lines[line - 2].lstrip().startswith("#"):
        line -= 1
    return line


def _key_at(lines: list[str], line: int) -> str:
    """The field of an entry on a line, or whose value includes it."""
    for at in range(min(line, len(lines)) - 1, -1, -1):
        text = lines[at]
        depth = len(text) - len(text.lstrip(" -"))
        if (found := _KEY.match(text)) and depth <= 2:
            return found[1]
        if not text.strip() or text.startswith("#"):
            return ""
    return ""
