"""Names of device kernels beside functions of the host that are called alike."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from indexes.linking.device_names.demangle import without_figures
from indexes.model.answers import Hit, NameMatch
from indexes.model.vocabulary import Location
from indexes.queries.index import Index
from indexes.queries.naming.cxx import with_source
from indexes.queries.naming.spelling import parse_name
from tests.growth import least_seconds, takes_less
from tests.indexing import opened
from tests.tree_marks import NATIVE

NAME = "cunn_SpatialSoftMaxForward"
HOST = Hit("function", f"at::native::{NAME}", Location("aten/src/ATen/native/SoftMax.cpp", 1), "")


def matched(index: Index, text: str) -> tuple[Hit, ...]:
    (kernel, *_) = index.resolve(NAME).hits
    found = NameMatch("symbol", text, hits=(HOST, kernel))
    return with_source(found, parse_name(text), index).hits


def test_the_kernel_comes_first_with_its_operators(tree_index: Index) -> None:
    kernel, *others = matched(tree_index, NAME)
    assert kernel.kind == "__global__"
    assert [one.kind for one in others] == ["operator", "operator", "function"]


def test_a_spelling_of_a_kernel_leads_to_no_function_of_the_host(tree_index: Index) -> None:
    text = f"void at::native::(anonymous namespace)::{NAME}<float, float>(float*, float const*)"
    kernel, *others = matched(tree_index, text)
    assert kernel.name.endswith(NAME)
    assert {one.kind for one in others} == {"operator"}


def test_a_mangled_name_means_what_it_says(tree_index: Index) -> None:
    mangled = "_ZN2at6native12_GLOBAL__N_126cunn_SpatialSoftMaxForwardIfEEvPf"
    kernel, *_ = tree_index.resolve(mangled).hits
    assert kernel == tree_index.resolve(NAME).hits[0]
    assert tree_index.resolve("_ZN2at4_ops2mm4callERKNS_6TensorES4_").overloads[0] == "mm"


def test_what_the_runtime_does_is_no_kernel(tree_index: Index) -> None:
    found = tree_index.resolve("Memcpy DtoD (Device -> Device)")
    assert (found.kind, found.hits) == ("symbol", ())
    assert found.note.endswith("memcpy by the runtime, no kernel")


def test_a_function_of_a_vendor_that_nothing_calls(tree_index: Index) -> None:
    assert "CUDA's runtime" in tree_index.resolve("cudaLaunchKernel").note
    assert "a function of MKL" in tree_index.resolve("vmlClearErrStatus").note
    assert "cuBLAS" in tree_index.resolve("cublasDasum").note
    assert tree_index.resolve("cudagraph").kind == "none"


def test_a_reduction_has_the_operators_that_run_its_methods(
    tree_copy: Path, tmp_path: Path
) -> None:
    """Those that it inherits too; it has no call operator."""
    (tree_copy / NATIVE / "Sums.h").write_text(
        "namespace at::native {\n"
        "template <typename T> struct SumBase { T reduce(T a, T b) const { return a + b; } };\n"
        "template <typename T> struct SumOps : public SumBase<T> {};\n"
        "template <typename T> struct OwnOps { T reduce(T a, T b) const { return a + b; } };\n}\n"
    )
    (tree_copy / NATIVE / "cuda/Folded.cuh").write_text(
        "namespace at::native {\n"
        "template <typename Ops> __global__ void folded_kernel(Ops ops) { ops.reduce(1, 2); }\n}\n"
    )
    kernel = tree_copy / NATIVE / "cuda/BinaryMulKernel.cu"
    made = "auto common_dtype = iter.common_dtype();"
    both = f"{made} folded(iter, SumOps<float>{{}}); folded(iter, OwnOps<float>{{}});"
    kernel.write_text(kernel.read_text().replace(made, both))
    with opened(tree_copy, tmp_path / "cache") as index:
        for name in ("SumOps", "OwnOps"):
            functor = f"at::native::{name}<float>"
            text = f"void at::native::folded_kernel<{functor} >({functor})"
            source, _, *reaching = index.resolve(text).hits
            assert source.name.endswith(name)
            assert "mul.Tensor" in {hit.op for hit in reaching}


def test_a_functor_has_the_operators_that_run_it(tree_index: Index) -> None:
    functor = "at::native::(anonymous namespace)::CompareEqFunctor<float>"
    (kernel,) = (hit for hit in tree_index.resolve(NAME).hits if hit.kind == "__global__")
    text = f"void at::native::elementwise_kernel<128, 4, {functor} >(int, {functor})"
    found = NameMatch("symbol", text, hits=(kernel,))
    source, _, *reaching = with_source(found, parse_name(text), tree_index).hits
    assert source.name.endswith("CompareEqFunctor")
    assert {"eq.Scalar", "eq.Tensor"} <= {hit.op for hit in reaching}


_LOOPS = """
namespace at::native {
template <typename F> __global__ void looped_kernel(int n, F f) { f(n); }
}
"""
_FUNCTORS = """
namespace at::native {
namespace {
struct ChosenFunctor { int operator()(int n) const { return n; } };
struct OtherFunctor { int operator()(int n) const { return n; } };
struct OtherFunction { int operator()(int n) const { return n; } };
}
}
"""


def test_a_name_that_is_cut_off_has_what_begins_so(tree_copy: Path, cache: Path) -> None:
    (tree_copy / NATIVE / "cuda/Looped.cuh").write_text(_LOOPS)
    (tree_copy / NATIVE / "cuda/Looped.cu").write_text(_FUNCTORS)
    cut = "void at::native::looped_kernel<4, at::native::(anonymous namespace)::"
    with opened(tree_copy, cache) as index:
        one, several = (index.kernel_name(f"{cut}{name}…") for name in ("ChosenFun", "OtherFun"))
        whole = index.kernel_name("at::native::loop...      0.01%  12.5us    4")
    assert one.source
    assert one.source.name == "ChosenFunctor"
    assert (one.confidence, several.confidence) == ("by rule", "ambiguous")
    assert [found.name for found in several.candidates] == ["OtherFunction", "OtherFunctor"]
    assert whole.source
    assert whole.source.name == "looped_kernel"


def test_time_to_read_a_row_grows_with_its_length() -> None:
    for part in ("0.5% ", "1 ", "a  ", " ", "a::", "1us", "=", "…"):
        few, many = (partial(without_figures, part * count) for count in (4000, 8000))
        assert takes_less(many, 3.5 * least_seconds(few) + 0.01), part
