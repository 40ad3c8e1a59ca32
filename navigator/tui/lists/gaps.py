"""Gaps in this tree that could be contributed, beside the source that shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from indexes.model.errors import UsageError
from indexes.queries.gaps.find import find_gaps, fits, parse_filter
from indexes.queries.gaps.kinds import ALL
from indexes.queries.gaps.model import Gap, GapFilter, GapList, KindCount
from navigator.tui.context import Context
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.place_rows import PlaceRow


class GapsPane(PlacesPane):
    """Gaps by kind, filtered while typing; Enter opens the plan for closing one."""

    PLACEHOLDER = (
        "words, kind:todo, key:MPS, module:linalg, owner:, easy, likely, no-gpu, mac, hour,"
        " python-only …"
    )
    INVITATION = "looking for gaps …"

    _gaps: GapList | None = None

    def __init__(self, context: Context) -> None:
        super().__init__(context, "gaps")

    def begin(self) -> None:
        index = self.context.index
        if index is None:
            self.wait("gaps are unknown", self.begin)
        else:
            self.ask(lambda: find_gaps(index, GapFilter(ALL)), self._found)

    def _found(self, gaps: GapList) -> None:
        self._gaps = gaps
        self.typed()

    def subject(self) -> str:
        """The operator of the selected gap, or its line."""
        row = self.places.current
        return row.op or str(row.location) if row is not None else ""

    def typed(self) -> None:
        """The gaps that match the filter, under a heading for each kind."""
        if self._gaps is None:
            return
        try:
            query = parse_filter(self.text)
        except UsageError as error:
            self.show_message(str(error))
            return
        self.places.message = "no matching gaps"
        gaps = [gap for gap in self._gaps.gaps if fits(gap, query)]
        self.show_rows(list(gap_rows(self._gaps.counts, gaps)), folded=True)


def gap_rows(counts: Sequence[KindCount], gaps: Sequence[Gap]) -> Iterator[PlaceRow]:
    """Rows by kind, each gap with indented evidence; kinds that are unknown here come last."""
    titles = {one.kind: one for one in counts}
    for (difficulty, kind, confidence), group in groupby(gaps, key=_heading):
        rows = list(group)
        sure = ", only possible" if confidence == "possible" else ""
        yield PlaceRow(f"{difficulty} · {titles[kind].title}: {len(rows):,} ({kind}{sure})")
        for gap in rows:
            yield from _gap_rows(gap)
    for count in counts:
        if count.lacks:
            yield PlaceRow(f"? {count.title}: unknown here")
            yield PlaceRow(f"  {count.lacks}")


def _heading(gap: Gap) -> tuple[str, str, str]:
    return gap.difficulty, gap.kind, gap.confidence


def _gap_rows(gap: Gap) -> Iterator[PlaceRow]:
    evidence = [place for place in gap.evidence if place != gap.location]
    owners = f"reviewed by {', '.join(gap.owners)}\n" if gap.owners else ""
    comment = f"{gap.what}\nbecause {gap.rule}\n{owners}{gap.contribute}"
    yield PlaceRow(
        gap.name,
        gap.location,
        "",
        gap.what,
        gap.op,
        comment=comment,
        below=len(evidence),
        change=gap.id,
    )
    for place in evidence:
        yield PlaceRow(str(place), place, "see", op=gap.op, depth=1, change=gap.id)
