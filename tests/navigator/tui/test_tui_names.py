"""The filter box knows every name, as the other boxes and commands do."""

from __future__ import annotations

from threading import Event

import pytest

from navigator.tui.history import Visit
from navigator.tui.panes.operator_pane import OperatorPane
from navigator.tui.processes.chains import Answer, Chains
from tests.navigator.tui.conftest import PATIENCE, Sit


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("torch.optim.Adam", "torch/optim/_adam.py"),
        ("F.relu", "torch/nn/functional.py"),
        ("SoftMax.cpp:32", "aten/src/ATen/native/SoftMax.cpp"),
        ("at::native::mul_kernel_cuda", "aten/src/ATen/native/cuda/BinaryMulKernel.cu"),
    ],
)
async def test_enter_opens_what_a_name_means(sit: Sit, name: str, place: str) -> None:
    async with sit(80, 24) as person:
        await person.filters(name)
        await person.presses("enter")
        await person.until(lambda: person.place().startswith(place), place)


@pytest.mark.parametrize("op", ["relu", None])
async def test_a_chain_that_comes_late_does_not_lead_away_from_what_was_opened(
    sit: Sit, monkeypatch: pytest.MonkeyPatch, op: str | None
) -> None:
    """Also if the chain is known by now, but not to the one who asked first."""
    may_end, answer = Event(), Chains.__call__
    known: dict[str, Answer] = {}

    def late(chains: Chains, name: str) -> Answer:
        may_end.wait(PATIENCE)
        return answer(chains, name)

    async with sit(120, 40) as person:
        await person.until(person.has_index, "the index")
        assert person.session is not None
        monkeypatch.setattr(Chains, "cached", lambda _, name: known.get(name))
        monkeypatch.setattr(Chains, "__call__", late)
        person.chain.follow("relu")
        if op is not None:
            known[op] = answer(person.session.chains, op)
        person.workspace.jump(Visit(op, "torch/nn/functional.py", 18))
        await person.is_at("functional.py:18")
        may_end.set()
        await person.until(lambda: person.chain.is_ready, "the chain")
        await person.app.workers.wait_for_complete()
        await person.pauses(0.3)  # the source follows after a moment
        assert person.place() == "torch/nn/functional.py:18"


async def test_a_python_name_stands_above_the_operators_that_it_calls(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.filters("F.relu")
        await person.sees("function", "relu(Tensor self)")
        rows = person.pane(OperatorPane).list
        assert rows.place is not None
        assert rows.place.kind == "function"
        await person.until(lambda: person.chain.op == "relu", "its operator")


async def test_what_a_python_function_calls_stands_below_it(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.filters("torch.optim.zero_grad")
        await person.sees("Python function, not an ATen operator", "mul.Tensor")


async def test_a_node_class_shows_its_operators(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.filters("MulBackward0")
        await person.until(lambda: person.chain.op == "mul.Tensor", "mul.Tensor")


async def test_names_that_hold_what_was_typed_are_offered(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.filters("softmax_lastdim_kernel_im")
        await person.sees("names that contain it", "softmax_lastdim_kernel_impl")


async def test_a_slash_before_a_name_is_no_part_of_it(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.filters("/MulBackward0")
        await person.until(lambda: person.chain.op == "mul.Tensor", "mul.Tensor")
        assert person.pane(OperatorPane).filter.value == "MulBackward0"


async def test_files_of_one_name_are_told_apart(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.filters("Activation.cpp")
        await person.sees("native/Activation.cpp", "cpu/Activation.cpp", "names 4 files")


async def test_a_place_beside_a_narrow_list_says_what_it_is(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.filters("cunn_SoftMaxUnused")
        await person.sees("__global__", "cuda/SoftMax.cu:60", "Enter opens it")


async def test_an_empty_box_leads_back_to_the_start_page(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.filters("cunn_SoftMaxUnused")
        await person.sees("Enter opens it")
        await person.presses("ctrl+u")
        await person.until(lambda: person.chain.is_start, "the start page")


async def test_near_names_are_offered_as_such(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.filters("relu.nothing")
        await person.sees("not found; near names", "relu")


async def test_nothing_leaves_no_other_chain_standing(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("relu")
        await person.types("zzzqqq", into="slash")
        await person.sees("nothing is named reluzzzqqq")
        assert person.chain.op is None


async def test_nothing_leaves_no_other_source_standing(sit: Sit) -> None:
    async with sit(160, 45) as person:
        await person.asks_for("relu")
        await person.until(lambda: person.place() != "", "its source")
        await person.types("zzzqqq", into="slash")
        await person.sees("nothing is named reluzzzqqq")
        await person.sees_no("native_functions.yaml")


async def test_a_message_shows_the_line_that_says_it(sit: Sit) -> None:
    async with sit(160, 45) as person:
        await person.filters("RuntimeError: Boolean inputs not supported for relu")
        await person.sees("Activation.cpp:36")
        assert person.chain.op is None


async def test_a_name_in_capitals_is_no_operator_in_another_case(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.filters("MPS")
        await person.sees("operators with these letters", "_mps_convolution")
        rows = person.pane(OperatorPane).list
        assert rows.place is not None
        assert rows.place.kind == "key"


async def test_a_key_that_there_is_not_is_told(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.filters("key:CUDAA")
        await person.sees("no operator matches key:CUDAA; keys: CUDA")


async def test_a_name_comes_before_operators_that_only_have_its_letters(sit: Sit) -> None:
    """``div.Tensor_mode`` has the letters of Node in their order."""
    async with sit(120, 40) as person:
        await person.filters("Node")
        rows = person.pane(OperatorPane).list
        await person.until(lambda: rows.place is not None, "places")
        await person.sees("operators with these letters", "div.Tensor_mode")
        assert rows.place is not None
        assert rows.place.name.endswith("Node")
        assert rows.place.op is None


async def test_letters_that_are_no_name_leave_the_operators_that_have_them(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.filters("sfmx")
        await person.sees("softmax.int")
        await person.pauses(0.5)
        assert person.pane(OperatorPane).list.current is not None
