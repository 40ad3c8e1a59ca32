"""Random edits of the small tree, one after the other: each refreshed index is the one that a
build from nothing makes, row by row."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.build.builder import index_path
from indexes.queries.index import Index
from indexes.source.walk import folders
from tests.indexes.build.edits import (
    ENTRY_EDITS,
    SOURCE_EDITS,
    Edit,
    add_line_on_top,
    break_entry,
    edit_formula,
    move,
    remove,
    rename,
    repeat,
)
from tests.indexing import build, contents, opened
from tests.tree_marks import NATIVE, YAML

DERIVATIVES = "tools/autograd/derivatives.yaml"


def _sources(tree: Path) -> list[Path]:
    found = [tree / NATIVE / "BinaryOps.cpp", tree / NATIVE / "DispatchStub.h"]
    found += sorted((tree / NATIVE).glob("*.cpp")) + sorted((tree / NATIVE).rglob("*.h"))
    return [*found, tree / "torch/csrc/autograd/engine.cpp"]


def _edited(file: Path, edit: Edit, chance: random.Random) -> None:
    before = file.stat()
    text = edit(chance, file.read_text(errors="surrogateescape"))
    file.write_text(text, errors="surrogateescape")
    # Another time than before, and long ago, so that no other file is looked at.
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000_000))


def _is_as_built_anew(tree: Path, cache: Path, cold: Path) -> None:
    with opened(tree, cache) as index:
        assert not index.report.cold
        refreshed, order = contents(index_path(index.source, cache)), _order(index)
    with opened(tree, cold, force=True) as index:
        built = contents(index_path(index.source, cold))
        assert order == _order(index)
    for table in built:
        assert refreshed[table] == built[table], table


def _order(index: Index) -> list[object]:
    operators = [op.full_name for op in index.operators()]
    return [*operators, *((row.op, row.key) for row in index.kernel_rows())]


@pytest.fixture
def cache(near_cache: Path) -> Path:
    return near_cache


@pytest.fixture
def aged(tree_copy: Path) -> Path:
    """The small tree, last edited long ago."""
    for folder, _, names in os.walk(tree_copy):
        for name in (*names, "."):
            os.utime(Path(folder, name), (1_600_000_000, 1_600_000_000))
    return tree_copy


# --------------------------------------------------------------------- changes of files

Change = Callable[[random.Random, Path], None]


def _any_source(chance: random.Random, tree: Path) -> Path:
    return chance.choice([file for file in _sources(tree) if file.is_file()])


def _edit_source(chance: random.Random, tree: Path) -> None:
    _edited(_any_source(chance, tree), chance.choice(SOURCE_EDITS), chance)


def _edit_entry(chance: random.Random, tree: Path) -> None:
    _edited(tree / YAML, chance.choice([*ENTRY_EDITS, move, break_entry, repeat]), chance)


def _edit_a_formula(chance: random.Random, tree: Path) -> None:
    _edited(tree / DERIVATIVES, chance.choice([edit_formula, remove, rename, repeat]), chance)


def _edit_python(chance: random.Random, tree: Path) -> None:
    file = chance.choice(sorted((tree / "torch").rglob("*.py")))
    _edited(
        file, lambda chance, text: f"{text}\n\ndef fresh_{chance.randrange(9)}(): ...\n", chance
    )


def _rename_file(chance: random.Random, tree: Path) -> None:
    file = _any_source(chance, tree)
    file.rename(file.with_name(f"Renamed{chance.randrange(99)}{file.suffix}"))


def _copy_file(chance: random.Random, tree: Path) -> None:
    file = _any_source(chance, tree)
    shutil.copy2(file, file.with_name(f"Copied{chance.randrange(99)}{file.suffix}"))


def _delete_file(chance: random.Random, tree: Path) -> None:
    _any_source(chance, tree).unlink()


def _same_size_and_time(chance: random.Random, tree: Path) -> None:
    """Only the time of the inode's change tells."""
    file = _any_source(chance, tree)
    before = file.stat()
    file.write_bytes(file.read_bytes().replace(b"at::", b"ta::"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def _switch_branch(chance: random.Random, tree: Path) -> None:
    """What git does to the files of a work tree: some are others, some are back."""
    saved = tree.with_name("other branch")
    if saved.exists():
        shutil.rmtree(tree)
        saved.rename(tree)
        return
    shutil.copytree(tree, saved)
    for change in chance.choices(CHANGES[:-1], k=4):
        change(chance, tree)


CHANGES: list[Change] = [
    _edit_source,
    _edit_source,
    _edit_entry,
    _edit_entry,
    _edit_a_formula,
    _edit_python,
    _rename_file,
    _copy_file,
    _delete_file,
    _same_size_and_time,
    _switch_branch,
]


def _changed_at_random(
    tree: Path, cache: Path, cold: Path, seed: int, times: int, each: int = 1
) -> None:
    """Changes a tree again and again and refreshes its index after each; after ``each`` changes
    it is held against one built from nothing."""
    chance = random.Random(seed)
    for at in range(times):
        for change in chance.choices(CHANGES, k=each):
            build(tree, cache)
            change(chance, tree)
        try:
            _is_as_built_anew(tree, cache, cold)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}, step {at}: {error}") from error


@pytest.mark.parametrize("seed", range(3))
def test_changes_of_a_tree(aged: Path, tmp_path: Path, seed: int) -> None:
    _changed_at_random(aged, tmp_path / "empty", tmp_path / "cold", seed, times=4)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 150))
