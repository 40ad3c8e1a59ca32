"""Reads the triggers of the workflows in ``.github/workflows``."""

from __future__ import annotations

import re
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.project.review import LabelRule, Pattern, label_match
from indexes.readers.yaml.nodes import Node, compose

_NAME = regex(r"^name:\s*[\"']?(.*?)[\"']?\s*$", re.MULTILINE)
_STARTS = regex(r"^[\"']?on[\"']?:.*\n(?:(?:[ \t].*|#.*|)\n)*", re.MULTILINE)
_JOBS = regex(r"^jobs:\s*$", re.MULTILINE)
_JOB = regex(r"^  [\w-]+:\s*$", re.MULTILINE)


class WorkflowFile(NamedTuple):
    """A workflow with its triggers."""

    name: str
    line: int
    """The line of ``on:``."""
    jobs: int
    on_pull_request: bool
    """Whether changes to matching paths of a pull request start it."""
    paths: tuple[str, ...]
    """Patterns, one of which a changed file must match; none for any file."""
    ignored: tuple[str, ...]
    tags: tuple[str, ...]
    """Patterns of tags whose push starts it: the label ``ciflow/mps`` sets ``ciflow/mps/*``."""

    def starts_for(self, paths: tuple[str, ...]) -> bool:
        """Whether a pull request with these files starts it."""
        wanted = [path for path in paths if not _fits(self.ignored, path)]
        return self.on_pull_request and any(not self.paths or _fits(self.paths, p) for p in wanted)


def read_workflow(data: bytes, path: str) -> WorkflowFile | None:
    """The workflow of a file; None if nothing starts it."""
    text = data.decode("utf-8", "replace")
    starts = _STARTS.search(text)
    if starts is None:
        return None
    problems: list[Problem] = []
    node = compose(starts[0].replace('"on"', "on", 1).replace("'on'", "on", 1), 0, path, problems)
    on = node.fields["on"].value if node and node.fields and "on" in node.fields else None
    name, jobs = _NAME.search(text), _JOBS.search(text)
    pull = _event(on, "pull_request")
    types = frozenset(_texts(pull, "types"))
    return WorkflowFile(
        name[1] if name else path.rpartition("/")[2],
        text.count("\n", 0, starts.start()) + 1,
        len(_JOB.findall(text, jobs.end())) if jobs else 0,
        _has_event(on, "pull_request") and (not types or "synchronize" in types),
        _texts(pull, "paths"),
        _texts(pull, "paths-ignore"),
        _texts(_event(on, "push"), "tags"),
    )


def _has_event(on: Node | None, name: str) -> bool:
    if on is None:
        return False
    return name in (on.fields or ()) or on.text == name or name in (on.texts or ())


def _event(on: Node | None, name: str) -> Node | None:
    fields = on.fields if on is not None else None
    return fields[name].value if fields and name in fields else None


def _texts(event: Node | None, key: str) -> tuple[str, ...]:
    node = _event(event, key)
    return (node.texts or ()) if node is not None else ()


def _fits(patterns: tuple[str, ...], path: str) -> bool:
    rule = LabelRule("", tuple(Pattern(one, 0) for one in patterns), 0)
    return label_match(rule, path) is not None
