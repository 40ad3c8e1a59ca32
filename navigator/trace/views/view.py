"""What a view of a trace is: a table whose rows lead back to the trace and to source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from navigator.trace.wording import duration, size, with_prefix

if TYPE_CHECKING:
    from navigator.trace.link import Linker
    from navigator.trace.trace import Trace

Unit = Literal["", "us", "bytes", "count", "ratio", "si"]
"""What the numbers of a column are: microseconds, bytes, a count, a part of a whole from 0 to 1,
anything large; text where empty."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its key in JSON, and its title for people."""

    key: str
    title: str
    unit: Unit = ""

    def text(self, value: object) -> str:
        """A value as people read it; a dash for what is not known."""
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
"""Values by the keys of the columns; None for what is not known. Further keys lead on:
``op_id`` to a row of the trace, ``term`` to the rows that a filter leaves, ``path`` and ``line``
to source."""


@dataclass(frozen=True, slots=True)
class View:
    """One table, what matters most first."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: Sequence[Row]
    notes: tuple[str, ...] = ()
    """What holds for the whole: a total, what the trace does not say, and what would say it."""


Links = Callable[[], "Linker | None"]
"""Asked by a view that leads to source: what joins the trace with an index, None without one."""

Planner = Callable[["Trace", Links], View]
"""Makes a view of a trace."""


def no_links() -> None:
    """Of a trace without an index: views say nothing of source."""


def view_lines(view: View, most: int | None = None) -> Iterator[str]:
    """A view as text, aligned; ``most`` rows, and how many are left out."""
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
