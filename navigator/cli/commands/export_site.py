"""``torchnav export site``: pages of every operator, as plain files."""

from __future__ import annotations

from pathlib import Path

import click

from indexes.model.errors import Progress
from indexes.model.vocabulary import SCHEMA_VERSION
from navigator.cli.session import ProgressLine, Settings, json_option, pass_settings, say
from navigator.text.clean import clean

_MISSING = 5


@click.command("site")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@json_option
@pass_settings
def site(settings: Settings, folder: Path) -> None:
    """A site of the tree in FOLDER: a page for each operator, lists by Python name, grad_fn, kernel
    file, dispatch key and error text, and a search that needs no server.

    The pages stand in a folder of the tree's version and have the same addresses in every version.
    """
    from navigator.site.build import build_site

    index = settings.index()
    with ProgressLine() as line:
        built = build_site(index, folder, lambda *parts: line(Progress(*parts)))
    for one in built.missing[:_MISSING]:
        say(f"torchnav: no page of {one}")
    if len(built.missing) > _MISSING:
        say(f"torchnav: and of {len(built.missing) - _MISSING:,} more operators")
    told = {"folder": str(built.folder), "pages": built.pages, "bytes": built.size}
    settings.answer(
        lambda: {"schema_version": SCHEMA_VERSION, **told, "missing": [*built.missing]},
        lambda: [
            f"{built.pages:,} pages, {built.size / 1e6:.0f} MB",
            f"  {clean(str(built.folder / 'index.html'))}",
        ],
    )
