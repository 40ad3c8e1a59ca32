"""Lowerings, Python kernels, fake implementations, symbolics and references."""

from __future__ import annotations

from indexes.readers.python.module import read_python
from tests.indexes.readers.python.registrations_sample import HEAD, read, registered


def test_inductor_lowerings() -> None:
    source = """\
import torch
aten = torch.ops.aten
prims = torch.ops.prims
lowerings = {}
def register_lowering(aten_fn, broadcast=False):
    return functools.partial(_register_lowering, aten_fn, broadcast=broadcast)
def register_pointwise(aten_fn, name=None):
    name = name or aten_fn.__name__
    fn = make_pointwise(name)
    fn = register_lowering(aten_fn, broadcast=True)(fn)
    if hasattr(prims, name):
        register_lowering(getattr(prims, name))(fn)
    return fn
def make_fallback(op, layout=None):
    ...
exp = register_pointwise(aten.exp)
@register_lowering(aten.sort.stable, type_promotion_kind=None)
def sort_stable(x): ...
make_fallback(aten.eig)
"""
    found = registered(source, "torch/_inductor/lowering.py")
    assert found == [
        ("lowering", "aten::exp", "register_pointwise", 16),
        ("lowering", "prims::exp", "register_pointwise", 16),
        ("lowering", "aten::sort.stable", "sort_stable", 18),
        ("lowering", "aten::eig", "lowering", 19),
    ]


def test_python_kernels() -> None:
    source = """\
import torch
from torch._C import DispatchKey
aten = torch.ops.aten
lib = torch.library.Library("aten", "IMPL", "Meta")

@aten.dropout.default.py_impl(DispatchKey.Autograd)
@aten.dropout.default.py_impl(DispatchKey.CompositeImplicitAutograd)
def dropout(x): ...

@torch.library.impl(lib, "index_select")
def meta_index_select(x): ...

def plain(x): ...
lib.impl("add.Tensor", plain)
with torch.library._scoped_library("aten", "IMPL") as scoped:
    scoped.impl("sub", plain, "CPU")

@torch.library.impl("mylib::op", "CUDA")
def cuda(x): ...
"""
    assert registered(source, "torch/x.py") == [
        ("py_impl", "aten::dropout.default", "dropout", 8),
        ("py_impl", "aten::dropout.default", "dropout", 8),
        ("meta_registration", "aten::index_select.default", "meta_index_select", 11),
        ("meta_registration", "aten::add.Tensor", "plain", 13),
        ("py_impl", "aten::sub.default", "plain", 13),
        ("py_impl", "mylib::op.default", "cuda", 19),
    ]


def test_fake_and_jagged_implementations_and_symbolics() -> None:
    source = """\
import functools
import operator
import torch
aten = torch.ops.aten
def ordered_set(*items):
    return dict.fromkeys(items, True)
_like = ordered_set(aten.empty_like.default, aten.ones_like.default)

@register_op_impl([*_like])
def constructors(mode, func): ...

@register_op_impl(lambda func: torch.Tag.data_dependent_output in func.tags)
def data_dependent(mode, func): ...

register_jagged_func = functools.partial(register_func, JAGGED_OPS_TABLE)
def register_func(tables, aten_ops, schema_str): ...
@register_jagged_func([torch.ops.aten.values.default, aten._nested_get_values.default], "self: jt")
def values_default(func, *args): ...

_onnx_symbolic = functools.partial(registration.onnx_symbolic, opset=9)
@_onnx_symbolic("aten::_shape_as_tensor")
def _shape_as_tensor(g, input): ...
@onnx_impl((aten.abs.default, operator.abs), trace_only=True)
def aten_abs(self): ...
"""
    found = registered(
        source.replace("registration.onnx", "torch.onnx._internal.registration.onnx"), "torch/x.py"
    )
    assert found == [
        ("fake_impl", "aten::empty_like.default", "constructors", 10),
        ("fake_impl", "aten::ones_like.default", "constructors", 10),
        ("jagged", "aten::values.default", "values_default", 18),
        ("jagged", "aten::_nested_get_values.default", "values_default", 18),
        ("onnx", "aten::_shape_as_tensor", "_shape_as_tensor", 22),
        ("onnx", "aten::abs.default", "aten_abs", 24),
    ]


