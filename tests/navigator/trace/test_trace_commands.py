"""``torchnav trace``, ``open`` and ``export trace`` on the command line."""

from __future__ import annotations

import errno
import html.parser
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from navigator.cli.main import main
from navigator.text.html import stylesheet
from navigator.trace.readers import read_trace
from tests.navigator.trace.conftest import TRACES
from tests.navigator.trace.programs import STEP, line_of

BERT = str(TRACES / "h100-bert-small.json.gz")
OP_KEYS = {
    "kind",
    "name",
    "overload",
    "phase",
    "grad_fn",
    "keys",
    "user",
    "schema",
    "kernel",
    "derivative",
    "resolved",
    "status",
    "node_id",
    "forward_id",
    "call_id",
    "made_node",
    "reason",
}
KERNEL_KEYS = {"kind", "name", "op_id", "duration_us", "source", "library", "reason"}


def torchnav(*arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    root = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": str(root), "TORCHNAV_CACHE": str(cwd / "cache")}
    return subprocess.run(
        [sys.executable, "-m", "navigator", *arguments],
        cwd=cwd,
        input=stdin,
        text=True,
        capture_output=True,
        timeout=300,
        env=environment,
        check=False,
    )


def exported(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, object]]:
    assert main(["export", "trace", *arguments, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_program_is_shown_as_a_shell_takes_it(
    capsys: pytest.CaptureFixture[str], small_tree: tuple[str, ...], tmp_path: Path
) -> None:
    run = {"format": 2, "torch": "2.13.0", "recorder": "compiled"}
    events = [
        {"name": "torchnav_program", "args": {"command": ["p.py", "--title", "- a"], "cwd": "/"}},
        {"name": "torchnav_run", "args": run},
    ]
    file = tmp_path / "trace.json"
    lines = (json.dumps({"ph": "M", "pid": 1, **one}) for one in events)
    file.write_text('{"traceEvents": [\n' + ",\n".join(lines) + "\n]}")
    assert main(["export", "trace", *small_tree, str(file)]) == 0
    assert "program    p.py --title '- a'\n" in capsys.readouterr().out


def test_rows_follow_the_contract(
    capsys: pytest.CaptureFixture[str],
    small_tree: tuple[str, ...],
    wheel_cache: str,
    step_folder: Path,
) -> None:
    rows = exported(capsys, *small_tree, str(step_folder / "trace.json"))
    rows += exported(capsys, *small_tree, BERT)
    ops = [row for row in rows if row["kind"] == "op"]
    kernels = [row for row in rows if row["kind"] == "device_kernel"]
    others = [row for row in rows if row["kind"] in ("node", "call", "region")]
    memory = [row for row in rows if row["kind"] == "allocation"]
    assert len(ops) + len(kernels) + len(others) + len(memory) == len(rows)
    assert all(row.keys() >= OP_KEYS for row in ops + others)
    assert all(row.keys() >= KERNEL_KEYS for row in kernels)
    assert all(row["reason"] for row in ops if not row["resolved"])
    mm = [row for row in ops if row["name"] == "aten::mm" and row["grad_fn"]]
    for row in mm:
        assert row["phase"] == "backward"
        assert row["user"] == {
            "path": str(step_folder / "program.py"),
            "line": line_of(STEP, "backward"),
            "exact": True,
        }
        derivative = row["derivative"]
        assert isinstance(derivative, dict)
        assert derivative["grad_fn"] == "AddmmBackward0"
        assert set(derivative["formulas"]) == {"self", "mat1", "mat2"}
        assert isinstance(row["kernel"], dict)
        assert row["kernel"]["path"] == "aten/src/ATen/native/LinearAlgebra.cpp"
        assert "the torch that ran" in str(row["note"])


def test_a_report_and_markdown(
    capsys: pytest.CaptureFixture[str],
    small_tree: tuple[str, ...],
    wheel_cache: str,
    tmp_path: Path,
) -> None:
    report = tmp_path / "report.html"
    assert main(["export", "trace", *small_tree, BERT, "--html", str(report)]) == 0
    text = report.read_text()
    html.parser.HTMLParser().feed(text)
    assert "http://" not in text
    assert "<script" not in text
    assert "ufunc/add.h" in text
    assert stylesheet() in text
    assert '<td class="n" data-label="self">' in text
    rows = exported(capsys, *small_tree, BERT)
    add = next(row for row in rows if row["name"] == "aten::add")
    assert main(["export", "trace", *small_tree, BERT, "--markdown", str(add["id"])]) == 0
    markdown = capsys.readouterr().out
    assert markdown.startswith("### `aten::add`\n")
    assert "- kernel for CUDA: `ufunc_add_CUDA`" in markdown
    assert main(["export", "trace", *small_tree, BERT, "--markdown", "999999"]) == 1


def test_a_report_that_fails_leaves_the_one_of_before(
    monkeypatch: pytest.MonkeyPatch, small_tree: tuple[str, ...], tmp_path: Path
) -> None:
    def fails(*_arguments: object) -> Iterator[str]:
        yield "half"
        raise OSError(errno.ENOSPC, "No space left on device")

    report = tmp_path / "report.html"
    report.write_text("before")
    monkeypatch.setattr("navigator.cli.commands.export_trace.html_report", fails)
    assert main(["export", "trace", *small_tree, BERT, "--html", str(report)]) == 1
    assert report.read_text() == "before"


def test_a_summary_without_an_index(capsys: pytest.CaptureFixture[str], nowhere: Path) -> None:
    assert main(["export", "trace", BERT]) == 0
    out = capsys.readouterr().out
    assert "61 on devices" in out
    assert "aten::addmm" in out
    assert "lacks      overload names" in out


def test_a_summary_says_whose_source_it_is_linked_with(
    capsys: pytest.CaptureFixture[str], small_tree: tuple[str, ...], step_folder: Path
) -> None:
    assert main(["export", "trace", *small_tree, str(step_folder / "trace.json")]) == 0
    told = next(line for line in capsys.readouterr().out.splitlines() if "sources  " in line)
    assert told.startswith("sources    PyTorch 2.7.0a0 in ")
    assert ": not that of torch 2." in told


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["trace"], 2),
        (["trace", "nothing.py"], 2),
        (["open", "nothing.json"], 2),
        (["trace", "--python", "/no/python", "x.py"], 2),
        (["export", "trace", "nothing"], 2),
        (["export", "trace", "bad.json"], 1),
        (["open", "bad.json"], 2),
    ],
)
def test_mistakes_are_told_in_one_line(
    capsys: pytest.CaptureFixture[str], nowhere: Path, arguments: list[str], status: int
) -> None:
    (nowhere / "bad.json").write_text("{]")
    (nowhere / "x.py").write_text("")
    assert main(arguments) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert captured.err.startswith("torchnav: ")


