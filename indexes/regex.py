"""Regular expressions that are compiled when they are first used.

A question is answered with few of those that the modules it passes through have, and to
compile all of them takes longer than many an answer.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from re import compile as regex
    from types import ModuleType
    from typing import Any

__all__ = ["compiling", "regex"]


class _Regex:
    """A ``re.Pattern``, but for the time at which it is made."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        import re

        compiled = re.compile(self.pattern, self.flags)
        for method in ("match", "search", "finditer", "findall", "sub", "split", "fullmatch"):
            setattr(self, method, getattr(compiled, method))  # found without us from now on
        return getattr(compiled, name)


def compiling(modules: Iterable[ModuleType]) -> Iterator[None]:
    """Compiles the expressions of modules, one at each step."""
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, _Regex) and "match" not in vars(value):
                value.__getattr__("match")
                yield


if not TYPE_CHECKING:
    regex = _Regex
