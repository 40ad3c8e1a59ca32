"""An index in trouble: half files, noise, garbage, no right to write, two builders."""

from __future__ import annotations

import contextlib
import multiprocessing
import random
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from indexes.build.builder import index_path
from indexes.model.errors import Cancelled, DamagedIndex, Progress, SourceError, TorchnavError
from indexes.queries.index import Index
from indexes.source.source import Source
from tests.conftest import Run
from tests.indexing import answers, build, opened
from tests.tree_marks import NATIVE, TREE, YAML

BINARY_OPS = NATIVE + "BinaryOps.cpp"


def one_line(error: TorchnavError) -> str:
    text = str(error)
    assert text
    assert "\n" not in text
    return text


# ------------------------------------------------------------------ what is read


def test_a_tree_without_its_yaml_is_no_tree(tree_copy: Path, cache: Path, torchnav: Run) -> None:
    (tree_copy / YAML).unlink()
    with pytest.raises(SourceError) as caught:
        Index.open(Source.find(str(tree_copy)), cache)
    assert "native_functions.yaml" in one_line(caught.value)
    done = torchnav("op", "add", "--tree", str(tree_copy))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "content", [b"", b"# nothing\n", b"[]\n", b"just words\n", b"\xff\x00\xfe"]
)
def test_a_yaml_without_operators_is_an_error_not_an_empty_answer(
    content: bytes, tree_copy: Path, cache: Path
) -> None:
    (tree_copy / YAML).write_bytes(content)
    with pytest.raises(SourceError) as caught:
        Index.open(Source.find(str(tree_copy)), cache)
    one_line(caught.value)
    assert list(cache.rglob("*.db")) == []


def test_a_yaml_cut_in_half_keeps_its_first_half_and_says_where_it_ends(
    tree_copy: Path, cache: Path
) -> None:
    text = (tree_copy / YAML).read_text()
    cut = text.index("- func: mean.out(") + 30
    (tree_copy / YAML).write_text(text[:cut])
    with opened(tree_copy, cache) as index:
        names = {op.full_name for op in index.operators()}
        problems = [p for p in index.problems() if p.path == YAML]
        assert index.chain("mul.Tensor").hops
    whole = text[:cut].count("\n- func: ") - 1
    assert {"add.out", "mul.Tensor", "mean.dim"} <= names
    assert len([n for n in names if f"- func: {n}(" in text]) >= whole
    assert "mean.out" not in names
    assert len(problems) >= 1
    assert problems[0].line >= text[:cut].count("\n") - 1


def test_a_yaml_cut_in_half_is_told_to_the_user(tree_copy: Path, torchnav: Run) -> None:
    text = (tree_copy / YAML).read_text()
    (tree_copy / YAML).write_text(text[: text.index("- func: mean.out(") + 30])
    done = torchnav("index", "--tree", str(tree_copy))
    assert done.returncode == 0
    assert f"{YAML}:" in done.stderr + done.stdout


@pytest.mark.parametrize("seed", range(3))
def test_a_yaml_cut_anywhere_is_read_or_refused_in_one_line(
    seed: int, tree_copy: Path, cache: Path
) -> None:
    data = (tree_copy / YAML).read_bytes()
    (tree_copy / YAML).write_bytes(data[: random.Random(seed).randrange(len(data))])
    try:
        with opened(tree_copy, cache) as index:
            assert index.operators()
            assert all(p.message and "\n" not in p.message for p in index.problems())
    except SourceError as error:
        one_line(error)


def test_half_a_derivatives_yaml_costs_the_other_half_alone(tree_copy: Path, cache: Path) -> None:
    path = tree_copy / "tools/autograd/derivatives.yaml"
    text = path.read_text()
    cut = text.index("- name: cumsum(")
    path.write_text(text[: cut + 25])
    with opened(tree_copy, cache) as index:
        assert {e.op for e in index.derivative_rows()} >= {"mul.Tensor", "addmm"}
        assert index.derivative("cat") is None
        assert any(p.path.endswith("derivatives.yaml") for p in index.problems())


