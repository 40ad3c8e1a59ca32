"""Lists of operators are read by what they are, not by what they are called."""

from __future__ import annotations

from indexes.readers.python.operator_lists import bare_name, read_operator_lists

_TABLES = """
__all__ = ["celu", "elu", "mish"]

def table():
    return decompositions_of([
        aten.gcd.default,
        aten.lcm,
        torch.hypot,
    ])

class TestOps(TestCase):
    @skipOps("TestOps", "test_vjp", {
        xfail("linalg.svd"),  # no rule
        other,
    })
    def test_vjp(self): ...

failures["cpu"] = {
    torch.geqrf: {f32},
    (None, f32, "nn.functional.mish"): 1,
    "histc": {i64},
}
make_fallback(aten.sort, warn=False)
make_fallback(aten.mode)
name = 1
make_fallback(aten.median)
few = [aten.one, aten.two]
mixed = [1, 2, 3, 4, "sum", "prod", "mean"]
"""


def _lines() -> range:
    return range(1, _TABLES.count("\n") + 1)


def test_lists_of_every_form() -> None:
    found = {one.title: one for one in read_operator_lists(_TABLES, "a.py", _lines())}
    assert {title: [row.name for row in one.rows] for title, one in found.items()} == {
        "__all__": ["celu", "elu", "mish"],
        "table": ["aten.gcd.default", "aten.lcm", "torch.hypot"],
        "test_vjp": ["linalg.svd"],
        "failures['cpu']": ["torch.geqrf", "nn.functional.mish", "histc"],
        "make_fallback": ["aten.sort", "aten.mode", "aten.median"],
    }
    assert {title for title, one in found.items() if one.fails} == {
        "test_vjp",
        "failures['cpu']",
        "make_fallback",
    }
    assert [row.line for row in found["make_fallback"].rows] == [23, 24, 26]


def test_only_lists_with_the_lines_are_read() -> None:
    found = read_operator_lists(_TABLES, "a.py", [8])
    assert {one.title for one in found} == {"table", "make_fallback"}


def test_a_file_of_names() -> None:
    text = "aten::gcd\naten::gcd.out\naten::lcm\n"
    (found,) = read_operator_lists(text, "test/expect/Test.test_it.expect", [])
    assert [(row.name, row.line) for row in found.rows] == [
        ("aten::gcd", 1),
        ("aten::gcd.out", 2),
        ("aten::lcm", 3),
    ]


def test_a_broken_file_has_none() -> None:
    assert read_operator_lists("a = [", "a.py", [1]) == []


def test_bare_names() -> None:
    words = (
        "aten::gcd.out",
        "aten.gcd.default",
        "torch.ops.aten.gcd",
        "torch.linalg.svd",
        "linalg.svd",
        "nn.functional.celu",
        "_refs.special.i0e",
        "torch.Tensor.add_",
    )
    assert [bare_name(word) for word in words] == [
        "gcd",
        "gcd",
        "gcd",
        "linalg_svd",
        "linalg_svd",
        "celu",
        "special_i0e",
        "add_",
    ]
