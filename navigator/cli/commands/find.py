"""``torchnav find``, ``at`` and ``uses``: from text, a place or a symbol to what it is part of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from indexes.model.errors import NotFound, UsageError
from indexes.model.regex import regex
from indexes.serialize.answers import envelope
from navigator.cli.session import Settings, json_option, pass_settings, say
from navigator.text.answers import hit_lines, source_lines
from navigator.text.places import place_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexes.model.places import Hit
    from indexes.queries.index import Index

FIND_LIMIT = 50
USES_LIMIT = 200
_AT_MOST = click.IntRange(1)
_PLACE = regex(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)?:?\Z")


@click.command()
@click.argument("text")
@click.option("--limit", default=FIND_LIMIT, show_default=True, type=_AT_MOST, help="At most.")
@json_option
@pass_settings
def find(settings: Settings, text: str, limit: int) -> None:
    """Search operators, kernels, functions, macros, node classes and files by part of a name."""
    index = settings.index()
    hits = index.find(text, limit)
    if not hits:
        raise NotFound(f"nothing matches {text!r}", index.resolve(text).suggestions)
    _write_hits(settings, index, hits, limit)


@click.command()
@click.argument("symbol")
@click.option("--limit", default=USES_LIMIT, show_default=True, type=_AT_MOST, help="At most.")
@json_option
@pass_settings
def uses(settings: Settings, symbol: str, limit: int) -> None:
    """Where a symbol is used: calls, registrations, formulas, the operators that reach it."""
    index = settings.index()
    hits = index.uses(symbol, limit)
    if not hits:
        raise NotFound(f"no use of {symbol!r} found", index.resolve(symbol).suggestions)
    _write_hits(settings, index, hits, limit)


def _write_hits(settings: Settings, index: Index, hits: Sequence[Hit], limit: int) -> None:
    if len(hits) >= limit:
        say(f"torchnav: these are the first {limit}; --limit gives more")
    settings.answer(
        lambda: envelope(index.info, hits=hits),
        lambda: [*hit_lines(hits), *source_lines(index.info)],
    )


@click.command()
@click.argument("place", metavar="FILE:LINE")
@click.option("--all", "everything", is_flag=True, help="List all operators, each way.")
@json_option
@pass_settings
def at(settings: Settings, place: str, everything: bool) -> None:
    """What stands at a line, what it calls, and which operators reach it.

    FILE is a path in the tree, absolute or relative to the tree or to the current folder.
    """
    path, line = _parse(place)
    index = settings.index()
    relative = _in_tree(path, index.info.root)
    places = index.at(relative, line)
    if not places:
        raise NotFound(f"nothing that the index knows stands at {relative}:{line}")
    settings.answer(
        lambda: envelope(index.info, places=places),
        lambda: [*place_lines(places, everything), *source_lines(index.info)],
    )


def _parse(place: str) -> tuple[str, int]:
    found = _PLACE.match(place)
    if not found or int(found["line"]) == 0:
        raise UsageError(f"expected FILE:LINE with a line from 1, not {place!r}")
    return found["path"], int(found["line"])


def _in_tree(path: str, root: str) -> str:
    """The path relative to the tree; it need not exist there."""
    here = os.path.abspath(path)
    for place, top in ((here, root), (os.path.realpath(here), os.path.realpath(root))):
        if _is_in(place, top) and (os.path.isabs(path) or os.path.exists(place)):
            return os.path.relpath(place, top).replace(os.sep, "/")
    if os.path.isabs(path):
        raise UsageError(f"{path} is not in the source tree {root}")
    return os.path.normpath(path).replace(os.sep, "/")


def _is_in(place: str, folder: str) -> bool:
    inside = os.path.join(os.path.normcase(folder), "")
    return os.path.normcase(place).startswith(inside)
