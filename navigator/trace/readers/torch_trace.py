"""Reads ``TORCH_TRACE`` logs as traces: the graphs of each function, operators with their lines."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from indexes.model.errors import LOG_BYTES
from navigator.trace.readers.compile_log import CompileLog
from navigator.trace.readers.compile_rows import CompilationRows
from navigator.trace.readers.packed import LOG_ENTRY, Content
from navigator.trace.readers.ranked import build
from navigator.trace.trace import BadTrace, Trace, Watch

LOG = "TORCH_TRACE"
"""The name of the format."""


_ENTRY = re.compile(LOG_ENTRY + rb"[\d:.]+ \d+ \S+\] \{", re.MULTILINE)


def recognises(path: Path, head: bytes) -> bool:
    return os.path.isdir(path) or _ENTRY.search(head) is not None or path.suffix == ".log"


def read(path: Path, _watch: Watch) -> Trace:
    """Read a log, or all logs of a folder. Raises BadTrace if there is none."""
    logs = sorted(path.glob("*.log")) if os.path.isdir(path) else [path]
    if not logs:
        ranks = any(path.glob("*.json*"))
        hint = f"; for the traces of many ranks: torchnav ranks {path}" if ranks else ""
        raise BadTrace(f"{path} holds no log of TORCH_TRACE{hint}")
    trace = Trace()
    meta = trace.meta
    meta.path, meta.format, meta.complete, meta.overloads = str(path), LOG, True, True
    rows = CompilationRows(trace.table.stacks)
    for file in logs:
        log = CompileLog()
        content = Content(file)
        log.read(_lines(content))
        meta.problems += content.left_out
        meta.problems += [f"{file.name} was cut or damaged"] * content.damaged
        meta.torch, meta.torch_git = log.torch or meta.torch, log.commit or meta.torch_git
        for compilation in log.compilations.values():
            rows.add(compilation)
            trace.table.compiled.append(compilation)
            trace.table.add_graphs(compilation)
    if not rows.has_graph:
        meta.problems.append("the log holds no graph: nothing was compiled, or not to its end")
    meta.lacks.append(
        "times and inputs: a log of the compiler holds what was compiled, not what ran"
    )
    if rows.is_silent:
        more = "" if rows.has_provenance else "; with INDUCTOR_PROVENANCE=1 a log tells more"
        meta.lacks.append(f"which kernel computes some operators{more}")
    build(trace, rows.items)
    return trace


def _lines(log: Content) -> Iterator[str]:
    try:
        return iter(log.whole(LOG_BYTES).decode(errors="replace").split("\n"))
    except OSError as error:
        raise BadTrace(f"cannot read {log.path}: {error.strerror}") from error
