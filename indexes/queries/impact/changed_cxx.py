"""Compares two texts of a C++ file: which definitions differ, comments aside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

from indexes.codegen.registration import registered_operator
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, DefinitionKind, Location
from indexes.readers.cxx.facts import CppFacts, DefinitionFact, UseFact, read_cpp
from indexes.readers.cxx.lexer import strip_comments
from indexes.readers.cxx.scopes import decode

_TOKEN = regex(r'"(?:[^"\\\n]|\\.)*"|\w+|[^\w\s]')

Tokens = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CppChange:
    """A changed definition, macro use or registration."""

    what: str
    """``added``, ``changed`` or ``removed``."""
    definition: Definition | None = None
    stub_use: UseFact | None = None
    """A DECLARE, DEFINE or REGISTER line, or another macro use at file scope."""
    registration: tuple[str, str] | None = None
    """(operator, the arguments of its TORCH_LIBRARY block)."""
    macro: str = ""
    """An object-like macro."""
    line: int = 0


def tokens(text: str) -> Tokens:
    """The tokens of a text, independent of comments and layout."""
    return tuple(_TOKEN.findall(strip_comments(text)))


class _Side:
    """One of the two texts."""

    def __init__(self, data: bytes, path: str) -> None:
        self.path = path
        self.facts: CppFacts = read_cpp(data, path)[0]
        self.lines = strip_comments(decode(data)).split("\n")
        self.covered: set[int] = set()

    def text(self, first: int, last: int, without: Iterable[tuple[int, int]] = ()) -> Tokens:
        left = {n for a, b in without for n in range(a, b + 1)}
        kept = (
            self.lines[n - 1] for n in range(first, min(last, len(self.lines)) + 1) if n not in left
        )
        return tuple(_TOKEN.findall("\n".join(kept)))

    def definitions(self) -> dict[tuple[str, str, Tokens], list[tuple[DefinitionFact, Tokens]]]:
        found: dict[tuple[str, str, Tokens], list[tuple[DefinitionFact, Tokens]]] = {}
        functions = [(d.line, d.end_line) for d in self._written() if d.kind != "class"]
        for one in self._written():
            last = max(one.line, one.end_line)
            inner = []
            if one.kind == "class":
                inner = [f for f in functions if one.line < f[0] and f[1] <= last]
            self.covered.update(range(one.line, last + 1))
            key = (f"{one.scope}::{one.name}", one.kind, tokens(one.parameters))
            found.setdefault(key, []).append((one, self.text(self._head(one), last, inner)))
        return found

    def _head(self, one: DefinitionFact) -> int:
        """The line on which the return type begins, which may be above the name."""
        at = one.line
        while at > 1 and one.line - at < 3:
            above = self.lines[at - 2].strip()
            if not above or above[-1] in ";}{:" or above.startswith("#"):
                break
            at -= 1
        self.covered.update(range(at, one.line))
        return at

    def _written(self) -> list[DefinitionFact]:
        return [DefinitionFact(*d) for d in self.facts.definitions]

    def uses(self) -> dict[tuple[str, Tokens], UseFact]:
        """The macro uses at file scope, by macro and arguments."""
        found = {}
        for use in self.facts.uses:
            self.covered.update(range(use.line, use.end_line + 1))
            if use.parameters is None:
                found[use.name, tokens(use.arguments)] = use
        return found

    def registrations(self) -> dict[tuple[str, str, Tokens], int]:
        """The lines that register operators, by operator, block and arguments."""
        found = {}
        for one in self.facts.libraries:
            self.covered.add(one.line)
            if op := registered_operator(one.block, one.method, one.arguments):
                found[op, one.block, tokens(one.arguments)] = one.line
        return found

    def macros(self) -> dict[str, tuple[Tokens, int]]:
        """The bodies and lines of object-like macros."""
        found = {}
        for macro in self.facts.macros:
            last = macro.line + macro.body.count("\n") + 1
            self.covered.update(range(macro.line, last + 1))
            if macro.parameters is None:
                found[macro.name] = (tokens(macro.body), macro.line)
        return found

    def rest(self) -> Counter[Tokens]:
        """The lines outside definitions, registrations and macros."""
        return Counter(
            found
            for number, line in enumerate(self.lines, 1)
            if number not in self.covered and (found := tuple(_TOKEN.findall(line)))
        )


def compare_cpp(old: bytes, new: bytes, path: str) -> tuple[list[CppChange], bool]:
    """The changes, and whether lines outside definitions differ."""
    before, after = _Side(old, path), _Side(new, path)
    found = list(_definitions(before, after))
    found += _uses(before, after)
    found += _registrations(before, after)
    found += _macros(before, after)
    return found, before.rest() != after.rest()


def _definitions(before: _Side, after: _Side) -> Iterator[CppChange]:
    old, new = before.definitions(), after.definitions()
    gone = {key[:2] for key in old.keys() - new.keys()}
    for key, items in new.items():
        others = Counter(text for _, text in old.get(key, ()))
        for one, text in items:
            if others[text]:
                others[text] -= 1
                continue
            known = key in old or key[:2] in gone
            yield CppChange("changed" if known else "added", _definition(one, after.path))
    fresh = {key[:2] for key in new}
    for key in old.keys() - new.keys():
        if key[:2] not in fresh:
            for one, _ in old[key]:
                yield CppChange("removed", _definition(one, before.path))


def _definition(one: DefinitionFact, path: str) -> Definition:
    kind, where = cast("DefinitionKind", one.kind), Location(path, one.line, one.end_line)
    written = (one.name, one.scope, kind, where, one.parameters, one.guard, one.macro)
    return Definition(*written, cuda_global=bool(one.is_global))


def _uses(before: _Side, after: _Side) -> Iterator[CppChange]:
    old, new = before.uses(), after.uses()
    for key in new.keys() - old.keys():
        yield CppChange("added", stub_use=new[key], line=new[key].line)
    for key in old.keys() - new.keys():
        yield CppChange("removed", stub_use=old[key], line=old[key].line)


def _registrations(before: _Side, after: _Side) -> Iterator[CppChange]:
    old, new = before.registrations(), after.registrations()
    for key in sorted(new.keys() ^ old.keys()):
        op, block, _ = key
        what = "changed" if key in new else "removed"
        yield CppChange(what, registration=(op, block), line=new.get(key) or old[key])


def _macros(before: _Side, after: _Side) -> Iterator[CppChange]:
    old, new = before.macros(), after.macros()
    for name in sorted(old.keys() | new.keys()):
        was, _ = old.get(name, ((), 0))
        now, line = new.get(name) or ((), old[name][1])
        if was != now:
            what = "removed" if name not in new else "changed" if name in old else "added"
            yield CppChange(what, macro=name, line=line)
