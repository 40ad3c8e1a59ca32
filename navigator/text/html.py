"""Answers as HTML, for notebooks, the site and the report of a trace."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.model.answers import Card
from indexes.model.errors import TorchnavError
from indexes.model.vocabulary import DerivativeEntry, Location, SourceInfo
from indexes.source.files import read_text
from indexes.source.permalinks import permalink
from navigator.text.clean import html_text

if TYPE_CHECKING:
    from indexes.queries.index import Index

_PLACE = re.compile(r"(?<![\w/.])((?:[\w-]+/)+[\w.-]+\.\w+):(\d+)")
_EXCERPT = 10


def stylesheet() -> str:
    """The style of whole pages: light and dark, wide and narrow."""
    return read_text(Path(__file__).with_name("style.css"))


def link(source: SourceInfo | None, place: Location | None, words: str = "") -> str:
    """A place, linked to the published page of the tree's commit, if any."""
    if place is None:
        return html_text(words)
    shown = html_text(words or str(place))
    page = permalink(source, place.path, place.line) if source else None
    return f'<a href="{html_text(page)}">{shown}</a>' if page else shown


def short_link(source: SourceInfo, place: Location | None) -> str:
    """A place by its file name, linked."""
    if place is None or permalink(source, place.path, place.line) is None:
        return link(source, place)
    return link(source, place, str(place).rpartition("/")[2])


def linked_text(text: str, source: SourceInfo | None) -> str:
    """Text as HTML, with each ``path:line`` linked."""
    pieces, end = [], 0
    for found in _PLACE.finditer(text):
        pieces.append(html_text(text[end : found.start()]))
        pieces.append(link(source, Location(found[1], int(found[2])), found[0]))
        end = found.end()
    return f"<pre>{''.join(pieces)}{html_text(text[end:])}</pre>"


def card_html(card: Card, source: SourceInfo) -> Iterator[str]:
    """A card as a table: what computes on each device, the gradient, Python, tests."""
    yield f"<p><code>{html_text(card.schema)}</code><br>{html_text(card.kind)}</p><table>"
    for line in card.lines:
        if line.label != "more":
            note = f"<br>{html_text(line.note)}" if line.note else ""
            where = link(source, line.location) if line.location else ""
            yield row(html_text(line.label), f"{html_text(line.text)}{note}", where)
    yield "</table>"


def excerpt(index: Index, source: SourceInfo, title: str, place: Location) -> str:
    """The first lines at a place, collapsed under a title; the reason if they can't be read."""
    try:
        lines = index.read(place.path).split("\n")
    except TorchnavError as error:
        return f"<p>{html_text(title)}: {html_text(str(error))}</p>"
    first = max(place.line, 1)
    last = min(max(place.end_line, first), first + _EXCERPT - 1)
    shown = html_text("\n".join(lines[first - 1 : last]))
    more = f"\n... to line {place.end_line}" if place.end_line > last else ""
    summary = f"<summary>{html_text(title)}</summary>{link(source, place)}"
    return f'<details>{summary}<pre tabindex="0">{shown}{more}</pre></details>'


def formulas(source: SourceInfo, entry: DerivativeEntry, kinds: Iterable[str] = ()) -> str:
    """The formulas of an entry of derivatives.yaml as a table; all kinds by default."""
    rows = (
        row(
            html_text(", ".join(formula.inputs)),
            f"<code>{html_text(formula.text)}</code>",
            html_text(group.grad_fn or ""),
            short_link(source, formula.location),
        )
        for group in entry.sets
        for formula in group.formulas
        if not kinds or formula.kind in kinds
    )
    return f"<table>{''.join(rows)}</table>"


def row(*cells: str) -> str:
    """A row of a table of HTML cells."""
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
