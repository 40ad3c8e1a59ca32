"""Which ``__global__`` function a template launches for its caller, and what is one route, not
two."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes import Index
from indexes.linking.usual_conditions import is_of_other_builds
from tests.indexing import append, grown, opened, usual
from tests.tree_marks import NATIVE

YAML = """
- func: lifted(Tensor self) -> Tensor
  dispatch:
    CPU: lifted_cpu
    CUDA: lifted_cuda
    MPS: lifted_mps

- func: is_lifted(Tensor self) -> Tensor
  dispatch:
    CUDA: is_lifted_cuda

- func: is_lifted_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CUDA: is_lifted_cuda

- func: doubled_lift_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CUDA: doubled_lift_cuda

- func: is_raised(Tensor self) -> Tensor
  dispatch:
    CUDA: is_raised_cuda

- func: is_raised_(Tensor(a!) self) -> Tensor(a!)
  dispatch:
    CUDA: is_raised_cuda

- func: pressed(Tensor self) -> Tensor
  dispatch:
    CUDA: pressed_cuda

- func: pressed_flat(Tensor self) -> Tensor
  dispatch:
    MPS: pressed_flat_mps

- func: carried(Tensor self, bool non_blocking=False) -> Tensor
  dispatch:
    CPU: carried_cpu
    CUDA: carried_cuda
    MPS: carried_mps

- func: carried_apart(Tensor self) -> Tensor

- func: clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor
  dispatch:
    CUDA: clone_cuda

- func: lifted_each(Tensor self) -> Tensor
  dispatch:
    CPU: lifted_each_cpu

- func: shown(Tensor(a) self, int dim, int index) -> Tensor(a)

- func: shown_copy(Tensor self, int dim, int index) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: shown_copy
  tags: view_copy

- func: raised(Tensor(a) self, int dim) -> Tensor(a)

- func: raised_copy(Tensor self, int dim) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: raised_copy
  tags: view_copy

- func: turned_side_copy(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: turned_side_copy
  tags: view_copy

- func: leading(Tensor(a) self, int n, int dim=0) -> Tensor(a)

- func: leading_copy(Tensor self, int n, int dim=0) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: leading_copy
  tags: view_copy

- func: swung(Tensor(a) self, int n) -> Tensor(a)
  dispatch:
    CompositeImplicitAutograd: swung

- func: swung_copy(Tensor self, int n) -> Tensor
  dispatch:
    CompositeExplicitAutogradNonFunctional: swung_copy
  tags: view_copy

- func: carry_into_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)
  variants: method
  dispatch:
    MPS: carry_into_mps

- func: carried_within(Tensor self, bool non_blocking=False) -> Tensor
  dispatch:
    MPS: carried_within_mps

- func: carried_beyond(Tensor self, bool non_blocking=False) -> Tensor
  dispatch:
    MPS: carried_beyond_mps

- func: carried_to_float(Tensor self) -> Tensor

- func: turned_side(Tensor(a) self) -> Tensor(a)

- func: carried.dtype(Tensor self, ScalarType dtype, bool non_blocking=False) -> Tensor
  dispatch:
    CPU: carried_to_cpu
    CUDA: carried_to_cuda
    MPS: carried_to_mps
