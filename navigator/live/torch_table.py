"""Asks the installed torch, in a process of its own, what it says of itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.model.dispatch import DispatchTable
from indexes.model.vocabulary import SourceInfo
from indexes.queries.dispatch_compare import (
    PROBE,
    Difference,
    Installed,
    LiveSlot,
    LiveTable,
    compare,
)
from indexes.source.torch_install import installed_torch, target_python
from navigator.live.asking import ask

if TYPE_CHECKING:
    from indexes.queries.index import Index

_DUMP = Path(__file__).with_name("torch_dump.py")


@dataclass(frozen=True, slots=True)
class LiveTorch:
    """The installed torch."""

    version: str
    commit: str
    tables: Mapping[str, LiveTable]
    """Operator -> its dispatch table."""
    nodes: frozenset[str]
    """Names of the autograd Node classes."""


def live_torch(operators: Iterable[str]) -> LiveTorch:
    """Runs Python with torch once. Raises SourceError, in one line, when there is no torch."""
    data = ask(target_python().path, str(_DUMP), words="\n".join(operators))
    slots = [LiveSlot(*slot) for slot in data["slots"]]
    tables = {
        op: {key: slots[number] for key, number in row.items()}
        for op, row in data["tables"].items()
    }
    return LiveTorch(data["version"], data["commit"], tables, frozenset(data["nodes"]))


def is_installed(info: SourceInfo) -> bool:
    """Whether a tree is the source of the installed torch, without asking torch."""
    torch = installed_torch()
    if torch is None:
        return False
    if info.commit is not None and torch.commit is not None:
        return info.commit == torch.commit and not info.dirty
    return info.version.partition("+")[0] == torch.version.partition("+")[0]


def same_version(torch: LiveTorch, info: SourceInfo) -> bool:
    """Whether a tree is the source of the installed torch."""
    if info.commit is not None:
        return info.commit == torch.commit and not info.dirty
    return info.version.partition("+")[0] == torch.version.partition("+")[0]


def differences(index: Index, table: DispatchTable) -> tuple[Difference, ...]:
    """The keys for which the installed torch runs something else, each with the reason."""
    torch = live_torch([table.op, PROBE])
    keys = index.dispatch.keys
    installed = Installed.of(torch.tables[PROBE], keys, same_version(torch, index.info))
    return compare(table, torch.tables[table.op], keys, installed)
