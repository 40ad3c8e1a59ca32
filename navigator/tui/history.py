"""The history of visited places: back and forward as in a browser, and saved between runs."""

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
    """A place on screen: an operator's chain, a place in source, or both."""

    op: str | None = None
    path: str | None = None
    line: int = 0
    end_line: int = 0
    title: str = ""
    """The title: the symbol of the hop, or a looked-up name."""

    @property
    def whole(self) -> Visit:
        """The operator's card, at its schema."""
        return Visit(op=self.op, title=self.title) if self.op == self.title else self


class History:
    """Visits in order, and the index of the present one.

    A visit is updated when the user leaves it, so that going back returns to the line they left.
    """

    LIMIT = 500

    def __init__(self) -> None:
        self._visits: list[Visit] = []
        self._at = -1

    def restore(self, visits: Sequence[Visit]) -> None:
        """Put earlier visits before the present ones."""
        self._visits[:0] = visits
        self._at += len(visits)

    @property
    def current(self) -> Visit | None:
        return self._visits[self._at] if self._visits else None

    def trail(self, limit: int) -> list[Visit]:
        """The last ``limit`` visits up to the present one."""
        return self._visits[max(0, self._at + 1 - limit) : self._at + 1]

    def settle(self, here: Visit) -> None:
        """Record the place where the user came to rest, for going back.

        Another place of the same operator replaces the visit; another operator is a new visit, even
        if it was reached by moving through a list.
        """
        if self.current is not None and self.current.op in (here.op, None):
            self._visits[self._at] = here
        else:
            self._append(here)

    def go(self, here: Visit | None, there: Visit) -> None:
        """Leave ``here`` for ``there``; drops the visits forward of here."""
        if here is not None:
            self.settle(here)
        if self.current != there:
            self._append(there)

    def back(self, here: Visit | None) -> Visit | None:
        """Leave ``here`` for the previous visit; None at the beginning."""
        return self._step(here, -1)

    def forward(self, here: Visit | None) -> Visit | None:
        """Leave ``here`` for the next visit; None at the end."""
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
"""Maximum number of places per tree."""
_TREES = 50
"""Maximum number of trees, the last ones used."""
_Kept = dict[str, list[Visit]]


def state_file() -> Path:
    """The file of last places, in the platform's folder for application state."""
    return user_state_path("torchnav", appauthor=False) / "places.json"


@dataclass(frozen=True, slots=True)
class LastPlaces:
    """The last places of each tree, in a file, if there is one."""

    file: Path | None = None

    def of(self, root: str) -> Sequence[Visit]:
        """The places of a tree, the latest last. Unreadable ones are skipped."""
        return self._read().get(root, ())

    def keep(self, root: str, visits: Sequence[Visit]) -> None:
        """Save the places of a tree. Write errors are ignored."""
        if self.file is None or not visits:
            return
        others = {name: places for name, places in self._read().items() if name != root}
        every = [*others.items(), (root, list(visits[-_PLACES:]))]
        part = self.file.with_name(f"{self.file.name}.{os.getpid()}")
        with suppress(OSError):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            part.write_bytes(msgspec.json.encode(dict(every[-_TREES:])))
            part.replace(self.file)

    def _read(self) -> Mapping[str, list[Visit]]:
        if self.file is None:
            return {}
        try:
            return msgspec.json.decode(read_file(self.file), type=_Kept)
        except (OSError, msgspec.DecodeError):
            return {}
