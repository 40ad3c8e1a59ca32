"""``torchnav diff``: what two versions of PyTorch differ in."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click

from indexes.model.errors import NotFound, SourceError
from indexes.queries.diff.model import FACETS
from navigator.cli.commands.common import (
    ProgressLine,
    Settings,
    json_option,
    pass_settings,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from indexes.queries.index import Index
    from indexes.source.source import Source

_FACETS = click.Choice(FACETS)


@click.command()
@click.argument("before")
@click.argument("after", required=False)
@click.option("--op", "ops", multiple=True, metavar="NAME", help="Only this operator; repeatable.")
@click.option("--only", multiple=True, type=_FACETS, help="Only this facet; repeatable.")
@click.option("--key", metavar="KEY", help="Only dispatch entries, kernels and stubs of this key.")
@click.option("--breaking", is_flag=True, help="Only what breaks callers, by PyTorch's rules.")
@click.option("--markdown", is_flag=True, help="Write Markdown.")
@json_option
@pass_settings
def diff(
    settings: Settings,
    before: str,
    after: str | None,
    ops: tuple[str, ...],
    only: tuple[str, ...],
    key: str | None,
    breaking: bool,
    markdown: bool,
) -> int:
    """What differs from version BEFORE to version AFTER, or to the tree as it is.

    A version is a tag, a branch or a commit of the tree's repository, a folder, or `wheel`
    for the installed torch. Commits are read from git; the work tree stays as it is.
    """
    from indexes.queries.diff.compare import compare, select

    with contextlib.ExitStack() as open_:
        one, other = (
            open_.enter_context(contextlib.closing(i)) for i in _both(settings, before, after)
        )
        facets = [facet for facet in FACETS if not only or facet in only]
        found = compare(one, other, facets)
        names = [name for op in ops for name in _overloads(op, one, other)]
        found = select(found, names, key, breaking)
    if settings.json:
        from indexes.serialize.diff import diff_json

        write_json(diff_json(found))
    else:
        from navigator.text.diff import diff_lines, markdown_lines

        write_lines(markdown_lines(found) if markdown else diff_lines(found))
    return 0


def _both(settings: Settings, before: str, after: str | None) -> list[Index]:
    from indexes.queries.index import Index
    from indexes.source.versions import open_version

    around = _around(settings)
    if after is None and around is None:
        around = settings.source()  # says what is missing
    sources = [open_version(before, around)]
    sources.append(open_version(after, around) if after else _given(around))
    with ProgressLine() as progress:
        return [Index.open(source, settings.cache, progress=progress) for source in sources]


def _given(around: Source | None) -> Source:
    assert around is not None
    return around


def _around(settings: Settings) -> Source | None:
    """The tree whose revisions the names may be; two folders need none."""
    try:
        return settings.source()
    except SourceError:
        if settings.tree:
            raise
        return None


def _overloads(name: str, *indexes: Index) -> list[str]:
    """The overloads that a name means in either version. Raises NotFound."""
    matches = [index.resolve(name) for index in indexes]
    found = [overload for match in matches for overload in match.overloads]
    if not found:
        near = tuple(s for match in matches for s in match.suggestions)
        raise NotFound(f"no operator is named {name!r} in either version", near)
    return list(dict.fromkeys(found))
