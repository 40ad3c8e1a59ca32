"""What a build compiles: entries as CMake writes them, with clang's and gcc's commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from indexes.compiled import read_compiled

NATIVE = "aten/src/ATen/native"


def _build(root: Path, rows: object, place: str = "build/compile_commands.json") -> None:
    (root / place).parent.mkdir(exist_ok=True)
    (root / place).write_text(json.dumps(rows))


def test_sources_by_relative_and_absolute_paths_and_copies(tmp_path: Path) -> None:
    copy = f"{NATIVE}/cpu/SoftMaxKernel.cpp"
    _build(tmp_path, [
        {"directory": f"{tmp_path}/build", "file": f"../{NATIVE}/A.cpp",
         "command": "/usr/bin/clang++ -DUSE_FBGEMM -D USE_MPS=0 -DX=1 -std=c++17 -c A.cpp"},
        {"directory": f"{tmp_path}/build", "file": f"{tmp_path}/{NATIVE}/B.cpp",
         "arguments": ["clang++", "-DUSE_CUDA", "-D", "USE_XPU", "-c", "B.cpp"]},
        {"directory": f"{tmp_path}/build", "file": f"{copy}.AVX2.cpp", "command": "c++ -c x"},
    ])  # fmt: skip
    found = read_compiled(tmp_path)
    assert all(path in found for path in (f"{NATIVE}/A.cpp", f"{NATIVE}/B.cpp", copy))
    assert f"{NATIVE}/C.cpp" not in found


@pytest.mark.parametrize(
    ("guard", "part"),
    [
        ("defined(USE_CUDA)", "defined(USE_CUDA)"),
        ("defined(USE_FBGEMM)", ""),
        ("!defined(USE_FBGEMM)", "!defined(USE_FBGEMM)"),
        ("!defined(USE_CUDA)", ""),
        ("defined(USE_MPS)", ""),  # given, as 0
        ("USE_MPS", "USE_MPS"),
        ("!USE_MPS", ""),
        ("!USE_FBGEMM", "!USE_FBGEMM"),
        ("defined(__aarch64__) && defined(USE_CUDA)", "defined(USE_CUDA)"),
        ("defined(USE_CUDA) || defined(USE_FBGEMM)", ""),
        ("defined(CPU_CAPABILITY_AVX2)", ""),
        ("AT_MKLDNN_ENABLED()", ""),
        ("", ""),
    ],
)
def test_guards_that_the_command_decides(tmp_path: Path, guard: str, part: str) -> None:
    command = "clang++ -DUSE_FBGEMM -DUSE_MPS=0 -c A.cpp"
    _build(tmp_path, [{"directory": str(tmp_path), "file": "A.cpp", "command": command}])
    assert read_compiled(tmp_path).left_out("A.cpp", guard)[0] == part
    assert read_compiled(tmp_path).left_out("B.cpp", guard)[0] == ""


@pytest.mark.parametrize("text", ["", "{", "[1]", "{}", "[{}]", '[{"file": "a", "command": "\'"}]'])
def test_a_file_that_can_not_be_read_is_no_build(tmp_path: Path, text: str) -> None:
    (tmp_path / "compile_commands.json").write_text(text)
    assert not read_compiled(tmp_path)
