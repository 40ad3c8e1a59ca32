"""What is registered is compared with the files that the torchgen of a checkout writes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.build.torchgen_rules import TABLE_RULES, read_rules
from indexes.codegen.registrations import Rules, generated_registrations
from indexes.model.vocabulary import DerivativeEntry, NativeFunction
from indexes.readers.yaml.derivatives import read_derivatives
from indexes.readers.yaml.native_functions import read_native_functions
from indexes.source.source import Source

_BLOCK = re.compile(r"TORCH_LIBRARY_IMPL\(\w+,\s*(\w+),\s*m\)\s*\{(.*?)\n\}", re.DOTALL)
_IMPL = re.compile(r'^ *m\.impl\("(?:\w+::)?([^"]+)"', re.MULTILINE)
ATEN, AUTOGRAD = "aten/src/ATen", "tools/autograd"


def _generate(root: Path, into: Path) -> None:
    """Not in the checkout: some of what torchgen writes goes to where it is run."""
    aten, native = root / ATEN, root / ATEN / "native"
    gen = ("torchgen.gen", "--source-path", aten, "--install_dir", into / "aten")
    yaml = (native / "native_functions.yaml", native / "tags.yaml")
    autograd = ("tools.autograd.gen_autograd", *yaml, into / "autograd", root / AUTOGRAD)
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    for folder, module in (("aten", gen), ("autograd", autograd)):
        (into / folder).mkdir()
        run = [sys.executable, "-m", *map(str, module)]
        subprocess.run(run, cwd=into, env=environment, check=True, capture_output=True)


def _written(folder: Path) -> Iterator[tuple[str, str]]:
    """(operator, key) of each registration; the files named Everything hold the others again."""
    for path in folder.rglob("*.cpp"):
        if "Everything" not in path.name:
            for block in _BLOCK.finditer(path.read_text()):
                yield from ((found[1], block[1]) for found in _IMPL.finditer(block[2]))


@pytest.mark.checkout
def test_a_checkout_agrees_with_what_its_torchgen_writes(checkout: Path, tmp_path: Path) -> None:
    _generate(checkout, tmp_path)
    theirs = set(_written(tmp_path))
    rules, problems = read_rules(Source.find(str(checkout)), TABLE_RULES)
    assert not problems
    functions, _ = read_native_functions(
        (checkout / ATEN / "native/native_functions.yaml").read_bytes(), "n.yaml"
    )
    entries, _ = read_derivatives((checkout / AUTOGRAD / "derivatives.yaml").read_bytes(), "d")
    made = {(one.op, one.key) for one in generated_registrations(functions, entries, rules)}
    keys = {key for _, key in theirs}
    ours = {one for one in made if one[1] in keys}  # MPS and XPU are written only where asked for
    assert len(theirs) > 10_000
    assert (sorted(ours - theirs), sorted(theirs - ours)) == ([], [])


@pytest.mark.parametrize(
    ("functionalized", "registered"),
    [
        ("none", set()),
        ("views", {"adjoint", "swapaxes_"}),
        ("all", {"adjoint", "swapaxes_", "absolute_", "__and__.Tensor"}),
    ],
)
def test_composite_operators_decompose_before_functionalization_in_some_versions(
    wheel_derivatives: tuple[DerivativeEntry, ...],
    wheel_functions: tuple[NativeFunction, ...],
    functionalized: str,
    registered: set[str],
) -> None:
    rules = Rules(functionalized=functionalized)  # type: ignore[arg-type]
    made = generated_registrations(wheel_functions, wheel_derivatives, rules)
    found = {one.op for one in made if one.key == "Functionalize"}
    assert found & {"adjoint", "swapaxes_", "absolute_", "__and__.Tensor"} == registered
    assert {"add_.Tensor", "t", "add.out"} <= found
