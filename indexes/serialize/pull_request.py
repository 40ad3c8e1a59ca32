"""The draft of a pull request as plain JSON values, by the contract (``docs/json.md``)."""

from __future__ import annotations

from indexes.queries.pull_request.model import (
    ChangedFile,
    Commit,
    Issue,
    Label,
    PullRequest,
    PullStep,
    Ran,
    Template,
    Title,
    Workflow,
)
from indexes.serialize import contribution, impact
from indexes.serialize.answers import Object, envelope, shape, to_object

__all__ = ["contribution", "impact", "pull_request_json"]  # whose shapes these are made of

shape(Commit, "commit subject body")
shape(ChangedFile, "path what added removed")
shape(Title, "prefix text why")
shape(Template, "path lines others")
shape(Ran, "command result")
shape(Label, "kind name path line why by_itself")
shape(Issue, "number way path=location.path line=location.line")
shape(Workflow, "name path line when jobs label?")
shape(PullStep, "what path=location.path line=location.line command")


def pull_request_json(one: PullRequest, body: list[str]) -> Object:
    """The draft; ``body`` is its text in Markdown."""
    return envelope(
        one.source,
        **to_object(
            one, "base base_commit branch? title commits files template?", body="\n".join(body)
        ),
        operators=one.affected.impact.operators,
        apis=one.affected.impact.apis,
        **to_object(
            one,
            "tests more_tests ran commands labels topics reviewers issues fixes workflows steps"
            " missing",
        ),
    )
