"""Growth of time with size: an input repeated, and brackets that do not close."""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from benchmarks.fuzz.targets import Run, Target, targets

_LEAST, _MOST = 1 << 12, 1 << 18
"""Sizes in bytes: each input is four times as large as the one before."""
_UNITS = (
    *(b"(", b"[", b"{", b"<", b'"', b"'", b"/*", b"\\\n", b"a", b" ", b"\n", b"\t", b"#", b"::"),
    *(b",", b"- ", b"a: ", b'R"(', b"template <", b"#if X\n", b"#define F(x) F(F(x))\n"),
    *(b"namespace a {", b"a(", b"a.b", b"f(a, ", b"if (a) ", b"@a\n", b"x = ", b"not "),
    *(b"lambda: ", b"#if X\nif (a) f();\n#else\n", b"#if X\n#elif Y\n", b"#else\n", b"? a : "),
    *(b"enum class DispatchKey ", b"constexpr auto a = ", b"a  ", b"a = b, ", b"case a: ", b"`"),
    *(b"else if (a) b; ", b"#undef F\n", b"class A { ", b"[](){", b"${", b"%(", b"f'{", b"* "),
    *(b"'''", b'{"a":', b"[[x]]\n", b"a = 1\n", b"~", b"* @a\n", b"TORCH_CHECK(", b"'a' ", b"0"),
    *(b"-", b"\xff", b"aten::", b"return a;\n", b"a<b>::", b"&", b"%", b"$_", b"_", b"1+"),
    *(b"void f() {}\n", b"def f(): ", b"# Note [ab]\n", b"// Note [ab]\n", b"x Note [ab] "),
)
_BODY = b"Tensor f(Tensor y) { bool x = y.defined();\n"
"""The head of a C++ function, before units of its body."""
_IN_BODY = (
    *(b"x = x && y;\n", b"if (x) { f(x); x |= g(y); }\n", b"A<B> a; f(a);\n", b"using A = B<C>;\n"),
    *(
        b"f(-y, (~y) & (x));\n",
        b"g<a>()(y, f);\n",
        b"auto a = y.a(); a.b();\n",
        b"return y + (x);\n",
    ),
)
_NOTHING_S = 0.05
"""CPU seconds below which growth is ignored."""
_STEEP = 1.3
"""Exponent of the size above which growth is reported."""


def growth_rows(names: Sequence[str]) -> Iterator[str]:
    """A row for each unit whose time grows steeply, for each reader."""
    yield f"| reader | unit | power (above {_STEEP}) | ms of CPU | KB |\n|---|---|---|---|---|"
    for name in names:
        rows = [*steep(targets()[name])]
        for unit, power, seconds, size in rows:
            cells = (repr(unit), f"{power:.1f}", f"{1000 * seconds:,.0f}", str(size >> 10))
            yield f"| {name} | {' | '.join(cells)} |"
        if not rows:
            yield f"| {name} | none | | | |"


def steep(target: Target) -> Iterator[tuple[bytes, float, float, int]]:
    """Each unit whose time grows steeply, with the exponent, the time and the size."""
    with tempfile.TemporaryDirectory(prefix="torchnav-fuzz") as folder:
        run = target.start(Path(folder))
        units = [(b"", unit) for unit in (*_UNITS, *target.seeds()[:20])]
        for head, unit in (*units, *((_BODY, unit) for unit in _IN_BODY)):
            power, seconds, size = _power(target, run, unit, head)
            if power > _STEEP:
                yield unit[:40], power, seconds, size


def _power(target: Target, run: Run, unit: bytes, head: bytes) -> tuple[float, float, int]:
    """From the last step; stopped if it takes too long."""
    before, now, size = 0.0, 0.0, _LEAST
    while True:
        before, now = now, _seconds(target, run, head + unit * (size // len(unit) + 1))
        if now > 1 or size >= _MOST:
            break
        size *= 4
    if before < _NOTHING_S / 8 or now < _NOTHING_S:
        return 1.0, now, size
    return math.log(now / before, 4), now, size


def _seconds(target: Target, run: Run, data: bytes) -> float:
    begun = time.process_time()
    with suppress(*target.own, RecursionError, MemoryError):
        run(data)
    return time.process_time() - begun
