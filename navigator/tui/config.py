"""What a reader has set in ``~/.config/torchnav/config.toml``.

::

    theme = "nord"                # any theme of the palette
    editor = "nvim +{line} {path}"
    clipboard = "show"            # show the text instead of sending it to the terminal

    [keys]                        # ids as in the help screen
    "go.definition" = "d,f12"
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from platformdirs.unix import Unix

from indexes.source.files import read_file


@dataclass(frozen=True, slots=True)
class Config:
    """The settings, and what was wrong with them, one line each."""

    theme: str = ""
    editor: str = ""
    clipboard: str = ""
    keys: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


def config_path() -> Path:
    """Where the config file is looked for; on all systems where Linux has it."""
    return Unix("torchnav").user_config_path / "config.toml"


def load_config(path: Path) -> Config:
    """The settings in ``path``; no file means no settings, a bad one is a problem."""
    try:
        return parse_config(read_file(path).decode())
    except FileNotFoundError:
        return Config()
    except (OSError, ValueError) as error:
        return Config(problems=(f"{path.name}: {error}",))


def parse_config(text: str) -> Config:
    """The settings in ``text``. Raises ValueError when it is not TOML."""
    problems: list[str] = []
    table = _toml(text)
    words = {name: _word(table, name, problems) for name in ("theme", "editor", "clipboard")}
    keys = _keys(table.pop("keys", {}), problems)
    problems += [f"config.toml: unknown setting {name!r}" for name in table]
    return Config(**words, keys=keys, problems=tuple(problems))


def _toml(text: str) -> dict[str, Any]:
    module = "tomllib" if sys.version_info >= (3, 11) else "tomli"
    try:
        loads = import_module(module).loads
    except ImportError:
        raise ValueError(f"needs Python 3.11, or the package {module}") from None
    return dict(loads(text))


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
