"""What the other figures cannot go below as torchnav is built: the steps that each of them has to
take in any case, taken alone; and the two parts of a cold index that read files, in one process
each. No bar: they are what a bar that is not met is held against."""

from __future__ import annotations

import gc
import os
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.cold import ctags
from benchmarks.harness import Bench, Comparison, Cost, Figure
from indexes.build.builder import READ_KINDS
from indexes.build.scan_pool import reader_kind
from indexes.build.scan_worker import Contents, answer
from indexes.source.files import content_hash
from indexes.source.seen import Seen
from indexes.source.source import Source
from indexes.store.tables import CPP_INDEXES, INDEXES

NEEDS = ("rg", "ctags")
_CPP = (".cpp", ".h", ".cu", ".cuh", ".mm", ".cc", ".c", ".hpp", ".hip", ".metal")
_COMMENT = re.compile(
    r"""[/"](?:(?<=/)(?:/[^\n]*|\*[\s\S]*?\*/)|(?<=")[^"\\\n]*(?:\\.[^"\\\n]*)*")"""
)


def figures(bench: Bench) -> Iterator[Comparison]:
    """Steps of an answer beside ripgrep, steps of a cold index beside Universal Ctags."""
    bench.torchnav("index")()
    (index,) = (bench.cache / "indexes").glob("*.db")
    for name, command in (("starts", ()), ("starts and loads sqlite3", ("sqlite3",))):
        run = bench.command([sys.executable, "-c", f"import {', '.join(('sys', *command))}"])
        figure = Figure(f"floor: Python {name}", None)
        yield Comparison((figure,), run, "ripgrep", bench.ripgrep(), bench.several)
    looked = bench.command([sys.executable, "-c", _LOOKED, str(index)])
    stats = Figure("floor: every file's time looked at", None)
    yield Comparison((stats,), looked, "ripgrep", bench.ripgrep(), bench.several)
    for step, words in (
        ("read", "floor: files read and named by content"),
        ("comments", "floor: one regular expression over the C++ files"),
        ("rows", "floor: the rows copied by SQLite alone"),
        ("cpp", "part: facts of the C++ files, as they travel"),
        ("python", "part: facts of all other files, as they travel"),
    ):
        figure = Figure(f"{words}, CPU", None, "cpu")
        yield Comparison((figure,), _step(bench, step, index), "ctags", ctags(bench), bench.runs)


_ROOT = Path(__file__).parents[1]
_START = f"import sys; sys.path.insert(0, {str(_ROOT)!r}); "
_LOOKED = _START + "from indexes.source.seen import Seen; Seen.load(sys.argv[1]).moved()"
_STEP = _START + "from benchmarks.floors import main; main(*sys.argv[1:])"


def _step(bench: Bench, name: str, index: Path) -> Callable[[], Cost]:
    """A step in a process of its own."""
    return bench.command([sys.executable, "-c", _STEP, name, str(index)])


def main(step: str, index: str) -> None:
    """Takes one step for the files of an index."""
    seen = Seen.load(index)
    assert seen, "the index has just been made"
    parts = {kind: partial(_facts, kind) for kind in ("cpp", "python")}
    {"read": _read, "comments": _comments, "rows": _rows, **parts}[step](seen, index)


def _facts(kind: str, _: Seen, __: str) -> None:
    from indexes.readers.python import module as python  # noqa: F401  # as a child does, before it reads

    gc.disable()
    contents = Contents(os.getcwd())
    for file in Source.find(os.getcwd()).files():
        if file.kind in READ_KINDS and reader_kind(file) == kind:
            answer(contents, kind, file.path, b"")


def _read(seen: Seen, _: str) -> None:
    import hashlib  # noqa: F401  # the hashes then come from it

    for path in seen.paths[: seen.files]:
        content_hash(Path(path).read_bytes())


def _comments(seen: Seen, _: str) -> None:
    for path in seen.paths[: seen.files]:
        if path.endswith(_CPP):
            _COMMENT.sub("", Path(path).read_bytes().decode("latin-1"))


def _rows(_: Seen, index: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = sqlite3.connect(Path(folder, "copy.db"), isolation_level=None)
        copy.execute("PRAGMA journal_mode=OFF")
        copy.execute("PRAGMA synchronous=OFF")
        copy.execute("ATTACH ? AS made", (index,))
        tables = copy.execute("SELECT name, sql FROM made.sqlite_master WHERE type='table'")
        for name, sql in tables.fetchall():
            copy.execute(sql)
            copy.execute(f"INSERT INTO main.{name} SELECT * FROM made.{name}")
        copy.executescript(f"{CPP_INDEXES}{INDEXES}")
        copy.close()
