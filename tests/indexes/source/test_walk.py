"""Which files of a tree are indexed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from indexes.model.errors import SourceError
from indexes.source.source import Source
from indexes.source.walk import kind_of, walk
from tests.indexes.source.trees import YAML, make_tree, write

CHECKOUT = os.environ.get("TORCHNAV_CHECKOUT", "")
pytestmark = pytest.mark.usefixtures("nowhere")


def test_what_is_indexed(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "build/third_party/tree")  # names above the tree don't count
    wanted = {
        YAML: "yaml",
        "aten/src/ATen/native/Activation.cpp": "cpp",
        "aten/src/ATen/native/cuda/Loss.cu": "cpp",
        "aten/src/ATen/native/mps/operations/View.mm": "cpp",
        "c10/core/TensorImpl.h": "cpp",
        "torch/csrc/autograd/engine.cpp": "cpp",
        "torch/_refs/__init__.py": "python",
        "tools/autograd/derivatives.yaml": "yaml",
        "tools/autograd/templates/Functions.cpp": "other",
        "torchgen/gen.py": "python",
        "functorch/csrc/BatchRules.cpp": "cpp",
        "test/nn/test_loss.py": "test",
        "CODEOWNERS": "other",
    }
    unwanted = [
        "aten/build/x.cpp",
        "aten/src/ATen/third_party/x.h",
        "torch/csrc/autograd/generated/Functions.cpp",
        "torch/include/ATen/ATen.h",
        "torch/lib/libtorch.so",
        "test/expect/x.py",
        "third_party/eigen/x.h",
        "venv/lib/torch/x.py",
        "functorch/csrc/dim/dim.cpp",
        "aten/README.md",
    ]
    for path in [*wanted, *unwanted]:
        if not (tree / path).exists():
            write(tree, path)
    assert {f.path: f.kind for f in Source.find(str(tree)).files()} == wanted


def test_links_and_tables_are_skipped_and_sizes_are_right(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    write(tree, "aten/table.cpp", "1," * 600_000)
    (tree / "aten/link.cpp").symlink_to(tree / "aten/table.cpp")
    (tree / "aten/loop").symlink_to(tree)
    files = {f.path: f for f in Source.find(str(tree)).files()}
    assert not {"aten/table.cpp", "aten/link.cpp"} & files.keys()
    assert not any(path.startswith("aten/loop") for path in files)
    assert files[YAML].size == os.stat(tree / YAML).st_size


@pytest.mark.skipif(sys.platform == "win32", reason="there it cannot be removed")
def test_the_current_folder_may_be_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = Source.find()
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.syspath_prepend("")
    assert Source.find().top == found.top


@pytest.mark.skipif(sys.platform != "linux", reason="names are text elsewhere")
def test_names_that_are_no_text_are_skipped_and_no_tree(tmp_path: Path) -> None:
    tree = make_tree(tmp_path / "tree")
    odd = os.fsdecode(b"\xff")
    for path in (f"aten/{odd}.cpp", f"aten/{odd}/A.cpp", f"torch/{odd}.py"):
        write(tree, path, "#include <ATen/ATen.h>\n")
    write(tree, f"third_party/{odd}/A.cpp", "#include <ATen/ATen.h>\nTORCH_LIBRARY(a, m) {}\n")
    assert not [file.path for file in Source.find(str(tree)).files() if odd in file.path]
    with pytest.raises(SourceError, match="not UTF-8"):
        Source.find(str(tree.rename(tmp_path / odd)))


def test_wheel_gives_headers_yaml_and_python_but_not_generated_operators() -> None:
    paths = {f.path: f.kind for f in Source.find().files()}
    assert paths["torchgen/packaged/ATen/native/native_functions.yaml"] == "yaml"
    assert paths["torch/include/c10/core/TensorImpl.h"] == "cpp"
    assert paths["torch/_meta_registrations.py"] == "python"
    assert not any(path.startswith("torch/include/ATen/ops/") for path in paths)
    assert len(paths) > 1000


@pytest.mark.checkout
def test_full_tree() -> None:
    files = list(Source.find(CHECKOUT).files())
    assert sum(f.kind == "cpp" for f in files) > 2500
    assert len({f.path for f in files}) == len(files)


def test_a_file_that_the_walk_leaves_out_has_no_kind(tmp_path: Path) -> None:
    vendored = "third_party/flash-attention/csrc/flash_attn"
    for name in ("kernel.cu", "generate.py"):
        write(tmp_path, f"{vendored}/{name}")
    assert [file.path for file in walk(str(tmp_path), "checkout")] == [f"{vendored}/kernel.cu"]
    assert kind_of(f"{vendored}/kernel.cu", "checkout") == "cpp"
    assert kind_of(f"{vendored}/generate.py", "checkout") is None
