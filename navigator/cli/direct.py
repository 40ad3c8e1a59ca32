"""Command lines of the usual shape, read without click: loading that takes as long as many an
answer. Whatever is not plainly right is left to click, which has the words for what is wrong."""

from __future__ import annotations

import os
import sys

from indexes.model.typed import TYPE_CHECKING
from navigator.cli.asking import Settings, guarded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

_SOURCE = frozenset(("--tree", "--cache"))
_SCREEN = ""
"""The command of a line that names none."""
_OWN = {
    "op": frozenset(("--overload", "--key", "--all", "--full", "--json")),
    "find": frozenset(("--limit", "--json")),
    "uses": frozenset(("--limit", "--json")),
    "at": frozenset(("--json",)),
    "index": frozenset(("--force",)),
    _SCREEN: frozenset[str](),
}
_ARGUMENTS = {"index": 0, _SCREEN: 0}
"""Commands that take another number of arguments than one."""
_FLAGS = frozenset(("--all", "--full", "--json", "--force"))


def direct(arguments: Sequence[str], settings: Settings) -> Callable[[], int] | None:
    """What answers a command line; None for one that click should read."""
    read = _read(arguments)
    if read is None:
        return None
    command, name, options = read
    cache, limit = options.pop("--cache", None), options.pop("--limit", None)
    if (cache and os.path.isfile(cache)) or not (limit is None or _is_limit(limit)):
        return None
    settings.tree, settings.cache = options.pop("--tree", None), _path(cache)
    settings.json = options.pop("--json", None) is not None
    if command == _SCREEN:
        return _screen(settings)

    def answer() -> int:
        if command == "index":
            from navigator.cli.indexing import bring_up

            bring_up(settings, force="--force" in options)
        else:
            _ask(settings, command, name, options, {} if limit is None else {"limit": int(limit)})
        return 0

    return lambda: guarded(answer, settings)


def _ask(
    settings: Settings, command: str, name: str, options: dict[str, str], limit: dict[str, int]
) -> None:
    from navigator.cli import questions

    if command == "op":
        questions.op(
            settings, name, options.get("--overload"), "--all" in options, "--full" in options,
            options.get("--key"),
        )  # fmt: skip
    elif command == "at":
        questions.at(settings, name)
    else:
        ask = questions.find if command == "find" else questions.uses
        ask(settings, name, **limit)


def _path(text: str | None) -> Path | None:
    if not text:
        return None
    from pathlib import Path

    return Path(text)


def _screen(settings: Settings) -> Callable[[], int] | None:
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    from navigator.tui.processes.first_rows import open_screen

    return lambda: guarded(lambda: open_screen(settings.tree, settings.cache), settings)


def _is_limit(text: str) -> bool:
    return text.isascii() and text.isdigit() and int(text) > 0


def _read(arguments: Sequence[str]) -> tuple[str, str, dict[str, str]] | None:
    """The command, its argument if it takes one, and each option with its value."""
    plain: list[str] = []
    options: dict[str, str] = {}
    words = iter(arguments)
    for word in words:
        name, equals, value = word.partition("=")
        if not word.startswith("-"):
            plain.append(word)
        elif name not in (_SOURCE | _OWN.get(plain[0], frozenset()) if plain else _SOURCE):
            return None
        elif name in _FLAGS:
            options[name] = "" if not equals else "="
        else:
            options[name] = value if equals else next(words, "")
    wrong = any(bool(value) == (name in _FLAGS) for name, value in options.items())
    if wrong or not all(plain):
        return None
    command, *given = plain or [_SCREEN]
    if command not in _OWN or len(given) != _ARGUMENTS.get(command, 1):
        return None
    return command, "".join(given), options
