"""Asks the installed torch about itself, in a separate process.

Each question starts Python with torch once, and raises a one-line SourceError on failure.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexes.model.dispatch import DispatchTable, SwitchPaths
from indexes.model.vocabulary import SourceInfo
from indexes.queries.audit.compilers import LiveCompilers, LiveNames, LiveOperator
from indexes.queries.dispatch_path.live import (
    PROBE,
    Difference,
    Installed,
    LiveSets,
    LiveSlot,
    LiveSwitch,
    LiveTable,
    compare,
    compare_paths,
)
from indexes.queries.index import Index
from indexes.source.torch_install import TorchInstall, installed_torch, target_python
from navigator.live.python_process import ask

_FOLDER = Path(__file__).parent
_KEYS = ("tensor", "included", "excluded", "first")


@dataclass(frozen=True, slots=True)
class LiveTorch:
    """The installed torch."""

    version: str
    commit: str
    tables: Mapping[str, LiveTable]
    """Operator -> its dispatch table."""
    nodes: frozenset[str]
    """Names of the autograd Node classes."""


def _run_script(script: str, *arguments: str, words: str = "") -> Any:
    """The answer of a script of this folder, run in the Python with torch."""
    return ask(target_python().path, str(_FOLDER / script), *arguments, words=words)


def live_torch(operators: Iterable[str]) -> LiveTorch:
    """The dispatch tables of operators."""
    data = _run_script("torch_dump.py", words="\n".join(operators))
    slots = [LiveSlot(*slot) for slot in data["slots"]]
    tables = {
        op: {key: slots[number] for key, number in row.items()}
        for op, row in data["tables"].items()
    }
    return LiveTorch(data["version"], data["commit"], tables, frozenset(data["nodes"]))


def is_installed(info: SourceInfo) -> bool:
    """Whether a tree is the source of the installed torch; does not start torch."""
    torch = installed_torch()
    return torch is not None and same_version(torch, info)


def same_version(torch: LiveTorch | TorchInstall, info: SourceInfo) -> bool:
    """Whether a tree is the source of a torch."""
    if info.commit is not None and torch.commit is not None:
        return info.commit == torch.commit and not info.dirty
    return info.version.partition("+")[0] == torch.version.partition("+")[0]


def differences(index: Index, table: DispatchTable) -> tuple[Difference, ...]:
    """Keys for which the installed torch runs something else, with reasons."""
    torch = live_torch([table.op, PROBE])
    keys = index.dispatch.keys
    installed = Installed.of(torch.tables[PROBE], keys, same_version(torch, index.info))
    return compare(table, torch.tables[table.op], keys, installed)


def live_switches(answer: SwitchPaths) -> tuple[LiveSwitch, ...]:
    """Each path, with the dispatch keys that torch uses while a switch is on."""
    answers = _run_script("switches_dump.py", words=answer.backend.lower())
    sets = {
        switch: one if isinstance(one, str) else LiveSets(*(tuple(one[key]) for key in _KEYS))
        for switch, one in answers.items()
    }
    table = live_torch([answer.op]).tables[answer.op]
    return compare_paths(answer.paths, sets, table)


def live_compilers() -> LiveCompilers:
    """Facts about operators from torch's compilers."""
    data = _run_script("compilers_dump.py")
    opinfos = data["opinfos"]
    return LiveCompilers(
        data["lowerings"],
        frozenset(data["core"]),
        frozenset(data["inductor"]),
        None if opinfos is None else frozenset(map(tuple, opinfos)),
    )


def live_libraries() -> dict[str, LiveOperator]:
    """The operators outside aten."""
    data = _run_script("libraries_dump.py")
    return {
        name: LiveOperator(one["schema"], one["place"], one["kernels"])
        for name, one in data["operators"].items()
    }


def live_names(documented: Iterable[str] = (), modules: Sequence[str] = ()) -> LiveNames:
    """Definitions of its public and documented names; takes a minute or two.

    Parameters:
        modules: Restrict public names to these modules.
    """
    words = json.dumps(sorted(documented))
    data = _run_script("names_dump.py", *modules, words=words)
    names, methods = ({n: tuple(p) for n, p in data[key].items()} for key in ("names", "methods"))
    return LiveNames(data["version"], names, methods)
