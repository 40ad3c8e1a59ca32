"""Random edits of the small tree, one after the other: each refreshed index is the one that a
build from nothing makes, row by row."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.build.builder import index_path
from indexes.queries.index import Index
from indexes.source.walk import folders
from tests.indexing import build, contents, opened
from tests.tree_marks import NATIVE, YAML

DERIVATIVES = "tools/autograd/derivatives.yaml"
Edit = Callable[[random.Random, str], str]


def _entries(text: str) -> list[str]:
    """The file cut before each entry; what comes before the first is a part of its own."""
    return re.split(r"^(?=- )", text, flags=re.M)


def _with_entry(
    chance: random.Random, text: str, edit: Callable[[str], str], wanted: str = ""
) -> str:
    parts = _entries(text)
    fit = [at for at, part in enumerate(parts) if part.startswith("- ") and wanted in part]
    if not fit:  # after many edits
        return text
    at = chance.choice(fit)
    parts[at] = edit(parts[at])
    return "".join(parts)


def _toggle_variant(chance: random.Random, text: str) -> str:
    def toggled(entry: str) -> str:
        if "  variants: function, method\n" in entry:
            return entry.replace("  variants: function, method\n", "  variants: function\n")
        return re.sub(
            r"  variants: function\n|(?<=\n)\Z", "  variants: function, method\n", entry, count=1
        )

    return _with_entry(chance, text, toggled)


def _add_line(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda entry: "# about what follows\n" + entry)


def _add_line_on_top(_: random.Random, text: str) -> str:
    return "# a new first line\n" + text


def _add_kernel(chance: random.Random, text: str) -> str:
    name = chance.choice(["add_out", "mul_out", "nowhere_to_be_found"])
    return _with_entry(
        chance,
        text,
        lambda e: e.replace("  dispatch:\n", f"  dispatch:\n    MPS: {name}\n"),
        "  dispatch:\n",
    )


def _remove_kernel(chance: random.Random, text: str) -> str:
    return _with_entry(
        chance,
        text,
        lambda e: re.sub(r"(  dispatch:\n)    .*\n", r"\1", e, count=1),
        "  dispatch:\n",
    )


def _rename(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda e: re.sub(r"(- func: \w+)", r"\1_renamed", e, count=1))


def _change_schema(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda e: re.sub(r"\(", "(int first, ", e, count=1))


def _remove(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda _: "")


def _add(chance: random.Random, text: str) -> str:
    name = chance.choice(["fresh", "add", "_foreach_fresh", "expand_copy", "relu_fresh"])
    entry = f"- func: {name}.n{chance.randrange(99)}(Tensor self) -> Tensor\n\n"
    return _with_entry(chance, text, lambda e: entry + e)


def _move(chance: random.Random, text: str) -> str:
    parts = _entries(text)
    part = parts.pop(chance.randrange(1, len(parts)))
    parts.insert(chance.randrange(1, len(parts)), part)
    return "".join(parts)


def _toggle_delegate(chance: random.Random, text: str) -> str:
    return _with_entry(
        chance, text, lambda e: re.sub(r"  structured_delegate: .*\n", "", e), "structured_delegate"
    )


def _toggle_structured(chance: random.Random, text: str) -> str:
    return _with_entry(
        chance, text, lambda e: e.replace("structured: True", "structured: False"), "structured: T"
    )


def _remove_autogen(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda e: re.sub(r"  autogen: .*\n", "", e), "autogen")


def _add_autogen(chance: random.Random, text: str) -> str:
    def added(entry: str) -> str:
        name, overload = re.match(r"- func: (\w+)\.?(\w*)", entry).groups()  # type: ignore[union-attr]
        out = f"{name.removesuffix('_')}.{overload}_out" if overload else f"{name}.out"
        return entry.rstrip("\n") + f"\n  autogen: {out}\n\n"

    return _with_entry(chance, text, added)


def _break(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda e: e.replace(":", ": [", 1))


def _repeat(chance: random.Random, text: str) -> str:
    """The same entry twice."""
    return _with_entry(chance, text, lambda entry: entry + entry)


def _edit_formula(chance: random.Random, text: str) -> str:
    return _with_entry(chance, text, lambda e: e.rstrip("\n") + "\n  result: auto_linear\n\n")


def _edit_kernel(chance: random.Random, text: str) -> str:
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines) + 1)
    return "".join([*lines[:at], "\n", *lines[at:]])


def _edit_signature(_: random.Random, text: str) -> str:
    return text.replace("const Tensor& self", "const Tensor& self, int more", 1)


def _edit_macro(_: random.Random, text: str) -> str:
    return text.replace("#define ", "#define NOT_", 1)


def _append_kernel(chance: random.Random, text: str) -> str:
    name = chance.choice(["fresh", "add_out_mps", "relu_", "nowhere_to_be_found"])
    return (
        text
        + f"\nnamespace at::native {{\nTensor {name}(const Tensor& self) {{ return self; }}\n}}\n"
    )


def _insert_helper(chance: random.Random, text: str) -> str:
    name = chance.choice(["fresh_helper", "mul_out", "_"])
    return f"static int {name}(int one) {{ return at::mul(one, add_stub); }}\n" + text


def _remove_some(chance: random.Random, text: str) -> str:
    """A part that ends where a definition may end."""
    parts = text.split("\n}\n")
    del parts[chance.randrange(len(parts))]
    return "\n}\n".join(parts)


def _undefine(chance: random.Random, text: str) -> str:
    names = re.findall(r"^#define (\w+)", text, flags=re.M) or ["NOTHING"]
    return f"{text}\n#undef {chance.choice(names)}\n"


ENTRY_EDITS: list[Edit] = [
    _toggle_variant,
    _add_line,
    _add_kernel,
    _remove_kernel,
    _rename,
    _change_schema,
    _remove,
    _add,
    _toggle_delegate,
    _toggle_structured,
    _remove_autogen,
    _add_autogen,
    _add_line_on_top,
]
SOURCE_EDITS: list[Edit] = [
    _edit_kernel,
    _edit_signature,
    _edit_macro,
    _append_kernel,
    _insert_helper,
    _remove_some,
    _undefine,
]


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
    _edited(tree / YAML, chance.choice([*ENTRY_EDITS, _move, _break, _repeat]), chance)


def _edit_a_formula(chance: random.Random, tree: Path) -> None:
    _edited(tree / DERIVATIVES, chance.choice([_edit_formula, _remove, _rename, _repeat]), chance)


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
def test_changes_of_a_tree(aged: Path, cache: Path, tmp_path: Path, seed: int) -> None:
    _changed_at_random(aged, cache, tmp_path / "cold", seed, times=4)


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
    _edited(aged / YAML, _repeat, chance)
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
    for edit in (_edit_formula, _add_line_on_top, _remove, _rename):
        _edited(aged / DERIVATIVES, edit, chance)
        _is_as_built_anew(aged, cache, tmp_path / "cold")
    (aged / DERIVATIVES).unlink()
    _is_as_built_anew(aged, cache, tmp_path / "cold")


@pytest.mark.parametrize("seed", range(2))
def test_edits_of_everything(aged: Path, cache: Path, tmp_path: Path, seed: int) -> None:
    chance = random.Random(100 + seed)
    build(aged, cache)
    for _ in range(5):
        for _ in range(2):
            kind = chance.randrange(4)
            if kind == 0:
                _edited(aged / YAML, chance.choice([*ENTRY_EDITS, _move, _break]), chance)
            elif kind == 1:
                _edited(
                    aged / DERIVATIVES, chance.choice([_edit_formula, _remove, _rename]), chance
                )
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
