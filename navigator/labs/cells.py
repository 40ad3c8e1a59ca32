"""Reads a lab: a Python program in ``# %%`` cells, the percent format of editors and Jupytext.

A ``# %% [markdown]`` cell is narration. The first one has the title, ``# # Views``, a paragraph
about the lab and, if needed, its requirements::

    # needs: compiler, torch 2.4

A code cell names its own requirements after the mark, ``# %% needs: CUDA``. A claim is an
``assert`` whose message explains it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from indexes.source.files import read_text

NEEDS = ("compiler", "processes", "CUDA", "torch")
"""Requirements of a lab or cell: a C++ compiler, two processes, a GPU, a version of torch."""

_MARK = re.compile(r"^# %%(.*)$")
_NEEDS = re.compile(r"^needs: (.+)$", re.MULTILINE)
_FILE = re.compile(r"(?P<number>\d\d)_(?P<name>\w+)\.py")


@dataclass(frozen=True, slots=True)
class Claim:
    """An assertion of a lab."""

    line: int
    text: str
    """Its meaning, in words."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A part of a lab: narration in Markdown, or code."""

    line: int
    """The first line of its text in the file."""
    text: str
    is_markdown: bool
    needs: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Lab:
    """A lab's file."""

    path: Path
    number: int
    """Its position in reading order."""
    name: str
    title: str
    summary: str
    needs: tuple[str, ...]
    cells: tuple[Cell, ...]

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Its claims, in the order of the file."""
        return tuple(claim for cell in self.cells for claim in cell.claims)


def labs_folder() -> Path:
    """The folder of the labs: inside the installed package, or beside it in a checkout."""
    package = Path(__file__).resolve().parent
    installed = package / "programs"
    return installed if installed.is_dir() else package.parents[1] / "labs"


def all_labs() -> tuple[Lab, ...]:
    """Every lab, in reading order."""
    found = sorted(labs_folder().glob("*.py"))
    return tuple(read_lab(path) for path in found if _FILE.fullmatch(path.name))


def read_lab(path: Path) -> Lab:
    """The lab in a file.

    Raises:
        SyntaxError: A code cell is not valid Python.
        ValueError: The lab does not begin with a title.
    """
    text = read_text(path)
    cells = tuple(_cells(text))
    first = cells[0].text if cells and cells[0].is_markdown else ""
    title, _, rest = first.partition("\n")
    if not title.startswith("# "):
        raise ValueError(f"{path} does not begin with a title")
    named = _FILE.fullmatch(path.name)
    number, name = (int(named["number"]), named["name"]) if named else (0, path.stem)
    summary = " ".join(rest.strip().partition("\n\n")[0].split())
    return Lab(path, number, name, title[2:], summary, _needs(first), cells)


def _cells(text: str) -> Iterator[Cell]:
    lines = text.splitlines()
    marks = [(at, found[1].strip()) for at, one in enumerate(lines) if (found := _MARK.match(one))]
    ends = [*(at for at, _ in marks[1:]), len(lines)]
    for (at, mark), end in zip(marks, ends, strict=False):  # no mark, no cell
        inner = lines[at + 1 : end]
        if mark == "[markdown]":
            words = (one.removeprefix("#").removeprefix(" ") for one in inner)
            yield Cell(at + 2, "\n".join(words).strip("\n"), True)
        else:
            yield _code(at + 2, inner, mark)


def _code(line: int, lines: list[str], mark: str) -> Cell:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    text = "\n".join(lines)
    return Cell(line, text, False, _needs(mark), tuple(_claims(parsed(text, line))))


def parsed(text: str, line: int) -> ast.Module:
    """The syntax tree of a cell, with line numbers of the file."""
    return ast.parse("\n" * (line - 1) + text)


def _claims(tree: ast.Module) -> Iterator[Claim]:
    asserts = [one for one in ast.walk(tree) if isinstance(one, ast.Assert)]
    for one in sorted(asserts, key=lambda one: one.lineno):
        text = one.msg.value if isinstance(one.msg, ast.Constant) else ""
        yield Claim(one.lineno, str(text) or ast.unparse(one.test))


def _needs(text: str) -> tuple[str, ...]:
    """The words of ``needs: compiler, torch 2.4``."""
    found = _NEEDS.search(text)
    return tuple(word.strip() for word in found[1].split(",")) if found else ()
