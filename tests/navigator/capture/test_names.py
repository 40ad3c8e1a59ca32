"""Recordings of ranks and processes have names of their own, and no file is written by two."""

from __future__ import annotations

import glob
import os
import time
from pathlib import Path

import pytest

from navigator.capture.names import any_process, expand, open_free, rank_of


@pytest.mark.parametrize(
    ("pattern", "rank", "path"),
    [
        ("run.json", None, "run.json"),
        ("run.json", 3, "run-rank3.json"),
        ("run.json.gz", 3, "run-rank3.json.gz"),
        ("v1.5/run", 0, "v1.5/run-rank0"),
        ("%r/run.json", 12, "12/run.json"),
        ("run-{rank}-{pid}.json", 1, "run-1-77.json"),
        ("run-{rank}.json", None, "run-main.json"),
        ("run-{pid}.json", 1, "run-77.json"),
        ("rank3.json", 3, "rank3.json"),
        ("rank_3/run.json", 3, "rank_3/run.json"),
        ("rank3.json", 4, "rank3-rank4.json"),
    ],
)
def test_a_name_tells_the_rank_once(pattern: str, rank: int | None, path: str) -> None:
    assert expand(pattern, rank, 77) == path


@pytest.mark.parametrize(
    ("environ", "rank"),
    [({}, None), ({"RANK": "0"}, 0), ({"RANK": "17"}, 17), ({"RANK": "a"}, None)],
)
def test_the_rank_is_the_one_that_torchrun_gave(environ: dict[str, str], rank: int | None) -> None:
    assert rank_of(environ) == rank


@pytest.mark.parametrize("pattern", ["run[1].json", "run-{rank}.json", "{pid}-%r.json"])
def test_the_files_of_a_run_are_found_again(tmp_path: Path, pattern: str) -> None:
    paths = {expand(str(tmp_path / pattern), rank, 5) for rank in (0, 1)}
    for path in paths:
        Path(path).touch()
    (tmp_path / "other.json").touch()
    assert set(glob.glob(any_process(str(tmp_path / pattern)))) == paths


def test_the_second_of_two_writers_gets_another_file(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    (tmp_path / "run-2.json").write_text("the user's")
    first, named = open_free(str(path))
    os.write(first, b"first")
    second, beside = open_free(str(path))
    assert (named, beside) == (str(path), str(tmp_path / "run-3.json"))
    assert path.read_bytes() == b"first"
    assert (tmp_path / "run-2.json").read_text() == "the user's"
    os.close(first)
    os.close(second)
    again, named = open_free(str(path))
    os.close(again)
    assert named == str(path)
    assert path.read_bytes() == b"", "one that is written by nobody is written anew"


def test_a_file_of_the_same_run_is_not_written_over(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text("a rank that has ended")
    descriptor, beside = open_free(str(path), since=time.time() - 60)
    os.close(descriptor)
    assert beside == str(tmp_path / "run-2.json")
    os.utime(path, (0, 0))
    descriptor, named = open_free(str(path), since=time.time() - 60)
    os.close(descriptor)
    assert named == str(path)


def test_a_device_is_shared() -> None:
    first, second = open_free("/dev/null"), open_free("/dev/null")
    assert [first[1], second[1]] == ["/dev/null"] * 2
    for descriptor, _ in (first, second):
        os.close(descriptor)
