"""``torchnav map``: the contents of a folder, and the path of a call through folders."""

from __future__ import annotations

import click

from indexes.model.errors import NotFound, UsageError
from indexes.queries.code_map import CodeMap
from indexes.queries.index import Index
from indexes.serialize.answers import call_json, folder_json
from navigator.cli.session import Settings, pass_settings, places_option
from navigator.text.answers import source_lines
from navigator.text.code_map import call_lines, folder_lines


@click.command("map")
@click.argument("folder", required=False)
@click.option(
    "--call", metavar="NAME", help="Follow a call of this operator from folder to folder."
)
@click.option(
    "--device", default="cpu", metavar="DEVICE", help="The device for --call: cpu, cuda, mps ..."
)
@click.option(
    "--limit",
    default=15,
    show_default=True,
    type=click.IntRange(0),
    help="Maximum number of files.",
)
@places_option
@pass_settings
def map_(settings: Settings, folder: str | None, call: str | None, device: str, limit: int) -> None:
    """Show what a folder of the tree contains, one level deep, in the tree's own words.

    FOLDER is a path in the tree; default: its root. The counts come from the index.
    """
    if call is not None and folder is not None:
        raise UsageError("give either a folder or --call")
    index = settings.index()
    if call is None:
        found = CodeMap(index).folder(folder or "")
        settings.answer(
            lambda: folder_json(found),
            lambda: [*folder_lines(found, limit), "", *source_lines(index.info)],
        )
        return
    way = CodeMap(index).call(_operator(index, call), device)
    settings.answer(
        lambda: call_json(way), lambda: [*call_lines(way), "", *source_lines(index.info)]
    )


def _operator(index: Index, name: str) -> str:
    match = index.meant(name)
    if not match.overloads:
        raise NotFound(f"{match.text} is not an operator", match.suggestions)
    return match.overloads[0]
