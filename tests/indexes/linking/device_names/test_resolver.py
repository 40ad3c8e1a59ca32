"""Device kernel names to the source they come from: namesakes, owners, bare and broken names."""

from __future__ import annotations

import random
import time

import pytest

from indexes.linking.device_names.resolver import Resolver
from indexes.model.vocabulary import Definition, Location
from tests.indexes.linking.device_names.device_name_table import (
    ELEMENTWISE,
    N,
    Table,
    kernel,
    name_of,
    path_of,
    pytorch,
    resolve,
    rows,
)

# ------------------------------------------------------------------------- whole names


def test_apex_s_launcher_is_not_aten_s(resolver: Resolver) -> None:
    answer = resolver.resolve(
        "void multi_tensor_apply_kernel<TensorListMetadata<4>, AdamFunctor<float, float, int> >"
        "(long, int volatile*, TensorListMetadata<4>, AdamFunctor<float, float, int>, float)"
    )
    assert (answer.library, answer.source, answer.launcher) == ("NVIDIA apex", None, None)


def test_a_namesake_in_another_namespace_is_a_candidate_only(resolver: Resolver) -> None:
    answer = resolver.resolve("void mine::reduce_kernel<float>(float*)")
    assert (answer.source, answer.launcher) == (None, None)
    assert "at::native::reduce_kernel is another function" in answer.reason
    assert [name_of(c) for c in answer.candidates] == ["at::native::reduce_kernel"]


def test_a_host_function_of_that_name_is_no_answer(resolver: Resolver) -> None:
    namesakes = {d.location.path for d in pytorch() if d.name == "hardsigmoid_kernel"}
    assert f"{N}cpu/Activation.cpp" in namesakes
    answer = resolver.resolve(
        ELEMENTWISE.format(
            "at::native::(anonymous namespace)::hardsigmoid_kernel(at::TensorIteratorBase&)::"
            "{lambda()#1}::operator()() const::{lambda()#1}::operator()() const::{lambda(double)#1}"
        )
    )
    assert path_of(answer) == f"{N}cuda/ActivationHardsigmoidKernel.cu"
    assert answer.candidates == ()


def test_a_kernel_that_a_macro_marks() -> None:
    hidden = Definition("f", "at", "function", Location("a.cu", 3), template=True)
    host = Definition("f", "at", "function", Location("a.cpp", 3))
    answer = resolve("void at::f<int>(int)", Table([host, hidden]))
    assert (answer.source, answer.confidence) == (hidden, "by rule")
    assert resolve("void at::f<int>(int)", Table([host])).source is None


ANONYMOUS = "void at::native::(anonymous namespace)::twice<float>(float*)"


def twins() -> Table:
    scope = "at::native::(anonymous)"
    return Table([kernel("twice", scope, f"{f}.cu", 5, "T*") for f in ("One", "Two")])


def test_twins_in_two_files_are_ambiguous() -> None:
    answer = resolve(ANONYMOUS, twins())
    assert answer.confidence == "ambiguous"
    assert [c.location.path for c in answer.candidates] == ["One.cu", "Two.cu"]
    assert "2 definitions" in answer.reason


def test_the_tag_in_a_mangled_name_tells_twins_apart() -> None:
    tag = "_GLOBAL__N__21739cd4_6_Two_cu_9c5ada8a"
    name = f"_ZN2at6native{len(tag)}{tag}5twiceIfEEvPT_"
    answer = resolve(name, twins())
    assert path_of(answer) == "Two.cu"
    assert answer.candidates == ()
    assert "Two_cu" in answer.rule


def test_the_number_of_type_parameters_tells_twins_apart(resolver: Resolver) -> None:
    scope = "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel"
    one = resolver.resolve(f"{scope}<float>(long, float, float const*, float*, float*)")
    two = resolver.resolve(f"{scope}<float, float>(long, float, float const*, float*, float*)")
    assert path_of(one) == f"{N}cuda/group_norm_kernel.cu"
    assert path_of(two) == f"{N}cuda/layer_norm_kernel.cu"


def test_parameter_types_tell_overloads_apart() -> None:
    table = Table(
        [
            kernel("fill", "at", "Fill.cu", 3, "int n, T* out"),
            kernel("fill", "at", "Fill.cu", 9, "int n, at::TensorInfo<T> out"),
        ]
    )
    answer = resolve("void at::fill<float>(int, at::TensorInfo<float>)", table)
    assert answer.source is not None
    assert answer.source.location.line == 9


# ------------------------------------------------------------------------- owners


def test_a_lambda_in_a_call_operator_belongs_to_the_class(resolver: Resolver) -> None:
    answer = resolver.resolve(
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::"
        "func_wrapper_t<float, at::native::sum_functor<float, float, float>::operator()"
        "(at::TensorIterator&)::{lambda(float, float)#1}>, unsigned int, float, 4, 4> >"
    )
    assert name_of(answer.source) == "at::native::sum_functor"
    assert name_of(answer.launcher) == "at::native::reduce_kernel"
    assert "owner of the lambda in the launcher's template argument 3" in answer.rule


