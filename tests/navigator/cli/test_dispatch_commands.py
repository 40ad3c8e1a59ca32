"""``table --when``, ``key`` and ``map`` as a user sees them, on the installed torch alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.navigator.cli.test_main import answer, run


@pytest.fixture(autouse=True)
def _alone(nowhere: Path) -> None:
    """No tree but the wheel."""


def test_paths_side_by_side(wheel_cache: str) -> None:
    given = ("table", "add_", "--when", "inference,vmap", "--cache", wheel_cache)
    found = answer(*given)
    paths = {one["switch"]: one for one in found["paths"]}
    assert list(paths) == ["plain", "inference", "vmap"]
    assert paths["plain"]["kernels"] == ["AutogradCPU", "ADInplaceOrView", "CPU"]
    assert paths["inference"]["kernels"] == ["ADInplaceOrView", "CPU"]
    assert "torchnav clone" in paths["vmap"]["unknown"]
    change = paths["inference"]["changes"][0]
    assert (change["change"], change["key"]) == ("not included", "ADInplaceOrView")
    assert change["path"].endswith("InferenceMode.h")
    text = run(*given).stdout
    assert "  AutogradCPU      1 x ?" in text
    assert "unknown from this tree: " in text


def test_switches_are_understood_where_extensions_are_named(wheel_cache: str) -> None:
    found = answer("table", "add_", "--with", "inference,no_grad", "--cache", wheel_cache)
    assert [one["switch"] for one in found["paths"]] == ["plain", "inference", "no_grad"]
    done = run("table", "add_", "--with", "inference,nothing", "--cache", wheel_cache)
    assert "no such folder" in done.stderr


def test_what_makes_tensors_has_the_path_of_its_python_function(wheel_cache: str) -> None:
    found = answer("table", "zeros", "--when", "plain", "--cache", wheel_cache)
    binding = found["paths"][1]
    assert binding["switch"] == "binding"
    assert {one["change"] for one in binding["changes"]} == {"excluded"}
    assert binding["kernels"] == ["BackendSelect", "CPU"]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (("table", "add", "--when", "autocasts"), 2, "autocast"),
        (("table", "add", "--when", "mode", "--device", "abacus"), 2, "cuda"),
        (("key", "AutocastCPUs"), 1, "AutocastCPU"),
        (("map", "torch/nowhere"), 1, "no indexed file"),
        (("map", "torch", "--call", "add"), 2, "give either a folder or --call"),
        (("map", "--call", "torch.compile"), 1, "is not an operator"),
    ],
)
def test_what_is_refused(
    arguments: tuple[str, ...], status: int, words: str, wheel_cache: str
) -> None:
    done = run(*arguments, "--cache", wheel_cache)
    assert done.returncode == status
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_key_says_what_the_wheel_lacks(wheel_cache: str) -> None:
    found = answer("key", "Autocast", "--limit", "0", "--cache", wheel_cache)
    assert found["name"] == "AutocastCUDA"
    assert found["meaning"] == "Autocast is another name for it"
    assert "torchnav clone" in found["unseen"]
    assert found["registrations"] == []
    assert {use["what"] for use in found["uses"]} >= {"excludes", "set", "returns"}
    assert "torchnav clone" in run("key", "Autocast", "--cache", wheel_cache).stdout


def test_a_folder_of_the_wheel_and_the_way_of_a_call(wheel_cache: str) -> None:
    found = answer("map", "torch/nn", "--cache", wheel_cache)
    assert found["folder"] == "torch/nn"
    assert {"folder", "file"} == {entry["kind"] for entry in found["entries"]}
    way = answer("map", "--call", "add", "--cache", wheel_cache)
    assert [step["stage"] for step in way["steps"]][:2] == ["Python", "schema"]
    assert way["unknown"]
