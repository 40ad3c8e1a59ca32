"""What stands between a key and the screen, as counts: layouts, threads, chains worked out."""

from __future__ import annotations

from pathlib import Path
from time import monotonic, sleep

import pytest

from indexes.model.errors import NotFound
from indexes.model.vocabulary import Chain
from indexes.queries.index import Index
from indexes.source.source import Source
from navigator.tui.processes.chain_process import ChainProcess
from navigator.tui.processes.chains import Chains
from tests.navigator.tui.conftest import PATIENCE, Person, Sit
from tests.tree_marks import TREE


class _Made:
    """Works out chains here, and remembers which."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.ops: list[str] = []

    def __call__(self, op: str) -> Chain:
        self.ops.append(op)
        return self._index.chain(op)


def _wait_for(chains: Chains, op: str) -> Chain:
    end = monotonic() + PATIENCE
    while (chain := chains.at_hand(op)) is None:
        assert monotonic() < end, f"no chain of {op}"
        sleep(0.01)
    return chain


@pytest.fixture
def cache(small_tree: tuple[str, ...]) -> Path:
    return Path(small_tree[3])


def test_chains_are_made_ahead_by_another_process(tree_index: Index, cache: Path) -> None:
    made = _Made(tree_index)
    chains = Chains(made, lambda: ChainProcess(Source.find(str(TREE)), cache))
    chains.ahead(["mul.Tensor", "add.Tensor"])
    assert _wait_for(chains, "add.Tensor") == tree_index.chain("add.Tensor")
    assert chains("mul.Tensor") == tree_index.chain("mul.Tensor")
    assert made.ops == []
    with pytest.raises(NotFound):
        chains("no_such_operator")
    chains.close()
    assert chains("relu") == tree_index.chain("relu")
    assert made.ops == ["no_such_operator", "relu"]


def test_chains_are_made_here_where_no_process_starts(tree_index: Index) -> None:
    def fails() -> ChainProcess:
        raise OSError("no more processes")

    made = _Made(tree_index)
    chains = Chains(made, fails)
    chains.ahead(["mul.Tensor"])
    assert chains("add.Tensor") is chains("add.Tensor") is chains.at_hand("add.Tensor")
    assert made.ops == ["add.Tensor"]
    chains.close()


def test_a_process_that_ended_answers_nothing(cache: Path) -> None:
    process = ChainProcess(Source.find(str(TREE)), cache)
    process.close()
    assert process.chain("relu") is None


async def _next_at_hand(person: Person) -> tuple[str, Chain]:
    """Goes to the list; the operator below the cursor, once its chain has been made ahead."""
    await person.asks_for("mul")
    screen, session = person.browser, person.browser.session
    assert session is not None
    screen.set_focus(screen.operators.list)
    following = screen.operators.list.around()[0]
    await person.until(lambda: session.chains.at_hand(following), following)
    chain = session.chains.at_hand(following)
    assert chain is not None
    return following, chain


async def test_the_next_operator_is_there_before_its_key(sit: Sit) -> None:
    async with sit(120, 40) as person:
        following, chain = await _next_at_hand(person)
        screen = person.browser
        screen.operators.list.action_move(1)
        screen.follow(following)
        assert screen.chain.hops.chain is chain
        assert screen.source.view.line == chain.hops[0].location.line  # type: ignore[union-attr]


async def test_the_file_that_enter_would_open_is_read_before(sit: Sit) -> None:
    async with sit(120, 40) as person:
        await person.asks_for("mul")
        session = person.browser.session
        assert session is not None
        await person.presses("colon")
        await person.types("FunctionsManual.cpp:3")
        path = "torch/csrc/autograd/FunctionsManual.cpp"
        await person.until(lambda: session.shelf.at_hand(path, 3), path)
        assert person.place() != f"{path}:3"
        await person.presses("enter")
        await person.is_at("FunctionsManual.cpp:3")
