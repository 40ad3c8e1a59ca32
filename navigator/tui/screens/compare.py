"""What differs from another version to this tree, beside the source as it is now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from indexes.queries.diff.model import Change, Diff
from navigator.text.answers import version_words
from navigator.text.diff import TITLES, counts, title
from navigator.tui.config import Config
from navigator.tui.debounce import Debounce
from navigator.tui.messages import Failed
from navigator.tui.place_rows import PlaceRow
from navigator.tui.processes.preview import REASON
from navigator.tui.screens.early_keys import EarlyKeys
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session
from navigator.tui.text import one_line
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.place_list import PlaceList

_ABOUT = "compare"


class Compared(Message):
    """The comparison with a version."""

    def __init__(self, name: str, diff: Diff) -> None:
        super().__init__()
        self.name = name
        self.diff = diff


class CompareScreen(PlacesScreen, EarlyKeys):
    """The first word typed names the version, enter compares; more words choose among what
    differs while they are typed."""

    _name = ""
    _diff: Diff | None = None

    def __init__(self, session: Session, config: Config) -> None:
        super().__init__(session, config, "compare with")
        self._index = session.index
        self._soon = Debounce(self, 0.05)

    def compose_input(self) -> ComposeResult:
        yield FilterInput(
            placeholder="v2.6.0, HEAD~20, a folder, wheel … then words", target=PlaceList
        )

    def focus_first(self) -> None:
        self.places.message = "name a version and press enter: a tag, commit, folder, or wheel"
        self.begin_in(self.query_one(FilterInput))

    @property
    def words(self) -> list[str]:
        return self.query_one(FilterInput).value.split()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._soon(self._show)

    def action_choose(self) -> None:
        # Keys that were typed before this one may still be on their way into the line.
        self.query_one(FilterInput).call_later(self._choose)

    def _choose(self) -> None:
        self._soon.cancel()
        name = next(iter(self.words), "")
        if name and name != self._name:
            self._compare(name)
        else:
            self._show()
            self.set_focus(self.places)

    def _compare(self, name: str) -> None:
        from indexes.queries.diff.compare import compare_with
        from indexes.queries.index import Index

        index = self._index
        if not isinstance(index, Index):
            self.places.message = f"nothing can be compared: {REASON}"
            self.show_rows(())
            return
        self._name, self._diff = name, None
        self.places.message = f"comparing with {one_line(name)} …"
        self.show_rows(())
        self.ask(_ABOUT, lambda: Compared(name, compare_with(name, index)))

    def on_compared(self, message: Compared) -> None:
        self._diff = message.diff
        self._show()

    def on_failed(self, message: Failed) -> None:
        if message.about == _ABOUT:
            self._name = ""
            self.places.message = one_line(str(message.error))
            self.show_rows(())
        else:
            super().on_failed(message)

    def action_search(self) -> None:
        if self.is_in_source:
            super().action_search()
        else:
            self.set_focus(self.query_one(FilterInput))

    def _show(self) -> None:
        """What differs and has all the words, under a heading for each facet."""
        if self._diff is None or self.words[:1] != [self._name]:
            return
        wanted = [word.lower() for word in self.words[1:]]
        chosen = [one for one in self._diff.changes if _has(one, wanted)]
        self.places.message = "nothing that differs has these words" if wanted else "no difference"
        self._title = f"from {version_words(self._diff.before)}"
        self.show_rows(list(change_rows(self._diff.notes, chosen)))


def _has(change: Change, words: Sequence[str]) -> bool:
    sides = (side.text for side in (change.before, change.after) if side)
    parts = (change.facet, change.what, change.backward, change.subject, *change.ops, *sides)
    text = " ".join(parts).lower()
    return all(word in text for word in words)


def change_rows(notes: Sequence[str], changes: Sequence[Change]) -> Iterator[PlaceRow]:
    """Rows by facet. A place is one of this tree: what is gone has none."""
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
