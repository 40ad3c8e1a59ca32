"""Gaps as JSON, by docs/json.md."""

from __future__ import annotations

from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, GapList, KindCount
from indexes.serialize.answers import Json, envelope


def gaps_json(answer: GapList) -> Json:
    """The counts of every kind that was asked for, and the gaps in order of usefulness."""
    return envelope(
        answer.source,
        counts=[_count(one) for one in answer.counts],
        gaps=[_gap(gap) for gap in answer.gaps],
    )


def _count(one: KindCount) -> Json:
    return {
        "kind": one.kind,
        "difficulty": one.difficulty,
        "title": one.title,
        "count": None if one.lacks else one.count,
        "lacks": one.lacks,
    }


def _gap(gap: Gap) -> Json:
    return {
        "kind": gap.kind,
        "difficulty": gap.difficulty,
        "name": gap.name,
        "op": gap.op,
        "path": gap.location.path,
        "line": gap.location.line,
        "what": gap.what,
        "rule": gap.rule,
        "stated": gap.stated,
        "evidence": [_line(one) for one in gap.evidence],
        "keys": list(gap.keys),
        "module": gap.module,
        "owners": list(gap.owners),
        "uses": gap.uses,
        "age_days": gap.age_days,
        "contribute": gap.contribute,
    }


def _line(location: Location) -> Json:
    return {"path": location.path, "line": location.line}
