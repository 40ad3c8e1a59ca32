"""Checks of kernels, registrations and stubs that read the answered lines anew."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from indexes.linking.hops import HopList
from indexes.linking.reach import Walker
from indexes.model.errors import SourceError
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, KernelRow, Location, StubRow
from indexes.queries.index import Index
from indexes.readers.cxx.lexer import strip_comments
from indexes.store.definition_rows import DEFINITION_FROM

_WORD = regex(r"[A-Za-z_]\w*")
_ARGUMENTS = regex(r"\(([^()]*)\)")
_STRING = regex(r'"(?:[^"\\\n]|\\.)*"')
_ELSEWHERE = regex(r"(?:(?:\.|->|\bat::(?:\w+::)*|\bstd::)\s*)[A-Za-z_]\w*")
"""Names that mean an operator, a method or the standard library, not a function of the file."""
_CLOSURE = 3
"""How many calls within one file a stub is looked for."""


class SourceLines:
    """Lines of the tree's files, as they are now."""

    def __init__(self, index: Index) -> None:
        self._read = lru_cache(512)(index.read)
        self.of = lru_cache(512)(self._of)

    def _of(self, path: str) -> list[str]:
        try:
            return self._read(path).split("\n")
        except SourceError:
            return []

    def at(self, place: Location, more: int = 0) -> str:
        """The line, and ``more`` that follow; empty when there is none."""
        return "\n".join(self.of(place.path)[place.line - 1 : place.line + more])

    def span(self, place: Location) -> str:
        """The lines from the first to the last, without comments and strings."""
        lines = self.of(place.path)[place.line - 1 : max(place.line, place.end_line)]
        return _STRING.sub('""', strip_comments("\n".join(lines)))


# ------------------------------------------------------------------------------ lines


def misplaced_kernels(rows: Iterable[KernelRow], lines: SourceLines) -> tuple[int, list[str]]:
    """How many (row, definition) pairs there are, and those whose line says otherwise."""
    total = 0
    wrong = []
    known: dict[Definition, str] = {}
    for row in rows:
        for definition in row.definitions:
            total += 1
            if definition not in known:
                known[definition] = _misplaced(definition, lines)
            if known[definition]:
                wrong.append(f"{row.op} {row.key}: {definition.location}: {known[definition]}")
    return total, wrong


def _misplaced(definition: Definition, lines: SourceLines) -> str:
    """What is wrong with the place of a definition; empty when its text agrees."""
    if definition.macro:
        return _misplaced_use(definition, lines)
    text = strip_comments(lines.at(definition.location, 80))
    found = re.search(rf"(?<!\w){re.escape(definition.name)}\s*\(", text.split("\n", 1)[0] + "(")
    if found is None:
        return f"the line does not name {definition.name}"
    if _declares(text[found.start() :]):
        return f"{definition.name} is declared there, not defined"
    return ""


def _declares(text: str) -> bool:
    """Whether ``name(...)`` ends with a semicolon rather than opening a body."""
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth == 0 and char in ";{":
            return char == ";"
    return False


def _misplaced_use(definition: Definition, lines: SourceLines) -> str:
    text = lines.at(definition.location, 3)
    if not re.search(rf"(?<!\w){re.escape(definition.macro)}\s*\(", text.split("\n", 1)[0] + "("):
        return f"the line does not use {definition.macro}"
    where = definition.macro_location
    if where is None:
        arguments = _ARGUMENTS.search(text)
        words = _WORD.findall(arguments[1]) if arguments else []
        named = definition.name in (*words, "_".join(words))
        return "" if named else f"the line does not name {definition.name}"
    if not re.search(rf"#\s*define\s+\\?\s*{re.escape(definition.macro)}\b", lines.at(where, 1)):
        return f"{where} does not define {definition.macro}"
    return ""


def misplaced_registrations(rows: Iterable[StubRow], lines: SourceLines) -> Iterator[str]:
    """Registrations whose line, or whose function's line, says otherwise."""
    for row in rows:
        use = lines.at(row.registration)
        macros = ("DISPATCH", "REGISTER")
        if row.stub not in use and not any(m in use for m in macros) and "(" not in use:
            yield f"{row.registration}: the line registers nothing on {row.stub}"
        if row.definition and not row.definition.macro:
            problem = _misplaced(row.definition, lines)
            if problem:
                yield f"{row.registration}: {row.definition.location}: {problem}"


