"""The lists that have a key, by name, and the small panes among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from indexes.model.answers import Hit
from navigator.tui.context import Context
from navigator.tui.debounce import TypeAhead
from navigator.tui.lists.compare import ComparePane
from navigator.tui.lists.contribute import ContributePane, NewOperatorPane
from navigator.tui.lists.dispatch_table import DispatchTablePane
from navigator.tui.lists.folder_map import FolderMapPane
from navigator.tui.lists.gaps import GapsPane
from navigator.tui.lists.impact import AffectedPane, ImpactPane
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.lists.plan import PlanPane, is_change
from navigator.tui.place_rows import of_engine, of_hit, of_members


class FindPane(PlacesPane):
    """Search results while typing, with the source of the selected one."""

    LIMIT: ClassVar[int] = 200
    PLACEHOLDER = "operator, C++ symbol, macro, file …"
    INVITATION = "type to search operators, symbols and files"

    def __init__(self, context: Context) -> None:
        super().__init__(context, "find")
        self._type_ahead = TypeAhead(self._find, self._open)

    def typed(self) -> None:
        self._find(self.text)

    def entered(self, text: str) -> None:
        self._type_ahead.enter(text)

    def _open(self) -> None:
        self.post_message(self.Chosen())

    def _find(self, text: str) -> None:
        session = self.context.session
        if not text:
            self.show_rows(())
            self._type_ahead.answered(text)
        elif session is not None:
            self.ask(
                lambda: session.index.find(text, limit=self.LIMIT),
                lambda hits: self._found(text, hits),
            )

    def _found(self, text: str, hits: Sequence[Hit]) -> None:
        if self.context.index is None:
            self.wait("only operators are known", self.typed)
        else:
            self.places.message = f"nothing is named {text}"
        self.show_rows([of_hit(hit) for hit in hits])
        self._type_ahead.answered(text)


class TensorImplPane(PlacesPane):
    """The data members of TensorImpl with type, comment and accessors, beside TensorImpl.h."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, "members of TensorImpl")

    def begin(self) -> None:
        index = self.context.index
        if index is None:
            self.wait("its members are unknown", self.begin)
            return
        self.places.message = "found no data members in TensorImpl.h"
        self.ask(index.tensorimpl, lambda members: self.show_rows(of_members(members), folded=True))


class EnginePane(PlacesPane):
    """Functions of the autograd engine by phase with their calls, beside engine.cpp."""

    def __init__(self, context: Context) -> None:
        super().__init__(context, "phases of a backward pass")

    def begin(self) -> None:
        index = self.context.index
        if index is None:
            self.wait("its functions are unknown", self.begin)
            return
        self.places.message = (
            "The autograd engine (engine.cpp) is not in this source. torchnav clone fetches it."
        )
        self.ask(index.engine, lambda functions: self.show_rows(of_engine(functions)))


LISTS: Mapping[str, Callable[[Context], PlacesPane]] = {
    "affected": AffectedPane,
    "compare": ComparePane,
    "engine": EnginePane,
    "find": FindPane,
    "gaps": GapsPane,
    "map": FolderMapPane,
    "new_operator": NewOperatorPane,
    "tensorimpl": TensorImplPane,
}


def _contribution(context: Context, subject: str) -> PlacesPane:
    """The plan of a gap, or the effects of changing an operator or a place."""
    return (PlanPane if is_change(subject) else ContributePane)(context, subject)


ABOUT: Mapping[str, Callable[[Context, str], PlacesPane]] = {
    "contribute": _contribution,
    "impact": ImpactPane,
    "table": DispatchTablePane,
}
"""Lists about an operator or a place in source."""
