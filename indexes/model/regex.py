"""Regular expressions that are compiled when they are first used, and once for all processes.

A question is answered with few of those that the modules it passes through have, and to
compile all of them takes longer than many an answer. So does compiling the few: what the
engine runs is kept beside this module's own bytecode, where Python keeps that at all.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from re import ASCII, MULTILINE, VERBOSE
    from re import compile as regex
    from types import ModuleType
    from typing import Any

__all__ = ["ASCII", "MULTILINE", "VERBOSE", "compiling", "regex"]


class _Regex:
    """A ``re.Pattern``, but for the time at which it is made."""

    def __init__(self, pattern: str | bytes, flags: int = 0) -> None:
        self.pattern = pattern
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        compiled = _compiled(self.pattern, int(self.flags))
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


# ------------------------------------------------------------------- what is kept of them

_SIZE = 4
_END = b"\n;\n"
_MOST = 2_000_000
"""Bytes that are kept: what versions of long ago left goes some day."""


class _Programs:
    """The programs of expressions in a file, to which they are added one by one."""

    def __init__(self) -> None:
        self._file = _file()
        self._known: dict[tuple[str | bytes, int], tuple[Any, ...]] = {}
        try:
            with open(self._file, "rb") as opened:
                self._take(opened.read())
        except OSError:
            pass  # there is none yet
        except (ValueError, EOFError, TypeError):
            self._drop()

    def _take(self, kept: bytes) -> None:
        """Raises ValueError, EOFError or TypeError where something is cut off or overwritten."""
        from marshal import loads

        if len(kept) > _MOST:
            raise ValueError("too many")
        at = 0
        while at < len(kept):
            end = at + _SIZE + int.from_bytes(kept[at : at + _SIZE], "little")
            if kept[end : end + len(_END)] != _END:
                raise ValueError("no end")
            pattern, flags, program = loads(kept[at + _SIZE : end])
            self._known[pattern, flags] = program
            at = end + len(_END)

    def _drop(self) -> None:
        try:
            with open(self._file, "wb"):
                pass  # and begun again
        except OSError:
            self._file = ""

    def get(self, pattern: str | bytes, flags: int) -> Any:
        """The compiled expression; None where it is not kept."""
        program = self._known.get((pattern, flags))
        return program and _run_by(pattern, program)

    def add(self, pattern: str | bytes, flags: int, compiled: Any) -> None:
        """Keeps the program of an expression, if the engine takes it for the same."""
        if not self._file or sys.dont_write_bytecode:
            return
        try:
            with open(self._file, "ab", buffering=0) as file:  # at once, whoever else adds some
                file.write(_packed(pattern, flags, compiled))
        except OSError:
            self._file = ""


_loaded: list[_Programs] = []


def _compiled(pattern: str | bytes, flags: int) -> Any:
    if not _loaded:
        _loaded.append(_Programs())
    compiled = _loaded[0].get(pattern, flags)
    if compiled is None:
        import re

        compiled = re.compile(pattern, flags)
        _loaded[0].add(pattern, flags, compiled)
    return compiled


def _file() -> str:
    """Where programs for this very Python are kept; nothing where there is no such place."""
    cached = __spec__.cached
    if not cached or sys.implementation.name != "cpython":
        return ""
    return f"{cached.removesuffix('.pyc')}.{sys.hexversion:x}.programs"


def _packed(pattern: str | bytes, flags: int, compiled: Any) -> bytes:
    from marshal import dumps

    program = _program(pattern, flags)
    again = program and _run_by(pattern, program)
    if not again or (again, again.groupindex) != (compiled, compiled.groupindex):
        return b""
    packed = dumps((pattern, flags, program))
    return len(packed).to_bytes(_SIZE, "little") + packed + _END


def _program(pattern: str | bytes, flags: int) -> tuple[Any, ...] | None:
    """What ``re.compile`` gives to the engine; None where this Python does it in another way."""
    try:
        from re import _compiler, _parser  # type: ignore[attr-defined]

        parsed = _parser.parse(pattern, flags)
        code = [*map(int, _compiler._code(parsed, flags))]
        state = parsed.state
        names = [""] * state.groups
        for name, at in state.groupdict.items():
            names[at] = name
        listed = tuple(name or None for name in names)
        return int(flags | state.flags), code, state.groups - 1, dict(state.groupdict), listed
    except (ImportError, AttributeError, TypeError):
        return None


def _run_by(pattern: str | bytes, program: tuple[Any, ...]) -> Any:
    try:
        import _sre  # type: ignore[import-not-found]

        return _sre.compile(pattern, *program)
    except (ImportError, AttributeError, TypeError, ValueError, RuntimeError, OverflowError):
        return None


if not TYPE_CHECKING:
    regex = _Regex
    ASCII, MULTILINE, VERBOSE = 256, 8, 64  # those of re, which takes long to load
