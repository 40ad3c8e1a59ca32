"""``torchnav audit`` and ``torchnav table`` as commands, on the small tree."""

from __future__ import annotations

import json
from typing import Any

from tests.conftest import Run


def answer(torchnav: Run, *arguments: str) -> Any:
    done = torchnav(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_audit_prints_each_promise(torchnav: Run, small_tree: tuple[str, ...]) -> None:
    done = torchnav("audit", "--no-live", *small_tree)
    assert done.returncode == 0, done.stdout
    assert "(overload, key) pairs with a kernel: kept" in done.stdout
    assert "NOT MET" not in done.stdout


def test_audit_as_json(torchnav: Run, small_tree: tuple[str, ...]) -> None:
    found = answer(torchnav, "audit", "--no-live", *small_tree)
    assert found["kept"] is True
    assert {"name", "bar", "kept", "total", "counts", "short"} == set(found["measures"][0])


def test_audit_fails_where_a_promise_is_not_kept(
    torchnav: Run, small_tree: tuple[str, ...], tmp_path: Any
) -> None:
    table = tmp_path / "tables"
    table.mkdir()
    (table / "decoys.tsv").write_text("symbol\tdefinition\nmm\taten/nowhere.cpp:1\n")
    good = torchnav("audit", "--no-live", "--acceptance", str(table), *small_tree)
    assert good.returncode == 0
    (table / "nokernel.tsv").write_text("op_overload\tyaml_line\nmm\t1\n")
    bad = torchnav("audit", "--no-live", "--acceptance", str(table), *small_tree)
    assert bad.returncode == 1
    assert "nokernel.tsv: NOT MET" in bad.stdout


def test_table_as_text(torchnav: Run, small_tree: tuple[str, ...]) -> None:
    done = torchnav("table", "torch.mm", *small_tree)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("aten::mm\n")
    assert "WrapFunction<CastPolicy::lower_precision_fp>" in done.stdout
    assert "no kernel and no fallback:" in done.stdout


def test_table_as_json(torchnav: Run, small_tree: tuple[str, ...]) -> None:
    found = answer(torchnav, "table", "add", "--overload", "Tensor", *small_tree)
    assert found["op"] == "add.Tensor"
    slots = {slot["key"]: slot for slot in found["slots"]}
    assert slots["CPU"]["kernel"] == "ufunc_add_CPU"
    assert slots["CPU"]["definition"]["path"] == "aten/src/ATen/native/ufunc/add.h"
    assert {"CPU", "Autograd"} <= {one["key"] for one in found["registrations"]}


def test_table_of_nothing(torchnav: Run, small_tree: tuple[str, ...]) -> None:
    done = torchnav("table", "no_such_operator", *small_tree)
    assert done.returncode == 1


def test_export_table(torchnav: Run, small_tree: tuple[str, ...]) -> None:
    done = torchnav("export", "table", *small_tree)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert all({"op", "key", "kernel", "origin"} <= set(row) for row in rows)
    mm = {row["key"]: row for row in rows if row["op"] == "mm"}
    assert mm["AutocastCPU"]["origin"] == "aten/src/ATen/autocast_mode.cpp"


def test_audit_asks_for_every_answer(torchnav: Run, small_tree: tuple[str, ...]) -> None:
    done = torchnav("audit", "--no-live", "--answers", *small_tree)
    assert "lines of the default answer of operators: kept" in done.stdout
    assert "public names that compute, with a route on CUDA: " in done.stdout
