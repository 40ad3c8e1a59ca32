"""One opener for all files: what is no regular file, too large or elsewhere is refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

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
