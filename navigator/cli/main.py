"""The ``torchnav`` command: which sub-commands there are, and what every one of them does
about errors, interrupts and closed pipes.

Sub-commands are imported when they run: ``torchnav op`` starts without the screen, git,
tree-sitter, YAML or torch.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import NamedTuple, NoReturn

import click

from indexes.model.errors import UsageError
from navigator.cli.commands.common import Settings, source_options, version
from navigator.cli.session import EXIT_INTERRUPTED, guarded
from navigator.cli.streams import say

EXIT_USAGE = 2


class _Command(NamedTuple):
    module: str
    attribute: str
    summary: str


_COMMANDS = {
    "op": _Command(
        "navigator.cli.commands.op", "op", "The chain of an operator, schema to kernel."
    ),
    "find": _Command("navigator.cli.commands.find", "find", "Search operators, symbols and files."),
    "at": _Command("navigator.cli.commands.find", "at", "What stands at FILE:LINE."),
    "uses": _Command("navigator.cli.commands.find", "uses", "Where a symbol is used."),
    "callers": _Command(
        "navigator.cli.commands.impact", "callers", "Who uses a symbol, line by line."
    ),
    "impact": _Command(
        "navigator.cli.commands.impact", "impact", "What is reached if a symbol changes."
    ),
    "affected": _Command(
        "navigator.cli.commands.impact", "affected", "What your changes affect, with tests to run."
    ),
    "table": _Command(
        "navigator.cli.commands.table", "table", "The dispatch table of an operator, and why."
    ),
    "kernel": _Command(
        "navigator.cli.commands.kernel", "kernel", "The source of a device kernel's name."
    ),
    "tensorimpl": _Command(
        "navigator.cli.commands.internals", "tensorimpl", "The data members of TensorImpl."
    ),
    "engine": _Command(
        "navigator.cli.commands.internals", "engine", "The functions of the autograd engine."
    ),
    "trace": _Command("navigator.cli.commands.trace", "trace", "Run a program and record its ops."),
    "open": _Command("navigator.cli.commands.trace", "open_", "Show a recorded trace."),
    "ranks": _Command(
        "navigator.cli.commands.ranks", "ranks", "Summarise the traces of many ranks."
    ),
    "contribute": _Command(
        "navigator.cli.commands.contribute", "contribute", "What a change asks for, as a checklist."
    ),
    "audit": _Command(
        "navigator.cli.commands.audit", "audit", "How much of the tree is linked, and how well."
    ),
    "gaps": _Command(
        "navigator.cli.commands.gaps", "gaps", "What is missing: openings for a contribution."
    ),
    "diff": _Command("navigator.cli.commands.diff", "diff", "What two versions differ in."),
    "export": _Command("navigator.cli.commands.export", "export", "Whole tables, one JSON a line."),
    "index": _Command("navigator.cli.commands.index", "index", "Build or refresh the index."),
    "clone": _Command("navigator.cli.commands.clone", "clone", "Fetch PyTorch's source."),
    "doctor": _Command(
        "navigator.cli.commands.doctor", "doctor", "What is found and what is missing."
    ),
}


class _LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for, and not for ``--help``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = _COMMANDS.get(cmd_name)
        if entry is None:
            return None
        command = getattr(importlib.import_module(entry.module), entry.attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in _COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in _COMMANDS:
            ctx.fail(_unknown(args[0]))
        return super().resolve_command(ctx, args)


def _unknown(name: str) -> str:
    from indexes.queries.names import near

    close = near(name, _COMMANDS, limit=2)
    hint = f" Did you mean {' or '.join(close)}?" if close else f" Try: torchnav op {name}"
    return f"No such command {name!r}.{hint}"


@click.group(
    cls=_LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)
@source_options
@click.version_option(version(), prog_name="torchnav", message="%(prog)s %(version)s")
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
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise click.UsageError(
            "the screen needs a terminal; in a pipe, use a command such as `torchnav op add`"
        )
    from navigator.tui.app import run as open_screen

    return open_screen(settings.tree, settings.cache)


def run() -> NoReturn:
    """``main`` as a process of its own."""
    sys.exit(main())


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command line; returns its exit code. ``arguments`` default to ``sys.argv``."""
    if "_TORCHNAV_COMPLETE" in os.environ:  # click's protocol for completion in shells
        torchnav.main(prog_name="torchnav")
    settings = Settings()
    given = sys.argv[1:] if arguments is None else arguments
    return guarded(lambda: _run(given, settings), settings)


def _run(arguments: Sequence[str], settings: Settings) -> int:
    for one in arguments:
        if not one.isascii() and one != one.encode("utf-8", "replace").decode():
            raise UsageError(f"an argument is not UTF-8: {one}")
    # Not torchnav.main(): it would turn an interrupt or a closed pipe into exit code 1.
    try:
        with torchnav.make_context("torchnav", list(arguments), obj=settings) as context:
            result = torchnav.invoke(context)
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        said = io.StringIO()
        error.show(said)
        for line in said.getvalue().splitlines():
            say(line)
        return EXIT_USAGE
    except click.Abort:
        return EXIT_INTERRUPTED
    return result if isinstance(result, int) else 0
