"""One opener for all files: what is no regular file, too large or elsewhere is refused."""

from __future__ import annotations

import ast
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

import indexes
import navigator
from indexes.model.errors import SourceError
from indexes.queries.index import Index
from indexes.source.files import Folder, open_file, read_file
from indexes.source.source import Source

YAML = "aten/src/ATen/native/native_functions.yaml"
CPP = "aten/src/ATen/native/BinaryOps.cpp"

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs FIFOs and devices")


def test_bytes_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x" * 100)
    assert read_file(file) == b"x" * 100
    with pytest.raises(OSError, match="larger than"):
        read_file(file, 99)
    with open_file(file, None) as opened:
        assert not os.get_inheritable(opened.fileno())


@posix
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("fifo", "zero", "."):
        with pytest.raises(OSError, match=r"regular|directory"):
            read_file(tmp_path / name)


@posix
def test_files_that_do_not_tell_their_size_have_the_limit_too() -> None:
    with pytest.raises(OSError, match="larger than"):
        read_file("/proc/self/maps", 100)


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_what_can_be_no_path_is_an_error_of_the_system(path: str) -> None:
    with pytest.raises(OSError, match="not a path"):
        open_file(path)


@posix
@pytest.mark.parametrize("path", ["version.txt", "CODEOWNERS"])
def test_a_fifo_in_the_place_of_a_file_never_hangs(tree_copy: Path, cache: Path, path: str) -> None:
    (tree_copy / path).unlink()
    os.mkfifo(tree_copy / path)
    index = Index.open(Source.find(str(tree_copy)), cache)
    assert index.chain("relu").hops
    assert index.info.version == ("unknown" if path == "version.txt" else "2.7.0a0")
    index.close()


@pytest.mark.parametrize("path", [YAML, CPP, "torch/_refs/__init__.py"])
def test_a_file_of_two_gigabytes_is_refused_in_one_line(
    tree_copy: Path, cache: Path, path: str
) -> None:
    os.truncate(tree_copy / path, 2 << 30)
    source = Source.find(str(tree_copy))
    with pytest.raises(SourceError, match=r"cannot read .*: larger than 64 MB$"):
        source.read(path)
    if path == YAML:
        with pytest.raises(SourceError, match="larger than 64 MB"):
            Index.open(source, cache)
        return
    index = Index.open(source, cache)
    problems = [str(one.message) for one in index.problems() if one.path == path]
    # Of C++, the walk leaves such files out.
    assert path == CPP or (len(problems) == 1 and "larger than 64 MB" in problems[0])
    index.close()


def test_a_folder_gives_nothing_from_outside(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "in/link").symlink_to("../secret")
    for path in ("link", "../secret", str(tmp_path / "secret")):
        with pytest.raises(SourceError):
            Folder(str(tmp_path / "in")).read(path)


def _reads(node: ast.Call) -> bool:
    """Whether a call opens a file to read it, by Python's own means."""
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    named = [str(one.value) for one in given if isinstance(one, ast.Constant)]
    named = [one for one in named if not one.strip("rwaxbt+")]
    if isinstance(node.func, ast.Name):
        return node.func.id == "open" and not any(set(mode) & set("wax") for mode in named)
    if isinstance(node.func, ast.Attribute):
        by_path = node.func.attr == "open" and any("r" in mode for mode in named)
        return by_path or node.func.attr in ("read_text", "read_bytes")
    return False


@pytest.mark.parametrize("package", [indexes, navigator])
def test_files_are_opened_through_the_door_alone(package: ModuleType) -> None:
    """navigator.capture runs in the user's program, without the rest of torchnav."""
    top = Path(str(package.__file__)).parent
    found = [
        f"{path.relative_to(top.parent)}:{node.lineno}"
        for path in sorted(top.rglob("*.py"))
        if "capture" not in path.parts
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and _reads(node)
    ]
    assert [one for one in found if not one.startswith("indexes/source/files.py:")] == []


def test_folders_beyond_all_measure_are_refused_in_a_short_line(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="a path of more than 100 folders: a/a/") as error:
        Folder(str(tmp_path)).read("a/" * 100_000 + "x.cpp")
    assert len(str(error.value)) < 1100
