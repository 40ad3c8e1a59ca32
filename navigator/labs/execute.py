"""Runs the cells of a lab in the Python that has torch, and reports the result of each.

Runs as a separate process: ``main`` writes one line of JSON to the original stdout for each code
cell that it ran or skipped, with the cell's output; stderr is not captured.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

from navigator.labs.cells import Cell, Lab, parsed, read_lab

_NOTE = "__claim_holds__"
_VERSION = re.compile(r"(\d+)\.(\d+)")


def main(arguments: list[str]) -> int:
    """Runs the lab at a path; returns 0 if every cell that could be run succeeded."""
    lab = read_lab(Path(arguments[0]))
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as output, tempfile.TemporaryFile() as printed:
        os.dup2(printed.fileno(), 1)
        lacks = lacking(lab.needs)
        _emit(output, unmet=lacks, torch=version("torch"))
        return 1 if lacks else _run(lab, output, printed.fileno())


def _run(lab: Lab, stream: TextIO, printed: int) -> int:
    module = ModuleType("__main__")
    module.__file__ = str(lab.path)
    sys.modules["__main__"] = module  # where multiprocessing finds pickled functions
    sys.argv = [str(lab.path)]
    checked_lines: list[int] = []
    vars(module)[_NOTE] = checked_lines.append
    for number, cell in enumerate(lab.cells):
        if cell.is_markdown:
            continue
        before = len(checked_lines)
        skipped = lacking(cell.needs)
        error = None if skipped else _error_of(cell, lab, vars(module))
        output = _new_text(printed)
        checked = sorted(set(checked_lines[before:]))
        _emit(stream, cell=number, skipped=skipped, output=output, checked=checked, error=error)
        if error:
            return 1
    return 0


def _error_of(cell: Cell, lab: Lab, names: dict[str, Any]) -> dict[str, Any] | None:
    """Runs a cell and returns its error, if any."""
    tree = ast.fix_missing_locations(_ClaimReporter().visit(parsed(cell.text, cell.line)))
    code = compile(tree, str(lab.path), "exec", dont_inherit=True, optimize=0)
    try:
        exec(code, names)  # running it is the user's request
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever the lab raises is told
        steps = traceback.extract_tb(error.__traceback__)
        lines = [step.lineno for step in steps if step.filename == str(lab.path)]
        text = "".join(traceback.format_exception_only(error)).strip()
        return {"line": (lines or [cell.line])[-1], "message": text}
    return None


class _ClaimReporter(ast.NodeTransformer):
    """Makes each claim report that it was checked."""

    def visit_Assert(self, node: ast.Assert) -> list[ast.stmt]:
        note = ast.Call(ast.Name(_NOTE, ast.Load()), [ast.Constant(node.lineno)], [])
        return [node, ast.copy_location(ast.Expr(note), node)]


def _emit(stream: TextIO, **event: object) -> None:
    print(json.dumps(event), file=stream, flush=True)


def _new_text(file: int) -> str:
    """Output since the last call, including that of C++ and of other processes."""
    sys.stdout.flush()
    size = os.fstat(file).st_size
    text = os.pread(file, size, 0)
    os.ftruncate(file, 0)
    os.lseek(file, 0, os.SEEK_SET)
    return text.decode("utf-8", "replace")


# ------------------------------------------------------------------------ what is there


def lacking(needs: Iterable[str]) -> str:
    """The first missing requirement, in words; empty if all are met."""
    for need in needs:
        if lack := _lacking(*need.split()):
            return lack
    return ""


def _lacking(what: str, least: str = "") -> str:
    """Avoids importing torch if possible: a lab may demonstrate its own import."""
    if what == "torch":
        has = version("torch")
        return f"needs torch {least}, and this is {has}" if _numbers(has) < _numbers(least) else ""
    if what == "compiler":
        names = (os.environ.get("CXX", "g++"), "g++", "clang++")
        return "" if any(map(shutil.which, names)) else "needs a C++ compiler"
    import torch

    if what == "processes":
        available = torch.distributed.is_available() and torch.distributed.is_gloo_available()
        return "" if available else "needs torch.distributed with gloo"
    return "" if torch.cuda.is_available() else "needs CUDA"


def _numbers(version: str) -> tuple[int, ...]:
    found = _VERSION.match(version)
    return tuple(map(int, found.groups())) if found else ()
