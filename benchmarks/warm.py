"""Answers from an index that is there: nothing changed, one file edited, one question."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.harness import Bench, Comparison, Cost, Figure, copied

NEEDS = ("rg",)
_KERNEL = "aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"
_YAML = "aten/src/ATen/native/native_functions.yaml"
_QUESTIONS = (
    ("op", "add.Tensor", "--json"),
    ("op", "softmax", "--json"),
    ("find", "upsample_bil", "--json"),
    ("at", f"{_KERNEL}:130", "--json"),
    ("uses", "add_stub", "--json"),
)


def figures(bench: Bench) -> Iterator[Comparison]:
    """Cold processes on a warm index."""
    bench.torchnav("index")()
    search, several = bench.ripgrep(), bench.several
    unchanged = bench.torchnav("index")
    yield Comparison((Figure("nothing changed", 1.5),), unchanged, "ripgrep", search, several)
    for question in _QUESTIONS:
        asked = " ".join(part.rpartition("/")[2] for part in question)
        yield Comparison(
            (Figure(f"{asked}, asked again", 1.5),),
            bench.torchnav(*question),
            "ripgrep",
            search,
            several,
        )
        yield Comparison(
            (Figure(f"{asked}, asked first", 1.5),),
            _asked_first(bench, question),
            "ripgrep",
            search,
            several,
        )
    with copied(bench) as tree:
        yield from _edits(bench, tree)


def _asked_first(bench: Bench, question: Sequence[str]) -> Callable[[], Cost]:
    """A question whose answer is not kept yet."""
    ask = bench.torchnav(*question)

    def asked() -> Cost:
        for kept in bench.cache.glob("indexes/*.answers"):
            shutil.rmtree(kept)
        return ask()

    return asked


def _edits(bench: Bench, tree: Path) -> Iterator[Comparison]:
    """Edits of a copy of the tree, beside a run on the tree that finds nothing changed."""
    unchanged = bench.torchnav("index")
    refresh = bench.torchnav("index", tree=tree)
    refresh()

    def after(edit: Callable[[], None]) -> Callable[[], Cost]:
        def edited() -> Cost:
            edit()
            return refresh()

        return edited

    kernel, yaml = tree / _KERNEL, tree / _YAML
    for name, bar, edit in (
        ("one kernel file edited", 2.0, lambda: _append(kernel, "\nvoid another_one() {}\n")),
        ("one YAML entry edited", 3.0, lambda: _edit_entry(yaml)),
    ):
        yield Comparison(
            (Figure(name, bar),), after(edit), "nothing changed", unchanged, bench.runs * 2
        )


def _append(file: Path, text: str) -> None:
    with open(file, "a") as opened:
        opened.write(text)
    _age(file)


def _edit_entry(file: Path) -> None:
    """Gives the first ``add.Tensor`` another variant, or takes it away again."""
    text = file.read_text()
    entry = text.index("- func: add.Tensor(")
    at = text.index("variants: ", entry)
    end = text.index("\n", at)
    line = text[at:end]
    other = "variants: function" if "," in line else "variants: function, method"
    file.write_text(text[:at] + other + text[end:])
    _age(file)


def _age(file: Path) -> None:
    """As if it was written a while ago: what was written just now is hashed once more."""
    found = file.stat()
    os.utime(file, (found.st_atime, found.st_mtime - 60))
