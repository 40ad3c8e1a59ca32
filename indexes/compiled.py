"""What a build says of its sources: ``compile_commands.json``, as CMake and others write it."""

from __future__ import annotations

import json
import os.path
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from indexes.regex import regex

_PLACES = ("compile_commands.json", "build/compile_commands.json")
_COPY = regex(r"^(?:.*/)?(aten/src/ATen/.*\.cpp)\.\w+\.cpp$")
"""Kernels of native/cpu are compiled from copies, one for each capability."""
_DEFINED = regex(r"^(!?)\s*(defined)?\s*\(?\s*([A-Za-z]\w*)\s*\)?$")


class Compiled:
    """The sources that a build compiles, each with the macros that its command defines."""

    def __init__(self, defines: Mapping[str, Mapping[str, str]]) -> None:
        self._defines = defines

    def __bool__(self) -> bool:
        return bool(self._defines)

    def __contains__(self, path: str) -> bool:
        return path in self._defines

    def left_out(self, path: str, guard: str) -> tuple[str, str]:
        """The part of an ``#if`` around a line of a source that this build does not fulfil, and
        its macro; empty where it does, or where more than the command decides it."""
        if path not in self._defines:
            return "", ""
        for part in guard.split("&&"):
            match = _DEFINED.match(part.strip())
            if match and match[3].startswith("USE_") and self._is_false(path, *match.groups("")):
                return part.strip(), match[3]
        return "", ""

    def _is_false(self, path: str, sign: str, defined: str, name: str) -> bool:
        """Whether a condition on a macro that only PyTorch's build defines does not hold:
        ``defined`` asks whether it is given, the name alone for its value."""
        value = self._defines[path].get(name)
        holds = value is not None if defined else value not in (None, "0")
        return holds == bool(sign)


def read_compiled(root: Path) -> Compiled:
    """The build of a tree; an empty one where there is none, or it can't be read."""
    for place in _PLACES:
        try:
            rows = json.loads((root / place).read_text(encoding="utf-8"))
            return Compiled(dict(_row(root, row) for row in rows))
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            continue
    return Compiled({})


def _row(root: Path, row: Mapping[str, object]) -> tuple[str, Mapping[str, str]]:
    """A source by its path in the tree, and its ``-D``."""
    file = os.path.normpath(Path(str(row.get("directory", root)), str(row["file"])))
    path = file.removeprefix(f"{root}/").replace(os.sep, "/")
    copied = _COPY.match(path)
    given = row.get("arguments")
    words = [str(one) for one in given] if isinstance(given, list) else _split(row)
    return (copied[1] if copied else path), _defined(words)


def _split(row: Mapping[str, object]) -> list[str]:
    return shlex.split(str(row.get("command", "")))


def _defined(words: list[str]) -> dict[str, str]:
    """The values that ``-DNAME``, ``-DNAME=VALUE`` and ``-D NAME`` give."""
    found = re.findall(r"(?:^|\s)-D\s?([A-Za-z_]\w*)(?:=(\S*))?", " ".join(words))
    return dict(found)
