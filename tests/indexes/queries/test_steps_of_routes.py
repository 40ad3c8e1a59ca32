"""Which of the functions on a path computes: those in a loop over batches, of many rows, of one
matrix; and what is said where none is known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes import Index
from indexes.linking.facts import Edge
from indexes.queries.routing.search import Search
from tests.indexes.queries.test_plain_loops import OPTIONS, OPTIONS_IN_SCHEMA
from tests.indexing import grown, usual
from tests.tree_marks import NATIVE

YAML = f"""
- func: frames(Tensor self) -> Tensor
  dispatch:
    CPU: frames_cpu

- func: halved(Tensor self) -> Tensor
  tags: pointwise
  dispatch:
    CPU: halved_cpu

- func: lined_up(Tensor[] tensors, int dim=0) -> Tensor
  dispatch:
    CPU: lined_up_cpu

- func: packed_rows(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: packed_rows

- func: chosen_rows(Tensor self, int n) -> Tensor
  dispatch:
    CPU: chosen_rows_cpu

- func: picked_rows(Tensor self) -> Tensor
  dispatch:
    CUDA: picked_rows_cuda

- func: linalg_parts(Tensor self) -> Tensor
  dispatch:
    CPU: linalg_parts_cpu

- func: logparts(Tensor self) -> Tensor

- func: counting(Scalar start, Scalar end, {OPTIONS_IN_SCHEMA}) -> Tensor
  dispatch:
    CompositeExplicitAutograd: counting

- func: counting.step(Scalar start, Scalar end, Scalar step, {OPTIONS_IN_SCHEMA}) -> Tensor
  dispatch:
    CompositeExplicitAutograd: counting

- func: counting.out(Scalar start, Scalar end, Scalar step, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: counting_out

- func: fused_rows(Tensor self) -> Tensor

- func: tabled_rows(Tensor(a!) self) -> Tensor(a!)

- func: validate_rows(Tensor self) -> ()

- func: rows_backward(Tensor grad) -> (Tensor, Tensor)
  dispatch:
    CPU: rows_backward_cpu

- func: rows_in_steps(Tensor self) -> Tensor
  dispatch:
    CPU: rows_in_steps_cpu

- func: rows_given(Tensor self) -> Tensor
  dispatch:
    CPU: rows_given_cpu

- func: quantized_rows(Tensor self) -> Tensor

- func: plain_rows(Tensor self) -> Tensor
"""
KERNELS = f"""
namespace at::native {{
static void deep_frame(const Tensor& self) {{
  at::parallel_for(0, self.numel(), 0, [&](int64_t a, int64_t b) {{}});
}}
static void update_frame(const Tensor& self) {{ deep_frame(self); }}
static void compute_columns2d(const Tensor& self) {{
  at::parallel_for(0, 2, 0, [&](int64_t a, int64_t b) {{}});
}}
Tensor frames_cpu(const Tensor& self) {{
  compute_columns2d(self);
  at::parallel_for(0, self.size(0), 0, [&](int64_t a, int64_t b) {{ update_frame(self); }});
  return self;
}}
Tensor halved_cpu(const Tensor& self) {{
  at::parallel_for(0, 8, 0, [&](int64_t a, int64_t b) {{ deep_frame(self); }});
  return self;
}}
Tensor lined_up_cpu(TensorList tensors, int64_t dim) {{
  cpu_kernel(iter, [](float a) -> float {{ return a; }});
  return tensors[0];
}}
Tensor packed_rows(const Tensor& self) {{
  int64_t* lengths = self.data_ptr<int64_t>();
  for (int64_t i = 0; i < 8; ++i) lengths[i] += 1;
  return at::lined_up({{self, self}});
}}
static void of_few_rows(const Tensor& self) {{
  at::parallel_for(0, 16, 0, [&](int64_t a, int64_t b) {{}});
}}
static void of_all_rows(const Tensor& self) {{
  if (is_odd(self)) {{
    if (is_late(self)) deep_frame(self);
  }}
}}
Tensor chosen_rows_cpu(const Tensor& self, int64_t n) {{
  if (self.is_contiguous() && n <= 16) {{
    of_few_rows(self);
  }} else {{
    of_all_rows(self);
  }}
  return self;
}}
static void on_left(const Tensor& self) {{
  at::parallel_for(0, 16, 0, [&](int64_t a, int64_t b) {{}});
}}
static void on_right(const Tensor& self) {{
  at::parallel_for(0, 16, 0, [&](int64_t a, int64_t b) {{}});
}}
static void on_a_side(const Tensor& self) {{
  if (is_left(self)) {{
    on_left(self);
  }} else {{
    on_right(self);
  }}
}}
Tensor rows_in_steps_cpu(const Tensor& self) {{
  on_a_side(self);
  of_few_rows(self);
  return self;
}}
static void given_rows(const Tensor& self, void (*step)(const Tensor&)) {{
  on_left(self);
  step(self);
}}
Tensor rows_given_cpu(const Tensor& self) {{
  given_rows(self, &of_few_rows);
  return self;
}}
static void of_one(const Tensor& self) {{ deep_frame(self); }}
static void of_batch(const Tensor& self) {{
  at::parallel_for(0, 16, 0, [&](int64_t a, int64_t b) {{}});
}}
Tensor linalg_parts_cpu(const Tensor& self) {{
  const auto batch_size = batchCount(self);
  if (m != n || batch_size == 1) {{
    of_one(self);
  }} else {{
    of_batch(self);
  }}
  return self;
}}
Tensor logparts(const Tensor& self) {{ return at::linalg_parts(self); }}
Tensor counting(const Scalar& start, const Scalar& end, {OPTIONS}) {{
  return native::counting(start, end, 1, dtype, layout, device, pin_memory);
}}
Tensor counting(const Scalar& start, const Scalar& end, const Scalar& step, {OPTIONS}) {{
  Tensor result = at::empty({{0}}, options);
  return at::counting_out(result, start, end, step);
}}
Tensor& counting_out(const Scalar& start, const Scalar& end, const Scalar& step, Tensor& result) {{
  at::parallel_for(0, result.numel(), 0, [&](int64_t a, int64_t b) {{}});
  return result;
}}
static bool is_of_gpu(const Tensor& self) {{
  return self.is_cuda() || self.is_xpu() || self.is_privateuseone();
}}
Tensor fused_rows(const Tensor& self) {{
  if (is_of_gpu(self)) {{
    return at::frames(self);
  }}
  return at::chosen_rows(self, 20);
}}
Tensor& tabled_rows(Tensor& self) {{
  auto table = self.accessor<int64_t, 2>();
  for (int64_t i = 0; i < 8; ++i) table[0][i] = 1;
  return self.copy_(at::halved(self));
}}
void validate_rows(const Tensor& self) {{
  auto table = self.accessor<int64_t, 2>();
  for (int64_t i = 0; i < 8; ++i) TORCH_CHECK(table[0][i] > 0 && is_odd(table[0][i]), "no row");
  for (int64_t i = 0; i < 8; ++i) count += table[0][i];
}}
static void of_inputs(const Tensor& grad) {{
  at::parallel_for(0, 16, 0, [&](int64_t a, int64_t b) {{}});
}}
static void of_weights(const Tensor& grad) {{
  at::parallel_for(0, 16, 0, [&](int64_t a, int64_t b) {{}});
}}
static void of_late_inputs(const Tensor& grad) {{
  at::parallel_for(0, 16, 0, [&](int64_t a, int64_t b) {{}});
}}
std::tuple<Tensor, Tensor> rows_backward_cpu(const Tensor& grad) {{
  if (weight_data != nullptr) {{
    of_weights(grad);
  }}
  if (is_late(grad)) {{
    of_late_inputs(grad);
  }} else {{
    of_inputs(grad);
  }}
  return {{input, weight}};
}}
struct RowParams {{
  virtual Tensor by_rows(const Tensor& x) const = 0;
}};
struct PlainRowParams : RowParams {{
  Tensor by_rows(const Tensor& x) const override {{ return at::frames(x); }}
}};
struct QuantizedRowParams : RowParams {{
  Tensor by_rows(const Tensor& x) const override {{ return at::chosen_rows(x, 20); }}
}};
template <typename params_t>
struct RowCell {{
  Tensor operator()(const Tensor& x, const params_t& params) const {{ return params.by_rows(x); }}
}};
Tensor quantized_rows(const Tensor& self) {{
  return RowCell<QuantizedRowParams>{{}}(self, QuantizedRowParams{{}});
}}
Tensor plain_rows(const Tensor& self) {{
  return RowCell<PlainRowParams>{{}}(self, PlainRowParams{{}});
}}
}}
"""
CUDA_KERNELS = """
namespace at::native {
__global__ void rows_kernel(float* x) {}
template <typename scalar_t>
static void picked_rows_impl(const Tensor& self) {
  if (is_odd(self)) {
    if (is_late(self)) {
      if (is_flat(self)) rows_kernel<<<1, 32, 0, stream>>>(self.data_ptr<scalar_t>());
    }
  }
}
Tensor picked_rows_cuda(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "picked_rows", [&] {
    picked_rows_impl<scalar_t>(self);
  });
  return self;
}
}
"""
LIBRARY = """
struct Packed : torch::CustomClassHolder {
  virtual void set_rows() = 0;
  virtual Tensor unpacked() = 0;
};
struct PackedRows : Packed {
  Tensor unpacked() override;
};
struct PackedColumns : Packed {
  Tensor unpacked() override;
};
Tensor PackedRows::unpacked() { return weight_; }
Tensor PackedColumns::unpacked() { return weight_; }
static Tensor unpack_rows(const c10::intrusive_ptr<Packed>& packed) { return packed->unpacked(); }
TORCH_LIBRARY(packs, m) {
  m.def("unpack(__torch__.torch.classes.packs.Packed packed) -> Tensor", unpack_rows);
}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = {
        "native_functions.yaml": YAML,
        "Steps.cpp": KERNELS,
        "cuda/Steps.cu": CUDA_KERNELS,
        "quantized/Packs.cpp": LIBRARY,
    }
    with grown(tmp_path_factory, {NATIVE + path: text for path, text in files.items()}) as index:
        yield index


@pytest.mark.parametrize(
    ("operator", "function"),
    [
        ("frames", "deep_frame"),  # frames_cpu loops over batches, whose columns are laid out
        ("halved", "halved_cpu"),  # and an elementwise operator over elements
        ("packed_rows", "lined_up_cpu"),  # the loop of a kernel for all devices reads no elements
        ("chosen_rows", "deep_frame"),  # few rows are not usual
        ("linalg_parts", "deep_frame"),
        ("logparts", "deep_frame"),  # one matrix is usual, whatever calls linalg
        ("tabled_rows", "tabled_rows"),  # which has an accessor of the elements
    ],
)
def test_the_usual_step_computes(index: Index, operator: str, function: str) -> None:
    assert usual(index, operator).symbol.rpartition("::")[2] == function


def test_a_function_made_for_a_dtype_is_no_guess_if_it_launches(index: Index) -> None:
    found = usual(index, "picked_rows", "CUDA")
    assert (found.kind, found.symbol.rpartition("::")[2]) == ("launch", "rows_kernel")
    assert [one.note for one in index.routes("picked_rows") if one.note] == []


def test_a_branch_for_other_devices_is_not_taken(index: Index) -> None:
    assert "chosen_rows" in [one.symbol for one in usual(index, "fused_rows").via]


def test_an_out_of_numbers_without_a_kernel_is_named(index: Index) -> None:
    assert usual(index, "counting", "MPS").note == "counting.out: no MPS kernel in this tree"


def test_a_composite_kernel_names_the_classes_that_it_calls(index: Index) -> None:
    note = usual(index, "packs::unpack", "CPU").note
    assert note.startswith("unpack_rows: one of Packed")


def test_what_moves_is_not_elementwise(index: Index) -> None:
    prices = Search(index.facts).prices  # which ask for it where no operator is tagged
    assert not prices._loops_over_elements("lined_up")


def test_what_a_body_runs_too_is_no_other_way(index: Index) -> None:
    found = [one for one in index.routes("rows_backward") if one.device == "CPU"]
    assert [(one.symbol.rpartition("::")[2], one.beside) for one in found] == [
        ("of_inputs", False),
        ("of_weights", True),  # where its result is asked for
        ("of_late_inputs", False),
    ]


@pytest.mark.parametrize(
    ("operator", "ends"),
    [
        # The usual one of a step's ways runs too, another is another way.
        ("rows_in_steps", [("of_few_rows", False), ("on_right", True), ("on_left", False)]),
        ("rows_given", [("of_few_rows", False), ("on_left", True)]),  # beside what it is given
    ],
)
def test_of_a_step_that_runs_too_one_way_does(
    index: Index, operator: str, ends: list[tuple[str, bool]]
) -> None:
    found = [one for one in index.routes(operator) if one.device == "CPU"]
    assert [(one.symbol.rpartition("::")[2], one.beside) for one in found] == ends


@pytest.mark.parametrize(
    ("operator", "called"), [("quantized_rows", "chosen_rows"), ("plain_rows", "frames")]
)
def test_the_class_for_the_tensors_of_an_operators_name_is_meant(
    index: Index, operator: str, called: str
) -> None:
    found = [one for one in index.routes(operator) if one.device == "CPU"]
    assert found
    assert all(called in [step.symbol for step in one.via] for one in found)


def test_what_one_macro_launches_may_be_in_different_branches(index: Index) -> None:
    passes_both = Search(index.facts).prices.order.passes_both
    one, other = Edge(1, 5, "launch", "copy_dense", 2), Edge(1, 6, "launch", "copy_rows", 3)
    assert passes_both(one, other, "CUDA", ())
    one, other = one._replace(macro="CASE"), other._replace(macro="CASE")
    assert not passes_both(one, other, "CUDA", ())


def test_what_only_checks_the_elements_computes_nothing(index: Index) -> None:
    found = usual(index, "validate_rows")
    assert (found.kind, found.note) == ("none", "computes nothing")
