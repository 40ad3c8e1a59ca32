"""The draft of a pull request as Markdown: its text in the tree's form, then notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from indexes.model.impact import Changed
from indexes.model.lines import listed
from indexes.model.vocabulary import Location
from indexes.queries.pull_request.issues import is_fix
from indexes.queries.pull_request.model import PullRequest, PullStep
from navigator.text.clean import clean
from navigator.text.markdown import code, heading, words

_MAX_NAMED = 12
_MAX_PEOPLE = 5
_BLANK = "<!-- to be filled in: {} -->"
_HEADINGS = (
    ("what", r"\b(summary|description|what|overview|changes?)\b"),
    ("why", r"\b(why|motivation|context|background)\b"),
    ("test", r"\b(test|testing|verif\w+)\b"),
)
"""The headings of a form that each part belongs under."""
_HEADING = re.compile(r"\s*(#+\s+(.*\S)|\*\*(.+)\*\*:?)\s*$")


def title_text(pull_request: PullRequest) -> str:
    """The title, with missing parts marked."""
    text = pull_request.title.text or "<what this change does>"
    return clean(f"{pull_request.title.prefix} {text}".strip())


def body_lines(pull_request: PullRequest) -> Iterator[str]:
    """The text of the pull request: the tree's form, filled in from the change."""
    parts = {
        "what": list(_what(pull_request)),
        "why": list(_why(pull_request)),
        "reached": list(_reached(pull_request)),
        "test": list(_test_plan(pull_request)),
    }
    yield from _form(pull_request, parts)
    titles = {
        "what": "What changes",
        "why": "Why",
        "reached": "Operators and APIs reached",
        "test": "Test plan",
    }
    for key, lines in parts.items():
        if lines:
            yield from heading(3, titles[key])
            yield from lines


def _form(pull_request: PullRequest, parts: dict[str, list[str]]) -> Iterator[str]:
    """The form with the parts under their headings; these parts are removed from ``parts``."""
    lines = pull_request.template.lines if pull_request.template else ()
    fixes = "\n".join(f"Fixes #{number}" for number in pull_request.fixes)
    for line in lines:
        if fixes and re.match(r"\s*Fixes #", line):
            yield from fixes.split("\n")
            continue
        yield clean(line)
        found = _HEADING.match(line)
        heading = found and (found[2] or found[3]).lower()
        for key, pattern in _HEADINGS if heading else ():
            if parts[key] and re.search(pattern, heading or ""):
                yield from ("", *parts[key], "")
                parts[key] = []
                break
    if pull_request.may_fix:
        gone = ", ".join(f"#{number}" for number in pull_request.may_fix)
        yield _BLANK.format(f"the change removes lines that name {gone}: does it fix it?")
    if fixes and not any(re.match(r"\s*Fixes #", line) for line in lines):
        yield from fixes.split("\n")


def _what(one: PullRequest) -> Iterator[str]:
    if not one.title.text:
        yield _BLANK.format("what this change does, in a sentence")
    changes = list({(c.kind, c.name, c.what): c for c in one.affected.changes}.values())
    yield from dict.fromkeys(map(_change, changes[:_MAX_NAMED]))
    if (more := len(changes) - _MAX_NAMED) > 0:
        yield f"- and {more} more"
    if one.affected.quiet:
        yield f"- white space or comments alone: {', '.join(map(code, one.affected.quiet[:6]))}"


def _change(change: Changed) -> str:
    """A changed definition with its file; a file, or code outside of functions, has no name."""
    path, kind = code(change.location.path), "" if change.kind == "python" else f"{change.kind} "
    if change.name == change.location.path:
        used = f": {change.detail} include it" if change.kind == "header" and change.detail else ""
        return f"- {change.what} {path}{words(used)}"
    if change.name.endswith("<statement>"):
        return f"- {change.what} code outside of functions in {path}"
    detail = f": {words(change.detail)}" if change.detail else ""
    return f"- {change.what} {kind}{code(change.name)} in {path}{detail}"


def _why(one: PullRequest) -> Iterator[str]:
    text = [line for commit in one.commits for line in _of_commit(commit.subject, commit.body, one)]
    yield from text or [_BLANK.format("why it is needed, and why it is done this way")]


def _of_commit(subject: str, body: Sequence[str], pull_request: PullRequest) -> Iterator[str]:
    message = [clean(line) for line in body if not is_fix(line)]
    if any(message):
        yield from (f"{words(subject)}:",) if len(pull_request.commits) > 1 else ()
        yield from (*message, "")


