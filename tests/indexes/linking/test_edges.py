"""What bodies lead to: C++'s lookup, overloads by arguments, macros, functors, launches."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.linking.facts import Call, Edge, Known
from indexes.linking.functors import of_specialization
from indexes.model.vocabulary import Definition, Location
from indexes.queries.index import Index
from indexes.source.source import Source
from tests.tree_marks import TREE

NATIVE = "aten/src/ATen/native"
FILES = {
    f"{NATIVE}/Edges.h": """
#pragma once
namespace at::native {
namespace detail { inline void helper(int64_t n) {} inline void helper(const Tensor& x) {} }
template <typename sorter_t> void sort_common(sorter_t sorter) { sorter.template sort<4>(1); }
struct SmallSort { template <int A> void sort(int64_t n) { detail::helper(n); } };
#define HELP(X) detail::helper(X)
}
namespace at {
#define FORALL_SIGNS(_) _(*, x.mul(y)) _(-, x.sub(y))
#define DEFINE_SIGN(op, body)                                   \\
  inline Tensor operator op(const Tensor& x, const Tensor& y) { \\
    return body;                                                \\
  }                                                             \\
  inline Tensor operator op(const Tensor& x, const Scalar& y) { \\
    return body;                                                \\
  }
FORALL_SIGNS(DEFINE_SIGN)
struct Tensor {
  Tensor& operator+=(const Tensor& other) { return add_(other); }
  Tensor operator()(int64_t n) { return relu(); }
  Tensor index(std::initializer_list<TensorIndex> indices) const { return *this; }
};
}
namespace at::native::mps { inline void run_graph(const Tensor& x) {} }
namespace complex_math { template <typename T> complex<T> sqrt(const complex<T>& x) { return x; } }
using complex_math::sqrt;
namespace at {
Tensor operator-(const Scalar& x, const Tensor& y) { return y.neg(); }
Tensor operator*(const Scalar& x, const Tensor& y) { return y.neg(); }
}
""",
    f"{NATIVE}/Nearest.cpp": """
namespace at::native {
struct HeldBase { virtual int held(int n) = 0; };
struct HeldHere : HeldBase { int held(int n) override { return n; } };
namespace elsewhere {
struct HeldBase { virtual int held(int n) = 0; };
struct HeldElsewhere : HeldBase { int held(int n) override { return n; } };
int edges_of_the_nearest_class(HeldBase* one) { return one->held(1); }
}
}
""",
    f"{NATIVE}/Twins.cpp": """
namespace at::native {
void once(const Tensor& x) {}
#if defined(USE_TWINS) && AT_TWINS_ENABLED()
void twin(const Tensor& x) {}
#else
void twin(const Tensor& x) { once(x); }
#endif
#if defined(USE_TWINS)
void no_twin(const Tensor& x) {}
#endif
#if AT_TWINS_ENABLED()
void no_twin(const Tensor& x) { once(x); }
#endif
void edges_of_twins(const Tensor& self) { twin(self); no_twin(self); }
}
""",
    f"{NATIVE}/Edges.cpp": """
