"""A chain as a tree that can be folded, on real chains."""

from __future__ import annotations

import pytest

from indexes.model.answers import Chain, Hop
from indexes.queries.index import Index
from navigator.tui.chain.chain_groups import groups
from navigator.tui.chain.chain_rows import BUDGET, Outline, Row


@pytest.fixture
def softmax(tree_index: Index) -> Chain:
    return tree_index.chain("softmax.int")


def headings(rows: list[Row]) -> list[str]:
    return [row.group for row in rows if row.step is None]


def test_the_groups_come_in_the_order_people_look_for_them(tree_index: Index) -> None:
    names = headings(Outline(groups(tree_index.chain("mul.Tensor"))).rows())
    assert names[0] == "Schema"
    assert names[1].startswith("CPU")
    assert names.index("MPS") < names.index("Derivative") < names.index("Meta")


@pytest.mark.parametrize("op", ["softmax.int", "add.Tensor", "mul.Tensor", "sum.dim_IntList"])
def test_no_step_is_lost_or_shown_twice(tree_index: Index, op: str) -> None:
    chain = tree_index.chain(op)
    outline = Outline(groups(chain))
    for row in outline.rows():
        if row.hidden:
            outline.open.add(row.key)
    while any(row.hidden for row in outline.rows()):
        outline.open |= {row.key for row in outline.rows() if row.hidden}
    steps = [row.step for row in outline.rows() if row.step]
    assert len(steps) == len(chain.hops) + len(chain.unresolved)
    assert {step.id for step in steps if isinstance(step, Hop)} == {hop.id for hop in chain.hops}


def test_parents_stand_above_their_children(softmax: Chain) -> None:
    seen: set[int] = set()
    for row in Outline(groups(softmax)).rows():
        if row.hop is not None:
            if row.guide:
                assert row.hop.parent in seen
            seen.add(row.hop.id)


def test_at_first_not_more_is_open_than_fits(tree_index: Index) -> None:
    for summary in tree_index.operators():
        rows = Outline(groups(tree_index.chain(summary.full_name))).rows()
        assert len(rows) <= BUDGET + len(headings(rows))


def test_what_is_folded_is_counted_and_can_be_revealed(softmax: Chain) -> None:
    outline = Outline(groups(softmax))
    deepest = outline.hops_after("")[-1]
    outline.open.clear()
    assert [row.step for row in outline.rows()] == [None] * len(outline.rows())
    hidden = sum(row.hidden for row in outline.rows())
    assert hidden == len(softmax.hops) + len(softmax.unresolved)
    outline.reveal(deepest.id)
    assert deepest.id in {row.key for row in outline.rows()}


def test_what_is_not_resolved_stands_where_it_belongs(tree_index: Index) -> None:
    rows = Outline(groups(tree_index.chain("sub.out"))).rows()
    reasons = [row for row in rows if row.step is not None and row.hop is None]
    assert [row.group for row in reasons] == ["Derivative"]
