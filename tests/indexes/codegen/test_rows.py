"""The rows are checked against what torchgen itself computes from the same YAML."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.codegen.rows import Row, kernel_rows
from indexes.codegen.variants import with_generated
from indexes.model.vocabulary import NativeFunction
from indexes.readers.yaml.native_functions import read_native_functions
from tests.torchgen import rules_of

ORACLE = """
import json, sys
sys.path.insert(0, sys.argv[1])
from torchgen.api import meta
from torchgen.gen import get_grouped_native_functions, parse_native_yaml
from torchgen.model import NativeFunctionsGroup
parsed = parse_native_yaml(sys.argv[2], sys.argv[3])
rows = [(str(op), str(key), m.kernel) for key, index in parsed.backend_indices.items()
        for op, m in index.index.items()]
for f in parsed.native_functions:
    for key, index in parsed.backend_indices.items():
        m = index.index.get(f.structured_delegate)
        if m is not None and m.structured:
            rows.append((str(f.func.name), str(key), m.kernel))
for g in get_grouped_native_functions(parsed.native_functions):
    if isinstance(g, NativeFunctionsGroup) and g.structured:
        for f in g.functions():
            rows.append((str(f.func.name), "Meta", f"structured_{meta.name(g)}::meta"))
schemas = {str(f.func.name): str(f.func) for f in parsed.native_functions}
json.dump({"rows": rows, "schemas": schemas}, sys.stdout)
"""


def compare_with_torchgen(aten: Path, torchgen_parent: Path) -> None:
    native = aten / "native/native_functions.yaml"
    command = [sys.executable, "-c", ORACLE, str(torchgen_parent), str(native)]
    command.append(str(aten / "native/tags.yaml"))
    oracle = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    functions, problems = read_native_functions(native.read_bytes(), "n.yaml")
    assert not problems
    keys = rules_of(torchgen_parent).keys
    schemas = {f.full_name: f.schema for f in with_generated(functions, keys.generation)}
    assert schemas == oracle["schemas"]
    rows = [(row.op, row.key, row.symbol) for row in kernel_rows(functions, keys)]
    expected = {tuple(row) for row in oracle["rows"]}
    assert set(rows) == expected
    assert len(rows) == len(expected), "one row for each overload and key"


def test_the_wheel_agrees_with_its_torchgen(packaged: Path) -> None:
    compare_with_torchgen(packaged / "ATen", packaged.parent.parent)


@pytest.mark.checkout
def test_a_checkout_agrees_with_its_torchgen() -> None:
    root = os.environ.get("TORCHNAV_CHECKOUT")
    if not root:
        pytest.skip("TORCHNAV_CHECKOUT is not set")
    compare_with_torchgen(Path(root) / "aten/src/ATen", Path(root))


@pytest.fixture(scope="module")
def rows(wheel_functions: tuple[NativeFunction, ...]) -> dict[tuple[str, str], Row]:
    return {(row.op, row.key): row for row in kernel_rows(wheel_functions)}


@pytest.mark.parametrize(
    ("op", "key", "symbol", "kind", "source"),
    [
        ("relu", "CompositeImplicitAutograd", None, None, None),
        ("add.Tensor", "CPU", "ufunc_add_CPU", "ufunc", "add.out"),
        ("add.Tensor", "Meta", "structured_add_Tensor::meta", "structured", "add.out"),
        ("addmm", "CPU", "addmm_out_cpu", "structured", "addmm.out"),
        ("linear.out", "CompositeExplicitAutograd", "linear_out", "composite", "linear.out"),
        ("matmul.out", "CompositeImplicitAutograd", "matmul_out", "composite", "matmul.out"),
        (
            "_conj_copy",
            "CompositeExplicitAutogradNonFunctional",
            "_conj_copy",
            "generated",
            "_conj_copy",
        ),
        (
            "diagonal_scatter",
            "CompositeExplicitAutogradNonFunctional",
            "diagonal_scatter",
            "composite",
            "diagonal_scatter",
        ),
        ("_coalesce.out", "CompositeExplicitAutograd", "_coalesce_out", "generated", "_coalesce"),
        ("prelu.out", "CompositeExplicitAutograd", None, None, None),
    ],
)
def test_rows(
    rows: dict[tuple[str, str], Row],
    op: str,
    key: str,
    symbol: str | None,
    kind: str | None,
    source: str | None,
) -> None:
    row = rows.get((op, key))
    found = (row.symbol, row.kind_hint, row.source_function.full_name) if row else (None,) * 3
    assert found == (symbol, kind, source)


def test_empty_dispatch_means_no_kernel(wheel_functions: tuple[NativeFunction, ...]) -> None:
    empty = {f.full_name for f in wheel_functions if f.dispatch == ()}
    assert empty
    assert not empty & {row.op for row in kernel_rows(wheel_functions)}


def test_lines_point_at_what_names_or_implies_the_kernel(packaged: Path) -> None:
    data = (packaged / "ATen/native/native_functions.yaml").read_bytes()
    lines = data.decode().split("\n")
    functions, _ = read_native_functions(data, "n.yaml")
    for row in kernel_rows(functions):
        text = lines[row.line - 1]
        if row.kind_hint == "ufunc":
            assert "ufunc_inner_loop" in text
        elif row.symbol.endswith("::meta"):
            assert "structured: True" in text
        elif row.native.tags[:1] == ("generated",):
            assert "autogen" in text
            assert row.op in text
        else:
            named = row.key in text and row.symbol in text
            assert named or text.startswith("- func:")


def test_a_delegate_to_nothing_has_only_its_own_rows() -> None:
    functions, _ = read_native_functions(
        b"- func: f(Tensor self) -> Tensor\n  structured_delegate: f.out\n"
        b"  dispatch:\n    SparseCPU: f_sparse\n",
        "n.yaml",
    )
    assert [(r.key, r.symbol) for r in kernel_rows(functions)] == [("SparseCPU", "f_sparse")]


def test_generated_overloads_are_not_generated_again(
    wheel_functions: tuple[NativeFunction, ...],
) -> None:
    once = with_generated(wheel_functions)
    assert len(once) > len(wheel_functions)
    assert with_generated(once) == once