#include <ATen/native/Edges.h>
namespace at::native {
namespace { void here(const Tensor& x) {} }
static void other(int64_t a, int64_t b = 0) {}
static void other(const Tensor& a) {}
struct Runner {
  Runner(const Tensor& x) : x_(x) {}
  Tensor run() { return x_; }
  Tensor x_;
};
template <typename F> void apply_to(F f, const Tensor& x) { f(x); }
struct Twice { void operator()(const Tensor& x) const { here(x); } };

Tensor edges_of_names(const Tensor& self, int64_t n) {
  detail::helper(n);
  other(self);
  other(n, 2);
  using namespace mps;
  run_graph(self);
  return Runner(self).run();
}

Tensor edges_of_operators(const Tensor& self, const Tensor& other_, int64_t dim) {
  auto product = self.mul(other_);
  if (self.is_floating_point()) {
    return at::native_dropout(product, /*p=*/0.5, /*train=*/true);
  }
  return product.mul(other_);
}

Tensor edges_of_signs(const Tensor& x, const Tensor& y, int64_t n) {
  return x - y * n;
}

Tensor& edges_of_outputs(const Tensor& self, const Tensor& other_, Tensor& out) {
  at::add_outf(self, other_, 1, out);
  return at::add_out(out, self, other_);
}

Tensor edges_of_objects(const Tensor& self) {
  apply_to(Twice(), self);
  sort_common(SmallSort{});
  HELP(self);
  TORCH_CHECK(false, "detail::helper(self)");
  return self;
}
struct Quant { virtual Tensor quant(const Tensor& x) = 0; int bits() { return 8; } };
struct Quant8 : Quant { Tensor quant(const Tensor& x) override { here(x); return x; } };
struct Quant4 : Quant { Tensor quant(const Tensor& x) override { return x; } };
struct Weights { Tensor weigh_cell(const Tensor& x) const { here(x); return x; } };
struct Wrapped { Tensor weigh_cell(const Tensor& x) const { return weights.weigh_cell(x); } };
template <typename params_t> struct EdgesOfCell {
  Tensor edges_of_cells(const Tensor& x, const params_t& params) { return params.weigh_cell(x); }
};
Tensor edges_of_overriders(const Tensor& self) { return best_for(self)->quant(self); }
namespace transforms { struct Stack { int depth(int d) { return d; } }; }
using Stack = std::vector<int>;
int edges_of_vectors(Stack* stack) { return stack->depth(0); }
double edges_of_the_global_scope(double x) { return ::sqrt(x); }
Tensor edges_of_chains(const Tensor& x) { return loaded(x).mul(x).native_dropout(0.5, true); }
struct Counter { int sub(int n) { return n; } };
template <typename T> int edges_of_the_unknown(T& counter) { return counter.sub(1); }
struct Often : Twice {};
void edges_of_called_objects(const Tensor& x, const Twice& f) { Often often{}; often(x); f(x); }
Tensor edges_of_lists(const Tensor& x, const Tensor& mask) { return x.index({mask, 1}); }
Tensor edges_without_lists(const Tensor& x, const Places& places) { return x.index(places); }
Tensor edges_of_signs_behind_calls(const Tensor& x, const Tensor& y, const Place& place) {
  place.mul(y) + 1;
  x.mul(y) == y->place();
  return x.mul(y) * y;
}
void edges_of_local_aliases(const Tensor& x) {
  namespace local = at::native::mps;
  local::run_graph(x);
  local::runMPSGraph(x);
}
bool edges_of_optionals(const std::optional<Tensor>& x) { return x == c10::nullopt; }
template <typename T> struct Dist {
  static T map(T x) { here(x); return x; }
  static T backward(T x) { return x; }
};
template <typename F> void each(const Tensor& x) { apply_to([](auto y) { F::map(y); }, x); }
template <typename F> void each_of(const Tensor& x) { each<F>(x); }
template <typename F> void each_backward(const Tensor& x) { F::backward(x); }
void edges_of_given_types(const Tensor& x) {
  using Spelled = Dist<double>;
  each_of<Spelled>(x);
}
MANY
int edges_of_many(int x) { return many(make(x)); }
} // namespace at::native
namespace cutlass::epilogue {
struct Rescale { void operator()(int x) { helper(x); } };
} // namespace cutlass::epilogue
namespace at::native {
void edges_into_a_library() {
  cutlass::epilogue::Rescale rescale(1);
  cutlass::epilogue::Linear linear(1);
}
} // namespace at::native
""".replace("MANY", "\n".join(f"static int many(Type{n} x) {{ return {n}; }}" for n in range(30))),
    f"{NATIVE}/mps/operations/Edges.mm": """
namespace at::native {
static MPSShape* shape_of(const Tensor& x) { return nil; }
void edges_of_messages(const Tensor& x) {
  [graph placeholderWithShape:shape_of(x) dataType:at::native::shape_of(x) axis:(NSInteger)(0)];
}
static Way edge_pick(const Tensor& x, int64_t n) { return x.defined() ? Way::Fast : Way::Slow; }
static int64_t edge_size(const Tensor& x) { return 1; }
template <typename T> struct EdgeCell { Tensor operator()(const Tensor& x) { return x.relu(); } };
Tensor edges_of_an_object_alone(const Tensor& x) { return EdgeCell<int>{}(x); }
int64_t edges_of_an_object_and_no_tensor(int64_t n) { return EdgeCell<int>{}(n); }
void edges_of_a_name_among_several(const Tensor& x) {
  std::vector<int64_t> mkl_before(1), mkl_behind(2);
}
void edges_of_names_of_parts(const Tensor& x) { bool one = x.edge_names()[0] != 3; }
void edges_of_elements(const Tensor& x) { x.mul(x)[0].relu(); }
#define EDGE_SWITCH(X) switch (edge_pick(X, 1)) { case Way::Fast: break; }
void edges_of_a_switch_in_a_macro(const Tensor& x) { EDGE_SWITCH(x) }
void edges_of_choosers(const Tensor& x) {
  int64_t size = edge_size(x);
  Way way = edge_pick(x, size);
  switch (way) {
    case Way::Fast: break;
  }
  switch (edge_pick(x, 2)) {
    case Way::Slow: break;
  }
}
} // namespace at::native
""",
    f"{NATIVE}/cudnn/Edges.cpp": """
namespace at::native {
void edges_of_front_ends(const Tensor& x) { auto plan = cached(x); plan->execute(x); }
void edges_of_typed_front_ends(const Tensor& x) {
  const fe::graph::Graph& graph = *cached(x);
  graph.execute(x);
}
} // namespace at::native
""",
    f"{NATIVE}/cuda/Submodule.cu": """
#include <cutlass/types.h>
#include <fast_attention.h>
#include <Submodule.cuh>
namespace at::native {
void edges_of_a_submodule(const Tensor& x) {
  Pair<int> pair(x);
  run_attention_<scalar_t, 64>(x);
  run_plain(x);
}
} // namespace at::native
""",
    f"{NATIVE}/mps/kernels/Edges.metal": """
float edge_shader(float x) { return ::metal::mul(x, x); }
float edges_of_shaders(float x) { return edge_shader(mul(x, x)); }
""",
    f"{NATIVE}/mps/operations/Named.mm": """
