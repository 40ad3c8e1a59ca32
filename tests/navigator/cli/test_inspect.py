"""``torchnav inspect``: an expression or a name in a program, in the Python with torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from navigator.trace.readers import read_trace

ROOT = Path(__file__).parents[3]


def run(
    *arguments: str, cwd: Path, question: str = "inspect", path: Path = ROOT, cache: str = ""
) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "navigator", "--python", sys.executable, question, *arguments]
    environment = {"PYTHONPATH": f"{path}:{ROOT}", "PATH": "", "HOME": str(cwd)}
    environment |= {"TORCHNAV_CACHE": cache} if cache else {}
    return subprocess.run(
        command, capture_output=True, text=True, cwd=cwd, env=environment, check=False
    )


def test_an_expression(tmp_path: Path) -> None:
    done = run("torch.ones(2, 3).t()", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "[######]" in done.stdout
    assert "numel_ = 6" in done.stdout


def test_a_name_of_a_program_that_prints_and_takes_arguments(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("SIZE = 5\n")
    script = tmp_path / "train.py"
    script.write_text(
        "import sys, torch\nfrom beside import SIZE\nprint('epoch', sys.argv[1:])\n"
        "w = torch.nn.Linear(SIZE, 2)\n"
    )
    done = run("--json", f"{script}:w.weight", "--epochs", "3", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["strip"]["elements"] == 10
    assert "epoch ['--epochs', '3']" in done.stderr


def test_what_is_no_tensor_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("raise SystemExit(3)\n")
    (tmp_path / "opens.py").write_text("open('nothing.csv')\n")
    no_data = "[Errno 2] No such file or directory: 'nothing.csv'"
    for what, said in [
        ("3 + 4", "torchnav: inspect takes a tensor, not int"),
        ("nothing", "torchnav: nothing: NameError: name 'nothing' is not defined"),
        (f"{tmp_path}/missing.py:w", f"torchnav: {tmp_path}/missing.py: No such file or directory"),
        (
            f"{tmp_path}/opens.py:w",
            f"torchnav: {tmp_path}/opens.py ended with FileNotFoundError: {no_data}",
        ),
        (f"{tmp_path}/ends.py:w", f"torchnav: {tmp_path}/ends.py ended with SystemExit: 3"),
    ]:
        done = run(what, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.splitlines()[-1] == said


def test_an_error_is_an_object_too(tmp_path: Path) -> None:
    for question in ("inspect", "graph", "why"):
        done = run("--json", f"{tmp_path}/missing.py", cwd=tmp_path, question=question)
        error = json.loads(done.stdout)["error"]
        assert (done.returncode, error["exit_code"]) == (1, 1)
        assert done.stderr.splitlines()[-1] == f"torchnav: {error['message']}"


def test_an_error_as_a_text_or_in_a_log_is_read_alone(tmp_path: Path, tree: Path) -> None:
    text = "RuntimeError: self must be a matrix"
    log = tmp_path / "run.log"
    log.write_text(f"epoch 1\nTraceback (most recent call last):\n{text}\n")
    of_cxx = "terminate called\n  what():  self must be a matrix\nException raised from f at x.h:1"
    bare = "self must be a matrix of two"  # more words than a program's name
    for given in (text, str(log), of_cxx, bare):
        done = run("--tree", str(tree), given, cwd=tmp_path, question="why")
        assert (
            done.stdout.splitlines()[1].strip().startswith("aten/src/ATen/native/LinearAlgebra.cpp")
        )


def test_the_graph_of_a_program_up_to_its_first_backward(tmp_path: Path, wheel_cache: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\nw = torch.ones(3, requires_grad=True)\n"
        "def step():\n    loss = w * w\n    loss.sum().backward()\nstep()\nprint('never')\n"
    )
    done = run(str(script), cwd=tmp_path, question="graph", cache=wheel_cache)

    assert done.returncode == 0, done.stderr
    assert "AccumulateGrad w" in done.stdout
    assert f"called at {script}:4" in done.stdout
    assert "never" not in done.stderr


def test_a_program_without_a_backward_is_one_line(tmp_path: Path) -> None:
    script = tmp_path / "plain.py"
    script.write_text("import torch\nx = torch.ones(3)\n")
    for what, said in [
        (str(script), f"torchnav: {script} calls no tensor.backward(): name one, {script}:loss"),
        (f"{script}:x", "torchnav: no grad_fn: none of the inputs that made it requires grad"),
    ]:
        done = run(what, cwd=tmp_path, question="graph")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.splitlines()[-1] == said


def test_why_names_who_wrote(tmp_path: Path, wheel_cache: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\nx = torch.ones(3, requires_grad=True)\ny = x.exp()\ny[0] = 1.0\n"
        "y.sum().backward()\n"
    )
    done = run(str(script), cwd=tmp_path, question="why", cache=wheel_cache)

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == f"written to at {script}:4 by Tensor.__setitem__"


def test_why_asks_torch_for_the_operators_that_were_running(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\ntorch.relu(torch.ones(2, dtype=torch.bool))\n")
    tree = ("--tree", str(ROOT / "tests" / "tree"))
    done = run("--json", *tree, str(script), cwd=tmp_path, question="why")

    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["error"] == "Boolean inputs not supported for relu"
    told = [one["name"] for one in answer["said_by"] if one["detail"] == "on the C++ stack"]
    assert told == ["relu"]


def test_why_of_a_program_that_ends_well(tmp_path: Path) -> None:
    script = tmp_path / "fine.py"
    script.write_text("import torch\n")

    assert run(str(script), cwd=tmp_path, question="why").stdout == "it ended without an error\n"


def test_a_torch_that_ends_the_process_is_told(tmp_path: Path) -> None:
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("import os\nos.abort()\n")
    (tmp_path / "train.py").write_text("import torch\n")
    place = f'File "{tmp_path}/torch/__init__.py", line 2 in <module>'
    for question, what, code in [
        ("inspect", "1", 1),
        ("why", "train.py", 1),
        ("trace", "train.py", -6),
    ]:
        options = ["-o", "trace.json"] if question == "trace" else []
        done = run(*options, what, cwd=tmp_path, question=question, path=tmp_path)
        assert done.returncode == code
        assert done.stderr.startswith("Fatal Python error: Aborted")
        assert place in done.stderr
        if code == 1:
            told = f"torchnav: {what}: {sys.executable}, which ran it, was killed by SIGABRT"
            assert done.stderr.splitlines()[-1] == told
    (problem,) = read_trace(tmp_path / "trace.json").meta.problems
    assert problem == "the program ended before it had imported torch"
