"""Routes through one of several calls, some on the results of others, and to what is missing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes import Index
from tests.indexes.queries.test_plain_loops import OPTIONS, OPTIONS_IN_SCHEMA
from tests.indexing import grown, usual
from tests.tree_marks import NATIVE

YAML = f"""
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

- func: picked.most_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: picked_most_out_cpu

- func: either(Tensor self, int n) -> Tensor
  dispatch:
    CPU: either_cpu

- func: in_parts(Tensor self) -> Tensor
  dispatch:
    CPU: in_parts_cpu

- func: after_helper(Tensor self) -> Tensor
  dispatch:
    CPU: after_helper_cpu

- func: named_part(Tensor self) -> Tensor
  dispatch:
    CPU: named_part_cpu

- func: halves(Tensor(a) self, int n) -> Tensor(a)
  variants: method

- func: in_halves(Tensor self) -> Tensor
  dispatch:
    CPU: in_halves_cpu

- func: packed_up(Tensor self) -> Tensor
  dispatch:
    CPU: packed_up_cpu

- func: packed(Tensor(a) self) -> Tensor(a)
  variants: method

- func: shrunk(Tensor self) -> Tensor
  variants: method
  dispatch:
    CPU: turned_cpu
    CUDA: shrunk_cuda

- func: packed_size(Tensor self) -> Tensor

- func: multiplied(Tensor self) -> Tensor
  dispatch:
    CUDA: multiplied_cuda

- func: pour_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)
  dispatch:
    CPU: pour_cpu_

- func: poured(Tensor self, Tensor src, {OPTIONS_IN_SCHEMA}) -> Tensor
  dispatch:
    CompositeExplicitAutograd: poured
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
DEFINE_DISPATCH(picked_stub);
DEFINE_DISPATCH(picked_most_stub);
static void picked_kernel(const Tensor& self) {{ {LOOP} }}
static void picked_most_kernel(const Tensor& self) {{ {LOOP} }}
REGISTER_DISPATCH(picked_stub, &picked_kernel)
REGISTER_DISPATCH(picked_most_stub, &picked_most_kernel)
Tensor& picked_most_out_cpu(const Tensor& self, Tensor& out) {{
  picked_most_stub(kCPU, self);
  picked_stub(kCPU, self);
  return out;
}}
Tensor either_cpu(const Tensor& self, int64_t n) {{
  if (n == 1) {{
    return at::turned(self);
  }}
  return at::shut(self);
}}
static Tensor first_part(const Tensor& self) {{ {LOOP} }}
static Tensor last_part(const Tensor& self) {{ {LOOP} }}
Tensor in_parts_cpu(const Tensor& self) {{
  first_part(self);
  return last_part(self);
}}
static Tensor after_helper_rows(const Tensor& self) {{ return at::shut(self); }}
Tensor after_helper_cpu(const Tensor& self) {{
  at::both(self);
  return after_helper_rows(self);
}}
Tensor named_part_cpu(const Tensor& self) {{
  at::turned(self);
  return last_part(self);
}}
Tensor halves(const Tensor& self, int64_t n) {{
  if (self.is_odd(n)) {{
    return self.alias();
  }}
  return at::turned(self);
}}
Tensor in_halves_cpu(const Tensor& self) {{ return self.halves(2); }}
Tensor packed_up_cpu(const Tensor& self) {{ {LOOP} }}
static bool is_packed(const Tensor& self) {{ return false; }}
Tensor packed(const Tensor& self) {{
  if (is_packed(self)) {{
    return self;
  }}
  return at::packed_up(self);
}}
Tensor packed_size(const Tensor& self) {{ return self.packed().shrunk(); }}
Tensor& pour_cpu_(Tensor& self, const Tensor& src, bool non_blocking) {{ {LOOP} }}
Tensor poured(const Tensor& self, const Tensor& src, {OPTIONS}) {{
  auto result = at::empty(self.sizes(), self.options());
  return at::pour_(result, src);
}}
}}
"""
CUDA = """
namespace at::native {
__global__ void shrink(float* data) {}
Tensor shrunk_cuda(const Tensor& self) {
  shrink<<<1, 1>>>(self.data_ptr<float>());
  return self;
}
static bool can_add(const Tensor& self, const Scalar& beta) {
#ifdef USE_ROCM
  if (self.dim() == 2) {
    return false;
  }
#endif
  return (beta.toDouble() == 1.0 && self.fits({1, 2}));
}
__global__ void multiply(float* data) {}
template <typename scalar_t>
bool run_sum(const Tensor& self, const Scalar& beta) { return true; }
template <typename scalar_t>
bool run_product(Sizes& sizes, const Scalar& beta) {
  multiply<<<1, 1>>>(sizes.data);
  return true;
}
static Tensor multiplied_impl(const Tensor& self, const Scalar& beta) {
  bool skips_sum = self.is_odd();
#ifdef USE_ROCM
  skips_sum = skips_sum || self.is_far();
#endif
  skips_sum = skips_sum || !can_add(self, beta);
  Sizes sizes;
  if (!skips_sum) {
    AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "sum", [&] { run_sum<scalar_t>(self, beta); });
  } else {
    AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "product", [&] {
      run_product<scalar_t>(sizes, beta);
    });
  }
  return self;
}
Tensor multiplied_cuda(const Tensor& self) { return multiplied_impl(self, 0); }
}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = {
        NATIVE + "native_functions.yaml": YAML,
        NATIVE + "Chained.cpp": KERNELS,
        NATIVE + "cuda/Chained.cu": CUDA,
    }
    with grown(tmp_path_factory, files) as index:
        yield index


