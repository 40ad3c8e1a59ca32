"""Routes on MPS: to Metal kernels whose names are put together from the strings of two functions,
and to functions that are registered by hand, boxed ones that run the operator on the CPU among
them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes import Index
from indexes.linking.graph import Node
from indexes.linking.reverse import operators_reaching
from indexes.model.answers import Route
from tests.indexing import grown
from tests.tree_marks import NATIVE

YAML = """
- func: turned_left.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    MPS: turned_left_mps

- func: turned_left.Scalar(Tensor self, Scalar other) -> Tensor

- func: turned_right.Tensor(Tensor self, Tensor other) -> Tensor
  dispatch:
    MPS: turned_right_mps

- func: counted(Tensor self) -> Tensor
  dispatch:
    MPS: counted_mps

- func: ground(Tensor self) -> Tensor
  dispatch:
    MPS: ground_mps

- func: stirred(Tensor self) -> Tensor
  dispatch:
    MPS: stirred_mps

- func: turned_left_wide(Tensor self, Scalar other) -> Tensor

- func: shaken(Tensor self) -> Tensor

- func: shaken_twice(Tensor self) -> Tensor

- func: shaken_by_hand(Tensor self) -> Tensor

- func: shaken_hard(Tensor self) -> Tensor
  dispatch:
    CPU: shaken_alone_cpu

- func: shaken_hard_once(Tensor self) -> Tensor

- func: shaken_alone(Tensor self) -> Tensor
  dispatch:
    CPU: shaken_alone_cpu

- func: poured(Tensor self) -> Tensor
  dispatch:
    MPS: poured_mps

- func: poured_twice(Tensor self) -> Tensor

- func: mixed(Tensor self) -> Tensor
  structured_delegate: mixed.out

- func: mixed.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  structured: True
  structured_inherits: TensorIteratorBase
  dispatch:
    CPU: mixed_out

- func: mixed_twice(Tensor self) -> Tensor
"""
COMPOSITES = """
namespace at::native {
Tensor turned_left(const Tensor& self, const Scalar& other) {
  return at::turned_left(self, wrapped_scalar_tensor(other));
}
Tensor turned_left_wide(const Tensor& self, const Scalar& other) {
  auto wide = at::turned_right(self, self);
  return at::turned_left(wide, other);
}
Tensor shaken(const Tensor& self) { return at::turned_left(self, self); }
Tensor shaken_twice(const Tensor& self) { return at::shaken(self); }
Tensor shaken_by_hand(const Tensor& self) { return at::turned_left(self, self); }
Tensor shaken_hard_once(const Tensor& self) { return at::shaken_hard(self); }
Tensor mixed_twice(const Tensor& self) { return at::mixed(self); }
TORCH_IMPL_FUNC(mixed_out)(const Tensor& self, const Tensor& out) { shake_alone_cpu(self); }
Tensor poured_twice(const Tensor& self) { return at::poured(self).exp(); }
Tensor shaken_alone_cpu(const Tensor& self) {
  cpu_kernel(iter, [](float x) { return x; });
  return self;
}
}
"""
FALLBACK = """
namespace at {
static Tensor shake_graph(const Tensor& self) {
  runMPSGraph(getCurrentMPSStream(), graph, feeds, results);
  return self;
}
static Tensor never_shaken(const Tensor& self) {
  TORCH_CHECK(
      self.device() == kCPU,
      "expected the CPU but got ",
      self.device());
}
static Tensor& mix_graph(const Tensor& self, Tensor& out) {
  runMPSGraph(getCurrentMPSStream(), graph, feeds, results);
  return out;
}
static void run_on_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {}
TORCH_LIBRARY_IMPL(aten, MPS, m) {
  m.impl("shaken", torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
  m.impl("shaken_alone", torch::CppFunction::makeFromBoxedFunction<&run_on_cpu>());
  m.impl("shaken_hard", never_shaken);
  m.impl("shaken_by_hand", TORCH_FN(shake_graph));
  m.impl("turned_left.Tensor", TORCH_FN(shake_graph));
  m.impl("mixed.out", TORCH_FN(mix_graph));
}
}
"""
OPERATIONS = """
namespace at::native {
static MetalShaderLibrary lib(R"METAL(
kernel void count_blocks(device float* out [[buffer(0)]]) {}
kernel void scatter_counts(device float* out [[buffer(0)]]) {}
kernel void grind_any(device float* out [[buffer(0)]], constant uint* at [[buffer(1)]]) {}
kernel void grind_row(device float* out [[buffer(0)]]) {}
kernel void turn_left_tensor(device float* out [[buffer(0)]]) {}
kernel void turn_left_scalar(device float* out [[buffer(0)]]) {}
kernel void turn_right_tensor(device float* out [[buffer(0)]]) {}
kernel void turn_right_scalar(device float* out [[buffer(0)]]) {}
)METAL");
static void run_turn(const Tensor& self, const Tensor& other, const std::string& way) {
  const bool is_single = other.dim() == 0;
  if (is_single) {
    lib.getPipelineStateForFunc(fmt::format("turn_{}_scalar", way));
  } else {
    lib.getPipelineStateForFunc(fmt::format("turn_{}_tensor", way));
  }
}
static void stir_graph(const Tensor& self) { runMPSGraph(stream, graph, feeds, results); }
#define CREATE_POURED(name)               \\
  Tensor name(const Tensor& self) {       \\
    TORCH_CHECK(self.dim(), "no volume"); \\
    stir_graph(self);                     \\
    return self;                          \\
  }
CREATE_POURED(poured_mps);
template <typename scalar_t>
void stir_layout(const Tensor& self) {
  stir_graph(self);
}
Tensor stirred_mps(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "stirred", [&] { stir_layout<scalar_t>(self); });
  return self;
}
Tensor counted_mps(const Tensor& self) {
  auto first = lib.getPipelineStateForFunc("count_blocks");
  auto second = lib.getPipelineStateForFunc("scatter_counts");
  return self;
}
Tensor ground_mps(const Tensor& self) {
  auto kernel = lib.getPipelineStateForFunc(fmt::format("grind_{}", form_of(self)));
  return self;
}
Tensor turned_left_mps(const Tensor& self, const Tensor& other) {
  run_turn(self, other, "left");
  return self;
}
Tensor turned_right_mps(const Tensor& self, const Tensor& other) {
  run_turn(self, other, "right");
  return self;
}
}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = {
        "native_functions.yaml": YAML,
        "Turned.cpp": COMPOSITES,
        "mps/operations/Turned.mm": OPERATIONS,
        "mps/Fallback.mm": FALLBACK,
    }
    with grown(tmp_path_factory, {NATIVE + path: text for path, text in files.items()}) as index:
        yield index


