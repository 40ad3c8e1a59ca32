"""What stands around operators in two versions: each edit is one difference, and no other is."""

from __future__ import annotations

import contextlib

import pytest

from indexes.queries.diff.compare import compare
from indexes.queries.diff.model import Change, Diff
from indexes.queries.index import Index
from indexes.source.source import Source
from indexes.source.versions import open_version
from tests.repositories import commit, repository

DECOMPOSITIONS = "torch/_decomp/decompositions.py"
INDUCTOR = "torch/_inductor/decomposition.py"
LOWERINGS = "torch/_inductor/lowering.py"
OPINFOS = "torch/testing/_internal/common_methods_invocations.py"
DOCS = "torch/_torch_docs.py"
PAGE = "docs/source/torch.rst"
RULES = "aten/src/ATen/functorch/BatchRulesDecompositions.cpp"
NARROW = "def narrow(input, dim, start, length):"
EDITS = {
    DECOMPOSITIONS: [
        (
            "@register_decomposition(aten._softmax)\n",
            "@register_decomposition(aten._softmax.default)\n",
        ),
        ("return softmax_backward_helper(grad_output, output)\n", "return grad_output\n"),
        ("def native_layer_norm(input, normalized", "def native_layer_norm(input: int, normalized"),
        ("@register_decomposition(aten.embedding)", "@register_decomposition(aten.cumsum)"),
    ],
    LOWERINGS: [("@register_lowering([aten.sum, aten.mean])", "@register_lowering([aten.sum])")],
    OPINFOS: [('    UnaryUfuncInfo("sin", ref=None),', '    UnaryUfuncInfo("cos", ref=None),')],
    DOCS: [("Computes the absolute value of each", "Computes the absolute value of every")],
    PAGE: [("    addmv\n", "")],
    RULES: [("OP_DECOMPOSE(dropout);", "OP_DECOMPOSE(relu);")],
    "torch/functional.py": [
        (f"{NARROW}  #", "def narrow(input, dim: int, start, length, *, out=None):  #"),
        ("def einsum(*args):", "def einsum(*args: object):"),
    ],
}
ADDED = "def added(x):\n    return x\n\n\nclass New:\n    def run(self):\n        pass\n"


@pytest.fixture(scope="module")
def diff(tmp_path_factory: pytest.TempPathFactory) -> Diff:
    root = repository(tmp_path_factory.mktemp("around") / "pytorch")
    for path, edits in EDITS.items():
        text = (root / path).read_text()
        for old, new in edits:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        (root / path).write_text(text)
    (root / PAGE).rename((root / PAGE).with_suffix(".md"))  # which changes nothing of what it lists
    (root / "torch/fresh.py").write_text(ADDED)
    (root / "torch/_fresh.py").write_text(ADDED)
    commit(root, "The edits")
    tree, cache = Source.find(str(root)), tmp_path_factory.mktemp("cache")
    with contextlib.ExitStack() as stack:
        one, other = (
            stack.enter_context(contextlib.closing(Index.open(open_version(name, tree), cache)))
            for name in ("main~1", "main")
        )
        return compare(one, other)


def of(diff: Diff, facet: str) -> list[tuple[str, tuple[str, ...], str]]:
    found = [change for change in diff.changes if change.facet == facet]
    return sorted((change.what, change.ops[:1], change.subject) for change in found)


def _one(diff: Diff, facet: str, what: str) -> Change:
    (found,) = (c for c in diff.changes if (c.facet, c.what) == (facet, what))
    return found


def test_decompositions(diff: Diff) -> None:
    assert of(diff, "decomposition") == [
        ("added", ("cumsum",), ""),
        ("edited", ("_softmax_backward_data",), ""),
        ("removed", ("_softmax.out",), ""),
        ("removed", ("embedding",), ""),
    ]  # types of arguments and another spelling of the same overload are no difference
    added = _one(diff, "decomposition", "added")
    assert added.after
    assert added.after.text == "torch._decomp.decompositions.embedding"


def test_lowerings(diff: Diff) -> None:
    assert of(diff, "lowering") == [("removed", ("mean",), "")]
    assert of(diff, "meta") == of(diff, "ref") == []


def test_batch_rules(diff: Diff) -> None:
    key = "FuncTorchBatchedDecomposition"
    assert of(diff, "batch_rule") == [("added", ("relu",), key), ("removed", ("dropout",), key)]


def test_opinfos(diff: Diff) -> None:
    assert of(diff, "opinfo") == [
        ("added", ("cos",), "OpInfo cos in op_db"),
        ("removed", ("sin",), "OpInfo sin in op_db"),
    ]


def test_docstrings_and_pages(diff: Diff) -> None:
    assert of(diff, "docs") == [
        ("edited", ("abs",), "docstring of torch.abs"),
        ("removed", (), "page of torch.addmv"),
    ]


def test_public_names(diff: Diff) -> None:
    assert of(diff, "api") == [
        ("added", (), "torch.fresh.New"),
        ("added", (), "torch.fresh.added"),
        ("changed", (), "torch.functional.narrow"),
    ]
    changed = _one(diff, "api", "changed")
    assert changed.before
    assert changed.after
    assert (changed.before.text, changed.after.text) == (
        NARROW.rstrip(":"),
        "def narrow(input, dim, start, length, *, out=None)",
    )


def test_a_wheel_lacks_some(wheel: Index) -> None:
    found = compare(wheel, wheel, ["batch_rule", "docs", "opinfo"])
    assert found.changes == ()
    assert [note.partition(" are not")[0] for note in found.notes] == [
        "pages of the docs",
        "batch rules",
    ]
