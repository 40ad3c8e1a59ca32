"""Kernels of an extension beside a tree: on PyTorch's stubs and keys, and from YAML."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from indexes.build.builder import index_path
from indexes.model.vocabulary import KernelRow, Location
from indexes.queries.index import Index
from indexes.source.source import Source
from tests.extension_marks import EXTENSION, marked
from tests.indexing import contents


def open_index(tree: Path, extension: Path, cache: Path) -> Index:
    return Index.open(Source.find(str(tree), extensions=[(str(extension), "extension")]), cache)


@pytest.fixture(scope="module")
def index(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with contextlib.closing(
        open_index(tree, EXTENSION, tmp_path_factory.mktemp("beside"))
    ) as opened:
        yield opened


def place(location: Location | None) -> str:
    assert location is not None
    return f"{location.path}:{location.line}"


def rows(index: Index, op: str, key: str) -> list[KernelRow]:
    return [row for row in index.facts.kernels(op) if row.key == key]


@pytest.mark.parametrize(
    ("op", "key", "symbol", "mark"),
    [
        ("relu", "PrivateUse1", "mylib::relu_private", "relu_private"),
        ("gelu.out", "XPU", "gelu_out_xpu", "gelu_out_xpu"),
        ("gelu", "XPU", "gelu_out_xpu", "gelu_out_xpu"),
        ("abs", "PrivateUse1", "my_npu::native::NPUNativeFunctions::abs", "npu abs"),
        ("abs.out", "PrivateUse1", "my_npu::native::NPUNativeFunctions::abs_out", "npu abs.out"),
        ("add.out", "ExecuTorch", "my::executor::native::add_out", "runtime add.out"),
        ("mylib::scale", "PrivateUse1", "scale_private", "scale_private"),
        ("mystable::pack", "CPU", "my::stable::pack_cpu", "pack_cpu"),
        ("mylib::pack_bits", "CPU", "(anonymous)::pack_bits<4>", "pack_bits"),
    ],
)
def test_kernels_lead_to_their_definitions(
    index: Index, op: str, key: str, symbol: str, mark: str
) -> None:
    (row,) = rows(index, op, key)
    assert [place(one.location) for one in row.definitions] == [marked(mark)]
    assert row.symbol == symbol
    assert row.registered is not None
    assert row.registered.path.startswith("@extension/")


def test_a_kernel_says_which_macro_begins_its_block(index: Index) -> None:
    (row,) = rows(index, "mystable::pack", "CPU")
    assert row.rule.startswith("m.impl in STABLE_TORCH_LIBRARY_IMPL(mystable, CPU)")


def test_a_key_of_the_tree_stays_the_trees_own(index: Index) -> None:
    assert {row.symbol for row in rows(index, "mul.out", "CPU")} == {"mul_out"}
    (row,) = rows(index, "mul.out", "XPU")
    assert row.definitions[0].location.path == "aten/src/ATen/native/BinaryOps.cpp"


def test_what_a_list_names_and_nothing_defines_is_said(index: Index) -> None:
    (row,) = rows(index, "abs.out", "XPU")  # gelu.out stands in the same list, and has a kernel
    assert (row.kind, row.definitions) == ("missing", ())
    assert row.reason == "no definition of abs_out in at"


def test_a_registration_finds_what_another_file_defines(index: Index) -> None:
    (entry,) = [one for one in index.stub_rows() if one.device == "XPU" and one.stub == "mul_stub"]
    assert place(entry.registration) == marked("mul_stub registered")
    assert entry.definition is not None
    assert place(entry.definition.location) == marked("mul_kernel")


def test_routes_of_both_stand_side_by_side(index: Index) -> None:
    found = {one.device: one for one in reversed(index.routes("mul.Tensor"))}
    assert set(found) == {"CPU", "CUDA", "MPS", "XPU"}
    xpu = found["XPU"]
    assert (xpu.kind, xpu.symbol) == ("launch", "at::native::xpu::mul_kernel")
    assert [way.symbol for way in xpu.via] == [
        "mul.Tensor",
        "at::native::mul_out",
        "at::native::mul_stub",
    ]
    (gelu,) = [one for one in index.routes("gelu") if one.device == "XPU"]
    assert place(gelu.location) == marked("gelu_kernel")
    assert [line.label for line in index.card("abs").lines if line.key == ""][:1] == ["PrivateUse1"]


def test_the_dispatch_table_has_both(index: Index) -> None:
    table = index.table("gelu")
    own = {slot.key: slot for slot in table.registrations}
    assert own["XPU"].registration is not None
    assert own["XPU"].registration.path == "@extension/yaml/native/native_functions.yaml"
    slots = {slot.key: slot.kernel for slot in index.table("relu").slots}
    assert slots["PrivateUse1"] == "relu_private"


def test_a_place_in_an_extension_leads_to_its_operators(index: Index) -> None:
    path, _, line = marked("mul_kernel").rpartition(":")
    ops = {op for place in index.at(path, int(line)) for op in place.operators}
    assert "mul.Tensor" in ops
    assert "mul_kernel" in index.read(path)


def test_pytorch_never_calls_an_extension(index: Index) -> None:
    sql = (
        "SELECT e.symbol FROM edges e JOIN files f ON f.id=e.caller>>22"
        " JOIN files g ON g.id=e.target>>22"
        " WHERE typeof(e.target)='integer' AND f.path NOT LIKE '@%' AND g.path LIKE '@%'"
    )
    assert index.facts.store.query(sql) == []


EDITS = [
    ("csrc/xpu/MulKernel.cpp", "void mul_kernel(", "\n\nvoid mul_kernel("),
    ("csrc/xpu/MulKernel.cpp", "mul_kernel(", "other_kernel("),
    ("csrc/scale.cpp", 'm.impl("relu"', 'm.impl("abs"'),
    ("yaml/npu_native_functions.yaml", "  - abs\n", ""),
    ("yaml/functions.yaml", "op: add.out", "op: mul.out"),
    ("csrc/npu/Kernels.cpp", "abs_out(const at::Tensor& self, ", "abs_out("),
    ("yaml/native/native_functions.yaml", "XPU: gelu_out_xpu", "XPU: gelu_out_gone"),
]


@pytest.mark.parametrize(("path", "old", "new"), EDITS)
def test_a_refresh_is_a_build_from_nothing(
    tree: Path, tmp_path: Path, path: str, old: str, new: str
) -> None:
    extension = Path(shutil.copytree(EXTENSION, tmp_path / "extension"))
    open_index(tree, extension, tmp_path / "cache").close()
    file = extension / path
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))
    with contextlib.closing(open_index(tree, extension, tmp_path / "cache")) as index:
        refreshed = contents(index_path(index.source, tmp_path / "cache"))
    with contextlib.closing(open_index(tree, extension, tmp_path / "cold")) as index:
        built = contents(index_path(index.source, tmp_path / "cold"))
    for table in built:
        assert refreshed[table] == built[table], table


def test_a_new_file_of_an_extension_is_seen(tree: Path, tmp_path: Path) -> None:
    extension = Path(shutil.copytree(EXTENSION, tmp_path / "extension"))
    open_index(tree, extension, tmp_path / "cache").close()
    (extension / "yaml" / "more.yaml").write_text(
        "- op: mul.out\n  kernels:\n    - kernel_name: my::executor::add_out\n"
    )
    with contextlib.closing(open_index(tree, extension, tmp_path / "cache")) as index:
        assert [row.symbol for row in rows(index, "mul.out", "ExecuTorch")] == [
            "my::executor::native::add_out"
        ]
