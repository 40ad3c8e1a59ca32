"""The keys that a call passes while a switch is on, from the small tree with the files beside it
that make key sets."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.model.dispatch import SwitchPath
from indexes.model.errors import SourceError, UsageError
from indexes.queries.dispatch_path.recorded import DispatchPaths
from indexes.queries.dispatch_path.switches import MEANINGS
from indexes.queries.dispatch_path.walk import SwitchedPaths
from indexes.queries.index import Index
from tests.indexing import nearby, opened, write
from tests.tree_marks import TREE

KEY_SETS = """
constexpr DispatchKeySet autograd_dispatch_keyset = DispatchKeySet({
    DispatchKey::AutogradFunctionality, DispatchKey::AutogradOther,
    DispatchKey::AutogradNestedTensor});
constexpr DispatchKeySet autocast_dispatch_keyset = DispatchKeySet({
    DispatchKey::AutocastCPU, DispatchKey::AutocastCUDA});
constexpr DispatchKeySet default_included_set = DispatchKeySet({
    DispatchKey::BackendSelect, DispatchKey::ADInplaceOrView});
constexpr DispatchKeySet default_excluded_set = autocast_dispatch_keyset;
constexpr DispatchKeySet python_ks = DispatchKeySet({
    DispatchKey::Python, DispatchKey::PythonTLSSnapshot});
constexpr DispatchKeySet after_autograd_keyset =
    DispatchKeySet(DispatchKeySet::FULL_AFTER, c10::DispatchKey::AutogradOther);
constexpr auto autograd_cpu_ks = DispatchKeySet(DispatchKey::AutogradCPU);
inline DispatchKeySet getAutogradRelatedKeySetFromBackend(BackendComponent t) {
  switch (t) {
    case BackendComponent::CPUBit:
      return DispatchKeySet(DispatchKey::ADInplaceOrView) | autograd_cpu_ks;
    default:
      return DispatchKeySet(DispatchKey::AutogradOther);
  }
}
inline DispatchKeySet getAutocastRelatedKeySetFromBackend(BackendComponent t) {
  switch (t) {
    case BackendComponent::CPUBit:
      return DispatchKeySet(DispatchKey::AutocastCPU);
    default:
      return DispatchKeySet();
  }
}
"""
INFERENCE = """
  InferenceMode(bool enabled = true) {
    DispatchKeySet included = enabled
        ? prev_keyset.included_.remove(c10::DispatchKey::ADInplaceOrView)
        : prev_keyset.included_.add(c10::DispatchKey::ADInplaceOrView);
    DispatchKeySet excluded = enabled
        ? (prev_keyset.excluded_ | c10::autograd_dispatch_keyset)
        : (prev_keyset.excluded_ - c10::autograd_dispatch_keyset);
  }
"""
MODES = """
void push(Mode mode) {
  c10::impl::tls_set_dispatch_key_included(DispatchKey::Python, true);
  c10::impl::tls_set_dispatch_key_included(
      DispatchKey::PythonTLSSnapshot, true);
}
void pop() { c10::impl::tls_set_dispatch_key_included(DispatchKey::Tracer, false); }
"""
FALLBACK = """
#include <torch/library.h>
constexpr c10::DispatchKeySet after_Python_keyset = c10::DispatchKeySet(c10::DispatchKeySet::FULL) ^
  (c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER, c10::DispatchKey::Python) |
   c10::DispatchKeySet(c10::DispatchKey::Python));

void pythonFallback(const c10::OperatorHandle& op, c10::DispatchKeySet ks, Stack* stack) {
  c10::impl::ExcludeDispatchKeyGuard guard(after_Python_keyset);
  call_python(op, stack);
}

void pythonTLSSnapshotFallback(const c10::OperatorHandle& op, c10::DispatchKeySet ks, Stack* s) {
  op.redispatchBoxed(ks & c10::DispatchKeySet(c10::DispatchKeySet::FULL_AFTER,
                                              c10::DispatchKey::PythonTLSSnapshot), s);
}

TORCH_LIBRARY_IMPL(_, Python, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&pythonFallback>());
}

TORCH_LIBRARY_IMPL(_, PythonTLSSnapshot, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&pythonTLSSnapshotFallback>());
}

