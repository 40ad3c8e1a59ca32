"""Asks the installed torch which dispatch keys are in play while a switch is on."""

from __future__ import annotations

from pathlib import Path

from indexes.model.dispatch import SwitchPaths
from indexes.queries.dispatch_path.live import LiveSets, LiveSwitch, compare_paths
from indexes.source.torch_install import target_python
from navigator.live.asking import ask
from navigator.live.torch_table import live_torch

_DUMP = Path(__file__).with_name("switches_dump.py")
_KEYS = ("tensor", "included", "excluded", "first")


def live_switches(answer: SwitchPaths) -> tuple[LiveSwitch, ...]:
    """Each path beside what torch says. Raises SourceError, in one line, when there is no torch."""
    said = ask(target_python().path, str(_DUMP), words=answer.backend.lower())
    sets = {
        switch: one if isinstance(one, str) else LiveSets(*(tuple(one[key]) for key in _KEYS))
        for switch, one in said.items()
    }
    table = live_torch([answer.op]).tables[answer.op]
    return compare_paths(answer.paths, sets, table)
