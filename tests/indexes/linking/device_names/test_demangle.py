"""Mangled kernel names: the text they stand for, and the file that nvcc wrote into them."""

from __future__ import annotations

import sys

import pytest

from indexes.linking.device_names.demangle import is_mangled, readable, unit_of

MANGLED = (
    "_ZN2at6native53_GLOBAL__N__21739cd4_20_layer_norm_kernel_cu_9c5ada8a"
    "24RowwiseMomentsCUDAKernelIffEEvlT0_PKT_PS3_S7_"
)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        (MANGLED, "layer_norm_kernel_cu"),
        ("_GLOBAL__N__133be68c_20_group_norm_kernel_cu_0d820ff7_37239", "group_norm_kernel_cu"),
        ("void _INTERNAL_5cd812b1_7_Loss_cu_5b0651e1::(anonymous namespace)::f()", "Loss_cu"),
        ("_GLOBAL__N__52_tmpxft_0000230c_00000000_11_Shape_compute_75_cpp1_ii_cedd8df2", "Shape"),
        (
            "_GLOBAL__N__58_tmpxft_00003916_00000000_9_add_weighted_compute_61_cpp1_ii_71",
            "add_weighted",
        ),
        ("_GLOBAL__N__36_softmax_op_gpu_cu_compute_70_cpp1_ii_4826c83b", "softmax_op_gpu_cu"),
        ("_GLOBAL__N_1", None),
        ("_GLOBAL__N__", None),
        ("_GLOBAL__N__21739cd4_99_Cut_cu", None),
        ("void f()", None),
    ],
)
def test_the_compiled_file(text: str, unit: str | None) -> None:
    assert unit_of(text) == unit


def test_demangling_keeps_the_file() -> None:
    found = readable(MANGLED)
    assert found.text.startswith(
        "void at::native::(anonymous namespace)::RowwiseMomentsCUDAKernel<"
    )
    assert (found.unit, found.whole, found.demangled) == ("layer_norm_kernel_cu", True, True)


@pytest.mark.parametrize(
    "name",
    [
        "_Z3addPfi.kd",
        "_Z3addPfi [clone .kd]",
        "_Z3addPfi.llvm.123456",
        " _Z3addPfi ",
        '"_Z3addPfi"',
        "_Z25__device_stub__Z3addPfi",
    ],
)
def test_what_tools_put_around_a_name(name: str) -> None:
    assert readable(name).text == "add(float*, int)"


def test_a_name_that_cannot_be_demangled_gives_its_prefix() -> None:
    found = readable("_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_16asin_kern")
    assert found.text == "at::native::vectorized_elementwise_kernel"
    assert not found.whole


def test_noise_that_would_exhaust_a_demangler() -> None:
    assert not readable("_Z1f" + "P" * 100_000 + "i").whole
    assert not readable("_ZN" + "9" * 6000 + "a").whole


def test_without_the_demangler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydemumble", None)
    found = readable(MANGLED)
    assert not found.whole
    assert found.unit == "layer_norm_kernel_cu"
    assert found.text.endswith("::RowwiseMomentsCUDAKernel")


@pytest.mark.parametrize(
    ("text", "mangled"),
    [
        ("_Z3addi", True),
        ("_ZN2at", True),
        ("_ZL3addi", True),
        ("_Zoo", False),
        ("_Z", False),
        ("add", False),
        ("", False),
    ],
)
def test_what_is_mangled(text: str, mangled: bool) -> None:
    assert is_mangled(text) is mangled
