"""Tests that run once for each OpInfo, by ``@ops(LIST)``, and lists derived from other lists:
``unary_ufuncs = [op for op in op_db if ...]``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from indexes.model.idioms import first_argument
from indexes.model.lines import LineCount
from indexes.model.regex import regex

TESTING = "torch/testing/_internal/"
"""The folder of OpInfos and the testing library."""


class Decorator(NamedTuple):
    """``@parametrize("x", [1, 2])``: its name without module, and its arguments."""

    name: str
    arguments: str


class TestFunction(NamedTuple):
    """A test function of a top-level class."""

    cls: str
    name: str
    line: int
    decorators: tuple[Decorator, ...]
    """In source order: the last is applied first, and the first comes first in test names."""


_TOKEN = regex(
    r"^([ \t]*)(?:@([\w.]+)|(?:async[ \t]+)?def[ \t]+(\w+)|class[ \t]+(\w+))", re.MULTILINE
)


class SuiteFacts(NamedTuple):
    """What a test file, or one of the testing library, says about tests with OpInfos."""

    tests: tuple[OpTest, ...]
    devices: dict[str, tuple[str, ...]]
    """The classes instantiated per device, with the devices; empty for any."""
    lists: tuple[OpList, ...]
    parametrized: tuple[Parametrized, ...]
    bases: dict[str, tuple[str, ...]]
    modules: tuple[str, ...]


def read_suite(data: bytes, path: str) -> SuiteFacts | None:
    """The facts of a file; None if it has nothing about tests with OpInfos."""
    text = data.decode("utf-8", "replace")
    if path.startswith(TESTING):
        return SuiteFacts((), {}, read_op_lists(text), (), read_bases(text), read_modules(text))
    tests = read_op_tests(text)
    devices = read_instantiated(text) if tests else {}
    tests = tuple(test for test in tests if test.cls in devices)
    if not tests:
        return None
    made = {cls: tuple(sorted(found)) for cls, found in devices.items()}
    return SuiteFacts(tests, made, read_op_lists(text), read_parametrized(text), {}, ())


class _Scope(NamedTuple):
    indent: int
    cls: str
    """Empty for a function."""


def read_test_functions(text: str) -> tuple[TestFunction, ...]:
    """The test functions of top-level classes."""
    return tuple(_functions(text))


def _functions(text: str) -> Iterator[TestFunction]:
    scopes: list[_Scope] = []
    pending: list[Decorator] = []
    tokens = list(_TOKEN.finditer(text))
    line_of = LineCount(text)
    for token, following in zip_longest(tokens, tokens[1:]):
        end = following.start() if following else len(text)
        indent, decorator, function, cls = token.groups()
        if decorator:
            name = decorator.rpartition(".")[2]
            pending.append(Decorator(name, _arguments(text[token.end() : end])))
            continue
        while scopes and scopes[-1].indent >= len(indent):
            scopes.pop()
        if function and function.startswith("test") and len(scopes) == 1 and scopes[0].cls:
            line = line_of(token.start(3))
            yield TestFunction(scopes[0].cls, function, line, tuple(pending))
        scopes.append(_Scope(len(indent), cls or ""))
        pending = []


def _arguments(after: str) -> str:
    written = " ".join(line.strip() for line in _uncommented(after))
    return written.strip()[1:-1].strip(" ,") if written.startswith("(") else ""


def _uncommented(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if not line.lstrip().startswith("#"))


class OpTest(NamedTuple):
    """A test function of which ``instantiate_device_type_tests`` makes a test for each OpInfo."""

    cls: str
    name: str
    line: int
    chosen: str
    """The first argument of ``@ops``: the OpInfos."""
    ending: str | None = None
    """What follows the OpInfo in test names, before the device: a parameter's name; empty if its
    values have names of their own; None if nothing."""


class OpList(NamedTuple):
    """A list of OpInfos derived from others."""

    name: str
    text: str
    """Its source."""
    line: int


_ASSIGNED = regex(r"^(\w+)(?:[ \t]*:[^=\n]+)?[ \t]*\+?=[ \t]*(?=\S)", re.MULTILINE)
_ENTRY = regex(r"\b\w*Info\(\s*[\"']")


def read_op_tests(text: str) -> tuple[OpTest, ...]:
    """The tests of a file that take OpInfos."""
    if "@ops(" not in text and "= ops(" not in text and not _PARTIAL.search(text):
        return ()
    presets = {"ops": ""}
    for found in _PRESET.finditer(text):
        presets[found[1]] = _first_argument(text, found.end()) if found[2] else ""
    return tuple(_tests(text, presets))


_PARTIAL = regex(r"partial\(\s*ops\b")
_PRESET = regex(
    r"^[ \t]*(\w+)[ \t]*=[ \t]*(?:(ops\()|(?:functools\.)?partial\(\s*ops\b)", re.MULTILINE
)
"""``_name = ops(LIST, ...)``, a ready decorator, or ``_name = partial(ops, ...)``."""


def _tests(text: str, presets: dict[str, str]) -> Iterator[OpTest]:
    changing = _name_changing(text)
    for test in read_test_functions(text):
        at = next((i for i, one in enumerate(test.decorators) if one.name in presets), None)
        if at is None:
            continue
        taking = test.decorators[at]
        chosen = presets[taking.name] or _first_argument(taking.arguments + ")", 0)
        after = tuple(_ending(one, changing) for one in test.decorators[at + 1 :])
        endings = tuple(one for one in after if one is not None)
        yield OpTest(test.cls, test.name, test.line, chosen, endings[0] if endings else None)


_MADE = regex(
    r"^(?:(\w+)[ \t]*=[ \t]*(?:\w+\.)?parametrize\(|class[ \t]+(\w+)\([\w.]*_TestParametrizer\))",
    re.MULTILINE,
)
_GIVES = regex(r"^[ \t]+return[ \t]+(?:\w+\.)?parametrize\(", re.MULTILINE)
_MAKER = regex(r"^def[ \t]+(\w+)", re.MULTILINE)


def _name_changing(text: str) -> dict[str, str]:
    """Decorators that make a test for each value, with the source of the values."""
    made = {
        one: _value(text, m.end() - 1) for m in _MADE.finditer(text) for one in m.groups() if one
    }
    for given in _GIVES.finditer(text):
        for name in _MAKER.findall(text, 0, given.start())[-1:]:
            made[name] = made.get(name, "") + _value(text, given.end() - 1)
    return dict.fromkeys(_PARAMETRIZERS, "") | made


_PARAMETRIZERS = frozenset({"reparametrize", "modules", "optims", "swap"})
"""Decorators of the testing library, beside ``ops`` and ``parametrize``, that add to test names."""


def _ending(one: Decorator, changing: Mapping[str, str]) -> str | None:
    """The start of a decorator's part of the test name: empty if unknown, None if it has none."""
    if one.name == "parametrize":
        return _names_of(one) if not _NAMED.search(one.arguments) else ""
    return "" if one.name in changing else None


