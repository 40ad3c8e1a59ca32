"""The screens beside the browser, and ways to get anywhere."""

from __future__ import annotations

import pytest
from textual import events
from textual.widget import Widget

from navigator.tui.screens.places import PlacesWorkspace
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.line_list import LineList
from tests.navigator.tui.conftest import Sit


@pytest.mark.parametrize(
    ("pasted", "op"),
    [
        ("add.Tensor", "add.Tensor"),
        ("aten::mul", "mul.Tensor"),
        ("torch.softmax", "softmax.int"),
        ("Tensor.add_", "add_.Tensor"),
    ],
)
async def test_a_pasted_name_opens_its_chain(sit: Sit, pasted: str, op: str) -> None:
    async with sit(80, 24) as person:
        await person.asks_for("relu")
        await person.types(pasted, into="colon")
        await person.presses("enter")
        await person.until(lambda: person.chain.op == op, op)


async def test_a_pasted_traceback_leads_to_the_check(sit: Sit) -> None:
    async with sit(120, 30) as person:
        await person.asks_for("relu")
        await person.presses("colon")
        text = 'Traceback (most recent call last):\n  File "x.py", line 3, in <module>\n'
        person.app.screen.query_one(FilterInput).post_message(
            events.Paste(f"{text}RuntimeError: self must be a matrix\n")
        )
        await person.sees("TORCH_CHECK: self must be a matrix")
        await person.presses("enter")
        await person.until(lambda: "LinearAlgebra.cpp" in person.place(), "the check")


