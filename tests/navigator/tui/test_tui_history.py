"""Back and forward."""

from __future__ import annotations

from navigator.tui.history import History, Visit

RELU = Visit("relu", "a.yaml", 1, title="relu")
KERNEL = Visit("relu", "k.cpp", 10, title="relu_kernel")
ADD = Visit("add.Tensor", "a.yaml", 5, title="add.Tensor")


def test_back_returns_to_the_line_one_left() -> None:
    history = History()
    history.go(RELU, KERNEL)
    read_on = Visit("relu", "k.cpp", 99, title="relu_kernel")
    assert history.back(read_on) == RELU
    assert history.forward(RELU) == read_on


def test_there_is_nothing_before_the_beginning_or_after_the_end() -> None:
    history = History()
    assert history.back(None) is None
    assert history.forward(RELU) is None
    assert history.back(RELU) is None


def test_another_operator_reached_by_moving_is_a_visit_of_its_own() -> None:
    history = History()
    history.go(RELU, KERNEL)
    assert history.back(ADD) == KERNEL
    assert history.forward(KERNEL) == ADD


def test_a_new_jump_forgets_what_was_forward() -> None:
    history = History()
    history.go(RELU, KERNEL)
    history.back(KERNEL)
    history.go(RELU, ADD)
    assert history.forward(ADD) is None
    assert history.back(ADD) == RELU


def test_going_where_one_is_makes_no_visit() -> None:
    history = History()
    history.go(RELU, KERNEL)
    history.go(KERNEL, KERNEL)
    assert [visit.title for visit in history.trail(9)] == ["relu", "relu_kernel"]


def test_a_place_found_by_search_belongs_to_the_chain_beside_it() -> None:
    history = History()
    found = Visit(None, "x.cu", 3, title="found")
    history.go(RELU, found)
    assert history.back(Visit("relu", "x.cu", 9, title="found")) == RELU


def test_it_does_not_grow_for_ever() -> None:
    history = History()
    for number in range(2 * History.LIMIT):
        history.go(None, Visit(f"op{number}"))
    assert len(history.trail(10**6)) == History.LIMIT
    assert history.current == Visit(f"op{2 * History.LIMIT - 1}")
