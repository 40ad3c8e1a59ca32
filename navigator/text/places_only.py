"""The places of an answer, one a line, for editors and scripts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from indexes.model.vocabulary import SourceInfo
from indexes.serialize.answers import Json
from indexes.source.permalinks import file_of, permalink
from navigator.text.clean import clean

_KINDS = ("role", "kind", "device", "label", "key")
_NAMES = ("symbol", "name", "op", "title", "what", "text", "function", "macro", "action", "command")
_SAID = ("detail", "rule", "why", "how", "reason", "note")
_MOST_TEXT = 160

Place = tuple[str, int, str]
"""Path, line, and what is there."""


def places(answer: Json) -> Iterator[Place]:
    """Each distinct place in an answer's JSON (docs/json.md), in order."""
    yield from dict.fromkeys(_places(answer, ""))


def _places(value: Json, around: str) -> Iterator[Place]:
    if isinstance(value, Mapping):
        words = _words(value) or around
        path, line = value.get("path"), value.get("line")
        if isinstance(file := value.get("file"), str):  # a line of the program
            path = os.path.abspath(file)
        if isinstance(path, str) and path:
            yield path, line if isinstance(line, int) and line else 1, words
        for key, one in value.items():
            if key != "source":
                yield from _places(one, words)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for one in value:
            yield from _places(one, around)


def _words(value: Mapping[str, Json]) -> str:
    """An object's kind, name and reason."""
    found = (next((value[key] for key in keys if _is_text(value.get(key))), "") for keys in _PARTS)
    return clean(" ".join(str(one) for one in found if one))[:_MOST_TEXT]


_PARTS = (_KINDS, _NAMES, _SAID)


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and bool(value)


def vimgrep(info: SourceInfo, found: Place) -> str:
    """``path:line:column:text``, with paths relative to the current folder."""
    path, line, text = found
    full = str(file_of(info, path))
    relative = os.path.relpath(full)
    return f"{full if relative.startswith('..') else relative}:{line}:1:{text}"


def linked(info: SourceInfo, found: Place) -> str:
    """The page of a place at the tree's commit; ``path:line`` if unknown."""
    path, line, text = found
    return f"{permalink(info, path, line) or f'{path}:{line}'}  {text}".rstrip()


FORMATS: Mapping[str, Callable[[SourceInfo, Place], str]] = {"vimgrep": vimgrep, "link": linked}
