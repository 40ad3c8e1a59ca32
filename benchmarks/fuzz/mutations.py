"""A mutational fuzzer: real inputs, cut, spliced, repeated, nested and corrupted."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

MOST_BYTES = 1 << 16
"""Maximum size of an input: larger ones only take longer."""
_WORD = re.compile(rb"[A-Za-z_]\w{1,30}|[^\w\s]{1,3}|\d+")
_ODD = (
    *(b"\0", b"\xff", b"\xc3\x28", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\r\n", b"\\", b"\x1b]52;c;"),
    *("\u202e\u2028\ufeff\U000e0041é²½".encode(), "٣".encode(), b"\\u0000", b"\\ud800", b"\t"),
    *(b"0", b"-1", b"1e999", b"9" * 40, b"NaN", b"null", b"true", b"{}", b"[]", b'""', b"0x", b"#"),
    *(b"/*", b"*/", b"//", b'R"(', b")", b"#if 0\n", b"#endif\n", b"#define F(x) F(x)\n", b"'''"),
    *(
        b"%s",
        b"{0}",
        b"&a ",
        b"*a",
        b"<<: ",
        b"? ",
        b"- ",
        b"\n---\n",
        b"!!python/object:os.system ",
    ),
)
_PAIRS = ((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"<", b">"), (b"[[", b"]]"), (b'{"a":', b"}"))


class Mutator:
    """Makes inputs from seeds; the ``n``-th input of a seed is always the same."""

    def __init__(self, seeds: Sequence[bytes], seed: int) -> None:
        self._seeds, self._seed = [one for one in seeds if one] or [b"\0"], seed
        words = {word for one in self._seeds for word in _WORD.findall(one[:20_000])}
        self._words = [*sorted(words)[:4000], *_ODD]

    def made(self, number: int) -> bytes:
        """The n-th input."""
        chance = random.Random(self._seed << 40 | number)
        data: bytes = chance.choice(self._seeds)
        for _ in range(chance.choice((1, 1, 1, 2, 3, 6))):
            data = chance.choice(_MUTATIONS)(self, data, chance)
        return data[:MOST_BYTES]

    def flip(self, data: bytes, chance: random.Random) -> bytes:
        """Changes one byte."""
        at = chance.randrange(len(data) + 1)
        return data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :]

    def drop(self, data: bytes, chance: random.Random) -> bytes:
        """Removes a span."""
        start, end = _span(data, chance)
        return data[:start] + data[end:]

    def cut(self, data: bytes, chance: random.Random) -> bytes:
        """Removes the end."""
        return data[: chance.randrange(len(data) + 1)]

    def word(self, data: bytes, chance: random.Random) -> bytes:
        """Inserts a word of the seeds, or an unusual one."""
        at = chance.randrange(len(data) + 1)
        word: bytes = chance.choice(self._words)
        return data[:at] + word + data[at:]

    def swap(self, data: bytes, chance: random.Random) -> bytes:
        """Replaces a word."""
        found = list(_WORD.finditer(data, chance.randrange(len(data) + 1)))[:40]
        if not found:
            return self.word(data, chance)
        one = chance.choice(found)
        word: bytes = chance.choice(self._words)
        return data[: one.start()] + word + data[one.end() :]

    def odd(self, data: bytes, chance: random.Random) -> bytes:
        """Inserts text that is difficult for readers."""
        at = chance.randrange(len(data) + 1)
        return data[:at] + chance.choice(_ODD) + data[at:]

    def repeat(self, data: bytes, chance: random.Random) -> bytes:
        """Repeats a span."""
        start, end = _span(data, chance)
        times = chance.choice((1, 2, 3, 30, 300))
        return data[:end] + data[start : min(end, start + 200)] * times + data[end:]

    def splice(self, data: bytes, chance: random.Random) -> bytes:
        """Joins the beginning of one input and the end of another."""
        other = chance.choice(self._seeds)
        return data[: chance.randrange(len(data) + 1)] + other[chance.randrange(len(other)) :]

    def nest(self, data: bytes, chance: random.Random) -> bytes:
        """Puts a span into many brackets, which may not close."""
        start, end = _span(data, chance)
        opened, closed = chance.choice(_PAIRS)
        times = chance.choice((1, 3, 50, 2000))
        after = closed * times * chance.randrange(2)
        return data[:start] + opened * times + data[start:end] + after + data[end:]


def _span(data: bytes, chance: random.Random) -> tuple[int, int]:
    start = chance.randrange(len(data) + 1)
    return start, min(len(data), start + chance.choice((1, 2, 8, 40, 300, 2000)))


_MUTATIONS: tuple[Callable[[Mutator, bytes, random.Random], bytes], ...] = (
    Mutator.flip,
    Mutator.drop,
    Mutator.cut,
    Mutator.word,
    Mutator.word,
    Mutator.swap,
    Mutator.swap,
    Mutator.odd,
    Mutator.repeat,
    Mutator.splice,
    Mutator.nest,
)
