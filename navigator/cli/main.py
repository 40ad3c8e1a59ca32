"""The ``torchnav`` command: the table of sub-commands, and the handling of errors, interrupts and
closed pipes.

Sub-commands are imported when they run, so that ``torchnav op`` loads no screen, git, tree-sitter,
YAML or torch.
"""

from __future__ import annotations

import contextlib
import gc
import io
import os
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import takewhile
from typing import Any, NoReturn

import click

from indexes.model.errors import SourceError, UsageError
from indexes.model.regex import regex
from navigator import __version__
from navigator.cli.session import (
    EXIT_INTERRUPTED,
    Settings,
    guarded,
    say,
    source_options,
    write_error,
)

EXIT_USAGE = 2
EXIT_CODES = {
    0: "found",
    1: "not found",
    2: "wrong usage",
    3: "no source or index",
    130: "interrupted",
}

COMMANDS = {
    "op": ("op:op", "What computes an operator on each device."),
    "find": ("find:find", "Search operators, symbols and files."),
    "at": ("find:at", "What is at FILE:LINE."),
    "uses": ("find:uses", "References: registrations, stubs, operators."),
    "callers": ("impact:callers", "Callers, line by line."),
    "impact": ("impact:impact", "Downstream effects: operators, APIs, tests."),
    "affected": ("impact:affected", "What your changes affect, with tests to run."),
    "table": ("table:table", "The dispatch table of an operator, with reasons."),
    "key": ("table:key", "A dispatch key: what sets it, what runs for it."),
    "generated": ("generated:generated", "What torchgen writes for an operator."),
    "explain": ("explain:explain", "Explain a YAML field or a macro."),
    "kernel": ("kernel:kernel", "Find a device kernel's source by its name."),
    "map": ("map:map_", "What each folder contains; the path of a call."),
    "tensorimpl": ("internals:tensorimpl", "The data members of TensorImpl."),
    "engine": ("internals:engine", "The functions of the autograd engine."),
    "inspect": ("inspect:inspect", "A live tensor, member by member."),
    "graph": ("inspect:graph", "The backward graph of a program."),
    "why": ("inspect:why", "Explain why a program failed."),
    "lab": ("lab:lab", "Run a lab: a short program on a part of PyTorch."),
    "trace": ("trace:trace", "Run a program and record its operators."),
    "open": ("export_trace:open_", "Show a recorded trace."),
    "ranks": ("ranks:ranks", "Summarise the traces of many ranks."),
    "contribute": ("contribute:contribute", "Plan a change: files, tests, reviewers."),
    "pr": ("pr:pr", "Draft a pull request of your changes."),
    "audit": ("audit:audit", "Check the index: coverage and correctness."),
    "gaps": ("gaps:gaps", "Find something to contribute."),
    "diff": ("diff:diff", "Compare two versions."),
    "export": ("export:export", "Export tables as JSON, a trace, or a site."),
    "index": ("index:index", "Build or refresh the index."),
    "clone": ("clone:clone", "Fetch PyTorch's source."),
    "mcp": ("mcp:mcp", "Serve coding agents (Model Context Protocol)."),
    "completion": ("doctor:completion", "Print completion for bash, zsh or fish."),
    "doctor": ("doctor:doctor", "Check your setup."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they run, and not for ``--help``."""

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        """``table`` maps each command to its function, ``module:function`` of
        ``navigator.cli.commands``, and its line of help."""
        super().__init__(*args, **kwargs)
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        module, _, function = self.table[cmd_name][0].partition(":")
        command = getattr(import_module(f"navigator.cli.commands.{module}"), function)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self.table.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in self.table:
            ctx.fail(f"No such command {args[0]!r}. {self._hint(args[0])}")
        name, command, rest = super().resolve_command(ctx, args)
        # The arguments of a program that a command runs stay as they are.
        runs = command is not None and command.context_settings.get("ignore_unknown_options")
        return name, command, rest if runs else _texts_last(rest)

    def _hint(self, name: str) -> str:
        from indexes.queries.naming.near import near

        close = near(name, self.table, limit=2)
        return f"Did you mean {' or '.join(close)}?" if close else f"Try: torchnav op {name}"


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@source_options
@click.version_option(__version__, prog_name="torchnav", message="%(prog)s %(version)s")
@click.pass_context
def torchnav(context: click.Context) -> int:
    """Where in PyTorch's source does this happen?

    Without a command, opens the screen. Every command that answers takes --json.
    Exit codes: 0 found, 1 not found, 2 usage, 3 no source or index, 130 interrupted.
    """
    if context.invoked_subcommand is None:
        return _open_screen(context.ensure_object(Settings))
    return 0


def _open_screen(settings: Settings) -> int:
    from navigator.cli.terminal import why_no_screen

    if reason := why_no_screen():
        raise click.UsageError(f"{reason}, use a command such as `torchnav op add`")
    from navigator.tui.app import run as open_screen

    tree = settings.tree
    try:
        settings.source()
    except SourceError as error:
        from navigator.tui.start import ask_for_source

        named = settings.tree or os.environ.get("TORCHNAV_CHECKOUT")
        tree = ask_for_source(str(error) if named else "", settings.cache)
        if tree is None:
            return EXIT_INTERRUPTED
    return open_screen(tree, settings.cache, extensions=settings.extensions())


_OBJECTS = 20_000
"""The garbage collector's threshold, instead of 700: answers have few cycles."""


def run() -> NoReturn:
    """``main`` as a process."""
    gc.set_threshold(_OBJECTS)
    sys.excepthook = _report_defect
    interruptible = (
        signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    )  # else a shell disabled ctrl+c
    if interruptible:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    status = main()
    if interruptible:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(status)


def _report_defect(*found: Any) -> None:
    from navigator.cli.log import report_defect

    report_defect(*found)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line; returns its exit code. ``arguments`` default to ``sys.argv``."""
    if "_TORCHNAV_COMPLETE" in os.environ:  # click's protocol for completion in shells
        torchnav.main(prog_name="torchnav")
    settings = Settings()
    words = sys.argv[1:] if arguments is None else arguments
    with contextlib.ExitStack() as stack:
        return guarded(lambda: _run(words, settings, stack), settings)


@contextlib.contextmanager
def parsed(arguments: Sequence[str]) -> Iterator[tuple[Settings, click.Context | None]]:
    """The settings and the command of a command line, without running it; the command is None for
    the screen. While the block runs, its Python is chosen. Errors are not printed: ``main`` does
    that."""
    settings = Settings()
    with contextlib.ExitStack() as stack:
        _choose_python(stack)
        words = list(arguments)
        context = torchnav.make_context("torchnav", [*words], obj=settings, resilient_parsing=True)
        stack.enter_context(context)
        rest = context.args
        name = words[-len(rest) - 1] if len(words) > len(rest) else ""
        command = torchnav.get_command(context, name)
        if command is None:
            yield settings, None
        else:
            inner = command.make_context(name, rest, context, resilient_parsing=True)
            yield settings, stack.enter_context(inner)


def _choose_python(stack: contextlib.ExitStack) -> None:
    """Choose the config file's Python until the stack ends; ``--python`` overrides it."""
    from indexes.source.source import config_path

    if os.path.exists(path := config_path()):
        from indexes.source.torch_install import choose_python
        from navigator.sources import configured_python

        with contextlib.suppress(SourceError):  # reported by later readers of the file
            stack.callback(choose_python, "", "")
            choose_python(configured_python(path), "config.toml")


def _run(arguments: Sequence[str], settings: Settings, stack: contextlib.ExitStack) -> int:
    for argument in arguments:
        if not argument.isascii() and argument != argument.encode("utf-8", "replace").decode():
            raise UsageError(f"an argument is not UTF-8: {argument}")
    _choose_python(stack)
    # Not torchnav.main(): it would turn an interrupt or a closed pipe into exit code 1.
    try:
        with torchnav.make_context("torchnav", list(arguments), obj=settings) as context:
            result = torchnav.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        # click refuses an unknown option or command before it has stored those that it knows.
        settings.json = settings.json or "--json" in takewhile("--".__ne__, arguments)
        write_error(UsageError(error.format_message()), settings)
        message = io.StringIO()
        error.show(message)
        for line in message.getvalue().splitlines():
            say(line)
        return EXIT_USAGE
    except click.Abort:
        return EXIT_INTERRUPTED
    return result if isinstance(result, int) else 0


_PASTED = regex(r"-(?!-?[A-Za-z0-9]|-?\Z)")


def _texts_last(arguments: Sequence[str]) -> list[str]:
    """The arguments, with pasted texts that begin with a dash, as ``----> 3 f(x)`` and ``- func:``,
    behind ``--``, since they are no options."""
    texts = [one for one in arguments if _PASTED.match(one)] if "--" not in arguments else []
    return [*(one for one in arguments if one not in texts), *(["--"] if texts else []), *texts]
