"""A plan of a change as plain JSON values, by the contract (``docs/json.md``)."""

from __future__ import annotations

from indexes.queries.changes.model import (
    Arrival,
    Change,
    ChangeStep,
    Neighbour,
    Plan,
    TestRun,
    TouchedFile,
)
from indexes.serialize import contribution  # the keys of commands, reviewers and commits
from indexes.serialize.answers import Object, envelope, shape, to_object

__all__ = ["contribution", "plan_json"]

shape(Change, "id kind key? op name title why?")
shape(ChangeStep, "action path line what code why? like command?")
shape(TouchedFile, "path added removed")
shape(
    Arrival,
    "commit=commit.commit author=commit.author date=commit.date subject=commit.subject"
    " pull_request=commit.pull_request at_cut=commit.at_cut files",
)
shape(Neighbour, "name why path line end_line code more history=arrivals history_note?")
shape(TestRun, "tier command path why?")


def plan_json(plan: Plan) -> Object:
    """The change, and everything that doing it asks for."""
    return envelope(
        plan.source,
        **to_object(
            plan, "change there neighbours steps files related tests commands reviewers missing"
        ),
    )
