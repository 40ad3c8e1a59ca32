"""Gaps as JSON, by docs/json.md."""

from __future__ import annotations

from indexes.queries.gaps.model import Gap, GapList
from indexes.serialize.answers import Object, envelope, shape, to_object

shape(
    Gap,
    "id kind difficulty name op path line what rule stated evidence keys needs module owners uses"
    " age_days contribute",
)


def gaps_json(answer: GapList, more: int = 0) -> Object:
    """The counts of every kind that was asked for, the gaps in order of usefulness, and how many
    ``more`` there are."""
    counts = [
        to_object(one, "kind difficulty title count lacks", count=None if one.lacks else one.count)
        for one in answer.counts
    ]
    return envelope(answer.source, counts=counts, gaps=answer.gaps, more=more)
