"""``torchnav index``: build the index, bring it up to date, or check it."""

from __future__ import annotations

from pathlib import Path

import click

from navigator.cli.commands.common import Settings, json_option, pass_settings
from navigator.cli.indexing import bring_up

_PATH = click.Path(path_type=Path)


@click.command()
@click.option("--verify", is_flag=True, help="Hash every file instead of trusting file times.")
@click.option("--force", is_flag=True, help="Build anew, whatever is there.")
@click.option("--export", "into", metavar="PATH", type=_PATH, help="Write it as one file to share.")
@click.option("--import", "shared", metavar="PATH", type=_PATH, help="Begin from a shared file.")
@click.option("--list", "listed", is_flag=True, help="Show every index in the cache.")
@click.option("--prune", is_flag=True, help="Remove the indexes that nothing can use.")
@json_option
@pass_settings
def index(
    settings: Settings, verify: bool, force: bool, into: Path | None, shared: Path | None,
    listed: bool, prune: bool,
) -> None:  # fmt: skip
    """Build the index of the tree, or read again what changed in it.

    Other commands do this by themselves. Interrupted, it leaves the old index whole. PATH of
    --export and --import is a file, or a folder that holds those of many versions.
    """
    if listed or prune:
        from navigator.cli.commands.index_shelf import show

        show(settings, prune)
        return
    bring_up(settings, verify, force, into, shared)
