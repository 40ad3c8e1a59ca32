"""What ``torchnav inspect`` and ``graph`` run in the Python that has torch: an expression, or a
program and then a name in it."""

from __future__ import annotations

import argparse
import contextlib
import runpy
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexes.model.errors import TorchnavError

if TYPE_CHECKING:
    from navigator.objects.graph import Lines

_OUTPUT = contextlib.redirect_stdout
"""What the program prints is no answer."""


def main(arguments: list[str]) -> int:
    """Prints the answer; the exit code."""
    given = _parser().parse_args(arguments)
    try:
        answer = _graph(given) if given.question == "graph" else _inspection(given)
    except (TorchnavError, TypeError, ValueError, ImportError) as error:
        print(f"torchnav: {error}", file=sys.stderr)
        return 1
    try:
        print(answer, flush=True)
    except BrokenPipeError:  # whoever reads has seen enough
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.close()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="torchnav")
    parser.add_argument("question", choices=["inspect", "graph"])
    parser.add_argument("--tree")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--dot", action="store_true")
    parser.add_argument("--order", action="store_true")
    parser.add_argument("--to", default="")
    parser.add_argument("what")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


def _inspection(given: argparse.Namespace) -> str:
    from navigator.objects.tensor import inspect

    script, name = _split(given.what)
    with _OUTPUT(sys.stderr):
        value = _value(name, _run(script, given.arguments) if script else _torch())
    found = inspect(value, given.tree)
    return found.as_json() if given.json else str(found)


def _graph(given: argparse.Namespace) -> str:
    from navigator.objects.graph import Lines, variables
    from navigator.objects.linked_graph import linked
    from navigator.text.graphs import chain_lines

    script, name = _split(given.what)
    lines = Lines(ends=not name)
    with _OUTPUT(sys.stderr):
        tensor, names = _loss(script, name, lines, given.arguments)
        found = linked(tensor, variables(names), lines.of, tree=given.tree, run=given.order)
    if given.to:
        return "\n".join(chain_lines(found, given.to))
    return found.as_json() if given.json else found.dot() if given.dot else str(found)


def _loss(
    script: str, name: str, lines: Lines, arguments: list[str]
) -> tuple[Any, Mapping[str, Any]]:
    """The tensor that is asked for, or the first that the program calls ``backward`` of, and the
    variables there."""
    import torch

    from navigator.objects.graph import Backward

    try:
        with lines:
            names = _run(script, arguments) if script else _torch()
    except Backward as reached:
        return reached.tensor, reached.names
    if not name:
        raise TypeError(f"{script} calls no tensor.backward(): name one, {script}:loss")
    with lines:
        value = _value(name, names)
    if not isinstance(value, torch.Tensor):
        raise TypeError(f"graph takes a tensor, not {type(value).__name__}")
    return value, names


def _split(what: str) -> tuple[str, str]:
    """The script and the name in it; no script for an expression, no name for a script alone."""
    script, colon, name = what.rpartition(":")
    if colon and script.endswith(".py"):
        return script, name
    return (what, "") if what.endswith(".py") else ("", what)


def _torch() -> dict[str, Any]:
    import torch

    return {"torch": torch}


def _value(name: str, names: dict[str, Any]) -> object:
    try:
        return eval(name, names)  # the user asks to run it
    except Exception as error:
        raise TypeError(f"{name}: {type(error).__name__}: {error}") from error


def _run(script: str, arguments: list[str]) -> dict[str, Any]:
    """The names that a program leaves; its own error is shown as Python shows it."""
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    try:
        return runpy.run_path(script, run_name="__main__")
    except OSError as error:
        raise TypeError(f"{script}: {error.strerror or error}") from error
    except (Exception, SystemExit) as error:
        if not isinstance(error, SystemExit):
            traceback.print_exc()
        raise TypeError(f"{script} ended with {type(error).__name__}: {error}") from error
