"""C++ source in strings of a Python file, for ``torch.utils.cpp_extension.load_inline``."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from indexes.model.files import PythonFact
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.python.blocks import Text, parsed
from indexes.readers.python.scope import called_name

_CALL = "load_inline"
_SOURCES = frozenset(("cpp_sources", "cuda_sources", "sycl_sources"))
_DEFINED = regex(r"(?m)^[^\S\n]*(?:[\w:<>,&*]+\s+)+[&*]*(\w+)\s*\([^;{}]*\)\s*\{")
"""A function with its body."""
_NO_NAMES = frozenset(("if", "for", "while", "switch", "catch", "return"))


def has_inline(_: str, data: bytes) -> bool:
    """Whether a file may contain such source."""
    return _CALL.encode() in data


def read_inline(text: Text, path: str) -> tuple[list[PythonFact], list[Problem]]:
    """The functions in it, each with its line in the Python file."""
    tree = parsed(text.data.decode("utf-8", "replace"), path)
    if isinstance(tree, Problem):
        return [], []
    texts = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    calls = (
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and called_name(node) == _CALL
    )
    given = (value for call in calls for value in _given(call))
    return list(_functions(_constants(given, texts))), []


def _given(call: ast.Call) -> Iterator[ast.expr]:
    """The sources in a call: by keyword, or behind the name of the extension."""
    yield from call.args[1:3]
    yield from (one.value for one in call.keywords if one.arg in _SOURCES)


def _constants(given: Iterable[ast.expr], texts: dict[str, ast.expr]) -> Iterator[ast.Constant]:
    for value in given:
        if isinstance(value, ast.List | ast.Tuple):
            yield from _constants(value.elts, texts)
        elif isinstance(value, ast.Name) and value.id in texts:
            yield from _constants([texts[value.id]], {})
        elif isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield value


def _functions(constants: Iterable[ast.Constant]) -> Iterator[PythonFact]:
    for one in constants:
        source = str(one.value)
        for found in _DEFINED.finditer(source):
            if found[1] not in _NO_NAMES:
                line = one.lineno + source.count("\n", 0, found.start(1))
                yield PythonFact("inline", f"inline:{found[1]}", found[1], line, line)
