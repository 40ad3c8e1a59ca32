"""What calls the kernels of an operator."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.model.vocabulary import Location
from indexes.queries.contribution.helpers import MAX_USERS, callers
from indexes.queries.contribution.plan import Contributions
from indexes.queries.index import Index
from navigator.text.contribution import place_rows
from tests.indexing import append, opened

_NATIVE = "aten/src/ATen/native"
_YAML = """
- func: pack(Tensor self) -> Tensor
  dispatch:
    CPU: pack_cpu
- func: pair(Tensor self) -> Tensor
  dispatch:
    CPU: pair_cpu
"""
_KERNEL = """namespace at::native {
static Tensor part(const Tensor& self) { return self; }
Tensor pack_cpu(const Tensor& self) { return part(self); }
}
"""
_USER = """namespace at::native {
Tensor pack_cpu(const Tensor& self);
Tensor pair_cpu(const Tensor& self) { return pack_cpu(self); }
}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    tree = tmp_path_factory.mktemp("tree")
    texts = {f"{_NATIVE}/native_functions.yaml": _YAML, f"{_NATIVE}/Pack.cpp": _KERNEL}
    texts |= {f"{_NATIVE}/Pair.cpp": _USER, "torch/__init__.py": "", "version.txt": "2.0.0"}
    texts |= {"tools/autograd/derivatives.yaml": "", "torch/csrc/empty.cpp": ""}
    for path, text in texts.items():
        _written(tree / path, text)
    with opened(tree, tmp_path_factory.mktemp("cache")) as found:
        yield found


def _written(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_a_function_in_another_file_that_calls_a_kernel_is_a_place(index: Index) -> None:
    steps = Contributions(index).of("pack", histories=0).steps
    (caller,) = [step for step in steps if step.role == "caller"]
    assert caller.location == Location(f"{_NATIVE}/Pair.cpp", 3, 3)
    assert caller.rule == "calls pack_cpu at line 3"
    assert caller.change == "may"


def test_callers_in_the_same_file_and_of_what_many_files_use_are_none(index: Index) -> None:
    part, pack = Location(f"{_NATIVE}/Pack.cpp", 2), Location(f"{_NATIVE}/Pack.cpp", 3)
    assert not list(callers(index.facts, [part]))
    assert not list(callers(index.facts, [pack], most=0))


def test_what_is_seldom_changed_is_one_row_for_each_kind_with_every_place(
    tree_index: Index,
) -> None:
    steps = Contributions(tree_index).of("add.Tensor", histories=0).steps
    seldom = [step for step in steps if step.change == "seldom"]
    rows = [row for row in place_rows(steps) if row.text.startswith("seldom changed")]
    assert len(rows) == len({step.role for step in seldom}) < len(seldom)
    shown = " ".join(f"{row.text} {row.location}" for row in rows)
    assert all(str(step.location) in shown for step in seldom)


_BELOW = """
- func: weigh(Tensor self) -> Tensor
  dispatch:
    CPU: weigh_cpu
    CUDA: weigh_cuda
"""
_OF_CPU = """namespace at::native {
Tensor weigh_cpu(const Tensor& self) { return self; }
Tensor& weigh_each(Tensor& self) { return self; }
}
"""
_OF_CUDA = """namespace at::native {
Tensor weigh_cuda(const Tensor& self) { weigh_each(self); return self; }
}
"""


@pytest.mark.parametrize("calling", [True, False])
def test_the_header_by_which_kernels_call_each_others_functions(
    tree_copy: Path, cache: Path, calling: bool
) -> None:
    header = "namespace at::native {\nTensor& weigh_each(Tensor& self);\n}\n"
    kernel = _OF_CUDA if calling else _OF_CUDA.replace("weigh_each(self);", "")
    append(tree_copy, {f"{_NATIVE}/native_functions.yaml": _BELOW})
    for end, text in {"Weigh.h": header, "Weigh.cpp": _OF_CPU, "cuda/Weigh.cu": kernel}.items():
        _written(tree_copy / _NATIVE / "sparse" / end, text)
    with opened(tree_copy, cache) as found:
        steps = Contributions(found).of("weigh", histories=0).steps
    rules = [s.rule for s in steps if s.location.path == f"{_NATIVE}/sparse/Weigh.h"]
    said = "declares weigh_each, which at::native::weigh_cuda calls in another file"
    assert rules == [said] * calling


def test_a_kernel_of_an_operator_that_many_call_is_no_helper(tree_copy: Path, cache: Path) -> None:
    """Though few call its function by name."""
    entries = "".join(f"\n- func: {name}(Tensor self) -> Tensor\n" for name in ("every", "one"))
    body = "namespace at::native {{\nTensor {0}(const Tensor& self) {{ return {1}; }}\n}}\n"
    append(tree_copy, {f"{_NATIVE}/native_functions.yaml": entries})
    _written(tree_copy / _NATIVE / "Every.cpp", body.format("every", "self"))
    _written(tree_copy / _NATIVE / "One.cpp", body.format("one", "at::native::every(self)"))
    for at in range(MAX_USERS):
        text = body.format(f"use{at}", "at::every(self)")
        _written(tree_copy / _NATIVE / f"Use{at}.cpp", text)
    with opened(tree_copy, cache) as found:
        steps = Contributions(found).of("one", histories=0).steps
    helpers = [step.location.path for step in steps if step.role == "helper"]
    assert f"{_NATIVE}/Every.cpp" not in helpers
