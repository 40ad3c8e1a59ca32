"""The view of collectives: data, the region that asked, and the line of c10d that runs them."""

from __future__ import annotations

from indexes.model.vocabulary import Location
from navigator.trace.figures.collectives import NO_CAUSE, Collective, collectives
from navigator.trace.links import OpLink
from navigator.trace.trace import Trace
from navigator.trace.views.view import Column, Links, Row, View
from navigator.trace.wording import duration, size

_COLUMNS = (
    Column("start_us", "at", "us"),
    Column("duration_us", "call", "us"),
    Column("work_us", "work", "us"),
    Column("bytes", "bytes", "bytes"),
    Column("tensors", "of"),
    Column("operator", "operator"),
    Column("cause", "cause"),
    Column("module", "module"),
    Column("user", "line"),
    Column("source", "source"),
)


def collectives_view(trace: Trace, links: Links) -> View:
    """Calls into process groups by time, with their causes and sources."""
    found = collectives(trace)
    linker = links() if found else None
    rows: list[Row] = []
    for one in found:
        place = _source(linker.link(trace.op(one.row))) if linker else None
        rows.append(_row(trace, one, place))
    line, notes = collectives_line(trace, found), tuple(_notes(found)) if found else ()
    return View("collectives", line or "no collectives", _COLUMNS, rows, notes)


def _source(link: OpLink) -> Location | None:
    """The line that computes it, else its declaration."""
    if link.kernel and link.kernel.definitions:
        return link.kernel.definitions[0].location
    return link.schema.location if link.schema else None


def _row(trace: Trace, collective: Collective, place: Location | None) -> Row:
    op = trace.op(collective.row)
    return {
        "op_id": op.id,
        "operator": op.name,
        "phase": op.phase,
        "start_us": op.start_us,
        "duration_us": op.duration_us,
        "work_us": collective.work_us(trace),
        "work_ids": list(collective.spans),
        "bytes": collective.bytes,
        "tensors": collective.tensors or None,
        "cause": collective.cause,
        "cause_id": collective.cause_row if collective.cause_row >= 0 else None,
        "module": op.module or None,
        "user": str(op.user) if op.user else None,
        "source": str(place) if place else None,
        "path": place.path if place else None,
        "line": place.line if place else None,
    }


def collectives_line(trace: Trace, found: list[Collective] | None = None) -> str:
    """Their number, data and time; empty without any."""
    found = collectives(trace) if found is None else found
    if not found:
        return ""
    known = sum(one.bytes or 0 for one in found)
    work = sum(one.work_us(trace) or 0.0 for one in found)
    return f"{len(found)} collectives of {size(known)}, {duration(work)} in the backend"


def _notes(found: list[Collective]) -> list[str]:
    unknown = sum(one.cause == NO_CAUSE for one in found)
    unsized = sum(one.bytes is None for one in found)
    notes = ["bytes: of the largest argument; work: of the backend, on its threads or the device"]
    if unknown:
        notes.append(f"{unknown} without a cause: torchnav trace --compiled records their lines")
    if unsized:
        notes.append(f"{unsized} without bytes: the type or the shape was not recorded")
    return notes
