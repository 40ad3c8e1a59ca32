"""Texts that would make a reader recurse or take the square of their size, macros too."""

from __future__ import annotations

import time

import pytest

from indexes.model.errors import CXX_BODY_NESTING
from indexes.readers.cxx.facts import read_cpp


def test_macros_that_double_each_other_end() -> None:
    double = "".join(f"#define A{i + 1}(x) A{i}(x) A{i}(x)\n" for i in range(40))
    use = 'TORCH_LIBRARY_IMPL(aten, CPU, m){ A40(m.impl("add.Tensor", f);) }\nvoid f(){ A40(g()); }'
    begun = time.process_time()
    _, problems = read_cpp(f"#define A0(x) x x\n{double}{use}".encode(), "aten/a.cpp")
    assert time.process_time() - begun < 10
    assert [one.line for one in problems] == [43]
    assert "of the macros that it makes are left out: more than 4,096" in problems[0].message


def test_a_long_row_of_macros_in_a_body_ends() -> None:
    row = "".join(f"#define A{i + 1}(x) A{i}(x)\n" for i in range(3000))
    text = f"#define A0(x) h(x)\n{row}void f(){{ A3000(g()); }}\nvoid i(){{ A9(g()); }}"
    facts, problems = read_cpp(text.encode(), "aten/a.cpp")
    assert [one.line for one in problems] == [3002]
    calls = {one.name: {call.name for call in one.calls} for one in facts.definitions}
    assert "h" in calls["i"]


BOMBS = {
    "brackets": ("void f(int a){ ", "if (a) { ", "g();", "} ", " }\nvoid i() { g(); }"),
    "macros of dtypes": (
        "void f() { ",
        'AT_DISPATCH_ALL_TYPES(a, "x", [&] { ',
        "g();",
        "});",
        " }\nvoid i() { g(); }",
    ),
    "types": ("void f(", "std::vector<", "int", ">", " x) { }\nvoid i() { g(); }"),
    "questions": ("void f() { g(", "a ? b : ", "c", "", "); }\nvoid i() { g(); }"),
    "branches": (
        "#if A\n",
        "#elif B\nint f() { return g(); }\n",
        "",
        "",
        "#endif\nvoid i() { g(); }",
    ),
    "if without braces": ("void f() { ", "if (a) ", "g();", "", " }\nvoid i() { g(); }"),
}


@pytest.mark.parametrize("kind", BOMBS)
def test_what_stands_in_each_other_takes_no_square_of_it(kind: str) -> None:
    first, opened, inner, closed, last = BOMBS[kind]

    def seconds(times: int) -> float:
        text = first + opened * times + inner + closed * times + last
        begun = time.process_time()
        facts, problems = read_cpp(text.encode(), "aten/a.cpp")
        taken = time.process_time() - begun
        (after,) = (one for one in facts.definitions if one.name == "i")
        assert [call.name for call in after.calls] == ["g"]
        deep = closed[:1] == "}" and times > CXX_BODY_NESTING
        assert [one.line for one in problems] == [1] * deep
        return taken

    assert seconds(8000) < 10 * seconds(2000) + 0.5