def _reached(pull_request: PullRequest) -> Iterator[str]:
    impact = pull_request.affected.impact
    direct = [o for o in impact.operators if o.dispatches == 0]
    for operator in direct[:_MAX_NAMED]:
        yield f"- {code(operator.name)}: {words(', '.join(operator.aspects))}"
    rest = len(direct[_MAX_NAMED:])
    through = len(impact.operators) - len(direct)
    rests = [f"{rest} more"] if rest else []
    rests += [f"{through} that call such an operator"] if through else []
    if rests:
        yield f"- {', and '.join(rests)} (`torchnav affected`)"
    if impact.apis:
        names = (code(api.name) for api in impact.apis)
        yield f"- Python: {listed(names, _MAX_NAMED)}"


def _test_plan(one: PullRequest) -> Iterator[str]:
    results = {ran.command: ran.result for ran in one.ran}
    commands = [test.command for test in one.tests]
    commands += [
        c.text for c in one.commands if c.purpose in ("docs", "test") and "pip" not in c.text
    ]
    known = dict.fromkeys([*results, *commands])
    for command in known:
        result = results.get(command)
        text = words(result) if result else _BLANK.format("the result, once it was run")
        yield f"- {code(command)}: {text}"
    if not known:
        yield _BLANK.format("how you tested it: no known test reaches it")
    if one.more_tests:
        yield f"- {one.more_tests} more commands are for CI (`torchnav affected --all`)"


# ------------------------------------------------------------------- for its author


def markdown_lines(one: PullRequest) -> Iterator[str]:
    """The title and the text, then the notes for the author."""
    yield f"# {title_text(one)}"
    yield ""
    yield from body_lines(one)
    yield from ("", "---", "")
    branch = code(one.branch) if one.branch else "a detached head"
    yield (
        f"_For you, not part of the text: {branch} against {words(one.base)}"
        f" {code(one.base_commit[:10])}; commits: {len(one.commits)}, files: {len(one.files)}._"
    )
    yield f"_Title: {words(one.title.why)}._"
    if one.template:
        others = (
            f"; others: {', '.join(map(code, one.template.others))}" if one.template.others else ""
        )
        yield f"_Form: {code(one.template.location.path)}{others}._"
    for title, rows in (
        ("Files", _files(one)),
        ("Labels", _labels(one)),
        ("Reviewers", _reviewers(one)),
        ("Issues", _issues(one)),
        ("Steps", _steps(one.steps)),
        ("CI", _ci(one)),
        ("Not in this tree", (f"- {words(line)}" for line in one.missing)),
    ):
        if lines := list(rows):
            yield from heading(2, title)
            yield from lines


def _at(location: Location | None) -> str:
    if location is None:
        return ""
    return f" ({code(str(location) if location.line else location.path)})"


def _files(pull_request: PullRequest) -> Iterator[str]:
    for file in pull_request.files[:40]:
        yield f"- {file.what} {code(file.path)} +{file.added} -{file.removed}"
    if len(pull_request.files) > 40:
        yield f"- and {len(pull_request.files) - 40} more"


def _labels(pull_request: PullRequest) -> Iterator[str]:
    for label in pull_request.labels:
        sets = "set by a bot" if label.by_itself else "to be added"
        yield f"- {code(label.name)}, {sets}: {words(label.why)}{_at(label.location)}"
    if pull_request.topics and not any(label.kind == "topic" for label in pull_request.labels):
        yield f"- a topic to choose: {', '.join(map(code, pull_request.topics))}"


def _reviewers(pull_request: PullRequest) -> Iterator[str]:
    for review in pull_request.reviewers:
        if review.kind != "label":
            who = listed(review.who, _MAX_PEOPLE, " ")
            note = f"; {words(review.note)}" if review.note else ""
            covers = f"{words(review.rule)} covers {code(review.path)}{note}"
            yield f"- {review.kind}: {words(who)}: {covers}{_at(review.location)}"


def _issues(pull_request: PullRequest) -> Iterator[str]:
    for issue in pull_request.issues:
        yield f"- #{issue.number}: {issue.way}{_at(issue.location)}"


def _steps(steps: Iterable[PullStep]) -> Iterator[str]:
    for number, step in enumerate(steps, 1):
        command = f": {code(step.command)}" if step.command else ""
        yield f"{number}. {words(step.what)}{command}{_at(step.location)}"


def _ci(pull_request: PullRequest) -> Iterator[str]:
    for workflow in pull_request.workflows:
        jobs = f"{workflow.jobs} job{'s' * (workflow.jobs != 1)}"
        yield f"- {words(workflow.name)}, {jobs}, {words(workflow.when)}{_at(workflow.location)}"
