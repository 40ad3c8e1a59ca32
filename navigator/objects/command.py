"""``torchnav inspect``, ``graph`` and ``why``, as they run in the Python that has torch."""

from __future__ import annotations

import argparse
import contextlib
import os
import runpy
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from indexes.model.errors import TorchnavError
from navigator.text.clean import clean

if TYPE_CHECKING:
    from navigator.objects.graph import Lines
    from navigator.objects.writes import Writes

_OUTPUT = contextlib.redirect_stdout
"""Stdout is for the answer; the program's output goes elsewhere."""


def main(arguments: list[str]) -> int:
    """Prints the answer; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        _check_exists(options)
        answer = _ANSWERS[options.question](options)
    except ImportError as error:  # our packages are for another Python
        running = f"{sys.executable} (Python {sys.version_info[0]}.{sys.version_info[1]})"
        print(clean(f"torchnav: {error}: install torchnav for {running} too"), file=sys.stderr)
        return 1
    except TorchnavError as error:
        return _report(error, options.json)
    except (TypeError, ValueError) as error:
        return _report(TorchnavError(str(error)), options.json)
    except KeyboardInterrupt:
        return 130
    try:
        print(answer, flush=True)
    except BrokenPipeError:  # the reader has closed the pipe
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.close()
    return 0


def _report(error: TorchnavError, as_json: bool) -> int:
    """Says an error in one line, and on stdout as JSON if that was asked for."""
    if as_json:
        from indexes.serialize.answers import dumps, error_json

        print(dumps(error_json(error)), flush=True)
    print(clean(f"torchnav: {error}"), file=sys.stderr)
    return error.exit_code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="torchnav")
    parser.add_argument("question", choices=[*_ANSWERS])
    parser.add_argument("--tree")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--dot", action="store_true")
    parser.add_argument("--svg", action="store_true")
    parser.add_argument("--order", action="store_true")
    parser.add_argument("--to", default="")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("what")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    return parser


def _check_exists(options: argparse.Namespace) -> None:
    """Raises TypeError for a script that is not there, before torch is loaded."""
    script = options.what if options.question == "why" else _split(options.what)[0]
    try:
        os.stat(script or os.curdir)
    except OSError as error:
        raise TypeError(f"{script}: {error.strerror or error}") from error


def _inspection(options: argparse.Namespace) -> str:
    script, name = _split(options.what)
    with _OUTPUT(sys.stderr):
        value = _value(name, _run(script, options.arguments) if script else _torch())
    from navigator.objects.tensor import inspect

    found = inspect(value, options.tree)
    return found.as_json() if options.json else str(found)


def _graph(options: argparse.Namespace) -> str:
    from navigator.objects.graph import Lines, variables
    from navigator.objects.linked_graph import linked
    from navigator.text.graphs import chain_lines

    script, name = _split(options.what)
    lines = Lines(ends=not name)
    with _OUTPUT(sys.stderr):
        tensor, names = _loss(script, name, lines, options.arguments)
        found = linked(tensor, variables(names), lines.of, tree=options.tree, run=options.order)
    if options.to:
        checked = _checked(options, script, name) if options.check else []
        return "\n".join([*chain_lines(found, options.to), *checked])
    if options.svg:
        return found.svg()
    return found.as_json() if options.json else found.dot() if options.dot else str(found)


def _checked(options: argparse.Namespace, script: str, name: str) -> list[str]:
    """Compares the variable's gradient with differences of the loss in new runs."""
    from navigator.objects.graph import Lines
    from navigator.objects.numeric import check
    from navigator.text.graphs import check_lines

    if not script:
        raise TypeError("--check runs a program again: name a script")

    def run(mode: Any) -> tuple[Any, Mapping[str, Any]]:
        with _OUTPUT(sys.stderr), mode:
            return _loss(script, name, Lines(ends=not name), options.arguments)

    return [*check_lines(check(run, options.to))]


def _cause(options: argparse.Namespace) -> str:
    os.environ["TORCH_SHOW_CPP_STACKTRACES"] = "1"  # names the line of C++ and the operators
    os.environ["TORCH_DISABLE_ADDR2LINE"] = "1"  # in seconds
    from indexes.queries.index import Index
    from indexes.source.source import Source
    from navigator.objects.graph import variables
    from navigator.objects.why import explain
    from navigator.objects.writes import Writes

    writes = Writes()
    error = _error(options.what, options.arguments, writes)
    if error is None:
        return "it ended without an error"
    names = variables(_variables_of(error))
    found = explain(error, writes, names, Index.open(Source.find(options.tree)))
    return found.as_json() if options.json else str(found)


def _error(script: str, arguments: list[str], writes: Writes) -> BaseException | None:
    """The error that ends a program while its writes are recorded, or None."""
    try:
        with _OUTPUT(sys.stderr), writes:
            _started(script, arguments)
    except SystemExit as error:
        return error if error.code else None
    except Exception as error:  # noqa: BLE001 - whatever the program raises is asked about
        return error
    return None


def _variables_of(error: BaseException) -> dict[str, Any]:
    """The variables of all frames in an error's traceback, outermost first."""
    names: dict[str, Any] = {}
    for frame, _ in traceback.walk_tb(error.__traceback__):
        names |= {**frame.f_globals, **frame.f_locals}
    return names


def _loss(
    script: str, name: str, lines: Lines, arguments: list[str]
) -> tuple[Any, Mapping[str, Any]]:
    """The requested tensor, or that of the first ``backward``, and the variables there."""
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
    """The script and the name in it; one of them is empty for an expression or a bare script."""
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


def _started(script: str, arguments: list[str]) -> dict[str, Any]:
    """Runs a program as Python would; returns its global names."""
    sys.argv = [script, *arguments]
    sys.path.insert(0, str(Path(script).resolve().parent))
    return runpy.run_path(script, run_name="__main__")


def _run(script: str, arguments: list[str]) -> dict[str, Any]:
    """The global names of a program; its own errors are shown as Python does."""
    try:
        return _started(script, arguments)
    except (Exception, SystemExit) as error:
        if not isinstance(error, SystemExit):
            traceback.print_exc()
        raise TypeError(f"{script} ended with {type(error).__name__}: {error}") from error


_ANSWERS: dict[str, Callable[[argparse.Namespace], str]] = {
    "inspect": _inspection,
    "graph": _graph,
    "why": _cause,
}