_NAMED = regex(r"\bname_fn\b|\bname\s*=|\blambda\b|\bdtype|\bdevice")
"""Values with names of their own."""


def _names_of(one: Decorator) -> str:
    literal = re.match(r"[\"'](\w+)", one.arguments)
    return literal[1] if literal else ""


def _first_argument(text: str, start: int) -> str:
    """The first argument of a call on one line; empty for a table."""
    return " ".join(first_argument(text[start : start + _LONGEST_ARGUMENT], 0).split())


def read_op_lists(text: str) -> tuple[OpList, ...]:
    """The top-level assignments of lists, except those with OpInfo entries."""
    found, line_of = [], LineCount(text)
    for match in _ASSIGNED.finditer(text):
        value = _value(text, match.end())
        if value and not _ENTRY.search(value):
            found.append(OpList(match[1], value, line_of(match.start())))
    return tuple(found)


_LONGEST_VALUE = 1500
_LONGEST_ARGUMENT = 2000
_ENDS = regex(r"[(\[{)\]}\n]")


def _value(text: str, start: int) -> str:
    depth = 0
    for found in _ENDS.finditer(text, start, start + _LONGEST_VALUE):
        char = found[0]
        depth += (char in "([{") - (char in ")]}")
        if char == "\n" and depth <= 0:
            return text[start : found.start()]
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
    """The classes instantiated per device, with the devices; none if any or unknown."""
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
    """A test function that runs once for each value, with the value in its name."""

    cls: str
    name: str
    decorator: str
    argument: str
    """The first parameter's name, if literal."""
    values: str
    """The decorator's arguments as written, or the source of the values."""


def read_parametrized(text: str) -> tuple[Parametrized, ...]:
    """The tests under ``@parametrize`` and similar decorators, one for each decorator."""
    changing = _name_changing(text)
    return tuple(
        Parametrized(test.cls, test.name, one.name, *_varied(one, changing))
        for test in read_test_functions(text)
        for one in test.decorators
        if one.name == "parametrize" or one.name in changing
    )


def _varied(one: Decorator, changing: Mapping[str, str]) -> tuple[str, str]:
    if one.name == "parametrize":
        return _names_of(one), one.arguments
    return "", changing[one.name]


_MODULE = regex(r"ModuleInfo\((?<!\wModuleInfo\()\s*torch\.([\w.]+)")


def read_modules(text: str) -> tuple[str, ...]:
    """The names of ModuleInfos as in tests: ``nn_Softmax``."""
    return tuple(one.replace(".", "_") for one in _MODULE.findall(text))
