"""Base classes for panes of a workspace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.containers import Vertical
from textual.widget import Widget

from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.line_list import LineList


class Pane(Vertical):
    """While it has the focus, the screen has the class ``-in-NAME``."""

    NAME: ClassVar = ""

    @property
    def stops(self) -> Sequence[Widget]:
        """The widgets that Tab visits."""
        raise NotImplementedError


class MainPane(Pane):
    """The pane whose selection determines what others show."""

    @property
    def filter(self) -> FilterInput | None:
        """The input above the list, if any."""
        return next(iter(self.query(FilterInput)), None)

    @property
    def list(self) -> LineList:
        """The visible list."""
        return self.query_one(LineList)

    @property
    def stops(self) -> Sequence[Widget]:
        return [one for one in (self.filter, self.list) if one is not None]
