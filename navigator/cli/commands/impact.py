"""``torchnav callers``, ``impact`` and ``affected``: callers of a symbol, effects of a change."""

from __future__ import annotations

import click

from indexes.model.errors import UsageError
from indexes.queries.impact.affected import affected as find_affected
from indexes.queries.impact.answers import Impacts
from indexes.queries.impact.test_commands import MAX_TESTED
from indexes.serialize.impact import affected_json, impact_json
from navigator.cli.session import Settings, completed, pass_settings, places_option
from navigator.text.impact import affected_lines, callers_lines, impact_lines, markdown_lines

_everything = click.option(
    "--all", "everything", is_flag=True, help="List everything, with full paths."
)
_dispatches = click.option(
    "--dispatches",
    default=1,
    show_default=True,
    type=click.IntRange(0, 5),
    help="Follow operator calls to this depth.",
)


def _tested(everything: bool) -> int | None:
    """Number of operators whose tests are listed; None for all."""
    return None if everything else MAX_TESTED


@click.command()
@click.argument("symbol", shell_complete=completed("operators"))
@_everything
@places_option
@pass_settings
def callers(settings: Settings, symbol: str, everything: bool) -> None:
    """List the callers of SYMBOL, line by line.

    SYMBOL is a C++ function, class, macro or stub, an operator, a dotted Python name, FILE:LINE or
    a file of the tree.
    """
    found = Impacts(settings.index()).callers(symbol)
    settings.answer(lambda: impact_json(symbol, found), lambda: callers_lines(found, everything))


@click.command()
@click.argument("symbol", shell_complete=completed("operators"))
@_dispatches
@_everything
@places_option
@pass_settings
def impact(settings: Settings, symbol: str, dispatches: int, everything: bool) -> None:
    """Show the downstream effects of a change of SYMBOL: operators, Python names, tests.

    Each effect has the path to it (calls, stubs, formulas, registrations, with lines) and, if only
    some dispatch keys reach it, those keys. Operators that reach SYMBOL through other operators,
    and only with certain tensors, are counted; --all lists them.
    """
    found = Impacts(settings.index()).impact(symbol, dispatches, most=_tested(everything))
    settings.answer(lambda: impact_json(symbol, found), lambda: impact_lines(found, everything))


@click.command()
@click.argument("commits", required=False, metavar="[A..B]")
@click.option("--since", metavar="REV", help="Compare with this commit instead of HEAD.")
@click.option("--staged", is_flag=True, help="Only what is staged.")
@click.option("--markdown", is_flag=True, help="Write Markdown, for a pull request.")
@_dispatches
@_everything
@places_option
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
    """Show the downstream effects of your changes: operators, Python names, tests to run.

    Compares the working tree, including untracked files, with HEAD, or the commits A..B. Changes of
    white space and comments affect nothing. For changes of documentation, lists the commands that
    build and check it.
    """
    if commits and (since or staged):
        raise UsageError("give A..B, or --since, or --staged")
    tested = _tested(everything)
    found = find_affected(settings.index(), commits or since, None, staged, dispatches, tested)
    settings.answer(
        lambda: affected_json(found),
        lambda: markdown_lines(found) if markdown else affected_lines(found, everything),
    )
