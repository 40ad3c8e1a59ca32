"""``torchnav callers``, ``impact`` and ``affected``: who uses a symbol, what a change reaches."""

from __future__ import annotations

import click

from indexes.model.errors import UsageError
from navigator.cli.commands.common import (
    Settings,
    json_option,
    pass_settings,
    write_json,
    write_lines,
)

_everything = click.option(
    "--all",
    "everything",
    is_flag=True,
    help="List all, with whole ways, and the tests of all operators.",
)
_dispatches = click.option(
    "--dispatches",
    default=1,
    show_default=True,
    type=click.IntRange(0, 5),
    help="How many calls of operators are followed.",
)


def _tested(everything: bool) -> int | None:
    """Of how many operators the tests are listed; all when None."""
    from indexes.queries.impact.endpoints import MAX_TESTED

    return None if everything else MAX_TESTED


@click.command()
@click.argument("symbol")
@_everything
@json_option
@pass_settings
def callers(settings: Settings, symbol: str, everything: bool) -> None:
    """Who uses SYMBOL, with the line of each use.

    SYMBOL is a C++ function, class, macro or stub, an operator, a dotted Python name, FILE:LINE
    or a file of the tree.
    """
    from indexes.queries.impact.answers import Impacts

    found = Impacts(settings.index()).callers(symbol)
    if settings.json:
        from indexes.serialize.impact import impact_json

        write_json(impact_json(symbol, found))
    else:
        from navigator.text.impact import callers_lines

        write_lines(callers_lines(found, everything))


@click.command()
@click.argument("symbol")
@_dispatches
@_everything
@json_option
@pass_settings
def impact(settings: Settings, symbol: str, dispatches: int, everything: bool) -> None:
    """Which operators, Python names and tests are reached if SYMBOL changes.

    Each with the way that leads to it: calls, stubs, formulas, registrations, with lines.
    """
    from indexes.queries.impact.answers import Impacts

    found = Impacts(settings.index()).impact(symbol, dispatches, most=_tested(everything))
    if settings.json:
        from indexes.serialize.impact import impact_json

        write_json(impact_json(symbol, found))
    else:
        from navigator.text.impact import impact_lines

        write_lines(impact_lines(found, everything))


@click.command()
@click.argument("commits", required=False, metavar="[A..B]")
@click.option("--since", metavar="REV", help="Compare with this commit instead of HEAD.")
@click.option("--staged", is_flag=True, help="Only what is staged.")
@click.option("--markdown", is_flag=True, help="As Markdown, for a pull request.")
@_dispatches
@_everything
@json_option
@pass_settings
def affected(
    settings: Settings,
    commits: str | None,
    since: str | None,
    staged: bool,
    markdown: bool,
    dispatches: int,
    everything: bool,
) -> None:
    """Which operators, Python names and tests your changes affect, with commands to run.

    Compares the working tree, untracked files too, with HEAD; or the commits A..B. Changes of
    white space and comments affect nothing.
    """
    if commits and (since or staged):
        raise UsageError("give A..B, or --since, or --staged")
    from indexes.queries.impact.affected import affected as answer

    found = answer(
        settings.index(), commits or since, None, staged, dispatches, _tested(everything)
    )
    if settings.json:
        from indexes.serialize.impact import affected_json

        write_json(affected_json(found))
        return
    from navigator.text.impact import affected_lines, markdown_lines

    write_lines(markdown_lines(found) if markdown else affected_lines(found, everything))
