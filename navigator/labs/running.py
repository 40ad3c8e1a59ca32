"""Runs a lab in a process of the target Python and collects the result of each cell."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexes.model.errors import SourceError
from navigator.labs.cells import Cell, Lab
from navigator.live.python_process import own_command, status_words


@dataclass(frozen=True, slots=True)
class CellRun:
    """The result of a code cell."""

    output: str = ""
    checked: tuple[int, ...] = ()
    """Lines of the claims that held."""
    skipped: str = ""
    """Why it was not run."""
    error_line: int = 0
    error: str = ""
    """The line and message of the exception that ended it."""


@dataclass(frozen=True, slots=True)
class LabRun:
    """The result of a lab."""

    torch_version: str = ""
    cells: Mapping[int, CellRun] = field(default_factory=dict)
    """By cell number; without cells that were not reached."""
    ended: str = ""
    """How the process ended, if it was killed or crashed."""

    def holds(self, lab: Lab) -> bool:
        """Whether every claim of every cell that could be run was checked and held."""
        code = [
            (self.cells.get(at), one) for at, one in enumerate(lab.cells) if not one.is_markdown
        ]
        return not self.ended and all(
            run is not None and _claims_hold(run, one) for run, one in code
        )


def _claims_hold(run: CellRun, cell: Cell) -> bool:
    lines = {claim.line for claim in cell.claims}
    return bool(run.skipped) or (not run.error and lines <= set(run.checked))


def run_lab(
    lab: Lab,
    python: str,
    tree: str | None = None,
    cache: Path | None = None,
    cell_done: Callable[[int], None] | None = None,
) -> LabRun:
    """Runs a lab with a Python that has torch. All processes that it started end with it.

    Parameters:
        tree: The source for torchnav's own functions in the lab.
        cache: Their cache folder.
        cell_done: Called with the number of each cell that has ended.

    Raises:
        SourceError: The lab can't be run: the Python has no torch, or a requirement is missing.
    """
    command = own_command(python, "navigator.labs.execute", str(lab.path))
    variables = {"TORCHNAV_CHECKOUT": tree, "TORCHNAV_CACHE": str(cache) if cache else None}
    in_order = {"PYTHONUNBUFFERED": "1"}  # what a cell prints, and what processes that it starts do
    given = {name: value for name, value in variables.items() if value}
    environment = {**os.environ, **in_order, **given}
    with _started(command, environment) as process:
        try:
            version, cells = _collected(_events(process), lab, cell_done)
            process.wait()
        finally:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
    return LabRun(version, cells, _ended(process.returncode, cells))


def _started(command: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
    """Starts a process group, so that an interrupt reaches only us, and we end the group."""
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise SourceError(f"{command[0]}: {error.strerror or error}") from error


def _events(process: subprocess.Popen[str]) -> Iterator[dict[str, Any]]:
    assert process.stdout is not None
    yield from map(json.loads, process.stdout)


def _collected(
    events: Iterator[dict[str, Any]], lab: Lab, cell_done: Callable[[int], None] | None
) -> tuple[str, dict[int, CellRun]]:
    begun = next(events, None)
    if begun is None:
        raise SourceError(f"{lab.name} cannot run: see the message of Python above")
    if begun["unmet"]:
        raise SourceError(f"{lab.name} {begun['unmet']}; --no-run shows it anyway")
    cells = {}
    for event in events:
        cells[event["cell"]] = _cell_run(event)
        if cell_done:
            cell_done(event["cell"])
    return begun["torch"], cells


def _cell_run(event: dict[str, Any]) -> CellRun:
    error = event["error"] or {"line": 0, "message": ""}
    checked = tuple(event["checked"])
    return CellRun(event["output"], checked, event["skipped"], error["line"], error["message"])


def _ended(status: int, cells: Mapping[int, CellRun]) -> str:
    """How a process ended that did not report it."""
    failed = any(run.error for run in cells.values())
    return status_words(status) if status < 0 or (status and not failed) else ""
