"""Impact as plain text and as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from indexes.model.impact import Affected, Impact, ReachedOperator, Step, Tier
from indexes.model.lines import listed
from indexes.model.vocabulary import Confidence
from navigator.text.answers import source_lines, sureness, wrap
from navigator.text.clean import clean, markdown_cell
from navigator.text.markdown import code, heading, table, words

MAX_LISTED = 30
"""Rows of each kind, unless all are requested."""
_FEW = 3
_NAMES = 60
"""Operators listed by name before their paths, if there are many."""


def callers_lines(impact: Impact, everything: bool = False) -> Iterator[str]:
    """Each symbol, with its callers; once where all its places have the same, as a stub's."""
    groups: dict[tuple[object, ...], tuple[list[Step], list[Step]]] = {}
    for root in (step for step in impact.steps if step.parent is None):
        users = [step for step in impact.steps if step.parent == root.id]
        same = (root.kind, root.symbol, *(replace(step, id=0, parent=None) for step in users))
        groups.setdefault(same, ([], users))[0].append(root)
    for roots, users in groups.values():
        yield clean(f"{roots[0].kind} {roots[0].symbol}")
        for root in roots:
            yield f"    {root.location or 'not defined in this tree'}"
        for step in users if everything else users[:MAX_LISTED]:
            yield from _step_lines(step, "  ")
        yield from _more(len(users), everything)
        yield clean(f"  {len(users)} use it: {_counts(users)}") if users else "  no use found"
    yield from _end(impact)


def impact_lines(impact: Impact, everything: bool = False) -> Iterator[str]:
    """Operators with the paths to them, Python names, tests."""
    direct = [operator for operator in impact.operators if operator.dispatches == 0]
    yield from _operators("operators reached", direct, impact, everything)
    further = [one for one in impact.operators if one.dispatches]
    if further:
        yield ""
        yield from _operators("operators that call those", further, impact, everything)
    for one in impact.folded:
        yield from wrap(f"+ {one.count} {one.what}: {one.how}", "  ")
    if impact.apis:
        yield ""
        yield f"Python names ({len(impact.apis)})"
        names = [f"{one.name}{_mark(one.confidence)}" for one in impact.apis]
        yield from wrap(", ".join(names if everything else names[:60]), "  ")
        yield from _more(len(names), everything, 60)
    if impact.tests:
        yield ""
        yield f"tests to run now ({sum(test.tier == 'now' for test in impact.tests)})"
        yield from _commands(impact, "now", len(impact.tests))
        if rest := [test for test in impact.tests if test.tier == "ci"]:
            yield f"the rest, for CI ({len(rest)})"
            yield from _commands(impact, "ci", len(rest) if everything else MAX_LISTED)
            yield from _more(len(rest), everything)
    yield from _end(impact)


def affected_lines(affected: Affected, everything: bool = False) -> Iterator[str]:
    """The changes, and their effects."""
    yield clean(f"{affected.target} against {affected.base}: {affected.files} files differ")
    for change in affected.changes if everything else affected.changes[:60]:
        detail = f"  ({change.detail})" if change.detail else ""
        yield clean(f"  {change.what} {change.kind} {change.name}  {change.location}{detail}")
    yield from _more(len(affected.changes), everything, 60)
    if affected.quiet:
        yield "  only white space or comments differ, which affects nothing:"
        yield from wrap(", ".join(affected.quiet), "    ")
    if not affected.changes:
        yield "  nothing that is compiled or run is affected"
        yield from _end(affected.impact)
        return
    yield ""
    if affected.checks:
        yield "documentation: commands that build and check it"
        for check in affected.checks:
            yield clean(f"  {check.command}")
            yield from wrap(f"{check.purpose}{': ' * bool(check.note)}{check.note}", "      ")
        yield ""
    if all(one.kind == "documentation" or one.detail == "docstring" for one in affected.changes):
        yield "only documentation changes: no operator is affected"
        yield from _end(affected.impact)
        return
    yield from impact_lines(affected.impact, everything)


def _commands(impact: Impact, tier: Tier, most: int) -> Iterator[str]:
    for test in [test for test in impact.tests if test.tier == tier][:most]:
        yield clean(f"  {test.command}")
        yield from wrap(f"{test.reason}{_mark(test.confidence)}", "      ")


