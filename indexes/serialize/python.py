"""Python names as JSON."""

from __future__ import annotations

from indexes.model.python import PythonCall, PythonCard, PythonPlace
from indexes.serialize.answers import Object, shape, to_json

shape(PythonPlace, "kind name path line end_line")
shape(PythonCall, "name line definition=location operators times")


def python_json(card: PythonCard) -> Object:
    """What is known of a Python name."""
    answer = card.answer
    return {
        "name": answer.name,
        "kind": answer.kind,
        "defined": answer.defined,
        "confidence": answer.confidence,
        "signature": card.signature,
        "doc": card.doc,
        "places": to_json(answer.places),
        "calls": to_json(card.calls),
        "calls_untold": card.untold,
        "members": to_json(card.members),
        "tests": to_json(card.tests),
        "documents": to_json(card.documents),
    }
