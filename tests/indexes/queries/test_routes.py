"""The ways from operators to what computes them."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path

import pytest

from indexes import Index
from indexes.linking.works import Works
from indexes.model.answers import Route
from indexes.model.vocabulary import Choice, Location
from indexes.queries.routing.routes import in_words
from indexes.queries.routing.search import Search
from indexes.source.source import Source
from tests.tree_marks import TREE


def usual(index: Index, operator: str, device: str) -> Route:
    return next(one for one in index.routes(operator) if one.device == device)


def names(route: Route) -> list[str]:
    return [one.symbol.rpartition("::")[2] for one in route.via]


@pytest.mark.parametrize(
    ("operator", "device", "kind", "symbol", "via"),
    [
        ("mul.Tensor", "CPU", "loop", "mul_kernel", ["mul.Tensor", "mul_out", "mul_stub"]),
        ("mul.Tensor", "CUDA", "launch", "mul_kernel_cuda", ["mul.Tensor", "mul_out", "mul_stub"]),
        ("mul.Tensor", "MPS", "graph", "binaryOpTensor", ["mul.Tensor", "mul_out_mps"]),
        ("add.Tensor", "CPU", "loop", "add", ["add.Tensor"]),
        ("addmm", "CUDA", "library", "gemm", ["addmm", "addmm_out_cuda", "addmm_out_cuda_impl"]),
    ],
)
def test_the_usual_way_ends_in_what_computes(
    tree_index: Index, operator: str, device: str, kind: str, symbol: str, via: list[str]
) -> None:
    route = usual(tree_index, operator, device)
    assert (route.kind, route.symbol.rpartition("::")[2]) == (kind, symbol)
    assert names(route) == via


def test_a_composite_operator_leads_through_those_it_calls(tree_index: Index) -> None:
    route = usual(tree_index, "linear", "CPU")
    assert route.symbol.endswith("gemm")
    assert {"addmm", "addmm_out_cpu"} <= set(names(route))
    assert usual(tree_index, "linear", "MPS").symbol.endswith("_mps_linear")


def test_a_launch_ends_in_its_global_function(tree_index: Index) -> None:
    route = usual(tree_index, "softmax.int", "CUDA")
    assert route.symbol.endswith("cunn_SoftMaxForward")
    assert names(route)[-1] == "host_softmax"


@pytest.mark.parametrize(
    ("operator", "note"),
    [
        ("view", "a view: computes nothing"),
        ("empty.memory_format", "a new tensor: computes nothing"),
        ("is_floating_point", "computes nothing"),
    ],
)
def test_what_computes_nothing_says_so(tree_index: Index, operator: str, note: str) -> None:
    route = usual(tree_index, operator, "CPU")
    assert (route.kind, route.note) == ("none", note)


def test_a_virtual_method_names_the_classes_that_may_run(tree_index: Index) -> None:
    route = usual(tree_index, "c10d::monitored_barrier", "CPU")
    assert route.note == "monitored: one of GlooBackend, NCCLBackend, 1 more"


def test_a_function_that_only_raises_computes_nothing(tree_index: Index) -> None:
    search = Search(tree_index.facts)
    raises, computes = tree_index.facts.named("mkldnn_gelu")  # without oneDNN, and with it
    (chosen,) = tree_index.facts.named("apply_cholesky_solve")  # raises without LAPACK
    checks = [search.only_checks(one) for one in (raises, computes, chosen)]
    assert checks == [True, False, False]


@pytest.mark.parametrize(
    ("operator", "alone"),
    [("is_floating_point", True), ("mul.Tensor", False), ("add_.Tensor", False)],
)
def test_an_operator_without_a_tensor_only_answers(
    tree_index: Index, operator: str, alone: bool
) -> None:
    assert Works(tree_index.facts).answers_alone(operator) is alone


def test_an_operator_without_a_kernel_for_a_device_has_no_way_there(tree_index: Index) -> None:
    assert {one.device for one in tree_index.routes("cudnn_convolution")} == {"CUDA"}


@pytest.mark.parametrize(
    ("text", "arm", "words"),
    [
        ("if (self.is_complex())", "then", "self.is_complex()"),
        ("if (self.is_complex())", "else", ""),
        ("if (n == 1)", "else", "not (n == 1)"),
        ("if (!forward)", "else", "forward"),
        ("if (n == 1)", "otherwise", ""),
        ("switch (backend) case ConvBackend::Slow2d", "case", "ConvBackend::Slow2d"),
        ("switch (dims) case 1", "case", "dims == 1"),
    ],
)
def test_conditions_are_said_in_words(text: str, arm: str, words: str) -> None:
    assert in_words(Choice(text, arm, Location("x.cpp", 1)), "CPU") == words


OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
YAML = """
- func: factor(Tensor self) -> Tensor
  dispatch:
    CPU: factor_cpu

