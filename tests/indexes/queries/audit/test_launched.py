"""``__global__`` functions: found in texts, led back to operators, or told why not."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.audit.launched import global_functions, led_back
from indexes.queries.index import Index
from tests.indexing import opened, write

CUDA = """
// __global__ void in_a_comment() {}
const auto text = R"(__global__ void in_a_string() {})";
__global__ void plain(int n) {}
template <typename T>
__global__ void __launch_bounds__(32 * (2), 20)
    bounded(T* out) {
}
__global__ void
#if !defined(USE_ROCM)
C10_LAUNCH_BOUNDS_1(at::cuda::detail::CUDA_NUM_THREADS)
#endif
guarded(const int* in) { run(in); }
__global__ void declared(int n);
static __global__ void spaced
  (int n)
{
}
#define MADE(NAME) \\
  __global__ void NAME##_kernel() {}
"""


def test_global_functions_of_a_text() -> None:
    lines = CUDA.split("\n")
    found = [(name, lines[line - 1].strip()) for name, line in global_functions(CUDA)]
    assert found == [
        ("plain", "__global__ void plain(int n) {}"),
        ("bounded", "bounded(T* out) {"),
        ("guarded", "guarded(const int* in) { run(in); }"),
        ("spaced", "static __global__ void spaced"),
    ]


def test_launched_functions_lead_back(tree_index: Index) -> None:
    found = led_back(tree_index)
    assert found.operators > 10
    assert found.generated == 0
    told = found.silent + found.reasons
    assert any("cunn_SoftMaxUnused" in one for one in told)


def test_why_a_launched_function_does_not_lead_back_is_said(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "aten/src/ATen/cuda").mkdir(exist_ok=True)
    (tree_copy / "aten/src/ATen/cuda/Sleep.cu").write_text(
        "namespace at::cuda {\n"
        "__global__ void spin_kernel(int64_t n) {}\n"
        "__global__ void unused_kernel(int64_t n) {}\n"
        "void doze(int64_t n) { spin_kernel<<<1, 1>>>(n); }\n"
        'void never_run() { note("never_run"); unused_kernel<<<1, 1>>>(n); }\n}\n'
    )
    module = "PyObject* THCPModule_doze(PyObject* n) {\n  at::cuda::doze(1);\n}\n"
    write(tree_copy, {"torch/csrc/cuda/Module.cpp": module})
    test = "TEST(Event, Waits) {\n  at::cuda::doze(1);\n}\n"
    write(tree_copy, {"aten/src/ATen/test/cuda_event_test.cpp": test})
    with opened(tree_copy, cache) as index:
        told = [one.partition(": ")[2] for one in led_back(index).reasons if "Sleep.cu" in one]
    assert told == [
        "spin_kernel: only TEST, THCPModule_doze calls doze",
        "unused_kernel: nothing calls never_run",
    ]
