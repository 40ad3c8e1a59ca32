"""Reads .lintrunner.toml: which linters look at which files."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from indexes.model.regex import regex
from indexes.readers.project.toml import parse_toml


class Linter(NamedTuple):
    """A linter of ``lintrunner``."""

    code: str
    """Its name, for ``lintrunner --take``."""
    line: int
    include: tuple[str, ...]
    exclude: tuple[str, ...]

    def takes(self, path: str) -> bool:
        """Whether it checks a file."""
        if any(_fits(one, path) for one in self.exclude):
            return False
        return any(_fits(one, path) for one in self.include)

    @property
    def takes_all(self) -> bool:
        """Whether it checks files of every kind."""
        return any(one.strip("*/") == "" for one in self.include)


_CODE = regex(r"""^\s*code\s*=\s*["'](\w+)["']""", re.MULTILINE)


def read_linters(data: bytes) -> tuple[Linter, ...]:
    """The linters in order; none if the file is not such a configuration."""
    text = data.decode("utf-8", "replace")
    lines = {found[1]: text.count("\n", 0, found.start(1)) + 1 for found in _CODE.finditer(text)}
    try:
        tables = parse_toml(text).get("linter", [])
    except ValueError:
        return ()
    return tuple(_linter(one, lines) for one in tables if isinstance(one, dict))


def _linter(table: dict[str, Any], lines: dict[str, int]) -> Linter:
    code = str(table.get("code", ""))
    include, exclude = (
        tuple(map(str, table.get(f"{key}_patterns", ()))) for key in ("include", "exclude")
    )
    return Linter(code, lines.get(code, 0), include, exclude)


def _fits(pattern: str, path: str) -> bool:
    begins = path.startswith(re.split(r"[*?\[]", pattern, maxsplit=1)[0])
    return begins and _pattern(pattern).fullmatch(path) is not None


def _pattern(text: str) -> re.Pattern[str]:
    """A regex for a Rust glob: ``*`` and ``?`` stay in a folder, ``**/`` is any number of
    folders."""
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    found = re.findall(r"\*\*/|\*\*|\[!?\]?[^\]]*\]|.", text)
    return re.compile("".join(parts.get(one, _character(one)) for one in found), re.DOTALL)


def _character(text: str) -> str:
    if text.startswith("[") and len(text) > 1:
        return text.replace("[!", "[^", 1)
    return re.escape(text)
