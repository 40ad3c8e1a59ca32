"""What a build reads beside the YAML files, and that an edit of it is noticed."""

from __future__ import annotations

from pathlib import Path

from indexes.queries.index import Index
from indexes.readers.cxx.facts import read_cpp
from tests.indexing import opened, write


def test_the_engine_of_an_installed_torch_is_read_from_both_headers(wheel: Index) -> None:
    files = {function.location.path.rpartition("/")[2] for function in wheel.engine()}
    assert files == {"engine.h", "graph_task.h"}


def test_accessors_in_tensor_impl_cpp(tree_copy: Path, cache: Path) -> None:
    (tree_copy / "c10/core/TensorImpl.cpp").write_text(
        "namespace c10 {\nvoid TensorImpl::forget() {\n  storage_ = {};\n}\n} // namespace c10\n"
    )
    with opened(tree_copy, cache) as index:
        storage = next(m for m in index.tensorimpl() if m.name == "storage_")
    assert ("forget", "c10/core/TensorImpl.cpp", 2) in [
        (name, place.path, place.line)
        for name, place in zip(storage.accessor_names, storage.accessors, strict=True)
    ]


def _delegated(index: Index, start: str = "") -> set[str]:
    rows = (r for r in index.kernel_rows() if "structured_delegate" in r.rule)
    return {r.key for r in rows if r.rule.startswith(start) and (not start or r.kind != "ufunc")}


def test_torchgens_own_lists_decide_which_kernels_there_are(tree_copy: Path, cache: Path) -> None:
    path = "torchgen/model.py"
    write(tree_copy, {path: "STRUCTURED_DISPATCH_KEYS = {DispatchKey.CPU}\n"})
    with opened(tree_copy, cache) as index:
        assert _delegated(index) >= {"CPU"}
        assert "CUDA" not in _delegated(index, "structured_delegate: the kernel")
    write(tree_copy, {path: "STRUCTURED_DISPATCH_KEYS = {DispatchKey.CPU, DispatchKey.CUDA}\n"})
    with opened(tree_copy, cache) as index:
        assert "CUDA" in _delegated(index)


def test_an_alias_behind_macro_uses_without_semicolon() -> None:
    text = b"""namespace at::native {
DEFINE_CELL(lstm_cell, TensorList)

static DEFINE_CELL_DYNAMIC(lstm_cell_dynamic, TensorList)

using simple_hx_type = const Tensor&;
static simple_hx_type prepare(simple_hx_type hx) { return hx; }
}
"""
    facts, _ = read_cpp(text, "aten/src/ATen/native/RNN.cpp")
    assert [(a[0], a[1]) for a in facts.aliases] == [("simple_hx_type", "const Tensor&")]
    assert [u[0] for u in facts.uses] == ["DEFINE_CELL", "DEFINE_CELL_DYNAMIC"]
