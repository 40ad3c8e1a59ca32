"""``torchnav inspect``, ``graph``, ``why``: examine live objects in the Python that has torch."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import click

from indexes.model.errors import NAME_CHARACTERS, SourceError, TorchnavError, UsageError
from indexes.queries.pasted import pasted, without_table
from indexes.source.files import read_text
from indexes.source.torch_install import target_python
from navigator.cli.commands.export_trace import linker_of
from navigator.cli.commands.op import op
from navigator.cli.session import Settings, completed, pass_settings, places_option
from navigator.live.python_process import own_command, status_words
from navigator.trace.readers import read_trace
from navigator.trace.readers.packed import Content
from navigator.trace.trace import BadTrace
from navigator.trace.why import explain_trace

_PROGRAM = {"ignore_unknown_options": True}


@click.command(context_settings=_PROGRAM)
@click.argument("what", shell_complete=completed("files"))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@places_option
@pass_settings
def inspect(settings: Settings, what: str, arguments: tuple[str, ...]) -> int:
    """Show every member of a live tensor, as the source declares it, with its value.

    WHAT is an expression, such as `torch.ones(2, 3).t()`, or SCRIPT.py:NAME. torchnav runs the
    script with ARGUMENTS and then evaluates NAME, which can be an expression too.
    """
    return _run_in_target_python(settings, "inspect", (), what, arguments)


@click.command(context_settings=_PROGRAM)
@click.argument("what", shell_complete=completed("files"))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.option("--to", default="", metavar="NAME", help="Show the chain rule for one variable.")
@click.option(
    "--check", is_flag=True, help="With --to: check the gradient by finite differences of the loss."
)
@click.option(
    "--order", is_flag=True, help="Run the backward pass and show the order of its nodes."
)
@click.option("--dot", is_flag=True, help="Write Graphviz DOT.")
@click.option("--svg", is_flag=True, help="Write SVG, drawn by Graphviz: ... > graph.svg")
@places_option
@pass_settings
def graph(
    settings: Settings,
    what: str,
    arguments: tuple[str, ...],
    to: str,
    check: bool,
    order: bool,
    dot: bool,
    svg: bool,
) -> int:
    """Show the graph of a backward pass: nodes, formulas, saved variables, lines that made them.

    WHAT is SCRIPT.py, which is run with ARGUMENTS up to its first `backward()`; or
    SCRIPT.py:NAME; or an expression.
    """
    if check and not to:
        raise UsageError("--check needs one variable: name it with --to")
    if settings.places and (to or dot or svg):
        raise UsageError("--vimgrep and --link list the places of the whole graph")
    flags = {"--check": check, "--order": order, "--dot": dot, "--svg": svg}
    options = (*(["--to", to] if to else []), *(name for name, on in flags.items() if on))
    return _run_in_target_python(settings, "graph", options, what, arguments)


@click.command(context_settings=_PROGRAM)
@click.argument("script", shell_complete=completed("files"))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@places_option
@pass_settings
def why(settings: Settings, script: str, arguments: tuple[str, ...]) -> int:
    """Explain why a program failed.

    SCRIPT is run again with ARGUMENTS; a recording by `torchnav trace` is only read, and so is the
    text of an error, pasted or in a log: it is answered as by `torchnav op`. For
    "modified by an inplace operation", it shows which line wrote to a value that the backward pass
    needed, through which view, and which formula needed it, without anomaly mode. For other errors
    it shows the call that failed, its tensors, the line of PyTorch that raised the error, and the
    operators in between.
    """
    if _is_recording(script):
        return _why_recorded(settings, Path(script))
    if text := _pasted_error(script):
        return int(click.get_current_context().invoke(op, name=text))
    return _run_in_target_python(settings, "why", (), script, arguments)


def _is_recording(path: str) -> bool:
    """Whether a file holds JSON, possibly compressed; a Python program does not start that way."""
    if path.endswith(".py"):
        return False
    try:
        return Content(Path(path)).head(64).lstrip()[:1] in (b"[", b"{")
    except (OSError, BadTrace):
        return False


def _pasted_error(given: str) -> str:
    """The text of an error, given itself or as a log that ends in it; empty for a program."""
    text = given
    if os.path.exists(given):
        with contextlib.suppress(OSError, SourceError):
            text = "" if given.endswith(".py") else read_text(given)
    # A recording may have gigabytes.
    end = without_table(text[-4 * NAME_CHARACTERS :])[-NAME_CHARACTERS:]
    is_text = text is given and ("\n" in given or len(given.split()) > _WORDS)
    return end if is_text or pasted(end).raised else ""


_WORDS = 4
"""Programs have names of at most as many words."""


def _why_recorded(settings: Settings, path: Path) -> int:
    trace = read_trace(path)
    linker = linker_of(settings, trace)
    found = explain_trace(trace, linker)
    if settings.json:
        _write_json(settings, found.as_json())
    else:
        settings.terminal.write(str(found).splitlines(), held=True)
    return 0


def _run_in_target_python(
    settings: Settings, question: str, options: Sequence[str], what: str, arguments: Sequence[str]
) -> int:
    """Runs the program and the question in the target Python; returns its exit code."""
    target = target_python()
    if target.torch is None:
        raise SourceError("no Python with torch was found: name one with --python")
    words = [question, *(["--tree", settings.tree] if settings.tree else []), *options]
    words += ["--json"] if settings.json else []
    command = own_command(target.path, "navigator.objects.command", *words, what, *arguments)
    variables = {"PYTHONFAULTHANDLER": "1"}  # Python reports where it crashed
    variables |= {"TORCHNAV_CACHE": str(settings.cache)} if settings.cache else {}
    out = subprocess.PIPE if settings.places else None
    done = subprocess.run(command, env={**os.environ, **variables}, check=False, stdout=out)
    if done.returncode < 0:
        end = status_words(done.returncode)
        raise TorchnavError(f"{what}: {target.path}, which ran it, was {end}")
    if done.stdout and done.stdout.startswith(b"{"):
        _write_json(settings, done.stdout.decode())
    return done.returncode


def _write_json(settings: Settings, answer: str) -> None:
    """Prints JSON text, or just the places in it."""
    if settings.places:
        settings.write(json.loads(answer))
    else:
        settings.terminal.write_data((answer,))