def test_many_changes_of_a_tree(aged: Path, cache: Path, tmp_path: Path, seed: int) -> None:
    _changed_at_random(aged, cache, tmp_path / "cold", seed, times=10, each=4)


@pytest.mark.checkout
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_changes_of_a_full_tree(checkout: Path, cache: Path, tmp_path: Path, seed: int) -> None:
    tree = tmp_path / "checkout"
    for folder in (*folders("checkout"), "docs/source"):
        if (checkout / folder).is_dir():
            shutil.copytree(checkout / folder, tree / folder, dirs_exist_ok=True)
    _changed_at_random(tree, cache, tmp_path / "cold", seed, times=5, each=10)


@pytest.mark.parametrize("seed", range(3))
def test_edits_of_entries(aged: Path, cache: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    build(aged, cache)
    for _ in range(5):
        _edited(aged / YAML, chance.choice(ENTRY_EDITS), chance)
        _is_as_built_anew(aged, cache, tmp_path / "cold")


@pytest.mark.parametrize("edit", ENTRY_EDITS, ids=lambda edit: edit.__name__)
def test_one_edit_of_an_entry(aged: Path, cache: Path, tmp_path: Path, edit: Edit) -> None:
    chance = random.Random(edit.__name__)
    build(aged, cache)
    _edited(aged / YAML, edit, chance)
    _is_as_built_anew(aged, cache, tmp_path / "cold")


def test_an_entry_that_stood_twice_leaves_no_line_behind(
    aged: Path, cache: Path, tmp_path: Path
) -> None:
    chance = random.Random(1)
    build(aged, cache)
    once = (aged / YAML).read_text()
    _edited(aged / YAML, repeat, chance)
    _is_as_built_anew(aged, cache, tmp_path / "cold")
    _edited(aged / YAML, lambda _chance, _text: f"# one more line\n{once}", chance)
    _is_as_built_anew(aged, cache, tmp_path / "cold")


def test_a_body_that_names_an_overload_follows_its_entry(
    aged: Path, cache: Path, tmp_path: Path
) -> None:
    """``at::_ops::mul_Tensor::redispatch`` uses no name of the operator."""
    build(aged, cache)
    entry = "func: mul.Tensor("
    _edited(aged / YAML, lambda _, text: text.replace(entry, "func: mul.Other("), random.Random(1))
    _is_as_built_anew(aged, cache, tmp_path / "cold")


def test_a_method_is_called_where_its_class_is_declared(
    aged: Path, cache: Path, tmp_path: Path
) -> None:
    """It is defined in a second file and called in a third, which are as they were."""
    native = aged / NATIVE
    declared = "namespace at::native {\nclass Wrapped { int width(); };\n}\n"
    (native / "Wrapped.cpp").write_text("int at::native::Wrapped::width() { return 1; }\n")
    (native / "Wrapping.cpp").write_text(
        "int wide(at::native::Wrapped* w) { return w->width(); }\n"
    )
    for there in (True, False, True):
        if there:
            (native / "Wrapped.h").write_text(declared)
        else:
            (native / "Wrapped.h").unlink()
        with opened(aged, cache) as index:
            (wide,) = index.facts.named("wide")
            leads = {edge.kind for edge in index.facts.edges(wide.id)}
            assert ("call" in leads) is there
    _is_as_built_anew(aged, cache, tmp_path / "cold")


@pytest.mark.parametrize("folder", ["cuda", "cpu"])
def test_a_functors_methods_run_where_code_of_a_folder_calls_them(
    aged: Path, cache: Path, tmp_path: Path, folder: str
) -> None:
    """Of the folder that constructs the functor, and not of any other."""
    (aged / NATIVE / "Sums.h").write_text(
        "namespace at::native {\n"
        "template <typename T> struct SumBase { T reduce(T a, T b) const { return a + b; } };\n"
        "template <typename T> struct SumOps : public SumBase<T> {};\n}\n"
    )
    (aged / NATIVE / "cuda/Sums.cu").write_text(
        "#include <ATen/native/Sums.h>\nnamespace at::native {\n"
        "void sums_of(TensorIterator& iter) { reduced(iter, SumOps<float>{}); }\n}\n"
    )
    build(aged, cache)
    (aged / NATIVE / folder / "Reduced.cuh").write_text(
        "namespace at::native {\ntemplate <typename Ops> void folded(TensorIterator& iter, "
        "const Ops& ops) { ops.reduce(1, 2); }\n}\n"
    )
    _is_as_built_anew(aged, cache, tmp_path / "cold")
    with opened(aged, cache) as index:
        (known,) = index.facts.named("sums_of")
        kinds = [edge.kind for edge in index.facts.edges(known.id)]
    assert ("functor" in kinds) == (folder == "cuda")


def test_a_functor_runs_what_its_base_gets(aged: Path, cache: Path, tmp_path: Path) -> None:
    base = aged / NATIVE / "SumBase.h"
    base.write_text("namespace at::native {\ntemplate <typename T> struct SumBase {};\n}\n")
    (aged / NATIVE / "cuda/Sums.cuh").write_text(
        "namespace at::native {\ntemplate <typename T> struct SumOps : public SumBase<T> {};\n"
        "template <typename Ops> void folded(TensorIterator& iter, const Ops& ops) "
        "{ ops.reduce(1, 2); }\n}\n"
    )
    (aged / NATIVE / "cuda/Summed.cu").write_text(
        "namespace at::native {\n"
        "void sums_of(TensorIterator& iter) { reduced(iter, SumOps<float>{}); }\n}\n"
    )
    build(aged, cache)
    method = "T reduce(T a, T b) const { return a + b; }"
    base.write_text(base.read_text().replace("{};", f"{{ {method} }};"))
    _is_as_built_anew(aged, cache, tmp_path / "cold")
    with opened(aged, cache) as index:
        (known,) = index.facts.named("sums_of")
        assert [e.kind for e in index.facts.edges(known.id)].count("functor") == 2


def test_a_method_is_a_tensors_where_its_type_is_another_name_of_tensors(
    aged: Path, cache: Path, tmp_path: Path
) -> None:
    """The name is explained in one file and used in another, which is as it was."""
    (aged / NATIVE / "Named.cpp").write_text(
        "SparseNamed half(const SparseNamed& x) { return x.mul(x); }\n"
        "void quarter(const SparseNamed& x) { half(x).mul_(x); }\n"
    )
    header = aged / NATIVE / "Named.h"
    for meaning, called in (("Tensor", True), ("Stack", False), ("at::Tensor", True)):
        header.write_text(f"using SparseNamed = {meaning};\n")
        with opened(aged, cache) as index:
            for name, operator in (("half", "mul.Tensor"), ("quarter", "mul_.Tensor")):
                (known,) = index.facts.named(name)
                leads = operator in [edge.target for edge in index.facts.edges(known.id)]
                assert leads is called, (name, meaning)
        _is_as_built_anew(aged, cache, tmp_path / "cold")


def test_edits_of_formulas(aged: Path, cache: Path, tmp_path: Path) -> None:
    chance = random.Random(5)
    build(aged, cache)
    for edit in (edit_formula, add_line_on_top, remove, rename):
        _edited(aged / DERIVATIVES, edit, chance)
        _is_as_built_anew(aged, cache, tmp_path / "cold")
    (aged / DERIVATIVES).unlink()
    _is_as_built_anew(aged, cache, tmp_path / "cold")


@pytest.mark.parametrize("seed", range(2))
def test_edits_of_everything(aged: Path, tmp_path: Path, seed: int) -> None:
    chance, cache = random.Random(100 + seed), tmp_path / "empty"
    build(aged, cache)
    for _ in range(5):
        for _ in range(2):
            kind = chance.randrange(4)
            if kind == 0:
                _edited(aged / YAML, chance.choice([*ENTRY_EDITS, move, break_entry]), chance)
            elif kind == 1:
                _edited(aged / DERIVATIVES, chance.choice([edit_formula, remove, rename]), chance)
            else:
                _edited(chance.choice(_sources(aged)), chance.choice(SOURCE_EDITS), chance)
        _is_as_built_anew(aged, cache, tmp_path / "cold")


@pytest.mark.parametrize("edit", SOURCE_EDITS, ids=lambda edit: edit.__name__)
def test_edits_of_sources(aged: Path, cache: Path, tmp_path: Path, edit: Edit) -> None:
    """The same edit of some files at once, again and again."""
    chance = random.Random(edit.__name__)
    build(aged, cache)
    for _ in range(2):
        for file in chance.sample(_sources(aged), 6):
            _edited(file, edit, chance)
        _is_as_built_anew(aged, cache, tmp_path / "cold")
