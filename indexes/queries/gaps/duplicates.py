"""Duplicated functions of kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexes.model.regex import regex
from indexes.model.vocabulary import Definition
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree
from indexes.readers.cxx.lexer import strip_comments

_FEWEST_LINES = 12
_VENDORED = regex(r"/(?:mem_eff_attention|flash_attn|cutlass_extensions|qnnpack)/")
_DEVICE_CODE = (".cu", ".cuh", ".metal", ".mm")


def find(tree: Tree) -> Iterator[Gap]:
    """Groups of functions whose bodies are the same but for comments and white space."""
    groups: dict[str, list[Definition]] = {}
    for path in tree.native_files:
        if not _VENDORED.search(path):
            for function in _functions(tree, path):
                groups.setdefault(" ".join(_body(tree, function).split()), []).append(function)
    for functions in groups.values():
        comparable = _comparable(functions) if len(functions) > 1 else ()
        if len(comparable) > 1 and _is_long(tree, comparable[0]):
            yield _gap(tree, comparable)


def _comparable(functions: list[Definition]) -> Sequence[Definition]:
    """Those that could be one: in different files or of different names (overloads differ in
    their types), and compiled for the same machine as the first."""
    found: dict[tuple[str, str], Definition] = {}
    for one in functions:
        if _machine(one) == _machine(functions[0]):
            found.setdefault((one.location.path, one.name), one)
    return tuple(found.values())


def _machine(function: Definition) -> str:
    extension = f".{function.location.path.rpartition('.')[2]}"
    return extension.replace(".cuh", ".cu") if extension in _DEVICE_CODE else ""


def _functions(tree: Tree, path: str) -> Iterator[Definition]:
    functions = [f for f in tree.functions.get(path, ()) if _is_free(f)]
    outer = 0
    for function in functions:
        where = function.location
        if where.end_line <= outer or function.macro:
            continue  # a lambda or a method inside one that is counted already
        outer = where.end_line
        yield function


def _body(tree: Tree, function: Definition) -> str:
    where = function.location
    text = _code("\n".join(tree.lines_of(where)))
    return text[text.find("{") :]


def _is_long(tree: Tree, function: Definition) -> bool:
    lines = _body(tree, function).splitlines()
    return sum(1 for line in lines if line.strip()) >= _FEWEST_LINES


def _code(text: str) -> str:
    """A text without comments. Most have none but those that end a line."""
    if "/*" in text:
        return strip_comments(text)
    return "\n".join(map(_code_of_line, text.split("\n"))) if "//" in text else text


def _code_of_line(line: str) -> str:
    if "//" not in line:
        return line
    return strip_comments(line) if '"' in line else line[: line.find("//")]


def _is_free(function: Definition) -> bool:
    """A function that is no member, and long enough to be worth sharing."""
    return function.kind == "function" and _lines(function) >= _FEWEST_LINES


def _lines(function: Definition) -> int:
    return function.location.end_line - function.location.line


def _gap(tree: Tree, functions: Sequence[Definition]) -> Gap:
    first = functions[0]
    op = next(filter(None, map(tree.operator_of, functions)), None)
    others = ", ".join(f"{f.name} ({f.location})" for f in functions[1:])
    what = f"{first.name} has the body of {others}"
    rule = f"the same {_lines(first) + 1} lines but for comments and white space"
    places = tuple(f.location for f in functions)
    return Gap(first.location, what, rule, places, op, first.name, subject_of(first))


KINDS = (Kind("duplicate", "hard", "duplicated functions", find, Tree.lacks_kernels),)
