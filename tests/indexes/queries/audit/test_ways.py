"""Checks of routes and first screens, on the small tree: what is right and what is wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from indexes.queries.audit.acceptance import score_all
from indexes.queries.audit.report import lengths, named, screens
from indexes.queries.audit.ways import (
    Computing,
    last_name,
    named_ways,
    names_what_computes,
    public_names,
    read_computing,
    routes_of,
)
from indexes.queries.index import Index

MUL = "aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"
WANTED = Computing("mul.Tensor", "CPU", (("at::native::mul_kernel", MUL, 26),))
NOTHING = replace(WANTED, functions=())


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("at::cuda::blas::gemm", "gemm"),
        ("at::native::sum_functor::operator()", "sum_functor"),
        ("at::native::vec_softmax::apply", "vec_softmax"),
        ("apply", "apply"),
    ],
)
def test_the_last_part_of_a_symbol(symbol: str, name: str) -> None:
    assert last_name(symbol) == name


@pytest.mark.parametrize(
    ("lines", "right"),
    [
        ([" CPU   mul_out > mul_kernel   .../BinaryOpsKernel.cpp:26"], True),
        ([" CPU   mul_out > mul_ker...   .../BinaryOpsKernel.cpp:26"], True),
        ([" CPU   mul_out > ...", "       mul_kernel"], True),
        ([" CPU   mul_out > mul_kernel_cuda", " CUDA  mul_kernel"], False),
        ([" CUDA  mul_kernel", " grad  mul_kernel"], False),
        (["", "mul_kernel", *[""] * 3], False),
        ([*[""] * 25, " CPU   mul_kernel"], False),
    ],
)
def test_a_first_screen_names_what_computes(lines: list[str], right: bool) -> None:
    assert names_what_computes(lines, WANTED) is right


def test_a_first_screen_says_that_nothing_computes() -> None:
    assert names_what_computes([" CPU   a view: computes nothing"], NOTHING)
    assert not names_what_computes([" CPU   mul_kernel"], NOTHING)


def test_routes_are_compared_by_name_and_file(tree_index: Index) -> None:
    (route,) = (r for r in routes_of(tree_index, "mul.Tensor") if r.device == "CPU")
    assert WANTED.is_meant(route)
    elsewhere = replace(WANTED, functions=(("mul_kernel", "another.cpp", 26),))
    assert not elsewhere.is_meant(route)
    assert not NOTHING.is_meant(route)
    assert routes_of(tree_index, "no_such_operator") == ()


def _table(folder: Path, symbol: str) -> Path:
    one = {"symbol": symbol, "path": MUL, "line": 26, "kind": "loop"}
    row = {"op": "mul.Tensor", "device": "CPU", "computes": [one]}
    none = {"op": "mul.Tensor", "device": "CPU", "computes": [{"kind": "none"}]}
    table = folder / "computing.jsonl"
    table.write_text(f"{json.dumps(row)}\n{json.dumps(none)}\n")
    return table


def test_a_table_of_verified_operators_is_scored(tree_index: Index, tmp_path: Path) -> None:
    table = _table(tmp_path, "at::native::mul_kernel")
    assert [one.names for one in read_computing(table)] == [{"mul_kernel"}, set()]
    some, usual = score_all(tree_index, tmp_path)
    assert (some.right, some.total, usual.right) == (1, 2, 1)
    _table(tmp_path, "at::native::div_kernel")
    some, _ = score_all(tree_index, tmp_path)
    assert some.right == 0
    assert "mul.Tensor CPU: div_kernel, not " in some.open[0]


def test_public_names_follow_from_yaml(tree_index: Index) -> None:
    names = public_names(tree_index.all_natives())
    assert {"torch.mul", "Tensor.mul", "Tensor.mul_", "torch.relu"} <= set(names)
    assert not any(name.rpartition(".")[2].startswith("_") for name in names)
    assert not {"torch.mul_", "torch.gelu", "torch._softmax"} & set(names)


def test_public_names_by_what_is_said_of_them(tree_index: Index) -> None:
    ways = named_ways(tree_index, ("CPU",))["CPU"]
    assert ways.computing > 20
    assert not {"torch.mul", "Tensor.mul"} & {*ways.nothing, *ways.silent}
    assert {measure.name.rpartition(" ")[2] for measure in named(tree_index)} == {"CPU", "CUDA"}


def test_first_screens_and_long_answers_are_counted() -> None:
    shown = screens([(WANTED, [" CPU   mul_kernel"]), (WANTED, [" CPU   no"])])
    assert (shown.counts, shown.met) == ({"right": 1, "not": 1}, False)
    long = lengths([("a", 10), ("b", 41), ("c", 20)])
    assert (long.counts, long.short) == ({"median": 20, "most": 41, "longer": 1}, ("b: 41",))
    assert lengths([("a", 40)]).met is True
