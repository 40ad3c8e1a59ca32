"""The form of views: tables whose rows refer to rows of the trace and to source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from navigator.trace.wording import duration, size, with_prefix

if TYPE_CHECKING:
    from navigator.trace.link import Linker
    from navigator.trace.trace import Trace

Unit = Literal["", "us", "bytes", "count", "ratio", "si"]
"""The unit of a column: microseconds, bytes, a count, a fraction from 0 to 1, any large number;
empty for text."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its key in JSON and its title."""

    key: str
    title: str
    unit: Unit = ""

    def text(self, value: object) -> str:
        """A formatted value; a dash if unknown."""
        if not isinstance(value, int | float):
            return "-" if value is None else str(value)
        match self.unit:
            case "us":
                return duration(value)
            case "bytes":
                return size(int(value))
            case "ratio":
                return f"{value:.0%}"
            case "count":
                return f"{value:,}"
            case "si":
                return with_prefix(value)
        return str(value)


Row = Mapping[str, object]
"""Values by column key; None if unknown. Other keys are references: ``op_id`` to a row of the
trace, ``term`` to the rows that match a filter, ``path`` and ``line`` to source."""


@dataclass(frozen=True, slots=True)
class View:
    """A table, sorted by importance."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    notes: tuple[str, ...] = ()
    """Notes about the whole: a total, what the trace lacks, and how to record it."""


Links = Callable[[], "Linker | None"]
"""Called by views with source references: the linker, or None without an index."""

Planner = Callable[["Trace", Links], View]
"""Makes a view of a trace."""


def no_links() -> None:
    """For a trace without an index: views have no source references."""


def view_lines(view: View, most: int | None = None) -> Iterator[str]:
    """A view as aligned text; at most ``most`` rows, and the number of the others."""
    yield view.title
    yield from view.notes
    if not view.rows:
        return
    shown = view.rows if most is None else view.rows[:most]
    cells = [[column.text(row.get(column.key)) for column in view.columns] for row in shown]
    titles = [column.title for column in view.columns]
    widths = [max(map(len, column)) for column in zip(titles, *cells, strict=True)]
    for line in [titles, *cells]:
        aligned = zip(view.columns, line, widths, strict=True)
        parts = [
            text.rjust(width) if one.unit else text.ljust(width) for one, text, width in aligned
        ]
        yield "  ".join(parts).rstrip()
    if len(shown) < len(view.rows):
        yield f"({len(view.rows) - len(shown)} more: --full)"
