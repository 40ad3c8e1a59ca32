"""What a build reads beside the YAML files, and that an edit of it is noticed."""

from __future__ import annotations

import shutil
from pathlib import Path

from indexes.queries.index import Index
from indexes.readers.cxx.facts import read_cpp
from indexes.source.source import Source


def test_the_engine_of_an_installed_torch_is_read_from_both_headers(wheel_index: Index) -> None:
    files = {function.location.path.rpartition("/")[2] for function in wheel_index.engine()}
    assert files == {"engine.h", "graph_task.h"}


def test_accessors_in_tensor_impl_cpp(tree: Path, tmp_path: Path) -> None:
    copy = tmp_path / "tree"
    shutil.copytree(tree, copy)
    source = copy / "c10/core/TensorImpl.cpp"
    source.write_text(
        "namespace c10 {\nvoid TensorImpl::forget() {\n  storage_ = {};\n}\n} // namespace c10\n"
    )
    index = Index.open(Source.find(str(copy)), tmp_path / "cache")
    storage = next(m for m in index.tensorimpl() if m.name == "storage_")
    assert ("forget", "c10/core/TensorImpl.cpp", 2) in [
        (name, place.path, place.line)
        for name, place in zip(storage.accessor_names, storage.accessors, strict=True)
    ]
    index.close()


def test_torchgens_own_lists_decide_which_kernels_there_are(tree: Path, tmp_path: Path) -> None:
    copy = tmp_path / "tree"
    shutil.copytree(tree, copy)
    model = copy / "torchgen/model.py"
    model.parent.mkdir(exist_ok=True)
    model.write_text("STRUCTURED_DISPATCH_KEYS = {DispatchKey.CPU}\n")
    source = Source.find(str(copy))
    index = Index.open(source, tmp_path / "cache")

    def delegated() -> set[str]:
        return {r.key for r in index.kernel_rows() if "structured_delegate" in r.rule}

    assert delegated() >= {"CPU"}
    assert "CUDA" not in {
        r.key
        for r in index.kernel_rows()
        if r.rule.startswith("structured_delegate: the kernel") and r.kind != "ufunc"
    }
    index.close()
    model.write_text("STRUCTURED_DISPATCH_KEYS = {DispatchKey.CPU, DispatchKey.CUDA}\n")
    index = Index.open(source, tmp_path / "cache")
    assert "CUDA" in delegated()
    index.close()


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
