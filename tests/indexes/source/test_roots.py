"""Extensions beside a tree: how their files are named, found, bounded and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.model.errors import SourceError
from indexes.model.files import in_extension, inside, root_of
from indexes.source import walk as walking
from indexes.source.permalinks import permalink
from indexes.source.roots import operator_libraries
from indexes.source.source import Source
from tests.indexes.source.test_source import needs_git
from tests.indexes.source.trees import make_repository, make_tree, write

KERNEL = "#include <ATen/ATen.h>\nREGISTER_XPU_DISPATCH(add_stub, &xpu::add_kernel);\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return make_tree(tmp_path / "tree")


@pytest.fixture
def extension(tmp_path: Path) -> Path:
    root = tmp_path / "my ops"
    write(root, "csrc/scale.cpp", "int scale;\n")
    write(root, "mylib/__init__.py")
    write(root, "test/test_scale.py")
    write(root, "test/common.py")
    write(root, "build/scale.cpp")
    write(root, "third_party/fmt/fmt.cpp")
    write(root, ".venv/lib.py")
    write(root, "csrc/table.cpp", "x" * (walking.MAX_BYTES + 1))
    write(root, "notes.txt")
    return root


def beside(tree: Path, *folders: Path | str) -> Source:
    return Source.find(str(tree), extensions=[(str(folder), "") for folder in folders])


def test_files_begin_with_the_name_of_their_root(tree: Path, extension: Path) -> None:
    source = beside(tree, extension)
    others: list[str] = []
    found = {file.path: file.kind for file in source.files(others) if in_extension(file.path)}
    assert found == {
        "@my-ops/csrc/scale.cpp": "cpp",
        "@my-ops/mylib/__init__.py": "python",
        "@my-ops/test/test_scale.py": "test",
    }
    assert {"@my-ops/", "@my-ops/csrc", "@my-ops/csrc/table.cpp"} <= {*others}
    assert source.read("@my-ops/csrc/scale.cpp") == b"int scale;\n"
    assert source.full_path("@my-ops/csrc/scale.cpp") == str(extension / "csrc/scale.cpp")
    assert source.path_in(str(extension / "csrc/scale.cpp")) == "@my-ops/csrc/scale.cpp"
    assert source.path_in(str(tree / "version.txt")) is None
    assert source.file("@my-ops/csrc/table.cpp") is source.file("@my-ops/gone.cpp") is None


def test_paths_tell_their_root() -> None:
    assert root_of("@xpu/src/a.cpp") == "xpu"
    assert inside("@xpu/src/a.cpp") == "src/a.cpp"
    assert root_of("aten/a.cpp") == ""
    assert inside("aten/a.cpp") == "aten/a.cpp"


def test_an_index_is_of_a_tree_and_its_roots(tree: Path, extension: Path) -> None:
    assert beside(tree).key == Source.find(str(tree)).key != beside(tree, extension).key


def test_roots_of_one_name_are_told_apart_and_one_twice_is_one(tree: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "a" / "csrc", tmp_path / "b" / "csrc"
    one.mkdir(parents=True)
    two.mkdir(parents=True)
    assert [root.name for root in beside(tree, one, two, one).roots] == ["csrc", "csrc-2"]
    named = Source.find(str(tree), extensions=[(str(one), "mine")])
    assert [root.prefix for root in named.roots] == ["@mine/"]


def test_a_root_in_a_root_is_walked_once(tree: Path, extension: Path) -> None:
    paths = [file.path for file in beside(tree, extension, extension / "csrc").files()]
    assert "@csrc/scale.cpp" in paths
    assert "@my-ops/csrc/scale.cpp" not in paths


def test_what_is_no_extension_is_refused_in_a_line(
    tree: Path, extension: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SourceError, match="no extension at nowhere: no such folder"):
        beside(tree, "nowhere")
    with pytest.raises(SourceError, match="is the source tree itself"):
        beside(tree, tree)
    with pytest.raises(SourceError, match=f"for an extension give --with {extension}"):
        Source.find(str(extension))
    monkeypatch.setattr(walking, "MOST_FILES", 2)
    with pytest.raises(SourceError, match="more than 2 source files"):
        list(beside(tree, extension).files())


def test_nothing_outside_a_root_is_read(tree: Path, extension: Path, tmp_path: Path) -> None:
    (extension / "secret.cpp").symlink_to(tmp_path / "tree" / "version.txt")
    source = beside(tree, extension)
    for path in ("@my-ops/secret.cpp", "@my-ops/../tree/version.txt", "@other/a.cpp"):
        with pytest.raises(SourceError):
            source.read(path)


@needs_git
def test_a_permalink_is_that_of_the_extension(tree: Path, tmp_path: Path) -> None:
    commit = make_repository(tmp_path / "ext")
    config = tmp_path / "ext" / ".git" / "config"
    config.write_text(config.read_text() + '[remote "origin"]\nurl = https://github.com/a/b.git\n')
    info = beside(tree, tmp_path / "ext" / "aten").info
    link = permalink(info, "@aten/src/ATen/native/Activation.cpp", 3)
    assert link == f"https://github.com/a/b/blob/{commit}/aten/src/ATen/native/Activation.cpp#L3"


def test_operator_libraries_in_a_tree_are_known_by_what_they_hold(tree: Path) -> None:
    write(tree, "third_party/some-ops/src/ATen/Add.cpp", KERNEL)
    write(tree, "third_party/attention/csrc/a.cpp", KERNEL)
    write(tree, "third_party/eigen/a.cpp", "REGISTER_NO_DISPATCH(x)\n")
    write(tree, "third_party/user/test/a.cpp", KERNEL)
    known = ["third_party/attention/csrc"]
    assert operator_libraries(str(tree), known) == ["third_party/some-ops"]
    others: list[str] = []
    paths = [file.path for file in Source.find(str(tree)).files(others)]
    assert "third_party/some-ops/src/ATen/Add.cpp" in paths
    assert not any(path.startswith("third_party/eigen/") for path in paths)
    assert {"third_party", "third_party/eigen"} <= {*others}
