"""What compilers make of operators, beside the installed torch and beside made-up ones."""

from __future__ import annotations

import pytest

from indexes.linking.python.compilers import CORE, INDUCTOR, Compilers
from indexes.model.errors import SourceError
from indexes.queries.audit.compilers import LiveCompilers, compiler_measures
from indexes.queries.audit.measure import Measure
from indexes.queries.index import Index
from indexes.store.registrations import StoredPython
from navigator.live.installed import live_compilers


def measured(index: Index, live: LiveCompilers) -> dict[str, Measure]:
    return {one.name: one for one in compiler_measures(index, live)}


@pytest.fixture(scope="module")
def said(tree_index: Index) -> LiveCompilers:
    """What a torch would say whose source the small tree is."""
    python = StoredPython(tree_index.facts.store)
    ours = {
        f"aten::{native.name}.{native.overload or 'default'}": Compilers(native, python)
        for native in tree_index.all_natives()
    }
    lowered = {name: one.registered for name, one in ours.items()}
    return LiveCompilers(
        {name: one.status == "fallback" for name, one in lowered.items() if one},
        frozenset(name for name, one in ours.items() if CORE in one.tables),
        frozenset(name for name, one in ours.items() if INDUCTOR in one.tables),
        frozenset({("abs", "", "abs"), ("softmax", "", "_softmax_backward_data")}),
    )


def test_what_agrees_is_kept(tree_index: Index, said: LiveCompilers) -> None:
    done = measured(tree_index, said)
    assert len(done) == 4
    assert all(measure.met for measure in done.values())


def test_what_differs_is_told(tree_index: Index, said: LiveCompilers) -> None:
    spoilt = LiveCompilers(
        {"aten::gelu.default": False, "aten::nonzero.default": False},
        said.core - {"aten::embedding.default"},
        said.inductor | {"aten::gelu.default"},
        frozenset({("abs", "", "sin")}),
    )
    done = [one.short for one in compiler_measures(tree_index, spoilt)]
    assert {"aten::gelu.default: missed", "aten::nonzero.default: another kind"} <= set(done[0])
    assert "aten::relu.default: wrong" in done[0]
    assert done[1:] == [
        ("aten::embedding.default: wrong",),
        ("aten::gelu.default: missed",),
        ("abs  for sin: missed",),
    ]


def test_the_installed_torch_says_the_same(wheel: Index) -> None:
    try:
        live = live_compilers()
    except SourceError as error:
        pytest.skip(str(error))
    done = measured(wheel, live)
    assert {name: one.short for name, one in done.items() if one.met is False} == {}
    assert done["Inductor's lowerings and fallbacks"].total > 800
