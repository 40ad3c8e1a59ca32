"""Exports of Nsight Systems and reports of Nsight Compute, by NVIDIA's description of them."""

from __future__ import annotations

import contextlib
import gzip
import sqlite3
from pathlib import Path

import pytest

from navigator.trace.readers import read_trace
from navigator.trace.trace import BadTrace

KERNEL = (
    "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
    "std::array<char*, 1ul>>(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)"
)
PROCESS = 77 << 24
SCHEMA = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, correlationId INTEGER, {process} demangledName INTEGER, shortName INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, end INTEGER, deviceId INTEGER,
  streamId INTEGER, correlationId INTEGER, {process} bytes INTEGER, copyKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,
  textId INTEGER, globalTid INTEGER);
"""


def export(folder: Path) -> Path:
    """A kernel and a copy, each launched by an operator of its own thread."""
    file = folder / "report.anything"
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.executescript(SCHEMA.format(process="globalPid INTEGER,"))
        names = [(1, KERNEL), (2, "cudaLaunchKernel"), (3, "aten::copy_, seq = 4")]
        database.executemany("INSERT INTO StringIds VALUES (?,?)", names)
        database.execute("INSERT INTO TARGET_INFO_GPU VALUES (0,'NVIDIA H100')")
        kernel = (5000, 7000, 0, 7, 11, PROCESS, 1, 1)
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,?,?,?,?,?,?)", kernel)
        copy = (9000, 9500, 0, 7, 12, PROCESS, 64, 1)
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (?,?,?,?,?,?,?,?)", copy)
        launches = [(1500, 1600, PROCESS | 5, 11, 2), (3500, 3600, PROCESS | 6, 12, 2)]
        database.executemany("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?,?,?,?,?)", launches)
        ranges = [
            (1000, 2000, 59, "aten::fill_, seq = 3, op_id = 9, sizes = [[2]]", None, PROCESS | 5),
            (3000, 4000, 59, None, 3, PROCESS | 6),
            (3000, None, 34, "a mark", None, PROCESS | 6),
        ]
        database.executemany("INSERT INTO NVTX_EVENTS VALUES (?,?,?,?,?,?)", ranges)
        database.commit()
    return file


def test_device_work_of_nsight_systems_stands_under_its_operator(tmp_path: Path) -> None:
    trace = read_trace(export(tmp_path))
    assert [(op.name, op.sequence) for op in trace.ops()] == [
        ("aten::fill_", 3),
        ("aten::copy_", 4),
    ]
    kernel, copy = trace.kernels()
    assert (kernel.name, kernel.op_id, kernel.launch) == (KERNEL, 0, "cudaLaunchKernel")
    assert (kernel.start_us, kernel.duration_us) == (4.0, 2.0)
    assert (copy.name, copy.kind, copy.op_id) == ("Memcpy HtoD", "memcpy", 1)
    assert trace.meta.devices == ("NVIDIA H100",)


def test_columns_that_a_version_lacks(tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.executescript(SCHEMA.format(process=""))
        database.execute("INSERT INTO StringIds VALUES (1,?)", (KERNEL,))
        kernel = (5000, 7000, 0, 7, 11, 1, 1)
        database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?,?,?,?,?,?,?)", kernel)
        database.execute("DROP TABLE NVTX_EVENTS")
        database.commit()
    trace = read_trace(file)
    assert [(kernel.name, kernel.op_id) for kernel in trace.kernels()] == [(KERNEL, None)]
    assert any("emit_nvtx" in lack for lack in trace.meta.lacks)


def test_another_database_and_a_damaged_one_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.sqlite"
    with contextlib.closing(sqlite3.connect(file)) as database:
        database.execute("CREATE TABLE notes (text TEXT)")
    with pytest.raises(BadTrace, match="holds no device work"):
        read_trace(file)
    file.write_bytes(b"SQLite format 3\0" + b"?" * 5000)
    with pytest.raises(BadTrace, match="not an export of Nsight Systems"):
        read_trace(file)


DETAILS = """==PROF== Connected to process 7
"ID","Process ID","Kernel Name","Stream","Device","Metric Name","Metric Unit","Metric Value"
"0","7","{kernel}","7","0","Duration","usecond","2.50"
"0","7","{kernel}","7","0","Elapsed Cycles","cycle","3,100"
"1","7","ampere_sgemm_128x64_tn","7","0","Duration","nsecond","1,500"
"""
RAW = """"ID","Process ID","Kernel Name","Stream","Device","gpu__time_duration.sum"
"","","","","","us"
"0","7","{kernel}","7","0","2.50"
"1","7","ampere_sgemm_128x64_tn","7","0","1.50"
"""


@pytest.mark.parametrize("report", [DETAILS, RAW])
@pytest.mark.parametrize("packed", [False, True])
def test_kernels_of_a_report_of_nsight_compute(tmp_path: Path, report: str, packed: bool) -> None:
    file = tmp_path / "report"
    content = report.format(kernel=KERNEL).encode()
    file.write_bytes(gzip.compress(content) if packed else content)
    trace = read_trace(file)
    assert [(one.name, one.duration_us, one.start_us) for one in trace.kernels()] == [
        (KERNEL, 2.5, 0.0),
        ("ampere_sgemm_128x64_tn", 1.5, 2.5),
    ]
    assert all(kernel.reason for kernel in trace.kernels())


def test_what_ncu_says_without_a_table_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "log"
    file.write_text("==PROF== Connected to process 7\n")
    with pytest.raises(BadTrace, match="ncu --csv"):
        read_trace(file)
