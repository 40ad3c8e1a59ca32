"""``TORCH_TRACE`` logs: the graphs that torch.compile made, each operator with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexes.model.vocabulary import Location
from indexes.source.files import read_text
from navigator.trace.model import StackFrame
from navigator.trace.readers.events import json_object
from navigator.trace.readers.ranked import Item, build
from navigator.trace.table import ANNOTATION, NONE, OP, Stack, Table
from navigator.trace.trace import BadTrace, Trace, Watch

_LINE = re.compile(r"[VIWE]\d{4} [\d:.]+ \d+ \S+\] (?P<header>\{.*)")
_FILE = re.compile(r"# File: (?P<path>.+?):(?P<line>\d+) in (?P<function>[^,]+)")
_CALL = re.compile(
    r"(?P<result>\w+)(?:: \"(?P<type>[^\"]*)\")? = torch\.ops\.(?P<space>\w+)\.(?P<name>\w+)"
    r"(?:\.(?P<overload>\w+))?\("
)
_GRAPHS = (
    "aot_forward_graph",
    "aot_backward_graph",
    "aot_inference_graph",
    "inductor_post_grad_graph",
)
_LARGEST = 1 << 30


Record = tuple[dict[str, Any], list[str]]
"""The header of an entry of the log, and the lines of its payload."""


def recognises(path: Path, _head: bytes) -> bool:
    return path.is_dir() or path.suffix == ".log"


def read(path: Path, _watch: Watch) -> Trace:
    """Read a log, or all logs of a folder. Raises BadTrace if there is none."""
    logs = sorted(path.glob("*.log")) if path.is_dir() else [path]
    if not logs:
        ranks = any(path.glob("*.json*"))
        hint = f"; for the traces of many ranks: torchnav ranks {path}" if ranks else ""
        raise BadTrace(f"{path} holds no log of TORCH_TRACE{hint}")
    trace = Trace()
    meta = trace.meta
    meta.path, meta.format, meta.complete, meta.overloads = str(path), "TORCH_TRACE", True, True
    items: list[Item] = []
    for log in logs:
        for header, payload in _records(log):
            kind = next((kind for kind in _GRAPHS if kind in header), None)
            if kind is not None:
                frame = f"{header.get('frame_id', '?')}/{header.get('frame_compile_id', '?')}"
                _add(f"{kind} {frame}", payload, items, trace.table)
            elif _artifact(header) == "torch_version":
                facts = json_object("\n".join(payload))
                meta.torch = str(facts.get("pytorch_version", ""))
                meta.torch_git = str(facts.get("commit") or "")
    if not items:
        meta.problems.append("the log holds no graph: nothing was compiled, or not to its end")
    meta.lacks.append(
        "times and inputs: a log of the compiler holds what was compiled, not what ran"
    )
    build(trace, items)
    return trace


def _records(log: Path) -> Iterator[Record]:
    try:
        text = read_text(log, _LARGEST)
    except OSError as error:
        raise BadTrace(f"cannot read {log}: {error.strerror}") from error
    header: dict[str, Any] = {}
    payload: list[str] = []
    for line in text.split("\n"):
        if line.startswith("\t"):
            payload.append(line[1:])
        else:
            yield header, payload
            header, payload = _header(line), []
    yield header, payload


def _header(line: str) -> dict[str, Any]:
    match = _LINE.match(line)
    return json_object(match["header"]) if match else {}


def _artifact(header: dict[str, Any]) -> str:
    artifact = header.get("artifact")
    return str(artifact.get("name", "")) if isinstance(artifact, dict) else ""


def _add(name: str, lines: list[str], items: list[Item], table: Table) -> None:
    """A graph as a row, its operators under it."""
    backward = "backward" in name
    items.append(Item(ANNOTATION, name, is_backward=backward))
    parent = len(items) - 1
    stack = NONE
    for line in lines:
        place = _FILE.search(line)
        if place:
            frame = StackFrame(Location(place["path"], int(place["line"])), place["function"])
            table.stacks.append(Stack((frame,), 0))
            stack = len(table.stacks) - 1
        call = _CALL.search(line)
        if call:
            item = Item(OP, f"{call['space']}::{call['name']}", parent=parent, stack=stack)
            item.overload = "" if call["overload"] in (None, "default") else call["overload"]
            item.output, item.place = call["type"] or "", _place(call["type"])
            item.is_backward = backward
            items.append(item)


def _place(kind: str | None) -> str:
    """``cuda:0`` of ``f32[2, 4][4, 1]cuda:0``."""
    device = (kind or "").rpartition("]")[2]
    return device if device and device != "cpu" else ""
