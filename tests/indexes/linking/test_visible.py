"""Which definition a name means, by the rules of C++ lookup."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from indexes.linking.facts import Call, Facts, Known
from indexes.linking.visible import library_of, linkable, visible_functions
from indexes.model.vocabulary import Definition, Location
from indexes.readers.cxx.bodies import body_calls


class Named:
    """Functions called f in some namespaces, each in a file of its own."""

    def __init__(self, *scopes: str) -> None:
        self.scopes = scopes
        self.meant: dict[tuple[str, str, str, str], list[Known]] = {}

    def fitting(self, name: str, fits: Callable[[str, str, str], bool]) -> list[Known]:
        return [
            Known(n, Definition("f", scope, "function", Location(f"aten/{n}.h", 1)))
            for n, scope in enumerate(self.scopes)
            if fits("function", scope, f"aten/{n}.h")
        ]


def meant(written: str, caller_scope: str, *scopes: str) -> list[str]:
    ((name, qualifier, kind, template), _), *_ = body_calls(written, 0, len(written)).items()
    caller = Known(99, Definition("run", caller_scope, "function", Location("aten/run.cpp", 1)))
    facts: Facts = Named(*scopes)  # type: ignore[assignment]
    found = visible_functions(Call(name, qualifier, 1, kind, template), caller, facts)
    return [known.definition.scope for known in found]


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
