"""``--with DIR`` and ``[[sources]]``: extensions beside the tree on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from indexes.model.errors import SourceError
from navigator.cli.main import main
from navigator.sources import configured_sources
from navigator.tui.config import parse_config
from tests.extension_marks import EXTENSION, marked
from tests.tree_marks import TREE

Ask = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("beside-cache")


@pytest.fixture
def ask(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Ask:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def asked(*arguments: str) -> tuple[int, str, str]:
        status = main([*arguments, "--tree", str(TREE), "--cache", str(cache)])
        return (status, *capsys.readouterr())

    return asked


def test_the_card_has_the_kernels_of_both(ask: Ask) -> None:
    status, out, _ = ask("--with", str(EXTENSION), "op", "mul.Tensor")
    assert status == 0
    assert " XPU      mul_out > mul_stub > mul_kernel  @extension/csrc/xpu/MulKernel.cpp:" in out
    assert " CUDA     mul_out > mul_stub > mul_kernel_cuda" in out
    assert f"  with @extension: {EXTENSION}" in out
    status, out, _ = ask("op", "add.out", "--with", str(EXTENSION))
    assert f" ExecuTorch add_out  {marked('runtime add.out')}" in out
    assert max(map(len, out.splitlines())) <= 80


def test_json_names_the_extensions(ask: Ask) -> None:
    _, out, _ = ask("op", "abs", "--json", "--with", str(EXTENSION))
    answer = json.loads(out)
    assert answer["source"]["extensions"] == ["extension"]
    routes = {one["device"]: one for one in reversed(answer["routes"])}
    assert routes["PrivateUse1"]["path"] == "@extension/csrc/npu/Kernels.cpp"


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("mylib::scale", "scale schema"),
        ("mylib.ops.Scale", "Scale"),
        ("ScaleBackward", "Scale"),
        ("mylib.ops.halve", "halve"),
        ("scale_fast", "scale_fast bound"),
        ("fast_scale", "fast_scale"),
        ("shift", "shift"),
        ("npu::npu_pack", "npu_pack listed"),
    ],
)
def test_names_of_an_extension(ask: Ask, name: str, mark: str) -> None:
    status, out, _ = ask("op", name, "--json", "--with", str(EXTENSION))
    assert status == 0
    answer = json.loads(out)
    found = answer.get("op") or answer["match"]["hits"][0]
    assert f"{found['path']}:{found['line']}" == marked(mark)


@pytest.mark.parametrize("spelled", ["{root}/{path}", "{full}/{path}"])
def test_a_place_as_it_is_written_and_as_it_is_on_disk(ask: Ask, spelled: str) -> None:
    path = marked("mul_kernel").removeprefix("@extension/")
    place = spelled.format(root="@extension", full=EXTENSION, path=path)
    status, out, _ = ask("at", place, "--with", str(EXTENSION))
    assert status == 0
    assert "mul.Tensor" in out


def test_what_is_no_extension_is_told_in_a_line(ask: Ask, tmp_path: Path) -> None:
    status, out, err = ask("op", "relu", "--with", str(tmp_path / "nowhere"))
    assert (status, out) == (3, "")
    assert err == f"torchnav: no extension at {tmp_path}/nowhere: no such folder\n"
    status, _, err = ask("op", "relu", "--with", str(TREE.parent / "tree"))
    assert (status, err.count("\n")) == (3, 1)
    assert main(["op", "relu", "--tree", str(EXTENSION), "--cache", str(tmp_path)]) == 3


def test_doctor_names_extensions(ask: Ask) -> None:
    _, out, _ = ask("doctor", "--with", str(EXTENSION))
    assert f"@extension: {EXTENSION}" in out


def test_the_config_file_names_extensions(ask: Ask, tmp_path: Path) -> None:
    config = tmp_path / "torchnav" / "config.toml"
    config.parent.mkdir()
    config.write_text(f'[[sources]]\npath = "{EXTENSION}"\nname = "mine"\n')
    _, out, _ = ask("op", "relu")
    assert "PrivateUse1 relu_private" in out
    assert "@mine/.../scale.cpp" in out
    assert not parse_config(config.read_text()).problems
    assert configured_sources(config) == [(str(EXTENSION), "mine")]


@pytest.mark.parametrize("text", ["sources = 1", "[[sources]]\nname = 'x'", "[[sources", "\xff"])
def test_a_wrong_config_file_is_told_in_a_line(tmp_path: Path, text: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(text, encoding="latin-1")
    with pytest.raises(SourceError) as told:
        configured_sources(config)
    assert "\n" not in str(told.value)


def test_relative_folders_of_the_config_file_are_from_its_own(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[[sources]]\npath = "ops"\n')
    assert configured_sources(config) == [(str(tmp_path / "ops"), "")]
