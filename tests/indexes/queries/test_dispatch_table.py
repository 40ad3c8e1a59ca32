"""The dispatch table of the small tree, from its YAML files and its TORCH_LIBRARY blocks."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.model.dispatch import DispatchSlot
from indexes.model.errors import NotFound
from indexes.queries.index import Index
from tests.indexing import line_of, opened

ITSELF = """
import torch
aten = torch.ops.aten
lib = torch.library.Library("aten", "IMPL", "Meta")


def register_meta(op, register_dispatcher=True):
    def wrapper(f):
        if register_dispatcher:
            lib.impl(op, f)
        return f
    return wrapper


@register_meta(aten.relu.default)
def meta_relu(x): ...


@register_meta(aten.nonzero.default, register_dispatcher=False)
def meta_nonzero(x): ...


@register_meta(aten.abs.default)
def meta_abs(x): ...
"""
DECORATOR = """
import torch
lib = torch.library.Library("aten", "IMPL", "Meta")


def register_decomposition(aten_op, registry=None, *, disable_meta=False):
    def decorator(f):
        if (
            not disable_meta
            and torch._C._dispatch_has_kernel(aten_op.name())
            and not torch._C._dispatch_has_computed_kernel_for_dispatch_key(aten_op.name(), "Meta")
        ):
            lib.impl(aten_op, f)
        return f
    return decorator
"""
DECOMPOSED = """
import torch
from torch._decomp import register_decomposition
aten = torch.ops.aten


@register_decomposition([aten.index_select, aten.embedding])
def indexed(x): ...


@register_decomposition(aten.dropout)
def dropout(x): ...


