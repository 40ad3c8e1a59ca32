"""A structured operator: rows that delegate, a meta function, an impl for each device."""

from __future__ import annotations

from indexes.queries.changes.planning import Changes


def test_entries_and_kernels(changes: Changes) -> None:
    plan = changes.of_op("twice", "structured")
    diffs = [line for step in plan.steps for line in step.code]
    assert "+  structured: True" in diffs
    assert "+  structured_delegate: twice.out" in diffs
    assert any("TORCH_META_FUNC(twice)" in line for line in diffs)
    assert any("TORCH_IMPL_FUNC(twice_out)" in step.what for step in plan.steps)
    assert [s.what for s in plan.steps if s.action == "remove"] == [
        "Remove twice: torchgen makes the functional variant."
    ]
    assert plan.neighbours


def test_without_an_out_variant_that_comes_first(changes: Changes) -> None:
    shown, step = changes.of_op("everywhere", "structured").steps
    assert shown.action == "read"
    assert step.code[0].startswith("- func: everywhere.out(Tensor self, int size=2")
    assert step.code[1] == "  structured: True"


def test_a_stub_under_a_composite_key_gets_the_keys_that_have_a_function(changes: Changes) -> None:
    plan = changes.of_id("composite-stub/everywhere")
    assert plan is not None
    (edit,) = (step for step in plan.steps if step.touches)
    assert edit.location.path.endswith("native_functions.yaml")
    assert "-    CompositeExplicitAutograd: everywhere" in edit.code
    assert "+    CPU, CUDA: everywhere" in edit.code


def test_what_is_structured_is_said(changes: Changes) -> None:
    assert changes.of_op("settled_0", "structured").there is not None