"""
LOOPS = """
namespace at::native {
template <typename func_t>
__global__ void packed_lift_kernel(int n, func_t f) { f(n); }
template <typename func_t>
__global__ void scattered_lift_kernel(int n, func_t f) { f(n); }
template <typename func_t>
__global__ void converted_lift_kernel(int n, func_t f) { f(n); }
#ifdef USE_ROCM
template <typename func_t>
__global__ void rolled_lift_kernel(int n, func_t f) { f(n); }
template <typename func_t>
void launch_by_hand(int n, const func_t& f) { rolled_lift_kernel<func_t><<<1, 1>>>(n, f); }
#endif
template <typename func_t>
void launch_packed(int n, const func_t& f) { packed_lift_kernel<func_t><<<1, 1>>>(n, f); }
template <typename func_t>
void launch_scattered(int n, const func_t& f) { scattered_lift_kernel<func_t><<<1, 1>>>(n, f); }
template <typename func_t>
void launch_converted(int n, const func_t& f) { converted_lift_kernel<func_t><<<1, 1>>>(n, f); }
template <typename func_t>
void lift_same_types(TensorIteratorBase& iter, const func_t& f) {
  launch_by_hand(iter.numel(), f);
  bool contiguous = iter.is_contiguous();
  if (!contiguous) {
    return launch_scattered(iter.numel(), f);
  }
  launch_packed(iter.numel(), f);
}
template <typename func_t>
void lift_elements(TensorIteratorBase& iter, const func_t& f) {
  bool dynamic_casting = needs_dynamic_casting<func_t>::check(iter);
  if (!dynamic_casting) {
    return lift_same_types(iter, f);
  }
  launch_converted(iter.numel(), f);
}
template <char const* name>
void press_jitted(TensorIteratorBase& iter, const std::string& f) {
  launch_pressed_string(f, name);
}
}
"""
CUDA = """
#include <ATen/native/cuda/Lift.cuh>
namespace at::native {
void launch_pressed_string(const std::string& f, const std::string& name) {
  AT_CUDA_DRIVER_CHECK(nvrtc.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, args, nullptr));
}
Tensor lifted_cuda(const Tensor& self) {
  lift_elements(iter, [] GPU_LAMBDA(float a) { return a; });
  return self;
}
struct IsLifted {
  __device__ bool operator()(float a) const { return a > 0; }
};
Tensor is_lifted_cuda(const Tensor& self) {
  IsLifted f;
  lift_elements(iter, f);
  return self;
}
template <typename T>
struct Doubled {
  __device__ T operator()(T a) const { return a + a; }
};
template <>
struct Doubled<bool> {
  __device__ bool operator()(bool a) const { return a; }
};
Tensor doubled_lift_cuda(const Tensor& self) {
  Doubled<float> f;
  lift_elements(iter, f);
  return self;
}
Tensor is_raised_cuda(const Tensor& self) {
  lift_elements<float, bool>(iter, [] GPU_LAMBDA(float a) { return a > 0; });
  return self;
}
static void carry_each(TensorIterator& iter) {
  lift_elements(iter, [] GPU_LAMBDA(float a) { return a; });
}
static void carry_on_device(TensorIterator& iter, const Tensor& src, const Tensor& dst) {
  bool same_conj = src.is_conj() == dst.is_conj();
  bool memcpy_eligible = iter.dtype(0) == iter.dtype(1) && same_conj && iter.is_contiguous();
  if (memcpy_eligible) {
    AT_CUDA_CHECK(CUDACachingAllocator::memcpyAsync(dst.data_ptr(), src.data_ptr(), size, stream));
  } else {
    carry_each(iter);
  }
}
Tensor carried_cuda(const Tensor& self, bool non_blocking) {
  carry_on_device(iter, self, result);
  return result;
}
Tensor clone_cuda(const Tensor& self, std::optional<MemoryFormat> memory_format) {
  carry_on_device(iter, self, result);
  return result;
}
Tensor carried_to_cuda(const Tensor& self, ScalarType dtype, bool non_blocking) {
  carry_on_device(iter, self, result);
  return result;
}
const char pressed_name[] = "pressed";
Tensor pressed_cuda(const Tensor& self) {
  press_jitted<pressed_name>(iter, "template <typename T> T pressed(T a) { return a; }");
  return self;
}
}
"""
DERIVATIVES = """
- name: shown(Tensor(a) self, int dim, int index) -> Tensor(a)
  self: shown_backward(grad, self.sym_sizes(), dim, index)

- name: raised(Tensor(a) self, int dim) -> Tensor(a)
  self: grad.lowered(dim)

- name: leading(Tensor(a) self, int n, int dim=0) -> Tensor(a)
  self: leading_backward(grad, self.sym_sizes(), n, dim)

- name: turned_side(Tensor(a) self) -> Tensor(a)
  self: grad.turned_side()
