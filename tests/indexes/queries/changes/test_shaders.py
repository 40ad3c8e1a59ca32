"""What a new kernel for Vulkan needs in GLSL."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.queries.changes import kernels
from indexes.queries.changes.model import Change, ChangeStep
from indexes.queries.gaps.tree import Tree
from tests.indexing import append, opened

VULKAN = "aten/src/ATen/native/vulkan"
GLSL = f"{VULKAN}/glsl"
VARIANTS = """\
unary_op:
  shader_variants:
    - NAME: cumsum
      OPERATOR: cumsum(X)
    - NAME: relu
      OPERATOR: relu(X)
    - NAME: last
"""


def shaders(root: Path, cache: Path, files: dict[str, str]) -> list[ChangeStep]:
    """The planned steps about shaders, where the models run one of their name."""
    ops = root / VULKAN / "ops/Ops.cpp"
    text = ops.read_text().replace(
        "return self_arg;", "return unary_op(self_arg, VK_KERNEL(relu));"
    )
    ops.write_text(text.replace("return convert(v_output);", "return run(VK_KERNEL(cumsum));"))
    append(root, files)
    with opened(root, cache) as index:
        parts = kernels.plan(Tree(index), Change("kernel", "abs", "", "Vulkan", "abs"))
    return [step for step in parts.steps if "/glsl/" in step.location.path]


def test_a_shader_is_written_beside_the_models(tree_copy: Path, cache: Path) -> None:
    files = {f"{GLSL}/{name}.glsl": "void main() {}\n" for name in ("relu", "cumsum")}
    (step,) = shaders(tree_copy, cache, files)
    assert step.action == "add"
    assert step.location.path == f"{GLSL}/abs.glsl"
    assert step.like
    assert step.like.path in files


def test_a_variant_is_named_beside_the_models(tree_copy: Path, cache: Path) -> None:
    (step,) = shaders(tree_copy, cache, {f"{GLSL}/params.yaml": VARIANTS})
    assert step.action == "add"
    assert [line for line in step.code if line.startswith("+ ")] == [
        "+    - NAME: abs",
        "+      OPERATOR: abs(X)",
    ]


@pytest.mark.parametrize("path", ["abs.glsl", "params.yaml"])
def test_a_shader_of_its_name_is_used(tree_copy: Path, cache: Path, path: str) -> None:
    text = f"{VARIANTS}    - NAME: abs\n"
    (step,) = shaders(tree_copy, cache, {f"{GLSL}/{path}": text})
    assert (step.action, step.location.path) == ("edit", f"{GLSL}/{path}")
    assert "abs, which is there" in step.what