def test_the_values_of_a_sparse_tensor_are_dense(index: Index) -> None:
    assert usual(index, "sparse_length").symbol.endswith("length_parts")


def test_what_is_called_on_a_result_comes_later(index: Index) -> None:
    assert usual(index, "both").symbol.endswith("shut_cpu")


def test_one_of_several_operators_in_sequence_is_chosen_by_rule(index: Index) -> None:
    assert [usual(index, one).confidence for one in ("both", "either")] == ["by rule", "exact"]


@pytest.mark.parametrize(
    ("operator", "confidence"),
    [
        ("in_parts", "by rule"),  # two functions that compute
        ("after_helper", "by rule"),  # the function only calls an operator, as the line before it
        ("named_part", "exact"),
        ("in_halves", "by rule"),  # a view, if the tensor allows it
    ],
)
def test_one_of_several_functions_in_sequence(index: Index, operator: str, confidence: str) -> None:
    assert usual(index, operator).confidence == confidence


def test_a_new_tensor_is_not_filled_where_what_fills_it_has_no_kernel(index: Index) -> None:
    assert usual(index, "poured", "XPU").note == "pour_: no XPU kernel in this tree"


def test_what_a_call_is_made_on_may_have_no_kernel(index: Index) -> None:
    assert usual(index, "shrunk", "CUDA").symbol.endswith("shrink")
    assert usual(index, "packed_size", "CUDA").note == "packed_up: no CUDA kernel in this tree"
    assert usual(index, "packed_size").symbol.endswith("turned_cpu")


def test_a_flag_that_a_function_widens_decides_by_what_is_passed(index: Index) -> None:
    found = [one.symbol for one in index.routes("multiplied") if one.device == "CUDA"]
    assert found[0].endswith("multiply")
    assert not any(one.endswith("run_sum") for one in found)  # refused: ``beta`` is 0


def test_an_out_overload_takes_the_stub_of_the_overload_it_is_a_form_of(index: Index) -> None:
    found = usual(index, "picked.most_out")
    assert found.symbol.endswith("picked_most_kernel")
    assert found.confidence == "by rule"  # another stub is called after it
