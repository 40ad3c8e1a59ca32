"""Macros that make more of each other than anyone could read."""

from __future__ import annotations

import time

from indexes.readers.cxx.facts import read_cpp


def test_macros_that_double_each_other_end() -> None:
    double = "".join(f"#define A{i + 1}(x) A{i}(x) A{i}(x)\n" for i in range(40))
    use = 'TORCH_LIBRARY_IMPL(aten, CPU, m){ A40(m.impl("add.Tensor", f);) }\nvoid f(){ A40(g()); }'
    begun = time.process_time()
    read_cpp(f"#define A0(x) x x\n{double}{use}".encode(), "a.cpp")
    assert time.process_time() - begun < 10
