"""Which operator is the model for what Python registers for another one."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.changes.python.nearest import nearest
from indexes.queries.gaps.tree import Tree
from tests.indexing import opened
from tests.tree_marks import YAML

_ENTRIES = """
- func: linalg_cond(Tensor self, Scalar? p=None) -> Tensor
  python_module: linalg

- func: cond_number(Tensor self, Scalar? p=None) -> Tensor

- func: linalg_size(Tensor A, int[] dim, float q) -> (Tensor, Tensor)
  python_module: linalg
"""


def test_a_model_is_of_the_same_module_of_python(tree_copy: Path, cache: Path) -> None:
    path = tree_copy / YAML
    path.write_text(path.read_text() + _ENTRIES)
    with opened(tree_copy, cache) as index:
        found = nearest(Tree(index), "linalg_cond", {"cond_number", "linalg_size"})
    assert [one.name for one in found] == ["linalg_size", "cond_number"]


_RANDOM = """
- func: drawn(Tensor self, Generator? generator=None) -> Tensor

- func: drawer(Tensor self) -> Tensor

- func: tossed(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor
"""


def test_a_model_for_a_random_operator_is_random(tree_copy: Path, cache: Path) -> None:
    path = tree_copy / YAML
    path.write_text(path.read_text() + _RANDOM)
    with opened(tree_copy, cache) as index:
        found = nearest(Tree(index), "drawn", {"drawer", "tossed"})
    assert [(one.name, one.is_like) for one in found] == [("tossed", False), ("drawer", False)]


_IN_PLACE = """
- func: spread(Tensor self, int dim, Tensor index) -> Tensor

- func: spread_all_(Tensor(a!) self, int dim, Tensor index) -> Tensor(a!)
"""


def test_what_works_in_place_is_no_model_for_what_does_not(tree_copy: Path, cache: Path) -> None:
    path = tree_copy / YAML
    path.write_text(path.read_text() + _IN_PLACE)
    with opened(tree_copy, cache) as index:
        tree = Tree(index)
        assert [one.name for one in nearest(tree, "spread", {"spread_all_", "relu"})] == ["relu"]
        assert [one.name for one in nearest(tree, "spread", {"spread_all_"})] == ["spread_all_"]