TORCH_LIBRARY_IMPL(_, BackendSelect, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

TORCH_LIBRARY_IMPL(_, ADInplaceOrView, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}
"""
FILES = {
    "c10/core/DispatchKeySet.h": KEY_SETS,
    "c10/core/InferenceMode.h": INFERENCE,
    "c10/core/impl/TorchDispatchModeTLS.cpp": MODES,
    "aten/src/ATen/core/PythonFallbackKernel.cpp": FALLBACK,
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small tree with those files."""
    return write(shutil.copytree(TREE, tmp_path_factory.mktemp("keys") / "tree"), FILES)


@pytest.fixture(scope="module")
def index(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with opened(tree, nearby(tmp_path_factory.mktemp("cache"), tmp_path_factory)) as index:
        yield index


def path(index: Index, op: str, switch: str) -> SwitchPath:
    return {one.switch: one for one in SwitchedPaths(index).paths(op, [switch]).paths}[switch]


def test_autograd_calls_again_below_its_keys(index: Index) -> None:
    found = path(index, "abs", "plain")
    assert found.kernels == ("AutogradCPU", "CPU")
    autograd = next(step for step in found.steps if step.key == "AutogradCPU")
    assert autograd.cause
    assert str(autograd.cause.location) == "c10/core/DispatchKeySet.h:17"
    assert "AutogradOther" in autograd.then
    actions = {step.key: step.action for step in found.steps}
    assert actions["AutocastCPU"] == "excluded"
    assert actions["BackendSelect"] == "falls through"


def test_inference_mode_excludes_autograd_and_says_where(index: Index) -> None:
    found = path(index, "abs", "inference")
    assert found.kernels == ("CPU",)
    excluded = [change for change in found.changes if change.change == "excluded"]
    assert {change.key for change in excluded} >= {"AutogradFunctionality", "AutogradOther"}
    assert {str(c.location) for c in excluded} == {"c10/core/InferenceMode.h:6"}


def test_a_mode_is_reached_below_autograd_and_may_call_again(index: Index) -> None:
    found = path(index, "abs", "mode")
    assert found.kernels == ("PythonTLSSnapshot", "AutogradCPU", "Python", "CPU")
    assert [step.call for step in found.steps if step.key == "CPU"] == [2]
    assert {change.key for change in found.changes} == {"Python", "PythonTLSSnapshot"}


def test_a_switch_whose_file_is_not_there_is_not_told(index: Index) -> None:
    found = path(index, "abs", "vmap")
    assert found.unknown == "aten/src/ATen/functorch/DynamicLayer.cpp is not in this tree"
    assert found.steps == ()


@pytest.mark.parametrize(
    ("keys", "passed"),
    [
        (("KeyOfTomorrow", "AutogradCPU", "CPU"), ()),
        (("AutogradCPU", "KeyOfTomorrow", "CPU"), ("AutogradCPU",)),
        (("ADInplaceOrView", "KeyOfTomorrow"), ("ADInplaceOrView",)),
        (("BackendSelect", "KeyOfTomorrow", "CPU"), ("BackendSelect",)),
    ],
)
def test_a_recorded_key_that_the_tree_does_not_have_ends_the_path_there(
    index: Index, keys: tuple[str, ...], passed: tuple[str, ...]
) -> None:
    found = DispatchPaths(index).path("abs", keys, "CPU")
    assert [step.key for step in found.steps] == [*passed, "KeyOfTomorrow"]
    assert found.end == "this tree registers no kernel for KeyOfTomorrow"
    assert not found.is_certain


def test_grad_mode_changes_no_key(index: Index) -> None:
    assert path(index, "abs", "no_grad").changes == ()
    assert path(index, "abs", "no_grad").kernels == path(index, "abs", "plain").kernels


def test_a_backend_without_a_kernel_raises(index: Index) -> None:
    found = path(index, "abs", "sparse")
    if found.steps[-1].key == "SparseCPU":
        assert found.steps[-1].action in ("runs", "raises")


def test_a_device_that_no_key_is_for_is_refused_with_those_there_are(index: Index) -> None:
    with pytest.raises(UsageError) as refused:
        SwitchedPaths(index).paths("abs", [], "abacus")
    assert "cuda" in refused.value.suggestions


def test_a_tree_without_the_header_of_key_sets_says_so(tmp_path: Path) -> None:
    with opened(TREE, tmp_path) as index, pytest.raises(SourceError, match=r"DispatchKeySet\.h"):
        SwitchedPaths(index).paths("abs", list(MEANINGS))


@pytest.mark.checkout
def test_every_switch_is_told_by_a_checkout(tmp_path: Path) -> None:
    with opened(Path(os.environ["TORCHNAV_CHECKOUT"]), tmp_path) as index:
        paths = {
            one.switch: one for one in SwitchedPaths(index).paths("add_.Tensor", [*MEANINGS]).paths
        }
        assert {one.switch: one.unknown for one in paths.values() if one.unknown} == {}
        assert paths["plain"].kernels == ("AutogradCPU", "ADInplaceOrView", "CPU")
        assert paths["vmap"].kernels == ("FuncTorchDynamicLayerFrontMode", "FuncTorchBatched")
        assert paths["sparse"].kernels[-1] == "SparseCPU"
        linear = {
            one.switch: one for one in SwitchedPaths(index).paths("linear", ["autocast"]).paths
        }
        assert linear["autocast"].kernels == ("AutocastCPU", "AutogradCPU")
