"""One Python is meant by every command: its torch is the installed one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from indexes.model.errors import UsageError
from indexes.source import torch_install
from indexes.source.torch_install import OWN, choose_python, installed_torch, target_python


@pytest.fixture(autouse=True)
def nothing_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_install, "_chosen", {})
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX", "PATH"):
        monkeypatch.setenv(name, "")


def python(root: Path, version: str = "") -> str:
    """A Python with a torch of this version, or with none: a script that answers as one."""
    bin_ = root / "bin"
    bin_.mkdir(parents=True)
    if version:
        (root / "torch").mkdir()
        (root / "torch" / "version.py").write_text(f"__version__ = '{version}'\n")
    found = bin_ / "python"
    found.write_text(f"#!/bin/sh\necho '{root if version else ''}'\n")
    found.chmod(0o755)
    return str(found)


def test_the_first_with_torch_is_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named, environment, conda, path, bare = (tmp_path / name for name in "necpb")
    for root, version in ((named, "1.0"), (environment, "2.0"), (conda, "3.0"), (path, "4.0")):
        python(root, version)
    python(bare)

    def target() -> tuple[str, str]:
        found = target_python()
        return found.reason, found.torch.version if found.torch else ""

    assert target()[0] == OWN
    assert target_python().path == sys.executable
    monkeypatch.setenv("PATH", str(path / "bin"))
    assert target() == ("PATH", "4.0")
    monkeypatch.setenv("CONDA_PREFIX", str(conda))
    assert target() == ("CONDA_PREFIX", "3.0")
    monkeypatch.setenv("VIRTUAL_ENV", str(bare))
    assert target() == ("CONDA_PREFIX", "3.0"), "one without torch is passed over"
    monkeypatch.setenv("VIRTUAL_ENV", str(environment))
    assert target() == ("VIRTUAL_ENV", "2.0")
    choose_python(str(named / "bin" / "python"), "config.toml")
    assert target() == ("config.toml", "1.0")
    choose_python(str(bare / "bin" / "python"), "--python")
    assert target() == ("--python", ""), "one that was named is believed"
    assert installed_torch() is None
    choose_python("", "config.toml")
    assert target() == ("VIRTUAL_ENV", "2.0")


def test_our_own_python_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    monkeypatch.setattr(torch_install, "_torch_folder", None)
    assert target_python().reason == "PATH"
    assert installed_torch() is not None


def test_a_python_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no Python at"):
        choose_python(str(tmp_path / "python"), "--python")


def test_a_python_that_cannot_answer_has_no_torch(tmp_path: Path) -> None:
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\nexit 3\n")
    broken.chmod(0o755)
    choose_python(str(broken), "--python")
    assert target_python().torch is None


def test_what_a_python_prints_when_it_starts_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('noise', end='')\n")
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/__init__.py").touch()
    (tmp_path / "torch/version.py").write_text("__version__ = '9.0'\n")
    loud = tmp_path / "python"
    loud.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    loud.chmod(0o755)
    choose_python(str(loud), "--python")
    found = target_python().torch
    assert found is not None
    assert found.version == "9.0"