- func: lower_(Tensor(a!) self) -> Tensor(a!)
  variants: method
  dispatch:
    CPU: lower_cpu_

- func: scaled(Tensor self) -> Tensor

- func: halved(Tensor self) -> Tensor
  dispatch:
    CPU: halved_cpu

- func: taken(Tensor self, Tensor index) -> Tensor
  dispatch:
    CPU: taken_cpu

- func: middle(Tensor self) -> Tensor

- func: blocks(Tensor self) -> Tensor
  dispatch:
    CPU: blocks_cpu

- func: own_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor

- func: tells(Tensor self, int? dim=None, bool keepdim=False) -> Tensor
  dispatch:
    CPU: tells_cpu

- func: ranked(Tensor self, int? dim=None, bool keepdim=False) -> Tensor

- func: only_cpu(Tensor self) -> Tensor
  dispatch:
    CPU: lower_cpu

- func: through_cpu(Tensor self) -> Tensor

- func: powered(Tensor self, int n, *, str way="plain") -> Tensor

- func: shaped(Tensor self, int? dim=None) -> Tensor

- func: made(int n, *, OPTIONS) -> Tensor

- func: unread(int n, *, OPTIONS) -> Tensor

- func: counted_all(Tensor self) -> Tensor
  dispatch:
    CPU: counted_all_cpu

- func: in_two_steps(Tensor self) -> Tensor
  dispatch:
    CPU: in_two_steps_cpu

- func: called_first(Tensor self) -> Tensor
  dispatch:
    CPU: called_first_cpu

- func: of_many(Tensor self, int way=0, bool given=False) -> Tensor
  dispatch:
    CPU: of_many_cpu

- func: either_way(Tensor self) -> Tensor
  dispatch:
    CPU: either_way_cpu

- func: filled_first(Tensor self) -> Tensor

- func: only_stub(Tensor self) -> Tensor

- func: by_stub_of_object(Tensor self, float p) -> Tensor
  dispatch:
    CPU: by_stub_of_object_cpu

- func: like_another(Tensor self) -> Tensor

- func: totals(Tensor self, Tensor by, int? dim=None, bool keepdim=False) -> Tensor
  dispatch:
    CPU: totals_cpu

- func: largest_first(Tensor self) -> Tensor

- func: by_object(Tensor self) -> Tensor
  dispatch:
    CPU: by_object_cpu

- func: both_ways(Tensor self) -> Tensor
  dispatch:
    CPU: both_ways_cpu

- func: few_elements(Tensor self) -> Tensor
  dispatch:
    CPU: few_elements_cpu

- func: flag_kept(Tensor self) -> Tensor
  dispatch:
    CPU: flag_kept_cpu

- func: over_another(Tensor self) -> Tensor

- func: last_size(Tensor self) -> Tensor
  dispatch:
    CPU: last_size_cpu

- func: tight_sum(Tensor self) -> Tensor

- func: of_types(Tensor self) -> Tensor
  dispatch:
    CPU: of_types_cpu

- func: spaced(Scalar start, *, OPTIONS) -> Tensor