# ------------------------------------------------------------------------------ stubs


@dataclass(slots=True)
class StubReach:
    """Operators whose kernel's text leads to a stub, by what the linker says of them."""

    linked: set[str] = field(default_factory=set)
    unregistered: set[str] = field(default_factory=set)
    """The stub is linked, and no line of the tree registers a function on it."""
    missed: dict[str, str] = field(default_factory=dict)


def stub_reach(rows: Iterable[KernelRow], index: Index) -> StubReach:
    """Follows the kernel of every operator in whose text, or that of a function it names in
    its own file, a stub stands."""
    expected = _Expected(index)
    walked: dict[Definition, tuple[frozenset[str], bool]] = {}
    reach = StubReach()
    for row in rows:
        for definition in row.definitions:
            stubs = expected.of(definition)
            if not stubs or row.kind == "ufunc":
                continue
            if definition not in walked:
                walked[definition] = _walk(definition, index)
            _judge(row.op, definition, stubs, *walked[definition], reach)
    return reach


def _judge(
    op: str,
    definition: Definition,
    stubs: frozenset[str],
    found: frozenset[str],
    kernels: bool,
    reach: StubReach,
) -> None:
    if not stubs <= found:
        names = ", ".join(sorted(stubs - found))
        reach.missed[op] = f"{definition.qualified} at {definition.location} leads to {names}"
    elif op not in reach.missed:
        (reach.linked if kernels else reach.unregistered).add(op)
        if kernels:
            reach.unregistered.discard(op)


def _walk(definition: Definition, index: Index) -> tuple[frozenset[str], bool]:
    """The stubs that the linker reaches, and whether a device kernel is behind one of them."""
    facts = index.facts
    known = facts.known(definition)
    if known is None:
        return frozenset(), False
    hops = HopList()
    Walker(facts, hops).walk(known, 0, ())
    stubs = frozenset(h.symbol.rpartition("::")[2] for h in hops.hops if h.role == "stub")
    return stubs, any(h.role == "device_kernel" for h in hops.hops)


def _names(text: str) -> list[str]:
    return _WORD.findall(_ELSEWHERE.sub(" ", text))


class _Expected:
    """Which stubs the text of a kernel names, found without the index's calls."""

    def __init__(self, index: Index) -> None:
        self._lines = SourceLines(index)
        self._store = index.facts.store
        rows = self._store.query(
            "SELECT DISTINCT stub FROM uses WHERE name IN ('DECLARE_DISPATCH','DEFINE_DISPATCH')"
        )
        self._stubs = frozenset(row[0] for row in rows)
        self._functions = lru_cache(256)(self._in_file)
        self.of = lru_cache(None)(self._of)

    def _of(self, definition: Definition) -> frozenset[str]:
        text = self._lines.span(definition.location)
        if definition.macro_location:
            text += self._macro(definition.macro_location)
        here = self._functions(definition.location.path)
        words = set(_names(text))
        found, seen = words & self._stubs, set(words)
        for _ in range(_CLOSURE):
            if found:
                break
            fresh = {w for name in words for span in here.get(name, ()) for w in self._words(span)}
            words = fresh - seen
            seen |= fresh
            found = words & self._stubs
        return frozenset(found - {definition.name})

    def _words(self, place: Location) -> list[str]:
        return _names(self._lines.span(place))

    def _macro(self, place: Location) -> str:
        """The text of a #define, its continuation lines too."""
        text = []
        for line in self._lines.of(place.path)[place.line - 1 :]:
            text.append(line)
            if not line.endswith("\\"):
                break
        return strip_comments("\n".join(text))

    def _in_file(self, path: str) -> Mapping[str, list[Location]]:
        """Functions of a file that are the only ones of their name there."""
        rows = self._store.query(
            f"SELECT d.name,d.line,d.end_line FROM {DEFINITION_FROM}"
            " WHERE f.path=? AND d.kind='function' AND d.macro=''",
            (path,),
        )
        found: dict[str, list[Location]] = {}
        for name, line, end_line in rows:
            found.setdefault(name, []).append(Location(path, line, end_line))
        return {name: places for name, places in found.items() if len(places) == 1}
