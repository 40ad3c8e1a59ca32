"""The names in narration, looked up: found with a place, or said to be absent."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.index import Index
from navigator.labs.cells import Lab, all_labs
from navigator.labs.report import LabReport, links, look_up
from navigator.text.labs import lab_lines, lab_page
from tests.navigator.labs.made import lab


def test_what_the_small_tree_has(tree_index: Index) -> None:
    for name, text in [
        ("mul.Tensor", "- func: mul.Tensor("),
        ("mul.Tensor: CPU", "mul_kernel("),
        ("mul.Tensor: grad", "- name: mul.Tensor("),
        ("c10::TensorImpl", "TensorImpl"),
    ]:
        place = look_up(name, tree_index).location
        assert place is not None, name
        assert text in tree_index.read(place.path).splitlines()[place.line - 1]


def test_what_a_tree_lacks_is_said(tree_index: Index) -> None:
    for name, said in [
        ("nothing_of_this_name", "nothing is named 'nothing_of_this_name' in PyTorch"),
        ("mul.Tensor: XPU", "no XPU of mul.Tensor is known in PyTorch"),
        ("c10::TensorImpl: CPU", "is not an operator in PyTorch"),
    ]:
        link = look_up(name, tree_index)
        assert link.location is None
        assert said in link.absent


def test_links_in_text_and_on_a_page(tmp_path: Path, tree_index: Index) -> None:
    made = lab(tmp_path, "# %% [markdown]\n# See [[mul.Tensor]], not [[no_such_thing]].\n")
    report = LabReport(made, links(made, tree_index), tree_index.info)
    path = "aten/src/ATen/native/native_functions.yaml"

    text = " ".join(" ".join(lab_lines(report)).split())
    assert f"See mul.Tensor ({path}:" in text
    assert "not no_such_thing (not found in this source)." in text
    page = "\n".join(lab_page(report))
    assert f"| `mul.Tensor` | `{path}:" in page
    assert "| `no_such_thing` | absent: nothing is named 'no\\_such\\_thing'" in page


@pytest.mark.parametrize("one", all_labs(), ids=lambda one: one.name)
def test_each_link_of_a_lab_is_in_the_wheel_or_needs_its_cpp(one: Lab, wheel: Index) -> None:
    for link in links(one, wheel).values():
        if link.location is None:
            is_cpp = "::" in link.name or link.name.endswith((".cpp", ": CPU")) or link.name in BARE
            assert is_cpp, link
            assert link.absent
        else:
            assert link.location.line >= 1 or "." in link.name  # a file as a whole
            assert not link.others, link


BARE = {"_coalesce_sparse_cpu", "THPFunction_apply", "DefaultCPUAllocator"}
"""C++ functions and classes of .cpp files that are named without a scope."""
