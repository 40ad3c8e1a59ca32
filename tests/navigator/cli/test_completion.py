"""Completion, in the shells themselves where they are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from navigator.cli.main import main
from tests.tree_marks import TREE

Complete = Callable[[str, str], list[str]]

_ASKED = {
    "bash": 'eval "$(torchnav completion bash)"; COMP_WORDS=($1); '
    "COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _torchnav_completion torchnav; "
    'printf "%s\\n" "${COMPREPLY[@]}"',
    "fish": 'torchnav completion fish | source; complete -C "$argv[1]"',
}


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Complete:
    """What a shell offers for a line, on an index that is built once."""
    cache = tmp_path_factory.mktemp("cache")
    assert main(["--tree", str(TREE), "--cache", str(cache), "index"]) == 0
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    environment = {"PATH": path, "TORCHNAV_CACHE": str(cache), "TORCHNAV_CHECKOUT": str(TREE)}

    def complete(shell: str, line: str) -> list[str]:
        if shutil.which(shell) is None:
            pytest.skip(f"{shell} is not installed")
        given = ["bash"] if shell == "bash" else []  # its $0
        done = subprocess.run(
            [shell, "-c", _ASKED[shell], *given, line],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return [offered.partition("\t")[0] for offered in done.stdout.split("\n") if offered]

    return complete


@pytest.mark.parametrize("shell", ["bash", "fish"])
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("torchnav contri", ["contribute"]),
        ("torchnav op softm", ["softmax"]),
        ("torchnav op add.Te", ["add.Tensor"]),
        ("torchnav op add --overl", ["--overload"]),
        ("torchnav op add --key autogradcp", ["AutogradCPU"]),
        ("torchnav op no_such_operator", []),
    ],
)
def test_commands_options_operators_and_keys(
    complete: Complete, shell: str, line: str, offered: list[str]
) -> None:
    assert complete(shell, line) == offered


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_takes_the_script(complete: Complete, tmp_path: Path) -> None:
    script = tmp_path / "completion.zsh"
    done = subprocess.run(
        [sys.executable, "-m", "navigator", "completion", "zsh"], capture_output=True, check=True
    )
    script.write_bytes(done.stdout)
    told = 'autoload -Uz compinit; compinit -D -u; source "$1"; print $_comps[torchnav]'
    said = subprocess.run(
        ["zsh", "-f", "-c", told, "zsh", str(script)], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == "_torchnav_completion"


def test_without_an_index_nothing_is_built_for_a_tab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("_TORCHNAV_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "torchnav op softm")
    monkeypatch.setenv("COMP_CWORD", "2")
    monkeypatch.setenv("TORCHNAV_CHECKOUT", str(TREE))
    monkeypatch.setenv("TORCHNAV_CACHE", str(tmp_path))
    with pytest.raises(SystemExit):
        main([])
    assert not capsys.readouterr().out.strip()
    assert not [*tmp_path.iterdir()]