def test_a_functor_handed_through_wrappers(resolver: Resolver) -> None:
    answer = resolver.resolve(
        "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<at::"
        "native::BinaryFunctor<float, float, float, "
        "at::native::binary_internal::MulFunctor<float> > >"
        "(at::TensorIteratorBase&, at::native::BinaryFunctor<float, float, float, at::native::"
        "binary_internal::MulFunctor<float> > const&)::{lambda(int)#1}>"
    )
    assert name_of(answer.source) == "at::native::binary_internal::MulFunctor"
    assert "gpu_kernel_impl_nocast, BinaryFunctor" in answer.rule


def test_what_a_macro_makes(resolver: Resolver) -> None:
    answer = resolver.resolve(
        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
        "(anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::"
        "UnaryOpFunctor<float, 2, 1, 1>, at::native::Sin<float> >(at::native::(anonymous "
        "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::UnaryOpFunctor"
        "<float, 2, 1, 1>, at::native::Sin<float>)"
    )
    assert path_of(answer) == f"{N}cuda/ForeachUnaryOp.cu"
    assert answer.source is not None
    assert answer.source.macro == "OP"
    assert "made by the macro OP" in answer.rule


def test_data_types_are_not_owners(resolver: Resolver) -> None:
    answer = resolver.resolve(
        "void (anonymous namespace)::randperm_handle_duplicate_keys_kernel<int, at::native::"
        "(anonymous namespace)::OpaqueType<4> >(int*, at::native::(anonymous namespace)::"
        "OpaqueType<4>*, int, int, at::PhiloxCudaState)"
    )
    assert path_of(answer) == f"{N}cuda/Randperm.cuh"


def test_aten_s_functor_in_another_library_s_kernel(resolver: Resolver) -> None:
    answer = resolver.resolve(
        "void at_cuda_detail::cub::DeviceReduceKernel<at_cuda_detail::cub::DeviceReducePolicy<int, "
        "unsigned long long, cuda::std::__4::plus<void> >::Policy600, at_cuda_detail::cub::"
        "TransformInputIterator<bool, at::native::(anonymous namespace)::NonZeroOp<bool>, "
        "bool const*, long>, unsigned long long>(int*)"
    )
    assert answer.library == "CUB"
    assert path_of(answer) == f"{N}cuda/Nonzero.cu"


def test_a_structured_kernel_s_lambda() -> None:
    impl = Definition("topk_out_cuda", "at::native", "impl_func", Location("TopK.cu", 30))
    answer = resolve(
        ELEMENTWISE.format(
            "at::native::structured_topk_out_cuda::impl(at::Tensor const&, long)::{lambda(float)#1}"
        ),
        Table([*pytorch(), impl]),
    )
    assert answer.source == impl


def test_an_owner_that_the_tree_lacks_is_named() -> None:
    answer = resolve(
        ELEMENTWISE.format("at::native::new_kernel(at::TensorIteratorBase&)::{lambda(float)#1}"),
        Table(pytorch()),
    )
    assert answer.source is None
    assert answer.reason == "at::native::new_kernel is not defined in this tree"


def test_headers_only_says_so() -> None:
    headers = [d for d in pytorch() if d.location.path.endswith((".h", ".cuh"))]
    resolver = Resolver(Table(headers), has_sources=False)
    gelu = next(r for r in rows("traces.tsv") if "GeluCUDAKernelImpl" in r["name"])
    answer = resolver.resolve(gelu["name"])
    assert answer.source is None
    assert answer.launcher is not None
    assert "it holds headers, no kernel sources" in answer.reason
    inner = "at::native::binary_internal::MulFunctor<float>"
    mul = f"at::native::AUnaryFunctor<float, float, float, {inner} >"
    assert path_of(resolver.resolve(ELEMENTWISE.format(mul))) == f"{N}cuda/BinaryInternal.h"


# ------------------------------------------------------------------------- bare names


def test_a_bare_launcher_s_name_does_not_say_what_it_runs(resolver: Resolver) -> None:
    answer = resolver.resolve("reduce_kernel")
    assert answer.source is None
    assert name_of(answer.launcher) == "at::native::reduce_kernel"
    assert answer.confidence == "ambiguous"


def test_a_class_that_cannot_be_called_is_data() -> None:
    file = "aten/src/ATen/native/cuda/IndexKernel.cu"
    table = Table(
        [
            Definition("OpaqueType", "at::native", "class", Location(file, 1)),
            Definition(
                "fill_impl", "at::native", "function", Location(file, 3), "Iterator& i, T value"
            ),
        ]
    )
    taken = "at::native::OpaqueType<4>"
    owner = f"at::native::fill_impl<{taken} >(at::Iterator&, {taken})::{{lambda(int)#1}}"
    name = f"void at::native::elementwise<128, {owner}>(long, {owner})"
    assert name_of(resolve(name, table).source) == "at::native::fill_impl"


