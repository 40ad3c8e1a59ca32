"""Groups of commands that are imported when they are asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Mapping


class LazyGroup(click.Group):
    """A group whose commands are imported when they are asked for, and not for ``--help``."""

    def __init__(self, *args: Any, table: Mapping[str, tuple[str, str]], **kwargs: Any) -> None:
        """``table`` names each command's function, ``module:function`` of
        ``navigator.cli.commands``, and what it does, for the list of commands."""
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
        return super().resolve_command(ctx, args)

    def _hint(self, name: str) -> str:
        from indexes.queries.naming.near import near

        close = near(name, self.table, limit=2)
        return f"Did you mean {' or '.join(close)}?" if close else f"Try: torchnav op {name}"