#include <ATen/native/mps/Named_metallib.h>
namespace at::native {
static void run_named(const Tensor& x, const std::string& name) {
  lib.getPipelineStateForFunc(fmt::format("sample_{}_{}", name, typeOf(x)));
}
void edges_of_named_kernels(const Tensor& x) { lib.exec_unary_kernel(x, "ramp"); }
void edges_of_whole_names(const Tensor& x) { lib.getPipelineStateForFunc("pivots"); }
void edges_of_names_put_in(const Tensor& x) { run_named(x, "cubic"); }
void edges_of_longer_names_put_in(const Tensor& x) { run_named(x, "cubic_wide"); }
static void run_back(const Tensor& x, const std::string& name) {
  lib.getPipelineStateForFunc(fmt::format("sample_{}_back_{}", name, typeOf(x)));
}
void edges_of_the_same_name_put_elsewhere(const Tensor& x) { run_back(x, "cubic"); }
void edges_of_padded_names(const Tensor& x, const std::string& pad) {
  lib.getPipelineStateForFunc(fmt::format("stretch_{}_{}", pad, typeOf(x)));
}
struct Backing { virtual void serve(const Tensor& x) { fail(); } void plain(int n) {} };
struct NearBacking : Backing { void serve(const Tensor& x) override { x.abs(); } };
struct FarBacking : Backing {
  void serve(const Tensor& x);
  void plain(int n) {}
};
void FarBacking::serve(const Tensor& x) { x.neg(); }
struct Holder { c10::intrusive_ptr<Backing> backing(int key) const { return held_; } };
const Holder& the_holder() { return holder; }
Tensor made_of(const Tensor& x, int n) { return x; }
Tensor ordered(const Tensor& x, int64_t dim, bool descending) { return x; }
template <typename It> void between(It first, It last) {}
void counted(int64_t many) {}
void edges_of_iterators(const std::vector<std::string>& names, at::IntArrayRef sizes) {
  ordered(sizes.begin(), sizes.end(), true);
  between(names.begin(), names.end());
  add(names.begin(), names.end());
  counted(sizes.end() - sizes.begin());
}
void edges_of_results(const Tensor& x) {
  the_holder().backing(0)->serve(x);
  auto held = the_holder().backing(1);
  held->plain(1);
  made_of(x, 1).sub(1);
}
Tensor edges_of_numbers(const Tensor& x) {
  auto y = 1 - x;
  return 1.5 * at::sub(x, y);
}
void edges_of_void_kernels(const Tensor& x) { lib.exec_unary_kernel(x, "turned"); }
void edges_of_blits(id<MTLBlitCommandEncoder> encoder) {
  [encoder copyFromBuffer:from toBuffer:to size:1];
}
} // namespace at::native
""",
    f"{NATIVE}/mps/operations/Inside.mm": """
static MetalShaderLibrary lib(R"METAL(
kernel void inside_a_string(device float* out [[buffer(0)]]) {}
)METAL");
void edges_into_a_string() { lib.getPipelineStateForFunc("inside_a_string"); }
""",
    f"{NATIVE}/mps/kernels/Named.metal": """
