"""Differences of two versions are those between torchgen's own readings: none missed, none
invented."""

from __future__ import annotations

import io
import random
import re
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

import pytest

from tests.indexes.queries.diff.agreement import Differences, Yaml, ours, theirs

_EDITS = (
    (r"(?m)^  tags: pointwise$", "  tags: [pointwise, core]"),
    (r"(?m)^    CPU: (\w+)$", r"    CPU, ZeroTensor: \1"),
    (r"(?m)^    CompositeExplicitAutograd: (\w+)$", r"    CompositeExplicitAutograd: \1_edited"),
    (r"(?m)^  variants: function, method$", "  variants: method, function"),
    (r"(?m)^  python_module: linalg$", "  python_module: special"),
)


def _edited(text: str, dice: random.Random) -> str:
    """A version that differs here and there in everything that an entry can say."""
    for pattern, new in _EDITS:
        places = list(re.finditer(pattern, text))
        for found in sorted(dice.sample(places, 12), key=lambda m: -m.start()):
            text = text[: found.start()] + found.expand(new) + text[found.end() :]
    blocks = re.split(r"(?m)^(?=- )", text)
    bases = [re.match(r"- func: (\w+?)_?[.(]", block) for block in blocks]
    counts = Counter(found[1] for found in bases if found)
    plain = [i for i, found in enumerate(bases) if found and counts[found[1]] == 1]
    chosen = dice.sample(plain, 12)
    for at in chosen[:6]:
        blocks[at] = ""
    for at in chosen[6:]:
        star = "" if "*," in blocks[at].partition("\n")[0] else "*, "
        blocks[at] = blocks[at].replace(") -> ", f", {star}int added=0) -> ", 1)
    return "".join(blocks)


def test_an_edited_file_differs_as_torchgen_reads_it(packaged: Path, tmp_path: Path) -> None:
    wheel = Yaml.packaged(packaged)
    dice = random.Random(11)
    native = tmp_path / "native_functions.yaml"
    native.write_text(_edited(wheel.native.read_text(), dice))
    derivatives = tmp_path / "derivatives.yaml"
    formulas = wheel.derivatives.read_text().replace("self: grad\n", "self: grad * 1\n")
    derivatives.write_text(formulas.replace("- name: abs(", "- name: abs_(", 1))
    found = ours(wheel, Yaml(native, wheel.tags, derivatives, wheel.torchgen))
    assert found == theirs(wheel, Yaml(native, wheel.tags, derivatives, wheel.torchgen))
    facets = {facet for facet, _, _ in found}
    assert facets == {"operator", "schema", "dispatch", "entry", "tags", "formula"}


@pytest.mark.checkout
def test_a_checkout_and_the_wheel(checkout: Path, packaged: Path) -> None:
    before, after = Yaml.of(checkout), Yaml.packaged(packaged)
    _agree(before, after)


@pytest.mark.checkout
def test_a_checkout_and_commits_of_its_history(checkout: Path, tmp_path: Path) -> None:
    path = "aten/src/ATen/native/native_functions.yaml"
    log = _git(checkout, "log", "--format=%H", "-n", "100", "HEAD", "--", path).decode().split()
    if len(log) < 2:
        pytest.skip("the checkout has no history")
    for commit in {log[1], log[len(log) // 2], log[-1]}:
        tree = _extract(checkout, commit, tmp_path / commit[:10])
        generation = tree / "torchgen/native_function_generation.py"
        # Before the release of 1.13 torchgen gave the kernels that it makes other names.
        if generation.exists() and "kernel=kernel_name" in generation.read_text():
            _agree(Yaml.of(tree), Yaml.of(checkout))


def _agree(before: Yaml, after: Yaml) -> None:
    mine, others = ours(before, after), theirs(before, after)
    assert (_some(others - mine), _some(mine - others)) == ([], [])
    assert mine


def _some(differences: Differences) -> list[tuple[str, str, str]]:
    return sorted(differences)[:10]


def _extract(checkout: Path, commit: str, into: Path) -> Path:
    wanted = (
        "torchgen",
        "tools/autograd",
        "aten/src/ATen/native/tags.yaml",
        "aten/src/ATen/native/native_functions.yaml",
    )
    there = _git(checkout, "ls-tree", "--name-only", commit, *wanted).decode().split()
    archive = _git(checkout, "archive", commit, *there)
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        files.extractall(into, filter="data")
    return into


def _git(checkout: Path, *arguments: str) -> bytes:
    return subprocess.run(
        ["git", "-C", str(checkout), *arguments], capture_output=True, check=True
    ).stdout
