"""Expands macro uses at namespace scope: what does ``CREATE_UNARY_UFUNC(abs)`` define?

Works as the preprocessor does: arguments are substituted, ``##`` pastes, nested uses are expanded,
a list macro calls the macro it is given. Function bodies stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from indexes.model.files import MacroFact
from indexes.model.idioms import idiom_of, is_interpreted, split_arguments
from indexes.model.regex import regex
from indexes.readers.cxx.facts import CppFacts, DefinitionFact, UseFact, assemble
from indexes.readers.cxx.preprocess import Allowance, bind, substitute
from indexes.readers.cxx.scopes import scan_text
from indexes.readers.cxx.shaders import gives_names

_WORD = regex(r"[A-Za-z_]\w*", re.ASCII)
_CALLED = regex(r"([A-Za-z_]\w*)\s*\(", re.ASCII)
_SIGNED = regex(r"operator\s+(?=[^\w\s])")
_MAX_DEPTH, _MAX_PARAMETERS = 8, 10_000
_MAX_TEXT = 200_000
_UNREAD = ("class", "enum", "macro_use")


@dataclass(frozen=True, slots=True)
class PlacedMacro:
    """A macro and the file that defines it."""

    path: str
    fact: MacroFact


class MacroTable:
    """All macros of a tree, by name."""

    def __init__(self, macros: Mapping[str, list[PlacedMacro]]) -> None:
        self._macros = macros
        self._of_others: dict[str, tuple[frozenset[str], list[PlacedMacro]]] = {}

    def reaching(self, holds: Callable[[MacroFact], object]) -> set[str]:
        """The macros of which a definition satisfies ``holds`` or uses a macro that does."""
        found = {
            name
            for name, known in self._macros.items()
            if any(holds(macro.fact) for macro in known)
        }
        waiting = list(found)
        while waiting:
            fresh = self._users.get(waiting.pop(), set()) - found
            found |= fresh
            waiting += fresh
        return found

    @cached_property
    def _users(self) -> dict[str, set[str]]:
        users: dict[str, set[str]] = {}
        for name, known in self._macros.items():
            for macro in known:
                for called in _CALLED.findall(macro.fact.body):
                    users.setdefault(called, set()).add(name)
        return users

    def visible(self, name: str, path: str, offset: int) -> list[PlacedMacro]:
        """The definitions of ``name`` in force at ``offset`` of ``path``; several under ``#if``."""
        known = self._macros.get(name)
        if not known:
            return []
        if not self.is_given_by(name, path):
            return self._of_others[name][1]
        here = [m for m in known if m.path == path and m.fact.offset < offset]
        alive = [m for m in here if not 0 < m.fact.undefined_at <= offset]
        if alive:
            return _distinct(alive)
        if here:
            return []
        return _distinct([m for m in known if m.path != path and not m.fact.undefined_at]) or (
            _distinct([m for m in known if m.path != path])
        )

    def is_given_by(self, name: str, path: str) -> bool:
        """Whether a file defines ``name`` itself."""
        if name not in self._of_others:
            known = self._macros.get(name, [])
            alive = [m for m in known if not m.fact.undefined_at]
            self._of_others[name] = (frozenset(m.path for m in known), _distinct(alive or known))
        return path in self._of_others[name][0]

    def names_any(self, text: str) -> bool:
        """Whether a text contains the name of a macro or of an interpreted one."""
        return any(word in self._macros or is_interpreted(word) for word in _WORD.findall(text))

    @cached_property
    def defining(self) -> set[str]:
        """The macros whose expansion could contain a definition or a registration."""
        return self.reaching(_defines)

    def interprets(self, name: str, path: str) -> bool:
        """Whether ``name`` is one of PyTorch's macro families here, not redefined by the file."""
        row = idiom_of(name)
        if row is None or not is_interpreted(name):
            return False
        here = any(m.path == path for m in self._macros.get(name, ()))
        return not here or path.endswith(row.defined_in.rpartition("/")[2])

    def substitute(self, macro: PlacedMacro, arguments: Sequence[str]) -> str | None:
        """The body of ``macro`` with its parameters replaced; None if their number is wrong."""
        parameters = macro.fact.parameters
        if parameters is None:
            return macro.fact.body
        bound = bind(parameters, arguments)
        return None if bound is None else substitute(macro.fact.body, bound, bound)

    def expand_words(self, text: str, path: str, offset: int, depth: int = 0) -> str:
        """Expands the macros in a parameter list."""
        known = any(word in self._macros for word in _WORD.findall(text))
        if not known or depth > _MAX_DEPTH or len(text) > _MAX_PARAMETERS:
            return text

        def replace(found: re.Match[str]) -> str:
            macros = self.visible(found.group(1), path, offset)
            if not macros:
                return found.group()
            wants = macros[0].fact.parameters
            if wants is None:
                return str(macros[0].fact.body) + (found.group(2) or "")
            if found.group(2) is None:
                return found.group()
            made = self.substitute(macros[0], split_arguments(found.group(2)[1:-1]))
            return found.group() if made is None else made

        expanded = re.sub(r"\b([A-Za-z_]\w*)\b(\([^()]*\))?", replace, text)
        if expanded == text:
            return text
        return self.expand_words(expanded, path, offset, depth + 1)


