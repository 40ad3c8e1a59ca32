"""Functions that generated code calls."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.impact.answers import Impacts
from tests.indexing import opened

_HEADER = """
namespace torch { namespace autograd {
inline Tensor as_view_of(const Tensor& base) {
  return base;
}
inline Tensor said_alone(const Tensor& base) {
  return base;
}
}}
"""
_GENERATOR = '''
"""as_view_of(x) is described here."""
CALL = """
  auto x = ${said_alone};
  auto result = as_view_of(/* base */ ${base});
"""


def said_alone(x):
    return said_alone(x)
'''


def test_a_call_in_the_text_of_a_generator_is_a_caller(tree_copy: Path, cache: Path) -> None:
    header = "torch/csrc/autograd/VariableTypeUtils.h"
    (tree_copy / header).write_text(_HEADER)
    generator = "tools/autograd/gen_inplace_or_view_type.py"
    (tree_copy / generator).write_text(_GENERATOR)
    with opened(tree_copy, cache) as index:
        impacts = Impacts(index)
        found = impacts.impact("as_view_of", tests=False)
        silent = impacts.impact("said_alone", tests=False)
    (step,) = (one for one in found.steps if one.kind == "generated")
    assert (step.symbol, step.location.line if step.location else 0) == (generator, 5)
    (folded,) = found.folded
    assert "ADInplaceOrViewType*.cpp" in folded.what
    assert folded.count > 10
    assert not [one for one in silent.steps if one.kind == "generated"]
