"""Markdown: spans, headings and tables of printable text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from indexes.model.vocabulary import Location, SourceInfo
from indexes.source.permalinks import permalink
from navigator.text.clean import markdown_code, markdown_link
from navigator.text.clean import markdown_text as words

__all__ = ["code", "heading", "place", "table", "words"]


def code(text: object) -> str:
    """A code span for a name, a place or an input."""
    return markdown_code(str(text))


def place(info: SourceInfo, location: Location) -> str:
    """A line of source, linked to its published commit, if any."""
    return markdown_link(str(location), permalink(info, location.path, location.line))


def heading(level: int, text: str) -> tuple[str, str, str]:
    """A heading between blank lines."""
    return "", f"{'#' * level} {text}", ""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """A table of Markdown cells."""
    yield f"| {' | '.join(head)} |"
    yield "|---" * len(head) + "|"
    yield from (f"| {' | '.join(row)} |" for row in rows)
