"""Expressions over sets of dispatch keys, as C++ evaluates them."""

from __future__ import annotations

import pytest

from indexes.readers.cxx.dispatch_keys import read_dispatch_keys
from indexes.readers.cxx.key_sets import KeyAlgebra, NamedSet, UnknownSetError, named_sets
from tests.tree_marks import TREE

HEADER = """
// constexpr DispatchKeySet a_comment = DispatchKeySet({DispatchKey::Tracer});
constexpr DispatchKeySet autograd = DispatchKeySet({
    DispatchKey::AutogradFunctionality, DispatchKey::AutogradOther});
constexpr DispatchKeySet with_view = autograd | DispatchKeySet(DispatchKey::ADInplaceOrView);
constexpr auto cpu = c10::DispatchKeySet(DispatchKey::AutogradCPU);
constexpr DispatchKeySet kept({DispatchKey::CPU, DispatchKey::Negative});
constexpr DispatchKeySet bits = DispatchKeySet(DispatchKeySet::RAW, (1ULL << 3) - 1);
"""


@pytest.fixture(scope="module")
def algebra() -> KeyAlgebra:
    path = TREE / "c10/core/DispatchKey.h"
    keys, problems = read_dispatch_keys(path.read_bytes(), "c10/core/DispatchKey.h")
    assert not problems
    return KeyAlgebra(keys, named_sets(HEADER))


def test_constants_with_their_lines() -> None:
    found = named_sets(HEADER)
    assert sorted(found) == ["autograd", "bits", "cpu", "kept", "with_view"]
    assert found["with_view"].line == 5
    assert isinstance(found["kept"], NamedSet)


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        ("DispatchKey::CPU", "Dense"),
        ("c10::DispatchKey::CatchAll", "Undefined"),
        ("with_view", "ADInplaceOrView AutogradFunctionality AutogradOther"),
        ("c10::with_view - c10::autograd", "ADInplaceOrView"),
        ("kept & DispatchKeySet({DispatchKey::CPU, DispatchKey::Tracer})", "Dense"),
        ("kept.remove(DispatchKey::CPU).add(DispatchKey::Tracer)", "Negative Tracer"),
        ("cpu | kept - kept", "AutogradFunctionality"),
        ("(cpu | kept) - kept", "AutogradFunctionality"),
        ("cpu ^ cpu", ""),
        ("bits", ""),
        ("prev.included_ - cpu", "Tracer"),
        ("DispatchKeySet(DispatchKeySet::FULL_AFTER, DispatchKey::Vulkan)", "Dense"),
        ("ks & DispatchKeySet(DispatchKeySet::FULL)", "Tracer"),
    ],
)
def test_a_set_by_its_functionalities(algebra: KeyAlgebra, text: str, keys: str) -> None:
    names = {"ks": frozenset({"Tracer"}), "included_": frozenset({"Tracer"})}
    assert sorted(algebra.value(text, names)) == sorted(keys.split())


@pytest.mark.parametrize(
    "text",
    ["", "nothing_known", "cpu |", "DispatchKey::Nope", "f(cpu)", "DispatchKeySet({cpu", "x +"],
)
def test_what_cannot_be_read_is_refused(algebra: KeyAlgebra, text: str) -> None:
    with pytest.raises(UnknownSetError):
        algebra.value(text)


def test_a_function_of_assignments(algebra: KeyAlgebra) -> None:
    body = "auto result = cpu | kept; result = result.remove(DispatchKey::CPU); return result;"
    assert algebra.returned(body) == {"AutogradFunctionality", "Negative"}
    with pytest.raises(UnknownSetError):
        algebra.returned("auto result = cpu;")


def test_only_lower_keys_are_after_a_key(algebra: KeyAlgebra) -> None:
    after = algebra.after("ADInplaceOrView")
    assert "ZeroTensor" in after
    assert after.isdisjoint({"ADInplaceOrView", "AutogradOther", "Undefined"})
