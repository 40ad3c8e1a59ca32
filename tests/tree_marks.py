"""Collects the expectations that stand in the text of ``tests/tree``: see its README."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

TREE = Path(__file__).parent / "tree"
NATIVE = "aten/src/ATen/native/"
YAML = NATIVE + "native_functions.yaml"

_C_LIKE = {".cpp", ".h", ".cu", ".cuh", ".mm"}
_MARK = {True: re.compile(r"//! (.*)"), False: re.compile(r"#! (.*)")}
_STRUCTURED_KEYS = {"CPU", "CUDA", "MPS", "XPU"}

Spot = tuple[str, int]
"""Path and line."""


@dataclass(frozen=True)
class Mark:
    """One expectation: ``verb`` and its words, about ``path:line``."""

    verb: str
    words: tuple[str, ...]
    path: str
    line: int

    @property
    def spot(self) -> Spot:
        return self.path, self.line

    @property
    def macro(self) -> str:
        """The macro after ``by``."""
        return self.words[self.words.index("by") + 1] if "by" in self.words else ""


@cache
def all_marks() -> tuple[Mark, ...]:
    """Every mark of the tree, by file and line."""
    files = sorted(p for p in TREE.rglob("*") if p.suffix in {*_C_LIKE, ".py", ".yaml"})
    return tuple(mark for file in files for mark in _of_file(file))


def marks(*verbs: str) -> tuple[Mark, ...]:
    """The marks with one of these verbs."""
    return tuple(mark for mark in all_marks() if mark.verb in verbs)


def _of_file(file: Path) -> Iterator[Mark]:
    path = file.relative_to(TREE).as_posix()
    pattern = _MARK[file.suffix in _C_LIKE]
    waiting: list[str] = []
    lines = file.read_bytes().decode("latin-1").split("\n")
    for number, text in enumerate(lines, 1):
        found = pattern.search(text)
        if found and not text[: found.start()].strip():
            waiting.append(found[1])
            continue
        for body in (*waiting, *([found[1]] if found else [])):
            yield from _parse(body, path, number)
        waiting.clear()
    assert not waiting, f"{path} ends in a mark"


def _parse(body: str, path: str, line: int) -> Iterator[Mark]:
    for part in body.split(";"):
        verb, *words = part.split()
        yield Mark(verb, tuple(words), path, line)


# ------------------------------------------------------------------------ kernels


@cache
def entries() -> dict[str, dict[str, object]]:
    """The YAML entries by full name, as PyYAML reads them."""
    listed = yaml.safe_load((TREE / YAML).read_text())
    return {entry["func"].partition("(")[0]: entry for entry in listed}


def delegating(out: str) -> tuple[str, ...]:
    """The operators that delegate to a structured one."""
    return tuple(op for op, entry in entries().items() if entry.get("structured_delegate") == out)


@dataclass(frozen=True)
class Expected:
    """What a row of the kernels must answer."""

    spots: frozenset[Spot]
    macro: str


@cache
def expected_kernels() -> dict[tuple[str, str], Expected]:
    """(operator, dispatch key) -> its definitions, from ``kernel`` and ``meta`` marks."""
    spots: dict[tuple[str, str], set[Spot]] = defaultdict(set)
    macros: dict[tuple[str, str], str] = {}
    for mark in marks("kernel", "meta"):
        for row in _rows(mark):
            spots[row].add(mark.spot)
            macros[row] = mark.macro
    return {row: Expected(frozenset(found), macros[row]) for row, found in spots.items()}


def _rows(mark: Mark) -> Iterator[tuple[str, str]]:
    keys = ["Meta"] if mark.verb == "meta" else mark.words[1].split(",")
    for op in mark.words[0].split(","):
        shared = [k for k in keys if mark.verb == "meta" or k in _STRUCTURED_KEYS]
        yield from ((op, key) for key in keys)
        yield from ((other, key) for other in delegating(op) for key in shared)
