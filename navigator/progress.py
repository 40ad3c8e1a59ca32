"""Progress of a change (ticked steps, commands' results), kept in the cache folder."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from indexes.queries.pull_request.model import Ran
from indexes.source.aside import written_aside
from indexes.source.files import listed, read_text


@dataclass
class Progress:
    """The state of one change."""

    path: Path
    ticked: set[str] = field(default_factory=set)
    """The steps by their text, since line numbers change from day to day."""
    ended: dict[str, int] = field(default_factory=dict)
    """The exit status of each command that was run."""
    days: dict[str, str] = field(default_factory=dict)
    """The day on which each command ended last: ``2026-11-22``."""

    @classmethod
    def load(cls, cache: Path, tree: str, change: str) -> Progress:
        """The saved state of a change; empty if there is none."""
        return cls.read(_folder(cache, tree) / f"{_file_name(change)}.json")

    @classmethod
    def read(cls, path: Path) -> Progress:
        """The state in a file; empty if it is not one of ours."""
        try:
            state = json.loads(read_text(path))
            ticked, ended = {*map(str, state["ticked"])}, dict(state["ended"])
            days = dict(state.get("days", {}))  # missing in older files
        except (OSError, ValueError, KeyError, TypeError):
            return cls(path)
        statuses = {str(k): v for k, v in ended.items() if isinstance(v, int)}
        return cls(path, ticked, statuses, {str(k): str(v) for k, v in days.items()})

    def tick(self, steps: Iterable[str]) -> None:
        """Ticks or unticks steps, and saves. Raises OSError."""
        self.ticked ^= {*steps}
        self._keep()

    def end(self, command: str, status: int) -> None:
        """Records a command's exit status, and saves. Raises OSError."""
        self.ended[command] = status
        self.days[command] = date.today().isoformat()
        self._keep()

    def _keep(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        state = {"ticked": sorted(self.ticked), "ended": self.ended, "days": self.days}
        text = json.dumps(state, indent=1)
        with written_aside(self.path) as part:
            part.write_text(text, encoding="utf-8")
            part.replace(self.path)


def results(cache: Path, tree: str) -> list[Ran]:
    """Results of commands run for a tree's changes, each with its day, latest last."""
    found = [
        (one.days.get(command, ""), command, status)
        for one in map(Progress.read, sorted(listed(_folder(cache, tree), "*.json")))
        for command, status in one.ended.items()
    ]
    return [
        Ran(command, f"ended with status {status} ({day or 'the day was not kept'})")
        for day, command, status in sorted(found)
    ]


def _folder(cache: Path, tree: str) -> Path:
    return cache / "changes" / tree


def _file_name(change: str) -> str:
    """A file name for an id."""
    plain = "".join(one if one.isalnum() or one in "-_." else "+" for one in change)
    return plain.lstrip(".")[:150] or "+"
