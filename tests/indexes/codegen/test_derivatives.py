"""Matches are checked against torchgen's own, over every operator."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.codegen.derivatives import Derivatives
from indexes.codegen.variants import with_generated
from indexes.model.vocabulary import DerivativeEntry, NativeFunction
from indexes.readers.project.torchgen_lists import ForeachRule
from indexes.readers.yaml.derivatives import read_derivatives
from indexes.readers.yaml.native_functions import read_native_functions
from tests.torchgen import rules_of

ORACLE = """
import json, sys
sys.path[:0] = sys.argv[4:]
try:
    from autograd.load_derivatives import load_derivatives
except ImportError:
    from tools.autograd.load_derivatives import load_derivatives
from torchgen.api.autograd import match_differentiability_info
from torchgen.gen import parse_native_yaml
derivatives, native, tags = sys.argv[1:4]
infos, _ = load_derivatives(derivatives, native, tags)
functions = list(parse_native_yaml(native, tags).native_functions)
matches = {str(f.func.func.name): None if f.info is None else {k: i.op for k, i in f.info.items()}
           for f in match_differentiability_info(functions, infos)}
json.dump(matches, sys.stdout)
"""


def compare_with_torchgen(derivatives: Path, aten: Path, path: list[Path]) -> None:
    native, tags = aten / "native/native_functions.yaml", aten / "native/tags.yaml"
    command = [sys.executable, "-c", ORACLE, *map(str, (derivatives, native, tags, *path))]
    oracle = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    functions, _ = read_native_functions(native.read_bytes(), "n.yaml")
    entries, _ = read_derivatives(derivatives.read_bytes(), "d.yaml")
    rules = rules_of(path[-1])
    matcher = Derivatives(entries, functions, foreach=rules.foreach)
    assert len(oracle) == len(with_generated(functions, rules.keys.generation))
    for op, expected in oracle.items():
        found = matcher.find(op)
        if found.rule.startswith("out= overloads"):
            continue
        assert (found.entry is None) == (expected is None), op
        nodes = {key: name for key, name in (expected or {}).items() if name}
        assert dict(found.grad_fns) == nodes, op


def test_the_wheel_agrees_with_its_torchgen(packaged: Path) -> None:
    path = [packaged, packaged.parent.parent]
    compare_with_torchgen(packaged / "autograd/derivatives.yaml", packaged / "ATen", path)


@pytest.mark.checkout
def test_a_checkout_agrees_with_its_torchgen() -> None:
    root = Path(os.environ.get("TORCHNAV_CHECKOUT") or pytest.skip("no TORCHNAV_CHECKOUT"))
    derivatives = root / "tools/autograd/derivatives.yaml"
    compare_with_torchgen(derivatives, root / "aten/src/ATen", [root])


@pytest.mark.parametrize(
    ("op", "entry", "node", "rule"),
    [
        ("mul.Tensor", "mul.Tensor", "MulBackward0", "for this overload"),
        ("mul_.Tensor", "mul.Tensor", "MulBackward0", "in-place overloads use"),
        ("mul.out", None, None, "never differentiable"),
        ("expand_copy", "expand", "ExpandBackward0_copy", "_copy operator"),
        ("_foreach_mul.List", "mul.Tensor", "ForeachMulBackward0List", "foreach"),
        ("_foreach_mul_.List", "mul.Tensor", "MulBackward0", "foreach"),
        ("bernoulli_.float", "bernoulli_.float", "BernoulliBackward2", "for this overload"),
        ("relu_", "relu", "ReluBackward0", "in-place overloads use"),
        ("linear_backward.out", None, None, "no entry"),
        ("heaviside.out", None, None, "no entry"),
        ("size.int", None, None, "no entry"),
        ("no_such_op", None, None, "not an operator"),
    ],
)
def test_matches(
    wheel_derivatives: tuple[DerivativeEntry, ...],
    wheel_functions: tuple[NativeFunction, ...],
    op: str,
    entry: str | None,
    node: str | None,
    rule: str,
) -> None:
    found = Derivatives(wheel_derivatives, wheel_functions).find(op)
    assert (found.entry.op if found.entry else None) == entry
    assert found.grad_fns.get("Default") == node
    assert rule in found.rule
    assert found.exact == (entry == op)


@pytest.mark.parametrize(
    ("foreach", "nodes"),
    [
        ("none", [None, None, None, None]),
        ("unary", ["ForeachExpBackward0", "ForeachExpBackward0", None, None]),
        (
            "functional",
            ["ForeachExpBackward0", "ForeachExpBackward0", "ForeachMulBackward0List", None],
        ),
        ("all", ["ForeachExpBackward0", "ExpBackward0", "ForeachMulBackward0List", "MulBackward0"]),
    ],
)
def test_foreach_formulas_of_older_versions(
    wheel_derivatives: tuple[DerivativeEntry, ...],
    wheel_functions: tuple[NativeFunction, ...],
    foreach: ForeachRule,
    nodes: list[str | None],
) -> None:
    matcher = Derivatives(wheel_derivatives, wheel_functions, foreach=foreach)
    ops = ("_foreach_exp", "_foreach_exp_", "_foreach_mul.List", "_foreach_mul_.List")
    assert [matcher.find(op).grad_fns.get("Default") for op in ops] == nodes
