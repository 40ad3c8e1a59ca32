"""``torchnav export``: whole tables as JSON lines, and the site."""

from __future__ import annotations

from pathlib import Path

import click

from indexes.model.errors import Progress
from indexes.model.vocabulary import SCHEMA_VERSION
from indexes.serialize.answers import derivative_row_json, dtype_row_json
from indexes.serialize.dispatch import table_row_json
from navigator.cli.main import LazyGroup
from navigator.cli.session import Settings, json_option, pass_settings, say
from navigator.cli.terminal import ProgressLine
from navigator.site.build import build_site
from navigator.text.clean import clean

_TABLES = {
    "kernels": ("export:kernels", "Every kernel that the YAML declares or implies."),
    "stubs": ("export:stubs", "Every registration of a stub."),
    "derivatives": ("export:derivatives", "Every entry of derivatives.yaml."),
    "dtypes": ("export:dtypes", "Every AT_DISPATCH_* with its dtypes."),
    "table": ("export:table", "The dispatch tables of all operators."),
    "site": ("export:site", "A static site: a page for each operator."),
    "trace": ("export_trace:export_trace", "Every row of a trace, linked to its source."),
}


@click.group(cls=LazyGroup, table=_TABLES)
def export() -> None:
    """Export whole tables as JSON, one object a line (see docs/json.md), a trace, or a site."""


@click.command()
@json_option
@pass_settings
def kernels(settings: Settings) -> None:
    """Every (overload, dispatch key) that native_functions.yaml declares or implies."""
    settings.write_rows(settings.index().kernel_rows())


@click.command()
@json_option
@pass_settings
def stubs(settings: Settings) -> None:
    """Every registration of a stub, with the function that it registers."""
    settings.write_rows(settings.index().stub_rows())


@click.command()
@json_option
@pass_settings
def dtypes(settings: Settings) -> None:
    """Every AT_DISPATCH_* in a function, with the dtypes that its macro expands to."""
    settings.write_rows(dtype_row_json(*row) for row in settings.index().dtype_rows())


@click.command()
@json_option
@pass_settings
def table(settings: Settings) -> None:
    """The computed dispatch table of every operator, without the keys that have no kernel."""
    dispatch = settings.index().dispatch
    for op in dispatch.operators():
        slots = dispatch.table(op).slots
        settings.write_rows(table_row_json(op, slot) for slot in slots if slot.kind != "missing")


@click.command()
@json_option
@pass_settings
def derivatives(settings: Settings) -> None:
    """Every entry of derivatives.yaml, with its formulas and the functions they call."""
    index = settings.index()
    for entry in index.derivative_rows():
        settings.write(derivative_row_json(entry, index.formula_functions(entry)))


_MISSING = 5


@click.command("site")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@json_option
@pass_settings
def site(settings: Settings, folder: Path) -> None:
    """Write a static site of the tree into FOLDER.

    It has a page for each operator; lists by Python name, grad_fn, kernel file, dispatch key and
    error text; and a search that needs no server. Pages are in a folder named after the tree's
    version, and have the same addresses in every version.
    """
    index = settings.index()
    with ProgressLine() as line:
        built = build_site(index, folder, lambda *parts: line(Progress(*parts)))
    for one in built.missing[:_MISSING]:
        say(f"torchnav: no page for {one}")
    if len(built.missing) > _MISSING:
        say(f"torchnav: nor for {len(built.missing) - _MISSING:,} more operators")
    summary = {"folder": str(built.folder), "pages": built.pages, "bytes": built.size}
    settings.answer(
        lambda: {"schema_version": SCHEMA_VERSION, **summary, "missing": [*built.missing]},
        lambda: [
            f"{built.pages:,} pages, {built.size / 1e6:.0f} MB",
            f"  {clean(str(built.folder / 'index.html'))}",
        ],
    )
