"""Which operators are like a new one: by name, namespace and schema."""

from __future__ import annotations

import pytest

from indexes.model.schema import parse_schema
from indexes.queries.contribution.neighbours import Namespaces, likeness, neighbours
from tests.indexes.queries.contribution.yaml_entries import natives, unary

NATIVES = natives(
    unary("mish", "sgn", "sigmoid", "_private", "index")
    + "\n- func: index_add(Tensor self, int dim) -> Tensor\n"
    + "\n- func: trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor\n"
    + "\n- func: vdot(Tensor self, Tensor other) -> Tensor\n"
    + "\n"
    + unary("special_i0", "special_erf", module="special")
    + "\n- func: linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor\n"
    + "  python_module: linalg\n"
    + "\n"
    + unary("linalg_det", module="linalg")
    + "\n"
    + unary("_foreach_abs", "_foreach_exp", "_foreach_neg")
)


def _near(schema: str, count: int = 2) -> list[str]:
    return [one.native.name for one in neighbours(parse_schema(schema), NATIVES, count)]


@pytest.mark.parametrize(
    ("schema", "first"),
    [
        ("mish2(Tensor self) -> Tensor", "mish"),
        ("special_foo(Tensor self) -> Tensor", "special_i0"),
        ("linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor", "linalg_cross"),
        ("_foreach_tan(Tensor self) -> Tensor", "_foreach_abs"),
        ("_private2(Tensor self) -> Tensor", "_private"),
        ("vdot2(Tensor self, Tensor other) -> Tensor", "vdot"),
    ],
)
def test_the_nearest(schema: str, first: str) -> None:
    assert _near(schema)[0] == first


def test_a_name_is_its_own_neighbour_never() -> None:
    assert "mish" not in _near("mish.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", 30)


def test_one_overload_of_each_is_enough() -> None:
    twice = (*NATIVES, *natives("- func: mish_(Tensor(a!) self) -> Tensor(a!)\n"))
    found = neighbours(parse_schema("mish2(Tensor self) -> Tensor"), twice, 30)
    assert [one.native.name for one in found].count("mish") == 1
    assert "mish_" not in [one.native.name for one in found]


def test_of_those_as_like_the_one_whose_kernels_stand_with_those_of_most() -> None:
    known = natives(unary("max", "sigmoid", "tangent"))
    homes = {"max": ("Reduce.cpp",), "sigmoid": ("Unary.cpp",), "tangent": ("Unary.cpp",)}
    schema = parse_schema("i0(Tensor self) -> Tensor")
    named = [one.native.name for one in neighbours(schema, known, 3, homes)]
    assert named == ["sigmoid", "tangent", "max"]
    assert neighbours(schema, known, 1)[0].native.name == "max"


def test_namespaces_are_modules_and_families() -> None:
    spaces = Namespaces(NATIVES)
    assert spaces.of("special_new") == "special"
    assert spaces.module("special_new") == "special"
    assert spaces.of("_foreach_new") == "_foreach"
    assert spaces.module("_foreach_new") == ""
    assert spaces.of("index_new") == ""


def test_why_says_what_is_shared() -> None:
    (first, *_) = neighbours(parse_schema("special_i02(Tensor self) -> Tensor"), NATIVES, 1)
    assert first.why == "the namespace special and the name and the schema"


def test_likeness() -> None:
    one = parse_schema("a(Tensor self, int dim) -> Tensor")
    assert likeness(one, parse_schema("b(Tensor self, int dim) -> Tensor")) == 1
    near = likeness(one, parse_schema("b(Tensor self, int axis) -> Tensor"))
    far = likeness(one, parse_schema("b(Scalar x) -> (Tensor, Tensor)"))
    assert 1 > near > far


def test_an_argument_by_keyword_alone_has_the_same_type() -> None:
    one = parse_schema("a(Tensor self, Generator? generator=None) -> Tensor")
    keyword = likeness(one, parse_schema("b(Tensor self, *, Generator? generator=None) -> Tensor"))
    assert 1 > keyword > likeness(one, parse_schema("b(Tensor self) -> Tensor"))
