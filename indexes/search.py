"""Finding operators and symbols by what a person types."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from indexes.model import OperatorSummary
from indexes.regex import regex

_TERM = regex(r"(no|has|key|file|tag|kind|module|name|schema):(\S*)")


class OperatorFilter:
    """Operators made ready to be filtered again and again, for each key that is typed."""

    def __init__(self, operators: Sequence[OperatorSummary]) -> None:
        self._operators = operators

    @cached_property
    def _names(self) -> list[str]:
        return [op.full_name.lower() for op in self._operators]

    @cached_property
    def _letters(self) -> list[frozenset[str]]:
        return [frozenset(name) for name in self._names]

    def __call__(self, text: str) -> tuple[OperatorSummary, ...]:
        """Operators that fit every term of ``text``, best first.

        A plain word matches the name, letters in order; ``key:CUDA``, ``file:SoftMax``,
        ``tag:core``, ``kind:structured``, ``module:nn``, ``schema:SymInt``, ``has:derivative``
        and ``no:derivative`` (or ``no:CUDA``) narrow the list.
        """
        operators = self._operators
        kept: Sequence[int] = range(len(operators))
        words = text.split()
        for word in words:
            if (term := _TERM.fullmatch(word)) and term[2]:
                test, value = _TESTS[term[1]], term[2].lower()
                kept = [at for at in kept if test(operators[at], value)]
        for word in words:
            if not _TERM.fullmatch(word):
                kept = self._ranked(kept, Wanted(word))
        return tuple([operators[at] for at in kept])

    def _ranked(self, kept: Sequence[int], wanted: Wanted) -> list[int]:
        """Those whose names fit, best first; equally good ones stay in order."""
        names, letters, scored = self._names, self._letters, []
        for order, at in enumerate(kept):
            if wanted.letters <= letters[at]:
                rank = wanted.rank_lowered(names[at])
                if rank is not None:
                    scored.append(rank << _BITS | order)
        scored.sort()
        return [kept[one & _MASK] for one in scored]


def _has(op: OperatorSummary, value: str) -> bool:
    if "derivative".startswith(value):
        return op.has_derivative
    if "kernel".startswith(value):
        return bool(op.files)
    return any(value == k.lower() for k in op.keys)


_TESTS: dict[str, Callable[[OperatorSummary, str], bool]] = {
    "key": lambda op, v: any(v in k.lower() for k in op.keys),
    "file": lambda op, v: any(v in f.lower() for f in op.files),
    "tag": lambda op, v: any(v in t.lower() for t in op.tags),
    "kind": lambda op, v: v in op.kind,
    "module": lambda op, v: v in (op.python_module or ""),
    "name": lambda op, v: v in op.full_name.lower(),
    "schema": lambda op, v: v in op.schema.lower(),
    "has": _has,
    "no": lambda op, v: not _has(op, v),
}


def _commonness(overload: str) -> int:
    """Overloads that people mean by a bare name come first, out= last."""
    return {"": 0, "tensor": 1}.get(overload, 3 if "out" in overload else 2)


_BITS = 20
_MASK = (1 << _BITS) - 1


def kind_of_rank(rank: int) -> int:
    """0 for the name itself, 1 for its variants, 2 for a beginning, 3 for the beginning of a
    word, 4 for anything inside, 5 for letters in order."""
    return rank >> 2 * _BITS


def _rank(kind: int, first: int, second: int) -> int:
    """One number, smaller is better: numbers are compared quicker than tuples."""
    return kind << 2 * _BITS | first << _BITS | second


class Wanted:
    """A word that names are ranked by."""

    def __init__(self, word: str) -> None:
        self._text = word.lower()
        self._bare = self._text.strip("_")
        self._scattered = re.compile(".*?".join(map(re.escape, self._text))).search
        self.letters = frozenset(self._text)
        """No name fits without them."""

    def rank(self, name: str) -> int | None:
        """How well a name fits, smaller is better; None when the letters are not there."""
        lowered = name.lower()
        is_bare = lowered.partition(".")[0].strip("_") == self._bare
        return self._rank_bare(lowered) if is_bare else self.rank_lowered(lowered)

    def rank_lowered(self, name: str) -> int | None:
        """The same for a name in lower case whose letters are those of the word, or more."""
        at = name.find(self._text)
        if at < 0:
            found = self._scattered(name)
            return _rank(5, found.end() - found.start(), len(name)) if found else None
        before = name[at - 1] if at else "_"
        if before == "_" or name.find(".", 0, at) > 0:  # else its base is another one
            base = name.partition(".")[0]
            if self._text in (name, base) or base.strip("_") == self._bare:
                return self._rank_bare(name)
        if not at:
            return _rank(2, len(name), 0)
        return _rank(4 if before.isalnum() else 3, len(name), at)

    def _rank_bare(self, name: str) -> int:
        base, _, overload = name.partition(".")
        is_same = self._text in (name, base)
        return _rank(0 if is_same else 1, _commonness(overload), len(name))
