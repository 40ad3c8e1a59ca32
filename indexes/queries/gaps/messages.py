"""Checks of arguments that fail without a message of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree
from indexes.readers.cxx.lexer import strip_comments

_CHECK = regex(r"TORCH_CHECK(?<!\wTORCH_CHECK)\s*\(")
_TOKEN = regex(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*[\s\S]*?\*/|[(),]")
_WORD = regex(r"[A-Za-z_]\w*")
_STANDARD = "c10/util/Exception.h"
"""Where the text stands that a check without a message gives instead."""
_ASKS = "Could this error message be improved"
_FEW = 3


@dataclass(frozen=True, slots=True)
class Check:
    """A ``TORCH_CHECK(condition)`` with nothing after the condition."""

    line: int
    condition: str


def bare_checks(text: str) -> Iterator[Check]:
    """The checks of a file that give no message, comments left out."""
    line, counted = 1, 0
    for match in _CHECK.finditer(text):
        condition = _only_argument(text, match.end())
        if condition is None or _is_commented(text, match.start()):
            continue
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield Check(line, " ".join(strip_comments(condition).split()))


def _only_argument(text: str, start: int) -> str | None:
    """The text up to the closing parenthesis; None when a comma divides it."""
    depth = 1
    for token in _TOKEN.finditer(text, start):
        word = token.group()
        if word == "," and depth == 1:
            return None
        depth += (word == "(") - (word == ")")
        if depth == 0:
            return text[start : token.start()]
    return None


def _is_commented(text: str, at: int) -> bool:
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return "//" in before or before.lstrip().startswith(("*", "/*", "#"))


def parameter_names(parameters: str) -> frozenset[str]:
    """The names in a parameter list: the last word of each part, default left out."""
    parts = re.split(r",(?![^<(]*[>)])", parameters)
    words = (_WORD.findall(part.partition("=")[0]) for part in parts)
    return frozenset(found[-1] for found in words if len(found) > 1)


def find(tree: Tree) -> Iterator[Gap]:
    """Kernels with checks of their own parameters that say nothing when they fail."""
    standard = tree.place_of(_ASKS, tree.source.locate(_STANDARD) or "")
    for path in tree.native_files:
        if "TORCH_CHECK" not in tree.text(path):
            continue
        found: dict[Definition, list[Check]] = {}
        for check in bare_checks(tree.text(path)):
            function = tree.function_at(path, check.line)
            if function and _is_asked(tree, function) and _names_parameter(check, function):
                found.setdefault(function, []).append(check)
        for function, checks in found.items():
            yield _gap(tree, path, function, checks, standard)


def _is_asked(tree: Tree, function: Definition) -> bool:
    """Whether people can meet its message: in kernels of operators that they call. Elsewhere a
    check may be for what its callers have made sure of."""
    op = tree.operator_of(function)
    return op is not None and op[0] != "_" and "backward" not in op


_DEVICE = regex(r"!?\w+\.is_(?:cpu|cuda|hip|xpu|mps|metal|vulkan|mkldnn|meta)\(\)")


def _names_parameter(check: Check, function: Definition) -> bool:
    """Whether an argument may fail it: that of another device the dispatcher sends elsewhere."""
    return not _DEVICE.fullmatch(check.condition) and bool(
        parameter_names(function.parameters) & set(_WORD.findall(check.condition))
    )


def _gap(
    tree: Tree, path: str, function: Definition, checks: list[Check], standard: Location | None
) -> Gap:
    lines = [Location(path, check.line) for check in checks]
    shown = "; ".join(check.condition for check in checks[:_FEW])
    more = f" and {len(checks) - _FEW} more" if len(checks) > _FEW else ""
    op = tree.operator_of(function)
    rule = "TORCH_CHECK without a message prints its condition and"
    rule += ' asks "Could this error message be improved?"'
    what = f"no message when an argument fails: {shown}{more}"
    places = (*lines, *((standard,) if standard else ()))
    name, subject, stated = function.name, subject_of(function), standard is not None
    return Gap(lines[0], what, rule, places, op, name, subject, stated=stated, size=len(checks))


KINDS = (
    Kind(
        "error-message",
        "easy",
        "checks of arguments without a message",
        find,
        Tree.lacks_kernels,
        unit="checks",
        few=5,
    ),
)
