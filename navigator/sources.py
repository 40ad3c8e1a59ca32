"""Reads the command line's part of the config file ``~/.config/torchnav/config.toml``::

python = "~/envs/train/bin/python"
links = "vscode://file/{path}:{line}"

[[sources]]
path = "~/torch-xpu-ops"
name = "xpu"                  # how its paths begin: @xpu/...; else the folder's name
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from indexes.model.errors import SourceError
from indexes.readers.project.toml import parse_toml
from indexes.source.files import read_file

SETTINGS = {
    "theme": "The theme of the screen: any of its command palette.",
    "editor": "The command that opens a line, with {path} and {line}; default: $VISUAL, $EDITOR.",
    "clipboard": "show: show what is copied, for terminals without OSC 52.",
    "python": "The Python whose torch is used, and that runs programs.",
    "links": "The link of a place in a terminal, with {path} and {line}; off: no links.",
    "[keys]": "Keys of the screen, by their ids.",
    "[[sources]]": "An extension to index beside the tree: path, and a name for its paths.",
}
"""The settings of the config file, with descriptions."""


def configured_sources(path: Path) -> list[tuple[str, str]]:
    """The extension folders in the config file, with their names.

    Raises a one-line SourceError if the file can't be read or is invalid.
    """
    problems: list[str] = []
    table = _table(path)
    found = parse_sources(table.get("sources", []), path.parent, problems)
    if problems:
        raise SourceError(problems[0])
    return found


def configured_python(path: Path) -> str:
    """The Python in the config file, or empty. Raises SourceError as above."""
    named = _table(path).get("python", "")
    if not isinstance(named, str):
        raise SourceError(f"{path}: python must be the path of a Python")
    return named


def configured_links(path: Path, default: str) -> str:
    """The URL format of places, ``vscode://file/{path}:{line}``; empty for ``off``."""
    named = _table(path).get("links", default) if os.path.exists(path) else default
    if not isinstance(named, str):
        raise SourceError(f"{path}: links must be an address with {{path}}, or off")
    return "" if named == "off" else named


def _table(path: Path) -> dict[str, Any]:
    try:
        return parse_toml(read_file(path).decode())
    except (OSError, ValueError) as error:
        raise SourceError(f"cannot read {path}: {error}") from error


def parse_sources(listed: object, folder: Path, problems: list[str]) -> list[tuple[str, str]]:
    """The ``[[sources]]``: each folder, relative to that of the config file, and its name."""
    if not isinstance(listed, list):
        problems.append("config.toml: sources must be tables: [[sources]]")
        return []
    found = []
    for one in listed:
        path, name = (one.get("path"), one.get("name", "")) if isinstance(one, dict) else ("", "")
        if isinstance(path, str) and isinstance(name, str) and path and "\0" not in path:
            # Not Path.expanduser, which fails for a user that there is not.
            found.append((str(folder / os.path.expanduser(path)), name))
        else:
            problems.append("config.toml: each of [[sources]] needs path, and may have name")
    return found