@pytest.mark.parametrize("seed", range(2))
def test_no_cut_or_noise_in_the_sources_breaks_the_index(
    seed: int, tree_copy: Path, cache: Path
) -> None:
    """Every C++ and Python file is cut, or has bytes changed, somewhere."""
    chance = random.Random(seed)
    for file in sorted(tree_copy.rglob("*")):
        if file.suffix in {".cpp", ".h", ".cu", ".cuh", ".mm", ".py"}:
            file.write_bytes(_spoilt(file.read_bytes(), chance))
    with opened(tree_copy, cache) as index:
        assert len(answers(index)) > 450
        for op in index.operators():
            index.chain(op.full_name)
        index.tensorimpl()
        index.engine()


def _spoilt(data: bytes, chance: random.Random) -> bytes:
    if not data or chance.random() < 0.3:
        return data
    spot = chance.randrange(len(data))
    if chance.random() < 0.5:
        return data[:spot]
    return data[:spot] + chance.randbytes(20) + data[spot + 20 :]


def test_a_file_of_random_bytes_costs_no_other_file(tree_copy: Path, cache: Path) -> None:
    (tree_copy / NATIVE / "cpu/Noise.cpp").write_bytes(random.Random(1).randbytes(50_000))
    (tree_copy / NATIVE / "cpu/Zeros.cu").write_bytes(bytes(50_000))
    with opened(tree_copy, cache) as index:
        spoilt = answers(index)
    with opened(TREE, cache) as index:
        assert spoilt == answers(index)


PATHOLOGICAL = (
    "{" * 20_000,
    "}" * 20_000,
    "namespace a {" * 3_000,
    "#if X\n" * 5_000,
    "#define F(x) F(F(x))\nF(1)\n",
    "#define A B\n#define B A\nA B\n" * 50,
    "/* never closed",
    'R"x(never closed',
    "TORCH_IMPL_FUNC(" * 500,
    "REGISTER_DISPATCH(a_stub, &" + "f(" * 5_000,
    "template <" * 5_000 + "class T> void f();",
    "\\\n" * 20_000,
)


def test_pathological_files_are_stepped_over(tree_copy: Path, cache: Path) -> None:
    for number, text in enumerate(PATHOLOGICAL):
        (tree_copy / NATIVE / f"Odd{number}.cpp").write_text(f"namespace at::native {{\n{text}\n")
    with opened(tree_copy, cache) as index:
        spoilt = answers(index)
    with opened(TREE, cache) as index:
        assert spoilt == answers(index)


