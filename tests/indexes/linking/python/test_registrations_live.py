"""The rows read from the wheel's source against the tables that importing the wheel fills."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from indexes.linking.python.imports import resolve
from indexes.model.files import PythonFact, unpack
from indexes.readers.python.blocks import Text
from indexes.readers.python.opinfo import is_opinfo_file, read_opinfo
from indexes.readers.python.registrations import read_registrations, touches_api

PROGRAM = r"""
import inspect, json, sys, types, unittest
import torch, torch._decomp, torch._meta_registrations, torch._refs
import torch._refs.fft, torch._refs.linalg, torch._refs.nn.functional, torch._refs.special
import torch.nested._internal.ops as nested
import torch._subclasses.fake_impls as fake
try:
    import expecttest
except ImportError:  # torch's test helpers ask for it and op_db needs nothing of it
    expecttest = types.ModuleType("expecttest")
    expecttest.TestCase = unittest.TestCase
    sys.modules["expecttest"] = expecttest
from torch.testing._internal import common_methods_invocations as opinfo

root = torch.__file__.rpartition("torch/")[0]

def row(op, function):
    code = getattr(inspect.unwrap(function), "__code__", None)
    name = f"{op._schema.name}.{op._schema.overload_name or 'default'}"
    file = code.co_filename.removeprefix(root) if code else ""
    return [name, file, code.co_firstlineno if code else 0]

def table(entries):
    return [row(op, f) for op, f in entries.items() if isinstance(op, torch._ops.OpOverload)]

def python_kernels(key):
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::"):
            base, _, overload = name[6:].partition(".")
            packet = getattr(torch.ops.aten, base, None)
            op = getattr(packet, overload or "default", None) if packet else None
            if op is not None and key in op.py_kernels:
                yield row(op, op.py_kernels[key])

keys = torch._C.DispatchKey
tables = torch._decomp.global_decomposition_table
databases = {n: v for n, v in vars(opinfo).items() if n.endswith("db") and isinstance(v, list)}
json.dump({
    "decomposition": table(tables["post_autograd"]),
    "meta": table(tables["meta"]),
    "kernel_meta": list(python_kernels(keys.Meta)),
    "kernel_autograd": list(python_kernels(keys.Autograd)),
    "kernel_composite": list(python_kernels(keys.CompositeImplicitAutograd)),
    "fake": table(fake.op_implementations_dict),
    "jagged": table(nested.JAGGED_OPS_TABLE),
    "opinfo": [
        [o.name, o.variant_test_name, o.aten_name] for v in databases.values() for o in v
    ],
    "refs": [
        f"{m.__name__}.{n}" for m in (
            torch._refs, torch._refs.fft, torch._refs.linalg, torch._refs.nn.functional,
            torch._refs.special,
        ) for n in m.__all__
    ],
}, sys.stdout)
"""


@pytest.fixture(scope="module")
def live(torch_root: Path) -> dict[str, list[Any]]:
    """What the tables of the imported torch hold."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False
    )
    if run.returncode and "ModuleNotFoundError" in run.stderr:
        pytest.skip(run.stderr.strip().splitlines()[-1])
    assert run.returncode == 0, run.stderr
    tables: dict[str, list[Any]] = json.loads(run.stdout)
    return tables


Rows = dict[str, list[tuple[str, PythonFact]]]


@pytest.fixture(scope="module")
def read(torch_root: Path) -> Rows:
    """The registrations read from the same wheel, by target."""
    files: dict[str, tuple[PythonFact, ...]] = {}
    for path in sorted((torch_root / "torch").rglob("*.py")):
        name, data = str(path.relative_to(torch_root)), path.read_bytes()
        if "/testing/" not in name and touches_api(data):
            facts, problems = read_registrations(Text(data), name)
            assert problems == []
            files[name] = tuple(facts)

    def source(name: str) -> bytes | None:
        return (torch_root / name).read_bytes() if (torch_root / name).is_file() else None

    for name, fact in list(resolve(files, source)):
        files[name] = (*files[name], fact)
    rows: Rows = {}
    for name, facts_ in files.items():
        for fact in facts_:
            rows.setdefault(fact.target, []).append((name, fact))
    return rows


def _found(read: Rows, op: str, *kinds: str) -> Iterator[tuple[str, PythonFact]]:
    packet = op.rpartition(".")[0]
    for target in (op, packet):
        yield from (one for one in read.get(target, ()) if one[1].kind in kinds)


