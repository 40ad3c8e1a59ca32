"""Answers as HTML: what notebooks and the site show alike."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.answers import Card
from indexes.model.vocabulary import Location, SourceInfo
from indexes.source.permalinks import permalink
from navigator.text.clean import html_text

_PLACE = re.compile(r"(?<![\w/.])((?:[\w-]+/)+[\w.-]+\.\w+):(\d+)")


def link(source: SourceInfo | None, place: Location | None, words: str = "") -> str:
    """A place, linked to the page of the tree's commit where that is published."""
    if place is None:
        return html_text(words)
    shown = html_text(words or str(place))
    page = permalink(source, place.path, place.line) if source else None
    return f'<a href="{html_text(page)}">{shown}</a>' if page else shown


def linked_text(text: str, source: SourceInfo | None) -> str:
    """Text as HTML, each ``path:line`` in it a link."""
    pieces, end = [], 0
    for found in _PLACE.finditer(text):
        pieces.append(html_text(text[end : found.start()]))
        pieces.append(link(source, Location(found[1], int(found[2])), found[0]))
        end = found.end()
    return f"<pre>{''.join(pieces)}{html_text(text[end:])}</pre>"


def card_html(card: Card, source: SourceInfo) -> Iterator[str]:
    """A card as a table: what computes on each device, the gradient, Python, tests."""
    yield f"<p><code>{html_text(card.schema)}</code><br>{html_text(card.kind)}</p><table>"
    for one in card.lines:
        if one.label != "more":
            note = f"<br>{html_text(one.note)}" if one.note else ""
            where = link(source, one.location) if one.location else ""
            yield row(html_text(one.label), f"{html_text(one.text)}{note}", where)
    yield "</table>"


def row(*cells: str) -> str:
    """A row of a table; cells are HTML already."""
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
