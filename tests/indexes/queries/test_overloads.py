"""Which overload a bare name means."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

from indexes import Index
from indexes.source.source import Source
from tests.tree_marks import TREE

YAML = """
- func: chosen(Tensor condition) -> Tensor[]

- func: chosen.self(Tensor condition, Tensor self, Tensor other) -> Tensor

- func: chosen.names(Tensor condition, Tensor self, Tensor other, *, Dimname[]? names) -> Tensor

- func: summed(Tensor self, *, ScalarType? dtype=None) -> Tensor

- func: summed.dim(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor
"""
DOCS = '''
add_docstr(
    torch.chosen,
    r"""
chosen(condition, input, other, *, out=None) -> Tensor

.. function:: chosen(condition) -> tuple of Tensors
""",
)
add_docstr(torch.summed, r"""summed(input: Tensor, *, dtype: Optional[_dtype]) -> Tensor""")
'''


def test_the_overload_comes_first_that_is_documented(tmp_path: Path) -> None:
    root = Path(shutil.copytree(TREE, tmp_path / "pytorch"))
    with (root / "aten/src/ATen/native/native_functions.yaml").open("a") as file:
        file.write(YAML)
    with (root / "torch/_torch_docs.py").open("a") as file:
        file.write(DOCS)
    with contextlib.closing(Index.open(Source.find(str(root)), tmp_path / "cache")) as index:
        assert index.resolve("chosen").overloads == ("chosen.self", "chosen", "chosen.names")
        assert index.resolve("summed").overloads[0] == "summed"