@register_decomposition(aten._fft_c2c, disable_meta=True)
def fft(x): ...
"""

AUTOCAST = "aten/src/ATen/autocast_mode.cpp"
BATCHING = "aten/src/ATen/functorch/BatchRulesDecompositions.cpp"


def slots(index: Index, op: str) -> dict[str, DispatchSlot]:
    return {slot.key: slot for slot in index.table(op).slots}


def test_own_registration_alias_and_fallback(tree_index: Index) -> None:
    found = slots(tree_index, "mm")
    assert (found["CPU"].kind, found["CPU"].confidence) == ("kernel", "exact")
    assert found["CPU"].definition is not None
    autocast = found["AutocastCPU"]
    assert (autocast.kind, autocast.origin) == ("kernel", AUTOCAST)
    assert "lower_precision_fp" in autocast.kernel
    assert autocast.registration is not None
    assert autocast.registration.line == line_of(tree_index, AUTOCAST, "KERNEL_CPU(mm,")
    assert [e.path for e in autocast.evidence] == ["aten/src/ATen/autocast_mode.h"]
    assert found["AutogradCPU"].kind == "autograd kernel"
    assert found["AutogradCPU"].registration is not None
    assert found["AutogradCPU"].registration.path == "tools/autograd/derivatives.yaml"


def test_an_operator_without_autocast_gets_the_fallback(tree_index: Index) -> None:
    found = slots(tree_index, "abs")["AutocastCPU"]
    assert (found.kind, found.fallthrough) == ("backend fallback", True)
    assert found.registration is not None
    assert found.registration.path == AUTOCAST


def test_a_composite_operator_and_its_batching_decomposition(tree_index: Index) -> None:
    found = slots(tree_index, "dropout")
    assert (found["CUDA"].kind, found["CUDA"].kernel) == ("math kernel", "dropout")
    batched = found["FuncTorchBatched"]
    assert (batched.kind, batched.origin) == ("batched kernel", BATCHING)
    assert batched.definition == found["CUDA"].definition, "the composite kernel itself"


def test_a_macro_that_holds_a_whole_block(tree_index: Index) -> None:
    batched = slots(tree_index, "relu")["FuncTorchBatched"]
    assert (batched.kind, batched.kernel) == ("kernel", "BASIC_UNARY_BATCH_RULE(ATEN_FN(relu))")
    path = "aten/src/ATen/functorch/BatchRulesModules.cpp"
    assert batched.registration is not None
    assert batched.registration.path == batched.origin == path
    assert batched.registration.line == line_of(tree_index, path, "NAMED_RULE(relu, relu)")
    assert f"{path}:{line_of(tree_index, path, '#define NAMED_RULE')}" in batched.rule


def test_every_slot_says_why_and_every_place_is_in_the_tree(tree_index: Index) -> None:
    for op in tree_index.dispatch.operators():
        for slot in tree_index.table(op).slots:
            assert slot.rule
            assert (slot.kind == "missing") == (not slot.kernel), (op, slot)
            for place in (slot.registration, slot.definition, *slot.evidence):
                if place:
                    assert 0 < place.line <= tree_index.read(place.path).count("\n") + 1


@pytest.mark.parametrize("op", ["quantized::conv2d.new", "quantized::conv3d.new"])
def test_a_method_of_a_template_class_is_the_kernel(tree_index: Index, op: str) -> None:
    found = slots(tree_index, op)["QuantizedCPU"]
    assert found.definition is not None
    path = found.definition.path
    assert found.definition.line == line_of(tree_index, path, "static Tensor run(")


def test_all_registrations_of_an_operator_are_listed(tree_index: Index) -> None:
    table = tree_index.table("aten::mm")
    keys = [one.key for one in table.registrations]
    assert {"CPU", "Autograd", "Tracer", "AutocastCPU"} <= set(keys)


def test_nothing_is_registered_for_an_unknown_name(tree_index: Index) -> None:
    with pytest.raises(NotFound):
        tree_index.table("no_such_operator")


def test_a_wheel_says_which_registrations_it_does_not_hold(tree_index: Index, wheel: Index) -> None:
    assert "torchnav clone" in wheel.table("add.Tensor").unseen
    reasons = {one.role: one.reason for one in wheel.chain("add.Tensor").unresolved}
    assert "batch rules" in reasons["batch_rule"]
    assert tree_index.table("add.Tensor").unseen == ""
    assert not any(u.role == "batch_rule" for u in tree_index.chain("add.Tensor").unresolved)


def test_where_python_goes_by_no_list_a_meta_row_is_not_certain(
    tree_index: Index, tree_copy: Path, cache: Path
) -> None:
    """Up to 1.13 each decorator registers for itself as it is run."""
    assert slots(tree_index, "relu")["Meta"].confidence == "ambiguous"
    with open(tree_copy / "torch/_meta_registrations.py", "a") as file:
        file.write("\n\ndef activate_meta():\n    left = {'aten::clone'}\n")
    with opened(tree_copy, cache) as later:
        assert slots(later, "relu")["Meta"].confidence == "exact"


def metas(index: Index, *operators: str) -> list[str]:
    """Those of them whose chain has a decomposition as their Meta kernel."""
    hops = {op: index.chain(op).hops for op in operators}
    return [
        op
        for op in operators
        if any(h.role == "meta_registration" and h.keys == ("Meta",) for h in hops[op])
    ]


def test_decorators_that_register_for_themselves(tree_copy: Path, cache: Path) -> None:
    """As up to 1.13: each has a switch, and a decomposition is for what C++ does not serve."""
    torch = tree_copy / "torch"
    (torch / "_meta_registrations.py").write_text(ITSELF)
    (torch / "_decomp/__init__.py").write_text(DECORATOR)
    (torch / "_decomp/decompositions.py").write_text(DECOMPOSED)
    with opened(tree_copy, cache) as index:
        for op, kernel in (
            ("relu", "torch._meta_registrations.meta_relu"),
            ("nonzero", ""),
            ("abs", "torch._meta_registrations.meta_abs"),
            ("dropout", "dropout"),
            ("index_select", "torch._decomp.decompositions.indexed"),
            ("_fft_c2c", ""),
            ("embedding", "embedding_symint"),
        ):
            slot = slots(index, op)["Meta"]
            assert (slot.kernel, slot.confidence == "ambiguous") == (kernel, False), op
        made = slots(index, "index_select")["Meta"]
        assert made.origin == "torch/_decomp/__init__.py"
        assert made.definition is not None
        assert made.definition.path == "torch/_decomp/decompositions.py"
        assert metas(index, "index_select", "embedding", "dropout", "_fft_c2c") == ["index_select"]


def test_what_activate_meta_leaves_alone(tree_copy: Path, cache: Path) -> None:
    """By name, and what has a composite kernel; operators of other libraries are registered."""
    (tree_copy / "torch/_decomp/decompositions.py").write_text(DECOMPOSED)
    (tree_copy / "torch/_meta_registrations.py").write_text(
        ITSELF.replace("            lib.impl(op, f)\n", "            pass\n")
        + "\n\nif torch._C._has_mkldnn:\n"
        + "    @register_meta(torch.ops.quantized.add)\n    def meta_add(x): ...\n"
        + "\n\ndef activate_meta():\n    left = {'aten::embedding'}\n"
    )
    with opened(tree_copy, cache) as index:
        for op, kernel in (
            ("relu", "torch._meta_registrations.meta_relu"),
            ("embedding", "embedding_symint"),
            ("dropout", "dropout"),
            ("quantized::add", "torch._meta_registrations.meta_add"),
            ("_fft_c2c", "torch._decomp.decompositions.fft"),
        ):
            assert slots(index, op)["Meta"].kernel == kernel, op
        assert slots(index, "quantized::add")["Meta"].guard == "torch._C._has_mkldnn"
        assert metas(index, "index_select", "embedding", "dropout") == ["index_select"]


def test_what_a_set_that_activate_meta_asks_leaves_alone(tree_copy: Path, cache: Path) -> None:
    """As from 2.15 on: the set stands beside the function."""
    (tree_copy / "torch/_decomp/decompositions.py").write_text(DECOMPOSED)
    with open(tree_copy / "torch/_meta_registrations.py", "a") as file:
        file.write("\n\nleft = {\n    aten.embedding.default,  # aten._fft_c2c.default\n}\n")
        file.write("\n\ndef activate_meta():\n    for op, fn in table.items():\n")
        file.write("        if op in left:\n            continue\n")
    with opened(tree_copy, cache) as index:
        assert slots(index, "embedding")["Meta"].kernel == "embedding_symint"
        assert slots(index, "_fft_c2c")["Meta"].kernel == "torch._meta_registrations.meta_fft_c2c"


def test_a_python_kernel_that_takes_over_under_a_condition(tree_index: Index) -> None:
    """It is registered at runtime, in front of the C++ kernel, which it falls back to."""
    for op, impl in (("nonzero", "_nonzero_impl"), ("nonzero.out", "_nonzero_out_impl")):
        found = slots(tree_index, op)
        own_kernel = f"{op.replace('.', '_')}_cuda"
        assert (found["CUDA"].kernel, found["CUDA"].kind) == (own_kernel, "kernel")
        assert f".{impl} takes over: register_op_override for triton, if" in found["CUDA"].rule
        assert found["CUDA"].rule.endswith("_nonzero_cond() holds")
        assert "takes over" not in found["CPU"].rule
        own = [one for one in tree_index.table(op).registrations if one.kernel.endswith(impl)]
        assert [one.key for one in own] == ["CUDA", "XPU"]
        path = "torch/_native/ops/nonzero/triton_impl.py"
        assert {str(one.definition) for one in own} == {
            f"{path}:{line_of(tree_index, path, f'def {impl}')}"
        }
    assert "torch.xpu._is_compiled()" in own[1].rule


def test_a_python_kernel_that_a_function_registers(tree_index: Index) -> None:
    rule = slots(tree_index, "abs.out")["CUDA"].rule
    assert "torch.nn.attention._fa3._fast_abs takes over: Library.impl" in rule
    assert rule.endswith("register_abs() is called")
