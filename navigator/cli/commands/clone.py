"""``torchnav clone``: fetch PyTorch's source."""

from __future__ import annotations

import click

from navigator.cli.clone_source import PYTORCH
from navigator.cli.commands.common import (
    ProgressLine,
    Settings,
    json_option,
    pass_settings,
    write_json,
    write_lines,
)


@click.command()
@click.argument("ref", required=False)
@click.option("--url", default=PYTORCH, show_default=True, help="The repository to clone from.")
@click.option("--history", is_flag=True, help="All commits, for authors and changes (large).")
@json_option
@pass_settings
def clone(settings: Settings, ref: str | None, url: str, history: bool) -> None:
    """Fetch PyTorch's source at REF, a tag, branch or commit; by default that of the installed
    torch.

    Shallow, sparse and without what torchnav does not read. Run it again to go on after an
    interruption. Other commands then find the clone by themselves.
    """
    from indexes.model.progress import Progress
    from navigator.cli.clone_source import clone as fetch
    from navigator.cli.clone_source import plan

    with ProgressLine() as line:
        record = fetch(
            plan(ref, url, history), settings.cache, lambda *parts: line(Progress(*parts))
        )
    if settings.json:
        write_json(
            {
                "schema_version": 1,
                "root": str(record.root),
                "ref": record.ref,
                "commit": record.commit,
            }
        )
        return
    from navigator.text.clean import clean

    write_lines([f"cloned {clean(record.ref)} at {record.commit}", f"  in {record.root}"])
