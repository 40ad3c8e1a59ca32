"""Finds registrations in macros: ``OP_DECOMPOSE(dropout)`` in a TORCH_LIBRARY block is an
``m.impl``, and a macro at namespace scope may expand to a whole block.

Only macros that stand as statements are expanded, and those that build the name of one. Arguments
of ``m.impl`` stay as written: ``BASIC_UNARY_BATCH_RULE(ATEN_FN(abs))`` says more than its
expansion.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from os.path import commonpath
from typing import NamedTuple

from indexes.linking.macros import MacroTable, PlacedMacro, both
from indexes.model.idioms import LIBRARY_METHODS, close, library_block, names_of, split_arguments
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.cxx.bodies import MACRO_USE, library_calls
from indexes.readers.cxx.facts import LibraryFact, UseFact, assemble
from indexes.readers.cxx.preprocess import Allowance, bind, substitute
from indexes.readers.cxx.scopes import scan_text

_WORDS = regex(r'"(?:[^"\\]|\\.)*"|[A-Za-z_]\w*', re.ASCII)
_COMPUTES = regex(r"[\w\s,()#.]*$", re.ASCII)
_ADJACENT = regex(r'(?<!\\)"\s*"')
_HEADERS = (".h", ".cuh", ".hpp")
_MAX_TEXT = 400_000
_BLOCK = regex(rf"\b{names_of('library')}\s*\(", re.ASCII)


class LibraryMacros:
    """Expands the macro uses of many files."""

    def __init__(self, table: MacroTable) -> None:
        self.table = table
        self.problems: list[Problem] = []
        """Uses in the last file that make more than is read."""

    def expand(
        self, path: str, facts: Iterable[LibraryFact], uses: Iterable[UseFact] = ()
    ) -> list[LibraryFact]:
        """The calls that the macro uses of a file expand to, each at the line of its use.

        ``uses`` are those at namespace scope, which may expand to whole blocks.
        """
        made: list[LibraryFact] = []
        self.problems = []
        every: list[UseFact | LibraryFact] = [*uses]
        every += (fact for fact in facts if fact.method == MACRO_USE)
        for one in every:
            left = Allowance()
            if isinstance(one, UseFact):
                made += self._of_blocks(path, one, left)
            else:
                made += _made_by(one, _Preprocessor(self, path, one.offset, left))
            if left.refused:
                self.problems.append(left.problem(path, one.line))
        return made

    def _of_blocks(
        self, path: str, use: UseFact, left: Allowance, depth: int = 0
    ) -> Iterator[LibraryFact]:
        """The calls in the blocks that a use at namespace scope expands to."""
        if not self._hold_block(use.name, use.arguments):
            return
        preprocessor = _Preprocessor(self, path, use.offset, left)
        macro = preprocessor.visible(use.name)
        text = macro and self.table.substitute(macro, split_arguments(use.arguments))
        if not (macro and text and left.takes(depth, len(text) <= _MAX_TEXT)):
            return
        found = assemble(scan_text(text), path="")
        for fact in found.libraries:
            guard, line = both(use.guard, fact.guard), use.line
            placed = fact._replace(line=line, block_line=line, offset=use.offset, guard=guard)
            placed = placed._replace(arguments=_joined(fact.arguments))
            calls = _made_by(placed, preprocessor) if fact.method == MACRO_USE else (placed,)
            for call in calls:
                yield call._replace(macro_path=macro.path, macro_line=macro.fact.line)
        for inner in found.uses:
            guard = both(use.guard, inner.guard)
            placed_use = inner._replace(line=use.line, offset=use.offset, guard=guard)
            for call in self._of_blocks(path, placed_use, left, depth + 1):
                yield call._replace(macro_path=macro.path, macro_line=macro.fact.line)

    def _hold_block(self, name: str, arguments: str) -> bool:
        """Whether a use may contain a TORCH_LIBRARY block, in its macro or its arguments."""
        holding = self._holding
        if name in holding:
            return True
        # To look for a few names costs less than to take all words out.
        return any(map(arguments.__contains__, holding)) and not holding.isdisjoint(
            _WORDS.findall(arguments)
        )

    @cached_property
    def _holding(self) -> set[str]:
        """The macros whose expansion may contain a TORCH_LIBRARY block."""
        return self.table.reaching(lambda macro: _BLOCK.search(macro.body))


def _joined(arguments: str) -> str:
    return " ".join(_ADJACENT.sub("", arguments).split())


def _made_by(fact: LibraryFact, preprocessor: _Preprocessor) -> Iterator[LibraryFact]:
    macro = preprocessor.visible(fact.arguments.partition("(")[0].strip())
    if macro is None:
        return
    text = preprocessor.expand(fact.arguments, _State(frozenset(), 0, True))
    variable = library_block(fact.block).library
    for call in library_calls(text, text, 0, len(text), variable):
        if call.method != MACRO_USE:
            arguments, line = _joined(call.arguments), macro.fact.line
            yield fact._replace(
                method=call.method, arguments=arguments, macro_path=macro.path, macro_line=line
            )


class _State(NamedTuple):
    """The state of an expansion."""

    hidden: frozenset[str]
    """Macros being expanded, which are not expanded again."""
    depth: int
    statement: bool
    """Whether the text is a statement, not an argument."""


class _Preprocessor:
    """Expands macros as seen from one place of a file."""

    def __init__(self, known: LibraryMacros, path: str, offset: int, left: Allowance) -> None:
        self._known = known
        self._path = path
        self._offset = offset
        self._left = left

    def visible(self, name: str) -> PlacedMacro | None:
        found = self._known.table.visible(name, self._path, self._offset)
        # Of another file only a header can have been included, likely one that is near.
        usable = [m for m in found if m.path == self._path or m.path.endswith(_HEADERS)]
        return max(usable, key=lambda m: len(commonpath((m.path, self._path))), default=None)

    def expand(self, text: str, state: _State) -> str:
        """Expands all macros of a statement; in arguments only those that build names."""
        out: list[str] = []
        at = 0
        while len(text) <= _MAX_TEXT and (found := _WORDS.search(text, at)):
            out.append(text[at : found.start()])
            ended, made = self._word(text, found, state)
            last = made.rpartition(" ")[2]
            if text[ended : ended + 1] == "(" and made != found.group() and last.isidentifier():
                text, ended = made + text[ended:], 0  # its result names the macro that follows
                state = state._replace(hidden=state.hidden | {found.group()})
            else:
                out.append(made)
            at = ended
        out.append(text[at:])
        is_fit = sum(map(len, out)) <= _MAX_TEXT
        self._left.refused += not is_fit
        return "".join(out) if is_fit else text

    def _word(self, text: str, found: re.Match[str], state: _State) -> tuple[int, str]:
        """The expansion of a word or of the macro use that it begins, and the offset behind it."""
        word, at = found.group(), found.end()
        in_statement = state.statement
        if in_statement and word in LIBRARY_METHODS and text[: found.start()].rstrip()[-1:] == ".":
            ended = max(_use_end(text, at), at)
            return ended, text[found.start() : ended]
        macro = None if word[0] == '"' or word in state.hidden else self.visible(word)
        if macro is None or not (in_statement or _computes(macro)):
            return at, word
        ended = at if macro.fact.parameters is None else _use_end(text, at)
        return (at, word) if ended < 0 else (ended, self._use(macro, text[at:ended], state))

    def _use(self, macro: PlacedMacro, spelled: str, state: _State) -> str:
        fact = macro.fact
        if not self._left.takes(state.depth):
            return fact.name + spelled
        inner = _State(state.hidden | {fact.name}, state.depth + 1, state.statement)
        if fact.parameters is None:
            return self.expand(fact.body, inner)
        bound = bind(fact.parameters, split_arguments(spelled.strip()[1:-1]))
        if bound is None:
            return ""
        alone = _State(frozenset(), inner.depth, False)
        expanded = {name: self.expand(text, alone) for name, text in bound.items()}
        return self.expand(substitute(fact.body, bound, expanded), inner)


def _computes(macro: PlacedMacro) -> bool:
    """Whether a macro builds names or numbers: ``C10_CONCATENATE``, a count of arguments."""
    return macro.fact.parameters is not None and bool(_COMPUTES.match(macro.fact.body))


def _use_end(text: str, at: int) -> int:
    opened = len(text) - len(text[at:].lstrip())
    if text[opened : opened + 1] != "(":
        return -1
    ended = close(text, opened)
    return ended + 1 if ended >= 0 else -1
