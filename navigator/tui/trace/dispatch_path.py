"""The keys that a call went through, beside the kernel of each."""

from __future__ import annotations

from collections.abc import Iterator

from navigator.trace.dispatch_path import DispatchPath, DispatchStep
from navigator.tui.config import Config
from navigator.tui.place_rows import PlaceRow, of_slots
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session


class DispatchPathScreen(PlacesScreen):
    """Steps in order; the last line says why there are no more."""

    def __init__(self, session: Session | None, config: Config, path: DispatchPath) -> None:
        title = f"dispatch path of {path.op}"
        super().__init__(session, config, title, list(_rows(path)))


def _rows(path: DispatchPath) -> Iterator[PlaceRow]:
    for step in path.steps:
        yield _row(path.op, step)
    yield PlaceRow(f"└ {path.end}")
    if path.assumed:
        yield PlaceRow(f"? {path.assumed}")
    elif not path.is_certain:
        yield PlaceRow("? kernels of some keys are registered in source that is not here")


def _row(op: str, step: DispatchStep) -> PlaceRow:
    slot = step.slot
    if slot is None:
        return PlaceRow(f"{step.key}: this source does not know the key")
    return of_slots(op, [slot])
