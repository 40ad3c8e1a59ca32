"""The plan of a change as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from indexes.queries.changes.model import Arrival, ChangeStep, Neighbour, Plan, TestRun
from indexes.queries.contribution.guides import Command
from indexes.queries.contribution.reviewers import Review
from navigator.text.answers import source_lines, version_words, wrap
from navigator.text.clean import clean
from navigator.text.contribution import change_text, fenced, place_rows, visible
from navigator.text.markdown import code, heading, words

_MOST_TESTS = 12
_MOST_FILES = 12
_RELATED = "Related places, which may have to follow"


# ------------------------------------------------------------------------------- text


def plan_lines(plan: Plan) -> Iterator[str]:
    """The plan as plain text."""
    yield clean(f"{plan.change.id}: {plan.change.title}")
    if plan.there:
        rest = (
            "the steps show what a change of it edits" if plan.steps else "there is nothing to do"
        )
        yield from wrap(f"it exists already; {rest}:", "  ")
        yield clean(f"      {plan.there}")
    if plan.change.why:
        yield from wrap(f"because {plan.change.why}", "  ")
    yield from _section(
        "Steps", (line for at, s in enumerate(plan.steps, 1) for line in _step(at, s))
    )
    for neighbour in plan.neighbours:
        yield from ("", *_neighbour(neighbour))
    yield from _section("Tests to run now", _tests(plan.tests, "now"))
    yield from _section("Tests that CI runs", _tests(plan.tests, "ci"))
    yield from _section("Commands", (line for one in plan.commands for line in _command(one)))
    yield from _section("Reviewers", (line for one in plan.reviewers for line in _review(one)))
    yield from _section(_RELATED, _related(plan))
    yield from _section("Unknown", (line for one in plan.missing for line in wrap(one, "  ")))
    yield ""
    yield from source_lines(plan.source)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    found = list(lines)
    if found:
        yield from ("", title, *found)


def _related(plan: Plan) -> Iterator[str]:
    for row in place_rows(plan.related):
        yield clean(f"  {row.text}  {row.location}")


def _neighbour(neighbour: Neighbour) -> Iterator[str]:
    yield clean(f"Neighbour {neighbour.name}")
    yield from wrap(neighbour.why, "  ")
    yield clean(f"      {neighbour.location}")
    yield from _code(neighbour.code)
    if neighbour.more:
        yield f"      ... {neighbour.more} more lines"
    for arrival in neighbour.arrivals:
        yield from wrap(f"added by {change_text(arrival.commit)}", "  ")
        yield from (f"      {line}" for line in file_lines(arrival))
    if neighbour.history_note:
        yield from wrap(f"history: {neighbour.history_note}", "  ")


def file_lines(arrival: Arrival) -> Iterator[str]:
    """The files of a commit with the lines added to each."""
    for file in arrival.files[:_MOST_FILES]:
        added = "binary" if file.added is None else f"+{file.added} -{file.removed}"
        yield clean(f"{file.path} {added}")
    if len(arrival.files) > _MOST_FILES:
        yield f"... {len(arrival.files) - _MOST_FILES} more files"


def _step(number: int, step: ChangeStep) -> Iterator[str]:
    yield from wrap(f"{number}. {step.action}: {step.what}", "  ")
    if step.location.path:
        yield clean(f"      {step.location}")
    if step.why:
        yield from wrap(f"because {step.why}", "      ")
    if step.like:
        yield clean(f"      like {step.like}")
    if step.command:
        yield clean(f"      $ {step.command}")
    yield from _code(step.code)


def _code(lines: Iterable[str]) -> Iterator[str]:
    yield from (f"      | {visible(line)}".rstrip() for line in lines)


def _tests(tests: Sequence[TestRun], tier: str) -> Iterator[str]:
    found = [test for test in tests if test.tier == tier]
    for one in found[:_MOST_TESTS]:
        yield clean(f"  $ {one.command}")
        if one.why:
            yield from wrap(one.why, "      ")
    if len(found) > _MOST_TESTS:
        yield f"  ... {len(found) - _MOST_TESTS} more: --json lists all"


def _command(command: Command) -> Iterator[str]:
    note = f": {command.note}" if command.note else ""
    yield from wrap(f"{command.purpose}{note}", "  ")
    yield clean(f"      {command.location}")
    yield clean(f"      $ {command.text}")


def _review(review: Review) -> Iterator[str]:
    yield from wrap(f"{review.kind}: {' '.join(review.who)}", "  ")
    yield clean(f"      {review.location}")
    yield from wrap(f"{review.meaning}; {review.rule} covers {review.path}", "      ")


# --------------------------------------------------------------------------- Markdown


def plan_markdown(plan: Plan) -> Iterator[str]:
    """The plan as a checklist in Markdown."""
    yield f"# {words(plan.change.title)}"
    yield ""
    if plan.there:
        yield f"It exists already: {code(plan.there)}"
    if plan.change.why:
        yield f"Why: {words(plan.change.why)}"
    yield from heading(2, "Steps")
    for step in plan.steps:
        yield from _step_markdown(step)
    for neighbour in plan.neighbours:
        yield from _neighbour_markdown(neighbour)
    yield from _related_markdown(plan)
    if plan.tests:
        yield from heading(2, "Tests")
        yield from (f"- [ ] {code(test.command)}" for test in plan.tests if test.tier == "now")
        yield from (f"- in CI: {code(one.command)}" for one in plan.tests if one.tier == "ci")
    if plan.commands:
        yield from heading(2, "Commands")
        yield from (
            f"- {words(c.purpose)}: {code(c.text)} ({code(c.location)})" for c in plan.commands
        )
    if plan.reviewers:
        yield from heading(2, "Reviewers")
        for review in plan.reviewers:
            who = words(" ".join(review.who))
            yield f"- {words(review.kind)}: {who} ({code(review.location)})"
    yield from ("", *(f"Unknown: {words(one)}" for one in plan.missing))
    yield f"Read from {words(version_words(plan.source))}; {code(plan.change.id)}."


def _related_markdown(plan: Plan) -> Iterator[str]:
    if plan.related:
        yield from heading(2, _RELATED)
    for row in place_rows(plan.related):
        yield f"- {words(row.text)} ({code(row.location)}): {words(row.detail)}"


def _neighbour_markdown(neighbour: Neighbour) -> Iterator[str]:
    yield from heading(2, f"Neighbour {code(neighbour.name)}")
    yield f"{words(neighbour.why)}: {code(neighbour.location)}"
    yield from fenced(neighbour.code)
    for arrival in neighbour.arrivals:
        yield f"- added by {words(change_text(arrival.commit))}"
        yield from (f"  - {code(line)}" for line in file_lines(arrival))


def _step_markdown(step: ChangeStep) -> Iterator[str]:
    where = f" ({code(step.location)})" if step.location.path else ""
    yield f"- [ ] {words(step.action)}: {words(step.what)}{where}"
    if step.why:
        yield f"  because {words(step.why)}"
    if step.like:
        yield f"  like {code(step.like)}"
    if step.command:
        yield f"  {code(step.command)}"
    yield from fenced(step.code, "  ")
