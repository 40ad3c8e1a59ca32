"""A contribution as sections of rows, for text, Markdown and the screen."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from indexes.model.lines import listed
from indexes.model.vocabulary import Location, SourceInfo
from indexes.queries.contribution.additions import Addition
from indexes.queries.contribution.guides import Command, Convention
from indexes.queries.contribution.neighbours import Neighbour
from indexes.queries.contribution.new_operator import Check, NewOperator
from indexes.queries.contribution.plan import Contribution, PlaceHistory
from indexes.queries.contribution.precedents import Precedent
from indexes.queries.contribution.reviewers import MEANING, Review
from indexes.queries.contribution.steps import Step
from indexes.queries.contribution.tiers import run_now
from indexes.queries.impact.rebuild import Cost
from indexes.queries.operator_tests import NOW, OperatorTests, Selection
from indexes.source.git_history import Change
from navigator.text.answers import WIDTH, source_lines, wrap
from navigator.text.clean import clean
from navigator.text.markdown import code, heading, words

_MAX_NAMED = 8
_MAX_PEOPLE = 5
_REBUILT = "files rebuilt after a change"
_DRAFT = "entries for native_functions.yaml, after the most similar operator's"
_SHORT = "in working order; each one below has its condition and lines to copy from"
_SURELY = "most similar operators are there, or the commits that added them changed it"
_PERHAPS = "some of them are"
_PRECEDENTS = "commits that added a similar operator"


@dataclass(frozen=True, slots=True)
class Row:
    """A line to read, tick off or run."""

    text: str
    location: Location | None = None
    detail: str = ""
    """The reason: a rule, a meaning, numbers."""
    command: str = ""
    """A command to run from the top of the tree."""
    code: tuple[str, ...] = ()
    """Lines of source."""


@dataclass(frozen=True, slots=True)
class Section:
    """Rows under a heading."""

    title: str
    rows: tuple[Row, ...]
    note: str = ""


def sections(contribution: Contribution) -> tuple[Section, ...]:
    """A contribution in the order of work, without empty sections."""
    found = (
        ("Places", _places(contribution), _omitted(contribution)),
        ("Rebuild", _rebuilt(contribution.costs), _REBUILT),
        ("Tests", _tests(contribution, _now(contribution)), _tests_note(contribution)),
        ("Commands", _commands(contribution.commands), ""),
        ("Reviewers", _reviews(contribution.reviews), ""),
        (
            "One approval covers all",
            _reviews(contribution.covering),
            "merge rules that cover every file above",
        ),
        ("Conventions and traps", map(_convention, contribution.conventions), ""),
        ("History", _histories(contribution.history), contribution.history_missing),
    )
    made = (Section(title, tuple(rows), note) for title, rows, note in found)
    return tuple(section for section in made if section.rows or section.note)


def _places(one: Contribution) -> Iterator[Row]:
    if one.operators:
        yield Row(f"reached by {len(one.operators)} operators", None, listed(one.operators, 12))
    for change in ("will", "may", "seldom"):
        steps = [step for step in one.steps if step.change == change]
        if steps and one.kind == "operator" and change != "seldom":
            yield Row(f"{change} change:")
        yield from place_rows(steps)


def place_rows(steps: Sequence[Step]) -> Iterator[Row]:
    """A row for each place, then one for each kind of those that hardly any change edits."""
    for step in steps:
        if step.change != "seldom":
            yield Row(f"{step.role.replace('_', ' ')} {step.symbol}", step.location, step.rule)
    seldom = [step for step in steps if step.change == "seldom"]
    for role in dict.fromkeys(step.role for step in seldom):
        first, *more = [step for step in seldom if step.role == role]
        also = f"; also {', '.join(str(step.location) for step in more)}" if more else ""
        yield Row(f"seldom changed, {role}: {first.symbol}{also}", first.location, first.rule)


def _omitted(one: Contribution) -> str:
    return f"{one.more} more places: torchnav op {one.name} --full" if one.more else ""


def _cost(cost: Cost) -> Row:
    evidence = "".join(f"; {where}" for where in cost.evidence)
    return Row(str(cost), Location(cost.path, 0), f"{cost.rule}{evidence}")


def _now(contribution: Contribution) -> dict[str, Selection]:
    """The tests to run now, by command."""
    return {found.command: found for found in run_now(contribution.tests)}


def _tests(one: Contribution, now: Mapping[str, Selection]) -> Iterator[Row]:
    """The OpInfos, the few tests to run now, then those for CI."""
    is_tested = one.kind == "operator" and any(tests.opinfos for _, tests in one.tests)
    operators = (one.name,) if one.kind == "operator" else one.operators
    for op, tests in one.tests:
        yield from _opinfos(tests)
        if op in operators and not (tests.opinfos or tests.missing or is_tested):
            what = "add one, so that the tests of all operators cover it"
            yield Row(f"no OpInfo for {op}", None, what)
    if now:
        yield Row("to run now:")
    for found in now.values():
        yield _selection(found)
    rest = [row for _, tests in one.tests for row in _for_ci(tests, now)]
    if rest:
        yield Row("for CI:")
    yield from {row.command or row.text: row for row in rest}.values()


def _for_ci(tests: OperatorTests, now: Mapping[str, Selection]) -> Iterator[Row]:
    for found in (*tests.files, *tests.named[:_MAX_NAMED]):
        if found.command not in now:
            yield _selection(found)
    if (more := len(tests.named) - _MAX_NAMED) > 0:
        yield Row(f"{more} more files with tests of its name")


def _opinfos(tests: OperatorTests) -> Iterator[Row]:
    for entry in tests.opinfos:
        yield Row(f"OpInfo {entry.name}", entry.location, f"{entry.rule}; in {entry.database}")


def _selection(found: Selection) -> Row:
    """A command with the first of its tests."""
    some = f"; {found.filtered} of them for OpInfos that fit a condition" if found.filtered else ""
    also = f"; may also select {', '.join(found.expression.also)}" if found.expression.also else ""
    rule = f"{found.rule}{some}{also}"
    return Row(listed(found.names, 1), found.tests[0], rule, found.command)


def _tests_note(one: Contribution) -> str:
    return next((f"not here: {tests.missing}" for _, tests in one.tests if tests.missing), "")


def _commands(commands: Iterable[Command]) -> Iterator[Row]:
    for command in commands:
        yield Row(command.purpose, command.location, command.note, command.text)


def _reviews(reviews: Iterable[Review]) -> Iterator[Row]:
    for review in reviews:
        note = f"; {review.note}" if review.note else ""
        rule = f"{review.rule} covers {review.path}{note}"
        who = listed(review.who, _MAX_PEOPLE, " ")
        yield Row(f"{review.kind}: {who}", review.location, f"{MEANING[review.kind]}; {rule}")


def _histories(places: Iterable[PlaceHistory]) -> Iterator[Row]:
    for place in places:
        yield Row(
            place.step.symbol, place.step.location, place.changes.note, place.changes.followed
        )
        for change in place.changes.changes:
            yield Row(f"  {change_text(change)}")


def change_text(change: Change) -> str:
    """A commit on one line."""
    cut = " (or older: the history ends here)" if change.at_cut else ""
    return f"{change.date} {change.author}: {change.subject}{cut}"


def _convention(convention: Convention) -> Row:
    return Row(convention.text, convention.location, convention.about)


def plan_sections(plan: NewOperator) -> tuple[Section, ...]:
    """The plan for a new operator in the order of work, without empty sections."""
    surely = [addition for addition in plan.additions if addition.certainty == "surely"]
    perhaps = [one for one in plan.additions if one.certainty == "perhaps"]
    checks = sorted(plan.checks, key=lambda one: one.good)  # failures first
    found = (
        ("Checks", map(_check, checks), ""),
        ("What to write", map(_short, surely), _SHORT),
        ("Draft", [Row("", code=plan.draft)] if plan.draft else [], _DRAFT),
        ("To add", map(_addition, surely), _SURELY),
        ("Tests", _new_tests(plan), ""),
        ("Commands", _commands(plan.commands), ""),
        ("Perhaps to add", map(_addition, perhaps), _PERHAPS),
        ("Similar operators", map(_neighbour, plan.neighbours), ""),
        ("Added before", map(_precedent, plan.precedents), plan.history_missing or _PRECEDENTS),
        ("Rebuild", _rebuilt(plan.costs), _REBUILT),
        ("Reviewers", _reviews(plan.reviews), ""),
        ("Conventions and traps", map(_convention, plan.conventions), ""),
    )
    made = (Section(title, tuple(rows), note) for title, rows, note in found)
    return tuple(section for section in made if section.rows)


def _neighbour(one: Neighbour) -> Row:
    why = f"; it shares {one.why}" if one.why else ""
    return Row(one.native.full_name, one.native.location, f"{one.likeness:.0%} alike{why}")


def _check(check: Check) -> Row:
    return Row(f"{'good' if check.good else 'WRONG'}: {check.what}: {check.text}", check.location)


def _short(addition: Addition) -> Row:
    return Row(addition.title, addition.location)


def _addition(addition: Addition) -> Row:
    like = f"as {addition.neighbour} has it" if addition.neighbour else ""
    detail = "; ".join(part for part in (addition.when, like, addition.why) if part)
    return Row(addition.title, addition.location, detail, code=addition.shape)


def _new_tests(plan: NewOperator) -> Iterator[Row]:
    """The files to add tests to, and what its OpInfo already covers."""
    made = [one for one in plan.tests if one.location is None]
    for test in plan.tests:
        if test.location is not None:
            perhaps = "perhaps: " if test.certainty == "perhaps" else ""
            yield Row(f"add to {test.path}", test.location, f"{perhaps}{test.why}", test.command)
    for one in made[:NOW]:
        yield Row(one.path, None, one.why, one.command)
    if rest := made[NOW:]:
        yield Row(f"for CI: {len(rest)} more", None, ", ".join(one.path for one in rest))


def _rebuilt(costs: Sequence[Cost]) -> Iterator[Row]:
    """Files whose change recompiles others; the rest in one row."""
    alone = [one for one in costs if one.kind not in ("codegen", "unknown") and one.objects <= 1]
    yield from (_cost(cost) for cost in costs if cost not in alone)
    if sources := sum(one.objects for one in alone):
        yield Row(f"{sources} sources more", None, "each compiled alone")


def _precedent(precedent: Precedent) -> Row:
    return Row(change_text(precedent.change), None, f"added {', '.join(precedent.operators)}")


# ------------------------------------------------------------------------------- text


def text_lines(contribution: Contribution) -> Iterator[str]:
    """A contribution as plain text."""
    yield clean(f"contribute to {contribution.kind} {contribution.name}")
    yield from _section_lines(sections(contribution))
    yield ""
    yield from _missing(contribution)
    yield from source_lines(contribution.source)


def plan_lines(plan: NewOperator) -> Iterator[str]:
    """The plan for a new operator as plain text."""
    yield clean(f"a new operator {plan.schema}")
    yield from _section_lines(plan_sections(plan))
    yield ""
    yield from source_lines(plan.source)


def _section_lines(found: Iterable[Section]) -> Iterator[str]:
    for section in found:
        yield ""
        yield section.title
        if section.note:
            yield from wrap(section.note, "  ")
        for row in section.rows:
            yield from _text_row(row)


def _text_row(row: Row) -> Iterator[str]:
    short = f"  {row.text}  {row.location}"
    if row == Row(row.text, row.location) and row.location and len(short) <= WIDTH:
        yield clean(short)
        return
    yield from wrap(row.text, "    " if row.text.startswith("  ") else "  ")
    if row.location:
        yield clean(f"      {row.location}")
    if row.detail:
        yield from wrap(row.detail, "      ")
    if row.command:
        yield clean(f"      $ {row.command}")
    for text in row.code:
        yield f"      | {visible(text)}".rstrip()


def _missing(contribution: Contribution) -> Iterator[str]:
    for lacking in contribution.missing:
        if lacking not in contribution.source.missing:
            yield from wrap(lacking, "")


def markdown_lines(contribution: Contribution) -> Iterator[str]:
    """A contribution as a checklist in Markdown."""
    title = f"Contribute to {contribution.kind} {code(contribution.name)}"
    yield from _markdown(title, sections(contribution), contribution.source)


def plan_markdown(plan: NewOperator) -> Iterator[str]:
    """The plan for a new operator as a checklist in Markdown."""
    yield from _markdown(f"New operator {code(plan.schema)}", plan_sections(plan), plan.source)


def _markdown(title: str, found: Iterable[Section], source: SourceInfo) -> Iterator[str]:
    yield f"# {title}"
    for section in found:
        yield from heading(2, section.title)
        if section.note:
            yield f"_{words(section.note)}_"
            yield ""
        for row in section.rows:
            yield from _markdown_row(row, section.title in _TO_DO)
    yield ""
    commit = f" at {source.commit}" if source.commit else ""
    yield f"Read from PyTorch {source.version} ({source.kind}){commit}."


_TO_DO = frozenset(
    {"Places", "To add", "Perhaps to add", "Tests", "Commands", "Conventions and traps"}
)


def _markdown_row(row: Row, to_do: bool) -> Iterator[str]:
    indent, text = ("  ", row.text.strip()) if row.text.startswith("  ") else ("", row.text)
    where = f" ({code(row.location)})" if row.location else ""
    box = "[ ] " if to_do and row.location and not indent else ""
    if text or where:
        yield f"{indent}- {box}{words(text)}{where}"
    if row.detail:
        yield f"{indent}  {words(row.detail)}"
    if row.command:
        yield f"{indent}  {code(row.command)}"
    yield from fenced(row.code, "  " if text or where else "")


def fenced(lines: Sequence[str], margin: str = "") -> Iterator[str]:
    """Lines of source as a code block; empty without lines."""
    if lines:
        fence = "~" * max(3, 1 + max(map(_longest_fence, lines)))
        yield from ("", f"{margin}{fence}")
        yield from (f"{margin}{visible(line)}" for line in lines)
        yield from (f"{margin}{fence}", "")


def _longest_fence(line: str) -> int:
    return max((len(run) for run in re.findall("~+", line)), default=0)


def visible(line: str) -> str:
    """A line of source with its indentation, printable."""
    line = line.expandtabs(4)
    body = line.lstrip(" ")
    return " " * (len(line) - len(body)) + clean(body)
