"""What is missing in this tree: openings for a contribution, beside the source that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from indexes.model.errors import UsageError
from indexes.queries.gaps.model import Gap, GapList, KindCount
from navigator.tui.config import Config
from navigator.tui.debounce import Debounce
from navigator.tui.place_rows import PlaceRow
from navigator.tui.processes.preview import REASON
from navigator.tui.screens.early_keys import EarlyKeys
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.place_list import PlaceList


class GapsLoaded(Message):
    """All gaps of the tree."""

    def __init__(self, answer: GapList) -> None:
        super().__init__()
        self.answer = answer


class GapsScreen(PlacesScreen, EarlyKeys):
    """Gaps by kind, filtered while one types; enter goes to the chain at the gap's line."""

    _gaps: GapList | None = None

    def __init__(self, session: Session, config: Config) -> None:
        super().__init__(session, config, "gaps")
        self._index = session.index
        self._soon = Debounce(self, 0.05)

    def compose_input(self) -> ComposeResult:
        yield FilterInput(
            placeholder="words, kind:todo, key:MPS, module:linalg, owner:, easy …", target=PlaceList
        )

    def focus_first(self) -> None:
        self.places.message = "looking for gaps …"
        self.begin_in(self.query_one(FilterInput))

    def on_mount(self) -> None:
        super().on_mount()
        from indexes.queries.gaps.find import find_gaps
        from indexes.queries.index import Index

        index = self._index
        if not isinstance(index, Index):
            self.places.message = f"no gap can be told: {REASON}"
            return
        self.ask("gaps", lambda: GapsLoaded(find_gaps(index)))

    def on_gaps_loaded(self, message: GapsLoaded) -> None:
        self._gaps = message.answer
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        self._soon(self._show)

    def action_choose(self) -> None:
        self._soon.cancel()
        self._show()
        self.set_focus(self.places)

    def action_search(self) -> None:
        if self.is_in_source:
            super().action_search()
        else:
            self.set_focus(self.query_one(FilterInput))

    def subject_here(self) -> str:
        """What ``c`` is about: the operator of the gap under the cursor, or its line."""
        row = self.places.current
        if self.is_in_source or row is None:
            return super().subject_here()
        return row.op or str(row.location)

    def _show(self) -> None:
        """The gaps that the filter line leaves, under a heading for each kind."""
        from indexes.queries.gaps.find import fits, parse_filter

        if self._gaps is None:
            return
        try:
            wanted = parse_filter(self.query_one(FilterInput).value)
        except UsageError as error:
            self.places.message = str(error)
            self.show_rows(())
            return
        self.places.message = "no gap fits"
        gaps = [gap for gap in self._gaps.gaps if fits(gap, wanted)]
        self.show_rows(list(gap_rows(self._gaps.counts, gaps)), folded=True)


def gap_rows(counts: Sequence[KindCount], gaps: Sequence[Gap]) -> Iterator[PlaceRow]:
    """Rows by kind, each gap with its evidence set in below; kinds that cannot be told last."""
    titles = {one.kind: one for one in counts}
    for (difficulty, kind), group in groupby(gaps, key=lambda gap: (gap.difficulty, gap.kind)):
        rows = list(group)
        yield PlaceRow(f"{difficulty} · {len(rows):,} {titles[kind].title} ({kind})")
        for gap in rows:
            yield from _gap_rows(gap)
    for one in counts:
        if one.lacks:
            yield PlaceRow(f"? {one.title}: cannot be told here")
            yield PlaceRow(f"  {one.lacks}")


def _gap_rows(gap: Gap) -> Iterator[PlaceRow]:
    evidence = [place for place in gap.evidence if place != gap.location]
    owners = f"reviewed by {', '.join(gap.owners)}\n" if gap.owners else ""
    comment = f"{gap.what}\nbecause {gap.rule}\n{owners}{gap.contribute}"
    yield PlaceRow(
        gap.name, gap.location, "", gap.what, gap.op, comment=comment, below=len(evidence)
    )
    for place in evidence:
        yield PlaceRow(str(place), place, "see", op=gap.op, depth=1)
