"""Where the reader has been: back and forward, as in a browser, and where they were when the screen
was last left."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec
from platformdirs import user_state_path

from indexes.source.files import read_file


@dataclass(frozen=True, slots=True)
class Visit:
    """What was on screen: an operator's chain, a place in source, or both."""

    op: str | None = None
    path: str | None = None
    line: int = 0
    end_line: int = 0
    title: str = ""
    """What the place is: the symbol of the hop, or a name that was looked up."""

    @property
    def whole(self) -> Visit:
        """The operator's card, where the reader was at no place of its own: at its schema."""
        return Visit(op=self.op, title=self.title) if self.op == self.title else self


class History:
    """Visits in the order they were made, and which of them is shown.

    The shown visit is updated on leaving it, so that going back returns to the very
    line one left and not to the line one came to.
    """

    LIMIT = 500

    def __init__(self) -> None:
        self._visits: list[Visit] = []
        self._at = -1

    def restore(self, visits: Sequence[Visit]) -> None:
        """What was visited before comes before what is visited now."""
        self._visits[:0] = visits
        self._at += len(visits)

    @property
    def current(self) -> Visit | None:
        return self._visits[self._at] if self._visits else None

    def trail(self, limit: int) -> list[Visit]:
        """The last ``limit`` visits up to the one shown."""
        return self._visits[max(0, self._at + 1 - limit) : self._at + 1]

    def settle(self, here: Visit) -> None:
        """The reader has come to rest ``here``: going back will return to it.

        Another place of the operator that is current replaces it; another operator is a
        visit of its own, also when it was only reached by moving through a list.
        """
        if self.current is not None and self.current.op in (here.op, None):
            self._visits[self._at] = here
        else:
            self._append(here)

    def go(self, here: Visit | None, there: Visit) -> None:
        """Leave ``here`` for ``there``; what was forward of here is forgotten."""
        if here is not None:
            self.settle(here)
        if self.current != there:
            self._append(there)

    def back(self, here: Visit | None) -> Visit | None:
        """Leave ``here`` for the visit before; None at the beginning."""
        return self._step(here, -1)

    def forward(self, here: Visit | None) -> Visit | None:
        """Leave ``here`` for the visit after; None at the end."""
        return self._step(here, +1)

    def _step(self, here: Visit | None, by: int) -> Visit | None:
        if here is not None:
            self.settle(here)
        if not 0 <= self._at + by < len(self._visits):
            return None
        self._at += by
        return self._visits[self._at]

    def _append(self, visit: Visit) -> None:
        del self._visits[self._at + 1 :]
        self._visits.append(visit)
        del self._visits[: -self.LIMIT]
        self._at = len(self._visits) - 1


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
