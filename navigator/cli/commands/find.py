"""``torchnav find``, ``at`` and ``uses``: from text, a place or a symbol to what it is part of."""

from __future__ import annotations

import click

from navigator.cli import questions
from navigator.cli.commands.common import Settings, json_option, pass_settings


@click.command()
@click.argument("text")
@click.option(
    "--limit", default=questions.FIND_LIMIT, show_default=True, type=click.IntRange(1),
    help="At most.",
)  # fmt: skip
@json_option
@pass_settings
def find(settings: Settings, text: str, limit: int) -> None:
    """Search operators, kernels, functions, macros, node classes and files by part of a name."""
    questions.find(settings, text, limit)


@click.command()
@click.argument("symbol")
@click.option(
    "--limit", default=questions.USES_LIMIT, show_default=True, type=click.IntRange(1),
    help="At most.",
)  # fmt: skip
@json_option
@pass_settings
def uses(settings: Settings, symbol: str, limit: int) -> None:
    """Where a symbol is used: calls, registrations, formulas, the operators that reach it."""
    questions.uses(settings, symbol, limit)


@click.command()
@click.argument("place", metavar="FILE:LINE")
@json_option
@pass_settings
def at(settings: Settings, place: str) -> None:
    """Which operator, kernel, formula, stub or member stands at a line.

    FILE is a path in the tree, absolute or relative to the tree or to the current folder.
    """
    questions.at(settings, place)
