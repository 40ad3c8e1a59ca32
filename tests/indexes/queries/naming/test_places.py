"""Places: a line of a file that is named in part."""

from __future__ import annotations

from indexes.queries.index import Index
from indexes.queries.pasted import pasted

NATIVE = "aten/src/ATen/native"


def test_files_of_one_name_are_told_apart_by_what_stands_at_the_line(tree_index: Index) -> None:
    found = tree_index.resolve("Activation.cpp:35")
    (here,) = (hit for hit in found.hits if hit.location.path == f"{NATIVE}/Activation.cpp")
    assert (found.kind, found.confidence, len(found.hits)) == ("place", "ambiguous", 4)
    assert (here.detail, here.op) == ("in at::native::relu", "relu")


def test_the_only_file_leads_to_its_operators(tree_index: Index) -> None:
    found = tree_index.resolve("native/cuda/SoftMax.cu:25")
    (here,) = found.hits
    assert here.detail == "in at::native::(anonymous)::cunn_SpatialSoftMaxForward"
    assert "_softmax" in found.overloads


def test_a_file_as_it_is_written_comes_before_others(tree_index: Index) -> None:
    assert tree_index.resolve("softmax.cu").hits == tree_index.resolve("SoftMax.cu").hits


def test_a_method_of_a_name_that_nothing_has_is_that_of_a_tensor(tree_index: Index) -> None:
    for text in ("x.mul", "x.mul(y)"):
        match = tree_index.resolve(text)
        assert (match.overloads[0], match.note) == ("mul.Tensor", "if x is a tensor")
    written = tree_index.resolve("x.__abs__")
    assert (written.kind, written.note) == ("python", "if x is a tensor")
    assert tree_index.resolve("nn.mul").kind == "none"  # a module is no tensor


def test_a_method_that_python_writes_calls_what_its_body_says(tree_index: Index) -> None:
    match = tree_index.resolve("Tensor.__rdiv__")
    assert (match.kind, match.overloads, match.note) == ("python", (), "")  # and not div


def test_what_profilers_print_behind_a_line_is_its_function_and_no_other_word_is() -> None:
    assert pasted("torch/nn/a.py(12): forward").places == (("torch/nn/a.py", 12, "forward"),)
    assert pasted("lost (at torch/nn/a.py:12): none").places == (("torch/nn/a.py", 12, ""),)
