"""Who uses a place, and what is reached if it changes: each operator with the way to it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message

from indexes.impact_model import Impact, ReachedOperator, Step
from indexes.model import Location
from navigator.tui.config import Config
from navigator.tui.place_rows import PlaceRow
from navigator.tui.preview import REASON
from navigator.tui.screens.places import PlacesScreen
from navigator.tui.session import Session

if TYPE_CHECKING:
    from indexes.impacts import Impacts


class ImpactLoaded(Message):
    """An impact, first without its tests, then with them."""

    def __init__(self, callers: Impact, found: Impact, whole: bool) -> None:
        super().__init__()
        self.callers = callers
        self.found = found
        self.whole = whole


class ImpactScreen(PlacesScreen):
    """The uses of one subject, the operators that it reaches, Python names and tests."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("C", "copy_command", "Copy command", id="impact.command"),
    ]

    _impacts: Impacts | None = None

    def __init__(self, session: Session, config: Config, subject: str) -> None:
        super().__init__(session, config, f"impact: {subject}")
        self._subject = subject
        self._commands: dict[PlaceRow, str] = {}

    def on_mount(self) -> None:
        from indexes.query import Index

        super().on_mount()
        index = self.session.index if self.session else None
        if not isinstance(index, Index):
            self.places.message = f"nothing can be followed: {REASON}"
            return
        self.places.message = "looking for uses, and for what they lead to …"
        from indexes.impacts import Impacts

        self._impacts = Impacts(index)
        self.ask("impact", self._first)

    def _first(self) -> ImpactLoaded:
        assert self._impacts is not None
        callers = self._impacts.callers(self._subject)
        return ImpactLoaded(callers, self._impacts.impact(self._subject, tests=False), False)

    def on_impact_loaded(self, message: ImpactLoaded) -> None:
        at, impacts = self.places.cursor, self._impacts
        self.places.message = ""
        rows = [*_uses(message.callers), *_reached(message.found), *self._tests(message)]
        self.show_rows(rows, folded=True)
        self.places.cursor = min(at, max(len(rows) - 1, 0))
        if not message.whole and impacts is not None:
            callers, found = message.callers, message.found
            self.ask("impact", lambda: ImpactLoaded(callers, impacts.with_tests(found), True))

    def on_failed(self, message: Message) -> None:
        self.places.message = "nothing is known about this place"
        super().on_failed(message)  # type: ignore[arg-type]

    def _tests(self, message: ImpactLoaded) -> Iterator[PlaceRow]:
        tests = message.found.tests
        yield PlaceRow(f"Tests ({len(tests)})" if message.whole else "Tests: looking …")
        for one in tests:
            row = PlaceRow(one.command, Location(one.path, 1), "test", one.confidence,
                           comment=f"$ {one.command}\n{one.reason}")  # fmt: skip
            self._commands[row] = one.command
            yield row
        for line in message.found.unresolved if message.whole else ():
            yield PlaceRow(f"not followed: {line}")

    def action_copy_command(self) -> None:
        """Put the command of the row on the clipboard."""
        row = self.places.current
        self.copy(lambda: self._commands.get(row, "") if row else "")


def _uses(callers: Impact) -> Iterator[PlaceRow]:
    users = [step for step in callers.steps if step.parent is not None]
    yield PlaceRow(f"Used by ({len(users)})")
    for step in users:
        yield _step_row(step)


def _step_row(step: Step, depth: int = 0) -> PlaceRow:
    sure: str = step.confidence
    if step.candidates > 1:
        sure = f"{sure}, one of {step.candidates}"
    place = step.evidence or step.location
    return PlaceRow(step.symbol, place, step.kind, "" if sure == "exact" else f"[{sure}]",
                    depth=depth, comment=f"{step.rule}\n{sure}")  # fmt: skip


def _reached(found: Impact) -> Iterator[PlaceRow]:
    own = [one for one in found.operators if not one.dispatches]
    further = [one for one in found.operators if one.dispatches]
    yield from _operators(f"Operators reached ({len(own)})", own, found)
    if further:
        yield from _operators(f"Operators that call those ({len(further)})", further, found)
    if found.apis:
        yield PlaceRow(f"Python names ({len(found.apis)})")
        for api in found.apis:
            yield PlaceRow(api.name, api.location, "python", comment=api.rule)


def _operators(title: str, listed: list[ReachedOperator], found: Impact) -> Iterator[PlaceRow]:
    yield PlaceRow(title)
    for one in listed:
        way = found.way(one.step)[:-1]
        sure = "" if one.confidence == "exact" else f" [{one.confidence}]"
        yield PlaceRow(
            one.name, one.location, "operator", f"{', '.join(one.aspects)}{sure}", one.name,
            comment=found.steps[one.step].rule, below=len(way),
        )  # fmt: skip
        for step in reversed(way):
            yield _step_row(step, depth=1)
