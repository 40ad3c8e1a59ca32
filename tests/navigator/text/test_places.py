"""Places as text: ways that operators share are one row, and what is cut is counted."""

from __future__ import annotations

from indexes.model.answers import Callee, Place, ReachingPath, Way
from indexes.model.vocabulary import Location
from navigator.text.places import place_lines

_HERE = Location("a.cpp", 3, 9)


def _place(*ways: ReachingPath, calls: tuple[Callee, ...] = ()) -> Place:
    operators = tuple(dict.fromkeys(way.op for way in ways))
    said = ("", operators, "reached by these operators")
    return Place("function", "f", _HERE, *said, calls=calls, ways=ways)


def _way(op: str, *via: str, side: str = "kernel", devices: tuple[str, ...] = ()) -> ReachingPath:
    return ReachingPath(op, side, devices, tuple(Way(one, _HERE) for one in via))


def test_operators_that_share_a_way_share_a_row() -> None:
    ways = [_way(op, "at::native::k", "s", devices=("CPU",)) for op in ("add", "add_")]
    assert list(place_lines([_place(*ways)]))[-1].strip() == "add, add_ (CPU): k > s"


def test_the_way_of_a_formula_says_so() -> None:
    row = list(place_lines([_place(_way("mul", side="backward"))]))[-1]
    assert row.strip() == "mul, by their formulas"


def test_what_is_not_listed_is_counted_and_all_lists_it() -> None:
    place = _place(*(_way(f"op{n}", f"k{n}") for n in range(40)))
    short, whole = [
        " ".join(" ".join(place_lines([place], every)).split()) for every in (False, True)
    ]
    assert "op4: k4" in short
    assert "op5: k5" not in short
    assert "and 23 more (--all lists them)" in short
    assert "op39: k39" in whole
    assert "more" not in whole


def test_what_the_line_calls_stands_with_its_place() -> None:
    call = Callee("stub", "at::native::s", _HERE, "a stub", "exact")
    text = "\n".join(place_lines([_place(calls=(call,))]))
    assert "this line calls\n      at::native::s a.cpp:3: a stub" in text