"""
CPU = """
namespace at::native {
static void lift_single(float* to, const float* from, int64_t n) {
  at::parallel_for(0, n, 0, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) to[i] = from[i] * 2;
  });
}
Tensor lifted_each_cpu(const Tensor& self) {
  auto result = at::empty_like(self);
  float* to = result.data_ptr<float>();
  const float* from = self.const_data_ptr<float>();
  at::parallel_for(0, self.size(0), 0, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) lift_single(to + i, from + i, 4);
  });
  return result;
}
Tensor carried_apart(const Tensor& self) { return at::carried(self.turned_side()); }
Tensor swung(const Tensor& self, int64_t n) { return at::turned_side(self); }
Tensor carried_to_float(const Tensor& self) { return at::carried(self, at::kFloat); }
static void carry_plain(TensorIterator& iter) { cpu_kernel_vec(iter, [](float a) { return a; }); }
static void carry_cast(TensorIterator& iter) { cpu_kernel(iter, [](float a) { return int(a); }); }
static void carry(TensorIterator& iter) {
  if (iter.dtype(0) == iter.dtype(1)) {
    carry_plain(iter);
  } else {
    carry_cast(iter);
  }
}
Tensor carried_cpu(const Tensor& self, bool non_blocking) {
  carry(iter);
  return self;
}
Tensor carried_to_cpu(const Tensor& self, ScalarType dtype, bool non_blocking) {
  carry(iter);
  return self;
}
template <typename scalar_t>
void lift_batches(const Tensor& self) {
  for (int64_t i = 0; i < batch; i++) {
    sgemm_(&transa, data + i, rows);
  }
}
Tensor lifted_cpu(const Tensor& self) {
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "lifted", [&] { lift_batches<scalar_t>(self); });
  return self;
}
}
"""
METAL = """
#include <c10/metal/lift.h>
struct lifted_functor {
  template <typename T>
  inline T operator()(const T x) { return x; }
};
REGISTER_LIFT_OP(lifted, float);
"""
HEADER = """
template <typename T, typename F>
kernel void lift_strided(
    device T* output [[buffer(0)]], constant T* input [[buffer(1)]],
    constant long* strides [[buffer(2)]], uint index [[thread_position_in_grid]]) {
  F f;
  output[index * strides[0]] = f(input[index * strides[1]]);
}
template <typename T, typename F>
kernel void lift_dense(
    device T* output [[buffer(0)]], constant T* input [[buffer(1)]],
    uint index [[thread_position_in_grid]]) {
  F f;
  output[index] = f(input[index]);
}
#define REGISTER_LIFT_OP(NAME, DTYPE)                                     \\
  template [[host_name(#NAME "_strided_" #DTYPE)]] kernel void lift_strided< \\
      DTYPE, NAME##_functor>(device DTYPE*, constant DTYPE*, constant long*, uint); \\
  template [[host_name(#NAME "_dense_" #DTYPE)]] kernel void lift_dense<  \\
      DTYPE, NAME##_functor>(device DTYPE * output, constant DTYPE * input, uint index)
"""
MPS = """
namespace at::native {
#ifndef PYTORCH_JIT_COMPILE_SHADERS
static auto& lib = mps::MetalShaderLibrary::getBundledLibrary();
#else
#include <ATen/native/mps/Lift_metallib.h>
#endif
static void carry_blit(const Tensor& self) { [blitEncoder copyFromBuffer:source toBuffer:result]; }
static void carry_cast_graph(const Tensor& self) {
  stream->executeMPSGraph(graph, feeds, results, SyncType::COMMIT_ADAPTIVE);
}
void runMPSGraph(MPSStream* stream, MPSGraph* graph, NSDictionary* feeds, NSDictionary* results) {
  stream->executeMPSGraph(graph, feeds, results, SyncType::COMMIT_ADAPTIVE);
}
Tensor pressed_flat_mps(const Tensor& self) {
  runMPSGraph(stream, graph, feeds, results);
  return self;
}
static void carry_mps(const Tensor& self, const Tensor& result) {
  const bool sameDataType = self.dtype() == result.dtype();
  if (sameDataType) {
    carry_blit(self);
  } else {
    carry_cast_graph(self);
  }
}
Tensor carried_mps(const Tensor& self, bool non_blocking) {
  carry_mps(self, result);
  return result;
}
Tensor carried_to_mps(const Tensor& self, ScalarType dtype, bool non_blocking) {
  carry_mps(self, result);
  return result;
}
Tensor lifted_mps(const Tensor& self) {
  lib.exec_unary_kernel(iter, "lifted");
  return self;
}
static Tensor gather_parts(const Tensor& src) {
  stream->executeMPSGraph(graph, feeds, results, SyncType::COMMIT_ADAPTIVE);
  return src;
}
static Tensor& scatter_parts(const Tensor& src, Tensor& dst) {
  stream->executeMPSGraph(graph, feeds, results, SyncType::COMMIT_ADAPTIVE);
  return dst;
}
static Tensor& carry_parts(Tensor& to, const Tensor& from) {
  if (!from.is_contiguous()) {
    Tensor src = gather_parts(from);
    if (src.has_storage()) {
      if (to.is_contiguous()) return to;
    }
  }
  if (!to.is_contiguous()) return scatter_parts(from, to);
  carry_blit(from);
  return to;
}
Tensor& carry_into_mps(Tensor& self, const Tensor& src, bool non_blocking) {
  return carry_parts(self, src);
}
Tensor carried_within_mps(const Tensor& self, bool non_blocking) {
  Tensor result = at::empty_like(self);
  result.carry_into_(self.turned_side());
  return result;
}
Tensor carried_beyond_mps(const Tensor& self, bool non_blocking) {
  Tensor result = at::empty_like(self);
  auto part = result;
  part = part.shown(0, 1);
  part.carry_into_(self);
  return result;
}
}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    files = {
        f"{NATIVE}native_functions.yaml": YAML,
        f"{NATIVE}cuda/Lift.cuh": LOOPS,
        f"{NATIVE}cuda/Lift.cu": CUDA,
        f"{NATIVE}Lift.cpp": CPU,
        f"{NATIVE}mps/kernels/Lift.metal": METAL,
        "c10/metal/lift.h": HEADER,
        f"{NATIVE}mps/operations/Lift.mm": MPS,
        "tools/autograd/derivatives.yaml": DERIVATIVES,
    }
    with grown(tmp_path_factory, files) as index:
        yield index


def test_a_template_usually_launches_for_contiguous_tensors_without_casts(index: Index) -> None:
    assert usual(index, "lifted", "CUDA").note == "packed_lift_kernel"


@pytest.mark.parametrize(
    ("operator", "kernel"),
    [
        ("carried.dtype", "converted_lift_kernel"),
        ("carried_apart", "scattered_lift_kernel"),  # of a view
        ("is_lifted", "packed_lift_kernel"),
        ("is_lifted_", "converted_lift_kernel"),  # a bool into a tensor of another dtype
        ("doubled_lift_", "packed_lift_kernel"),  # a bool of bools alone
        ("is_raised", "packed_lift_kernel"),
        ("is_raised_", "converted_lift_kernel"),
    ],
)
def test_the_launched_kernel_is_for_the_tensors_of_the_route(
    index: Index, operator: str, kernel: str
) -> None:
    assert usual(index, operator, "CUDA").note == kernel


def test_a_string_that_is_compiled_is_one_route_with_its_launcher(index: Index) -> None:
    (route,) = (one for one in index.routes("pressed") if one.device == "CUDA")
    assert (route.symbol, route.note) == ("at::native::pressed_cuda", "launch_pressed_string")


@pytest.mark.parametrize(
    ("path", "guard", "is_other"),
    [
        ("cuda/CUDALoops.cuh", "", False),
        ("cuda/CUDALoops.cuh", "!defined(USE_ROCM)", False),
        ("cuda/ROCmLoops.cuh", "", True),
        ("cuda/CUDALoops.cuh", "USE_ROCM", True),
    ],
)
def test_templates_of_other_builds(path: str, guard: str, is_other: bool) -> None:
    assert is_of_other_builds(guard, f"{NATIVE}{path}", "CUDA") is is_other


def test_the_trees_own_function_of_a_librarys_name_is_no_second_route(index: Index) -> None:
    (route,) = (one for one in index.routes("pressed_flat") if one.device == "MPS")
    assert (route.symbol, route.note) == ("at::native::pressed_flat_mps", "runMPSGraph")


def test_a_loop_around_a_library_is_no_second_route(index: Index) -> None:
    (route,) = (one for one in index.routes("lifted") if one.device == "CPU")
    assert (route.kind, route.note) == ("library", "sgemm_")
    assert "at::native::lift_batches" in {route.symbol, *(one.symbol for one in route.via)}


def test_a_metal_kernel_runs_its_functor(index: Index) -> None:
    found = [one for one in index.routes("lifted") if one.device == "MPS"]
    assert [(one.symbol, one.beside) for one in found] == [
        ("lifted_functor::operator()", False),
        ("lift_dense", True),
        ("lift_strided", False),  # another kernel of the functor, for what is not contiguous
    ]


@pytest.mark.parametrize(
    ("operator", "device", "function"),
    [
        ("carried", "CPU", "carry_plain"),
        ("carried.dtype", "CPU", "carry_cast"),
        ("carried", "MPS", "carry_blit"),
        ("carried.dtype", "MPS", "carry_cast_graph"),
        ("carried_to_float", "CPU", "carry_cast"),
        ("carried", "CUDA", "carry_on_device"),
        ("carried.dtype", "CUDA", "carry_each"),
        ("carried_apart", "CUDA", "carry_each"),  # of a view
    ],
)
def test_an_operator_that_copies_to_a_dtype_casts(
    index: Index, operator: str, device: str, function: str
) -> None:
    assert usual(index, operator, device).symbol == f"at::native::{function}"


@pytest.mark.parametrize(
    ("operator", "function"),
    [
        ("shown_copy", "carry_each"),  # of some elements
        ("raised_copy", "carry_on_device"),  # of all, in their order
        ("turned_side_copy", "carry_each"),  # in another order
        ("leading_copy", "carry_on_device"),  # of the first ones
        ("swung_copy", "carry_each"),  # through what it calls
    ],
)
def test_a_copy_of_a_view_is_the_drivers_if_it_has_all_elements(
    index: Index, operator: str, function: str
) -> None:
    assert usual(index, operator, "CUDA").symbol == f"at::native::{function}"


@pytest.mark.parametrize(
    ("operator", "function"),
    [("carried_within", "gather_parts"), ("carried_beyond", "scatter_parts")],
)
def test_a_copy_knows_which_of_its_tensors_is_a_view(
    index: Index, operator: str, function: str
) -> None:
    assert usual(index, operator, "MPS").symbol == f"at::native::{function}"


def test_a_function_on_the_way_is_no_other_way(index: Index) -> None:
    found = [one.symbol for one in index.routes("lifted_each") if one.device == "CPU"]
    assert found == ["at::native::lift_single"]


def test_a_contiguous_copy_is_the_drivers(index: Index) -> None:
    found = usual(index, "carried", "CUDA")
    assert (found.kind, found.note, found.conditions) == ("library", "memcpyAsync", ())


def test_templates_may_call_each_other_deeply(tree_copy: Path, cache: Path) -> None:
    dig = "template <typename func_t>\nvoid dig_{}(int n, const func_t& f) {{ dig_{}(n, f); }}\n"
    calls = (dig.format(n, n + 1) for n in range(2000))
    last = LOOPS.replace("launch_packed", "dig_2000")
    kernel = CUDA.replace("lift_elements", "dig_0").replace("Lift.cuh", "Dig.cuh")
    files = {
        f"{NATIVE}native_functions.yaml": YAML,
        f"{NATIVE}cuda/Dig.cuh": f"{last}namespace at::native {{\n{''.join(calls)}}}\n",
        f"{NATIVE}cuda/Lift.cu": kernel,
    }
    with opened(append(tree_copy, files), cache) as index:
        assert usual(index, "lifted", "CUDA").note == "packed_lift_kernel"
