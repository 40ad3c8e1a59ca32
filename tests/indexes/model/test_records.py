from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
import typing

import pytest

from indexes.model.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Point:
    """A place."""

    x: int
    y: int = 2
    names: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.x}/{self.y}"


@dataclass(slots=True)
class Count:
    of: str
    number: int = 0


def test_arguments_are_taken_by_place_by_name_and_by_default() -> None:
    point = Point(1, names=["a"])
    assert (point.x, point.y, point.names) == (1, 2, ["a"])
    assert Point(x=3, y=4) == Point(3, 4, [])
    assert Point(1).names is not Point(1).names


def test_wrong_arguments_are_errors() -> None:
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        Point(1, z=2)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'z'"):
        replace(Point(1), z=2)  # type: ignore[call-arg]


def test_a_frozen_record_is_not_changed_and_others_are() -> None:
    with pytest.raises(AttributeError):
        Point(1).x = 2  # type: ignore[misc]
    count = Count("a")
    count.number += 1
    assert count == Count("a", 1)
    with pytest.raises(AttributeError):
        count.other = 1  # type: ignore[attr-defined]


def test_equal_ones_are_the_same_key_and_other_classes_never_equal() -> None:
    @dataclass(frozen=True, slots=True)
    class Other:
        of: str
        number: int = 0

    assert {Other("a"): 1}[Other("a")] == 1
    assert Other("a") != Other("b")
    assert Other("a") != Count("a")  # type: ignore[comparison-overlap]
    with pytest.raises(TypeError, match="unhashable"):
        hash(Count("a"))


def test_it_shows_and_copies_like_a_dataclass() -> None:
    point = Point(1, 2, ["a"])
    assert repr(point) == "Point(x=1, y=2, names=['a'])"
    assert str(point) == "1/2"
    assert Point.__doc__ == "A place."
    assert replace(point, y=3) == Point(1, 3, ["a"])
    assert pickle.loads(pickle.dumps(point)) == point == copy.deepcopy(point)
    match point:
        case Point(x, y):
            assert (x, y) == (1, 2)


def test_the_standard_library_knows_its_fields() -> None:
    assert dataclasses.is_dataclass(Point(1))
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 2, "names": []}
    assert dataclasses.replace(Point(1), y=5) == Point(1, 5)
    assert [f.name for f in dataclasses.fields(Count("a"))] == ["of", "number"]


def test_the_vocabulary_is_imported_without_the_standard_dataclasses() -> None:
    program = (
        "import sys, indexes.model.vocabulary; print({'dataclasses', 'inspect'} & set(sys.modules))"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert told.stdout.strip() == b"set()"


def test_what_it_does_not_do_is_refused() -> None:
    class Later:
        x: int

        def __post_init__(self) -> None: ...

    class Shared:
        x: typing.ClassVar[int] = 1

    class More(Point):
        z: int

    for written in (Later, Shared, More):
        with pytest.raises(TypeError, match=written.__name__):
            dataclass(slots=True)(written)