def test_symbolics_that_are_registered_by_their_name() -> None:
    source = """\
@parse_args("v", "i")
def cumsum(g, self, dim): ...
def _helper(g, x): ...
def without_graph(self): ...
def add(g: Graph,
        other): ...
"""
    path = "torch/onnx/symbolic_opset11.py"
    assert registered(source, path) == [
        ("onnx", "aten::cumsum", "cumsum", 2),
        ("onnx", "aten::add", "add", 5),
    ]
    decorated = "import torch\n@torch.onnx._internal.registration.onnx_symbolic('aten::x')\n"
    assert registered(decorated + source, path) == [("onnx", "aten::x", "cumsum", 4)]


def test_references_are_the_public_functions_of_refs() -> None:
    source = (
        HEAD
        + """\
__all__ = ["abs", "svd"]
def abs(a): ...
def _helper(a): ...
def not_listed(a): ...
svd = make_alias(abs, "svd")
"""
    )
    refs = [fact for fact in read(source, "torch/_refs/linalg/__init__.py") if fact.kind == "ref"]
    assert [(fact.target, fact.symbol, fact.line) for fact in refs] == [
        ("torch.linalg.abs", "torch._refs.linalg.abs", 5),
        ("torch.linalg.svd", "torch._refs.linalg.svd", 8),
    ]


def test_references_count_in_a_file_that_registers_nothing() -> None:
    source = b'__all__ = ["norm"]\ndef norm(a): ...\n'
    facts, _ = read_python(source, "torch/_refs/linalg/__init__.py")
    assert [fact.target for fact in facts if fact.kind == "ref"] == ["torch.linalg.norm"]


def test_generators_tables_of_records_and_every_overload() -> None:
    source = """
import torch
aten = torch.ops.aten
class Data:
    name: str
table = dict(a=Data(name="erf"), b=Data(name="special_i0e", cpp=lambda x: x))
def operators(ns):
    for key in table:
        op = getattr(ns, table[key].name, None)
        if op is None:
            continue
        for overload in op.overloads():
            yield getattr(op, overload), key
def more():
    yield from operators(aten)
    yield aten.sin.default, "sin"
def register_lowering(aten_fn):
    return lambda fn: fn
for op, key in more():
    register_lowering(op)(print)
"""
    found = registered(source, "torch/_inductor/lowering.py")
    assert [(target, line) for _, target, _, line in found] == [
        ("aten::erf", 20),
        ("aten::special_i0e", 20),
        ("aten::sin.default", 20),
    ]


def test_a_generator_that_nobody_goes_through_registers_nothing() -> None:
    source = """
import torch
aten = torch.ops.aten
def register_lowering(aten_fn):
    return lambda fn: fn
def for_a_while(op):
    register_lowering(op)(print)
    yield
made = for_a_while(aten.sin)
"""
    assert registered(source, "torch/_inductor/lowering.py") == []


def test_overrides_of_native_operators() -> None:
    """The registry's own function takes the name of the compiler first; a set of functions that a
    call makes is unpacked."""
    source = """\
from torch._native import registry, cutedsl_utils as cu
def _make():
    def impl(self): ...
    def inplace(self): ...
    return impl, inplace
_impl, _inplace = _make()
def _cond(self): ...
def _plain(self): ...
def register_to_dispatch():
    registry.register_op_override("native", "aten", "_foreach_mm", "CUDA", _cond, _plain)
    cu.register_op_override("aten", "mm", "CUDA", None, impl=_plain, unconditional_override=True)
    cu.register_op_override("aten", "abs_", "CUDA", _cond, _inplace)
"""
    facts = read(source)
    found = [(fact.target, fact.symbol.rpartition(".")[2], fact.detail) for fact in facts]
    found = [one for one in found if one[0].startswith("aten::")]
    assert [one[:2] for one in found] == [
        ("aten::_foreach_mm.default", "_plain"),
        ("aten::mm.default", "_plain"),
        ("aten::abs_.default", "inplace"),
    ]
    assert ["_cond() holds" in detail for *_, detail in found] == [True, False, True]
    assert [one[-1].rpartition("note=")[2] for one in found] == ["native", "cutedsl", "cutedsl"]
