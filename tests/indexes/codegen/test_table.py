"""The computed table's precedence, and its reasons; ``tests/navigator/test_live_table.py`` holds
whole tables against the dispatcher of the installed torch."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from indexes.codegen.handwritten import INCOMPLETE, handwritten_registrations
from indexes.codegen.registration import Registration
from indexes.codegen.registrations import Rules, generated_registrations
from indexes.codegen.table import NOT_HERE, AliasSets, TableModel
from indexes.model.vocabulary import DerivativeEntry, NativeFunction
from indexes.readers.cxx.dispatch_keys import DispatchKeys, read_dispatch_keys, read_key_sets
from indexes.readers.project.torchgen_lists import TorchgenLists, read_torchgen_lists
from indexes.readers.yaml.native_functions import read_native_functions

LIST_FILES = (
    "model.py",
    "native_function_generation.py",
    "gen_functionalization_type.py",
    "api/autograd.py",
    "packaged/autograd/gen_trace_type.py",
    "packaged/autograd/gen_inplace_or_view_type.py",
    "packaged/autograd/gen_variable_type.py",
)


@pytest.fixture(scope="module")
def keys(packaged: Path) -> DispatchKeys:
    include = packaged.parent.parent / "torch/include/c10/core"
    return read_dispatch_keys((include / "DispatchKey.h").read_bytes(), "DispatchKey.h")[0]


@pytest.fixture(scope="module")
def sets(packaged: Path) -> AliasSets:
    include = packaged.parent.parent / "torch/include/c10/core"
    return AliasSets.of(*read_key_sets((include / "DispatchKeySet.h").read_bytes(), "S.h"))


@pytest.fixture(scope="module")
def model(
    packaged: Path,
    keys: DispatchKeys,
    sets: AliasSets,
    wheel_functions: tuple[NativeFunction, ...],
    wheel_derivatives: tuple[DerivativeEntry, ...],
) -> TableModel:
    lists = TorchgenLists()
    for name in LIST_FILES:
        lists, problems = read_torchgen_lists((packaged.parent / name).read_bytes(), name, lists)
        assert not problems
    generated = generated_registrations(wheel_functions, wheel_derivatives, Rules.of(lists))
    return TableModel(
        keys, sets, [*handwritten_registrations(), *generated], dict.fromkeys(INCOMPLETE, NOT_HERE)
    )


@pytest.fixture(scope="module")
def torch() -> ModuleType:
    module: ModuleType = pytest.importorskip("torch")
    return module


def test_meta_kernels_agree_with_those_written_in_cpp(torch: ModuleType, model: TableModel) -> None:
    """Python replaces many at import; what it replaced is in the list of registrations. What a
    source file registers by hand (cudnn/RNN.cpp does, in builds for CUDA) is in no wheel."""
    wrong = []
    for op in model.operators():
        row = model.row(op, "Meta")
        dump = torch._C._dispatch_dump(f"aten::{op}")
        own = re.findall(r"^Meta(?: \(inactive\))?: registered at (\S+)", dump, re.M)
        in_cpp = any(re.search(r"/Register\w*\.cpp:", at) for at in own)
        if row is None or (row.kind == "kernel") != in_cpp:
            wrong.append(op)
    assert wrong == []


def test_rows_say_why(model: TableModel) -> None:
    rows = {row.key: row for row in model.table("add.Tensor")}
    assert (rows["CPU"].kernel, rows["CPU"].kind) == ("ufunc_add_CPU", "kernel")
    assert rows["CPU"].location is not None
    assert rows["HIP"].kind == "default backend kernel"
    assert "structured_delegate" in rows["HIP"].rule
    assert rows["AutogradCPU"].kernel == "VariableType::add_Tensor"
    assert rows["BackendSelect"].fallthrough
    assert not rows["Conjugate"].certain
    linear = {row.key: row for row in model.table("linear")}
    assert (linear["CPU"].kind, linear["CPU"].kernel) == ("math kernel", "linear")
    assert not linear["Functionalize"].certain
    copy = {row.key: row for row in model.table("copy_")}
    assert copy["AutogradCPU"].origin == "torch/csrc/autograd/VariableTypeManual.cpp"


YAML = b"""
- func: f(Tensor self) -> Tensor
  dispatch:
    CompositeExplicitAutograd: f_explicit
    SparseCPU: f_sparse
- func: g(Tensor self) -> Tensor
- func: h(Tensor self) -> Tensor
  dispatch:
    CompositeImplicitAutograd: h
    SparseCPU: h_sparse
    CPU: h_cpu
"""


def small_model(keys: DispatchKeys, sets: AliasSets, *more: Registration) -> TableModel:
    functions, _ = read_native_functions(YAML, "n.yaml")
    return TableModel(keys, sets, [*generated_registrations(functions, ()), *more])


def kind(model: TableModel, op: str, key: str) -> str:
    row = model.row(op, key)
    return row.kind if row else ""


def test_precedence(keys: DispatchKeys, sets: AliasSets) -> None:
    model = small_model(keys, sets)
    assert kind(model, "f", "SparseCPU") == "kernel"
    assert kind(model, "f", "CUDA") == "default backend kernel"
    assert kind(model, "f", "NestedTensorCPU") == "missing"
    assert kind(model, "f", "AutogradCPU") == "autograd kernel"
    assert kind(model, "g", "AutogradCPU") == "math kernel"
    assert kind(model, "g", "NestedTensorCPU") == "math kernel"
    assert kind(model, "h", "CUDA") == "math kernel"
    assert kind(model, "h", "AutogradOther") == "ambiguous autogradother"
    assert kind(model, "h", "AutogradCPU") == "autograd kernel", "CPU has a kernel of its own"
    assert kind(model, "h", "AutogradCUDA") == "math kernel", "CUDA has none"
    assert model.row("f", "NoSuchKey") is None


def test_later_registrations_win_and_fallbacks_come_last(
    keys: DispatchKeys, sets: AliasSets
) -> None:
    model = small_model(
        keys,
        sets,
        Registration("f", "DefaultBackend", "other", "x.cpp"),
        Registration("", "Conjugate", "fallthrough", "y.cpp", "", True),
        Registration("g", "CatchAll", "all", "z.cpp"),
    )
    row = model.row("f", "CUDA")
    assert row is not None
    assert (row.kernel, row.origin) == ("other", "x.cpp")
    assert kind(model, "f", "Conjugate") == "backend fallback"
    caught = model.row("g", "CPU")
    assert caught is not None
    assert caught.kernel == "all"