def test_links_out_of_the_tree_are_not_followed(
    tree_copy: Path, cache: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.cpp"
    secret.write_text("namespace at::native { int from_outside() { return 1; } }\n")
    (tree_copy / NATIVE / "Link.cpp").symlink_to(secret)
    with opened(tree_copy, cache) as index:
        assert index.definitions("from_outside") == ()
        for path in ("../secret.cpp", str(secret), NATIVE + "Link.cpp", NATIVE + "../" * 9 + "x"):
            with pytest.raises(SourceError):
                index.read(path)


# ---------------------------------------------------------------- where it is kept


def test_an_index_file_of_garbage_is_built_again(tree_copy: Path, cache: Path) -> None:
    with opened(tree_copy, cache) as index:
        before = answers(index)
    path = index_path(Source.find(str(tree_copy)), cache)
    path.write_bytes(random.Random(2).randbytes(20_000))
    with opened(tree_copy, cache) as index:
        assert answers(index) == before


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_half_an_index_file_is_built_again(share: float, tree_copy: Path, cache: Path) -> None:
    with opened(tree_copy, cache) as index:
        before = answers(index)
    path = index_path(Source.find(str(tree_copy)), cache)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with opened(tree_copy, cache) as index:
        assert answers(index) == before
        assert index.chain("mul.out").hops


def _drop(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("DROP TABLE kernels")


def _spoil_schema(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[2000:4096] = random.Random(3).randbytes(2096)
    path.write_bytes(data)


def _spoil_values(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("UPDATE ops SET data=substr(data,9)")
        database.commit()


@pytest.mark.parametrize("spoil", [_drop, _spoil_schema, _spoil_values])
def test_an_index_that_something_spoilt_is_built_again_in_one_line(
    spoil: Callable[[Path], None], tree_copy: Path, cache: Path, torchnav: Run
) -> None:
    words = ("op", "mul.out", "--tree", str(tree_copy), "--cache", str(cache))
    before = torchnav(*words)
    path = index_path(Source.find(str(tree_copy)), cache)
    spoil(path)
    done = torchnav(*words)
    assert (done.returncode, done.stdout) == (0, before.stdout)
    assert done.stderr.count("\n") == 1
    assert str(path) in done.stderr
    assert "it was rebuilt" in done.stderr
    assert torchnav(*words).stderr == before.stderr == ""


def test_an_index_whose_damage_no_file_time_tells_is_removed(tree_copy: Path, cache: Path) -> None:
    with opened(tree_copy, cache) as index:
        path = Path(index.facts.store.path)
        data = path.read_bytes()
        path.write_bytes(data[:8192] + bytes(len(data) - 8192))
        with pytest.raises(DamagedIndex):
            index.chain("mul.out")
    assert not path.exists()


def test_an_index_that_another_process_holds_is_not_called_damaged(
    tree_copy: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("indexes.store.index_file._PATIENCE", 0.3)
    with opened(tree_copy, cache) as index:
        path = Path(index.facts.store.path)
        with contextlib.closing(sqlite3.connect(path)) as other:
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(SourceError, match=r"cannot read the index .* locked"):
                index.chain("mul.out")
        assert index.chain("mul.out").hops


def test_a_cache_that_cannot_be_written_is_one_clear_line(
    tree_copy: Path, tmp_path: Path, torchnav: Run
) -> None:
    """A file in the folder's place: that holds for root too."""
    blocked = tmp_path / "blocked"
    blocked.write_text("not a folder")
    with pytest.raises(SourceError) as caught:
        Index.open(Source.find(str(tree_copy)), blocked)
    assert str(blocked) in one_line(caught.value)
    done = torchnav("op", "add", "--tree", str(tree_copy), TORCHNAV_CACHE=str(blocked))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1
    assert blocked.read_text() == "not a folder"


def test_cancelling_leaves_what_was_there(tree_copy: Path, cache: Path) -> None:
    with pytest.raises(Cancelled):
        Index.open(Source.find(str(tree_copy)), cache, cancelled=lambda: True)
    assert list(cache.rglob("*.db*")) == []
    with opened(tree_copy, cache) as index:
        before = answers(index)
    (tree_copy / BINARY_OPS).write_text("")
    with pytest.raises(Cancelled):
        Index.open(Source.find(str(tree_copy)), cache, cancelled=lambda: True)
    with opened(tree_copy, cache, refresh=False) as index:
        assert answers(index) == before


def test_progress_counts_up_to_all_files(tree_copy: Path, cache: Path) -> None:
    seen: list[Progress] = []
    build(tree_copy, cache, progress=seen.append)
    reading = [(p.done, p.total) for p in seen if p.stage == "reading"]
    assert reading == sorted(reading)
    assert reading[-1][0] == reading[-1][1] > 150


def _build(tree: Path, cache: Path, start: float) -> list[Any]:
    time.sleep(max(0.0, start - time.time()))
    with opened(tree, cache) as index:
        return sorted(answers(index).items())


def test_builders_at_the_same_time_do_not_harm_each_other(tree_copy: Path, cache: Path) -> None:
    start = time.time() + 1
    with ProcessPoolExecutor(3, multiprocessing.get_context("spawn")) as pool:
        running = [pool.submit(_build, tree_copy, cache, start) for _ in range(3)]
        found = [one.result(timeout=120) for one in running]
    assert found[0] == found[1] == found[2]
    assert len(found[0]) > 450
    left = {p.name for p in cache.rglob("*") if p.is_file()}
    assert not [name for name in left if "building" in name]
