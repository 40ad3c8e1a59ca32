"""The command line as a user and a script see it: bytes, exit codes, one clear line on failure."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from navigator.cli.main import COMMANDS, main
from tests.conftest import Run

TORCHNAV = [sys.executable, "-m", "navigator"]
TREE = Path(__file__).parents[2] / "tree"
YAML = "aten/src/ATen/native/native_functions.yaml"


def run(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*TORCHNAV, *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def answer(*arguments: str) -> Any:
    done = run(*arguments, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return json.loads(done.stdout)


class TestUsage:
    def test_every_command_has_help(self, capsys: pytest.CaptureFixture[str]) -> None:
        listing = run("--help").stdout
        for name in COMMANDS:
            assert main([name, "--help"]) == 0
            help_, errors = capsys.readouterr()
            assert help_.startswith(f"Usage: torchnav {name} ")
            assert errors == ""
            assert f"\n  {name} " in listing

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["opp"], "Did you mean op"),
            (["softmax"], "torchnav op softmax"),
            (["op"], "Missing argument"),
            (["op", "--frobnicate", "x"], "--frobnicate"),
            (["find", "x", "--limit", "0"], "--limit"),
            (["at", "a.cpp"], "FILE:LINE"),
            (["at", "a.cpp:0"], "FILE:LINE"),
            ([], "needs a terminal"),
        ],
    )
    def test_wrong_command_lines(
        self, tmp_path: Path, nowhere: Path, arguments: list[str], says: str
    ) -> None:
        done = run(*arguments)
        assert not (tmp_path / "cache").exists(), "no index is built for them"
        assert done.returncode == 2
        assert done.stdout == ""
        assert says in done.stderr
        assert "Traceback" not in done.stderr

    def test_version(self) -> None:
        done = run("--version")
        assert done.stdout.startswith("torchnav ")


class TestSource:
    def test_no_such_tree(self, tmp_path: Path) -> None:
        done = run("op", "add", "--tree", str(tmp_path / "gone"))
        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr == f"torchnav: no source tree at {tmp_path}/gone: no such folder\n"

    def test_folder_that_is_no_tree(self, tmp_path: Path) -> None:
        done = run("--tree", str(tmp_path), "op", "add", "--json")
        assert done.returncode == 3
        assert json.loads(done.stdout)["error"]["exit_code"] == 3
        assert done.stderr.count("\n") == 1
        assert "native_functions.yaml" in done.stderr

    def test_tree_from_the_environment(self, tmp_path: Path) -> None:
        done = run("op", "add", TORCHNAV_CHECKOUT=str(tmp_path))
        assert done.returncode == 3
        assert str(tmp_path) in done.stderr

    @pytest.mark.parametrize("text", ["", "- func: add(Tensor se", "{", "\0\1\2", "[]", "- 1\n"])
    def test_broken_yaml_is_one_line(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "tree" / YAML
        path.parent.mkdir(parents=True)
        path.write_text(text)
        done = run("op", "add", "--tree", str(tmp_path / "tree"), "--cache", str(tmp_path / "c"))
        assert done.returncode == 3
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert "native_functions.yaml" in done.stderr

    def test_cache_that_cannot_be_written(self, tmp_path: Path, nowhere: Path) -> None:
        (tmp_path / "file").write_text("")
        done = run("op", "add", "--cache", str(tmp_path / "file" / "cache"))
        assert done.returncode == 3
        assert done.stderr.count("\n") == 1
        assert "cache" in done.stderr


class TestOperator:
    @pytest.mark.parametrize(
        ("spelling", "operator"),
        [
            ("softmax", "softmax.int"),
            ("aten::add.Tensor", "add.Tensor"),
            ("torch.ops.aten.relu.default", "relu"),
            ("Tensor.add_", "add_.Tensor"),
            ("F.relu", "relu"),
            ("torch.linalg.norm", "linalg_norm"),
            ("AddmmBackward0", "addmm"),
            ("<MulBackward0 object at 0x7f>", "mul.Tensor"),
            ("at::_ops::mul_Tensor::call", "mul.Tensor"),
            ("mul.Tensor(Tensor self, Tensor other) -> Tensor", "mul.Tensor"),
        ],
    )
    def test_any_spelling(
        self, spelling: str, operator: str, wheel_cache: str, nowhere: Path
    ) -> None:
        found = answer("op", spelling, "--cache", wheel_cache)
        assert found["op"]["name"] == operator
        assert found["source"]["kind"] == "wheel"
        assert any(hop["role"] == "schema" for hop in found["hops"])

    def test_one_of_several_overloads(self, wheel_cache: str, nowhere: Path) -> None:
        found = answer("op", "add", "--cache", wheel_cache)
        assert {"add.Tensor", "add.out", "add.Scalar"} <= set(found["overloads"])
        out = answer("op", "add", "--overload", "out", "--cache", wheel_cache)
        assert out["op"]["name"] == "add.out"
        done = run("op", "add", "--overload", "nope", "--cache", wheel_cache)
        assert (done.returncode, done.stdout) == (1, "")
        assert "add.Tensor" in done.stderr

    def test_all_overloads_one_a_line(self, wheel_cache: str, nowhere: Path) -> None:
        done = run("op", "add", "--all", "--json", "--cache", wheel_cache)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        assert len(rows) > 2
        assert [row["op"]["name"] for row in rows] == rows[0]["overloads"]

    def test_default_overload(self, wheel_cache: str, nowhere: Path) -> None:
        found = answer("op", "max", "--overload", "default", "--cache", wheel_cache)
        assert found["op"]["name"] == "max"

    def test_not_found_suggests(self, wheel_cache: str, nowhere: Path) -> None:
        done = run("op", "sofmax", "--cache", wheel_cache)
        assert (done.returncode, done.stdout) == (1, "")
        assert "softmax" in done.stderr
        error = json.loads(run("op", "sofmax", "--json", "--cache", wheel_cache).stdout)["error"]
        assert "softmax" in error["suggestions"]

    def test_text_names_place_rule_and_source(self, wheel_cache: str, nowhere: Path) -> None:
        done = run("op", "relu", "--chain", "--cache", wheel_cache)
        assert done.returncode == 0
        assert "torchgen/packaged/ATen/native/native_functions.yaml:" in done.stdout
        assert "source: PyTorch" in done.stdout
        assert "torchnav clone" in done.stdout  # what adds the kernels
        for line in done.stdout.splitlines():  # only names and paths are longer
            assert len(line) <= 80 or max(map(len, line.split())) > 40

    def test_same_bytes_on_a_terminal_and_in_a_pipe(self, wheel_cache: str, nowhere: Path) -> None:
        command = ["op", "relu", "--cache", wheel_cache, "--color", "never", "--no-pager"]
        assert on_terminal(command).replace("\r\n", "\n") == run(*command).stdout

    def test_name_full_of_escapes(self, wheel_cache: str, nowhere: Path) -> None:
        done = run("op", "\x1b[31mx\x1b]0;y\x07", "--cache", wheel_cache)
        assert done.returncode == 1
        assert "\x1b" not in done.stdout + done.stderr


def on_terminal(arguments: list[str]) -> str:
    """What a command writes when its stdout is a terminal."""
    parent, child = pty.openpty()
    with subprocess.Popen([*TORCHNAV, *arguments], stdout=child, stderr=subprocess.DEVNULL):
        os.close(child)
        text = b""
        while True:
            try:
                part = os.read(parent, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            text += part
    os.close(parent)
    return text.decode()


class TestLookUps:
    def test_find(self, wheel_cache: str, nowhere: Path) -> None:
        found = answer("find", "softmax", "--limit", "500", "--cache", wheel_cache)
        assert any("softmax" in hit["name"] for hit in found["hits"])

    def test_find_says_when_there_may_be_more(self, wheel_cache: str, nowhere: Path) -> None:
        done = run("find", "softmax", "--limit", "3", "--json", "--cache", wheel_cache)
        assert len(json.loads(done.stdout)["hits"]) == 3
        assert "first 3" in done.stderr

    def test_find_tells_of_a_kernel_that_no_tree_holds(
        self, wheel_cache: str, nowhere: Path
    ) -> None:
        found = run("find", "ampere_sgemm_128x64_tn", "--cache", wheel_cache)
        assert found.returncode == 1
        assert "no place in this tree: a device kernel of cuBLAS" in found.stderr

    def test_find_nothing(self, wheel_cache: str, nowhere: Path) -> None:
        done = run("find", "qqzzxx", "--cache", wheel_cache)
        assert (done.returncode, done.stdout) == (1, "")

    def test_schema_line_leads_back_to_its_operator(self, wheel_cache: str, nowhere: Path) -> None:
        op = answer("op", "relu", "--cache", wheel_cache)["op"]
        found = answer("at", f"{op['path']}:{op['line']}", "--cache", wheel_cache)
        assert any("relu" in (place["name"], *place["operators"]) for place in found["places"])

    def test_absolute_path_and_path_from_here(
        self, wheel_cache: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        op = answer("op", "relu", "--cache", wheel_cache)["op"]
        root = Path(json.loads(run("doctor", "--json").stdout)["checks"][2]["found"])
        assert answer("at", f"{root / op['path']}:{op['line']}", "--cache", wheel_cache)
        monkeypatch.chdir((root / op["path"]).parent)
        name = Path(op["path"]).name
        assert answer("at", f"{name}:{op['line']}", "--cache", wheel_cache)

    def test_path_outside_the_tree(self, wheel_cache: str, nowhere: Path) -> None:
        done = run("at", "/etc/passwd:1", "--cache", wheel_cache)
        assert done.returncode == 2
        assert "not in the source tree" in done.stderr

    def test_line_past_the_end(self, wheel_cache: str, nowhere: Path) -> None:
        done = run("at", "torch/include/c10/core/TensorImpl.h:9999999", "--cache", wheel_cache)
        assert (done.returncode, done.stdout) == (1, "")

    def test_members_of_tensorimpl(self, wheel_cache: str, nowhere: Path) -> None:
        members = answer("tensorimpl", "--cache", wheel_cache)["members"]
        assert "version_counter_" in {member["name"] for member in members}

    def test_engine_of_the_wheel_is_its_headers(self, wheel_cache: str, nowhere: Path) -> None:
        found = answer("engine", "--cache", wheel_cache)
        paths = {one["path"] for one in found["functions"]}
        assert "torch/include/torch/csrc/autograd/engine.h" in paths
        assert all(path.endswith(".h") for path in paths)
        assert any("torchnav clone" in lack for lack in found["source"]["missing"])

    def test_kernel_names_on_stdin_in_order(self, wheel_cache: str, nowhere: Path) -> None:
        names = [
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)",
            "",
            "nosuch<1>",
            "volta_sgemm_128x64_nn",
        ]
        done = run("kernel", "-", "--cache", wheel_cache, stdin="\n".join(names) + "\n")
        assert done.returncode == 0
        assert [json.loads(line)["name"] for line in done.stdout.splitlines()] == names


def line_of(path: str, text: str) -> int:
    """The first line of a file of tests/tree that holds ``text``."""
    lines = (TREE / path).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


class TestCheckout:
    """The same commands where there are kernels."""

    def test_from_the_schema_to_the_device_kernels(self, small_tree: tuple[str, ...]) -> None:
        hops = answer("op", "mul.Tensor", *small_tree)["hops"]
        kernels = {(hop["role"], hop["device"]): hop for hop in hops}
        for device, path in (
            ("CPU", "cpu/BinaryOpsKernel.cpp"),
            ("CUDA", "cuda/BinaryMulKernel.cu"),
        ):
            hop = kernels["device_kernel", device]
            assert hop["path"] == f"aten/src/ATen/native/{path}"
            assert hop["rule"]

    def test_only_one_key(self, small_tree: tuple[str, ...]) -> None:
        every = answer("op", "mul.Tensor", *small_tree)["hops"]
        cuda = answer("op", "mul.Tensor", "--key", "CUDA", *small_tree)["hops"]
        assert 0 < len(cuda) < len(every)
        assert not any(hop["keys"] and "CUDA" not in hop["keys"] for hop in cuda)

    def test_from_a_line_back_to_its_operators(self, small_tree: tuple[str, ...]) -> None:
        path = "aten/src/ATen/native/BinaryOps.cpp"
        line = line_of(path, "TORCH_IMPL_FUNC(mul_out)")
        places = answer("at", f"{path}:{line}", *small_tree)["places"]
        assert any("mul.Tensor" in place["operators"] for place in places)

    def test_who_uses_a_stub(self, small_tree: tuple[str, ...]) -> None:
        hits = answer("uses", "mul_stub", *small_tree)["hits"]
        assert {"aten/src/ATen/native/cuda/BinaryMulKernel.cu"} <= {hit["path"] for hit in hits}

    def test_uses_of_an_operator_say_who_looks_in_texts(self, small_tree: tuple[str, ...]) -> None:
        done = run("uses", "mul.Tensor", *small_tree)
        assert done.returncode == 0
        assert "torchnav callers mul.Tensor" in done.stderr

    def test_tables(self, small_tree: tuple[str, ...]) -> None:
        stubs = run("export", "stubs", *small_tree).stdout.splitlines()
        rows = [json.loads(line) for line in stubs]
        assert any(row["stub"] == "mul_stub" and row["definition"] for row in rows)
        kernels = run("export", "kernels", *small_tree).stdout.splitlines()
        assert any(json.loads(line)["definitions"] for line in kernels)

    def test_text_is_free_of_the_tree_s_own_place(self, small_tree: tuple[str, ...]) -> None:
        assert str(TREE) not in run("op", "mul.Tensor", *small_tree).stdout


class TestExports:
    def test_kernels_and_derivatives_are_json_lines(self, wheel_cache: str, nowhere: Path) -> None:
        for table, least in (("kernels", 3000), ("derivatives", 500)):
            lines = run("export", table, "--cache", wheel_cache).stdout.splitlines()
            assert len(lines) > least
            assert len({tuple(json.loads(line)) for line in lines}) == 1

    def test_a_reader_that_stops_early_is_no_error(self, wheel_cache: str, nowhere: Path) -> None:
        command = [*TORCHNAV, "export", "kernels", "--cache", wheel_cache]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            assert process.stdout
            assert process.stderr
            process.stdout.readline()
            process.stdout.close()
            assert process.stderr.read() == b""
            assert process.wait() == 0


class TestIndex:
    def test_built_then_up_to_date(self, wheel_cache: str, nowhere: Path) -> None:
        found = answer("index", "--cache", wheel_cache)
        assert (found["cold"], found["read"]) == (False, 0)
        assert found["files"] > 1000

    def test_interrupted(self, tmp_path: Path, nowhere: Path) -> None:
        command = [*TORCHNAV, "index", "--cache", str(tmp_path / "c")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.poll() is None and not (tmp_path / "c").exists():
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
        assert process.returncode == 130
        assert out == b""
        assert b"Traceback" not in err

    def test_interrupted_before_the_command_line_is_loaded(self, tmp_path: Path) -> None:
        """What it imports first is interrupted."""
        (tmp_path / "click.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
        given = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
        done = subprocess.run(TORCHNAV, cwd=tmp_path, env=given, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")

    def test_index_of_garbage_is_built_again(self, tmp_path: Path, nowhere: Path) -> None:
        tree = tmp_path / "tree"
        (tree / YAML).parent.mkdir(parents=True)
        (tree / YAML).write_text("- func: relu(Tensor self) -> Tensor\n")
        (tree / "aten/src/ATen/native/A.cpp").write_bytes(bytes(range(256)) * 40)
        command = ("index", "--tree", str(tree), "--cache", str(tmp_path / "c"))
        first = run(*command, "--json")
        assert first.returncode in (0, 3)  # a tree may be too small to have an index
        if first.returncode == 0:
            Path(json.loads(first.stdout)["index"]).write_bytes(os.urandom(4096))
            assert run(*command).returncode == 0


class TestDoctor:
    def test_names_the_command_that_adds_what_is_missing(self, nowhere: Path) -> None:
        found = json.loads(run("doctor", "--json").stdout)
        checks = {check["name"]: check for check in found["checks"]}
        assert found["usable"]
        assert checks["torch"]["state"] == "ok"
        assert checks["clone"]["command"] == "torchnav clone"

    def test_nothing_usable(self, tmp_path: Path, nowhere: Path) -> None:
        done = run("doctor", "--tree", str(tmp_path))
        assert done.returncode == 3
        assert "! source" in done.stdout


@pytest.mark.parametrize("text", ["----> 3 torch.relu(x)", "- func: relu(Tensor self) -> Tensor"])
def test_a_pasted_text_that_begins_with_a_dash_is_no_option(text: str) -> None:
    found = answer("--tree", str(TREE), "op", text)
    assert found["op"]["name"] == "relu"


def test_the_arguments_of_a_program_stay_in_their_order(torchnav: Run, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import sys; print(sys.argv[1:])")
    given = ("--title", "- a", "--lr", "1")
    for command in ("trace", "why"):
        done = torchnav(command, str(program), *given)
        assert str(list(given)) in done.stdout + done.stderr
