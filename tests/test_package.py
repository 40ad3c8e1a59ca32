"""The wheel and the sdist: what is in them, and the commands from the wheel alone."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.tree_marks import TREE

wheels = pytest.importorskip("hatchling.builders.wheel")
sdists = pytest.importorskip("hatchling.builders.sdist")
ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    folder = str(tmp_path_factory.mktemp("wheel"))
    return zipfile.ZipFile(next(wheels.WheelBuilder(str(ROOT)).build(directory=folder)))


@pytest.fixture(scope="module")
def installed(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("installed")
    wheel.extractall(folder)
    return folder


def _sources() -> set[str]:
    found = (path for room in ("navigator", "indexes") for path in (ROOT / room).rglob("*"))
    return {
        path.relative_to(ROOT).as_posix()
        for path in found
        if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".so"
    }


def test_the_wheel_has_every_source_and_lab_and_nothing_of_the_tests(
    wheel: zipfile.ZipFile,
) -> None:
    names = set(wheel.namelist())
    labs = {f"navigator/labs/programs/{path.name}" for path in (ROOT / "labs").glob("*.py")}
    assert _sources() | labs <= names
    assert any(name.endswith("/share/man/man1/torchnav.1") for name in names)
    rooms = {name.partition("/")[0] for name in names}
    assert {room for room in rooms if not room.startswith("torchnav-")} == {"navigator", "indexes"}


def test_the_metadata_name_what_is_optional(wheel: zipfile.ZipFile) -> None:
    (name,) = (one for one in wheel.namelist() if one.endswith("/METADATA"))
    text = wheel.read(name).decode("utf-8")
    needed = [line for line in text.splitlines() if line.startswith("Requires-Dist: ")]
    plain = [line for line in needed if "extra ==" not in line]
    assert not [line for line in plain if "torch" in line or "mcp" in line]
    for extra in ("torch", "mcp", "notebook"):
        assert f"Provides-Extra: {extra}" in text
    assert any("mcp<3" in line for line in needed)


@pytest.mark.parametrize(
    "words",
    [
        ["--version"],
        ["op", "mul_.Tensor"],
        ["lab"],
        ["completion", "bash"],
        ["export", "site", "site"],
    ],
    ids=" ".join,
)
def test_commands_run_from_the_wheel_alone(
    words: list[str], installed: Path, tmp_path: Path
) -> None:
    own = {"PYTHONPATH": str(installed), "TORCHNAV_CHECKOUT": str(TREE)}
    own["TORCHNAV_CACHE"] = os.environ.get("TORCHNAV_CACHE", str(tmp_path / "cache"))
    done = subprocess.run(
        [sys.executable, "-P" if sys.version_info >= (3, 11) else "-B", "-m", "navigator", *words],
        cwd=tmp_path,
        env={**os.environ, **own},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_the_sdist_has_what_its_checks_need(tmp_path: Path) -> None:
    with tarfile.open(
        next(sdists.SdistBuilder(str(ROOT)).build(directory=str(tmp_path)))
    ) as packed:
        names = {name.partition("/")[2] for name in packed.getnames()}
    assert _sources() <= names
    needed = {
        "pyproject.toml",
        "conftest.py",
        "LICENSE",
        ".ci/run",
        ".ci/check",
        "tests/test_package.py",
    }
    pages = {"README.md", "CONTRIBUTING.md", "AGENTS.md", "CHANGELOG.md", "docs/guide.md"}
    assert needed | pages <= names