def _is_default(fact: PythonFact) -> bool:
    """Whether a decomposition goes into the table that is used when none is named."""
    return not {"registry", "type"} & unpack(fact.detail).keys()


def _definition(torch_root: Path, file: str, line: int) -> int:
    """The line of ``def`` below a function's first decorator."""
    lines = (torch_root / file).read_text().splitlines()
    return next(
        n for n in range(line, len(lines)) if lines[n - 1].lstrip().startswith(("def ", "async "))
    )


def _leads_to(torch_root: Path, found: tuple[str, PythonFact], file: str, line: int) -> bool:
    """Whether a row is for the function at a line, or for one made from it by a helper."""
    name, fact = found
    detail = unpack(fact.detail)
    if not file or (name == file and "by" in detail):
        return True
    definition = _definition(torch_root, file, line)
    return (name == file and fact.line == definition) or detail.get("of", "").endswith(
        f"@{definition}"
    )


@pytest.mark.parametrize(
    ("table", "kind", "least"),
    [
        ("decomposition", "decomposition", 1000),
        ("meta", "meta_registration", 450),
        ("fake", "fake_impl", 60),
    ],
)
def test_every_row_of_a_table_is_found_at_its_function(
    torch_root: Path, live: dict[str, list[Any]], read: Rows, table: str, kind: str, least: int
) -> None:
    wrong = [
        (op, file, line)
        for op, file, line in live[table]
        if not any(_leads_to(torch_root, one, file, line) for one in _found(read, op, kind))
    ]
    assert wrong == []
    assert len(live[table]) > least


@pytest.mark.parametrize(
    ("table", "kind"),
    [("decomposition", "decomposition"), ("jagged", "jagged"), ("fake", "fake_impl")],
)
def test_no_row_that_the_table_does_not_have(
    live: dict[str, list[Any]], read: Rows, table: str, kind: str
) -> None:
    ops = {op for op, _, _ in live[table]}
    known = ops | {op.rpartition(".")[0] for op in ops}
    invented = [
        (name, fact)
        for target, found in read.items()
        for name, fact in found
        if fact.kind == kind
        and target.startswith(("aten::", "prims::"))  # other libraries load on demand
        and _is_default(fact)
        and "note" not in unpack(fact.detail)
        and target not in known
    ]
    assert invented == []


def test_every_jagged_kernel_is_found(live: dict[str, list[Any]], read: Rows) -> None:
    assert [op for op, _, _ in live["jagged"] if not any(_found(read, op, "jagged"))] == []


def test_python_kernels_of_the_dispatcher(live: dict[str, list[Any]], read: Rows) -> None:
    for op, _, _ in live["kernel_meta"]:
        rows = [f for _, f in _found(read, op, "meta_registration", "decomposition")]
        assert any(f.kind == "meta_registration" or _is_default(f) for f in rows), op
    keys = {"kernel_autograd": "Autograd", "kernel_composite": "CompositeImplicitAutograd"}
    for table, key in keys.items():
        for op, _, _ in live[table]:
            found = {unpack(fact.detail).get("key") for _, fact in _found(read, op, "py_impl")}
            assert key in found, (op, key)
    assert len(live["kernel_meta"]) > 1000


def test_every_reference_is_found(live: dict[str, list[Any]], read: Rows) -> None:
    found = {fact.symbol for rows in read.values() for _, fact in rows if fact.kind == "ref"}
    assert set(live["refs"]) - found == set()


def test_every_opinfo_with_its_aten_name(torch_root: Path, live: dict[str, list[Any]]) -> None:
    read: dict[str, set[tuple[str, str]]] = {}
    lines: set[tuple[str, int]] = set()
    for path in sorted((torch_root / "torch/testing/_internal").rglob("*.py")):
        name, data = str(path.relative_to(torch_root)), path.read_bytes()
        if is_opinfo_file(name, data):
            for fact in read_opinfo(Text(data), name)[0]:
                variant = unpack(fact.detail).get("variant", "")
                read.setdefault(fact.symbol, set()).add((variant, fact.target))
                lines.add((name, fact.line))
    missing = {name for name, _, _ in live["opinfo"]} - read.keys()
    assert missing == set()
    wrong = [
        (name, variant, aten_name, found)
        for name, variant, aten_name in live["opinfo"]
        if not name.startswith("_refs.")  # their aten_name is the reference's own name
        for found in ({t for v, t in read[name] if v == variant} or {t for _, t in read[name]},)
        if not {f"aten::{aten_name}", f"torch.{aten_name}"} & found
    ]
    assert wrong == []
    assert len(lines) > 1000
