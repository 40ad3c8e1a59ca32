"""Types are checked against what torchgen declares for every operator of the wheel."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from indexes.codegen.cpp_types import (
    meta_parameters,
    native_parameters,
    normalize,
    split_parameters,
    structured_parameters,
)
from indexes.codegen.variants import with_generated
from indexes.model.vocabulary import NativeFunction


def types_of(parameters: str, aliases: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The types that the text between a definition's parentheses declares, in one spelling."""
    return tuple(normalize(one, aliases or {}) for one in split_parameters(parameters))


ORACLE = """
import json, sys
from torchgen import local
from torchgen.api import native, structured
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import NativeFunctionsGroup
parsed = parse_native_yaml(sys.argv[1], sys.argv[2])
def types(bindings):
    return ", ".join(b.decl() for b in bindings)
natives, structs = [], []
for f in parsed.native_functions:
    for symint in (False, True):
        const_ref = f.use_const_ref_for_mutable_tensors
        with local.parametrize(use_const_ref_for_mutable_tensors=const_ref,
                               use_ilistref_for_tensor_lists=f.part_of_structured_group):
            text = types(native.arguments(f.func, symint=symint))
        natives.append((str(f.func.name), symint, text))
for g in get_grouped_native_functions(parsed.native_functions):
    if isinstance(g, NativeFunctionsGroup) and g.structured:
        with local.parametrize(use_const_ref_for_mutable_tensors=False,
                               use_ilistref_for_tensor_lists=True):
            structs.append((str(g.out.func.name), types(structured.impl_arguments(g)),
                            types(structured.meta_arguments(g))))
json.dump({"native": natives, "structured": structs}, sys.stdout)
"""


def test_every_kernel_of_the_wheel_has_the_types_torchgen_declares(
    packaged: Path, wheel_functions: tuple[NativeFunction, ...]
) -> None:
    native = packaged / "ATen/native"
    files = [str(native / "native_functions.yaml"), str(native / "tags.yaml")]
    command = [sys.executable, "-c", ORACLE, *files]
    oracle = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    functions = {f.full_name: f for f in with_generated(wheel_functions)}
    for name, symint, text in oracle["native"]:
        assert types_of(text) == native_parameters(functions[name], symint), name
    assert len(oracle["structured"]) > 200
    for name, impl, meta in oracle["structured"]:
        assert types_of(impl) == structured_parameters(functions[name]), name
        assert types_of(meta) == meta_parameters(functions[name]), name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("const Tensor& self", "Tensor"),
        ("Tensor&self", "Tensor"),
        ("at::Tensor const &", "Tensor"),
        ("Tensor self C10_UNUSED", "Tensor"),
        ("C10_UNUSED const Tensor& self", "Tensor"),
        ("[[maybe_unused]] const SparseTensor& self", "Tensor"),
        ("const at::sparse_csr::SparseCsrTensor& x", "Tensor"),
        ("::std::optional<at::ScalarType> dtype = {}", "optional<ScalarType>"),
        ("const c10::List<::std::optional<at::Tensor>> & x", "List<optional<Tensor>>"),
        ("c10::optional<IntArrayRef> d = c10::nullopt", "optional<ArrayRef<int64_t>>"),
        ("at::OptionalIntArrayRef dim", "optional<ArrayRef<int64_t>>"),
        ("OptionalArrayRef<c10::SymInt> dim", "optional<ArrayRef<SymInt>>"),
        ("at::ArrayRef<at::Tensor> tensors", "ArrayRef<Tensor>"),
        ("std::array<bool, 3> mask", "array<bool,3>"),
        ("unsigned int", "unsigned int"),
        ("Foo::Bar x", "Foo::Bar"),
    ],
)
def test_normalize(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_split_parameters() -> None:
    text = """const Tensor& self, // a, b
        /* c, */ std::array<bool, 3> mask={}, c10::string_view m = "a,(b", int64_t,
        const std::function<void(int, int)>& f = nullptr, std::vector<int> v = {1, 2}"""
    assert split_parameters(text) == (
        "const Tensor&",
        "std::array<bool,3>",
        "c10::string_view",
        "int64_t",
        "const std::function<void(int,int)>&",
        "std::vector<int>",
    )
    assert split_parameters("") == split_parameters(" void ") == ()


def test_aliases_of_the_tree() -> None:
    aliases = {"simple_hx_type": "const Tensor&", "Sizes": "c10::optional<IntArrayRef>", "A": "A"}
    text, sizes = "const simple_hx_type& hx, Sizes s", "optional<ArrayRef<int64_t>>"
    assert types_of(text) != ("Tensor", sizes)
    assert types_of(text, aliases) == ("Tensor", sizes)
    assert normalize("A", aliases) == "A"


def test_aliases_that_go_in_a_circle_end() -> None:
    assert normalize("X", {"X": "Y", "Y": "X"}) in ("X", "Y")


@pytest.mark.parametrize("text", ["(((", ")>,<", "a,,b", "= = =", "::", "<<<>", "'", '"x', "/*"])
def test_debris_does_not_raise(text: str) -> None:
    assert types_of(text) != ("Tensor",)