def _defines(macro: MacroFact) -> bool:
    body = macro.body
    if macro.parameters is None and "(" not in body:
        return False
    if "{" in body or gives_names(body) or any(map(is_interpreted, set(_WORD.findall(body)))):
        return True
    return not set(macro.parameters or ()).isdisjoint(_CALLED.findall(body))


def _distinct(macros: list[PlacedMacro]) -> list[PlacedMacro]:
    seen: dict[tuple[str, str], PlacedMacro] = {}
    for macro in macros:
        seen[(macro.fact.body, str(macro.fact.parameters))] = macro
    return list(seen.values())


def expand_file(path: str, facts: CppFacts, table: MacroTable) -> CppFacts:
    """What the macro uses of a file define or register, at the lines of the outermost uses."""
    made = CppFacts()
    for use in facts.uses:
        if not table.interprets(use.name, path) and (
            use.parameters is not None or use.name in table.defining or _called_back(use, table)
        ):
            _Use(use, path, table, made).expand()
    return made


def _called_back(use: UseFact, table: MacroTable) -> bool:
    return not table.defining.isdisjoint(_WORD.findall(use.arguments)[:4])


class _Use:
    """A use being expanded. Equal parts of its definitions under ``#if`` are expanded once."""

    def __init__(self, use: UseFact, path: str, table: MacroTable, made: CppFacts) -> None:
        self.use = use
        self.path = path
        self.table = table
        self.made = made
        self._seen: set[object] = set()
        self._left = Allowance()

    def expand(self) -> None:
        macros = self.table.visible(self.use.name, self.path, self.use.offset)
        for macro in macros:
            text = self._text(macro, self.use)
            if text is None and len(macros) == 1 and self.use.arguments == "":
                text = self._text(macro, self.use, [""])
            if text is not None:
                self._read(text, macro, 0)
        if self._left.refused:
            self.made.problems.append(self._left.problem(self.path, self.use.line))

    def _text(
        self, macro: PlacedMacro, use: UseFact, given: Sequence[str] | None = None
    ) -> str | None:
        """The text of a use with what follows it; None if the arguments do not match."""
        made = self.table.substitute(macro, given or split_arguments(use.arguments))
        return None if made is None or len(made) > _MAX_TEXT else made + _written_out(made, use)

    def _read(self, text: str, macro: PlacedMacro, depth: int) -> None:
        table = self.table
        plain = "{" not in text and "#" not in text and not gives_names(text)
        if plain and not table.names_any(text):
            return
        path = self.path if self.path.endswith(".mm") else "aten/"  # strings there name kernels
        facts = assemble(scan_text(text), path, _UNREAD)
        for found in facts.definitions:
            if found.kind != "macro_use":
                self._define(found, macro)
        for inner in facts.uses:
            if table.interprets(inner.name, self.path):
                self._interpreted(inner)
                continue
            for nested in table.visible(inner.name, self.path, self.use.offset):
                made = self._text(nested, inner)
                if made is not None and self._left.takes(depth):
                    self._read(made, macro, depth + 1)

    def _define(self, found: DefinitionFact, macro: PlacedMacro) -> None:
        use = self.use
        placed = found._replace(
            name=_SIGNED.sub("operator", found.name),
            scope=_join(use.scope, found.scope),
            line=use.line,
            end_line=use.end_line,
            parameters=self.table.expand_words(found.parameters, self.path, use.offset),
            guard=both(use.guard, found.guard),
            macro=use.name,
            macro_path=macro.path,
            macro_line=macro.fact.line,
            calls=[call._replace(line=use.line) for call in found.calls],
            branches=[branch._replace(line=use.line) for branch in found.branches],
        )
        if self._is_new((placed.name, placed.scope, placed.kind, placed.parameters)):
            self.made.definitions.append(placed)

    def _interpreted(self, inner: UseFact) -> None:
        use = self.use
        scope, guard = _join(use.scope, inner.scope), both(use.guard, inner.guard)
        if self._is_new((inner.name, inner.arguments, scope)):
            placed = inner._replace(line=use.line, end_line=use.end_line, offset=use.offset)
            self.made.uses.append(placed._replace(scope=scope, guard=guard))

    def _is_new(self, key: object) -> bool:
        is_new = key not in self._seen
        self._seen.add(key)
        return is_new


def _written_out(made: str, use: UseFact) -> str:
    """The parameters and body behind a use that begins a definition."""
    if use.parameters is None:
        return ""
    ended = not use.parameters and made.rstrip().endswith(")")
    return " { }" if ended else f"({use.parameters}) {{ }}"


def _join(outer: str, inner: str) -> str:
    return f"{outer}::{inner}" if outer and inner else outer or inner


def both(outer: str, inner: str) -> str:
    """The condition that two guards make."""
    return " && ".join(filter(None, (outer, inner)))
