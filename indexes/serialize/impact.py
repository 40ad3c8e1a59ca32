"""Impact as plain JSON values, by the contract."""

from __future__ import annotations

from indexes.model.impact import (
    Affected,
    Changed,
    Check,
    Folded,
    Impact,
    ReachedApi,
    ReachedOperator,
    Step,
    TestCommand,
)
from indexes.serialize.answers import Object, envelope, shape, to_object

shape(
    Step,
    "id parent kind symbol path line end_line rule evidence confidence candidates way_confidence"
    " dispatches",
)
shape(ReachedOperator, "name path line aspects step confidence dispatches keys composite")
shape(ReachedApi, "name path line rule operators confidence")
shape(TestCommand, "command path reason operators confidence tests tier")
shape(Folded, "what count how")
shape(Check, "purpose command path line note")
shape(Changed, "kind name what path line detail")

_PARTS = "steps operators apis tests unresolved folded"


def impact_json(symbol: str, impact: Impact) -> Object:
    """The answer of ``torchnav impact`` and ``torchnav callers``."""
    return envelope(impact.source, symbol=symbol, **to_object(impact, _PARTS))


def affected_json(affected: Affected) -> Object:
    """The answer of ``torchnav affected``."""
    own = to_object(affected, "base target files changes quiet checks")
    return envelope(affected.impact.source, **own, **to_object(affected.impact, _PARTS))
