"""What stands between a key and the screen, as counts: layouts, threads, chains worked out."""

from __future__ import annotations

from navigator.tui.processes.chains import Answer
from tests.navigator.tui.conftest import Person, Sit


async def _next_at_hand(person: Person) -> tuple[str, Answer]:
    """Goes to the list; the operator below the cursor, once its chain has been made ahead."""
    await person.asks_for("mul")
    screen, session = person.browser, person.session
    assert session is not None
    screen.set_focus(screen.operators.list)
    following = screen.operators.list.around()[0]
    await person.until(lambda: session.chains.cached(following), following)
    answer = session.chains.cached(following)
    assert answer is not None
    return following, answer


async def test_the_next_operator_is_there_before_its_key(sit: Sit) -> None:
    async with sit(120, 40) as person:
        following, answer = await _next_at_hand(person)
        person.browser.operators.list.action_move(1)
        assert person.chain.op == following
        assert person.chain.answer is answer
        where = answer.chain.hops[0].location
        assert where is not None
        await person.is_at(f"{where.path}:{where.line}")


async def test_the_file_that_enter_would_open_is_read_before(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("mul")
        session = person.session
        assert session is not None
        await person.types("FunctionsManual.cpp:3", into="colon")
        path = "torch/csrc/autograd/FunctionsManual.cpp"
        await person.until(lambda: session.documents.cached(path), path)
        assert person.place() != f"{path}:3"
        await person.presses("enter")
        await person.is_at("FunctionsManual.cpp:3")
