"""What a function of Python calls in private modules."""

from __future__ import annotations

from pathlib import Path

from indexes.model.vocabulary import Location
from indexes.queries.contribution.plan import Contributions
from indexes.queries.contribution.python_siblings import called_privately
from indexes.queries.contribution.tiers import run_now
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


_FUNCTION = """

def smooth_loss(input, target):
    return (input - target).abs()
"""
_MODULE = """from .. import functional as F


class SmoothLoss:
    def forward(self, input, target):
        return F.smooth_loss(input, target)
"""
_PAGE = """
.. currentmodule:: torch.nn.functional

.. autosummary::
    relu
    softmax
"""
_TEST = """import torch.nn.functional as F


class TestLosses:
    def test_smooth(self):
        F.smooth_loss(1, 2)
"""
_LISTING = "import torch.nn.functional as F\n" + "".join(
    f"skip(F.smooth_loss, {number})\n" for number in range(9)
)


def test_the_module_that_calls_a_function_and_the_tests_of_it_come_with_it(
    tree_copy: Path, cache: Path
) -> None:
    with (tree_copy / "torch/nn/functional.py").open("a") as file:
        file.write(_FUNCTION)
    (tree_copy / "torch/nn/modules/loss.py").write_text(_MODULE)
    (tree_copy / "docs/source/nn.functional.rst").write_text(_PAGE)
    (tree_copy / "test/test_losses.py").write_text(_TEST)
    (tree_copy / "test/test_functional.py").write_text(_LISTING)
    with opened(tree_copy, cache) as index:
        found = Contributions(index).of("torch.nn.functional.smooth_loss", histories=0)
    (caller,) = (step for step in found.steps if step.role == "caller")
    assert (caller.location.path, caller.location.line) == ("torch/nn/modules/loss.py", 5)
    (page,) = (step for step in found.steps if step.role == "docs")  # it lists its module
    assert page.location.path == "docs/source/nn.functional.rst"
    assert run_now(found.tests)[0].path == "test/test_losses.py"
