"""Which gradient a card shows for operators that others make up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from indexes import Index
from indexes.model.answers import CardLine
from tests.indexing import grown
from tests.tree_marks import NATIVE

YAML = """
- func: scaled(Tensor self) -> Tensor
  dispatch:
    CPU: scaled_kernel

- func: joined_scale(Tensor self) -> Tensor
  dispatch:
    CompositeImplicitAutograd: joined_scale
    MPS: joined_scale_mps

- func: twice_joined(Tensor self) -> Tensor

- func: parts_scaled(Tensor self) -> Tensor
  dispatch:
    CompositeImplicitAutograd: parts_scaled
    NestedTensorCPU: parts_nested

- func: ranks_of(Tensor self) -> Tensor
  variants: function, method
  dispatch:
    CPU: ranks_of_cpu

- func: ranked(Tensor self) -> Tensor

- func: noise_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CPU: noise_kernel_

- func: noised(Tensor self) -> Tensor

- func: moved(Tensor(a) self) -> Tensor(a)
  variants: function, method
  dispatch:
    CPU: moved_kernel

- func: moved_as(Tensor(a) self, Tensor other) -> Tensor(a)

- func: scaled_(Tensor(a!) self) -> Tensor(a!)
  variants: function, method
  dispatch:
    CPU: scaled_kernel_

- func: rescaled_(Tensor(a!) self) -> Tensor(a!)

- func: counted_(Tensor(a!) self) -> Tensor(a!)

- func: moved_scale(Tensor self) -> Tensor

- func: either_scaled(Tensor self, int kind) -> Tensor

- func: reduced_scale(Tensor self, int reduction=Mean) -> Tensor

- func: scaled.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: scaled_out_kernel

- func: scaled_last(Tensor self) -> Tensor

- func: indexed(Tensor self) -> Tensor

- func: twice_joined.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)

- func: copied.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)

- func: ranks_of.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)
  dispatch:
    CPU: ranks_out_kernel

- func: ranked.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)

- func: unread.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)

- func: by_pointer(Tensor self) -> Tensor

- func: order_of(Tensor self) -> Tensor

- func: scaled_for_gradients(Tensor self) -> Tensor

- func: scaled_quickly(Tensor self) -> Tensor
  dispatch:
    CPU: scaled_quickly_kernel
"""
DERIVATIVES = """
- name: scaled(Tensor self) -> Tensor
  self: grad * 2

- name: joined_scale(Tensor self) -> Tensor
  self: joined_scale_backward(grad)

- name: parts_scaled(Tensor self) -> Tensor
  self: parts_backward(grad)

- name: noise_(Tensor(a!) self) -> Tensor(a!)
  self: zeros_like(grad)

- name: moved(Tensor(a) self) -> Tensor(a)
  self: moved_backward(grad)
"""
KERNELS = """
namespace at::native {
Tensor scaled_kernel(const Tensor& self) {
  cpu_kernel(iter, [](float a) { return 2 * a; });
  return self;
}
Tensor& scaled_out_kernel(const Tensor& self, Tensor& out) {
  cpu_kernel(iter, [](float a) { return 2 * a; });
  return out;
}
Tensor joined_scale(const Tensor& self) { return at::scaled(self); }
Tensor twice_joined(const Tensor& self) { return at::joined_scale(self); }
Tensor parts_scaled(const Tensor& self) { return self; }
Tensor ranks_of_cpu(const Tensor& self) { return at::scaled(self); }
Tensor ranked(const Tensor& self) { return at::ranks_of(self); }
Tensor& noise_kernel_(Tensor& self) {
  cpu_kernel(iter, [](float a) { return draw(); });
  return self;
}
Tensor noised(const Tensor& self) {
  auto noise = at::empty_like(self).noise_();
  return at::scaled(self);
}
Tensor moved_kernel(const Tensor& self) { return self.alias(); }
Tensor moved_as(const Tensor& self, const Tensor& other) { return self.moved(); }
Tensor& rescaled_(Tensor& self) { return self.scaled_(); }
Tensor& counted_(Tensor& self) {
  auto total = at::scaled(self);
  self.ranks_of();
  return self;
}
Tensor moved_scale(const Tensor& self) {
  return at::moved(
      at::scaled(self));
}
Tensor either_scaled(const Tensor& self, int64_t kind) {
  auto found = at::scaled(self);
  if (kind == 7) {
    return found.moved();
  }
  return found;
}
Tensor reduced_scale(const Tensor& self, int64_t reduction) {
  auto found = at::scaled(self);
  if (reduction == Reduction::Mean) {
    return found.moved();
  }
  return found;
}
Tensor scaled_last(const Tensor& self) {
  auto found = self.moved();
  if (self.defined()) {
    found = at::scaled(found);
  } else {
    at::scaled_out(found, self);
  }
  return found;
}
Tensor& twice_joined_out(const Tensor& self, Tensor& out) { return at::scaled_out(out, self); }
Tensor& ranks_out_kernel(const Tensor& self, Tensor& out) {
  cpu_kernel(iter, [](float a) { return 2 * a; });
  return out;
}
Tensor& ranked_out(const Tensor& self, Tensor& out) { return at::ranks_of_out(out, self); }
Tensor& copied_out(const Tensor& self, Tensor& out) {
  return out.scaled_().copy_(at::scaled(self));
}
Tensor by_pointer(const Tensor& self) {
  float* made = self.data_ptr<float>();
  fbgemm::fbgemmPacked(made, made);
  return self;
}
Tensor order_of(const Tensor& self) { return std::get<1>(at::scaled(self)); }
Tensor scaled_quickly_kernel(const Tensor& self) { return at::ranks_of(self); }
Tensor scaled_for_gradients(const Tensor& self) {
  if (self.requires_grad()) {
    return at::scaled(self);
  }
  return at::scaled_quickly(self);
}
Tensor indexed(const Tensor& self) { return at::ranks_of(self).moved(); }
}
"""


OPINFOS = """
op_db = [
    OpInfo("order_of", supports_autograd=False),
    OpInfo("joined_scale", aliases=("twice_joined",), supports_autograd=False),
    OpInfo("joined_scale", variant_test_name="other"),
]
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = {
        f"{NATIVE}native_functions.yaml": YAML,
        "tools/autograd/derivatives.yaml": DERIVATIVES,
        f"{NATIVE}Scaled.cpp": KERNELS,
        "torch/testing/_internal/further.py": OPINFOS,
    }
    with grown(tmp_path_factory, files) as index:
        yield index


