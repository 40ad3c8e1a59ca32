"""Tests that are made once for each OpInfo: ``@ops(LIST)`` above a test function, and the lists
of OpInfos that are made out of others (``unary_ufuncs = [op for op in op_db if ...]``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import NamedTuple

from indexes.model.idioms import first_argument
from indexes.model.lines import LineCount
from indexes.model.regex import regex

TESTING = "torch/testing/_internal/"
"""Where the OpInfos and the library of the tests are."""


class Decorator(NamedTuple):
    """``@parametrize("x", [1, 2])``: its name without the module, and what it is called with."""

    name: str
    arguments: str


class TestFunction(NamedTuple):
    """A test function of a class at a file's top level."""

    cls: str
    name: str
    line: int
    decorators: tuple[Decorator, ...]
    """As written: the first is applied last, and is the first in the names of the tests."""


_TOKEN = regex(
    r"^([ \t]*)(?:@([\w.]+)|(?:async[ \t]+)?def[ \t]+(\w+)|class[ \t]+(\w+))", re.MULTILINE
)


class SuiteFacts(NamedTuple):
    """What a file of tests, or of the testing library, says of tests that take OpInfos."""

    tests: tuple[OpTest, ...]
    devices: dict[str, tuple[str, ...]]
    """The classes made for each device, with the devices; none is any."""
    lists: tuple[OpList, ...]
    parametrized: tuple[Parametrized, ...]
    bases: dict[str, tuple[str, ...]]
    modules: tuple[str, ...]


def read_suite(data: bytes, path: str) -> SuiteFacts | None:
    """The facts of a file; None for one that is of no use to tests with OpInfos."""
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
    """The test functions of a file's classes. Those of classes inside functions are not the
    file's own tests."""
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
    """What stands in the brackets behind a decorator's name."""
    written = " ".join(line.strip() for line in _uncommented(after))
    return written.strip()[1:-1].strip(" ,") if written.startswith("(") else ""


def _uncommented(text: str) -> Iterator[str]:
    return (line for line in text.splitlines() if not line.lstrip().startswith("#"))


class OpTest(NamedTuple):
    """A test function that ``instantiate_device_type_tests`` makes a test of for each OpInfo."""

    cls: str
    name: str
    line: int
    chosen: str
    """The first argument of ``@ops``: which OpInfos it is made for."""
    ending: str | None = None
    """What follows the OpInfo in the names of the tests, before the device: the name of a
    parameter, empty where its values have names of their own, None where nothing does."""


class OpList(NamedTuple):
    """A list of OpInfos made out of others."""

    name: str
    text: str
    """What it is made of, as written."""
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
"""``_name = ops(LIST, ...)``, which is ready to decorate, or ``_name = partial(ops, ...)``."""


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
    """A file's own decorators that make a test for each of some values, and the library's,
    with the text that has the values."""
    made = {
        one: _value(text, m.end() - 1) for m in _MADE.finditer(text) for one in m.groups() if one
    }
    for given in _GIVES.finditer(text):
        for name in _MAKER.findall(text, 0, given.start())[-1:]:
            made[name] = made.get(name, "") + _value(text, given.end() - 1)
    return dict.fromkeys(_PARAMETRIZERS, "") | made


_PARAMETRIZERS = frozenset({"reparametrize", "modules", "optims", "swap"})
"""Beside ``ops`` and ``parametrize``: the testing library's decorators that add to a name."""


def _ending(one: Decorator, changing: Mapping[str, str]) -> str | None:
    """How a decorator's part of the name of a test begins: empty where only a run tells; None
    where it has none."""
    if one.name == "parametrize":
        return _names_of(one) if not _NAMED.search(one.arguments) else ""
    return "" if one.name in changing else None


_NAMED = regex(r"\bname_fn\b|\bname\s*=|\blambda\b|\bdtype|\bdevice")
"""Values with names of their own."""


def _names_of(one: Decorator) -> str:
    literal = re.match(r"[\"'](\w+)", one.arguments)
    return literal[1] if literal else ""


def _first_argument(text: str, start: int) -> str:
    """The first argument of a call on one line; empty for one that is a table."""
    return " ".join(first_argument(text[start : start + _LONGEST_ARGUMENT], 0).split())


def read_op_lists(text: str) -> tuple[OpList, ...]:
    """What a file's top level assigns, but for lists that hold OpInfos themselves."""
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
    """An expression to the end of its last line; empty for one that is a table."""
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

    cls: str
    name: str
    decorator: str
    argument: str
    """The first parameter's name, where it is written out."""
    values: str
    """The decorator's arguments as written, or the text that has the values."""


def read_parametrized(text: str) -> tuple[Parametrized, ...]:
    """The tests of a file below ``@parametrize`` and its like, one for each such decorator."""
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
    """The names of ModuleInfos, as tests have them: ``nn_Softmax``."""
    return tuple(one.replace(".", "_") for one in _MODULE.findall(text))
