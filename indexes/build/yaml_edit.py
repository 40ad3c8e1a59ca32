"""Where two texts of native_functions.yaml differ, as whole entries."""

from __future__ import annotations

import re
from dataclasses import dataclass

from indexes.model.regex import regex
from indexes.model.vocabulary import NativeFunction
from indexes.readers.yaml.native_functions import read_native_functions
from indexes.store.codec import moved

_START = regex(r"^- ?", re.M)
_ANCHOR = regex(r"(?:^|[\s\[{,])&\w")
"""What another entry could refer to."""
MOST = 64
"""Entries in one edit; with more, all may as well be read."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Entries in a row that took the place of others."""

    before: tuple[NativeFunction, ...]
    after: tuple[NativeFunction, ...]
    lines: int
    """By how many lines the entries behind have moved."""


def find_edit(before: bytes, after: bytes, path: str) -> Edit | None:
    """The one stretch in which two texts differ; None where its entries can not be told apart
    from the others, or not all can be read."""
    old, new = _text(before), _text(after)
    start, tail = _region(old, new)
    offset = old.count("\n", 0, start)
    parts = [text[start : len(text) - tail] for text in (old, new)]
    entries = [_entries(part, offset, path) for part in parts]
    if entries[0] is None or entries[1] is None:
        return None
    lines = parts[1].count("\n") - parts[0].count("\n")
    return Edit(entries[0], entries[1], lines)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _region(old: str, new: str) -> tuple[int, int]:
    """Where the entries that differ begin, and how much text is left behind them."""
    head = _common(old, new)
    shortest = min(len(old), len(new)) - head
    tail = _common(old[: -shortest - 1 : -1], new[: -shortest - 1 : -1]) if shortest else 0
    start = old.rfind("\n- ", 0, head) + 1
    following = old.find("\n- ", len(old) - tail)
    return start, len(old) - following - 1 if following >= 0 else 0


def _common(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _entries(text: str, offset: int, path: str) -> tuple[NativeFunction, ...] | None:
    """All entries of a part of the file, unless it holds what could concern other parts."""
    count = len(_START.findall(text))
    if not 0 < count <= MOST or _ANCHOR.search(text):
        return None
    functions, problems = read_native_functions(text.encode(), path)
    names = {function.full_name for function in functions}
    if problems or len(names) != count:
        return None
    return tuple(moved(function, offset) for function in functions)