def gradient(index: Index, operator: str) -> CardLine:
    return next(one for one in index.card(operator).lines if one.label == "grad")


@pytest.mark.parametrize("operator", ["joined_scale", "twice_joined", "noised"])
def test_what_a_composite_kernel_calls_is_recorded(index: Index, operator: str) -> None:
    assert gradient(index, operator).text == "ScaledBackward0 via scaled"


def test_a_formula_of_its_own_serves_devices_with_a_kernel(index: Index) -> None:
    assert gradient(index, "joined_scale").note == "self: grad * 2 · JoinedScaleBackward0 for MPS"
    found = gradient(index, "parts_scaled")
    assert found.text == "differentiable through what it calls"
    assert found.note == "PartsScaledBackward0 for NestedTensorCPU"


def test_nothing_is_recorded_below_a_kernel_of_a_device(index: Index) -> None:
    assert gradient(index, "ranks_of").text == "not differentiable"
    found = gradient(index, "ranked")
    assert found.text == "not differentiable"
    assert found.note == "nothing that it calls has a formula for its result"


def test_the_one_operator_that_a_view_calls_is_named(index: Index) -> None:
    assert gradient(index, "moved_as").text == "MovedBackward0 via moved"


@pytest.mark.parametrize("operator", ["moved_scale", "reduced_scale"])
def test_what_makes_the_result_is_named_behind_what_computes(index: Index, operator: str) -> None:
    assert gradient(index, operator).text == "ScaledBackward0 via scaled, then MovedBackward0"


@pytest.mark.parametrize("operator", ["either_scaled", "scaled_last"])
def test_what_only_some_calls_return_is_not_named(index: Index, operator: str) -> None:
    assert gradient(index, operator).text == "ScaledBackward0 via scaled"


def test_an_operator_that_changes_its_argument_is_recorded_by_what_changes_it(index: Index) -> None:
    assert gradient(index, "rescaled_").text == "ScaledBackward0 via scaled"
    assert gradient(index, "counted_").text == "not differentiable"


def test_a_view_of_what_has_no_formula_carries_no_gradient(index: Index) -> None:
    assert gradient(index, "indexed").text == "not differentiable"


def test_an_out_overload_that_calls_one_with_formulas_raises(index: Index) -> None:
    found = gradient(index, "twice_joined.out")
    assert found.text == "not differentiable"
    assert found.note == "scaled.out raises when an argument requires grad"
    assert gradient(index, "ranked.out").text == "not differentiable"
    assert gradient(index, "copied.out").text != "not differentiable"


def test_what_computes_without_an_operator_has_no_gradient(index: Index) -> None:
    assert gradient(index, "by_pointer").text == "not differentiable"


def test_the_opinfo_tells_that_there_is_no_gradient(index: Index) -> None:
    found = gradient(index, "order_of")
    assert found.text == "not differentiable"
    assert found.note == "its OpInfo has supports_autograd=False"
    assert gradient(index, "twice_joined").text == "ScaledBackward0 via scaled"


def test_the_one_operator_that_can_carry_a_gradient_is_named(index: Index) -> None:
    assert gradient(index, "scaled_for_gradients").text == "ScaledBackward0 via scaled"


def test_what_an_unread_out_overload_calls_is_not_guessed(index: Index) -> None:
    assert gradient(index, "unread.out").text == "gradient unknown"
    assert index.card("unread.out").kind == "composite, gradient unknown"
