"""Macros that make more of each other than anyone could read."""

from __future__ import annotations

import time

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
