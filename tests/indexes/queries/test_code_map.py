"""What lives in which folder of the small tree, and the way of a call through it."""

from __future__ import annotations

import pytest

from indexes.model.errors import NotFound, UsageError
from indexes.queries.code_map import CodeMap
from indexes.queries.index import Index
from tests.indexes.queries.test_dispatch_path import index, tree

__all__ = ["index", "tree"]


def test_every_file_is_in_exactly_one_entry(index: Index) -> None:
    whole = CodeMap(index).folder()
    assert whole.path == ""
    assert sum(entry.counts["files"] for entry in whole.entries) == whole.counts["files"]
    assert whole.counts["files"] == len(index.facts.paths())
    for what in ("operators", "stubs", "tests", "kernels"):
        assert sum(entry.counts.get(what, 0) for entry in whole.entries) == whole.counts[what] > 0


def test_one_level_at_a_time(index: Index) -> None:
    native = CodeMap(index).folder("aten/src/ATen/native/")
    assert native.path == "aten/src/ATen/native"
    kinds = {entry.path.rpartition("/")[2]: entry.kind for entry in native.entries}
    assert kinds["native_functions.yaml"] == "file"
    assert kinds["cpu"] == "folder"
    yaml = next(one for one in native.entries if one.path.endswith("native_functions.yaml"))
    assert yaml.counts["operators"] > 10
    order = [entry.kind for entry in native.entries]
    assert order == sorted(order, key=lambda kind: kind == "file")


def test_doors_are_the_files_that_others_refer_to_most(index: Index) -> None:
    doors = CodeMap(index).folder("aten").doors
    assert doors
    references = [door.references for door in doors]
    assert references == sorted(references, reverse=True)
    assert all(door.path.startswith("aten/") and door.door == door.path for door in doors)


@pytest.mark.parametrize(
    "folder", ["nowhere", "../..", "aten/src/ATen/native/native_functions.yaml"]
)
def test_a_folder_with_nothing_indexed_is_not_found(index: Index, folder: str) -> None:
    with pytest.raises(NotFound):
        CodeMap(index).folder(folder)


def test_the_way_of_a_call(index: Index) -> None:
    way = CodeMap(index).call("abs")
    stages = [step.stage for step in way.steps]
    assert stages[-1] == "computes"
    assert "schema" in stages
    autograd = next(step for step in way.steps if step.why.startswith("AutogradCPU"))
    assert autograd.folder == "tools/autograd"
    last = way.steps[-1]
    assert last.location
    assert last.folder == last.location.path.rpartition("/")[0]


def test_a_call_on_no_device(index: Index) -> None:
    with pytest.raises(UsageError):
        CodeMap(index).call("abs", "abacus")
    with pytest.raises(NotFound):
        CodeMap(index).call("nothing")
