"""How a neighbour got what a change is about: the commits, and the files that they touched."""

from __future__ import annotations

from dataclasses import replace

from indexes.queries.changes.model import Arrival, Neighbour, TouchedFile
from indexes.source.git_history import History
from indexes.source.source import Source

_MOST = 2
"""So many commits are told of each neighbour."""


class Arrivals:
    """The history of one tree, asked for what brought something in."""

    def __init__(self, source: Source) -> None:
        self._history = History(source)

    def add(self, neighbour: Neighbour) -> Neighbour:
        """The neighbour with the commits that brought its word into its file."""
        if neighbour.row is None or not neighbour.word:
            return neighbour
        found = self._history.bringing(neighbour.word, neighbour.row.path, _MOST)
        arrivals = tuple(
            Arrival(change, tuple(TouchedFile(*file) for file in self._history.files(change)))
            for change in found.changes
        )
        return replace(neighbour, arrivals=arrivals, history_note=found.note)
