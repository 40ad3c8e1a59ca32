"""What torchgen writes for an operator as JSON, by the contract (``docs/json.md``)."""

from __future__ import annotations

from indexes.serialize.answers import Object, envelope, shape
from navigator.live.generated.answer import Absence, Because, Generated, Piece

shape(Piece, "path line end_line family text template placeholder generator function")
shape(Absence, "families reason place=location function comment because")
shape(Because, "text place=location")


def generated_json(answer: Generated) -> Object:
    """The answer of ``torchnav generated``."""
    return envelope(
        answer.source,
        op=answer.op,
        generators=answer.generators,
        note=answer.note,
        pieces=answer.pieces,
        absences=answer.absences,
    )
