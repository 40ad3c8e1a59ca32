"""Registrations that hang on names of other modules."""

from __future__ import annotations

from indexes.linking.python.imports import module_paths, resolve
from indexes.readers.python.module import read_python

TABLE = """
import dataclasses
import torch
from torch import _prims
aten = torch.ops.aten

class Data:
    name: str

table = {"a": Data(name="erf"), "b": Data(name="special_i0e")}
more = [aten.sin, aten.cos.default]
seed = _prims._make_prim(schema="inductor_seed(Device device) -> Tensor", doc="")

def make(schema):
    return _prims._make_prim(schema=schema)

seeds = make("inductor_seeds(int count) -> Tensor")
"""


def registered(source: str) -> list[tuple[str, int]]:
    path = "torch/_inductor/lowering.py"
    texts = {path: source.encode(), "torch/_inductor/table.py": TABLE.encode()}
    files = {name: read_python(text, name)[0] for name, text in texts.items()}
    found = resolve(files, texts.get)
    return [(fact.target, fact.line) for where, fact in found if where == path]


def test_a_loop_over_a_dict_of_another_file() -> None:
    source = """
import torch
from torch._inductor.table import table
aten = torch.ops.aten
def register_lowering(aten_fn):
    return lambda fn: fn
for name in table:
    register_lowering(getattr(aten, table[name].name))(print)
for name, data in table.items():
    register_lowering(getattr(aten, data.name + "_"))(print)
"""
    assert registered(source) == [
        ("aten::erf", 8),
        ("aten::special_i0e", 8),
        ("aten::erf_", 10),
        ("aten::special_i0e_", 10),
    ]


def test_operators_that_another_file_names() -> None:
    source = """
from . import table
from .table import aten, more
def register_lowering(aten_fn):
    return lambda fn: fn
@register_lowering(aten.mkldnn_rnn_layer.default)
def rnn(x):
    return x
@register_lowering(table.seed)
def seed(device):
    return device
@register_lowering(table.seeds)
def seeds(count):
    return count
register_lowering(more)(print)
"""
    assert registered(source) == [
        ("aten::mkldnn_rnn_layer.default", 7),
        ("prims::inductor_seed.default", 10),
        ("prims::inductor_seeds.default", 13),
        ("aten::sin", 15),
        ("aten::cos.default", 15),
    ]


def test_what_is_not_in_the_tree_registers_nothing() -> None:
    source = """
from torch._inductor.absent import table
from torch._inductor.table import unknown
def register_lowering(aten_fn):
    return lambda fn: fn
for op in table:
    register_lowering(op)(print)
register_lowering(unknown)(print)
"""
    assert registered(source) == []


def test_module_paths_go_from_the_innermost_module_out() -> None:
    assert list(module_paths("torch.a.b.c")) == [
        "torch/a/b.py",
        "torch/a/b/__init__.py",
        "torch/a.py",
        "torch/a/__init__.py",
    ]
