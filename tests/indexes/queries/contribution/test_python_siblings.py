"""What a function of Python calls in private modules."""

from __future__ import annotations

from pathlib import Path

from indexes.model.vocabulary import Location
from indexes.queries.contribution.python_siblings import called_privately
from tests.indexing import opened

_REFS = """import torch._prims as prims
import torch._refs as refs


def cross(a):
    return prims.cross(a, "refs.cross")
"""


def test_the_module_of_a_function_is_none_that_it_calls(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "torch/_refs/__init__.py").write_text(_REFS)
    (tree_copy / "torch/_prims/__init__.py").write_text("def cross(a, message):\n    return a\n")
    with opened(tree_copy, cache) as index:
        where = Location("torch/_refs/__init__.py", 5, 6)
        found = [one.name for one in called_privately(index, where, "cross")]
    assert found == ["torch._prims.cross"]
