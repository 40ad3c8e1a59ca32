"""``torchnav doctor --report``: what belongs into a bug report, as Markdown, without secrets."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from indexes.source.files import read_text
from indexes.source.source import config_path
from navigator.cli.doctor import Check
from navigator.cli.log import log_file
from navigator.text.clean import printable

_MOST_LINES = 40
_VARIABLES = re.compile(
    r"TORCHNAV_\w+|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|LANG|LC_ALL|PAGER|LESS|VISUAL|EDITOR|TMUX"
    r"|VIRTUAL_ENV|CONDA_PREFIX"
)
"""The variables of the environment that torchnav reads; no other is shown."""
_CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")
_SECRET = re.compile(r"(?i)(\S*(?:token|secret|passw|api_?key)\S*\s*[=:]\s*).*")


def report_lines(checks: Iterable[Check], cache: Path | None) -> Iterator[str]:
    """What a bug report should say: the checks, the machine, the configuration, the log."""
    found = [f"{one.name:18} {one.found}" for one in checks]
    machine = f"{platform.system()} {platform.release()} {platform.machine()}"
    names = sorted(filter(_VARIABLES.fullmatch, os.environ))
    yield from _block("Setup", [*found, f"{'machine':18} {machine}"])
    yield from _block("Environment", [f"{name}={os.environ[name]}" for name in names])
    yield from _block("config.toml", _lines(config_path()))
    log = log_file(cache)
    yield from _block("The last lines of torchnav.log", _lines(log))
    yield from _block("crash.txt: the last crash of the screen", _lines(log.with_name("crash.txt")))


def _lines(path: Path) -> list[str]:
    """The last lines of a file; none where it can't be read."""
    try:
        return read_text(path).splitlines()[-_MOST_LINES:]
    except OSError:
        return []


def _block(title: str, lines: Iterable[str]) -> Iterator[str]:
    # No line can end the block.
    said = [without_secrets(printable(line)).replace("```", "'''") for line in lines]
    yield from (f"### {title}", "", "```", *(said or ["(none)"]), "```", "")


def without_secrets(text: str) -> str:
    """``text`` without the user's name in paths, credentials in addresses, and what is called a
    secret."""
    home = os.path.expanduser("~")
    if len(home) > 1:
        text = text.replace(home, "~")
    return _SECRET.sub(r"\1***", _CREDENTIALS.sub("***@", text))
