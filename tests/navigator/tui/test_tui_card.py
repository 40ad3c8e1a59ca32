"""The card above the chain: fixed digits, routes that are followed, operators that unfold."""

from __future__ import annotations

import pytest
from textual.widget import Widget

from navigator.tui.chain.card_view import DIGITS
from navigator.tui.chain.chain_tree import operator_below
from navigator.tui.session import Session
from tests.navigator.tui.conftest import Person, Sit

KERNEL = "aten/src/ATen/native/cpu/BinaryOpsKernel.cpp"


def focused(person: Person) -> Widget | None:
    return person.app.focused


def on_card(person: Person) -> str:
    line = person.chain.card.line
    return line.label if line else ""


async def test_enter_on_an_operator_leads_to_its_card(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.asks_for("mul.Tensor")
        await person.sees("1 CPU", "mul_kernel", "2 CUDA", "3 MPS", "4 grad", "MulBackward0")
        assert focused(person) is person.chain.card
        await person.presses("j")
        await person.until(lambda: person.place().startswith(f"{KERNEL}:"), "the CPU kernel")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
@pytest.mark.parametrize("op", ["mul.Tensor", "softmax.int"])
async def test_digits_always_mean_the_same(sit: Sit, op: str, size: tuple[int, int]) -> None:
    labels = {"CPU": "CPU", "CUDA": "CUDA", "MPS": "MPS", "Gradient": "grad", "Python": "Python"}
    async with sit(*size) as person:
        await person.asks_for(op)
        for digit, words in DIGITS.items():
            await person.presses(digit)
            assert on_card(person) == labels.get(words, "tests")
        await person.presses("tab", "1")
        assert on_card(person) == "CPU"


async def test_a_digit_without_a_line_says_so(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("gelu")
        await person.presses("3")
        await person.sees("gelu › no MPS kernel in this tree")
        await person.asks_for("sum.out")
        await person.presses("5")
        await person.sees("the card of sum.out has no line for Python")


async def test_a_route_is_followed_step_by_step_and_left_again(sit: Sit) -> None:
    async with sit(120, 50) as person:
        await person.asks_for("mul.Tensor")
        await person.presses("2", "enter")
        await person.sees("CUDA route", "mul_kernel_cuda", "1 CPU")
        answer, hops = person.chain.answer, person.chain.hops
        assert answer is not None
        route = next(one for one in answer.routes if one.device == "CUDA")
        assert focused(person) is hops
        steps = [row.hop for row in hops.rows if row.hop and row.group == hops.rows[0].group]
        assert [hop.location for hop in steps[:-1]] == [one.location for one in route.via]
        for hop in steps[1:]:
            await person.presses("j")
            assert hop.location is not None
            await person.is_at(str(hop.location))
        assert person.place() == str(route.location)
        await person.presses("enter", "escape", "escape")
        assert on_card(person) == "CUDA"
        assert not hops.route
        await person.presses("escape")
        assert focused(person) is person.browser.operators.list


async def test_the_cursor_goes_from_the_card_into_the_chain_and_back(sit: Sit) -> None:
    async with sit(120, 50) as person:
        await person.asks_for("mul.Tensor")
        card, hops = person.chain.card, person.chain.hops
        await person.presses("G", "j")
        assert focused(person) is hops
        await person.is_at("native_functions.yaml:280")
        await person.presses("home", "k", "k")
        assert focused(person) is card


async def test_an_operator_unfolds_in_place_and_folds_again(sit: Sit) -> None:
    async with sit(120, 50) as person:
        await person.asks_for("mean.dim")
        hops = person.chain.hops
        assert hops.chain is not None
        call = next(hop for hop in hops.chain.hops if operator_below(hop) == "sum.IntList_out")
        hops.select(call.id)
        person.app.screen.set_focus(hops)
        await person.sees("sum_out ▸")
        before = hops.row_count
        await person.presses("enter")
        await person.until(lambda: hops.row_count > before, "its chain")
        below = hops.rows[hops.cursor + 1 :]
        assert any(row.hop and row.hop.symbol == "sum.IntList_out" for row in below)
        assert len({row.key for row in hops.rows}) == hops.row_count
        await person.presses("j", "left", "left")
        assert hops.row_count == before
        assert hops.hop == call


async def test_the_card_keeps_its_line_when_the_index_is_newer(sit: Sit) -> None:
    async with sit(120, 50) as person:
        await person.asks_for("mul.Tensor")
        await person.presses("2")
        before = person.chain.answer
        assert person.session is not None
        person.opens(Session(person.session.index))
        await person.until(lambda: person.chain.answer is not before, "the newer answer")
        assert on_card(person) == "CUDA"
