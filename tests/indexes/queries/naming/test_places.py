"""Places: a line of a file that is named in part."""

from __future__ import annotations

from indexes.queries.index import Index

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
