"""``torchnav clone``: fetch PyTorch's source."""

from __future__ import annotations

import click

from indexes.model.errors import Progress
from indexes.model.vocabulary import SCHEMA_VERSION
from navigator.cli.clone_source import PYTORCH, plan
from navigator.cli.clone_source import clone as fetch
from navigator.cli.session import Settings, json_option, pass_settings
from navigator.cli.terminal import ProgressLine
from navigator.text.clean import clean


@click.command()
@click.argument("ref", required=False)
@click.option("--url", default=PYTORCH, show_default=True, help="The repository to clone from.")
@click.option("--history", is_flag=True, help="All commits, for authors and changes (large).")
@json_option
@pass_settings
def clone(settings: Settings, ref: str | None, url: str, history: bool) -> None:
    """Fetch PyTorch's source at REF: a tag, branch or commit; default: that of the installed torch.

    The clone is shallow and sparse: it has only what torchnav reads. Rerun the command to resume
    after an interruption. Other commands find the clone by themselves.
    """
    with ProgressLine() as line:
        request = plan(ref, url, history)
        record = fetch(request, settings.cache, lambda *parts: line(Progress(*parts)))
    named = {"root": str(record.root), "ref": record.ref, "commit": record.commit}
    settings.answer(
        lambda: {"schema_version": SCHEMA_VERSION, **named},
        lambda: [f"cloned {clean(record.ref)} at {record.commit}", f"  in {record.root}"],
    )