def routes(index: Index, operator: str) -> list[Route]:
    return [one for one in index.routes(operator) if one.device == "MPS"]


@pytest.mark.parametrize("way", ["left", "right"])
def test_conditions_of_the_function_that_formats_the_name_decide(index: Index, way: str) -> None:
    usual = routes(index, f"turned_{way}.Tensor")[0]
    assert (usual.symbol, usual.conditions) == (f"turn_{way}_tensor", ())
    assert [one.symbol for one in usual.via][-1].endswith("run_turn")


def test_the_last_of_several_kernels_is_chosen_by_rule(index: Index) -> None:
    found = [(one.symbol, one.confidence) for one in routes(index, "counted")]
    assert found == [("scatter_counts", "by rule"), ("count_blocks", "by rule")]


def test_a_kernel_that_takes_places_is_for_tensors_that_are_not_contiguous(index: Index) -> None:
    assert [one.symbol for one in routes(index, "ground")] == ["grind_row", "grind_any"]


def test_what_only_calls_what_computes_is_no_guess(index: Index) -> None:
    assert [one.symbol for one in routes(index, "stirred")] == ["at::native::stir_graph"]


def test_what_is_called_before_an_operator_of_the_same_name_prepares(index: Index) -> None:
    usual = routes(index, "turned_left_wide")[0]
    assert [way.symbol for way in usual.via[2:4]] == [
        "turned_left.Scalar",
        "at::native::turned_left",
    ]


def test_the_tensor_of_a_scalar_argument_has_no_dimensions(index: Index) -> None:
    usual = routes(index, "turned_left.Scalar")[0]
    assert (usual.symbol, usual.conditions) == ("turn_left_scalar", ("is_single",))


@pytest.mark.parametrize("operator", ["shaken", "shaken_twice", "shaken_alone"])
def test_a_boxed_function_that_is_registered_runs_instead(index: Index, operator: str) -> None:
    """In the place of what the operator is made of, and where it has no kernel at all."""
    (only,) = routes(index, operator)
    name = operator.removesuffix("_twice")
    assert (only.kind, only.note) == ("none", f"run_on_cpu runs {name}: no kernel for MPS")
    if operator == name:
        assert only.symbol == "at::run_on_cpu"


@pytest.mark.parametrize(
    ("operator", "symbol"),
    [("shaken_by_hand", "at::shake_graph"), ("turned_left.Tensor", "turn_left_tensor")],
)
def test_a_function_registered_by_hand_is_a_kernel_unless_the_yaml_has_one(
    index: Index, operator: str, symbol: str
) -> None:
    usual = routes(index, operator)[0]
    assert (usual.symbol, usual.confidence) == (symbol, "exact")


@pytest.mark.parametrize(
    ("operator", "note"),
    [
        ("shaken_hard", "never_shaken: only checks in its body"),
        ("shaken_hard_once", "shaken_hard: no MPS kernel in this tree"),
    ],
)
def test_a_function_that_only_raises_is_no_kernel(index: Index, operator: str, note: str) -> None:
    (only,) = routes(index, operator)
    assert (only.kind, only.note) == ("none", note)


def test_a_check_in_a_macro_does_not_hide_the_calls_on_its_line(index: Index) -> None:
    assert [one.symbol for one in routes(index, "poured_twice")] == ["at::native::stir_graph"]


@pytest.mark.parametrize("operator", ["mixed", "mixed_twice"])
def test_a_structured_out_kernel_that_is_registered_serves_the_functional(
    index: Index, operator: str
) -> None:
    found = routes(index, operator)[0]
    assert found.symbol == "at::mix_graph"
    assert [one.symbol for one in found.via][-2:] == ["mixed", "mixed.out"]


def test_the_functional_is_reached_from_such_a_kernel(index: Index) -> None:
    (kernel,) = index.facts.named("mix_graph")
    ways = operators_reaching([Node("operator", "mixed.out", "MPS")], index.facts)
    assert [(one.op, one.devices) for one in ways if one.op == "mixed"] == [("mixed", ("MPS",))]
    place = kernel.definition.location
    found = [name for one in index.at(place.path, place.line) for name in one.operators]
    assert {"mixed", "mixed.out"} <= set(found)
