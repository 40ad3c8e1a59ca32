"""Routes that go on on the CPU, and what is said to run beside the usual route."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes import Index
from indexes.queries.card import device_note
from tests.indexing import grown, usual
from tests.tree_marks import NATIVE

YAML = """
- func: searched(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU: searched_cpu
    CUDA: searched_cuda

- func: found(Tensor self) -> Tensor
  dispatch:
    CUDA: found_cuda

- func: stubbed(Tensor self) -> Tensor
  dispatch:
    CPU, CUDA: stubbed

- func: pinned(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: pinned

- func: poured(Tensor self, Tensor src) -> Tensor
  variants: method
  dispatch:
    CPU: poured_cpu
    CUDA: poured_cuda

- func: above.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    CUDA: above_cuda

- func: above.Scalar(Tensor self, Scalar other) -> Tensor
  dispatch:
    CUDA: above_number_cuda

- func: weighed(Tensor self) -> Tensor
  dispatch:
    CPU: weighed_cpu

- func: ordered(Tensor self) -> Tensor
  dispatch:
    CPU: ordered_cpu

- func: rows_folded(Tensor self) -> Tensor
  dispatch:
    CPU: rows_folded_cpu

- func: layered(Tensor self, float p) -> Tensor
  dispatch:
    CPU: layered_cpu

- func: shortened(Tensor self, int value) -> Tensor
  dispatch:
    CPU: shortened_cpu
"""
LOOP = "at::parallel_for(0, self.numel(), 0, [&](int64_t a, int64_t b) {});"
KERNELS = f"""
namespace at::native {{
DEFINE_DISPATCH(stubbed_stub);
static void stubbed_kernel(const Tensor& self) {{ {LOOP} }}
REGISTER_DISPATCH(stubbed_stub, &stubbed_kernel)
Tensor searched_cpu(const Tensor& self) {{ {LOOP} return self; }}
Tensor poured_cpu(const Tensor& self, const Tensor& src) {{ {LOOP} return self; }}
Tensor stubbed(const Tensor& self) {{
  if (self.size(-1) <= 2048) {{
    stubbed_stub(at::kCPU, self.to(kCPU));
  }} else {{
    stubbed_stub(self.device().type(), self);
  }}
  return self;
}}
Tensor pinned(const Tensor& self) {{
  auto result = at::cpu::empty({{0}}, self.options());
  return result.poured(self);
}}
struct Weights {{
  static void find(const Tensor& self) {{ {LOOP} }}
}};
template <typename W>
void weigh_all(const Tensor& self) {{
  W::find(self);
  {LOOP}
}}
Tensor weighed_cpu(const Tensor& self) {{
  weigh_all<Weights>(self);
  return self;
}}
static void drop(const Tensor& self) {{ {LOOP} }}
template <typename W>
void apply_layers(const Tensor& self, double p) {{
  W::find(self);
  if (p != 0) {{
    drop(self);
  }}
}}
Tensor layered_cpu(const Tensor& self, double p) {{
  apply_layers<Weights>(self, p);
  return self;
}}
static bool cut(const Tensor& self) {{ {LOOP} return true; }}
static void shorten(const Tensor& self) {{ {LOOP} }}
static bool is_small(const Tensor& self) {{ return self.size(0) <= 4096; }}
static void order_few(const Tensor& self) {{ {LOOP} }}
Tensor ordered_cpu(const Tensor& self) {{
  if (is_small(self)) {{
    order_few(self);
    return self;
  }}
  shorten(self);
  return self;
}}
DEFINE_DISPATCH(folded_stub);
static void folded_kernel(const Tensor& self) {{ {LOOP} }}
REGISTER_DISPATCH(folded_stub, &folded_kernel)
Tensor rows_folded_cpu(const Tensor& self) {{
  if (self.dim() > 1) {{
    AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "rows", [&] {{
      for (int64_t i = 0; i < 8; ++i) folded_stub(kCPU, self);
    }});
  }} else {{
    AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "row", [&] {{
      for (int64_t i = 0; i < 8; ++i) self.data_ptr<scalar_t>()[i] += 1;
    }});
  }}
  return self;
}}
Tensor shortened_cpu(const Tensor& self, int64_t value) {{
  if (value == 0 && cut(self)) {{
    return self;
  }}
  shorten(self);
  return self;
}}
}}
"""
CUDA = """
namespace at::native {
__global__ void search_all(float* data) {}
__global__ void compare_one(float* data) {}
__global__ void compare_all(float* data) {}
Tensor searched_cuda(const Tensor& self) {
  search_all<<<1, 1>>>(self.data_ptr<float>());
  return self;
}
Tensor poured_cuda(const Tensor& self, const Tensor& src) {
  search_all<<<1, 1>>>(self.data_ptr<float>());
  return self;
}
static void stubbed_kernel_cuda(const Tensor& self) {
  search_all<<<1, 1>>>(self.data_ptr<float>());
}
REGISTER_DISPATCH(stubbed_stub, &stubbed_kernel_cuda)
Tensor found_cuda(const Tensor& self) {
  return at::searched(self.to("cpu")).to("cuda");
}
static void compare(TensorIteratorBase& iter) {
  if (iter.is_cpu_scalar(1)) {
    search_all<<<1, 1>>>(iter.data());
  } else if (iter.is_cpu_scalar(2)) {
    compare_one<<<1, 1>>>(iter.data());
  } else {
    compare_all<<<1, 1>>>(iter.data());
  }
}
Tensor above_cuda(const Tensor& self, const Tensor& other) {
  auto iter = TensorIterator::comparison_op(self, other);
  compare(iter);
  return iter.output();
}
Tensor above_number_cuda(const Tensor& self, const Scalar& other) {
  auto iter = TensorIterator::comparison_op(self, wrapped_scalar_tensor(other));
  compare(iter);
  return iter.output();
}
}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = {
        NATIVE + "native_functions.yaml": YAML,
        NATIVE + "Beside.cpp": KERNELS,
        NATIVE + "cuda/Beside.cu": CUDA,
    }
    with grown(tmp_path_factory, files) as index:
        yield index


