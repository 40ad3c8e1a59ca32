"""Chains worked out ahead by another process, and without one."""

from __future__ import annotations

import os
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from time import monotonic, sleep

import pytest

from indexes.model.errors import NotFound
from indexes.queries.index import Index
from navigator.tui.processes.chains import Answer, Chains, answer_in_process, answer_of
from tests.navigator.tui.conftest import PATIENCE
from tests.tree_marks import TREE


class _Made:
    """Works out chains here, and remembers which."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.ops: list[str] = []

    def __call__(self, op: str) -> Answer:
        self.ops.append(op)
        return answer_of(self._index, op)


def _wait_for(chains: Chains, op: str) -> Answer:
    end = monotonic() + PATIENCE
    while (chain := chains.cached(op)) is None:
        assert monotonic() < end, f"no chain of {op}"
        sleep(0.01)
    return chain


@pytest.fixture
def cache(small_tree: tuple[str, ...]) -> Path:
    return Path(small_tree[3])


def test_chains_are_made_ahead_by_another_process(tree_index: Index, cache: Path) -> None:
    made = _Made(tree_index)
    chains = Chains(made, partial(answer_in_process, str(TREE), "checkout", (), cache))
    chains.ahead(["mul.Tensor", "add.Tensor"])
    assert _wait_for(chains, "add.Tensor") == answer_of(tree_index, "add.Tensor")
    assert chains("mul.Tensor") == answer_of(tree_index, "mul.Tensor")
    assert made.ops == []
    with pytest.raises(NotFound):
        chains("no_such_operator")
    chains.close()
    assert chains("relu") == answer_of(tree_index, "relu")
    assert made.ops == ["no_such_operator", "relu"]


def test_chains_are_made_here_where_no_process_starts(
    tree_index: Index, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> Executor:
        raise OSError("no more processes")

    monkeypatch.setattr("navigator.tui.processes.chains.start_workers", fails)
    made = _Made(tree_index)
    chains = Chains(made, partial(answer_in_process, str(TREE), "checkout", (), cache))
    chains.ahead(["mul.Tensor"])
    assert chains("add.Tensor") is chains("add.Tensor") is chains.cached("add.Tensor")
    assert made.ops == ["add.Tensor"]
    chains.close()


def test_a_process_that_was_killed_is_done_without(tree_index: Index, cache: Path) -> None:
    chains = Chains(_Made(tree_index), _die)
    chains.ahead(["mul.Tensor", "add.Tensor"])
    assert chains("add.Tensor") == answer_of(tree_index, "add.Tensor")
    chains.close()


def _die(_: str) -> Answer:
    os._exit(9)
