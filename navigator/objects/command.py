"""What ``torchnav inspect`` runs in the Python that has torch: an expression, or a program and then
a name in it."""

from __future__ import annotations

import argparse
import contextlib
import runpy
import sys
import traceback
from pathlib import Path

from indexes.model.errors import TorchnavError


def main(arguments: list[str]) -> int:
    """Prints what a tensor holds; the exit code."""
    parser = argparse.ArgumentParser(prog="torchnav inspect")
    parser.add_argument("--tree")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("what")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    try:
        from navigator.objects.tensor import inspect

        with contextlib.redirect_stdout(sys.stderr):  # what the program prints is no answer
            value = _value(given.what, given.arguments)
        found = inspect(value, given.tree)
    except (TorchnavError, TypeError, ImportError) as error:
        print(f"torchnav: {error}", file=sys.stderr)
        return 1
    try:
        print(found.as_json() if given.json else found, flush=True)
    except BrokenPipeError:  # whoever reads has seen enough
        with contextlib.suppress(BrokenPipeError):
            sys.stdout.close()
    return 0


def _value(what: str, arguments: list[str]) -> object:
    """The value of an expression with torch at hand, or of NAME once SCRIPT.py:NAME has run."""
    script, colon, name = what.rpartition(":")
    if colon and script.endswith(".py"):
        names = _run(script, arguments)
    else:
        import torch

        names, name = {"torch": torch}, what
    try:
        return eval(name, names)  # the user asks to run it
    except Exception as error:
        raise TypeError(f"{name}: {type(error).__name__}: {error}") from error


def _run(script: str, arguments: list[str]) -> dict[str, object]:
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
