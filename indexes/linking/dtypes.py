"""Which dtypes a function runs for: expands each ``AT_DISPATCH_*`` in it with the tree's macros.

A macro dispatches if it expands to a ``switch`` over enumerators of ScalarType, whatever its name:
``Dispatch.h``, ``Dispatch_v2.h`` and wrappers of single files are read alike.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property, lru_cache

from indexes.linking.visible import is_header
from indexes.model.files import MacroFact
from indexes.model.idioms import IDIOMS, close, meaning_of, split_arguments
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, DtypeDispatch, Location
from indexes.readers.cxx.lexer import flat, lex
from indexes.readers.cxx.preprocess import Preprocessor

_CALLED = regex(r"\b([A-Za-z_]\w*)\s*\(")
_WORD = regex(r"[A-Za-z_]\w*")
_CASE = regex(r"\bcase\s+([\w:\s]+?)\s*(?<!:):(?!:)")
_FIRST = regex(r"\s*(?:(\[|\(|\{|switch\b|do\b)|([A-Za-z_]\w*))")
_SWITCH = regex(r"\bswitch\b")
_USING = regex(r"\busing\s+(\w+)")
_TYPE_LISTS = tuple(row.names for row in IDIOMS if row.means == "scalar types")
_MARK = "torchnav_type"
_TAG = regex(r'[^"{]*?((?:"[^"\\]*"\s*)+),')
_OBJECT = regex(r"[^{}]*\w(?:\.|->)[^{}]*$")
"""``iter.dtype()``: the value that is switched on, which does not change the cases."""
_MADE = regex(rf"{_MARK}\(.*?,\s*(\w+)\s*\)", re.DOTALL)
_NOWHERE = Location("", 0)
_LAMBDA = regex(r"\{[^{}]*\}")

Macros = Callable[[str], Iterable[tuple[str, MacroFact]]]
"""Gives all macros of a name in the tree, each with its file."""
Lines = Callable[[str], Sequence[str]]
"""Gives the lines of a file."""


class Dtypes:
    """Finds the dtype dispatches of functions, with a cache."""

    def __init__(self, macros: Macros, lines: Lines) -> None:
        self._macros = cache(lambda name: list(macros(name)))
        self._lines = lines
        self._covered = lru_cache(4096)(self._expanded)
        self._files_of = cache(self._find_files)
        self._switching: dict[str, bool] = {}

    def of(self, definition: Definition) -> tuple[DtypeDispatch, ...]:
        """The dispatches in the body of ``definition``, in source order."""
        if definition.kind == "macro" or not definition.location.line:
            return ()
        if definition.macro_location:
            return tuple(self._in_macro(definition))
        return tuple(self._in_text(*self._source(definition), definition.location))

    @cached_property
    def scalar_types(self) -> frozenset[str]:
        """The enumerators of ScalarType in this tree."""
        uses = (f"{name}({_MARK})" for name in _TYPE_LISTS)
        expanded = "".join(map(Preprocessor(self._macro).expand, uses))
        return frozenset(_MADE.findall(expanded))

    def files(self, words: Iterable[str]) -> frozenset[str]:
        """The files that define a macro which a text of these words can use."""
        used = frozenset(word for word in (*words, *_TYPE_LISTS) if self._macros(word))
        return self._files_of(used)

    def _find_files(self, names: frozenset[str]) -> frozenset[str]:
        found: set[str] = set()
        seen, new = set(names), list(names)
        while new:
            for path, macro in self._macros(new.pop()):
                found.add(path)
                more = [w for w in set(_WORD.findall(macro.body)) - seen if self._macros(w)]
                seen.update(more)
                new += more
        return frozenset(found)

    # -------------------------------------------------------------------- text

    def _source(self, definition: Definition) -> tuple[str, int]:
        where = definition.location
        last = max(where.end_line, where.line)
        return "\n".join(self._lines(where.path)[where.line - 1 : last]), where.line

    def _in_text(self, text: str, first: int, where: Location) -> Iterator[DtypeDispatch]:
        lexed = lex(text)
        clean = lexed.clean
        for found in _CALLED.finditer(clean):
            name = found[1]
            ended = close(clean, found.end() - 1) if self.dispatches(name) else -1
            if ended < 0:
                continue
            at = Location(where.path, first + text.count("\n", 0, found.start()))
            written = _without_bodies(clean[found.end() : ended])
            yield from self._uses(name, written, at, text[found.end() : ended])

    def _uses(
        self, name: str, arguments: str, at: Location, original: str
    ) -> Iterator[DtypeDispatch]:
        if not self._macros(name):
            yield DtypeDispatch(name, at, (), tag=_tag(original))
            return
        given = tuple(map(_plain, split_arguments(arguments)))
        tag = _tag(original)
        for number in range(len(self._own(name, at)) or 1):
            cases, hint = self._cover(name, given, at, number)
            types = tuple(self._types_of(cases))
            known = tuple(dict.fromkeys(name for name, _ in types if name))
            if known:
                unread = tuple(raw for name, raw in types if not name and not raw.isdecimal())
                guard = self._guard(name, at, number)
                yield DtypeDispatch(name, at, known, hint, tag, guard, unread)

    def _in_macro(self, definition: Definition) -> Iterator[DtypeDispatch]:
        """Dispatches of a function that a macro defines: those in the macro's expansion."""
        use, line = self._source(definition)
        stop = self.switches

        def lookup(name: str) -> MacroFact | None:
            return None if stop(name) else self._macro(name, definition.location)

        expanded = Preprocessor(lookup).expand(lex(use).clean)
        body = _body_of(expanded, definition.name)
        for one in self._in_text(body, line, definition.location):
            yield replace(one, location=definition.location)

    # ------------------------------------------------------------------ macros

    def dispatches(self, name: str) -> bool:
        """Whether a use of ``name`` may be a dtype dispatch."""
        return self.switches(name) or (meaning_of(name) == "dtypes" and not self._macros(name))

    def switches(self, name: str) -> bool:
        """Whether ``name`` expands to a ``switch``, or begins with a macro that does."""
        known = self._switching.get(name)
        if known is None:
            self._switching[name] = False
            known = any(self._body_switches(m) for _, m in self._macros(name))
            self._switching[name] = known
        return known

    def _body_switches(self, macro: MacroFact) -> bool:
        first = _FIRST.match(macro.body)
        if first is None or first[1]:
            return first is not None and bool(_SWITCH.search(macro.body))
        if first[2] in (macro.parameters or ()):
            return False
        return self.switches(first[2]) or self._given_switches(first[2], macro.body[first.end() :])

    def _given_switches(self, name: str, behind: str) -> bool:
        """Whether ``name(...)`` begins with a parameter of its own that is a ``switch``."""
        ended = close(behind, 0) if behind.startswith("(") else -1
        given = split_arguments(behind[1:ended]) if ended > 0 else []
        for _, macro in self._macros(name):
            first = _FIRST.match(macro.body)
            parameters = macro.parameters or []
            if first and first[2] in parameters and parameters.index(first[2]) < len(given):
                return self.switches(given[parameters.index(first[2])])
        return False

    def _own(self, name: str, at: Location) -> list[MacroFact]:
        """The definitions of a macro in the file that uses it; several under ``#if``."""
        return [
            m
            for p, m in self._macros(name)
            if p == at.path and m.line <= at.line and not self._ended(m, at)
        ]

    def _ended(self, macro: MacroFact, at: Location) -> bool:
        if not macro.undefined_at:
            return False
        text = "\n".join(self._lines(at.path)[: at.line - 1])
        return macro.undefined_at < len(text)

    def _macro(self, name: str, at: Location = _NOWHERE, number: int = 0) -> MacroFact | None:
        """A visible definition of a macro: in the same file, else in the nearest header."""
        if own := self._own(name, at):
            return own[min(number, len(own) - 1)]
        found = [(p, m) for p, m in self._macros(name) if is_header(p)]
        return min(found, key=_nearness)[1] if found else None

    def _cover(
        self, name: str, arguments: tuple[str, ...], at: Location, number: int
    ) -> tuple[tuple[str, ...], str]:
        """The cases of one use, and the name of its type in the body. Cached for all files that
        define none of the macros involved."""
        if not self._own(name, at):
            cases, hint, met = self._covered(name, arguments, _NOWHERE, 0)
            if not any(path == at.path for one in met for path, _ in self._macros(one)):
                return cases, hint
        return self._covered(name, arguments, at, number)[:2]

    def _expanded(
        self, name: str, arguments: tuple[str, ...], at: Location, number: int
    ) -> tuple[tuple[str, ...], str, frozenset[str]]:
        """The same, with the names of all macros that were expanded."""
        chosen = self._macro(name, at, number)
        met = {name}

        @cache
        def lookup(wanted: str) -> MacroFact | None:
            met.add(wanted)
            return chosen if wanted == name else self._macro(wanted, at)

        expanded = Preprocessor(lookup).expand(f"{name}({', '.join(arguments)})")
        cases = tuple(" ".join(c.split()) for c in _CASE.findall(expanded))
        hint = _USING.search(expanded)
        return cases, hint[1] if hint else "", frozenset(met)

    def _guard(self, name: str, at: Location, number: int) -> str:
        own = self._own(name, at)
        if len(own) < 2:
            return ""
        lexed = lex("\n".join(self._lines(at.path)))
        before = bisect_right(lexed.guard_offsets, own[number].offset)
        return " && ".join(lexed.guards[before - 1]) if before else ""

    def _types_of(self, cases: Iterable[str]) -> Iterator[tuple[str, str]]:
        """The ScalarType of each case, or "" with its text."""
        for case in cases:
            name = _enumerator(case.replace(" ", ""))
            yield (name if name in self.scalar_types else ""), case