@pytest.mark.parametrize(
    ("operator", "function"),
    [
        ("found", "searched_cpu"),  # of a copy
        ("stubbed", "stubbed_kernel"),  # of a stub that is told the device
        ("pinned", "poured_cpu"),  # on what a kernel of the CPU returned
    ],
)
def test_what_is_given_tensors_of_the_cpu_computes_there(
    index: Index, operator: str, function: str
) -> None:
    found = usual(index, operator, "CUDA")
    assert found.symbol.rpartition("::")[2] == function
    assert found.device == "CUDA"
    assert "run on the CPU" in found.conditions


def test_a_number_is_a_tensor_on_the_cpu_where_another_overload_takes_one(index: Index) -> None:
    launched = [usual(index, f"above.{one}", "CUDA").symbol for one in ("Scalar", "Tensor")]
    assert launched == ["at::native::compare_one", "at::native::compare_all"]


def test_a_loop_around_a_stub_of_the_operators_name_does_not_compute(index: Index) -> None:
    assert usual(index, "rows_folded").symbol.endswith("folded_kernel")


def test_a_function_that_asks_for_less_than_thousands_usually_says_yes(index: Index) -> None:
    found = [one.symbol.rpartition("::")[2] for one in index.routes("ordered")]
    assert found[:2] == ["order_few", "shorten"]


@pytest.mark.parametrize(
    ("operator", "note"),
    [
        ("weighed", "with find"),  # a class is given to what runs it
        ("layered", "else drop"),  # only if what is given to the call asks for it
        ("shortened", "else cut"),  # only if what stands before it in the condition holds
    ],
)
def test_what_runs_beside_a_route_is_said(index: Index, operator: str, note: str) -> None:
    own = [one for one in index.routes(operator) if one.device == "CPU"]
    assert note in device_note(own)