def test_a_function_that_is_no_template_has_no_arguments_of_one() -> None:
    plain = kernel("kernel", "", "aten/src/ATen/test/a.cu")._replace(template=False)
    assert resolve("void kernel<params<float, 0> >(int, int)", Table([plain])).source is None


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("void cusolverDnXfill_kernel<int>(cublasFillMode_t, long)", "cuSOLVER"),
        ("void larfb_set_v1<float, 16>(long, float*)", "cuSOLVER"),
        ("void sytrd4_cta<float>(int)", "cuSOLVER"),
        ("dtrsv_init(int*)", "cuBLAS"),
        ("void sgemm_largek_lds64<true, false, 5, 5, 4, 4>(float*)", "cuBLAS"),
        ("void gemv_kernel<cublasGemvParams<float> >(cublasGemvParams<float>)", "cuBLAS"),
        ("dgetrf_panel(int)", "MAGMA"),
    ],
)
def test_nvidia_s_libraries_by_their_names_before_their_types(name: str, library: str) -> None:
    assert resolve(name, Table([])).library == library


def test_the_function_that_compiles_a_kernel_at_run_time_launches_it() -> None:
    place = Location("aten/src/ATen/native/cuda/Unary.cu", 3)
    inside = Definition("sinc", "at::native::sinc_cuda", "global", place, "sinc_name")
    user = Definition("sinc_cuda", "at::native", "function", Location(place.path, 4))
    answer = resolve("sinc_vectorized4_kernel", Table([inside, user]))
    assert (answer.source, answer.launcher) == (inside, user)


def test_jiterated_kernels() -> None:
    place = Location("aten/src/ATen/native/cuda/UnarySpecialOpsKernel.cu", 162)
    table = Table([Definition("sinc", "", "global", place, "sinc_name")])
    sure = resolve("sinc_vectorized4_kernel", table)
    assert (sure.source.location, sure.confidence) == (place, "by rule")  # type: ignore[union-attr]
    plain = resolve("sinc_kernel", table)
    assert plain.confidence == "ambiguous"
    assert plain.reason
    unknown = resolve("mine_vectorized4_kernel", table)
    assert (unknown.source, unknown.library) == (None, "ATen jiterator")


# ------------------------------------------------------------------------- robustness


def test_each_distinct_name_is_worked_out_once() -> None:
    table = Table(pytorch())
    resolver = Resolver(table)
    first = resolver.resolve(rows("traces.tsv")[0]["name"])
    asked = len(table.asked)
    assert resolver.resolve(rows("traces.tsv")[0]["name"]) is first
    assert len(table.asked) == asked


@pytest.mark.parametrize(
    "name",
    ["", " ", "()", "<<<>>>", "_Z", "_ZN", "::", "void", "{lambda", "'lambda", "…", "a<b<c(d"],
)
def test_what_is_no_name_has_a_reason(resolver: Resolver, name: str) -> None:
    answer = resolver.resolve(name)
    assert answer.source is None
    assert answer.reason


def test_mangled_noise_never_fails(resolver: Resolver) -> None:
    chance = random.Random(11)
    names = [row["name"] for row in rows("wheel.tsv")]
    for name in names:
        noise = list(name)
        for _ in range(4):
            noise[chance.randrange(len(noise))] = chance.choice("<>(){}[]:,'\"#&*_Z0 ")
        answer = resolver.resolve("".join(noise))
        assert answer.source or answer.reason


def test_names_whose_inner_namespaces_nvidia_leaves_out() -> None:
    """As Nsight Compute prints them; other tools print all namespaces."""
    fill = Definition("FillFunctor", "at::native", "class", Location(f"{N}cuda/FillKernel.cu", 14))
    loop = (f"{N}cuda/CUDALoops.cuh", 1, "int N, func_t f, array_t d")
    launcher = kernel("vectorized_elementwise_kernel", "at::native", *loop)
    told = Resolver(Table([fill, launcher]))
    name = "void at::vectorized_elementwise_kernel<4, at::FillFunctor<float>, array>({})"
    answer = told.resolve(name.format("int, T2, T3"))
    assert (answer.source, answer.confidence) == (fill, "by rule")
    assert "leaves out inner namespaces" in answer.rule
    assert told.resolve(name.format("int, at::FillFunctor<float>, array")).source is None
    assert told.resolve(name.format("int, T2, T3").replace("at::", "mine::")).source is None


def test_a_name_beyond_all_measure_is_not_read(resolver: Resolver) -> None:
    begun = time.process_time()
    answer = resolver.resolve("void " * 50_000)
    assert time.process_time() - begun < 2
    assert answer.reason == "a name of more than 16,384 characters"
