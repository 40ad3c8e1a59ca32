"""Gaps as JSON, by docs/json.md."""

from __future__ import annotations

from indexes.queries.gaps.model import Gap, GapList, KeyCount, KindCount
from indexes.serialize.answers import Object, envelope, shape, to_object

shape(
    Gap,
    "id kind difficulty effort name op path line what rule stated confidence evidence keys needs"
    " module owners uses age_days contribute",
)


def gaps_json(answer: GapList, more: int = 0) -> Object:
    """The counts of every kind asked for, the gaps by usefulness, and the number of further
    ones."""
    counts = [
        to_object(one, "kind difficulty title count possible lacks", **_counted(one))
        for one in answer.counts
    ]
    keys = [to_object(one, "key count possible lacks", **_counted(one)) for one in answer.keys]
    return envelope(answer.source, counts=counts, keys=keys, gaps=answer.gaps, more=more)


def _counted(one: KindCount | KeyCount) -> dict[str, int | None]:
    """Both counts; null if this source cannot tell."""
    return {
        "count": None if one.lacks else one.count,
        "possible": None if one.lacks else one.possible,
    }