- func: spaced.Tensor(Tensor start, *, OPTIONS) -> Tensor

- func: from_parts(Tensor parts, Tensor values, *, OPTIONS) -> Tensor
"""
KERNELS = """
#include <ATen/native/DispatchStub.h>
namespace at::native {
using factor_fn = void (*)(Tensor&);
DECLARE_DISPATCH(factor_fn, factor_stub);
DEFINE_DISPATCH(factor_stub);
static void lower_loop(Tensor& self) { at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {}); }
Tensor& lower_cpu_(Tensor& self) { lower_loop(self); return self; }
Tensor factor_cpu(const Tensor& self) {
  Tensor result = self.lower_();
  TORCH_CHECK(
      self.lower_().defined(),
      "factor: a message that is long enough");
  if (unknown > 3) {
    factor_stub(self.device().type(), result);
  }
  return result;
}
Tensor scaled(const Tensor& self) {
  auto total = at::sum(self);
  return unknown > 3 && other > 4 ? at::factor(self).div(total) : total;
}
using cut_fn = void (*)(Tensor&);
DEFINE_DISPATCH(cut_stub);
static void cut_deep(Tensor& self) { at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {}); }
static void cut_kernel(Tensor& self) { cut_deep(self); }
REGISTER_DISPATCH(cut_stub, &cut_kernel);
Tensor halved_cpu(const Tensor& self) {
  Tensor result = self.lower_();
  cut_stub(self.device().type(), result);
  return result;
}
Tensor taken_cpu(const Tensor& self, const Tensor& index) { lower_loop(self); return self; }
Tensor middle(const Tensor& self) { return at::factor(at::taken(self, self)); }
static int64_t blocks_in(int64_t size) { return size; }
Tensor blocks_cpu(const Tensor& self) {
  memcpy(self.data_ptr(), self.data_ptr(), blocks_in(1));
  return self;
}
Tensor own_loss(const Tensor& self, const Tensor& target, int64_t reduction) {
  auto loss = at::mul(self, target);
  return reduction == at::Reduction::Mean ? at::sum(loss) : loss;
}
Tensor tells_cpu(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  lower_loop(self);
  return self;
}
Tensor ranked(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  auto all_in_range = at::tells(self);
  return at::factor(self);
}
Tensor lower_cpu(const Tensor& self) { lower_loop(self); return self; }
Tensor through_cpu(const Tensor& self) { return at::mul(at::only_cpu(self), self); }
static void when_plain(const Tensor& self) { lower_loop(self); }
static void when_one(const Tensor& self) {
  at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
}
static void when_other(const Tensor& self) { when_plain(self); }
Tensor powered(const Tensor& self, int64_t n, std::string_view way) {
  if (n == 1) {
    when_one(self);
  } else if (way == "other") {
    when_other(self);
  } else {
    when_plain(self);
  }
  return self;
}
Tensor made(int64_t n, const TensorOptions& options) { return at::factor(at::empty({n}, options)); }
Tensor shaped(const Tensor& self, std::optional<int64_t> dim) {
  if (dim.has_value()) {
    when_one(self);
    return self;
  }
  return at::factor(self);
}
template <typename scalar_t>
static void set_total(Tensor& self, scalar_t total) { put(self, total); }
Tensor counted_all_cpu(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "counted_all", [&] {
    set_total<scalar_t>(self, total);
  });
  return self;
}
static void factor_loop(Tensor& self) { at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {}); }
static void factor_kernel(Tensor& self) { if (way > 2) { factor_loop(self); } }
REGISTER_DISPATCH(factor_stub, &factor_kernel);
static void first_step(const Tensor& self) { lower_loop(self); }
static void last_step(const Tensor& self) {
  at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
}
Tensor in_two_steps_cpu(const Tensor& self) { first_step(self); last_step(self); return self; }
Tensor called_first_cpu(const Tensor& self) {
  first_step(self);
  at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
  return self;
}
Tensor of_many_cpu(const Tensor& self, int64_t kind, bool is_asked) {
  if (!is_asked || unknown == 3) {
    when_other(self);
    return self;
  }
  when_one(self);
  return self;
}
Tensor filled_first(const Tensor& self) {
  auto result = at::empty_like(self);
  result.fill_(0);
  result.copy_(self);
  return result;
}
Tensor only_stub(const Tensor& self) {
  factor_stub(self.device().type(), self);
  return self;
}
struct ByStub {
  void operator()(Tensor& self, const Tensor& p) { cut_stub(self.device().type(), self); }
  void operator()(Tensor& self, double p) { factor_stub(self.device().type(), self); }
};
template <typename Given>
static void pass_on(Tensor& self, double p) { Given()(self, p); }
Tensor by_stub_of_object_cpu(const Tensor& self, double p) {
  pass_on<ByStub>(self, p);
  return self;
}
Tensor like_another(const Tensor& self) {
  if (self.dtype() == other.dtype()) {
    when_plain(self);
    return self;
  }
  when_one(self);
  return self;
}
Tensor totals_cpu(
    const Tensor& self, const Tensor& by, std::optional<int64_t> dim, bool keepdim) {
  when_plain(self);
  return self;
}
Tensor largest_first(const Tensor& self) {
  auto largest = at::tells(self);
  return at::totals(self, largest);
}
struct Painter { virtual Tensor paint(const Tensor& self) = 0; };
using PainterPtr = c10::intrusive_ptr<Painter>;
struct LoopPainter : public Painter { Tensor paint(const Tensor& self) override; };
Tensor LoopPainter::paint(const Tensor& self) { when_one(self); return self; }
PainterPtr make_painter() { return c10::make_intrusive<LoopPainter>(); }
Tensor by_object_cpu(const Tensor& self) {
  auto painter = make_painter();
  return painter->paint(self);
}
Tensor both_ways_cpu(const Tensor& self) {
  if (unknown > 3) {
    sgemm_(a, b);
  } else {
    dgemm_(a, b);
  }
  return self;
}
Tensor few_elements_cpu(const Tensor& self) {
  if (rows * columns < 400) {
    when_one(self);
  } else {
    when_other(self);
  }
  return self;
}
Tensor flag_kept_cpu(const Tensor& self) {
  if (FlagKept) {
    when_other(self);
  } else {
    when_one(self);
  }
  return self;
}
Tensor over_another(const Tensor& self) { return at::flag_kept(self); }
static void by_search(const Tensor& self) { when_one(self); }
static void by_rule(const Tensor& self) { when_one(self); }
Tensor either_way_cpu(const Tensor& self) {
  if (!searches) {
    by_rule(self);
  } else {
    by_search(self);
  }
  return self;
}
Tensor last_size_cpu(const Tensor& self) {
  if (inner == 1) {
    if (unknown > 2) {
      at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
    } else {
      cpublas::gemm(a, b);
    }
  } else {
    sgemm_(a, b);
  }
  return self;
}
Tensor tight_sum(const Tensor& self) { return at::factor(self).sum(); }
template <typename T>
struct Typed {
  Tensor operator()(const Tensor& self) { when_plain(self); return self; }
};
template <>
struct Typed<bool> {
  Tensor operator()(const Tensor& self) {
    at::parallel_for(0, 1, 1, [&](int64_t a, int64_t b) {});
    return self;
  }
};
Tensor of_types_cpu(const Tensor& self) { return Typed<scalar_t>()(self); }
Tensor spaced(const Scalar& start, const TensorOptions& options) {
  return at::sum(at::empty({1}, options));
}
Tensor spaced(const Tensor& start, const TensorOptions& options) {
  return at::spaced(start.item(), options);
}
Tensor from_parts(const Tensor& parts, const Tensor& values, const TensorOptions& options) {
  return at::sum(parts);
}
}
"""


def test_a_stub_of_its_own_comes_before_what_a_kernel_calls_beside_it(
    tmp_path: Path, cache: Path
) -> None:
    root = Path(shutil.copytree(TREE, tmp_path / "pytorch"))
    native = root / "aten/src/ATen/native"
    with (native / "native_functions.yaml").open("a") as file:
        file.write(YAML.replace("OPTIONS", OPTIONS))
    (native / "Factor.cpp").write_text(KERNELS)
    with contextlib.closing(Index.open(Source.find(str(root)), cache)) as index:
        route = usual(index, "factor", "CPU")
        assert route.symbol.endswith("factor_loop")
        assert names(route)[-2:] == ["factor_stub", "factor_kernel"]
        check, *_ = index.facts.messages_in("aten/src/ATen/native/Factor.cpp")
        assert check[0] == "TORCH_CHECK"
        scaled = usual(index, "scaled", "CPU")
        assert scaled.symbol.endswith("lower_loop")  # and not the sum, which prepares
        assert usual(index, "halved", "CPU").symbol.endswith("cut_deep")
        middle = usual(index, "middle", "CPU")
        assert "factor" in names(middle)  # and not what only picks elements
        blocks = usual(index, "blocks", "CPU")
        assert (blocks.kind, blocks.symbol.rpartition("::")[2]) == ("loop", "blocks_cpu")
        loss = usual(index, "own_loss", "CPU")
        assert loss.symbol.endswith("mul_kernel")  # and not the sum that it ends with
        assert "factor" in names(usual(index, "ranked", "CPU"))  # and not what only tells
        missing = usual(index, "through_cpu", "CUDA")
        assert missing.note == "no kernel: only_cpu has none for CUDA"
        powered = usual(index, "powered", "CPU")
        assert names(powered)[-1] == "when_plain"  # and not the case of one value
        assert "not (n == 1)" in powered.conditions
        filled = usual(index, "filled_first", "CPU")
        assert "copy_" in names(filled)  # and not the fill, which prepares
        assert usual(index, "only_stub", "MPS").note.endswith("factor_stub has none for MPS")
        assert "factor_kernel" in names(usual(index, "by_stub_of_object", "CPU"))  # by a double
        alike = usual(index, "like_another", "CPU")  # tensors are of one dtype as a rule
        assert (names(alike)[-1], alike.conditions) == ("when_plain", ())
        assert "totals" in names(usual(index, "largest_first", "CPU"))  # which comes last
        assert names(usual(index, "by_object", "CPU"))[-1] == "paint"  # of what derives from it
        both = usual(index, "both_ways", "CPU")
        assert (both.note, both.conditions) == ("sgemm_ or dgemm_", ())
        assert "when_other" in names(usual(index, "few_elements", "CPU"))  # and not the small case
        assert "when_other" in names(usual(index, "over_another", "CPU"))  # set for what it calls
        assert usual(index, "either_way", "CPU").conditions == ()  # both arms lead there
        assert "factor" in names(usual(index, "shaped", "CPU"))  # few callers give a dimension
        assert "factor" in names(usual(index, "made", "CPU"))  # its options are one, as before 1.8
        assert not index.routes("unread")  # and not: computes nothing
        assert usual(index, "counted_all", "CPU").symbol.endswith("counted_all_cpu")
        steps = usual(index, "in_two_steps", "CPU")
        assert steps.symbol.endswith("last_step")  # which writes what is given back
        several = usual(index, "called_first", "CPU")
        assert several.symbol.endswith("called_first_cpu")
        assert several.confidence == "by rule"  # what it calls first computes too
        asked = usual(index, "of_many", "CPU")  # its kernel calls ``given`` by another name
        assert names(asked)[-2:] == ["when_other", "when_plain"]
        assert "factor" in names(usual(index, "tight_sum", "CPU"))  # and not what sums it up
        assert "when_plain" in names(usual(index, "of_types", "CPU"))  # and not that of bool
        assert "sum" in names(usual(index, "spaced.Tensor", "CPU"))  # its start is a number
        parts = usual(index, "from_parts", "CPU")
        assert parts.note == "a new tensor: computes nothing"
