"""Answers of the tool ``trace``, which keeps the last trace loaded for further questions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from indexes.model.errors import NotFound
from indexes.queries.index import Index
from navigator.agents.pages import LIMIT, Page, page, place_text
from navigator.trace.columns import Interned
from navigator.trace.link import Linker
from navigator.trace.readers import read_trace
from navigator.trace.summary import summary_lines
from navigator.trace.table import GONE
from navigator.trace.trace import Trace
from navigator.trace.versions import schema_index
from navigator.trace.views import VIEWS, view_lines
from navigator.trace.why import explain_trace

_Stamp = tuple[Path, int, int]
"""Path, modification time in ns, size in bytes."""


class Traces:
    """Answers questions about traces."""

    def __init__(self) -> None:
        self._held: tuple[_Stamp, Index, Linker, Trace] | None = None

    def page(
        self, file: Path, query: str, index: Index, limit: int = LIMIT, cursor: str = ""
    ) -> Page[str]:
        """Lines about a trace: a summary if ``query`` is empty, the error that ended the run for
        ``why``, a view by its name, or the calls of an operator.

        Raises:
            BadTrace: The file cannot be read.
            NotFound: The trace has nothing of this name.
        """
        trace, linker = self._opened(file, index)
        if not query:
            return page(summary_lines(trace), limit, cursor)
        if query == "why":
            return page(str(explain_trace(trace, linker)).split("\n"), limit, cursor)
        if query in VIEWS:
            return page(view_lines(VIEWS[query](trace, lambda: linker)), limit, cursor)
        rows = _rows_of(trace, query)
        if not rows:
            raise NotFound(f"no call of {query} in {file.name}", (*VIEWS, "why"))
        return page(rows, limit, cursor, answer=lambda row: _call_line(trace, linker, row))

    def _opened(self, file: Path, index: Index) -> tuple[Trace, Linker]:
        """The trace of a file; read again if the file or the index changed."""
        stamp = _stamp(file)
        if self._held and stamp == self._held[0] and index is self._held[1]:
            _, _, linker, trace = self._held
            return trace, linker
        self._held = None  # two at once may exceed the memory
        trace = read_trace(file)
        linker = Linker(trace, index, schema_index(trace, index, index.cache))
        if stamp:
            self._held = (stamp, index, linker, trace)
        return trace, linker


def _stamp(file: Path) -> _Stamp | None:
    """Identifies a version of a file; None for a missing file, or a folder that may change."""
    try:
        found = file.stat()
    except OSError:
        return None
    return None if file.is_dir() else (file.absolute(), found.st_mtime_ns, found.st_size)


def _rows_of(trace: Trace, query: str) -> list[int]:
    """Rows with this name, which may lack the namespace and the overload."""
    table = trace.table
    names = {*_numbers(table.names, query)}
    rows = range(len(table)) if names else ()
    return [row for row in rows if table.name[row] in names and table.kind[row] != GONE]


def _numbers(names: Interned[tuple[str, str | None]], query: str) -> Iterator[int]:
    for number, (name, variant) in enumerate(names.values):
        label = f"{name}.{variant}" if variant else name
        if query in (name, name.removeprefix("aten::"), label, label.removeprefix("aten::")):
            yield number


def _call_line(trace: Trace, linker: Linker, row: int) -> str:
    op = trace.op(row)
    kernel = linker.link(op).kernel
    where = place_text(kernel.definitions[0].location) if kernel and kernel.definitions else ""
    inputs = ", ".join(map(str, op.inputs))
    return f"{op.id} {op.label}({inputs}) {op.duration_us:.1f} us {place_text(op.user)} {where}"
