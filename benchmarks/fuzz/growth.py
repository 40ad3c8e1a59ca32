"""How time grows with size: an input again and again, and brackets that do not close."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.fuzz.mutations import MOST_BYTES
from benchmarks.fuzz.targets import Run, Target, targets

_SIZES = (MOST_BYTES // 2, MOST_BYTES, MOST_BYTES * 2, MOST_BYTES * 4)
_UNITS = (
    *(b"(", b"[", b"{", b"<", b'"', b"'", b"/*", b"\\\n", b"a", b" ", b"\n", b"\t", b"#", b"::"),
    *(b",", b"- ", b"a: ", b'R"(', b"template <", b"#if X\n", b"#define F(x) F(F(x))\n"),
    *(
        b"namespace a {",
        b"a(",
        b"a.b",
        b"f(a, ",
        b"if (a) ",
        b"@a\n",
        b"x = ",
        b"not ",
        b"lambda: ",
    ),
    *(b"'''", b'{"a":', b"[[x]]\n", b"a = 1\n", b"~", b"* @a\n", b"TORCH_CHECK(", b"'a' ", b"0"),
    *(b"-", b"\xff", b"aten::", b"return a;\n", b"a<b>::", b"&", b"%", b"$_", b"_", b"1+"),
    *(b"void f() {}\n", b"def f(): "),
)
_NOTHING_S = 0.05
"""Of CPU, below which nothing is said of growth."""


def growth_rows(names: Sequence[str]) -> Iterator[str]:
    """A row for each reader: the unit with the steepest growth, its power and its time."""
    yield "| reader | steepest | power | ms of CPU at 256 KB |\n|---|---|---|---|"
    for name in names:
        unit, power, seconds = steepest(targets()[name])
        yield f"| {name} | {unit!r} | {power:.1f} | {1000 * seconds:,.0f} |"


def steepest(target: Target) -> tuple[bytes, float, float]:
    """The unit that grows most, by how much its time grows as a power of its size, and its time."""
    worst: tuple[bytes, float, float] = (b"", 0.0, 0.0)
    with tempfile.TemporaryDirectory(prefix="torchnav-fuzz") as folder:
        run = target.start(Path(folder))
        for unit in (*_UNITS, *target.seeds()[:20]):
            power, seconds = _power(target, run, unit)
            if seconds * power > worst[1] * worst[2]:
                worst = (unit[:40], power, seconds)
    return worst


def _power(target: Target, run: Run, unit: bytes) -> tuple[float, float]:
    """By the last doubling; stopped where it takes too long."""
    before = now = 0.0
    for size in _SIZES:
        before, now = now, _seconds(target, run, unit * (size // len(unit) + 1))
        if now > 10:
            break
    if before < _NOTHING_S / 4 or now < _NOTHING_S:
        return 1.0, now
    return math.log2(now / before), now


def _seconds(target: Target, run: Run, data: bytes) -> float:
    begun = time.process_time()
    with suppress(*target.own, RecursionError, MemoryError):
        run(data)
    return time.process_time() - begun
