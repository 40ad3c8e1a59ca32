"""The screen's settings in ``~/.config/torchnav/config.toml``.

::

    theme = "nord"                # any theme of the palette
    editor = "nvim +{line} {path}"
    clipboard = "show"            # show the text instead of sending it to the terminal

    [keys]                        # ids as in the help screen
    "go.definition" = "d,f12"

    [[sources]]                   # an extension to index beside PyTorch
    path = "~/torch-xpu-ops"
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexes.readers.project.toml import parse_toml
from indexes.source.files import read_file
from indexes.source.source import config_path
from navigator.sources import parse_sources

__all__ = ["Config", "config_path", "load_config", "parse_config"]


@dataclass(frozen=True, slots=True)
class Config:
    """The settings, and problems with them, one line each."""

    theme: str = ""
    editor: str = ""
    clipboard: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def load_config(path: Path) -> Config:
    """The settings in ``path``; empty without a file, problems for an invalid one."""
    try:
        return parse_config(read_file(path).decode())
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError) as error:
        return Config(problems=(f"{path.name}: {error}",))


def parse_config(text: str) -> Config:
    """The settings in ``text``. Raises ValueError if it is not TOML."""
    problems: list[str] = []
    table = parse_toml(text)
    words = {name: _word(table, name, problems) for name in ("theme", "editor", "clipboard")}
    keys = _keys(table.pop("keys", {}), problems)
    for name in ("python", "links"):  # read by the command line
        table.pop(name, "")
    parse_sources(table.pop("sources", []), Path(), problems)  # read when the tree is opened
    problems += [f"config.toml: unknown setting {name!r}" for name in table]
    return Config(**words, keys=keys, problems=tuple(problems))


def _word(table: dict[str, Any], name: str, problems: list[str]) -> str:
    value = table.pop(name, "")
    if isinstance(value, str):
        return value
    problems.append(f"config.toml: {name} must be a string")
    return ""


def _keys(table: object, problems: list[str]) -> dict[str, str]:
    if not isinstance(table, dict):
        problems.append("config.toml: [keys] must be a table")
        return {}
    wrong = [name for name, keys in table.items() if not isinstance(keys, str) or not keys]
    problems += [f"config.toml: keys of {name!r} must be a string" for name in wrong]
    return {str(name): keys for name, keys in table.items() if name not in wrong}
