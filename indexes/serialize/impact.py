"""Impact as plain JSON values, by the contract."""

from __future__ import annotations

from indexes.model.impact import Affected, Changed, Impact, Step
from indexes.model.vocabulary import Location
from indexes.serialize.answers import Json, Object, envelope


def impact_json(symbol: str, impact: Impact) -> Object:
    """The answer of ``torchnav impact`` and ``torchnav callers``."""
    return envelope(impact.source, symbol=symbol, **_parts(impact))


def affected_json(affected: Affected) -> Object:
    """The answer of ``torchnav affected``."""
    return envelope(
        affected.impact.source,
        base=affected.base,
        target=affected.target,
        files=affected.files,
        changes=[_changed(one) for one in affected.changes],
        quiet=list(affected.quiet),
        **_parts(affected.impact),
    )


def _parts(impact: Impact) -> dict[str, Json]:
    return {
        "steps": [_step(step) for step in impact.steps],
        "operators": [
            {
                "name": one.name,
                **_place(one.location),
                "aspects": list(one.aspects),
                "step": one.step,
                "confidence": one.confidence,
                "dispatches": one.dispatches,
            }
            for one in impact.operators
        ],
        "apis": [
            {
                "name": one.name,
                **_place(one.location),
                "rule": one.rule,
                "operators": list(one.operators),
                "confidence": one.confidence,
            }
            for one in impact.apis
        ],
        "tests": [
            {
                "command": one.command,
                "path": one.path,
                "reason": one.reason,
                "operators": list(one.operators),
                "confidence": one.confidence,
                "tests": one.tests,
            }
            for one in impact.tests
        ],
        "unresolved": list(impact.unresolved),
    }


def _step(step: Step) -> Json:
    return {
        "id": step.id,
        "parent": step.parent,
        "kind": step.kind,
        "symbol": step.symbol,
        **_place(step.location),
        "end_line": (step.location.end_line or None) if step.location else None,
        "rule": step.rule,
        "evidence": _place(step.evidence) if step.evidence else None,
        "confidence": step.confidence,
        "candidates": step.candidates,
        "way_confidence": step.way_confidence,
        "dispatches": step.dispatches,
    }


def _changed(one: Changed) -> Json:
    return {
        "kind": one.kind,
        "name": one.name,
        "what": one.what,
        **_place(one.location),
        "detail": one.detail,
    }


def _place(where: Location | None) -> dict[str, Json]:
    return {"path": where.path if where else None, "line": where.line if where else None}
