"""The dispatch table on screen, one key away from an operator."""

from __future__ import annotations

from tests.navigator.tui.conftest import Sit


async def test_the_dispatch_table_of_an_operator_and_the_way_back(sit: Sit) -> None:
    async with sit(80, 24) as person:
        await person.asks_for("mul.Tensor")
        await person.presses("d")
        await person.sees("dispatch table of mul.Tensor", "AutogradCPU +7")
        order = [person.screen().index(key) for key in ("CPU +1", "MPS ", "Meta ", "Autograd")]
        assert order == sorted(order)
        for key in ("CPU +1", "MPS", "Meta", "AutogradCPU +7"):
            line = person.line(f" {key} ")
            assert line[25] == " ", line
            assert line[26:].startswith(("mul_", "meta ")), line
        await person.presses("G")
        await person.sees("no kernel and no fallback", "registered")
        await person.presses("escape")
        await person.until(lambda: person.chain.op == "mul.Tensor", "back on the operator")


async def test_the_table_beside_that_of_the_installed_torch(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("mul.Tensor")
        await person.presses("d")
        await person.sees("dispatch table of mul.Tensor", "mul_Tensor")
        await person.presses("L")
        await person.sees("≠ SparseCUDA")
