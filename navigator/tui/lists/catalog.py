"""The lists that have a key, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from navigator.tui.context import Context
from navigator.tui.lists.affected import AffectedPane
from navigator.tui.lists.compare import ComparePane
from navigator.tui.lists.contribute import ContributePane
from navigator.tui.lists.dispatch_table import DispatchTablePane
from navigator.tui.lists.find import FindPane
from navigator.tui.lists.folder_map import FolderMapPane
from navigator.tui.lists.gaps import GapsPane
from navigator.tui.lists.impact import ImpactPane
from navigator.tui.lists.new_operator import NewOperatorPane
from navigator.tui.lists.places_pane import PlacesPane
from navigator.tui.lists.plan import PlanPane, is_change
from navigator.tui.lists.structure import EnginePane, TensorImplPane

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
    """The plan of a gap, or all that a change of an operator or a place may touch."""
    return (PlanPane if is_change(subject) else ContributePane)(context, subject)


ABOUT: Mapping[str, Callable[[Context, str], PlacesPane]] = {
    "contribute": _contribution,
    "impact": ImpactPane,
    "table": DispatchTablePane,
}
"""Those that are about an operator or a place in source."""
