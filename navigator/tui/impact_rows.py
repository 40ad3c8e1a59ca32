"""What uses a place, what a change reaches and which tests cover that, as rows of a list."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.impact import Affected, Impact, ReachedOperator, Step
from indexes.model.vocabulary import Location
from navigator.text.answers import sureness
from navigator.text.impact import reached_as
from navigator.tui.place_rows import PlaceRow


def uses_rows(callers: Impact) -> Iterator[PlaceRow]:
    """Each use of what was asked for."""
    users = [step for step in callers.steps if step.parent is not None]
    yield PlaceRow(f"Used by ({len(users)})")
    for step in users:
        yield _step_row(step)


def reached_rows(found: Impact) -> Iterator[PlaceRow]:
    """Operators, each with its way set in below, and Python names."""
    own = [one for one in found.operators if not one.dispatches]
    further = [one for one in found.operators if one.dispatches]
    yield from _operators(f"Operators reached ({len(own)})", own, found)
    if further:
        yield from _operators(f"Operators that call those ({len(further)})", further, found)
    for one in found.folded:
        yield PlaceRow(f"+ {one.count} {one.what}: {one.how}")
    if found.apis:
        yield PlaceRow(f"Python names ({len(found.apis)})")
        for api in found.apis:
            yield PlaceRow(api.name, api.location, "python", comment=api.rule)


def test_rows(found: Impact) -> Iterator[tuple[PlaceRow, str]]:
    """Rows of tests, each with its command, and of what is not followed, without."""
    yield PlaceRow(f"Tests ({len(found.tests)})"), ""
    for one in found.tests:
        comment = f"$ {one.command}\n{one.reason}"
        at = Location(one.path, 1)
        yield PlaceRow(one.command, at, "test", one.confidence, comment=comment), one.command
    for line in found.unresolved:
        yield PlaceRow(f"not followed: {line}"), ""


def change_rows(found: Affected) -> Iterator[PlaceRow]:
    """What differs, and the files of which only the layout does."""
    yield PlaceRow(f"{found.target} against {found.base}: {len(found.changes)} changes")
    for one in found.changes:
        at = one.location if one.location.line else Location(one.location.path, 1)
        what = f"{one.what} {one.kind}"
        comment = ": ".join(filter(None, (what, one.detail)))
        yield PlaceRow(one.name, at, one.what, one.kind, comment=comment)
    for path in found.quiet:
        words = "white space or comments only"
        comment = "only white space or comments differ: nothing is affected"
        yield PlaceRow(path, Location(path, 1), "quiet", words, comment=comment)


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
