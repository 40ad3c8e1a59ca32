"""``torchnav diff``: differences between two versions of PyTorch."""

from __future__ import annotations

import contextlib
from functools import partial

import click

from indexes.model.errors import SourceError
from indexes.queries.diff.compare import compare, select
from indexes.queries.diff.model import FACETS
from indexes.queries.index import Index
from indexes.queries.naming.keys import known_key
from indexes.queries.naming.resolve import not_found
from indexes.serialize.diff import diff_json
from indexes.source.source import Source
from indexes.source.versions import open_version
from navigator.cli.session import Choice, Settings, pass_settings, places_option
from navigator.cli.terminal import ProgressLine
from navigator.text.diff import diff_lines, markdown_lines

_FACETS = Choice(tuple(FACETS))


@click.command()
@click.argument("before")
@click.argument("after", required=False)
@click.option("--op", "ops", multiple=True, metavar="NAME", help="Only this operator; repeatable.")
@click.option("--only", multiple=True, type=_FACETS, help="Only this facet; repeatable.")
@click.option("--key", metavar="KEY", help="Only dispatch entries, kernels and stubs of this key.")
@click.option("--breaking", is_flag=True, help="Only what breaks callers, by PyTorch's rules.")
@click.option("--markdown", is_flag=True, help="Write Markdown.")
@places_option
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
) -> None:
    """Compare version BEFORE with version AFTER, or with the tree as it is.

    A version is a tag, a branch or a commit of the tree's repository, a folder, or `wheel`
    for the installed torch. Commits are read from git; the work tree stays as it is.
    """
    one, other = _both(settings, before, after)
    with contextlib.closing(one), contextlib.closing(other):
        found = compare(one, other, [facet for facet in FACETS if not only or facet in only])
        names = [name for op in ops for name in _overloads(op, one, other)]
        key = known_key(key, other) if key else None
        found = select(found, names, key, breaking)
    settings.answer(
        lambda: diff_json(found), lambda: markdown_lines(found) if markdown else diff_lines(found)
    )


def _both(settings: Settings, before: str, after: str | None) -> tuple[Index, Index]:
    around = _revisions_source(settings)
    other = open_version(after, around) if after else settings.source()  # raises if there is none
    with ProgressLine() as progress:
        opened = partial(Index.open, cache=settings.cache, progress=progress)
        return opened(open_version(before, around)), opened(other)


def _revisions_source(settings: Settings) -> Source | None:
    """The tree whose revisions are named; two folders need none."""
    try:
        return settings.source()
    except SourceError:
        if settings.tree:
            raise
        return None


def _overloads(name: str, *indexes: Index) -> list[str]:
    """The overloads of a name in either version. Raises NotFound."""
    matches = [index.resolve(name) for index in indexes]
    found = [overload for match in matches for overload in match.overloads]
    if not found:
        raise not_found(matches[0], f"neither version has an operator named {name!r}")
    return list(dict.fromkeys(found))
