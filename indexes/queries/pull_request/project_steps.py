"""The project's rules for pull requests: its template, the steps from a fork to the merge, and CI
workflows, with lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from indexes.model.vocabulary import Location
from indexes.queries.pull_request.model import Label, PullStep, Template, Workflow
from indexes.readers.project.workflows import WorkflowFile, read_workflow
from indexes.source.source import Source

_WORKFLOWS = ".github/workflows"
_FOLDERS = (".github", "", "docs")
"""GitHub's folders for the template."""
_NAME = "pull_request_template"


class _ProjectStep(NamedTuple):
    """A step that some trees require."""

    what: str
    path: str
    pattern: str
    """The line's pattern; its first group is the command, if any."""
    when: str = ""
    """The kind of changes: ``docs``, ``stack``; empty for all."""


_BEFORE = (
    _ProjectStep("fork the project on GitHub", "CONTRIBUTING.md", r"\bfork the PyTorch project\b"),
    _ProjectStep("clone your fork", "CONTRIBUTING.md", r"^\s*(git clone git@github\.com:<.*)$"),
    _ProjectStep(
        "name the project's own repository", "CONTRIBUTING.md", r"^\s*(git remote add upstream .*)$"
    ),
    _ProjectStep("read the rules for changes made with AI", "AI_POLICY.md", r"\S"),
    _ProjectStep(
        "sign the contributor's agreement: the check EasyCLA asks for it",
        ".github/merge_rules.yaml",
        r"EasyCLA",
    ),
    _ProjectStep(
        "sign the contributor's agreement",
        "CONTRIBUTING.md",
        r"\bCLA\b|Contributor License Agreement",
    ),
)
_AFTER = (
    _ProjectStep(
        "open it as a draft first: for a draft nobody is asked to review",
        ".github/auto_request_review.yml",
        r"ignore_draft:\s*true",
    ),
    _ProjectStep(
        "a stack of changes that build on each other goes up with ghstack",
        "CONTRIBUTING.md",
        r"^\s*(ghstack submit)\b|\bghstack\b",
        "stack",
    ),
    _ProjectStep(
        "comment to add a label", ".github/scripts/label_utils.py", r"`(@pytorchbot label [^`]*)`"
    ),
    _ProjectStep(
        "look at the docs that CI builds", "CONTRIBUTING.md", r"host documentation previews", "docs"
    ),
    _ProjectStep(
        "if you know no reviewers, leave them to the triage squad",
        "CONTRIBUTING.md",
        r"leave the Reviewers section empty",
    ),
    _ProjectStep(
        "send a reminder after some days without an answer",
        "CONTRIBUTING.md",
        r"doesn't get any response",
    ),
    _ProjectStep(
        "once approved, have it merged by a comment",
        "CONTRIBUTING.md",
        r"`(@pytorchmergebot merge)`",
    ),
)


class Around:
    """The project's own words of pull requests, in one tree."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def template(self, fixes: bool) -> Template | None:
        """The template; if there are several, one that asks for an issue if the change fixes
        one."""
        found = list(self._templates())
        if not found:
            return None
        text = self._source.text
        chosen = next((one for one in found if ("Fixes #" in text(one)) == fixes), found[0])
        rest = tuple(one for one in found if one != chosen)
        return Template(Location(chosen, 0), tuple(text(chosen).splitlines()), rest)

    def _templates(self) -> Iterator[str]:
        for folder in _FOLDERS:
            for name in self._source.listed(folder):
                path = f"{folder}/{name}".lstrip("/")
                if name.lower() in (f"{_NAME}.md", f"{_NAME}.txt", _NAME):
                    inside = [f"{path}/{one}" for one in self._source.listed(path)]
                    yield from [one for one in inside if one.endswith(".md")] or [path]

    # -------------------------------------------------------------------------- steps

    def steps(
        self, branch: str, lint: Sequence[PullStep], docs: bool, stack: bool, label: str
    ) -> tuple[PullStep, ...]:
        """From the fork to the merge. ``stack``: the branch has several commits; ``label``: what
        its author has to add."""
        kinds = {"", *(("docs",) if docs else ()), *(("stack",) if stack else ())}
        before = self._steps_for(_BEFORE, kinds)
        new = branch in ("", "main", "master", "viable/strict")
        name = "my-change" if new else branch
        own = [PullStep("make a branch", None, f"git checkout -b {name}")] if new else []
        push = PullStep("push the branch to your fork", None, f"git push -u origin {name}")
        after = (_with_label(one, label) for one in self._steps_for(_AFTER, kinds))
        return (*before, *own, *lint, *self._commit(), push, *after)

    def _commit(self) -> Iterator[PullStep]:
        if self._source.info.dirty:
            yield PullStep("commit it, with `git add` for new files first", None, "git commit -a")

    def _steps_for(self, table: Sequence[_ProjectStep], kinds: set[str]) -> Iterator[PullStep]:
        for one in table:
            if one.when in kinds:
                yield from self._step(one)

    def _step(self, step: _ProjectStep) -> Iterator[PullStep]:
        for number, line in enumerate(self._source.text(step.path).splitlines(), 1):
            if found := re.search(step.pattern, line):
                command = next(filter(None, found.groups()), "")
                yield PullStep(step.what, Location(step.path, number), command)
                return

    # ----------------------------------------------------------------------------- CI

    def workflows(self, paths: tuple[str, ...], labels: Sequence[Label]) -> tuple[Workflow, ...]:
        """CI workflows: for the pull request itself, then by its labels."""
        found = list(self._workflow_files())
        mine = [
            Workflow(one.name, Location(path, one.line), _when(one), one.jobs)
            for path, one in found
            if one.starts_for(paths)
        ]
        set_by = {
            one.name: "with the label {}, which it gets" for one in labels if one.kind == "ci"
        }
        words = {word for path in paths for word in re.split(r"[/_.]", path)}
        for label, when in {**_asked_for(found, words), **set_by}.items():
            mine += [
                Workflow(one.name, Location(path, one.line), when.format(label), one.jobs, label)
                for path, one in found
                if any(tag.startswith(f"{label}/") for tag in one.tags)
            ]
        return tuple(mine)

    def _workflow_files(self) -> Iterator[tuple[str, WorkflowFile]]:
        for name in self._source.listed(_WORKFLOWS):
            path = f"{_WORKFLOWS}/{name}"
            if name.endswith((".yml", ".yaml")) and (
                found := read_workflow(self._source.content(path), path)
            ):
                yield path, found

    # -------------------------------------------------------------------------- files


def _with_label(step: PullStep, label: str) -> PullStep:
    """The comment that adds a label, with the one to add for the tree's example."""
    example = re.match(r"(@pytorchbot label) ", step.command)
    return replace(step, command=f'{example[1]} "{label or "LABEL"}"') if example else step


def _asked_for(found: Sequence[tuple[str, WorkflowFile]], words: set[str]) -> dict[str, str]:
    """The labels named after a folder of the change, which must be set by hand."""
    tags = (tag for _, one in found for tag in one.tags if tag.startswith("ciflow/"))
    labels = dict.fromkeys(tag.removesuffix("/*") for tag in tags)
    wanted = (one for one in labels if one.partition("/")[2] in words)
    return dict.fromkeys(wanted, "if the label {} is asked for")


def _when(workflow: WorkflowFile) -> str:
    if not workflow.paths:
        return "on every pull request"
    return f"on pull requests that change {', '.join(workflow.paths[:3])}"