async def test_a_pasted_node_or_stub_or_file(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.asks_for("relu")
        await person.types("MulBackward0", into="colon")
        await person.sees("mul.Tensor")
        await person.presses("escape", "colon")
        await person.types("SoftMax.cu:20")
        await person.sees("SoftMax.cu:20")
        await person.presses("enter")
        await person.is_at("aten/src/ATen/native/cuda/SoftMax.cu:20")


async def test_a_name_that_is_near(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("relu")
        await person.types("sofmax.int", into="colon")
        await person.sees("nothing is named sofmax.int", "softmax.int")


async def test_finding_a_symbol_and_opening_it(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("relu")
        await person.types("mul_kernel", into="s")
        await person.sees("mul_kernel_cuda", "BinaryMulKernel.cu")
        while "mul_kernel_cuda" not in person.pane(PlacesWorkspace).name_here():
            await person.presses("down")
        await person.presses("enter")
        await person.until(lambda: "BinaryMulKernel.cu" in person.place(), "the kernel")
        await person.presses("left_square_bracket")
        await person.until(lambda: "native_functions.yaml" in person.place(), "where I was")


async def test_finding_nothing(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("relu")
        await person.types("zzzzqqqq", into="s")
        await person.sees("nothing is named zzzzqqqq")
        await person.presses("enter", "escape")
        await person.sees("Schema")


async def test_what_a_tensor_is_made_of(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("relu")
        await person.presses("T")
        await person.sees("members of TensorImpl", "storage_", "key_set_", "TensorImpl.h")
        await person.presses("down", "space")
        await person.sees("accessor")
        await person.presses("enter")
        await person.until(lambda: "TensorImpl.h" in person.place(), "TensorImpl.h")


async def test_how_a_backward_pass_runs(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("relu")
        await person.presses("E")
        await person.sees("phases of a backward pass", "Engine::", "engine.cpp")
        await person.presses("tab")
        await person.presses("escape", "escape")
        await person.sees("Schema")


async def test_help_lists_the_keys_as_they_are(sit: Sit) -> None:
    async with sit(100, 60) as person:
        await person.presses("question_mark")
        await person.sees("Edit", "g d", "go.definition", "config.toml")
        await person.presses("escape")
        await person.sees_no("go.definition")


async def test_the_palette_knows_operators_and_actions(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("relu")
        await person.types("softmax.int", into="ctrl+p")
        await person.sees("softmax.int(Tensor self")
        await person.presses("enter", "enter")
        await person.until(lambda: person.chain.op == "softmax.int", "softmax.int")


async def test_what_the_answers_are_from(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("relu")
        await person.presses("i")
        await person.sees("checkout, PyTorch 2.7.0a0", "not known", "torchnav clone --history")
        await person.presses("i")
        await person.sees_no("checkout, PyTorch")


async def test_letters_jump_to_any_hop(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.asks_for("softmax.int")
        await person.presses("f")
        await person.sees(" a ")
        letter = person.line("● softmax.int ").split()[0]
        await person.presses(letter)
        await person.until(lambda: "native_functions.yaml" in person.place(), "the schema")
        assert person.workspace.is_in_source


async def test_the_operator_that_a_call_means(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("softmax.int")
        while "_softmax" not in person.workspace.name_here():
            await person.presses("j")
        await person.presses("o")
        await person.until(lambda: person.chain.op == "_softmax", "_softmax")


async def test_back_and_forward_through_operators(sit: Sit) -> None:
    async with sit() as person:
        await person.asks_for("relu")
        await person.types("mul.Tensor", into="colon")
        await person.presses("enter")
        await person.until(lambda: person.chain.op == "mul.Tensor", "mul")
        await person.presses("alt+left")
        await person.until(lambda: person.chain.op == "relu", "relu")
        await person.sees("relu", "threshold_backward")
        await person.presses("alt+right")
        await person.until(lambda: person.chain.op == "mul.Tensor", "mul again")
        await person.presses("right_square_bracket")
        await person.sees("this is the last place")


async def test_filters(sit: Sit) -> None:
    async with sit() as person:
        await person.types("softmax key:CUDA no:derivative")
        await person.sees("2/", "_softmax.out", "_softmax_backward_data")
        assert person.browser.operators.list.row_count == 2
        await person.presses("escape", "escape")
        await person.until(lambda: not person.browser.operators.filter.value, "no filter")
        await person.until(person.lists_every_operator, "the whole list")


async def test_a_click_chooses_an_operator_a_hop_and_folds_a_group(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.types("mul")
        await person.sees("mul.Tensor")
        await person.pilot.click(person.browser.operators.list, offset=(3, 0))
        hops = person.chain.hops
        await person.until(
            lambda: (
                person.chain.is_ready and hops.chain and hops.chain.op.full_name == "mul.Tensor"
            ),
            "the chain",
        )
        rows = hops.row_count
        heading = next(at for at, row in enumerate(hops.rows) if row.is_open and not row.step)
        await person.pilot.click(hops, offset=(3, heading))
        await person.until(lambda: hops.row_count < rows, "the group folded")
        await person.pilot.click(hops, offset=(3, heading))
        await person.until(lambda: hops.row_count == rows, "the group open again")


async def test_a_list_draws_only_what_is_in_view(sit: Sit) -> None:
    class Numbers(LineList):
        drawn = 0

        @property
        def row_count(self) -> int:
            return 1_000_000

        def row(self, index: int, width: int) -> list[tuple[str, str]]:
            self.drawn += 1
            return [(str(index), "")]

    async with sit(80, 24) as person:
        numbers = Numbers()
        await person.app.screen.mount(numbers)
        numbers.rows_changed()
        person.app.screen.set_focus(numbers)
        await person.presses("end")
        await person.pauses()
        assert numbers.cursor == 999_999
        assert numbers.drawn < 500


async def test_what_a_closed_screen_has_painted_is_forgotten(sit: Sit) -> None:
    """Textual's cache of colours holds the widgets of the last screens, and so their lines."""
    async with sit(120, 40) as person:
        await person.presses("f1")
        screen = person.app.screen
        widgets = [one for one in screen.walk_children(with_self=True) if isinstance(one, Widget)]
        await person.until(lambda: any(one._styles_cache._cache for one in widgets), "help")
        await person.presses("escape")
        await person.until(lambda: not screen.is_attached, "the screen below")
        assert not any(one._styles_cache._cache for one in widgets)
