"""``--verbose``, the log file, and what a bug report needs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from navigator.cli.doctor import without_secrets

TREE = Path(__file__).parents[2] / "tree"
_DEFECT = """
import navigator.cli.main as command
command.main = lambda: {}["on purpose"]
command.run()
"""


def run(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    own = {"TORCHNAV_CACHE": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder / "config")}
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **own, **more},
        capture_output=True,
        text=True,
        check=False,
    )


def test_verbose_says_what_is_done_and_keeps_it(tmp_path: Path) -> None:
    words = ["-m", "navigator", "op", "relu", "--tree", str(TREE), "--json"]
    quiet = run(tmp_path, *words)
    log = tmp_path / "cache" / "torchnav.log"
    assert (quiet.stderr, log.exists()) == ("", False)
    told = run(tmp_path, *words, "--verbose")
    assert told.stdout == quiet.stdout
    assert f"tree: {TREE}" in told.stderr
    assert told.stderr == log.read_text()
    run(tmp_path, "-m", "navigator", "--verbose", "op", "no\x1b[31msuch", "--tree", str(TREE))
    assert "exit code 1: " in log.read_text()
    assert "\x1b" not in log.read_text()


def test_a_defect_of_ours_is_kept_for_the_report(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", _DEFECT)
    assert done.returncode == 1
    assert "torchnav doctor --report" in done.stderr
    report = run(tmp_path, "-m", "navigator", "doctor", "--report", "--tree", str(TREE)).stdout
    assert "KeyError: 'on purpose'" in report


def test_a_report_has_the_setup_and_no_secrets(tmp_path: Path) -> None:
    config = tmp_path / "config" / "torchnav" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('theme = "nord"\neditor = "code https://me:pw@host/"\n')
    secret = {"HF_TOKEN": "hf_1", "TORCHNAV_PAGER": "curl --token=hf_2", "HOME": str(tmp_path)}
    words = ["-m", "navigator", "doctor", "--report", "--tree", str(TREE)]
    report = run(tmp_path, *words, **secret).stdout
    for said in ('theme = "nord"', "source             PyTorch", "### Environment", "machine"):
        assert said in report
    for hidden in ("hf_1", "hf_2", "me:pw", str(tmp_path)):
        assert hidden not in report


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("api_key = 'x'", "api_key = ***"),
        ("url = https://u:p@h/x", "url = https://***@h/x"),
        ("a plain line", "a plain line"),
    ],
)
def test_what_is_hidden(text: str, shown: str) -> None:
    assert without_secrets(text) == shown
