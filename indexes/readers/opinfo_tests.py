"""Tests that are made once for each OpInfo: ``@ops(LIST)`` above a test function, and the lists
of OpInfos that are made out of others (``unary_ufuncs = [op for op in op_db if ...]``)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from indexes.regex import regex


class OpTest(NamedTuple):
    """A test function that ``instantiate_device_type_tests`` makes a test of for each OpInfo."""

    cls: str
    name: str
    line: int
    chosen: str
    """The first argument of ``@ops``: which OpInfos it is made for."""


class OpList(NamedTuple):
    """A list of OpInfos made out of others."""

    name: str
    text: str
    """What it is made of, as written."""
    line: int


_DECORATOR = regex(r"^[ \t]+@(\w+)(\(|[ \t]*\n)", re.MULTILINE)
_DEF = regex(r"^[ \t]+(?:async[ \t]+)?def[ \t]+(test\w*)", re.MULTILINE)
_CLASS = regex(r"^class[ \t]+(\w+)", re.MULTILINE)
_ASSIGNED = regex(r"^(\w+)(?:[ \t]*:[^=\n]+)?[ \t]*\+?=[ \t]*(?=\S)", re.MULTILINE)
_ENTRY = regex(r"\b\w*Info\(\s*[\"']")


def read_op_tests(text: str) -> tuple[OpTest, ...]:
    """The tests of a file that take OpInfos."""
    if not _TAKES_OPINFOS.search(text):
        return ()
    presets = {"ops": ""}
    for found in _PRESET.finditer(text):
        presets[found[1]] = _first_argument(text, found.end()) if found[2] else ""
    return tuple(_tests(text, presets))


_TAKES_OPINFOS = regex(r"@ops\(|= ops\(|partial\(\s*ops\b")
_PRESET = regex(
    r"^[ \t]*(\w+)[ \t]*=[ \t]*(?:(ops\()|(?:functools\.)?partial\(\s*ops\b)", re.MULTILINE
)
"""``_name = ops(LIST, ...)``, which is ready to decorate, or ``_name = partial(ops, ...)``."""


def _tests(text: str, presets: dict[str, str]) -> Iterator[OpTest]:
    classes = [(match.start(), match[1]) for match in _CLASS.finditer(text)]
    for match in _DECORATOR.finditer(text):
        if match[1] not in presets:
            continue
        chosen = presets[match[1]]
        if match[2] == "(" and not chosen:
            chosen = _first_argument(text, match.end())
        function = _DEF.search(text, match.end())
        owner = [name for start, name in classes if start < match.start()]
        if function and owner:
            line = text.count("\n", 0, function.start(1)) + 1
            yield OpTest(owner[-1], function[1], line, chosen)


def _first_argument(text: str, start: int) -> str:
    """The text from ``start`` to the first comma or closing bracket that belongs to it."""
    depth = 0
    for at in range(start, min(len(text), start + 2000)):
        char = text[at]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        if depth < 0 or (depth == 0 and char == ","):
            return " ".join(text[start:at].split())
    return ""


def read_op_lists(text: str) -> tuple[OpList, ...]:
    """What a file's top level assigns, but for lists that hold OpInfos themselves."""
    found = []
    for match in _ASSIGNED.finditer(text):
        value = _value(text, match.end())
        if value and not _ENTRY.search(value):
            line = text.count("\n", 0, match.start()) + 1
            found.append(OpList(match[1], value, line))
    return tuple(found)


_LONGEST_VALUE = 1500


def _value(text: str, start: int) -> str:
    """An expression to the end of its last line; empty for one that is a table."""
    depth = 0
    for at in range(start, min(len(text), start + _LONGEST_VALUE)):
        char = text[at]
        depth += (char in "([{") - (char in ")]}")
        if char == "\n" and depth <= 0:
            return text[start:at]
    return text[start:] if len(text) - start < _LONGEST_VALUE else ""


_CLASSES = regex(r"^class[ \t]+(\w+)\(([\w., \t]+)\)", re.MULTILINE)


def read_bases(text: str) -> dict[str, tuple[str, ...]]:
    """The bases of a file's top-level classes."""
    return {
        match[1]: tuple(one.strip().rpartition(".")[2] for one in match[2].split(","))
        for match in _CLASSES.finditer(text)
    }


_INSTANTIATED = regex(r"^\s*instantiate_device_type_tests\(", re.MULTILINE)
_ONLY = regex(r"\bonly_for\s*=\s*(.+)")
_LITERAL = regex(r"[\"'](\w+)[\"']")


def read_instantiated(text: str) -> dict[str, frozenset[str]]:
    """The classes whose tests are made anew for each device, with the devices they are made
    for; none where that is any device, or is not written out."""
    lists = {one.name: one.text for one in read_op_lists(text)}
    found = {}
    for match in _INSTANTIATED.finditer(text):
        arguments = _value(text, match.end() - 1)
        only = _ONLY.search(arguments)
        named = only[1].strip(" )") if only else ""
        devices = frozenset(_LITERAL.findall(lists.get(named, named)))
        cls = arguments.lstrip("( \n").partition(",")[0].strip()
        found[cls] = devices
    return found


class Parametrized(NamedTuple):
    """A test function that is made once for each of some values, which its name ends with."""

    name: str
    values: str
    """The decorator's arguments, as written."""


_PARAMETRIZE = regex(r"^[ \t]+@parametrize\(", re.MULTILINE)


def read_parametrized(text: str) -> tuple[Parametrized, ...]:
    """The tests of a file below ``@parametrize``, one for each such decorator."""
    found = []
    for match in _PARAMETRIZE.finditer(text):
        function = _DEF.search(text, match.end())
        if function:
            values = text[match.end() : function.start()].partition("\n    @")[0]
            found.append(Parametrized(function[1], " ".join(values.split())))
    return tuple(found)
