"""Duplicated functions of kernels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree
from indexes.readers.cxx.remarks import FEWEST_LINES, code_of

_VENDORED = regex(r"/(?:mem_eff_attention|flash_attn|cutlass_extensions|qnnpack)/")
_DEVICE_CODE = (".cu", ".cuh", ".metal", ".mm")


def find(tree: Tree) -> Iterator[Gap]:
    """Groups of functions with equal bodies, comments and white space aside."""
    groups: dict[str, list[Location]] = {}
    for place, digest, _ in tree.kernel_remarks("body"):
        if not _VENDORED.search(place.path):
            groups.setdefault(digest, []).append(place)
    for places in groups.values():
        functions = list(filter(None, map(tree.function_at, places))) if len(places) > 1 else []
        comparable = _comparable(functions)
        if len(comparable) > 1 and _is_long(tree, comparable[0]):
            yield _gap(tree, comparable)


def _comparable(functions: list[Definition]) -> Sequence[Definition]:
    """Those that could be merged: in different files or with different names, and compiled for the
    same device as the first."""
    found: dict[tuple[str, str], Definition] = {}
    for one in functions:
        if _machine(one) == _machine(functions[0]):
            found.setdefault((one.location.path, one.name), one)
    return tuple(found.values())


def _machine(function: Definition) -> str:
    extension = f".{function.location.path.rpartition('.')[2]}"
    return extension.replace(".cuh", ".cu") if extension in _DEVICE_CODE else ""


def _is_long(tree: Tree, function: Definition) -> bool:
    code = code_of("\n".join(tree.lines_of(function.location)))
    body = code[code.find("{") :].splitlines()
    return sum(1 for line in body if line.strip()) >= FEWEST_LINES


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
