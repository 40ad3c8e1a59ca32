"""Operators outside aten, beside a made-up dispatcher and the installed one."""

from __future__ import annotations

import pytest

from indexes.model.errors import SourceError
from indexes.queries.audit.compilers import LiveOperator, library_measures
from indexes.queries.audit.measure import Measure
from indexes.queries.index import Index
from navigator.live.installed import live_libraries


@pytest.fixture(scope="module")
def said(tree_index: Index) -> dict[str, LiveOperator]:
    """What a dispatcher would say whose source the small tree is."""
    keys: dict[str, dict[str, str]] = {}
    for row in tree_index.library_kernel_rows():
        keys.setdefault(row.op, {})[row.key] = f"/builder/{row.registered}"
    return {
        one.full_name: LiveOperator(
            one.schema, f"/builder/{one.location}", keys.get(one.full_name, {})
        )
        for one in tree_index.library_operators()
        if one.space != "higher_order::"
    }


def _measured(
    index: Index, live: dict[str, LiveOperator], same: bool = True
) -> tuple[Measure, Measure]:
    operators, kernels = library_measures(index, live, same)
    return operators, kernels


def test_what_agrees_is_kept(tree_index: Index, said: dict[str, LiveOperator]) -> None:
    operators, kernels = _measured(tree_index, said)
    assert operators.met is True
    assert kernels.met is True
    assert not operators.short + kernels.short


def test_what_is_missed_is_named(tree_index: Index, said: dict[str, LiveOperator]) -> None:
    other = LiveOperator("mylib::other() -> ()", "/builder/a.cpp:3", {})
    send = said["c10d::send"]
    more = LiveOperator(send.schema, send.place, {**send.kernels, "XPU": "/builder/x.cpp:9"})
    operators, kernels = _measured(tree_index, {**said, "mylib::other": other, "c10d::send": more})
    assert operators.met is False
    assert operators.short == ("mylib::other: only in the torch, /builder/a.cpp:3",)
    assert kernels.counts["missed"] == 1
    assert "c10d::send XPU" in kernels.short[0]


def test_another_version_is_not_judged(tree_index: Index, said: dict[str, LiveOperator]) -> None:
    operators, kernels = _measured(tree_index, said, same=False)
    assert operators.met is kernels.met is None


def test_what_torch_library_registers_for_all_is_left_out(
    tree_index: Index, said: dict[str, LiveOperator]
) -> None:
    sine = said["mylib::sine"]
    always = {**sine.kernels, "Autograd": "/site-packages/torch/_library/custom_ops.py:9"}
    live = {**said, "mylib::sine": LiveOperator(sine.schema, sine.place, always)}
    assert _measured(tree_index, live)[1].met is True


def test_the_installed_torch(wheel: Index) -> None:
    try:
        live = live_libraries()
    except SourceError:
        pytest.skip("torch is not installed here")
    operators, kernels = _measured(wheel, live)
    assert operators.met, operators.short
    assert operators.counts["found"] > 150
    assert kernels.met, kernels.short
    assert kernels.counts["found"] > 300
