"""What somebody does who sees torchnav for the first time."""

from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import Input

from navigator.tui.chain import chain_tree
from tests.navigator.tui.conftest import Sit

SOFTMAX_CPU = "aten/src/ATen/native/SoftMax.cpp"
SOFTMAX_CUDA = "aten/src/ATen/native/cuda/SoftMax.cu"


def line_of(tree: Path, path: str, text: str) -> int:
    lines = (tree / path).read_text().split("\n")
    return next(number for number, line in enumerate(lines, 1) if text in line)


async def test_softmax_to_both_kernels_into_an_editor_and_back(
    sit: Sit, tree: Path, editor: Path
) -> None:
    cpu = line_of(tree, SOFTMAX_CPU, "TORCH_IMPL_FUNC(softmax_cpu_out)")
    cuda = line_of(tree, SOFTMAX_CUDA, "TORCH_IMPL_FUNC(softmax_cuda_out)")
    async with sit(80, 24) as person:
        await person.until(person.lists_every_operator, "the whole list")
        await person.types("softmax")
        await person.sees("softmax.int", "_softmax")
        await person.presses("enter")
        await person.sees("1 CPU", "2 CUDA", "SoftMaxKernel.cpp")

        composite = line_of(tree, SOFTMAX_CPU, "Tensor softmax(")
        await person.presses("g", "k")
        await person.is_at(f"{SOFTMAX_CPU}:{composite}")
        await person.presses("g", "k")
        await person.is_at(f"{SOFTMAX_CPU}:{cpu}")
        await person.sees("TORCH_IMPL_FUNC(softmax_cpu_out)")

        await person.presses("e")
        await person.until(editor.exists, "the editor")
        await person.until(editor.read_text, "its call")
        assert editor.read_text() == f"--goto {tree / SOFTMAX_CPU}:{cpu}\n"

        await person.presses("g", "k")
        await person.is_at(f"{SOFTMAX_CUDA}:{cuda}")
        await person.sees("TORCH_IMPL_FUNC(softmax_cuda_out)")

        await person.presses("left_square_bracket")
        await person.is_at(f"{SOFTMAX_CPU}:{cpu}")
        await person.presses("escape", "escape")
        await person.sees("_softmax.out", "softmax_cpu_out", "structured_delegate")


async def test_the_next_kernel_may_be_folded_away(
    sit: Sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How much of a chain is open depends on the room that there was."""
    monkeypatch.setattr(chain_tree, "_LEAST", 3)
    monkeypatch.setattr(chain_tree, "BUDGET", 3)
    async with sit(80, 24) as person:
        await person.asks_for("softmax")
        hops = person.chain.hops
        assert hops.chain is not None
        kernels = [hop for hop in hops.chain.hops if hop.role == "kernel"]
        met = []
        for _ in kernels:
            await person.presses("g", "k")
            met.append(hops.hop)
        assert {hop.id for hop in met if hop} == {hop.id for hop in kernels}


async def test_keys_may_be_typed_before_the_answers_are_there(
    sit: Sit, tree: Path, editor: Path
) -> None:
    """As when a terminal is slow: everything at once, and the last key means the right file."""
    async with sit(80, 24) as person:
        await person.types("mul.Tensor")
        await person.presses("enter", "g", "k", "e")
        await person.until(editor.exists, "the editor")
        line = line_of(tree, "aten/src/ATen/native/BinaryOps.cpp", "TORCH_IMPL_FUNC(mul_out)")
        await person.until(editor.read_text, "its call")
        assert editor.read_text().endswith(f"/aten/src/ATen/native/BinaryOps.cpp:{line}\n")


@pytest.mark.parametrize("opens", ["/", ":", "s"])
@pytest.mark.parametrize("text", ["gelu", "gd", "yn", "sum"])
async def test_a_text_pasted_behind_a_key_that_asks_for_one_is_whole(
    sit: Sit, opens: str, text: str
) -> None:
    """Its letters are keys of their own, and first strokes of two, where nothing is asked for.
    A slash goes on with the filter."""
    whole = f"mul.Tensor{text}" if opens == "/" else text
    async with sit() as person:
        await person.asks_for("mul.Tensor")
        await person.types(opens + text)
        await person.until(lambda: _typed_in(person.app.focused) == whole, whole)


def _typed_in(line: object) -> str | None:
    return line.value if isinstance(line, Input) else None


async def test_a_formula_of_the_backward_pass(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("mul.Tensor")
        await person.presses("g", "b")
        await person.sees("derivatives.yaml", "mul_tensor_backward")
        await person.is_at(person.place())
        assert person.place().startswith("tools/autograd/derivatives.yaml:")


async def test_an_operator_named_on_the_command_line(sit: Sit) -> None:
    async with sit(op="torch.add") as person:
        await person.until(lambda: person.chain.is_ready, "the chain of add")
        assert person.chain.op == "add.Tensor"


async def test_a_name_that_is_none(sit: Sit) -> None:
    async with sit(op="no_such_operator_at_all") as person:
        await person.sees("no_such_operator_at_all")
        await person.until(person.lists_every_operator, "the whole list")