def test_a_program_has_its_own_streams_and_status(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import sys\nprint(sys.argv[1:], input())\nimport torch\ntorch.ones(2) + 1\nsys.exit(4)\n"
    )
    for arguments in (
        ["program.py", "-o", "t.json", "x", "-o", "y"],
        ["-o", "t.json", "program.py", "x", "-o", "y"],
        ["-o", "t.json", "--", "program.py", "x", "-o", "y"],
    ):
        (tmp_path / "t.json").unlink(missing_ok=True)
        done = torchnav("trace", "--no-compiled", *arguments, cwd=tmp_path, stdin="typed\n")
        assert done.stdout == "['x', '-o', 'y'] typed\n", done.stderr
        assert done.returncode == 4
        written = (tmp_path / "t.json").read_bytes()
        assert b"aten::add.Tensor" in written
        operators = len([op for op in read_trace(tmp_path / "t.json").ops() if op.kind == "op"])
        assert re.fullmatch(
            rf"torchnav: {operators} operators, {len(written) / 1000:.1f} kB, "
            r"\d+ % of \d+\.\d s for writing; torchnav open t\.json\n",
            done.stderr,
        )


def test_without_a_terminal_it_records_into_the_cache(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("import torch\ntorch.ones(2)\n")
    done = torchnav("trace", "--no-compiled", "program.py", cwd=tmp_path)
    assert done.returncode == 0
    (file,) = (tmp_path / "cache" / "traces").glob("program-*.json")
    first, last = done.stderr.splitlines()
    assert first == f"recording to {file}"
    assert last.endswith("torchnav open " + os.path.relpath(file, tmp_path))


def test_a_program_without_torch_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('mine')\n")
    done = torchnav("trace", "-o", "t.json", "program.py", cwd=tmp_path)
    assert done.stdout == "mine\n"
    assert done.stderr == ("torchnav: the program did not import torch: nothing was recorded\n")


def test_a_closed_stderr_is_not_written_to(tmp_path: Path) -> None:
    """Its number may be that of a file of the program."""
    (tmp_path / "program.py").write_text(
        "import os, torch\ntorch.ones(2)\nos.close(2)\nos.open('mine', os.O_CREAT | os.O_WRONLY)\n"
    )
    done = torchnav("trace", "--no-compiled", "-o", "t.json", "program.py", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "mine").read_bytes() == b""
