"""Parts of a workspace, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.containers import Vertical
from textual.widget import Widget

from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.line_list import LineList


class Pane(Vertical):
    """While the keys go to it, the class ``-in-NAME`` is on the screen."""

    NAME: ClassVar = ""

    @property
    def stops(self) -> Sequence[Widget]:
        """What tab goes through."""
        raise NotImplementedError


class MainPane(Pane):
    """The pane in which a reader chooses what the others show."""

    @property
    def filter(self) -> FilterInput | None:
        """The line above the list, if there is one."""
        return next(iter(self.query(FilterInput)), None)

    @property
    def list(self) -> LineList:
        """The list that is on screen."""
        return self.query_one(LineList)

    @property
    def stops(self) -> Sequence[Widget]:
        return [one for one in (self.filter, self.list) if one is not None]
