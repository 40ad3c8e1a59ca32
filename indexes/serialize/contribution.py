"""A contribution as plain JSON values, by the contract (``docs/json.md``)."""

from __future__ import annotations

from indexes.queries.contribution.additions import Addition
from indexes.queries.contribution.guides import Command, Convention
from indexes.queries.contribution.new_operator import Check, NewOperator, TestToRun
from indexes.queries.contribution.plan import Contribution, PlaceHistory
from indexes.queries.contribution.precedents import Precedent
from indexes.queries.contribution.reviewers import Review
from indexes.queries.contribution.steps import Step
from indexes.queries.contribution.tiers import run_now
from indexes.queries.impact.rebuild import Cost
from indexes.queries.operator_tests import OperatorTests, OpInfoEntry, Selection
from indexes.serialize.answers import SHAPES, Object, envelope, shape, to_object
from indexes.source.git_history import Change

shape(Step, "role symbol path line? end_line rule change")
shape(Cost, "path kind objects total rule evidence")
shape(Review, "kind who for=path path line rule meaning note")
shape(
    PlaceHistory,
    "symbol=step.symbol path=step.location.path line=step.location.line asked=changes.followed"
    " note=changes.note changes=changes.changes",
)
shape(Change, "commit author date subject pull_request at_cut")
shape(OpInfoEntry, "name class=cls list=database path line rule")
shape(Command, "purpose command=text path line note")
shape(Convention, "text path line about")
shape(Check, "what good text path line")
shape(Addition, "title when? path line neighbour? shape certainty why")
shape(TestToRun, "path=path command why line? certainty")
shape(
    Precedent,
    "commit=change.commit author=change.author date=change.date subject=change.subject"
    " pull_request=change.pull_request operators likeness files",
)


def contribution_json(one: Contribution) -> Object:
    """Everything that a change of one subject asks for."""
    return envelope(
        one.source,
        subject=to_object(one, "kind name operators"),
        **to_object(
            one,
            "steps more rebuild=costs reviewers=reviews approved_by=covering history"
            " history_missing? tests commands conventions missing",
            tests=[_tests(op, tests) for op, tests in one.tests],
            tests_now=[found.command for found in run_now(one.tests)],
        ),
    )


def new_operator_json(plan: NewOperator) -> Object:
    """The plan for a new operator."""
    like = "name=native.full_name path=native.location.path line=native.location.line"
    neighbours = [
        to_object(one, f"{like} why?", likeness=round(one.likeness, 3)) for one in plan.neighbours
    ]
    before = [
        to_object(one, SHAPES[Precedent], likeness=round(one.likeness, 3))
        for one in plan.precedents
    ]
    return envelope(
        plan.source,
        **to_object(plan, "schema good checks"),
        neighbours=neighbours,
        **to_object(
            plan,
            "draft additions tests precedents history_missing? rebuild=costs commands"
            " reviewers=reviews conventions",
            precedents=before,
        ),
    )


def _tests(op: str, tests: OperatorTests) -> Object:
    return {
        "op": op,
        **to_object(
            tests,
            "opinfos files named missing?",
            files=[_selection(one) for one in tests.files],
            named=[_selection(one) for one in tests.named],
        ),
    }


def _selection(one: Selection) -> Object:
    tests = [
        {"name": name, "line": where.line} for name, where in zip(one.names, one.tests, strict=True)
    ]
    return to_object(
        one, "path command tests filtered rule also_selects=expression.also", tests=tests
    )
