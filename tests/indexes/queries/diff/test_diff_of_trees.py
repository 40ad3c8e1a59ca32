"""Two commits of the small tree: each edit is a difference of its kind, and there is no other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.model.vocabulary import Location, NativeFunction
from indexes.queries.diff.compare import compare, select
from indexes.queries.diff.model import Change, Diff
from indexes.queries.diff.operators import operator_changes
from indexes.queries.index import Index
from indexes.source.source import Source
from indexes.source.versions import open_version
from tests.repositories import commit, repository
from tests.tree_marks import NATIVE, YAML

DERIVATIVES = "tools/autograd/derivatives.yaml"
DEPRECATED = "tools/autograd/deprecated.yaml"
CHECK = "test/forward_backward_compatibility/check_forward_backward_compatibility.py"
MUL = "- func: mul.Tensor(Tensor self, Tensor other"
EDITS = {
    YAML: [
        (
            f"{MUL}) -> Tensor\n  device_check: NoCheck   # TensorIterator\n",
            f"{MUL}, *, int round=0) -> Tensor\n",
        ),
        ("    ZeroTensor: mul_zerotensor\n", "    ZeroTensor, MPS: mul_zerotensor\n"),
        ("- func: abs(Tensor self) -> Tensor\n", "- func: abs_of(Tensor self) -> Tensor\n"),
    ],
    DERIVATIVES: [
        (
            "  self: mul_tensor_backward(grad, other, self.scalar_type())",
            "  self: mul_tensor_backward(grad, other, other.scalar_type())",
        )
    ],
    DEPRECATED: [("aten: add(self, other, alpha)", "aten: add(self, alpha, other)")],
    NATIVE + "cuda/DilatedMaxPool2d.cu": [("AND2(kHalf, kBFloat16,", "AND(kHalf,")],
}


@pytest.fixture(scope="module")
def repo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """``v1``, and ``main`` with the edits."""
    root = repository(tmp_path_factory.mktemp("diff") / "pytorch")
    (root / DEPRECATED).write_text(
        "- name: add(Tensor self, Scalar alpha, Tensor other) -> Tensor\n"
        "  aten: add(self, other, alpha)\n"
    )
    (root / CHECK).parent.mkdir(parents=True)
    (root / CHECK).write_text(
        'import datetime\nALLOW_LIST = [\n    ("aten::abs", datetime.date(2099, 1, 2)),\n]\n'
    )
    commit(root, "What the small tree lacks")
    for path, edits in EDITS.items():
        text = (root / path).read_text()
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (root / path).write_text(text)
    softmax = root / NATIVE / "SoftMax.cpp"
    softmax.rename(root / NATIVE / "SoftMaxMoved.cpp")
    commit(root, "The edits")
    return root


@contextlib.contextmanager
def both(repo: Path, cache: Path, before: str, after: str) -> Iterator[tuple[Index, Index]]:
    tree = Source.find(str(repo))
    with contextlib.ExitStack() as stack:
        one, other = (
            stack.enter_context(contextlib.closing(Index.open(open_version(name, tree), cache)))
            for name in (before, after)
        )
        yield one, other


@pytest.fixture(scope="module")
def diff(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> Diff:
    with both(repo, tmp_path_factory.mktemp("cache"), "main~1", "main") as (one, other):
        assert not other.report.cold
        return compare(one, other)


HIGHER = ("higher_order::cond", "prims::cond")


def of(diff: Diff, *facets: str) -> list[Change]:
    return [change for change in diff.changes if change.facet in facets]


def test_operators_that_went_and_came(diff: Diff) -> None:
    removed, added = of(diff, "operator")
    assert (removed.what, removed.ops, removed.backward) == ("removed", ("abs",), "breaking")
    assert (added.what, added.ops, added.backward) == ("added", ("abs_of",), "compatible")
    assert f"allow-listed until 2099-01-02: {CHECK}:3" in removed.rules


def test_an_operator_that_takes_functions_has_no_schema_to_keep() -> None:
    where = Location("torch/_higher_order_ops/cond.py", 1)
    named = [NativeFunction(one, "", f"{one}(...) -> ?", where, {}, None) for one in HIGHER]
    silent, said = operator_changes({one.name: one for one in named}, {})
    assert [(one.backward, bool(one.rules)) for one in (silent, said)] == [
        ("", False),
        ("breaking", True),
    ]


def test_a_schema_with_its_verdict(diff: Diff) -> None:
    (schema,) = of(diff, "schema")
    assert schema.ops == ("mul.Tensor",)
    assert (schema.backward, schema.forward) == ("compatible", "compatible")
    assert schema.before
    assert schema.after
    assert "round=0" in schema.after.text
    assert "round=0" not in schema.before.text


def test_fields_dispatch_and_tags(diff: Diff) -> None:
    found = [(c.facet, c.what, c.ops, c.subject) for c in of(diff, "dispatch", "entry", "tags")]
    assert found == [
        ("dispatch", "added", ("mul.Tensor",), "MPS"),
        ("entry", "removed", ("mul.Tensor",), "device_check"),
    ]


def test_formulas_and_deprecated_signatures(diff: Diff) -> None:
    formula, signature = of(diff, "formula", "deprecated")
    assert (formula.what, formula.ops, formula.subject) == ("changed", ("mul.Tensor",), "self")
    assert formula.after
    assert formula.after.text.endswith("other.scalar_type())")
    assert (signature.what, signature.ops) == ("changed", ("add",))


def test_kernels_that_moved_with_their_file(diff: Diff) -> None:
    moved = of(diff, "kernel")
    assert {c.what for c in moved} == {"moved", "edited"}
    for change in moved:
        assert change.before
        assert change.after
        assert change.before.text == change.after.text
        if change.what == "moved":
            assert change.before.location
            assert change.after.location
            assert change.before.location.path == NATIVE + "SoftMax.cpp"
            assert change.after.location.path == NATIVE + "SoftMaxMoved.cpp"
    assert "_softmax.out" in {op for change in moved for op in change.ops}


def test_dtypes_of_a_kernel(diff: Diff) -> None:
    (dtypes,) = of(diff, "dtypes")
    assert dtypes.before
    assert dtypes.after
    assert dtypes.before.text == "AT_DISPATCH_FLOATING_TYPES_AND2(Half, BFloat16)"
    assert dtypes.after.text == "AT_DISPATCH_FLOATING_TYPES_AND(Half)"
    assert any(op.startswith("max_pool2d_with_indices") for op in dtypes.ops)
    assert dtypes.rules == (
        "compared as written: no exact dtypes for AT_DISPATCH_FLOATING_TYPES_AND",
    )


def edited(repo: Path, cache: Path, path: str, old: str, new: str) -> list[Change]:
    """What differs in dtypes once a file of ``main`` is edited."""
    file = repo / path
    was = file.read_text()
    assert old in was
    file.write_text(was.replace(old, new))
    try:
        with both(repo, cache, "main", str(repo)) as (one, other):
            return list(compare(one, other, ["dtypes"]).changes)
    finally:
        file.write_text(was)


def test_a_macro_that_expands_to_more_changes_functions_that_stay(
    repo: Path, tmp_path: Path
) -> None:
    more = "AT_DISPATCH_CASE(at::kQInt8, __VA_ARGS__)"
    found = edited(
        repo, tmp_path, "aten/src/ATen/Dispatch.h", more, f"{more} AT_DISPATCH_CASE(at::kBool)"
    )
    assert {change.subject.rpartition("::")[2] for change in found} == {
        "qrelu_kernel",
        "qadd_kernel",
    }
    for change in found:
        assert change.before
        assert change.after
        assert change.before.text == "AT_DISPATCH_QINT_TYPES: QInt8"
        assert change.after.text == "AT_DISPATCH_QINT_TYPES: QInt8, Bool"
        assert change.rules[1:] == (
            "the function is written the same: its macros differ",
            "more: Bool",
        )


def test_another_macro_for_the_same_dtypes_is_no_difference(repo: Path, tmp_path: Path) -> None:
    path = NATIVE + "cuda/Shape.cu"
    same = "AT_DISPATCH_FLOATING_TYPES_AND2(kHalf, kBFloat16,"
    assert (
        edited(
            repo, tmp_path / "a", path, same, "AT_DISPATCH_FLOATING_TYPES_AND2(kBFloat16, kHalf,"
        )
        == []
    )
    (change,) = edited(repo, tmp_path / "b", path, same, "AT_DISPATCH_FLOATING_TYPES(")
    assert change.before
    assert change.after
    assert change.before.text == "AT_DISPATCH_FLOATING_TYPES_AND2: Double, Float, Half, BFloat16"
    assert change.after.text == "AT_DISPATCH_FLOATING_TYPES: Double, Float"
    assert change.rules[1:] == ("no more: Half, BFloat16",)
    assert "cat.out" in " ".join(change.ops)


def test_the_other_way_round_is_the_mirror(repo: Path, diff: Diff, tmp_path: Path) -> None:
    with both(repo, tmp_path, "main", "main~1") as (one, other):
        back = compare(one, other)
    turned = {"added": "removed", "removed": "added"}
    there = sorted((c.facet, turned.get(c.what, c.what), c.ops[:1]) for c in diff.changes)
    assert there == sorted((c.facet, c.what, c.ops[:1]) for c in back.changes)


def test_a_version_does_not_differ_from_itself(repo: Path, tmp_path: Path) -> None:
    with both(repo, tmp_path, "main", str(repo)) as (one, other):
        assert compare(one, other).changes == ()


def test_filters(diff: Diff) -> None:
    assert {op for c in select(diff, ["mul"]).changes for op in c.ops} >= {"mul.Tensor"}
    assert [c.ops for c in select(diff, breaking=True).changes] == [("abs",)]
    assert [c.facet for c in select(diff, key="MPS").changes] == ["dispatch"]


def test_a_renamed_stub_function_keeps_its_body(repo: Path, tmp_path: Path) -> None:
    file = repo / NATIVE / "cuda/IndexKernel.cu"
    was = file.read_text()
    file.write_text(was.replace("index_put_with_sort_kernel", "sorted_index_put_kernel"))
    try:
        with both(repo, tmp_path, "main", str(repo)) as (one, other):
            found = {(c.facet, c.what): c for c in compare(one, other).changes}
    finally:
        file.write_text(was)
    assert set(found) == {("stub", "changed"), ("stub", "renamed")}
    renamed = found["stub", "renamed"]
    assert renamed.subject == "index_put_with_sort_stub CUDA"
    assert renamed.after
    assert renamed.after.text == "at::native::sorted_index_put_kernel"
