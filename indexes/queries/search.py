"""Finding operators and symbols by what a person types."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from operator import itemgetter

from indexes.model.regex import regex
from indexes.model.vocabulary import OperatorSummary

_TERM = regex(r"(no|has|key|file|tag|kind|module|name|schema):(\S*)")


class OperatorFilter:
    """Operators made ready to be filtered again and again, for each key that is typed."""

    def __init__(self, operators: Sequence[OperatorSummary]) -> None:
        self._operators = operators
        self._texts: dict[str, list[str]] = {}

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
                kept = self._narrowed(kept, term[1], term[2].lower())
        is_ranked = False
        for word in words:
            if not _TERM.fullmatch(word):
                kept = self._ranked(kept, Wanted(word), is_ranked)
                is_ranked = True
        return tuple(map(operators.__getitem__, kept))

    @cached_property
    def _ranked(self) -> _Ranking:
        return _Ranking([op.full_name.lower() for op in self._operators])

    def _narrowed(self, kept: Sequence[int], what: str, value: str) -> list[int]:
        if what == "no":
            without = set(self._narrowed(kept, "has", value))
            return [at for at in kept if at not in without]
        if what == "has":
            if "derivative".startswith(value):
                return [at for at in kept if self._operators[at].has_derivative]
            if "kernel".startswith(value):
                return [at for at in kept if self._operators[at].files]
            what, value = "key", f"\n{value}\n"
        texts = self._texts_of(what)
        return [at for at in kept if value in texts[at]]

    def _texts_of(self, what: str) -> list[str]:
        """What a term looks in, of each operator."""
        if what not in self._texts:
            self._texts[what] = [_TEXTS[what](op) for op in self._operators]
        return self._texts[what]


_TEXTS: dict[str, Callable[[OperatorSummary], str]] = {
    "key": lambda op: "\n{}\n".format("\n".join(op.keys)).lower(),
    "file": lambda op: "\n".join(op.files).lower(),
    "tag": lambda op: "\n".join(op.tags).lower(),
    "kind": lambda op: op.kind,
    "module": lambda op: op.python_module or "",
    "name": lambda op: op.full_name.lower(),
    "schema": lambda op: op.schema.lower(),
}


class _Ranking:
    """Names in lower case that are ranked all at once: a call for each takes four times as long.

    A rank is here what tells names of one kind apart, with the order of the name as last bits.
    """

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._order_bits = len(names).bit_length()
        self._length_bits = max(map(len, names), default=0).bit_length()
        """Of a length, and of a place in a name."""
        shift = self._length_bits + self._order_bits
        self._ranks = [len(name) << shift | at for at, name in enumerate(names)]
        """Of names that begin with a word."""
        self._letters = [frozenset(name) for name in names]
        self._bases: dict[str, set[int]] = {}
        """Where the names with a base are."""
        for at, name in enumerate(names):
            self._bases.setdefault(_bare(name), set()).add(at)

    def __call__(self, kept: Sequence[int], wanted: Wanted, is_ranked: bool) -> list[int]:
        """Those of ``kept`` whose names fit, best first. Equally good ones stay in the order that
        a word has given them already, or in that of all names."""
        needed, letters = wanted.letters, self._letters
        kept = [at for at in kept if needed <= letters[at]]
        order = self._order_bits.__rrshift__ if is_ranked else None
        mask = (1 << self._order_bits) - 1
        ranks = self._holding(kept, wanted.text)
        found = [rank & mask for one in ranks for rank in sorted(one, key=order)]
        if first := self._same(kept, wanted):
            found = [*first, *(at for at in found if at not in first)]
        return found

    def _holding(self, kept: list[int], text: str) -> tuple[list[int], ...]:
        """The ranks of names that begin with the text, of those with a part that does, of others
        that hold it, of those that only have its letters in order."""
        begins: list[int] = []
        parts: list[int] = []
        inside: list[int] = []
        others: list[int] = []
        names, ranks, shift = self._names, self._ranks, self._order_bits
        for at in kept:
            name = names[at]
            place = name.find(text)
            if not place:
                begins.append(ranks[at])
            elif place < 0:
                others.append(at)
            elif name[place - 1].isalnum():
                inside.append(ranks[at] + (place << shift))
            else:
                parts.append(ranks[at] + (place << shift))
        return begins, parts, inside, self._scattered(others, text)

    def _scattered(self, kept: list[int], text: str) -> list[int]:
        ranks, names, shift = [], self._names, self._length_bits
        first, others = text[0], text[1:]
        for at in kept:
            start = end = names[at].find(first)
            for letter in others:
                end = names[at].find(letter, end + 1)
                if end < 0:
                    break
            else:
                rank = end + 1 - start << shift | len(names[at])
                ranks.append(rank << self._order_bits | at)
        return ranks

    def _same(self, kept: list[int], wanted: Wanted) -> dict[int, int]:
        """The name itself and its variants, best first, with their ranks."""
        if not (same := self._bases.get(_bare(wanted.text))):
            return {}
        ranked = [(wanted.rank_lowered(self._names[at]), at) for at in kept if at in same]
        own = [(r, at) for r, at in ranked if r is not None and kind_of_rank(r) <= _VARIANT]
        return {at: rank for rank, at in sorted(own, key=itemgetter(0))}


def _bare(name: str) -> str:
    return name.partition(".")[0].strip("_")


def _commonness(overload: str) -> int:
    """Overloads that people mean by a bare name come first, out= last."""
    return {"": 0, "tensor": 1}.get(overload, 3 if "out" in overload else 2)


_BITS = 20
_ITSELF, _VARIANT, BEGINS, _PART, _INSIDE, _SCATTERED = range(6)
OWN_RANK = 2 * _BITS
"""Where a rank has three bits, of no value, for what else comes before how well names fit that
fit in the same way."""
_KIND = OWN_RANK + 3


def kind_of_rank(rank: int) -> int:
    """0 for the name itself, 1 for its variants, 2 for a beginning, 3 for the beginning of a
    word, 4 for anything inside, 5 for letters in order."""
    return rank >> _KIND


def rank_of(kind: int, first: int = 0, second: int = 0) -> int:
    """One number, smaller is better: numbers are compared quicker than tuples."""
    return kind << _KIND | first << _BITS | second


class Wanted:
    """A word that names are ranked by."""

    def __init__(self, word: str) -> None:
        self.text = word.lower()
        self.letters = frozenset(self.text)
        """No name fits without them."""
        self._bare = self.text.strip("_")

    def rank(self, name: str) -> int | None:
        """How well a name fits, smaller is better; None when the letters are not there."""
        lowered = name.lower()
        if not (self._bare and self.text in lowered) and _bare(lowered) == self._bare:
            return self._rank_bare(lowered)
        return self.rank_lowered(lowered)

    def ranks_in(self, names: str, found: Iterable[tuple[int, int, int]]) -> list[int]:
        """The rank of each name: these are in lower case, hold the word and stand in one text,
        where each begins, where it first holds the word and where it ends. What most names are
        is seen here, without a call for each."""
        if not self._bare:
            return [self._rank_holding(names[start:end]) for start, _, end in found]
        begins, part, inside = BEGINS << _KIND, _PART << _KIND, _INSIDE << _KIND
        after, bare = len(self.text), self._bare
        ranks: list[int] = []
        for start, at, end in found:
            size = end - start << _BITS
            if at == start:
                rest = at + after
                if names[rest].isalnum() or names[rest:end].lstrip("_")[:1].isalnum():
                    ranks.append(begins | size)
                    continue
            elif (dot := names.find(".", start, at)) > start:
                if names[start:dot].strip("_") != bare:
                    kind = inside if names[at - 1].isalnum() else part
                    ranks.append(kind | size | at - start)
                    continue
            elif (before := names[at - 1]).isalnum():
                ranks.append(inside | size | at - start)
                continue
            elif before != "_" or names[start] != "_":
                ranks.append(part | size | at - start)
                continue
            ranks.append(self._rank_holding(names[start:end]))
        return ranks

    def _rank_holding(self, name: str) -> int:
        rank = self.rank(name)
        assert rank is not None, "the letters are there"
        return rank

    def rank_lowered(self, name: str) -> int | None:
        """The same for a name in lower case whose letters are those of the word, or more."""
        at = name.find(self.text)
        if at < 0:
            span = self.span(name)
            return rank_of(_SCATTERED, span, len(name)) if span else None
        before = name[at - 1] if at else "_"
        if before == "_" or name.find(".", 0, at) > 0:  # else its base is another one
            base = name.partition(".")[0]
            if self.text in (name, base) or base.strip("_") == self._bare:
                return self._rank_bare(name)
        kind = BEGINS if not at else _INSIDE if before.isalnum() else _PART
        return kind << _KIND | len(name) << _BITS | at

    def span(self, name: str) -> int:
        """How far the letters, in order, lie apart in a name in lower case; 0 without them."""
        text = self.text
        start = end = name.find(text[0])
        if start < 0:
            return 0
        for letter in text[1:]:
            end = name.find(letter, end + 1)
            if end < 0:
                return 0
        return end + 1 - start

    def _rank_bare(self, name: str) -> int:
        base, _, overload = name.partition(".")
        is_same = self.text in (name, base)
        return rank_of(_ITSELF if is_same else _VARIANT, _commonness(overload), len(name))
