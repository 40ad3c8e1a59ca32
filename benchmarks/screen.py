"""The screen in a real terminal: from a key to the bytes that show its effect."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

from benchmarks.harness import Bench, Comparison, Cost, Figure, percentile
from benchmarks.terminal import COLUMNS, Terminal

NEEDS = ()
_START = "from navigator.cli.main import run; run()"
_PLAIN = "import navigator.tui.source.highlight as h; h.language_of = lambda path: None; "
"""Set before the start: without languages, files have no colours."""
_FIRST = "_cast_Byte"
"""The first operator in the YAML of every version."""
_SPLIT = 56
"""The column between the lists and the source in a terminal with 120 columns."""
_FILTERS = ("softmax", "layer_norm", "conv", "index_add")
_FILES = ("FunctionsManual.cpp", "native_functions.yaml")
_MS = 1e3


def figures(bench: Bench) -> Iterator[Comparison]:
    """Start, keys to lists, keys to chains and source, also while an index is built."""
    bench.torchnav("index")()
    yield Comparison(
        (
            Figure("screen: exec to first rows painted", 2.5),
            Figure("screen: exec to first rows painted, CPU", None, "cpu"),
        ),
        lambda: _first_rows(bench),
        "import textual.app",
        bench.command([sys.executable, "-c", "import textual.app"]),
        bench.several,
    )
    yield Comparison(
        (Figure("screen without an index: exec to first rows painted", 2.5),),
        lambda: _without_index(bench, _first_rows),
        "import textual.app",
        bench.command([sys.executable, "-c", "import textual.app"]),
        bench.runs,
    )
    for name, taken in (
        ("key to list painted", _keys_to_list),
        ("key to list painted, while indexing", _while_indexing),
        ("key to chain and source painted", _keys_to_chain),
        *((f"enter to {name} painted", _opening(name)) for name in _FILES),
    ):
        yield Comparison(_percentiles(name), _one_run(bench, taken), runs=bench.runs)
    for name in _FILES:
        yield Comparison(
            (Figure(f"enter to {name} painted, beside a plain view", None),),
            _one_run(bench, _opening(name)),
            "the same without colours",
            partial(_plainly, bench, name),
            bench.runs,
        )


def _plainly(bench: Bench, name: str) -> Cost:
    """The cost of opening a file in a view without colours."""
    return _typical(_opening(name, _PLAIN)(bench))


def _percentiles(name: str) -> tuple[Figure, ...]:
    return (
        Figure(f"{name}, p50", 50, unit=" ms", scale=_MS),
        Figure(f"{name}, p95", 100, unit=" ms", scale=_MS, percentile=95),
    )


def _one_run(bench: Bench, taken: Callable[[Bench], list[Cost]]) -> Callable[[], list[Cost]]:
    return lambda: taken(bench)


def _typical(costs: list[Cost]) -> Cost:
    return Cost(wall=percentile([cost.wall for cost in costs], 50))


def _open(bench: Bench, before: str = "") -> Terminal:
    command = [sys.executable, "-c", before + _START, "--tree", str(bench.tree)]
    environment = {**bench.environment, "XDG_CONFIG_HOME": str(bench.cache)}
    return Terminal(command, str(bench.tree), environment)


def _shows(terminal: Terminal, text: str, first: int = 0, last: int = COLUMNS) -> bool:
    return any(text in row for row in terminal.rows(first, last))


def _first_rows(bench: Bench) -> Cost:
    with closing(_open(bench)) as terminal:
        painted = terminal.until(lambda: _shows(terminal, _FIRST))
        return Cost(cpu=terminal.cpu(), wall=painted - terminal.started)


def _without_index(bench: Bench, taken: Callable[[Bench], Cost]) -> Cost:
    with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as cache:
        return taken(Bench(bench.tree, Path(cache), 1, {"TORCHNAV_CACHE": cache}))


def _ready(terminal: Terminal) -> None:
    terminal.until(lambda: _shows(terminal, _FIRST))
    terminal.settle()


def _keys_to_list(bench: Bench) -> list[Cost]:
    """Filters typed letter by letter; each is painted when the list has changed."""
    with closing(_open(bench)) as terminal:
        _ready(terminal)
        return _typed(terminal)


def _typed(terminal: Terminal) -> list[Cost]:
    costs = []
    for text in _FILTERS:
        for at, letter in enumerate(text):
            before = terminal.rows(0, _SPLIT)[2:8]
            pressed = terminal.press(letter)
            written = text[: at + 1]

            def painted(written: str = written, before: list[str] = before) -> bool:
                return _shows(terminal, written, 0, 20) and terminal.rows(0, _SPLIT)[2:8] != before

            with suppress(TimeoutError):  # a letter that leaves the list as it is
                terminal.patience = 2.0
                costs.append(Cost(wall=terminal.until(painted) - pressed))
            terminal.settle()
        terminal.press("\x15")
        terminal.settle()
    return costs


def _while_indexing(bench: Bench) -> list[Cost]:
    with tempfile.TemporaryDirectory(prefix="torchnav-benchmark") as cache:
        return _keys_to_list(Bench(bench.tree, Path(cache), 1))


def _keys_to_chain(bench: Bench) -> list[Cost]:
    """Moving down the operators; each is painted when its chain and source are."""
    with closing(_open(bench)) as terminal:
        _ready(terminal)
        terminal.press("softmax")
        terminal.settle()
        terminal.press("\x1b")
        terminal.settle()
        costs = []
        for _ in range(20):
            chain, source = terminal.rows(0, _SPLIT)[12:], terminal.rows(_SPLIT, COLUMNS)[2:]
            pressed = terminal.press("\x1b[B")

            def painted(chain: list[str] = chain, source: list[str] = source) -> bool:
                return (
                    terminal.rows(0, _SPLIT)[12:] != chain
                    and terminal.rows(_SPLIT, COLUMNS)[2:] != source
                    and terminal.inks(_SPLIT, COLUMNS) > _COLOURED
                )

            with suppress(TimeoutError):
                terminal.patience = 3.0
                costs.append(Cost(wall=terminal.until(painted) - pressed))
            terminal.settle()
        return costs


_COLOURED = 4
"""Plain source has fewer colours: text, line numbers, cursor."""


def _opening(name: str, before: str = "") -> Callable[[Bench], list[Cost]]:
    """Opens lines of a large file with ``:``, at first without a cache."""

    def taken(bench: Bench) -> list[Cost]:
        with closing(_open(bench, before)) as terminal:
            _ready(terminal)
            terminal.press("\x1b")
            terminal.until(lambda: _shows(terminal, "s Find"))
            terminal.settle()
            least = 0 if before else _COLOURED
            return [_opened(terminal, f"{name}:{1000 + 371 * at}", least) for at in range(8)]

    return taken


def _opened(terminal: Terminal, place: str, least: int) -> Cost:
    """From Enter until a place is shown with more than ``least`` colours."""
    terminal.press(":")
    terminal.settle()
    terminal.press(place)
    terminal.settle()
    pressed = terminal.press("\r")
    line = place.rpartition(":")[2]

    def painted() -> bool:
        return (
            _shows(terminal, f"{line}▎", _SPLIT, COLUMNS) and terminal.inks(_SPLIT, COLUMNS) > least
        )

    taken = Cost(wall=terminal.until(painted) - pressed)
    terminal.settle()
    return taken


assert os.name == "posix", "a pseudo terminal is needed"