struct ramp_functor { float operator()(float x) { return x; } };
template <typename T, typename F>
kernel void each_of(device T* out [[buffer(0)]]) {}
template <typename T> kernel void ramp_up(device T* out [[buffer(0)]]) {}
kernel void pivots(device float* out [[buffer(0)]]) {}
template <typename T> kernel void cubic(device T* out [[buffer(0)]]) {}
template <typename T> kernel void linear(device T* out [[buffer(0)]]) {}
template <typename T> kernel void cubic_back(device T* out [[buffer(0)]]) {}
template [[host_name("sample_cubic_back_float")]] kernel void cubic_back<float>(device float* out);
#define NAMED(NAME, TYPE) \\
  template [[host_name(#NAME "_dense_" #TYPE)]] kernel void ::each_of<TYPE, NAME##_functor>( \\
      device TYPE* out)
NAMED(ramp, float);
NAMED(ramp, half);
template <typename T> kernel void cubic_wide(device T* out [[buffer(0)]]) {}
struct PadZeros { static int pad(int at) { return 0; } };
struct PadBorder { static int pad(int at) { return at; } };
template <typename P, typename T>
kernel void stretch(device T* out [[buffer(0)]]) { out[P::pad(0)] = 0; }
template [[host_name("stretch_zeros_float")]] kernel void stretch<PadZeros, float>(
    device float* out);
template [[host_name("stretch_border_float")]] kernel void stretch<PadBorder, float>(
    device float* out);
void kernel turned(device float* out [[buffer(0)]]) {}
template [[host_name("turned_float")]] void kernel turned(device float* out);
template [[host_name("sample_cubic_wide_float")]] kernel void cubic_wide<float>(device float* out);
template [[host_name("sample_cubic_float")]] kernel void cubic<float>(device float* out);
template [[host_name("sample_linear_float")]] kernel void linear<float>(device float* out);
""",
    f"{NATIVE}/quantized/cpu/Results.cpp": """
namespace at::native {
void edges_of_held_results(const Tensor& x) {
  auto description = dnnl::matmul::primitive_desc(x);
  auto primitive = cached(description);
  primitive.execute(x);
}
void edges_of_plain_results(const Tensor& x) { auto plan = cached(x); plan.execute(x); }
}
""",
    f"{NATIVE}/mkldnn/Results.cpp": """
namespace at::native {
void edges_of_vendors_results(const Tensor& x) {
  auto primitive = dnnl::matmul(x);
  primitive.execute(ideep::stream::default_stream(), x);
}
}
""",
    f"{NATIVE}/mps/operations/Attributes.mm": """
#include <ATen/native/mps/Attributes_metallib.h>
namespace at::native {
#define EDGE_UNARY(NAME) \\
  void edges_of_macro_##NAME(TensorIteratorBase& iter) { lib.exec_unary_kernel(iter, #NAME); }
EDGE_UNARY(wave)
void edges_of_attributes(const Tensor& x, const std::string& mode) {
  if (mode == "bump") { mode.size(); }
  lib.getPipelineStateForFunc("total_" + mode);
}
void edges_of_included_kernels(const Tensor& x) { lib.getPipelineStateForFunc("merge_" + type); }
void edges_of_limits(const Tensor& x) { lib.getPipelineStateForFunc("limited"); }
void edges_of_empty_names(const Tensor& x, const std::string& suffix) {
  lib.getPipelineStateForFunc(fmt::format("scan{}_{}", suffix, typeOf(x)));
}
} // namespace at::native
""",
    f"{NATIVE}/mps/operations/Handing.mm": """
namespace at::native {
void edges_of_handed_names(const Tensor& x, bool up) {
  auto graph = [[MPSGraph new] autorelease];
  auto cached = LookUpOrCreateCachedGraph("bump");
  const std::string name = up ? "rise" : "fall";
  mps::scan_by_name(x, name);
}
static void handing(const Tensor& x, std::string name) { mps::scan_by_name(x, name); }
void edges_of_names_handed_on(const Tensor& x) { handing(x, "leap"); }
static void keyed(const Tensor& x, std::string mode) {
  mps::scan_all(x);
  if (mode == "leap") { x.size(); }
}
void edges_of_words_kept_beside(const Tensor& x) { keyed(x, "leap"); }
void edges_of_keys_of_graphs(const Tensor& x) { auto key = named("leap"); handing(x, key); }
} // namespace at::native
""",
    f"{NATIVE}/mps/operations/ByName.mm": """
#include <ATen/native/mps/ByName_metallib.h>
namespace at::native::mps {
static void run_by_name(const Tensor& x, const std::string& name) {
  lib.getPipelineStateForFunc(fmt::format("{}_inner_{}", name, typeOf(x)));
}
void scan_by_name(const Tensor& x, const std::string& name) { run_by_name(x, name); }
void scan_all(const Tensor& x) { run_by_name(x, "rise"); }
} // namespace at::native::mps
""",
    f"{NATIVE}/mps/kernels/ByName.metal": """
template <typename T> kernel void rise(device T* out [[buffer(0)]]) {}
template <typename T> kernel void fall(device T* out [[buffer(0)]]) {}
template <typename T> kernel void leap(device T* out [[buffer(0)]]) {}
template [[host_name("rise_inner_float")]] kernel void rise<float>(device float* out);
template [[host_name("leap_inner_float")]] kernel void leap<float>(device float* out);
template [[host_name("fall_inner_float")]] kernel void fall<float>(device float* out);
""",
    f"{NATIVE}/mps/kernels/Attributes.metal": """
#include <ATen/native/mps/kernels/Merge.h>
struct wave_functor { float operator()(float x) { return x; } };
struct TotalOp {
  static float identity() { return 0; }
  static float combine(float a) { return a; }
};
template <typename T, typename F> [[kernel]] void each_one(device T* out [[buffer(0)]]) {}
template <typename T, typename OP>
[[max_total_threads_per_threadgroup(1024)]] kernel void total(device T* out [[buffer(0)]]) {
  out[0] = OP::combine(OP::identity());
}
[[kernel, max_total_threads_per_threadgroup(WM* WN * 32)]] void limited(
    device float* out [[buffer(0)]]) {}
template <typename T> kernel void scan(device T* out [[buffer(0)]]) {}
template <typename T> kernel void bump(device T* out [[buffer(0)]]) {}
#define EDGE_KERNEL(name, func, ...) \\
  template [[host_name(name)]] [[kernel]] decltype(func<__VA_ARGS__>) func<__VA_ARGS__>
EDGE_KERNEL("total_float", total, float, TotalOp<float>);
template [[host_name("wave_dense_float")]] [[kernel]] void each_one<float, wave_functor>(
    device float* out);
template [[host_name("scan_float")]] kernel void scan<float>(device float* out);
template [[host_name("bump_float")]] kernel void bump<float>(device float* out);
""",
    f"{NATIVE}/mps/kernels/Merge.h": """
template <typename T> kernel void merge(device T* out [[buffer(0)]]) {}
template [[host_name("merge_float")]] kernel void merge<float>(device float* out);
""",
    f"{NATIVE}/mps/kernels/Others.metal": """
float edges_of_other_shaders(float x) { return edge_shader(x); }
""",
    f"{NATIVE}/cuda/Edges.cu": """
#include <vendorModular.h>
#include <vendor_gemm/torch_ops.h>
namespace at::native {
namespace {
template <typename T, int N> __global__ void edge_kernel(T* x) { x[0] = N; }
template <typename T> struct EdgeSum {
  void operator()(Tensor& x) { edge_kernel<T, 2><<<1, 1>>>(x); }
};
template <typename T> constexpr int width() { return 4; }
__global__ void kernel(float* x) {}
}
#define LAUNCH_EDGE(T, N) edge_kernel<T, N><<<1, N>>>(x)
void edges_of_launches(float* x) { edge_kernel<float, width<float>()><<<1, 32>>>(x); }
void edges_of_macros(float* x) { LAUNCH_EDGE(float, 2); }
void edges_of_pointers(float* x, bool wide) {
  auto kernel = edge_kernel<float, 1>;
  if (wide) { kernel = edge_kernel<float, 4>; }
  kernel<<<1, 32>>>(x);
}
void edges_of_braces(Tensor& x) {
  AT_DISPATCH_ALL_TYPES(x.scalar_type(), "sum", [&] { EdgeSum<scalar_t>{}(x); });
}
void edges_of_aliases(Tensor& x) {
  using Gemm = cutlass::gemm::device::Adapter<T>;
  Gemm gemm;
  gemm(x);
}
struct EdgeBuilder {
  EdgeBuilder(float* x, int n) { edge_kernel<float, 4><<<1, n>>>(x); }
};
void edges_of_constructors(float* x) { EdgeBuilder builder(x, 32); }
void edges_of_runs(Tensor& x) {
  using Gemm = cutlass::gemm::device::Adapter<T>;
  Gemm gemm;
  gemm.initialize(x);
  gemm.run(x);
}
Tensor edges_of_included(const Tensor& x) { return vendor_gemm::grouped(x, x); }
Tensor edges_of_not_included(const Tensor& x) { return other_gemm::grouped(x, x); }
void edges_of_data(const Tensor& x) {
  vendorModular::add(x.mutable_data_ptr<float>(), 3);
  vendorModular::prepare(3);
}
void edges_of_builds(float* x) { EDGE_NAMESPACE::fused(x); plain_fused(x); }
void plain_fused(float* x) {}
} // namespace at::native
""",
    f"{NATIVE}/cuda/fused.cu": """
namespace EDGE_NAMESPACE { void fused(float* x) {} }
""",
    f"{NATIVE}/hip/edges_fused.h": """
namespace build_fused { inline void fused(float* x) {} }
namespace at::native { inline void plain_fused(float* x) {} }
""",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """The small tree, with some functions more."""
    root = Path(shutil.copytree(TREE, tmp_path_factory.mktemp("edges") / "pytorch"))
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    opened = Index.open(Source.find(str(root)), tmp_path_factory.mktemp("edges-cache"))
    with contextlib.closing(opened):
        yield opened


def edges(index: Index, name: str) -> list[Edge]:
    (known,) = index.facts.named(name)
    return list(index.facts.edges(known.id))


def said(index: Index, name: str) -> list[tuple[str, str, str]]:
    """Kind, name and target (its line, for a definition) of each edge of a function."""
    found: list[tuple[str, str, str]] = []
    for edge in edges(index, name):
        known = index.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        place = known and f"{known.definition.name}:{known.definition.location.line}"
        found.append((edge.kind, edge.symbol, place or str(edge.target)))
    return found


def test_names_are_looked_up_in_scopes_and_overloads_chosen_by_arguments(index: Index) -> None:
    assert said(index, "edges_of_names") == [
        ("call", "detail::helper", "helper:4"),
        ("call", "other", "other:6"),
        ("call", "other", "other:5"),
        ("call", "run_graph", "run_graph:25"),
        ("call", "Runner", "Runner:8"),
        ("call", "run", "run:9"),
    ]


def test_functions_of_which_a_build_has_one_are_told_by_rule(index: Index) -> None:
    """Their conditions exclude each other; those that may both hold leave it open."""
    found = edges(index, "edges_of_twins")
    assert [(e.symbol, e.confidence, e.candidates) for e in found] == [
        *[("twin", "by rule", 2)] * 2,
        *[("no_twin", "ambiguous", 2)] * 2,
    ]


def test_operators_are_told_by_their_arguments(index: Index) -> None:
    assert [one for one in said(index, "edges_of_operators") if one[0] != "macro"] == [
        ("operator", "mul", "mul.Tensor"),
        ("accessor", "is_floating_point", "is_floating_point"),
        ("operator", "at::native_dropout", "native_dropout"),
        ("operator", "mul", "mul.Tensor"),
    ]


def test_signs_between_tensors_are_calls(index: Index) -> None:
    found = edges(index, "edges_of_signs")
    called = [index.facts.by_id(e.target) for e in found if isinstance(e.target, int)]
    signs = [(one.definition.name, one.definition.parameters) for one in called if one]
    assert ("operator*", "const Tensor& x, const Scalar& y") in signs
    assert ("operator-", "const Tensor& x, const Tensor& y") in signs


def test_a_namespace_has_another_name_in_a_body(index: Index) -> None:
    assert said(index, "edges_of_local_aliases") == [
        ("call", "local::run_graph", "run_graph:25"),
        ("library", "local::runMPSGraph", "MPSGraph"),
    ]


def test_an_optional_that_is_compared_with_nothing_is_no_tensor(index: Index) -> None:
    assert said(index, "edges_of_optionals") == []


def test_signs_behind_calls_that_return_tensors(index: Index) -> None:
    signs = [e for e in edges(index, "edges_of_signs_behind_calls") if "operator" in e.symbol]
    (times,) = (index.facts.by_id(e.target) for e in signs if isinstance(e.target, int))
    assert times
    assert times.definition.name == "operator*"
    assert times.definition.parameters == "const Tensor& x, const Tensor& y"


def test_signs_behind_numbers_are_calls(index: Index) -> None:
    found = edges(index, "edges_of_numbers")
    called = [index.facts.by_id(e.target) for e in found if isinstance(e.target, int)]
    signs = [(one.definition.name, one.definition.parameters) for one in called if one]
    taking = "const Scalar& x, const Tensor& y"
    assert signs == [("operator-", taking), ("operator*", taking)]


def test_which_operators_signs_call(index: Index) -> None:
    assert index.facts.called_by_signs == {"mul", "sub", "add_"}


def test_outputs_stand_first_or_last(index: Index) -> None:
    targets = [edge.target for edge in edges(index, "edges_of_outputs")]
    assert targets == ["add.out", "add.out"]


def test_objects_and_macros_are_followed_and_strings_are_not(index: Index) -> None:
    found = said(index, "edges_of_objects")
    assert ("functor", "Twice", "operator():13") in found
    assert ("functor", "SmallSort", "sort:6") in found
    assert ("call", "detail::helper", "helper:4") in found
    lines = FILES[f"{NATIVE}/Edges.cpp"].split("\n")
    checked = next(n for n, line in enumerate(lines, 1) if "TORCH_CHECK" in line)
    assert not [
        e for e in edges(index, "edges_of_objects") if e.line == checked and e.kind == "call"
    ]


def test_a_template_runs_what_it_calls_on_the_type_it_is_given(index: Index) -> None:
    found = [one for one in said(index, "edges_of_given_types") if one[0] == "functor"]
    assert [(symbol, target.partition(":")[0]) for _, symbol, target in found] == [
        ("each_of", "map")
    ]


def test_a_class_of_the_tree_in_a_librarys_namespace_is_no_librarys(index: Index) -> None:
    assert said(index, "edges_into_a_library") == [
        ("functor", "cutlass::epilogue::Rescale", "operator():123"),
        ("library", "cutlass::epilogue::Linear", "CUTLASS"),
    ]


def test_a_string_names_the_kernels_that_begin_with_it(index: Index) -> None:
    shaders = [one for one in said(index, "edges_of_named_kernels") if one[0] == "shader"]
    assert [target.partition(":")[0] for _, _, target in shaders] == ["operator()", "each_of"]
    assert ("shader", "pivots", "pivots:6") in said(index, "edges_of_whole_names")


@pytest.mark.parametrize("name", ["scan_float", "turned_float", "wave_dense_float", "pivots"])
def test_the_name_of_a_metal_kernel_leads_to_it(index: Index, name: str) -> None:
    """By the name that its library gives it, or by that of its function."""
    answer = index.kernel_name(name)
    assert answer.source is not None
    assert answer.source.name == name
    assert (answer.confidence, answer.rule) == ("exact", "the Metal kernel of that name")


def test_a_string_is_put_into_another(index: Index) -> None:
    (edge,) = (one for one in edges(index, "edges_of_names_put_in") if one.kind == "shader")
    assert edge.confidence == "by rule"
    assert said(index, "edges_of_names_put_in")[-1][-1].startswith("cubic:")
    asked = [one for one in edges(index, "run_named") if one.kind == "shader"]
    assert [(one.confidence, one.candidates) for one in asked] == [("ambiguous", 3)] * 3
    (longer,) = (one for one in said(index, "edges_of_longer_names_put_in") if one[0] == "shader")
    assert longer[2].startswith("cubic_wide:")
    back = said(index, "edges_of_the_same_name_put_elsewhere")
    assert back[-1][-1].startswith("cubic_back:")


def test_a_name_is_handed_to_a_file_with_a_shader_library(index: Index) -> None:
    """From a file of graphs, whose own names, as ``"bump"``, ask for no kernel."""
    found = [one for one in edges(index, "edges_of_handed_names") if one.kind == "shader"]
    assert [(one.symbol, one.confidence) for one in found] == [
        ("rise", "by rule"),
        ("fall", "by rule"),
    ]
    shown = [one for one in said(index, "edges_of_handed_names") if one[0] == "shader"]
    assert [one[2].partition(":")[0] for one in shown] == ["rise", "fall"]


def test_a_name_is_handed_on_by_a_function_beside(index: Index) -> None:
    found = [one for one in edges(index, "edges_of_names_handed_on") if one.kind == "shader"]
    assert [(one.symbol, one.confidence) for one in found] == [("leap", "by rule")]
    for caller in ("edges_of_keys_of_graphs", "edges_of_words_kept_beside"):
        assert "shader" not in [one.kind for one in edges(index, caller)]


def test_a_kernel_whose_name_tells_its_padding_is_the_only_one(index: Index) -> None:
    found = [one for one in edges(index, "edges_of_padded_names") if one.kind == "shader"]
    assert {one.confidence for one in found} == {"by rule"}
    places = [place for kind, _, place in said(index, "edges_of_padded_names") if kind == "shader"]
    assert {place.partition(":")[0] for place in places} == {"stretch", "pad"}


def test_no_tensor_is_made_of_an_iterator(index: Index) -> None:
    """``sort(x.begin(), x.end(), less)`` is the algorithm of std, by argument-dependent lookup."""
    assert [one.symbol for one in edges(index, "edges_of_iterators")] == ["between", "counted"]


def test_a_kernel_may_have_its_words_in_the_other_order(index: Index) -> None:
    (found,) = (one for one in said(index, "edges_of_void_kernels") if one[0] == "shader")
    assert found[2].startswith("turned:")


@pytest.mark.parametrize(
    ("caller", "run"),
    [
        ("edges_of_macro_wave", ["operator()", "each_one"]),  # a string that a macro makes
        ("edges_of_attributes", ["total", "identity", "combine"]),  # not what it is compared with
        ("edges_of_included_kernels", ["merge"]),
        ("edges_of_limits", ["limited"]),
        ("edges_of_empty_names", ["scan"]),
    ],
)
def test_kernels_by_attribute_of_macros_and_of_headers(
    index: Index, caller: str, run: list[str]
) -> None:
    found = [target for kind, _, target in said(index, caller) if kind == "shader"]
    assert [target.partition(":")[0] for target in found] == run


@pytest.mark.parametrize(
    ("caller", "run"),
    [
        ("edges_of_braces", [("functor", "EdgeSum", "operator()")]),
        ("edges_of_aliases", [("library", "cutlass::gemm::device::Adapter", "CUTLASS")]),
        ("edges_of_runs", [("library", "cutlass::gemm::device::Adapter", "CUTLASS")]),
        ("edges_of_included", [("library", "vendor_gemm::grouped", "vendor_gemm")]),
        ("edges_of_not_included", []),
    ],
)
def test_calls_of_vendors_and_of_objects(
    index: Index, caller: str, run: list[tuple[str, str, str]]
) -> None:
    found = [(kind, symbol, to.partition(":")[0]) for kind, symbol, to in said(index, caller)]
    assert found == run


def test_what_a_vendors_function_returns_is_no_tensor(index: Index) -> None:
    found = said(index, "edges_of_vendors_results")
    assert ("library", "execute", "oneDNN") in found


def test_a_message_to_a_blit_encoder_runs_on_the_device(index: Index) -> None:
    assert said(index, "edges_of_blits") == [("library", "copyFromBuffer", "Metal")]


@pytest.mark.parametrize("caller", ["an_object_alone", "an_object_and_no_tensor"])
def test_an_object_is_called_where_nothing_else_is(index: Index, caller: str) -> None:
    ((kind, symbol, target),) = said(index, f"edges_of_{caller}")
    assert (kind, symbol, target.partition(":")[0]) == ("functor", "EdgeCell", "operator()")


def test_each_name_of_a_declaration_is_declared(index: Index) -> None:
    assert said(index, "edges_of_a_name_among_several") == []


def test_an_element_is_a_tensor_where_what_it_is_of_holds_tensors(index: Index) -> None:
    assert "operator!=" not in [symbol for _, symbol, _ in said(index, "edges_of_names_of_parts")]
    (relu,) = (one for one in edges(index, "edges_of_elements") if one.symbol == "relu")
    assert (relu.kind, relu.confidence) == ("operator", "exact")


def test_a_switch_picks_by_what_a_call_returns(index: Index) -> None:
    found = said(index, "edges_of_choosers")
    assert [(kind, symbol) for kind, symbol, _ in found] == [
        ("call", "edge_size"),
        ("chooser", "edge_pick"),
        ("chooser", "edge_pick"),
    ]
    assert "chooser" not in [kind for kind, _, _ in said(index, "edges_of_a_switch_in_a_macro")]


def test_a_shader_stands_in_a_string(index: Index) -> None:
    shaders = [one for one in said(index, "edges_into_a_string") if one[0] == "shader"]
    assert shaders == [("shader", "inside_a_string", "inside_a_string:3")]


def test_what_a_message_is_given_is_called(index: Index) -> None:
    called = [one[1] for one in said(index, "edges_of_messages") if one[0] == "call"]
    assert called == ["shape_of", "at::native::shape_of"]


def test_an_object_that_is_called_runs_the_method_of_its_class(index: Index) -> None:
    assert said(index, "edges_of_called_objects") == [("call", "operator()", "operator():13")]


def test_a_method_of_an_unknown_object_is_said_to_be_unknown(index: Index) -> None:
    (edge,) = edges(index, "edges_of_the_unknown")
    assert (edge.kind, edge.symbol) == ("unknown", "sub")
    assert "a tensor or on an object of a class" in str(edge.target)


def test_a_method_that_classes_of_one_family_define_is_one_of_theirs(index: Index) -> None:
    found = [edge for edge in edges(index, "edges_of_overriders") if edge.symbol == "quant"]
    assert [(edge.kind, edge.confidence) for edge in found] == [("call", "ambiguous")] * 2


def test_what_a_function_returns_tells_whose_method_is_called(index: Index) -> None:
    """A virtual method may be that of any class that derives; another one is the class's own."""
    found: dict[str, list[tuple[str, str]]] = {}
    for edge in edges(index, "edges_of_results"):
        known = index.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        target = known.definition.scope.rpartition("::")[2] if known else str(edge.target)
        found.setdefault(edge.symbol, []).append((target, edge.confidence))
    assert found["serve"] == [
        ("Backing", "ambiguous"),
        ("NearBacking", "ambiguous"),
        ("FarBacking", "ambiguous"),
    ]
    assert found["plain"] == [("Backing", "by rule")]
    assert found["sub"] == [("sub.Tensor", "exact")]


def test_an_object_of_a_templates_own_type_is_of_a_class_in_its_file(index: Index) -> None:
    found = edges(index, "edges_of_cells")
    owners = [index.facts.by_id(int(edge.target)) for edge in found]
    assert [one and one.definition.scope.rpartition("::")[2] for one in owners] == [
        "Weights",
        "Wrapped",
    ]
    assert {(edge.kind, edge.confidence) for edge in found} == {("call", "ambiguous")}


def test_a_class_of_a_nearer_scope_hides_another(index: Index) -> None:
    found = edges(index, "edges_of_the_nearest_class")
    owners = [index.facts.by_id(int(edge.target)) for edge in found]
    assert [one and one.definition.scope.rpartition("::")[2] for one in owners] == ["HeldElsewhere"]


def test_a_vectors_method_is_no_class_of_that_name(index: Index) -> None:
    assert said(index, "edges_of_vectors") == []


def test_what_is_brought_into_the_global_scope_is_one_of_several(index: Index) -> None:
    (edge,) = edges(index, "edges_of_the_global_scope")
    assert (edge.symbol, edge.confidence, edge.candidates) == ("::sqrt", "ambiguous", 2)


def test_a_vendors_object_executes(index: Index) -> None:
    assert ("library", "execute", "cuDNN") in said(index, "edges_of_front_ends")
    assert ("library", "execute", "cuDNN") in said(index, "edges_of_typed_front_ends")
    assert ("library", "execute", "oneDNN") in said(index, "edges_of_held_results")
    assert said(index, "edges_of_plain_results") == []


def test_a_template_that_only_a_missing_header_can_declare(index: Index) -> None:
    assert said(index, "edges_of_a_submodule") == [
        ("library", "run_attention_", "fast_attention.h")
    ]


def test_a_library_whose_header_is_in_no_folder(index: Index) -> None:
    libraries = [one for one in said(index, "edges_of_data") if one[0] == "library"]
    assert libraries == [("library", "vendorModular::add", "vendorModular")]


def test_a_namespace_that_the_build_names_is_of_any_build(index: Index) -> None:
    fused = [edge for edge in edges(index, "edges_of_builds") if "fused" in edge.symbol]
    assert [(edge.symbol, edge.confidence, edge.candidates) for edge in fused] == [
        ("EDGE_NAMESPACE::fused", "ambiguous", 2),
        ("EDGE_NAMESPACE::fused", "ambiguous", 2),
        ("plain_fused", "exact", 1),
    ]


def test_a_shader_calls_no_operator_and_nothing_of_another_file(index: Index) -> None:
    assert said(index, "edge_shader") == []
    assert said(index, "edges_of_shaders") == [("call", "edge_shader", "edge_shader:2")]
    assert said(index, "edges_of_other_shaders") == []


def test_what_an_unknown_objects_method_returns_is_no_tensor(index: Index) -> None:
    assert not [edge for edge in edges(index, "edges_of_chains") if edge.confidence == "exact"]


def test_a_list_in_braces_goes_to_the_method_that_takes_one(index: Index) -> None:
    (listed,) = edges(index, "edges_of_lists")
    assert listed.kind == "call"
    (method,) = [k for k in index.facts.named("index") if k.id == listed.target]
    assert method.definition.scope == "at::Tensor"
    (other,) = edges(index, "edges_without_lists")
    assert (other.kind, other.target) == ("operator", "index.Tensor")


def test_all_that_a_call_can_mean_is_kept(index: Index) -> None:
    found = [edge for edge in edges(index, "edges_of_many") if edge.symbol == "many"]
    assert [edge.candidates for edge in found] == [30] * 30


@pytest.mark.parametrize("name", ["edges_of_launches", "edges_of_macros", "edges_of_pointers"])
def test_a_launch_leads_to_its_global_function(index: Index, name: str) -> None:
    launched = [edge for edge in edges(index, name) if edge.kind == "launch"]
    assert launched
    (kernel,) = index.facts.named("edge_kernel")
    assert {edge.target for edge in launched} == {kernel.id}
    by_rule = name == "edges_of_pointers"
    assert {edge.confidence for edge in launched} == {"by rule" if by_rule else "exact"}


def test_an_object_that_is_made_runs_its_constructor(index: Index) -> None:
    (made,) = edges(index, "edges_of_constructors")
    assert isinstance(made.target, int)
    (launch,) = index.facts.edges(made.target)
    (kernel,) = index.facts.named("edge_kernel")
    assert (made.kind, launch.kind, launch.target) == ("call", "launch", kernel.id)


def test_an_edge_knows_its_branch(index: Index) -> None:
    (inside,) = [e for e in edges(index, "edges_of_operators") if e.symbol == "at::native_dropout"]
    branches = index.facts.branches(inside.caller)
    assert branches[inside.branch - 1].text == "if (self.is_floating_point())"


@pytest.mark.parametrize(
    ("template", "run"), [("at::Half", [2]), ("scalar_t", [1, 2]), ("double", [1, 2])]
)
def test_methods_of_a_class_that_is_written_anew_for_a_type(template: str, run: list[int]) -> None:
    place = Location("Atomic.cuh", 1)
    general = Known(1, Definition("operator()", "Op", "function", place, "T *address, T value"))
    half = Known(2, Definition("operator()", "Op", "function", place, "at::Half *address"))
    call = Call("Op", "", 1, "call", template)
    assert [one.id for one in of_specialization(call, [[general], [half]])] == run
