"""Which overload a bare name means."""

from __future__ import annotations

from pathlib import Path

from tests.indexing import append, opened

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


def test_the_overload_comes_first_that_is_documented(tree_copy: Path, cache: Path) -> None:
    append(
        tree_copy,
        {"aten/src/ATen/native/native_functions.yaml": YAML, "torch/_torch_docs.py": DOCS},
    )
    with opened(tree_copy, cache) as index:
        assert index.resolve("chosen").overloads == ("chosen.self", "chosen", "chosen.names")
        assert index.resolve("summed").overloads[0] == "summed"
