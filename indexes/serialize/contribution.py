"""A contribution as plain JSON values, by the contract (``docs/json.md``)."""

from __future__ import annotations

from indexes.queries.contribution.guides import Command, Convention
from indexes.queries.contribution.new_operator import NewOperator
from indexes.queries.contribution.plan import Contribution, PlaceHistory, Step
from indexes.queries.contribution.reviewers import Review
from indexes.queries.impact.rebuild import Cost
from indexes.queries.operator_tests import OperatorTests, OpInfoEntry, Selection
from indexes.serialize.answers import Json, Object, envelope, location_json
from indexes.source.git_history import Change


def contribution_json(one: Contribution) -> Object:
    """Everything that a change of one subject asks for."""
    return envelope(
        one.source,
        subject={"kind": one.kind, "name": one.name, "operators": list(one.operators)},
        steps=[_step(step) for step in one.steps],
        more=one.more,
        rebuild=[_cost(cost) for cost in one.costs],
        reviewers=[_review(review) for review in one.reviews],
        approved_by=[_review(review) for review in one.covering],
        history=[_history(place) for place in one.history],
        history_missing=one.history_missing or None,
        tests=[_tests(op, tests) for op, tests in one.tests],
        commands=[_command(command) for command in one.commands],
        conventions=[_convention(convention) for convention in one.conventions],
        missing=list(one.missing),
    )


def new_operator_json(plan: NewOperator) -> Object:
    """The plan for a new operator."""
    return envelope(
        plan.source,
        schema=plan.schema,
        good=plan.good,
        checks=[
            {
                "what": one.what,
                "good": one.good,
                "text": one.text,
                "path": one.location.path if one.location else None,
                "line": one.location.line if one.location else None,
            }
            for one in plan.checks
        ],
        neighbours=[
            {
                "name": one.native.full_name,
                **location_json(one.native.location),
                "likeness": round(one.likeness, 3),
            }
            for one in plan.neighbours
        ],
        draft=list(plan.draft),
        additions=[
            {
                "title": one.title,
                "when": one.when or None,
                **location_json(one.location),
                "neighbour": one.neighbour or None,
                "shape": list(one.shape),
            }
            for one in plan.additions
        ],
        rebuild=[_cost(cost) for cost in plan.costs],
        conventions=[_convention(one) for one in plan.conventions],
    )


def _step(step: Step) -> Object:
    where = step.location
    return {
        "role": step.role,
        "symbol": step.symbol,
        "path": where.path,
        "line": where.line or None,
        "end_line": where.end_line or None,
        "rule": step.rule,
    }


def _cost(cost: Cost) -> Object:
    return {
        "path": cost.path,
        "kind": cost.kind,
        "objects": cost.objects,
        "total": cost.total,
        "rule": cost.rule,
        "evidence": [location_json(one) for one in cost.evidence],
    }


def _review(review: Review) -> Object:
    where = review.location
    return {
        "kind": review.kind,
        "who": list(review.who),
        "for": review.path,
        "path": where.path,
        "line": where.line,
        "rule": review.rule,
        "meaning": review.meaning,
        "note": review.note,
    }


def _history(place: PlaceHistory) -> Object:
    return {
        "symbol": place.step.symbol,
        **location_json(place.step.location),
        "asked": place.changes.followed,
        "note": place.changes.note,
        "changes": [change_json(change) for change in place.changes.changes],
    }


def change_json(change: Change) -> Object:
    """A commit that changed a place."""
    return {
        "commit": change.commit,
        "author": change.author,
        "date": change.date,
        "subject": change.subject,
        "pull_request": change.pull_request,
        "at_cut": change.at_cut,
    }


def _tests(op: str, tests: OperatorTests) -> Object:
    return {
        "op": op,
        "opinfos": [_opinfo(one) for one in tests.opinfos],
        "files": [_selection(one) for one in tests.files],
        "named": [_selection(one) for one in tests.named],
        "missing": tests.missing or None,
    }


def _opinfo(one: OpInfoEntry) -> Object:
    return {
        "name": one.name,
        "class": one.cls,
        "list": one.database,
        **location_json(one.location),
        "rule": one.rule,
    }


def _selection(one: Selection) -> Object:
    tests: list[Json] = [
        {"name": name, "line": where.line} for name, where in zip(one.names, one.tests, strict=True)
    ]
    return {
        "path": one.path,
        "command": one.command,
        "tests": tests,
        "filtered": one.filtered,
        "rule": one.rule,
        "also_selects": list(one.expression.also),
    }


def _command(command: Command) -> Object:
    return {
        "purpose": command.purpose,
        "command": command.text,
        **location_json(command.location),
        "note": command.note,
    }


def _convention(one: Convention) -> Object:
    return {"text": one.text, **location_json(one.location), "about": one.about}
