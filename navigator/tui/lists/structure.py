"""What a tensor is made of, and how a backward pass runs: lists that need no question."""

from __future__ import annotations

from navigator.tui.context import Context
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.place_rows import of_engine, of_members


class TensorImplPane(PlacesPane):
    """The data members of TensorImpl with type, comment and accessors, beside TensorImpl.h."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, "members of TensorImpl")

    def begin(self) -> None:
        self.places.message = "found no data members in TensorImpl.h"
        if session := self.context.session:
            self.ask(
                session.index.tensorimpl,
                lambda members: self.show_rows(of_members(members), folded=True),
            )


class EnginePane(PlacesPane):
    """Functions of the autograd engine by phase with the calls they make, beside engine.cpp."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, "phases of a backward pass")

    def begin(self) -> None:
        self.places.message = (
            "The autograd engine (engine.cpp) is not in this source. torchnav clone fetches it."
        )
        if session := self.context.session:
            self.ask(session.index.engine, lambda functions: self.show_rows(of_engine(functions)))
