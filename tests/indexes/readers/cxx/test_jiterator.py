"""Names of kernels that ATen compiles at run time."""

from __future__ import annotations

from indexes.readers.cxx.shaders import jiterator_names

SOURCE = b"""\
#include <ATen/native/cuda/JitLoops.cuh>

namespace at::native {
// constexpr char dead_name[] = "dead";
constexpr char asin_name[] = "asin_impl";
CONSTEXPR_EXCEPT_WIN_CUDA char i0_name[] = "i0";
const char text[] = "two words";
void asin_kernel_cuda(TensorIteratorBase& iter) {
            const char inner_name[] = "inner";
  static const auto source = jiterator_stringify(template <typename T> T asin_impl(T a) {});
}
}
"""


def test_each_name_with_its_constant_and_line() -> None:
    found = jiterator_names(SOURCE, "UnaryAsin.cu")
    assert [(d.name, d.parameters, d.location.line) for d in found] == [
        ("asin_impl", "asin_name", 5),
        ("i0", "i0_name", 6),
        ("inner", "inner_name", 9),
    ]
    assert {d.kind for d in found} == {"global"}


def test_files_without_it_and_noise() -> None:
    assert jiterator_names(b'constexpr char a_name[] = "a";', "a.cu") == ()
    assert jiterator_names(b'\xff\x00jitted_ char \xfe[] = "', "b.cu") == ()


def test_each_name_reaches_to_the_first_use_of_its_constant() -> None:
    text = b"""#include <jitted_loops.h>
constexpr char one_name[] = "one";
void one_cuda(TensorIteratorBase& iter) {
  jitted_gpu_kernel<one_name, float>(iter, one_string);
  jitted_gpu_kernel<one_name, double>(iter, one_string);
}
constexpr char idle_name[] = "idle";
"""
    found = jiterator_names(text, "one.cu")
    assert [(d.name, d.location.line, d.location.end_line) for d in found] == [
        ("one", 2, 4),
        ("idle", 7, 7),
    ]
