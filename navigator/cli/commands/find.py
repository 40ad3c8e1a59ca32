"""``torchnav find``, ``at`` and ``uses``: search by text, place and symbol."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

import click

from indexes.model.errors import NotFound, UsageError
from indexes.model.lines import placed
from indexes.model.regex import regex
from indexes.queries.naming.finding import KINDS
from indexes.queries.naming.resolve import not_found
from indexes.serialize.answers import envelope
from navigator.cli.session import (
    Choice,
    Settings,
    completed,
    each_name,
    pass_settings,
    places_option,
    say,
)
from navigator.text.answers import hit_lines, source_lines
from navigator.text.places import place_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from indexes.model.answers import Hit, Place
    from indexes.queries.index import Index
    from indexes.source.source import Source

FIND_LIMIT = 50
USES_LIMIT = 200
_AT_MOST = click.IntRange(1)
_KINDS = Choice(tuple(KINDS))
_FILE = regex(r"\S+\.(?:c|cc|cpp|cxx|cu|cuh|h|hpp|mm?|metal|pyi?|ya?ml)")
"""A path without a line."""


@click.command()
@click.argument("text", shell_complete=completed("operators"))
@click.option(
    "--limit",
    default=FIND_LIMIT,
    show_default=True,
    type=_AT_MOST,
    help="Maximum number of results.",
)
@click.option("--kind", "kinds", type=_KINDS, multiple=True, help="Only this kind; repeatable.")
@places_option
@pass_settings
def find(settings: Settings, text: str, limit: int, kinds: tuple[str, ...]) -> int:
    """Search by part of a name, or paste any name, place or message.

    Finds operators, kernels, functions, Python names, macros, node classes, variables and files.
    With - as TEXT, reads texts from stdin, one per line.
    """
    index = settings.index()
    return each_name(settings, text, lambda one: _found(settings, index, one, limit, kinds))


def _found(settings: Settings, index: Index, text: str, limit: int, kinds: tuple[str, ...]) -> None:
    match = index.resolve(text)
    hits = index.find(text, limit, kinds, match)
    if not hits:
        words = match.note if match.kind != "none" else ""  # such as a closed library's kernel
        raise not_found(
            match, f"no place in this tree: {words}" if words else f"nothing matches {text!r}"
        )
    if match.kind == "none":
        say(f"torchnav: nothing is named {text!r}; showing names that contain it")
    elif match.kind == "error" and match.note:
        say(f"torchnav: {match.note}")
    _write_hits(settings, index, hits, limit)


@click.command()
@click.argument("symbol")
@click.option(
    "--limit",
    default=USES_LIMIT,
    show_default=True,
    type=_AT_MOST,
    help="Maximum number of results.",
)
@places_option
@pass_settings
def uses(settings: Settings, symbol: str, limit: int) -> None:
    """Show references to a symbol: calls, registrations, stubs, formulas, operators."""
    index = settings.index()
    hits = index.uses(symbol, limit)
    if not hits:
        match = index.meant(symbol)
        raise NotFound(f"no references to {match.text} found")
    if index.resolve(symbol).kind == "operator":
        say(f"torchnav: lines that name it, as torch.ops does: torchnav callers {symbol}")
    _write_hits(settings, index, hits, limit)


def _write_hits(settings: Settings, index: Index, hits: Sequence[Hit], limit: int) -> None:
    if len(hits) >= limit:
        say(f"torchnav: showing the first {limit}; raise --limit for more")
    settings.answer(
        lambda: envelope(index.info, hits=hits),
        lambda: [*hit_lines(hits), *source_lines(index.info)],
    )


@click.command()
@click.argument("place", metavar="FILE:LINE", shell_complete=completed("files"))
@click.option("--all", "everything", is_flag=True, help="List all operators, each way.")
@places_option
@pass_settings
def at(settings: Settings, place: str, everything: bool) -> int:
    """Show what is at a line, what it calls, and which operators reach it.

    FILE is a path in the tree, absolute or relative to the tree or to the current folder. A name
    stands for the line where it is defined. With - as FILE:LINE, reads places from stdin, one per
    line.
    """
    _check_line(place)  # before an index is built
    index = settings.index()
    return each_name(settings, place, lambda one: _answer_place(settings, index, one, everything))


def _check_line(place: str) -> None:
    found = placed(place)
    if _FILE.fullmatch(place) or (found and not found[1]):
        raise UsageError(f"expected FILE:LINE, and lines start at 1, not {place!r}")


def _answer_place(settings: Settings, index: Index, place: str, everything: bool) -> None:
    _check_line(place)
    if found := placed(place):
        places = _places_at(index, _in_tree(found[0], index.source), found[1])
    else:
        places = _place_of_name(index, place)
    settings.answer(
        lambda: envelope(index.info, places=places),
        lambda: [*place_lines(places, everything), *source_lines(index.info)],
    )


def _places_at(index: Index, path: str, line: int) -> Sequence[Place]:
    """The places at a line of each file whose path ends so. Raises NotFound."""
    paths = index.facts.paths_ending(path)
    if len(paths) <= 1:
        return index.at(path, line)
    found: list[Place] = []
    for one in paths:
        with contextlib.suppress(NotFound):
            found += index.at(one, line)
    if not found:
        raise NotFound(f"nothing is indexed at line {line} of any of {len(paths)} files", paths[:5])
    return found


def _place_of_name(index: Index, name: str) -> Sequence[Place]:
    """The place of a name's first definition. Raises NotFound."""
    match = index.meant(name)
    natives = (index.native(op) for op in match.overloads)
    places = [*(hit.location for hit in match.hits), *(one.location for one in natives if one)]
    where = next((place for place in places if place.line), None)
    if where is None:
        raise UsageError(f"{match.text} is a file: add a line, FILE:LINE")
    return index.at(where.path, where.line)


def _in_tree(path: str, source: Source) -> str:
    """The path relative to the tree or an extension; it need not exist there."""
    root = source.top
    full = os.path.abspath(path)
    if os.path.exists(full) and (named := source.path_in(os.path.realpath(full))):
        return named
    for place, top in ((full, root), (os.path.realpath(full), os.path.realpath(root))):
        if _is_in(place, top) and (os.path.isabs(path) or os.path.exists(place)):
            return os.path.relpath(place, top).replace(os.sep, "/")
    if os.path.isabs(path):
        raise UsageError(f"{path} is not in the source tree {root}")
    return os.path.normpath(path).replace(os.sep, "/")


def _is_in(place: str, folder: str) -> bool:
    inside = os.path.join(os.path.normcase(folder), "")
    return os.path.normcase(place).startswith(inside)
