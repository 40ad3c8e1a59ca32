"""Answers from an existing index: nothing changed, one file edited, one question."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.harness import Bench, Comparison, Cost, Figure, copied

NEEDS = ("rg", "git")
_KERNEL = "aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"
_MACROS = "aten/src/ATen/Dispatch.h"
_YAML = "aten/src/ATen/native/native_functions.yaml"
_LIGHT, _HEAVY = 10.0, 30.0
"""Maximum time of an answer as a multiple of ripgrep's for one word."""
_QUESTIONS = (
    (_LIGHT, ("op", "add.Tensor", "--json")),
    (_LIGHT, ("op", "softmax", "--json")),
    (_LIGHT, ("find", "upsample_bil", "--json")),
    (_LIGHT, ("at", f"{_KERNEL}:130", "--json")),
    (_LIGHT, ("uses", "add_stub", "--json")),
    (_LIGHT, ("kernel", "void at::native::cunn_SoftMaxForward<4>", "--json")),
    (_HEAVY, ("table", "add.Tensor", "--json")),
    (_HEAVY, ("callers", "add_stub", "--json")),
    (_HEAVY, ("impact", "add_stub", "--json")),
    (_HEAVY, ("contribute", "add.Tensor", "--json")),
    (_HEAVY, ("gaps", "--json")),
)


def figures(bench: Bench) -> Iterator[Comparison]:
    """Cold processes on a warm index."""
    bench.torchnav("index")()
    unchanged = Figure("nothing changed", 6.0)
    yield _beside_ripgrep(bench, unchanged, bench.torchnav("index"))
    for bar, question in _QUESTIONS:
        asked = " ".join(part.rpartition("/")[2][:30] for part in question)
        yield _beside_ripgrep(bench, Figure(asked, bar), bench.torchnav(*question))
    with copied(bench) as tree:
        yield from _edits(bench, tree)
        yield _affected(bench, tree)


def _beside_ripgrep(bench: Bench, figure: Figure, ours: Callable[[], Cost]) -> Comparison:
    return Comparison((figure,), ours, "ripgrep", bench.ripgrep(), bench.several)


def _affected(bench: Bench, tree: Path) -> Comparison:
    """Effects of one edited file of a repository."""
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=a commit -qm first"):
        subprocess.run(["git", *command.split()], cwd=tree, check=True)
    _append(tree / _KERNEL, "\nvoid yet_another_one() {}\n")
    ask = bench.torchnav("affected", "--json", tree=tree)
    ask()
    return _beside_ripgrep(bench, Figure("affected, one file edited", _HEAVY), ask)


def _edits(bench: Bench, tree: Path) -> Iterator[Comparison]:
    """Refreshing the index after an edit of a copy of the tree."""
    refresh = bench.torchnav("index", tree=tree)
    refresh()

    def after(edit: Callable[[], None]) -> Callable[[], Cost]:
        def edited() -> Cost:
            edit()
            return refresh()

        return edited

    for name, edit in (
        ("one kernel file edited", lambda: _append(tree / _KERNEL, "\nvoid another_one() {}\n")),
        ("a header of macros edited", lambda: _append(tree / _MACROS, "\n#define ANOTHER_ONE 1\n")),
        ("one YAML entry edited", lambda: _edit_entry(tree / _YAML)),
    ):
        figure = Figure(f"{name}, CPU", 1.5, "cpu", " s", 1.0)
        yield Comparison((figure,), after(edit), runs=bench.runs * 2)


def _append(file: Path, text: str) -> None:
    with open(file, "a") as opened:
        opened.write(text)
    _age(file)


def _edit_entry(file: Path) -> None:
    """Adds a variant to the first ``add.Tensor``, or removes it again."""
    text = file.read_text()
    entry = text.index("- func: add.Tensor(")
    at = text.index("variants: ", entry)
    end = text.index("\n", at)
    line = text[at:end]
    other = "variants: function" if "," in line else "variants: function, method"
    file.write_text(text[:at] + other + text[end:])
    _age(file)


def _age(file: Path) -> None:
    """Sets an older time, since files written just now are hashed once more."""
    found = file.stat()
    os.utime(file, (found.st_atime, found.st_mtime - 60))
