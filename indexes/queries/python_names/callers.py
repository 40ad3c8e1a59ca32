"""Uses of a Python name: text matches, each resolved by its file's imports."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import NamedTuple

from indexes.linking.python.modules import Found
from indexes.model.files import module_name
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, Location
from indexes.queries.corpus import Corpus
from indexes.queries.python_names.finding import Finder
from indexes.readers.python.blocks import Text, innermost
from indexes.readers.python.references import Use, read_imports, uses_of

KINDS = ("python", "test")
"""The kinds of files that are searched."""
CALLS = "calls it"


class PythonUse(NamedTuple):
    """A line that uses the name."""

    location: Location
    around: tuple[str, int]
    """The qualified name and line of the enclosing function or class; for the module its name and
    line 1."""
    rule: str
    confidence: Confidence


@dataclass(slots=True)
class Uses:
    """The uses found, and the number of unresolved ones."""

    found: list[PythonUse] = field(default_factory=list)
    unknown: int = 0
    """Calls of a method of that name on values of unknown class."""


class PythonUses:
    """Finds uses in the indexed Python files of one tree."""

    def __init__(self, finder: Finder, corpus: Corpus) -> None:
        self._finder = finder
        self._corpus = corpus
        self._find = cache(finder.names.find)

    def of(self, target: Found, asked: str, kinds: Sequence[str] = KINDS) -> Uses:
        """The uses of a definition, under any name from an import or assignment.

        Parameters:
            target: The definition.
            asked: The requested name, whose last part may differ.
            kinds: The kinds of files to search.
        """
        words = {name.rpartition(".")[2] for name in (target.name, asked)}
        uses = Uses()
        for kind in kinds:
            for path in self._corpus.paths(kind):
                data = self._corpus.text(path)
                if any(_holds(data, word.encode()) for word in words):
                    _File(self._finder, self._find, path, data).look(target, words, uses)
        return uses


_Find = Callable[[str], Found | None]


class _File:
    """One file with the name."""

    def __init__(self, finder: Finder, find: _Find, path: str, data: bytes) -> None:
        self._names = finder.names
        self._find = find
        self._path = path
        self._text = Text(data)
        self._imports = read_imports(data, path)
        self._classes: dict[tuple[str, int, int], Found | None] = {}
        """The classes of variables, by name and the part of the file that was looked at."""

    def look(self, target: Found, words: set[str], uses: Uses) -> None:
        for word in sorted(words | self._renamed(target, words)):
            for use in uses_of(self._text, self._path, word, self._imports):
                self._add(use, target, uses)

    def _renamed(self, target: Found, words: set[str]) -> set[str]:
        """The file's import aliases for it."""
        return {
            name
            for name, origin in self._imports.items()
            if name not in words
            and origin.rpartition(".")[2] in words
            and self._is(self._find(origin), target)
        }

    def _add(self, use: Use, target: Found, uses: Uses) -> None:
        how = CALLS if use.called else "uses it"
        if not use.name.startswith("."):
            if self._can_be(use, target) and self._is(self._find(use.name), target):
                self._note(use, how, "exact", uses)
            return
        if use.owner in _SELF and not _is_member(target):
            return  # what a class has under that name is not it
        if self._is_set(use):
            return
        found = self._of_receiver(use)
        if found is None:
            uses.unknown += use.called
        elif self._is(found, target):
            self._note(use, f"{how} on {use.owner}", "by rule", uses)

    def _is_set(self, use: Use) -> bool:
        """Whether the line assigns an attribute of that name."""
        written = re.escape(f"{use.owner}{use.name}".encode())
        line = self._lines[use.line - 1]
        return re.search(rb"\b%s\s*(?::[^=]+)?=(?!=)" % written, line) is not None

    def _can_be(self, use: Use, target: Found) -> bool:
        """Whether a name without an import is more than a local one."""
        name = use.name.rpartition(".")[2]
        if use.owner or use.name in self._imports.values() or self._path == target.path:
            return True
        return self._takes_over or self._is_assigned(name)

    @cached_property
    def _takes_over(self) -> bool:
        """Whether it has a star import."""
        return re.search(rb"(?m)^from[ \t][^\n]*[ \t]import[ \t]+\*", self._text.data) is not None

    def _is_assigned(self, name: str) -> bool:
        """Whether a name is assigned at module level."""
        return name.encode() in self._assigned

    @cached_property
    def _assigned(self) -> set[bytes]:
        return {match[1] for match in map(_SET.match, self._lines) if match}

    def _note(self, use: Use, rule: str, sure: Confidence, uses: Uses) -> None:
        where = Location(self._path, use.line)
        uses.found.append(PythonUse(where, self._around(use.line), rule, sure))

    def _around(self, line: int) -> tuple[str, int]:
        module, block = module_name(self._path), self._text.around(line)
        return (f"{module}.{block.head.qualified}", block.head.line) if block else (module, 1)

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._text.data.split(b"\n")

    @staticmethod
    def _is(found: Found | None, target: Found) -> bool:
        if found is None:
            return False
        if target.kind == "bound":
            return found.kind == "bound" and found.name == target.name
        return (found.path, found.line) == (target.path, target.line)

    # ----------------------------------------------------------------------- receivers

    def _of_receiver(self, use: Use) -> Found | None:
        """The definition of ``x.name`` if the class of ``x`` is easily read: ``self``, a variable
        assigned from or annotated with a class, a name of the module."""
        name = use.name[1:]
        if use.owner in _SELF:
            return self._of_self(use, name)
        first = use.owner.partition(".")[0]
        if not first.isidentifier() or first in ("self", "cls"):
            return None
        made = self._class_of(use) if use.owner == first else None
        if made is not None:
            return self._names.attribute(made, name) or made
        if self._is_assigned(first):
            return self._find(f"{module_name(self._path)}.{use.owner}.{name}")
        return None

    def _of_self(self, use: Use, name: str) -> Found | None:
        owner = self._class_around(use.line)
        if owner is None:
            return None
        if use.owner != "super()":
            return self._names.attribute(owner, name)
        bases = self._names.order(owner)[1:2]
        return self._names.attribute(bases[0], name) if bases else None

    def _class_around(self, line: int) -> Found | None:
        inner = innermost([one for one in self._text.blocks if one.head.is_class], line)
        return inner and self._find(f"{module_name(self._path)}.{inner.head.qualified}")

    def _class_of(self, use: Use) -> Found | None:
        """The class that a variable is assigned from or annotated with, in the enclosing
        function."""
        block = self._text.around(use.line)
        start, end = (block.head.start, block.end) if block else (0, len(self._text.data))
        key = (use.owner, start, end)
        if key not in self._classes:
            self._classes[key] = self._class_within(*key)
        return self._classes[key]

    def _class_within(self, owner: str, start: int, end: int) -> Found | None:
        data = self._text.data[start:end]
        variable = re.escape(owner.encode())
        for pattern in _MADE:
            for match in re.finditer(pattern % variable, data):
                found = self._named(match[1].decode())
                if found and found.kind == "class":
                    return found
        return None

    def _named(self, name: str) -> Found | None:
        first, _, rest = name.partition(".")
        origin = self._imports.get(first) or f"{module_name(self._path)}.{first}"
        return self._find(f"{origin}.{rest}" if rest else origin)


_MADE = (
    rb"\b%s\s*(?::[^=\n]+)?=\s*([A-Za-z_][\w.]*)\(",
    rb"\b%s\s*:\s*[\"']?([A-Za-z_][\w.]*)",
    rb"\bwith\s+([A-Za-z_][\w.]*)\([^\n]*\)\s+as\s+%s\b",
)


def _holds(data: bytes, word: bytes) -> bool:
    """Whether a text contains a whole word."""
    at = data.find(word)
    while at >= 0:
        end = at + len(word)
        if not (_WORD.match(data, end) or (at and _WORD.match(data, at - 1))):
            return True
        at = data.find(word, end)
    return False


_WORD = regex(rb"\w")
_SET = regex(rb"(\w+)\s*=")
_SELF = ("self", "cls", "super()")


def _is_member(found: Found) -> bool:
    owner = found.name.rpartition(".")[0].rpartition(".")[2]
    return found.kind in ("method", "property") or owner.lstrip("_")[:1].isupper()
