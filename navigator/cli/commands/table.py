"""``torchnav table``: which kernel an operator runs for each dispatch key, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from indexes.model.dispatch import DispatchTable
from indexes.model.errors import NotFound
from navigator.cli.commands.common import (
    Settings,
    json_option,
    pass_settings,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from indexes.queries.dispatch_compare import Difference
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
    answer = index.table(_operator(index, name, overload))
    differences = None
    if live:
        from navigator.live.torch_table import differences as compared

        differences = compared(index, answer)
    if settings.json:
        _write_json(answer, differences)
        return
    from navigator.text.answers import source_lines
    from navigator.text.table import table_lines

    write_lines(table_lines(answer, differences))
    write_lines(["", *source_lines(index.info)])


def _operator(index: Index, name: str, overload: str | None) -> str:
    """The overload that is meant; a name of another namespace stays as it is."""
    if name in index.dispatch.operators():
        return name
    match = index.resolve(name)
    wanted = None if overload is None else overload.replace("default", "")
    found = [o for o in match.overloads if wanted is None or o.partition(".")[2] == wanted]
    if not found:
        near = match.overloads or match.suggestions
        raise NotFound(f"no operator is named {name!r} here", near)
    return found[0]


def _write_json(answer: DispatchTable, differences: tuple[Difference, ...] | None) -> None:
    from indexes.serialize.answers import table_json

    value = table_json(answer)
    if differences is not None:
        value["differences"] = [
            {
                "key": one.key,
                "live": (
                    {
                        "kind": one.theirs.kind,
                        "fallthrough": one.theirs.fallthrough,
                        "path": one.theirs.path,
                        "line": one.theirs.line,
                    }
                    if one.theirs
                    else None
                ),
                "reason": one.reason,
            }
            for one in differences
        ]
    write_json(value)
