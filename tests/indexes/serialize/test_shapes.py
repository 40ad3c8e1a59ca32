"""Objects of the contract: keys in their order, from the attributes that they are said to have."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import pytest

from indexes.model.vocabulary import Location
from indexes.serialize import answers, contribution, diff, gaps, impact
from indexes.serialize.answers import SHAPES, shape, to_json, to_object

MODULES = (answers, contribution, diff, gaps, impact)
"""All that give classes their keys."""


@dataclass
class Inner:
    text: str


@dataclass
class Answer:
    location: Location | None
    inner: Inner | None
    note: str = ""
    keys: tuple[str, ...] = ()


@pytest.mark.parametrize("cls", SHAPES, ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
def test_every_key_is_an_attribute_of_its_class(cls: type) -> None:
    known = {*cls.__annotations__, *dict(inspect.getmembers(cls))}
    for word in SHAPES[cls].split():
        name, _, attribute = word.removesuffix("?").partition("=")
        of_location = name in ("path", "line", "end_line") and "location" in known
        assert of_location or (attribute or name).partition(".")[0] in known, word


def test_places_stand_in_the_object_itself() -> None:
    answer = Answer(Location("a.cpp", 3), None)
    assert to_object(answer, "line path end_line") == {"line": 3, "path": "a.cpp", "end_line": None}
    assert to_object(Answer(None, None), "path line") == {"path": None, "line": None}


def test_what_is_further_in_is_null_where_it_is_not_there() -> None:
    assert to_object(Answer(None, Inner("x")), "said=inner.text") == {"said": "x"}
    assert to_object(Answer(None, None), "said=inner.text") == {"said": None}


def test_a_question_mark_makes_what_is_empty_null() -> None:
    assert to_object(Answer(None, None), "note? keys") == {"note": None, "keys": []}


def test_others_replace_keys_in_their_place_or_follow() -> None:
    made = to_object(Answer(None, None, "n"), "note keys", note=1, more=Location("b", 2))
    assert list(made.items()) == [("note", 1), ("keys", []), ("more", {"path": "b", "line": 2})]


def test_a_class_without_keys_is_refused() -> None:
    with pytest.raises(KeyError):
        to_json(Answer(None, None))
    shape(Inner, "text")
    assert to_json((Inner("a"), {"b": None})) == [{"text": "a"}, {"b": None}]