def _enumerator(case: str) -> str:
    """``Half`` for ``at::ScalarType::Half`` and ``kHalf``; empty for anything else."""
    scope, _, last = case.rpartition("::")
    if scope.rpartition("::")[2] == "ScalarType":
        return last
    return last[1:] if last.startswith("k") and scope in ("", "at", "c10", "torch") else ""


def _nearness(placed: tuple[str, MacroFact]) -> tuple[bool, str, int]:
    """Sort key: headers of ATen and c10 before others, then by path."""
    path, macro = placed
    ours = path.startswith(("aten/", "c10/", "torch/headeronly/")) or "/ATen/" in path
    return not ours, path, macro.offset


def _plain(argument: str) -> str:
    """An argument without what cannot change the cases: the ``iter`` object, names of lambdas."""
    text = _OBJECT.sub("x", flat(argument))
    return "[&] {}" if text.startswith("[") and not _WORD.search(text) else text


def _without_bodies(text: str) -> str:
    shorter = _LAMBDA.sub("\x04", text)
    while shorter != text:
        text, shorter = shorter, _LAMBDA.sub("\x04", shorter)
    return text.replace("\x04", "{}")


def _tag(arguments: str) -> str:
    """The name in the error message for other dtypes: the first argument that is a string."""
    found = _TAG.match(arguments)
    return "".join(re.findall(r'"([^"]*)"', found[1])) if found else ""


def _body_of(text: str, name: str) -> str:
    """The part of an expansion that defines ``name``; all of it if unclear."""
    found = re.search(rf"\b{re.escape(name)}\b[^;{{]*\{{", text)
    if found is None:
        return text
    end = close(text, found.end() - 1, "{}")
    return text[found.start() : end + 1] if end >= 0 else text
