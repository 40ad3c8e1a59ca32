"""An index of the small tree after edits: it costs what changed, and answers as if built anew."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from indexes.build.builder import index_path
from indexes.build.stages import STAGES
from indexes.linking.edges import EdgeResolver
from indexes.linking.facts import Call, Edge, Known
from indexes.model.errors import SourceError
from indexes.queries.index import Index
from tests.indexing import answers, append, build, contents, opened
from tests.tree_marks import NATIVE, YAML

BINARY_OPS = NATIVE + "BinaryOps.cpp"
LONG_AGO = 1_600_000_000


@pytest.fixture
def cache(near_cache: Path) -> Path:
    return near_cache


def _insert_line(file: Path) -> None:
    """Pushes everything one line down."""
    file.write_bytes(b"// a new first line\n" + file.read_bytes())


def test_nothing_changed_reads_nothing(tree_copy: Path, tmp_path: Path) -> None:
    cache = tmp_path / "empty"
    with opened(tree_copy, cache) as index:
        assert index.report.cold
        assert index.report.read > 150
    with opened(tree_copy, cache) as index:
        assert (index.report.cold, index.report.read, index.report.removed) == (False, 0, 0)


def test_an_edited_file_costs_that_file(tree_copy: Path, cache: Path) -> None:
    with opened(tree_copy, cache) as index:
        before = answers(index)
    _insert_line(tree_copy / BINARY_OPS)
    with opened(tree_copy, cache) as index:
        assert index.report.read == 1
        after = answers(index)
    with opened(tree_copy, cache, force=True) as index:
        assert index.report.cold
        assert after == answers(index)
    moved = {key for key in before if before[key] != after[key]}
    assert ("mul.out", "CPU") in moved
    assert all(any(BINARY_OPS in place for place in after[key]) for key in moved)


def test_an_edited_page_of_the_docs_is_read_again(tree_copy: Path, cache: Path) -> None:
    build(tree_copy, cache)
    _insert_line(tree_copy / "docs/source/torch.rst")
    with opened(tree_copy, cache) as index:
        assert index.report.read == 1
        pages = [str(h.location) for h in index.chain("addmm").hops if h.role == "docs"]
        assert "docs/source/torch.rst:12" in pages


def test_an_edited_table_reaches_what_another_file_registers_from_it(
    tree_copy: Path, cache: Path
) -> None:
    with opened(tree_copy, cache) as index:
        assert index.surroundings("ceil").inductor.status == "lowered"
        assert index.surroundings("gelu").inductor.status == "none"
    table = tree_copy / "torch/_inductor/codegen/common.py"
    table.write_text(table.read_text().replace('name="ceil"', 'name="gelu"'))
    with opened(tree_copy, cache) as index:
        assert index.report.read == 1
        assert index.surroundings("ceil").inductor.status == "none"
        assert index.surroundings("gelu").inductor.status == "lowered"


def test_equally_good_answers_come_by_place_not_by_age(tree_copy: Path, cache: Path) -> None:
    build(tree_copy, cache)
    for path in (BINARY_OPS, NATIVE + "cpu/BinaryOpsKernel.cpp"):
        file = tree_copy / path
        file.write_bytes(file.read_bytes() + b"\nA_USE(1)\n")  # its uses are the youngest now

    def asked(index: Index) -> list[object]:
        return [index.find("mul", 7), index.find("m"), index.uses("mul_stub"), index.uses("mul")]

    with opened(tree_copy, cache) as index:
        assert index.report.read == 2
        refreshed = asked(index)
    with opened(tree_copy, cache, force=True) as index:
        assert refreshed == asked(index)


def test_an_edited_macro_reaches_the_files_that_use_it(tree_copy: Path, cache: Path) -> None:
    """The list of scalar types is in c10, its use in TensorFactories.cpp."""
    build(tree_copy, cache)
    header = tree_copy / "c10/core/ScalarType.h"
    text = header.read_text()
    header.write_text(text.replace("  _(double, Double)                               \\\n", ""))
    assert header.read_text() != text
    with opened(tree_copy, cache) as index:
        kept = answers(index)["_cast_Float", "CompositeImplicitAutograd"]
        gone = answers(index)["_cast_Double", "CompositeImplicitAutograd"]
        assert kept[1] == "macro"
        assert gone[1] == "missing"
        assert index.report.read <= 2


def test_a_refreshed_index_answers_as_one_built_anew(tree_copy: Path, cache: Path) -> None:
    build(tree_copy, cache)
    (tree_copy / NATIVE / "cpu/SumKernel.cpp").unlink()
    _insert_line(tree_copy / YAML.replace("native_functions.yaml", "DispatchStub.h"))
    append(tree_copy, {YAML: "\n- func: sub.Scalar(Tensor self, Scalar other) -> Tensor\n"})
    (tree_copy / NATIVE / "More.cpp").write_text(
        "namespace at::native {\nTensor sub(const Tensor& self, const Scalar& other) {\n"
        "  return self;\n}\n}\n"
    )
    with opened(tree_copy, cache) as index:
        assert not index.report.cold
        assert answers(index)["sub.Scalar", "CompositeImplicitAutograd"][2].endswith("More.cpp:2")
        refreshed = _everything(index)
    with opened(tree_copy, cache, force=True) as index:
        assert refreshed == _everything(index)


def _everything(index: Index) -> dict[str, object]:
    return {
        "kernels": answers(index),
        "stubs": sorted(map(repr, index.stub_rows())),
        "derivatives": sorted(map(repr, index.derivative_rows())),
        "operators": sorted(map(repr, index.operators())),
        "chains": [repr(index.chain(op.full_name).hops) for op in index.operators()],
    }


@pytest.mark.parametrize("patterns", [("*.h",), ("*.h", "*.cpp", "*.cu")])
def test_macros_that_moved_are_seen_where_they_are_used(
    tree_copy: Path, cache: Path, patterns: tuple[str, ...]
) -> None:
    """With their users or without them: every row is that of a new build."""
    build(tree_copy, cache)
    for file in (found for pattern in patterns for found in tree_copy.rglob(pattern)):
        file.write_bytes(b"#define A_NEW_FIRST_LINE 1\n" + file.read_bytes())
    assert _rows(tree_copy, cache) == _rows(tree_copy, cache, force=True)


def test_an_added_alias_reaches_the_kernels_of_other_files(tree_copy: Path, cache: Path) -> None:
    """A parameter of a type that only a header explains: the header changes, not the kernel."""
    (tree_copy / NATIVE / "More.cpp").write_text(
        "namespace at::native {\nTensor sub(const Tensor& self, const Number& other) {\n"
        "  return self;\n}\nTensor sub(const Tensor& self, Digit other) {\n  return self;\n}\n}\n"
    )
    append(tree_copy, {YAML: "\n- func: sub.Scalar(Tensor self, Scalar other) -> Tensor\n"})
    with opened(tree_copy, cache) as index:
        assert len(answers(index)["sub.Scalar", "CompositeImplicitAutograd"]) > 3
    (tree_copy / "c10/core/Number.h").write_text("namespace at {\nusing Number = Scalar;\n}\n")
    with opened(tree_copy, cache) as index:
        found = answers(index)["sub.Scalar", "CompositeImplicitAutograd"]
        assert [place.rpartition(":")[2] for place in found[2:]] == ["2"]


def test_a_name_that_becomes_a_stub_is_followed_where_it_was_passed(
    tree_copy: Path, cache: Path
) -> None:
    """And no longer when it is none again: the file that passes it does not change."""
    (tree_copy / NATIVE / "Passing.cpp").write_text(
        "namespace at::native {\nvoid passing() {\n  run_with(a_new_stub, 1);\n}\n}\n"
    )
    build(tree_copy, cache)
    header = tree_copy / NATIVE / "ANewStub.h"
    header.write_text("namespace at::native {\nDECLARE_DISPATCH(void(*)(), a_new_stub)\n}\n")
    with opened(tree_copy, cache) as index:
        assert [known.definition.name for known, _ in index.facts.callers("a_new_stub")]
    assert _rows(tree_copy, cache) == _rows(tree_copy, cache, force=True)
    header.unlink()
    assert _rows(tree_copy, cache) == _rows(tree_copy, cache, force=True)
    with opened(tree_copy, cache) as index:
        assert not index.facts.callers("a_new_stub")


def test_a_macro_that_passes_a_new_stub_is_expanded_again_though_it_is_used_as_before(
    tree_copy: Path, cache: Path
) -> None:
    """Its user is edited at the same time, behind all of its uses."""
    user = tree_copy / NATIVE / "Passing.cpp"
    user.write_text(
        "#define PASSING(name) void name() { run_with(a_new_stub, 1); }\n"
        "namespace at::native {\nPASSING(passing)\n}\n"
    )
    build(tree_copy, cache)
    user.write_text(user.read_text() + "void behind() {}\n")
    header = tree_copy / NATIVE / "ANewStub.h"
    header.write_text("namespace at::native {\nDECLARE_DISPATCH(void(*)(), a_new_stub)\n}\n")
    with opened(tree_copy, cache) as index:
        callers = [known for known, _ in index.facts.callers("a_new_stub")]
        (known,) = [one for one in callers if one.definition.kind != "macro"]
        assert (known.definition.name, bool(known.definition.macro)) == ("passing", True)
    assert _rows(tree_copy, cache) == _rows(tree_copy, cache, force=True)


def test_stubs_that_a_macro_makes_go_with_its_use(tree_copy: Path, cache: Path) -> None:
    user = tree_copy / NATIVE / "Making.cpp"
    use = "MAKE_STUB(a_made_stub)\n"
    user.write_text(
        f"#define MAKE_STUB(name) DEFINE_DISPATCH(name);\nnamespace at::native {{\n{use}"
        "void passing() {\n  run_with(a_made_stub, 1);\n}\n}\n"
    )
    with opened(tree_copy, cache) as index:
        assert index.facts.stub_uses("a_made_stub")
    for text in (user.read_text().replace(use, ""), user.read_text(), ""):
        user.write_text(text)
        with opened(tree_copy, cache) as index:
            assert bool(index.facts.stub_uses("a_made_stub")) == (use in text)
        assert _rows(tree_copy, cache) == _rows(tree_copy, cache, force=True)


def test_a_macro_that_is_undefined_again_means_nothing_in_other_files(
    tree_copy: Path, cache: Path
) -> None:
    header = tree_copy / NATIVE / "Making.h"
    header.write_text("#define MAKE_ONE(name) void name() {}\n")
    (tree_copy / NATIVE / "Other.h").write_text("#define MAKE_ONE(name) void other_##name() {}\n")
    (tree_copy / NATIVE / "Making.cpp").write_text("namespace at::native {\nMAKE_ONE(one)\n}\n")
    build(tree_copy, cache)
    header.write_text(header.read_text() + "#undef MAKE_ONE\n")
    assert _rows(tree_copy, cache) == _rows(tree_copy, cache, force=True)


def test_an_operator_that_a_macro_holds_is_another_where_the_macro_is_used(
    tree_copy: Path, cache: Path
) -> None:
    (tree_copy / NATIVE / "Holding.h").write_text("#define HELD(x) at::relu(x)\n")
    (tree_copy / NATIVE / "Holding.cpp").write_text(
        "namespace at::native {\nTensor holds(const Tensor& self) {\n  return HELD(self);\n}\n}\n"
    )
    with opened(tree_copy, cache) as index:
        assert "operator/relu" in _led_to(index, "holds")
    yaml = tree_copy / YAML
    yaml.write_text(yaml.read_text().replace("- func: relu(", "- func: relu_renamed("))
    with opened(tree_copy, cache) as index:
        assert "operator/relu" not in _led_to(index, "holds")
    assert _rows(tree_copy, cache) == _rows(tree_copy, cache, force=True)


def _led_to(index: Index, name: str) -> set[str]:
    (known,) = index.facts.named(name)
    return {f"{edge.kind}/{edge.target}" for edge in index.facts.edges(known.id)}


def test_where_operators_stand_decides_nothing_in_bodies(
    tree_copy: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(tree_copy, cache)
    linked: list[str] = []
    resolve = EdgeResolver.edges

    def noted(self: EdgeResolver, caller: Known, calls: Sequence[Call]) -> list[Edge]:
        linked.append(caller.definition.name)
        return resolve(self, caller, calls)

    monkeypatch.setattr(EdgeResolver, "edges", noted)
    yaml = tree_copy / YAML
    yaml.write_text("# a new first line\n" + yaml.read_text())
    after = _rows(tree_copy, cache)
    assert not linked
    assert after == _rows(tree_copy, cache, force=True)
    assert linked


def _rows(tree: Path, cache: Path, **options: bool) -> dict[str, Counter[tuple[Any, ...]]]:
    with opened(tree, cache, **options) as index:
        return contents(index_path(index.source, cache))


def test_stages_of_other_code_make_the_rows_of_an_index_that_is_built_anew(
    tree_copy: Path, cache: Path
) -> None:
    """They run again on definitions and formulas that are as they were."""
    with opened(tree_copy, cache) as index:
        file = index_path(index.source, cache)
    stages = [stage.name for stage in STAGES]
    with contextlib.closing(sqlite3.connect(file)) as db:
        db.executemany("UPDATE meta SET value='of other code' WHERE key=?", [(s,) for s in stages])
        assert db.total_changes == len(stages)
        db.commit()
    _insert_line(tree_copy / "docs/source/torch.rst")
    assert _rows(tree_copy, cache) == _rows(tree_copy, cache, force=True)


def test_a_deleted_file_takes_its_answers_along(tree_copy: Path, cache: Path) -> None:
    build(tree_copy, cache)
    (tree_copy / BINARY_OPS).unlink()
    with opened(tree_copy, cache) as index:
        assert (index.report.removed, index.report.read) == (1, 0)
        rows = {(row.op, row.key): row for row in index.kernel_rows()}
        gone = rows["mul.out", "CPU"]
        assert (gone.kind, gone.definitions) == ("missing", ())
        assert gone.reason
        with pytest.raises(SourceError):
            index.read(BINARY_OPS)


def test_times_may_lie_and_verify_finds_out(tree_copy: Path, cache: Path) -> None:
    """Same size, same times, other content: only hashing every file can tell."""
    file = tree_copy / BINARY_OPS
    was = file.stat()
    text = file.read_text()
    build(tree_copy, cache)
    file.write_text(text.replace("TORCH_IMPL_FUNC(mul_out)", "TORCH_IMPL_FUNC(lum_out)"))
    os.utime(file, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert file.stat().st_size == was.st_size
    with opened(tree_copy, cache, verify=True) as index:
        assert index.report.read == 1
        assert answers(index)["mul.out", "CPU"][1] == "missing"


def test_a_touched_file_is_not_read_again(tree_copy: Path, cache: Path) -> None:
    build(tree_copy, cache)
    os.utime(tree_copy / BINARY_OPS)
    with opened(tree_copy, cache) as index:
        assert index.report.read == 0


def test_the_tree_may_be_moved_or_named_in_another_way(tree_copy: Path, cache: Path) -> None:
    with opened(tree_copy, cache) as index:
        before = answers(index)
    renamed = tree_copy.rename(tree_copy.with_name("elsewhere build"))
    with opened(renamed, cache) as index:
        assert answers(index) == before
    with opened(renamed / "aten" / "src", cache) as index:
        assert (index.report.read, answers(index)) == (0, before)


def test_what_macros_could_not_make_goes_with_its_use(tree_copy: Path, cache: Path) -> None:
    """The macros are in a header, which stays."""
    row = "".join(f"#define A{n}(x) A{n + 1}(x)\n" for n in range(90))
    (tree_copy / NATIVE / "Row.h").write_text(f"{row}#define A90(x) void x() {{}}\n")
    file = tree_copy / NATIVE / "Used.cpp"
    said = []
    for text in ("A0(ab)\n", "\nA0(ab)\n", "A80(ab)\n", "void f();\n", "A0(ab)\n", ""):
        file.write_text(text) if text else file.unlink()
        with opened(tree_copy, cache) as index:
            said.append([p.line for p in index.problems() if p.path.endswith("Used.cpp")])
    assert said == [[1], [2], [], [], [1], []]


def test_what_could_not_be_read_goes_with_its_file(tree_copy: Path, cache: Path) -> None:
    file = tree_copy / NATIVE / "Binary.cpp"
    file.write_bytes(b"\x00\x01")
    with opened(tree_copy, cache) as index:
        assert [p for p in index.problems() if p.path.endswith("Binary.cpp")]
    file.unlink()
    with opened(tree_copy, cache) as index:
        assert not [p for p in index.problems() if p.path.endswith("Binary.cpp")]
