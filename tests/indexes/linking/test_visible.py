"""Which definition a name means, by the rules of C++ lookup."""

from __future__ import annotations

import pytest

from indexes.linking.facts import Call, Known
from indexes.linking.visible import can_mean, library_of, linkable, path_device
from indexes.model.vocabulary import Definition, Location
from indexes.readers.cxx.bodies import call_sites


def meant(written: str, caller_scope: str, *scopes: str) -> list[str]:
    """Of functions called f in some namespaces those that a call can mean."""
    qualifier = call_sites(written, 0, len(written))[0].qualifier
    functions = [Definition("f", one, "function", Location("aten/f.h", 1)) for one in scopes]
    return [
        one.scope for one in functions if can_mean(qualifier, one, caller_scope, "aten/run.cpp")
    ]


@pytest.mark.parametrize(
    ("written", "scopes"),
    [
        ("f(x)", ["at::native", "at", ""]),
        ("::f(x)", [""]),
        ("native::f(x)", ["at::native"]),
        ("at::native::f(x)", ["at::native"]),
        ("::at::f(x)", ["at"]),
        ("::native::f(x)", []),
        ("std::f(x)", []),
    ],
)
def test_a_name_is_looked_up_in_the_namespaces_that_it_can_mean(
    written: str, scopes: list[str]
) -> None:
    everywhere = ("at::native", "at", "", "c10", "at::native::vulkan")
    assert meant(written, "at::native::(anonymous)", *everywhere) == scopes


@pytest.mark.parametrize(
    ("kind", "qualifier", "name", "library"),
    [
        ("name", "::cub::DeviceScan", "InclusiveSum", "CUB"),
        ("call", "detail::cub::DeviceScan", "InclusiveSum", "CUB"),
        ("name", "cub::detail", "scan", ""),
        ("name", "ideep::format_tag", "any", ""),
        ("call", "at::cuda::cub", "mask_exclusive_sum", ""),
    ],
)
def test_the_library_of_a_function_of_a_vendors_class(
    kind: str, qualifier: str, name: str, library: str
) -> None:
    assert library_of(Call(name, qualifier, 1, kind, "")) == library


def test_headers_in_the_sources_of_an_inner_library_are_its_own() -> None:
    inner = "aten/src/ATen/native/qlib"
    private = Known(1, Definition("max", "", "function", Location(f"{inner}/src/qlib/math.h", 1)))
    assert linkable(private, f"{inner}/src/add.c")
    assert not linkable(private, "aten/src/ATen/native/TensorCompare.cpp")
    public = Known(1, Definition("max", "", "function", Location(f"{inner}/include/qlib.h", 1)))
    assert linkable(public, "aten/src/ATen/native/TensorCompare.cpp")


@pytest.mark.parametrize(
    ("path", "device"),
    [
        ("@xpu/src/ATen/native/quantized/sycl/MaxPool.cpp", "XPU"),
        ("aten/src/ATen/native/mkldnn/xpu/Conv.cpp", "XPU"),
        ("aten/src/ATen/native/quantized/Pool.cpp", ""),
    ],
)
def test_a_folder_tells_the_device(path: str, device: str) -> None:
    assert path_device(path) == device
