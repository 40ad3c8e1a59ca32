"""Rows of a trace gathered by what they have in common, most time first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from navigator.trace.groups import Group
from navigator.trace.wording import duration
from navigator.tui.text import one_line
from navigator.tui.widgets.line_list import LineList, Piece, fill

_BAR = 12


class GroupList(LineList):
    """Groups with a bar for their share of the time."""

    _groups: Sequence[Group] = ()

    @property
    def row_count(self) -> int:
        return len(self._groups)

    @property
    def current(self) -> Group | None:
        return self._groups[self.cursor] if self.cursor < len(self._groups) else None

    def show(self, groups: Sequence[Group]) -> None:
        self._groups = groups
        self._most = max((group.own_us for group in groups), default=0.0)
        self.rows_changed()

    _most = 0.0

    def row(self, index: int, width: int) -> Iterable[Piece]:
        group = self._groups[index]
        share = round(_BAR * group.own_us / self._most) if self._most else 0
        bar = "█" * share + " " * (_BAR - share)
        right = [
            (f" {group.count:>7,}×", "dim"),
            (f" {duration(group.own_us):>8}", "strong"),
            (f" {duration(group.total_us):>8} ", "dim"),
        ]
        return fill([(f"{bar} ", "accent"), (one_line(group.name), "")], right, width)
