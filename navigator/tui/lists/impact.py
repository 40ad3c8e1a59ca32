"""Uses of a place, and effects of changes with the path to each operator."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.errors import TorchnavError
from indexes.model.impact import Affected, Impact, ReachedOperator, Step
from indexes.model.vocabulary import Location
from indexes.queries.impact.affected import affected
from indexes.queries.impact.answers import Impacts
from navigator.text.answers import sureness
from navigator.text.impact import reached_as
from navigator.tui.background import complain
from navigator.tui.context import Context
from navigator.tui.lists.checklist import CommandsPane
from navigator.tui.place_rows import PlaceRow
from navigator.tui.text import one_line


def uses_rows(callers: Impact) -> Iterator[PlaceRow]:
    """Each use of the subject."""
    users = [step for step in callers.steps if step.parent is not None]
    yield PlaceRow(f"Used by ({len(users)})")
    for step in users:
        yield _step_row(step)


def reached_rows(found: Impact) -> Iterator[PlaceRow]:
    """Operators with the indented path to each, and Python names."""
    direct = [operator for operator in found.operators if not operator.dispatches]
    further = [one for one in found.operators if one.dispatches]
    yield from _operators(f"Operators reached ({len(direct)})", direct, found)
    if further:
        yield from _operators(f"Operators that call those ({len(further)})", further, found)
    for one in found.folded:
        yield PlaceRow(f"+ {one.count} {one.what}: {one.how}")
    if found.apis:
        yield PlaceRow(f"Python names ({len(found.apis)})")
        for api in found.apis:
            yield PlaceRow(api.name, api.location, "python", comment=api.rule)


def test_rows(found: Impact) -> Iterator[PlaceRow]:
    """Tests with their commands, and notes on what was not followed."""
    yield PlaceRow(f"Tests ({len(found.tests)})")
    for test in found.tests:
        comment = f"$ {test.command}\n{test.reason}"
        shown = (test.command, Location(test.path, 1), "test", test.confidence)
        yield PlaceRow(*shown, comment=comment, command=test.command)
    for line in found.unresolved:
        yield PlaceRow(f"not followed: {line}")


def change_rows(found: Affected) -> Iterator[PlaceRow]:
    """Changes, and files with changed layout only."""
    yield PlaceRow(f"{found.target} against {found.base}: {len(found.changes)} changes")
    for change in found.changes:
        at = change.location if change.location.line else Location(change.location.path, 1)
        what = f"{change.what} {change.kind}"
        comment = ": ".join(filter(None, (what, change.detail)))
        yield PlaceRow(change.name, at, change.what, change.kind, comment=comment)
    for path in found.quiet:
        words = "white space or comments only"
        comment = "only white space or comments differ: nothing is affected"
        yield PlaceRow(path, Location(path, 1), "quiet", words, comment=comment)


def _checks(found: Affected) -> Iterator[PlaceRow]:
    if found.checks:
        yield PlaceRow(f"Documentation: commands that build and check it ({len(found.checks)})")
    for one in found.checks:
        shown = (one.command, one.location, one.purpose)
        yield PlaceRow(*shown, comment=one.note, command=one.command)


def _step_row(step: Step, depth: int = 0) -> PlaceRow:
    sure = sureness(step.confidence)
    if step.candidates > 1:
        sure = f"{sure}, one of {step.candidates}"
    place = step.evidence or step.location
    return PlaceRow(
        step.symbol,
        place,
        step.kind,
        "" if sure == "exact" else f"[{sure}]",
        depth=depth,
        comment=f"{step.rule}\n{sure}",
    )


def _operators(title: str, listed: list[ReachedOperator], found: Impact) -> Iterator[PlaceRow]:
    yield PlaceRow(title)
    for one in listed:
        way = found.way(one.step)[:-1]
        sure = sureness(one.confidence, " [{}]")
        yield PlaceRow(
            one.name,
            one.location,
            "operator",
            f"{reached_as(one)}{sure}",
            one.name,
            comment=found.steps[one.step].rule,
            below=len(way),
        )
        for step in reversed(way):
            yield _step_row(step, depth=1)


class ImpactPane(CommandsPane):
    """The uses of a subject, and affected operators, Python names and tests."""

    def __init__(self, context: Context, subject: str) -> None:
        super().__init__(context, f"impact: {subject}")
        self._subject = subject

    def begin(self) -> None:
        index, subject = self.context.index, self._subject
        if index is None:
            self.wait("nothing can be followed", self.begin)
            return
        self.show_message("following its uses …")
        impacts = Impacts(index)
        self.ask(
            lambda: (impacts.callers(subject), impacts.impact(subject, tests=False)),
            lambda found: self._show_first(impacts, *found),
        )

    def _show_first(self, impacts: Impacts, callers: Impact, found: Impact) -> None:
        """Everything except the tests, which take longest."""
        known = [*uses_rows(callers), *reached_rows(found)]
        self._show([*known, PlaceRow("Tests: looking …")])
        self.ask(
            lambda: impacts.with_tests(found), lambda whole: self._show([*known, *test_rows(whole)])
        )

    def _show(self, rows: list[PlaceRow]) -> None:
        at = self.places.cursor
        self.places.message = ""
        self.show_rows(rows, folded=True)
        self.places.cursor = min(at, max(len(rows) - 1, 0))

    def failed(self, error: TorchnavError) -> None:
        self.places.message = "nothing is indexed at this place"
        complain(self, str(error))


class AffectedPane(CommandsPane):
    """Effects of uncommitted work, or of a commit or ``A..B`` typed above the list."""

    PLACEHOLDER = "/ for since HEAD~3, or v2.6.0..v2.7.0; empty: uncommitted work"

    _commits: str | None = None

    def __init__(self, context: Context) -> None:
        super().__init__(context, "affected")

    def begin(self) -> None:
        self._ask_for("")

    def entered(self, text: str) -> None:
        if text != self._commits:
            self._ask_for(text)
        self.screen.set_focus(self.places)

    def _ask_for(self, commits: str) -> None:
        index = self.context.index
        if index is None:
            self.wait("nothing can be followed", lambda: self._ask_for(commits))
            return
        self._commits = commits
        what = one_line(commits) if commits else "uncommitted work"
        self.show_message(f"following {what} …")
        self.ask(lambda: affected(index, commits or None), self._show)

    def _show(self, found: Affected) -> None:
        self.places.message = "no changes"
        reached = (*reached_rows(found.impact), *test_rows(found.impact)) if found.changes else ()
        self.show_rows([*change_rows(found), *_checks(found), *reached], folded=True)

    def failed(self, error: TorchnavError) -> None:
        self._commits = None
        super().failed(error)
