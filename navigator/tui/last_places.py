"""Where the reader was when the screen was last left, for each tree, kept in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from platformdirs import user_state_path

from indexes.source.files import read_file
from navigator.tui.history import Visit

_PLACES = 20
"""How many are kept of a tree."""
_TREES = 50
"""Of how many trees; those left last."""
_Kept = dict[str, list[Visit]]


def state_file() -> Path:
    """Where places are kept: in the platform's folder for what programs remember."""
    return user_state_path("torchnav", appauthor=False) / "places.json"


@dataclass(frozen=True, slots=True)
class LastPlaces:
    """The places of each tree in a file; without a file nothing is remembered."""

    file: Path | None = None

    def of(self, root: str) -> Sequence[Visit]:
        """The places of a tree, the last one at the end. What cannot be read counts as none."""
        return self._read().get(root, ())

    def keep(self, root: str, visits: Sequence[Visit]) -> None:
        """Remember the places of a tree. A disk that takes nothing is no reason to stop."""
        if self.file is None or not visits:
            return
        others = {name: kept for name, kept in self._read().items() if name != root}
        every = [*others.items(), (root, list(visits[-_PLACES:]))]
        beside = self.file.with_name(f"{self.file.name}.{os.getpid()}")
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            beside.write_bytes(msgspec.json.encode(dict(every[-_TREES:])))
            beside.replace(self.file)

    def _read(self) -> Mapping[str, list[Visit]]:
        if self.file is None:
            return {}
        try:
            return msgspec.json.decode(read_file(self.file), type=_Kept)
        except (OSError, msgspec.DecodeError):
            return {}
