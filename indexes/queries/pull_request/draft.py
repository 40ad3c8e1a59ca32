"""Drafts a pull request from the changes of a work tree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexes.model.errors import NotFound, SourceError
from indexes.model.impact import Affected, TestCommand
from indexes.queries.contribution.guides import Command, Guides
from indexes.queries.contribution.reviewers import Reviewers
from indexes.queries.impact.affected import affected
from indexes.queries.impact.changed_text import compare_python
from indexes.queries.index import Index
from indexes.queries.operator_tests import NOW
from indexes.queries.pull_request.branch import Base, Branch, changed_file
from indexes.queries.pull_request.issues import issues_of
from indexes.queries.pull_request.labels import Labels
from indexes.queries.pull_request.model import PullRequest, PullStep, Ran
from indexes.queries.pull_request.project_steps import Around
from indexes.readers.python.tests import is_test_file
from indexes.source.git_diff import FileChange, changes


def draft(
    index: Index, base: str | None = None, ran: Sequence[Ran] = (), kept: Sequence[Ran] = ()
) -> PullRequest:
    """The draft for what differs from ``base``, or from where the branch left upstream's main.
    ``kept``: earlier runs for the test plan.

    Raises NotFound if nothing differs or ``base`` is unknown, SourceError without git.
    """
    source = index.source
    if source.kind == "wheel":
        raise SourceError("an installed torch has no changes: torchnav pr needs a checkout")
    branch = Branch(source.root)
    against = branch.base(base)
    tree = changes(source.root, against.commit)
    if not tree.files:
        why = against.missing or "submodules are not compared"
        raise NotFound(f"no changes against {against.words} {against.commit[:10]} ({why})")
    commits = branch.commits(against)
    files = tuple(map(changed_file, tree.files))
    paths = tuple(one.path for one in files)
    title = branch.title(commits, paths, against)
    reviewers, around = Reviewers(source), Around(source)
    labels = Labels(source, reviewers)
    documented = frozenset(one.path for one in tree.files if _is_of_docstrings(one))
    named = labels.of(files, f"{title.prefix} {title.text}", documented)
    issues = issues_of(commits, tree.files)
    reached = affected(index, against.commit)
    tests = _tests(reached, paths)
    commands = Guides(source).commands_for(paths, docs=bool(documented))
    lint = [PullStep("lint", one.location, one.text) for one in commands if one.purpose == "lint"]
    docs = any(one.purpose == "docs" for one in commands)
    own = next((one.name for one in named if not one.by_itself), "")
    return PullRequest(
        index.info,
        against.words,
        against.commit,
        branch.name,
        title,
        commits,
        files,
        around.template(any(one.way != "named" for one in issues)),
        reached,
        tests[:NOW],
        len(tests[NOW:]),
        (*ran, *_of_plan(kept, ran, (*tests[:NOW], *commands))),
        _to_run(commands),
        named,
        labels.topics,
        reviewers.for_change(paths),
        issues,
        around.workflows(paths, named),
        around.steps(branch.name, lint, docs, len(commits) > 1, own),
        _missing(against, labels, reviewers),
    )


def _is_of_docstrings(file: FileChange) -> bool:
    """Whether nothing but docstrings of a Python file differ."""
    is_python = file.path.endswith(".py")
    found = compare_python(file.old, file.new) if is_python and file.old and file.new else None
    return bool(found) and all(one.detail == "docstring" for one in found or ())


def _of_plan(
    kept: Sequence[Ran], ran: Sequence[Ran], plan: Sequence[TestCommand | Command]
) -> Iterator[Ran]:
    """The last run of each command in the test plan, except those that the author reports."""
    named = {one.text if isinstance(one, Command) else one.command for one in plan}
    asked = named - {one.command for one in ran}
    last = {one.command: one for one in kept if one.command in asked}
    yield from last.values()


def _tests(reached: Affected, paths: Sequence[str]) -> tuple[TestCommand, ...]:
    """The tests in edited files first, then those reached."""
    known = reached.impact.tests
    mine = [path for path in paths if is_test_file(path)]
    own = [one for path in mine for one in known if one.path == path]
    whole = [
        TestCommand(f"python {path}", path, "the change edits it", (), "exact", 0, "now")
        for path in mine
        if not any(one.path == path for one in own)
    ]
    rest = sorted((one for one in known if one not in own), key=lambda one: one.tier != "now")
    return (*own, *whole, *rest)


def _to_run(commands: Sequence[Command]) -> tuple[Command, ...]:
    """Commands that verify the change: build, docs, test programs."""
    return tuple(one for one in commands if one.purpose in ("build", "docs", "test"))


def _missing(base: Base, labels: Labels, reviewers: Reviewers) -> tuple[str, ...]:
    lists = (f"reviewers by {one}: this tree has none" for one in reviewers.missing)
    return tuple(filter(None, (base.missing, *labels.missing, *lists)))
