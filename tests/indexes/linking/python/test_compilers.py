"""What compilers make of operators: tables of decompositions, Inductor, core ATen."""

from __future__ import annotations

import pytest

from indexes.linking.python.compilers import CORE, INDUCTOR, Compilers
from indexes.queries.index import Index
from indexes.store.registrations import StoredPython


def compilers(index: Index, op: str) -> Compilers:
    native = index.native(op)
    assert native
    return Compilers(native, StoredPython(index.facts.store))


@pytest.mark.parametrize(
    ("op", "core", "inductor"),
    [
        ("embedding", True, False),  # taken out of Inductor's again
        ("_softmax", False, True),
        ("native_layer_norm", False, True),
        ("nll_loss_forward", True, True),
        ("nll_loss_forward.output", False, False),  # only the default overload is asked for
        ("_softmax_backward_data", True, True),  # taken out, and entered anew
        ("mm", False, True),
        ("relu", False, False),
    ],
)
def test_tables_hold_what_their_lists_ask_for(
    tree_index: Index, op: str, core: bool, inductor: bool
) -> None:
    tables = compilers(tree_index, op).tables
    assert (CORE in tables, INDUCTOR in tables) == (core, inductor)


def test_what_inductor_does(tree_index: Index) -> None:
    status = {
        op: tree_index.surroundings(op).inductor.status
        for op in ("embedding", "mm", "cumsum", "nonzero", "gelu", "layer_norm", "relu", "relu_")
    }
    assert status == {
        "embedding": "none",
        "mm": "decomposed",
        "cumsum": "lowered",
        "nonzero": "fallback",
        "gelu": "none",
        "layer_norm": "decomposed",
        "relu": "lowered",
        "relu_": "lowered",
    }


def test_a_decomposition_that_may_decline_says_so(tree_index: Index) -> None:
    assert "NotImplemented" in tree_index.surroundings("mm").inductor.note
    lowered = tree_index.surroundings("cumsum").inductor
    assert "torch/_inductor/decomposition.py" in lowered.note


def test_its_own_entry_stands_for_what_the_table_takes_over(tree_index: Index) -> None:
    found = compilers(tree_index, "_softmax_backward_data").inductor()
    assert found.location
    assert found.location.path == "torch/_inductor/decomposition.py"
    assert found.table == INDUCTOR


def test_core_aten(tree_index: Index) -> None:
    says = {
        op: tree_index.surroundings(op).core.text
        for op in ("relu", "nll_loss_forward", "layer_norm", "linear", "gelu.out")
    }
    assert says == {
        "relu": "yes",
        "nll_loss_forward": "no, decomposes",
        "layer_norm": "no, but export keeps it",
        "linear": "no, decomposes into what it calls",
        "gelu.out": "no",
    }


def test_an_inplace_overload_is_as_its_functional_one(tree_index: Index) -> None:
    found = tree_index.surroundings("cumsum_").inductor
    assert (found.status, found.note) == ("lowered", "as cumsum, once functionalized")
