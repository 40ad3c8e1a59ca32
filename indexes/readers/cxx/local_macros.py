"""Macros that a file defines for its own bodies, and their expansions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from indexes.model.lines import grouped
from indexes.model.regex import regex
from indexes.readers.cxx.lexer import Macro
from indexes.readers.cxx.preprocess import Allowance, bind, substitute

_STRING = regex(r'"(?:[^"\\\n]|\\.)*"')
_BRACKETED = regex(r"[({\[;]")
OPAQUE = "_"
"""Replaces an argument with brackets, whose content is read where it is written."""
_LONGEST = 60_000


def without_strings(text: str) -> str:
    """Blanks the contents of strings."""
    return (
        _STRING.sub(lambda found: f'"{" " * (len(found[0]) - 2)}"', text) if '"' in text else text
    )


class LocalMacros:
    """The function-like macros of one file, by name."""

    def __init__(self, macros: Mapping[str, Sequence[Macro]], hidden: frozenset[str]) -> None:
        self._macros = macros
        self._hidden = hidden
        """Those that are being expanded: no macro is expanded inside itself."""
        self._at = 0
        """Where the outermost use stands; 0 outside of expansions."""
        self.made: dict[int, Allowance] = {}
        """What the outermost use at each offset may still make."""

    @classmethod
    def of(cls, macros: Iterable[Macro]) -> LocalMacros:
        """The function-like macros of a file with a body."""
        calling = (one for one in macros if one.parameters is not None and "(" in one.body)
        named = grouped((macro.name, macro) for macro in calling)
        return cls(named, frozenset()) if named else NO_MACROS

    def __contains__(self, name: str) -> bool:
        return name in self._macros and name not in self._hidden

    def without(self, name: str, at: int) -> LocalMacros:
        """The macros that are visible inside a use of one of them."""
        inner = LocalMacros(self._macros, self._hidden | {name})
        inner._at, inner.made = self._at or at, self.made
        return inner

    def expanded(self, name: str, given: Sequence[str], at: int) -> Iterator[str]:
        """The expansions of a use: several if it is defined under several ``#if``."""
        if not self._at:
            self.made[at] = Allowance()
        at = self._at or at
        bodies = set()
        for macro in self._macros[name]:
            alive = macro.offset < at and not 0 < macro.undefined_at <= at
            if alive and macro.body not in bodies and len(macro.body) < _LONGEST:
                bodies.add(macro.body)
                arguments = [OPAQUE if _BRACKETED.search(one) else one.strip() for one in given]
                bound = bind(macro.parameters or [], arguments)
                if bound is not None and self.made[at].takes(len(self._hidden)):
                    yield without_strings(substitute(macro.body, bound, bound))


NO_MACROS = LocalMacros({}, frozenset())
