"""Reads SQLite exports of Nsight Systems: device work with its launches, and NVTX ranges.

The tables are described in NVIDIA's "SQLite Schema Reference"; columns differ between versions, and
tables without data are missing. Under ``torch.autograd.profiler.emit_nvtx`` the ranges are
operators: ``aten::add, seq = 5, op_id = 12``.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from navigator.trace.building.builder import Builder
from navigator.trace.columns import NONE
from navigator.trace.table import OP, REGION
from navigator.trace.trace import BadTrace, Trace, Watch

_MAGIC = b"SQLite format 3\0"
_ACTIVITY = "CUPTI_ACTIVITY_KIND_"
_COPIES = {1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 8: "DtoD", 9: "HtoH", 10: "PtoP"}
"""By CUPTI's ``CUpti_ActivityMemcpyKind``."""
_RANGES = (59, 60)
"""NVTX events with an end: pushed and popped, started and ended."""
_OPERATOR = re.compile(
    r"(?P<name>\w+::\w+|[^,]+)(?:, seq = (?P<sequence>\d+))?(?:, .*)?", re.DOTALL
)
_PROCESS_BITS, _LOW = 24, 0xFFFFFF

Values = tuple[int | str | None, ...]


def recognises(_path: Path, head: bytes) -> bool:
    return head.startswith(_MAGIC)


def read(path: Path, _watch: Watch) -> Trace:
    """Kernels, copies and fills. Raises BadTrace for another database."""
    trace = Trace()
    trace.meta.path, trace.meta.format, trace.meta.complete = str(path), "Nsight Systems", True
    try:
        with contextlib.closing(_connected(path)) as connection:
            _Export(connection, trace).read()
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise BadTrace(f"{path} is not an export of Nsight Systems: {error}") from error
    if not len(trace) and not len(trace.table.kernels):
        raise BadTrace(f"{path} holds no device work and no range of NVTX of Nsight Systems")
    trace.meta.lacks.append("inputs of operators and lines of the user's program")
    if not any(name.startswith("aten::") for name, _ in trace.table.names.values):
        trace.meta.lacks.append("operators (torch.autograd.profiler.emit_nvtx would add them)")
    return trace


def _connected(path: Path) -> sqlite3.Connection:
    """The database, opened read-only and treated as untrusted."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    return connection


class _Export:
    """Fills a trace from the tables."""

    def __init__(self, connection: sqlite3.Connection, trace: Trace) -> None:
        self._connection, self._trace, self._table = connection, trace, trace.table
        self._builder = Builder(trace.table)
        found = connection.execute("SELECT name FROM sqlite_master WHERE type='table'")
        self._tables = {str(name) for (name,) in found}
        self._names = {key: str(value) for key, value in self._rows("StringIds", "id value")}

    def read(self) -> None:
        for kind, number, column in (("KERNEL", 0, "demangledName"), ("MEMCPY", 1, "copyKind")):
            self._work(kind, number, column)
        self._work("MEMSET", 2, "value")
        for api in ("RUNTIME", "DRIVER"):
            self._launches(api)
        self._ranges()
        devices = (str(name) for (name,) in self._rows("TARGET_INFO_GPU", "name"))
        self._trace.meta.devices = tuple(dict.fromkeys(devices))
        self._builder.close_window()
        self._trace.meta.problems += self._builder.problems()

    def _work(self, kind: str, number: int, column: str) -> None:
        columns = f"start end deviceId streamId correlationId globalPid {column}"
        for start, end, device, stream, correlation, process, what in self._rows(
            _ACTIVITY + kind, columns
        ):
            name = _work_name(number, what, self._names)
            at, length = _microseconds(start), _microseconds(end) - _microseconds(start)
            place, launch = (str(device), str(stream)), _key(process, correlation)
            self._table.kernels.append(number, name, place, at, length, launch)

    def _launches(self, api: str) -> None:
        columns = "start end globalTid correlationId nameId"
        for start, end, thread, correlation, name in self._rows(_ACTIVITY + api, columns):
            at, length = _microseconds(start), _microseconds(end) - _microseconds(start)
            called, key = str(self._names.get(name, api.lower())), _key(thread, correlation)
            self._builder.add_launch(self._thread(thread), at, length, key, called)

    def _ranges(self) -> None:
        columns = "start end globalTid eventType text textId"
        for start, end, thread, kind, text, number in self._rows("NVTX_EVENTS", columns):
            if kind in _RANGES and end is not None:
                self._range(str(text or self._names.get(number, "")), start, end, thread)

    def _range(self, text: str, start: object, end: object, thread: object) -> None:
        found = _OPERATOR.match(text)
        name, sequence = (found["name"], found["sequence"]) if found else (text, None)
        at, length = _microseconds(start), _microseconds(end) - _microseconds(start)
        known, number = self._table.names.number((name, None)), int(sequence or NONE)
        kind = OP if "::" in name else REGION
        row = self._table.append(kind, known, self._thread(thread), at, length, NONE, number)
        self._builder.add(row)

    def _thread(self, number: object) -> int:
        whole = _whole(number)
        process = str(whole >> _PROCESS_BITS & _LOW)
        return self._table.threads.number((process, str(whole & _LOW)))

    def _rows(self, table: str, columns: str) -> Iterator[Values]:
        """The columns of a table, None for missing columns; empty for a missing table."""
        if table not in self._tables:
            return
        known = {str(row[1]) for row in self._connection.execute(f"PRAGMA table_info({table})")}
        selected = ",".join(f'"{one}"' if one in known else "NULL" for one in columns.split())
        yield from self._connection.execute(f"SELECT {selected} FROM {table}")


def _work_name(number: int, what: object, names: Mapping[int | str | None, str]) -> str:
    if number == 0:
        return str(names.get(_whole(what), "a kernel without a name"))
    return f"Memcpy {_COPIES.get(_whole(what), '')}".strip() if number == 1 else "Memset"


def _key(process: object, correlation: object) -> int:
    """Identifies a correlation number, which is unique only within a process."""
    return (_whole(process) >> _PROCESS_BITS & _LOW) << 32 | _whole(correlation) & 0xFFFFFFFF


def _microseconds(nanoseconds: object) -> float:
    return _whole(nanoseconds) / 1000


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0
