"""JSON that is read and written without ``json`` is the same."""

from __future__ import annotations

import json

import pytest

from indexes.model import json_text

_VALUES: tuple[object, ...] = (
    None, True, 0, -12, 3.5, 1e300, 10**30, "", "a\"b\\ü\n\x00\ud800\U0001f600</", [], {}, [[], {}],
    {"a": [1, 2.0, None, {"b": "c"}], "": False}, ("x", ("y", 1)), {1: "one", None: 0},
)  # fmt: skip


@pytest.mark.parametrize("value", _VALUES, ids=repr)
def test_values_are_written_and_read_as_json_does(value: object) -> None:
    assert json_text.dumps(value) == json.dumps(value)
    assert json_text.compact(value) == json.dumps(value, separators=(",", ":"))
    assert json_text.loads(json.dumps(value)) == json.loads(json.dumps(value))


@pytest.mark.parametrize("text", [' [1, "a"]\n', "-0", "[1e5]", "Infinity", '{"a":1,"a":2}'])
def test_texts_that_are_written_in_other_ways_are_read(text: str) -> None:
    assert json_text.loads(text) == json.loads(text)


@pytest.mark.parametrize("text", ["", " ", "[1", "[1] 2", "{'a': 1}", '"\n"', "nul", "\ufeff1"])
def test_what_is_no_json_is_refused_as_json_does(text: str) -> None:
    with pytest.raises(json.JSONDecodeError) as expected:
        json.loads(text)
    with pytest.raises(json.JSONDecodeError) as raised:
        json_text.loads(text)
    assert str(raised.value) == str(expected.value)


def test_what_json_does_not_have_is_refused_each_time() -> None:
    circular: list[object] = []
    circular.append(circular)
    for _ in range(2):
        with pytest.raises(TypeError):
            json_text.dumps({"a": {1}})
        with pytest.raises(ValueError, match="Out of range"):
            json_text.dumps([float("nan")])
        with pytest.raises(ValueError, match="Circular"):
            json_text.compact(circular)
    assert json_text.dumps([1]) == "[1]"


def test_a_python_without_the_part_in_c_uses_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "_HAS_C", False)
    value = {"a": [1, "ü"]}
    assert json_text.loads(json_text.dumps(value)) == value
    assert json_text.compact(value) == json.dumps(value, separators=(",", ":"))
    with pytest.raises(ValueError, match="Out of range"):
        json_text.dumps(float("inf"))
