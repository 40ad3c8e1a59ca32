"""Differences between another version and this tree, beside the present source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from indexes.model.errors import TorchnavError
from indexes.queries.diff.compare import compare_with
from indexes.queries.diff.model import Change, Diff
from navigator.text.answers import version_words
from navigator.text.diff import TITLES, counts, title
from navigator.tui.context import Context
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.place_rows import PlaceRow
from navigator.tui.text import one_line


class ComparePane(PlacesPane):
    """The first word names a version, which Enter compares; more words filter the differences."""

    PLACEHOLDER = "v2.6.0, HEAD~20, a folder, wheel … then words"
    INVITATION = "name a version and press enter: a tag, commit, folder, or wheel"

    _version = ""
    _diff: Diff | None = None

    def __init__(self, context: Context) -> None:
        super().__init__(context, "compare with")

    def entered(self, text: str) -> None:
        name = next(iter(text.split()), "")
        if name and name != self._version:
            self._compare_with(name)
        else:
            super().entered(text)

    def _compare_with(self, name: str) -> None:
        index = self.context.index
        if index is None:
            self.wait("nothing can be compared", lambda: self._compare_with(name))
            return
        self._version, self._diff = name, None
        self.show_message(f"comparing with {one_line(name)} …")
        self.ask(lambda: compare_with(name, index), self._compared)

    def _compared(self, diff: Diff) -> None:
        self._diff = diff
        self.typed()

    def failed(self, error: TorchnavError) -> None:
        self._version = ""
        super().failed(error)

    def typed(self) -> None:
        """The differences that match all words, under a heading for each facet."""
        name, *words = self.text.lower().split() or [""]
        if self._diff is None or name != self._version.lower():
            return
        chosen = [change for change in self._diff.changes if _has(change, words)]
        self.places.message = "no difference matches" if words else "no difference"
        self.title = f"from {version_words(self._diff.before)}"
        self.show_rows(list(change_rows(self._diff.notes, chosen)))


def _has(change: Change, words: Sequence[str]) -> bool:
    sides = (side.text for side in (change.before, change.after) if side)
    parts = (change.facet, change.what, change.backward, change.subject, *change.ops, *sides)
    text = " ".join(parts).lower()
    return all(word in text for word in words)


def change_rows(notes: Sequence[str], changes: Sequence[Change]) -> Iterator[PlaceRow]:
    """Rows by facet. Places are in this tree: removed things have none."""
    for note in notes:
        yield PlaceRow(f"? {note}")
    for facet, group in groupby(changes, key=lambda change: change.facet):
        found = list(group)
        yield PlaceRow(f"{TITLES[facet]}: {counts(found)}")
        yield from map(_row, found)


def _row(change: Change) -> PlaceRow:
    name = title(change)
    was = f"was {change.before.text}" if change.before else ""
    if change.after is None or change.after.location is None:
        return PlaceRow(f"  - {name}: {was}")
    kind = "breaking" if change.backward == "breaking" else change.what
    comment = "\n".join(filter(None, (change.after.text, was, *change.rules)))
    op = change.ops[0] if change.ops else None
    return PlaceRow(name, change.after.location, kind, change.after.text, op, comment=comment)
