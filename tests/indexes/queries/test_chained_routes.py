"""Routes through calls on the results of other calls of a line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes import Index
from tests.indexing import grown, usual
from tests.tree_marks import NATIVE

YAML = """
- func: _values(Tensor(a) self) -> Tensor(a)
  variants: method
  dispatch:
    SparseCPU: values_sparse

- func: tidied(Tensor self) -> Tensor
  variants: method
  dispatch:
    SparseCPU: tidied_sparse

- func: length(Tensor self) -> Tensor
  variants: method
  dispatch:
    CPU: length_cpu
    SparseCPU: length_sparse

- func: sparse_length(Tensor self) -> Tensor
  dispatch:
    SparseCPU: sparse_length

- func: turned(Tensor self) -> Tensor
  variants: method
  dispatch:
    CPU: turned_cpu

- func: shut(Tensor self) -> Tensor
  variants: method
  dispatch:
    CPU: shut_cpu

- func: both(Tensor self) -> Tensor
  dispatch:
    CPU: both_cpu
"""
LOOP = "at::parallel_for(0, self.numel(), 0, [&](int64_t a, int64_t b) {}); return self;"
KERNELS = f"""
namespace at::native {{
Tensor values_sparse(const Tensor& self) {{ return self; }}
Tensor tidied_sparse(const Tensor& self) {{ {LOOP} }}
static Tensor length_parts(const Tensor& self) {{ {LOOP} }}
static Tensor length_of_all(const Tensor& self) {{ return length_parts(self); }}
Tensor length_cpu(const Tensor& self) {{ return length_of_all(self); }}
Tensor length_sparse(const SparseTensor& self) {{ return at::sparse_length(self); }}
Tensor sparse_length(const SparseTensor& self) {{ return self.tidied()._values().length(); }}
Tensor turned_cpu(const Tensor& self) {{ {LOOP} }}
Tensor shut_cpu(const Tensor& self) {{ {LOOP} }}
Tensor both_cpu(const Tensor& self) {{ return self.turned().shut(); }}
}}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = {NATIVE + "native_functions.yaml": YAML, NATIVE + "Chained.cpp": KERNELS}
    with grown(tmp_path_factory, files) as index:
        yield index


def test_the_values_of_a_sparse_tensor_are_dense(index: Index) -> None:
    assert usual(index, "sparse_length").symbol.endswith("length_parts")


def test_what_is_called_on_a_result_comes_later(index: Index) -> None:
    assert usual(index, "both").symbol.endswith("shut_cpu")
