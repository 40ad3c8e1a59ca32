"""``torchnav find``, ``at`` and ``uses``: from text, a place or a symbol to what it is part of."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from indexes.errors import NotFound, UsageError
from navigator.commands.common import (
    Settings,
    json_option,
    pass_settings,
    say,
    write_json,
    write_lines,
)

if TYPE_CHECKING:
    from indexes.model import Hit
    from indexes.query import Index

_PLACE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?::\d+)?:?\Z")


@click.command()
@click.argument("text")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="At most.")
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
@click.option("--limit", default=200, show_default=True, type=click.IntRange(1), help="At most.")
@json_option
@pass_settings
def uses(settings: Settings, symbol: str, limit: int) -> None:
    """Where a symbol is used: calls, registrations, formulas, the operators that reach it."""
    index = settings.index()
    hits = index.uses(symbol, limit)
    if not hits:
        raise NotFound(f"no use of {symbol!r} found", index.resolve(symbol).suggestions)
    _write_hits(settings, index, hits, limit)


@click.command()
@click.argument("place", metavar="FILE:LINE")
@json_option
@pass_settings
def at(settings: Settings, place: str) -> None:
    """Which operator, kernel, formula, stub or member stands at a line.

    FILE is a path in the tree, absolute or relative to the tree or to the current folder.
    """
    path, line = _parse(place)
    index = settings.index()
    relative = _in_tree(path, Path(index.info.root))
    places = index.at(relative, line)
    if not places:
        raise NotFound(f"nothing that the index knows stands at {relative}:{line}")
    if settings.json:
        from indexes.contract import envelope, place_json

        write_json(envelope(index.info, places=[place_json(one) for one in places]))
    else:
        from navigator.plaintext import place_lines, source_lines

        write_lines([*place_lines(places), *source_lines(index.info)])


def _parse(place: str) -> tuple[str, int]:
    found = _PLACE.match(place)
    if not found or int(found["line"]) == 0:
        raise UsageError(f"expected FILE:LINE with a line from 1, not {place!r}")
    return found["path"], int(found["line"])


def _in_tree(path: str, root: Path) -> str:
    """The path relative to the tree; it need not exist there."""
    here = Path(os.path.abspath(path))
    real_root = Path(os.path.realpath(root))
    for candidate, top in ((here, root), (Path(os.path.realpath(here)), real_root)):
        if candidate.is_relative_to(top) and (os.path.isabs(path) or candidate.exists()):
            return candidate.relative_to(top).as_posix()
    if os.path.isabs(path):
        raise UsageError(f"{path} is not in the source tree {root}")
    return Path(os.path.normpath(path)).as_posix()


def _write_hits(settings: Settings, index: Index, hits: Sequence[Hit], limit: int) -> None:
    if len(hits) >= limit:
        say(f"torchnav: these are the first {limit}; --limit gives more")
    if settings.json:
        from indexes.contract import envelope, hit_json

        write_json(envelope(index.info, hits=[hit_json(hit) for hit in hits]))
    else:
        from navigator.plaintext import hit_lines, source_lines

        write_lines([*hit_lines(hits), *source_lines(index.info)])
