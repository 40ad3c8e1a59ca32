"""``torchnav export``: whole tables, one JSON object a line."""

from __future__ import annotations

import importlib

import click

from navigator.cli.commands.common import Settings, json_option, pass_settings, write_json

_TABLES = ("kernels", "stubs", "derivatives", "dtypes", "table", "trace")


class _ExportGroup(click.Group):
    """``export trace`` lives with the other commands on traces and is imported when it runs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_TABLES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "trace":
            command = importlib.import_module("navigator.cli.commands.trace").export_trace
            assert isinstance(command, click.Command)
            return command
        return super().get_command(ctx, cmd_name)


@click.group(cls=_ExportGroup)
def export() -> None:
    """Whole tables, one JSON object a line, by the contract in docs/json.md."""


@export.command()
@json_option
@pass_settings
def kernels(settings: Settings) -> None:
    """Every (overload, dispatch key) that native_functions.yaml declares or implies."""
    for row in settings.index().kernel_rows():
        write_json(row)


@export.command()
@json_option
@pass_settings
def stubs(settings: Settings) -> None:
    """Every registration of a stub, with the function that it registers."""
    for row in settings.index().stub_rows():
        write_json(row)


@export.command()
@json_option
@pass_settings
def dtypes(settings: Settings) -> None:
    """Every AT_DISPATCH_* in a function, with the dtypes that its macro expands to."""
    from indexes.serialize.answers import dtype_row_json

    for function, dispatch in settings.index().dtype_rows():
        write_json(dtype_row_json(function, dispatch))


@export.command()
@json_option
@pass_settings
def table(settings: Settings) -> None:
    """The computed dispatch table of every operator, without the keys that have no kernel."""
    from indexes.serialize.answers import table_row_json

    dispatch = settings.index().dispatch
    for op in dispatch.operators():
        for slot in dispatch.table(op).slots:
            if slot.kind != "missing":
                write_json(table_row_json(op, slot))


@export.command()
@json_option
@pass_settings
def derivatives(settings: Settings) -> None:
    """Every entry of derivatives.yaml, with its formulas and the functions they call."""
    from indexes.serialize.answers import derivative_row_json

    index = settings.index()
    for entry in index.derivative_rows():
        write_json(derivative_row_json(entry, index.formula_functions(entry)))
