"""What the tool ``trace`` answers. The last trace is held: questions about one come in rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, overload

from indexes.model.errors import NotFound
from indexes.queries.index import Index
from navigator.agents.pages import spot
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
"""Path, time of the last change in ns, bytes."""


class Traces:
    """Answers about traces, one after the other."""

    def __init__(self) -> None:
        self._held: tuple[_Stamp, Index, Linker, Trace] | None = None

    def lines(self, file: Path, query: str, index: Index) -> Sequence[str] | Iterator[str]:
        """About a trace: empty for what ran; ``why`` for the error that ended it; the name of a
        view; an operator, for its calls, each of which is linked when it is looked at.

        Raises:
            BadTrace: It cannot be read.
            NotFound: Nothing in it is so named.
        """
        trace, linker = self._opened(file, index)
        if not query:
            return summary_lines(trace)
        if query == "why":
            return str(explain_trace(trace, linker)).split("\n")
        if query in VIEWS:
            return view_lines(VIEWS[query](trace, lambda: linker))
        rows = _rows_of(trace, query)
        if not rows:
            raise NotFound(f"no call of {query} in {file.name}", (*VIEWS, "why"))
        return _Calls(trace, linker, rows)

    def _opened(self, file: Path, index: Index) -> tuple[Trace, Linker]:
        """The trace of a file, read anew where the file or the index is another."""
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
    """None for a folder, whose files change without it, and for what is not there."""
    try:
        found = file.stat()
    except OSError:
        return None
    return None if file.is_dir() else (file.absolute(), found.st_mtime_ns, found.st_size)


def _rows_of(trace: Trace, query: str) -> list[int]:
    """The rows that are called so, with or without namespace and overload."""
    table = trace.table
    wanted = {*_numbers(table.names, query)}
    rows = range(len(table)) if wanted else ()
    return [row for row in rows if table.name[row] in wanted and table.kind[row] != GONE]


def _numbers(names: Interned[tuple[str, str | None]], query: str) -> Iterator[int]:
    for number, (name, variant) in enumerate(names.values):
        label = f"{name}.{variant}" if variant else name
        if query in (name, name.removeprefix("aten::"), label, label.removeprefix("aten::")):
            yield number


class _Calls(Sequence[str]):
    """A line for each of some rows, made when it is asked for."""

    def __init__(self, trace: Trace, linker: Linker, rows: list[int]) -> None:
        self._trace, self._linker, self._rows = trace, linker, rows

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> str: ...

    @overload
    def __getitem__(self, at: slice) -> list[str]: ...

    def __getitem__(self, at: Any) -> str | list[str]:
        rows = self._rows[at]
        return [*map(self._line, rows)] if isinstance(rows, list) else self._line(rows)

    def _line(self, row: int) -> str:
        op = self._trace.op(row)
        kernel = self._linker.link(op).kernel
        where = spot(kernel.definitions[0].location) if kernel and kernel.definitions else ""
        given = ", ".join(map(str, op.inputs))
        return f"{op.id} {op.label}({given}) {op.duration_us:.1f} us {spot(op.user)} {where}"
