"""``torchnav key``: what a dispatch key is for, who sets it, what is registered for it."""

from __future__ import annotations

import click

from indexes.serialize.dispatch import key_json
from navigator.cli.session import Settings, json_option, pass_settings
from navigator.text.answers import source_lines
from navigator.text.dispatch_key import key_lines


@click.command()
@click.argument("name")
@click.option("--limit", default=8, show_default=True, type=click.IntRange(0), help="Of each list.")
@json_option
@pass_settings
def key(settings: Settings, name: str, limit: int) -> None:
    """What a dispatch key is for, who puts it into sets, and what is registered for it.

    NAME is a runtime key (AutocastCUDA), a functionality (AutogradFunctionality) or an alias
    (CompositeImplicitAutograd), which says for which runtime keys it stands.
    """
    card = settings.index().key(name)
    settings.answer(
        lambda: key_json(card, limit),
        lambda: [*key_lines(card, limit), "", *source_lines(card.source)],
    )
