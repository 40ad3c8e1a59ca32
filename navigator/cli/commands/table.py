"""``torchnav table``: which kernel an operator runs for each dispatch key, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from indexes.model.errors import NotFound
from indexes.serialize.dispatch import table_json
from navigator.cli.session import Settings, json_option, pass_settings
from navigator.text.answers import source_lines
from navigator.text.table import table_lines

if TYPE_CHECKING:
    from indexes.model.answers import NameMatch
    from indexes.queries.index import Index


@click.command()
@click.argument("name")
@click.option("--overload", metavar="OVERLOAD", help="Show this overload: Tensor, out, default.")
@click.option("--live", is_flag=True, help="Compare with the dispatcher of the installed torch.")
@json_option
@pass_settings
def table(settings: Settings, name: str, overload: str | None, live: bool) -> None:
    """The dispatch table of an operator, computed from the source alone.

    For every runtime key: the kernel, whether it is the key's own, an alias key's or a
    fallback, and the line that registers it. NAME may be any spelling, as for `op`.
    """
    index = settings.index()
    answer = index.table(operator_meant(index, name, overload))
    differences = None
    if live:
        from navigator.live.torch_table import differences as compared

        differences = compared(index, answer)
    settings.answer(
        lambda: table_json(answer, differences),
        lambda: [*table_lines(answer, differences), "", *source_lines(index.info)],
    )


def operator_meant(index: Index, name: str, overload: str | None) -> str:
    """The overload that is meant; a name of another namespace stays as it is."""
    match = index.resolve(name)
    wanted = None if overload is None else overload.replace("default", "")
    found = [o for o in match.overloads if wanted is None or o.partition(".")[2] == wanted]
    if found:
        return found[0]
    if "::" in name and name in index.dispatch.operators():
        return name
    match = index.meant(name)
    raise NotFound(_refusal(match), match.overloads)


def _refusal(match: NameMatch) -> str:
    if match.overloads:
        return f"{match.text} has no such overload"
    kind = match.hits[0].kind if match.hits else match.kind
    return f"{match.text}: {'Python ' * (match.kind == 'python')}{kind}, not an ATen operator"