def _operators(
    title: str, operators: list[ReachedOperator], impact: Impact, everything: bool
) -> Iterator[str]:
    yield f"{title} ({len(operators)})"
    if len(operators) > _FEW:
        names = dict.fromkeys(operator.name.partition(".")[0] for operator in operators)
        yield from wrap(listed(names, _NAMES), "  ")
        yield ""
    for one in operators if everything else operators[:MAX_LISTED]:
        yield clean(f"  {one.name}  {reached_as(one)}{_mark(one.confidence)}")
        for step in reversed(impact.way(one.step)[:-1] if everything else _short(impact, one)):
            yield from _way_line(step)
    yield from _more(len(operators), everything)


def reached_as(operator: ReachedOperator) -> str:
    """The affected aspect of an operator, and its dispatch keys if only some are affected."""
    only = f"; only {', '.join(operator.keys)}" if operator.keys else ""
    return f"{', '.join(operator.aspects)}{only}"


def _short(impact: Impact, operator: ReachedOperator) -> tuple[Step, ...]:
    return impact.way(operator.step)[-4:-1]


def _way_line(step: Step) -> Iterator[str]:
    at = step.evidence or step.location
    yield from wrap(f"<- {step.symbol} ({step.rule}) {at or ''}", "      ")


def _step_lines(step: Step, indent: str) -> Iterator[str]:
    yield clean(f"{indent}{step.kind} {step.symbol}{_mark(step.confidence, step.candidates)}")
    place = step.evidence or step.location or "not defined in this tree"
    yield clean(f"{indent}    {place}")
    yield from wrap(step.rule, f"{indent}    ")


def _mark(confidence: Confidence, candidates: int = 1) -> str:
    if candidates > 1 and confidence != "exact":
        return f" [ambiguous: 1 of {candidates}]"
    return sureness(confidence, " [{}]")


def _counts(steps: list[Step]) -> str:
    counts = Counter(sureness(step.confidence) for step in steps)
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def _more(count: int, everything: bool, limit: int = MAX_LISTED) -> Iterator[str]:
    if count > limit and not everything:
        yield f"  ... {count - limit} more: --all lists them"


def _end(impact: Impact) -> Iterator[str]:
    left = [one for one in impact.unresolved if one not in impact.source.missing]
    if left:
        yield ""
        yield f"not followed ({len(left)})"
        for line in left[:12]:
            yield from wrap(line, "  ")
        yield from _more(len(left), False, 12)
    yield from source_lines(impact.source)


# ------------------------------------------------------------------------------ Markdown


def markdown_lines(affected: Affected) -> Iterator[str]:
    """The changes and their effects, for the text of a pull request."""
    yield f"## Affected by {words(affected.target)} against {words(affected.base)}"
    yield ""
    for change in affected.changes:
        yield f"- {words(change.what)} {change.kind} {code(change.name)} ({code(change.location)})"
    for path in affected.quiet:
        yield f"- {code(path)}: white space or comments only, affects nothing"
    if affected.checks:
        yield from heading(3, "Documentation")
        yield from ("```", *(clean(check.command) for check in affected.checks), "```")
    yield from _markdown_of(affected.impact)


def _markdown_of(impact: Impact) -> Iterator[str]:
    if impact.operators:
        yield from heading(3, "Operators")
        yield from table(
            ("operator", "reached", "confidence", "from"),
            (_operator_row(impact, operator) for operator in impact.operators),
        )
    for folded in impact.folded:
        yield f"- {folded.count} {words(folded.what)}: {words(folded.how)}"
    if impact.apis:
        yield from heading(3, "Python")
        yield ", ".join(code(one.name) for one in impact.apis)
    if impact.tests:
        yield from heading(3, "Tests")
        for tier, title in (("now", "To run now:"), ("ci", "The rest, for CI:")):
            if commands := [clean(test.command) for test in impact.tests if test.tier == tier]:
                yield from (title, "", "```", *commands, "```")
    for line in impact.unresolved:
        yield f"- not followed: {words(line)}"


def _operator_row(impact: Impact, operator: ReachedOperator) -> tuple[str, ...]:
    first = impact.way(operator.step)[0]
    reached, sure = reached_as(operator), sureness(operator.confidence)
    return markdown_cell(operator.name), reached, sure, markdown_cell(first.symbol)
