"""Checks in C++ that do not follow the tree's conventions: errors thrown as ``std::runtime_error``,
deprecated macros, internal asserts about user arguments."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.messages import parameter_names
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree
from indexes.readers.cxx.remarks import uses

_CHECK = "TORCH_CHECK"
_DEFINED = regex(r"#define TORCH_CHECK\((?:[^\n]*\\\n)*[^\n]*")
_CONTINUED = " \\"
_EXCEPTION = "c10/util/Exception.h"


_OTHERS = regex(r"third_party/|(?:^|/)(?:tests?|benchmarks?|examples?)/|_test\.\w+$")


def _is_product(place: Location) -> bool:
    """Whether a file is PyTorch's own and no test."""
    return not _OTHERS.search(place.path)


def _by_function(
    tree: Tree, found: Iterable[tuple[Location, str]]
) -> Iterator[tuple[Definition | None, list[tuple[Location, str]]]]:
    """(place, word) grouped by function; ungrouped outside functions."""
    placed = [(tree.definition_at(place), (place, word)) for place, word in found]
    for at, group in groupby(enumerate(placed), key=lambda pair: pair[1][0] or pair[0]):
        rows = [one for _, (_, one) in group]
        yield (at if isinstance(at, Definition) else None), rows


def _gap(
    tree: Tree,
    function: Definition | None,
    places: Sequence[Location],
    what: str,
    rule: str,
    more: Iterable[Location],
) -> Gap:
    path = places[0].path
    name = function.name if function else path.rpartition("/")[2]
    count = f" in {len(places)} places" if len(places) > 1 else ""
    subject = subject_of(function) if function else path
    title, evidence = f"{name} {what.format(count)}", (*places, *more)
    op = tree.operator_of(function)
    return Gap(places[0], title, rule, evidence, op, name, subject, size=len(places))


def lacks(tree: Tree) -> str:
    return tree.lacks_kernels() or tree.lacks(tree.source.path_of(_EXCEPTION))


def find_throws(tree: Tree) -> Iterator[Gap]:
    """One gap per function with such a throw, in folders that use TORCH_CHECK: others may not
    depend on c10."""
    defined = _definitions(tree, tree.source.path_of(_EXCEPTION))
    macro = next((one for one in defined if _raises(tree, one)), None)
    checking = {
        place.path
        for place, used, _ in tree.remarks("macros")
        if _is_product(place) and _CHECK in used.split()
    }
    neighbours = {os.path.dirname(path): path for path in sorted(checking, reverse=True)}
    found = ((place, what) for place, what, _ in tree.remarks("throw") if _is_product(place))
    thrown = (row for row in found if not _is_expression(tree, row[0]))
    for function, rows in _by_function(tree, thrown):
        path, line = rows[0][0][:2]
        if any(one.path == path and one.covers(line) for one in defined):
            continue
        if own := path if path in checking else neighbours.get(os.path.dirname(path)):
            yield _throw_gap(tree, function, [place for place, _ in rows], own, macro)


def _definitions(tree: Tree, path: str) -> list[Location]:
    """The definitions of TORCH_CHECK."""
    text = tree.text(path)
    found = ((one, text.count("\n", 0, one.start()) + 1) for one in _DEFINED.finditer(text))
    return [Location(path, line, line + one[0].count("\n")) for one, line in found]


def _raises(tree: Tree, definition: Location) -> bool:
    """Whether a definition raises c10::Error: one for headers that are used alone throws itself."""
    return "throw " not in "\n".join(tree.lines_of(definition))


def _is_expression(tree: Tree, place: Location) -> bool:
    """Whether it throws inside an expression, where no TORCH_CHECK can be: ``ok ? value : throw
    ...``."""
    above = [line.rstrip(_CONTINUED) for line in tree.lines(place.path, 1, place.line - 1)[-1:]]
    before = "\n".join([*above, tree.line(place).partition("throw ")[0]]).rstrip()
    return before.endswith(("(", ",", "?")) or (before.endswith(":") and "?" in before)


_CAUGHT = regex(r"catch\s*\(\s*(?:const\s+)?(?:std\s*::\s*)?runtime_error\b")


def _throw_gap(
    tree: Tree,
    function: Definition | None,
    places: list[Location],
    own: str,
    macro: Location | None,
) -> Gap:
    whose = "this file uses" if own == places[0].path else f"{own} beside it uses"
    rule = f"{whose} TORCH_CHECK, which adds the C++ stack and raises c10::Error"
    caught = _CAUGHT.search(text := tree.text(places[0].path))
    if caught:
        line = text.count("\n", 0, caught.start()) + 1
        rule += f"; {places[0].path}:{line} catches std::runtime_error, which c10::Error is not"
    what = "throws std::runtime_error{} where TORCH_CHECK is the tree's way"
    like = tree.place_of(f"{_CHECK}(", own)
    gap = _gap(tree, function, places, what, rule, filter(None, (like, macro)))
    return replace(gap, confidence="possible") if caught else gap


_BARE = regex(r"\b([A-Z_]{4,})\b(?!\()")
_Known = Mapping[str, tuple[Location, str]]
"""The definition of each deprecated macro, with the replacement in its comment."""


def find_macros(tree: Tree) -> Iterator[Gap]:
    """One gap per function with a deprecated macro."""
    remarks = tree.remarks("deprecated macro")
    headers = (one for one in remarks if _is_product(one[0]) and one[0].path.endswith(".h"))
    known = {name: (place, instead) for place, name, instead in headers}
    if not known:
        return
    # Literals first: the engine then skips to them, which a word's beginning would not let it.
    names = "|".join(rf"{one}(?<!\w{one})" for one in known)
    word = regex(rf"({names})\s*\(")
    for place, used, _ in tree.remarks("macros"):
        if _is_product(place) and not known.keys().isdisjoint(used.split()):
            for function, found in _by_function(tree, _uses(tree, place.path, word)):
                yield _macro_gap(tree, known, function, found)


def _uses(tree: Tree, path: str, word: re.Pattern[str]) -> Iterator[tuple[Location, str]]:
    """The macro uses in a file, without ``#define``, ``#undef`` and ``#ifdef``."""
    text = tree.text(path)
    for line, found in uses(text, word):
        start = text.rfind("\n", 0, found.start()) + 1
        if not text[start : found.start()].lstrip().startswith("#"):
            yield Location(path, line), found[1]


def _macro_gap(
    tree: Tree, known: _Known, function: Definition | None, used: list[tuple[Location, str]]
) -> Gap:
    macros = {name: known[name] for _, name in used}
    first, (place, instead_of) = next(iter(macros.items()))
    instead = f": use {_with_calls(instead_of)}" if instead_of else ""
    rule = f"{place} calls {first} deprecated{instead}"
    what = f"uses {' and '.join(macros)}{{}}"
    more = (place for place, _ in macros.values())
    return _gap(tree, function, [place for place, _ in used], what, rule, more)


def _with_calls(words: str) -> str:
    return _BARE.sub(r"\1(...)", words)


_ASKED = regex(
    r"\b(\w+)(?:\.|->)(?:sizes?|sym_sizes?|dim|ndimension|numel|sym_numel|strides?|scalar_type|dtype"
    r"|is_contiguous|is_floating_point|is_complex|requires_grad|empty|length)\("
    r"|\b(?<![.>:])(\w+)\s*(?:[<>]=?|[!=]=)\s*-?\d"
)
"""Properties of a parameter that arguments may violate, or its value."""
_WRITTEN = regex(r"(?<!const )(?<![:\w])(?:at::)?Tensor\s*&\s*\w+")
"""A parameter that the function writes to, which may violate nothing."""
_CHECKS = regex(r"\b(?:TORCH_CHECK\w*|check\w*|AT_ERROR|TORCH_INTERNAL_ASSERT)\s*\(([^;]*);")
_REPORT = "INTERNAL ASSERT FAILED"
Assert = tuple[Location, str]
"""Where an assert stands, and its condition."""


def find_asserts(tree: Tree) -> Iterator[Gap]:
    """Kernels of public operators with an assert about a parameter that nothing before has checked;
    not structured ones, which are checked by their meta function."""
    text_of = tree.place_of(_REPORT, tree.source.locate(_EXCEPTION) or "")
    found: dict[Definition, list[Assert]] = {}
    for place, condition, _ in tree.kernel_remarks("assert"):
        function = tree.function_at(place) if _ASKED.search(condition) else None
        if function and _is_reached(tree, function, place, condition):
            found.setdefault(function, []).append((place, condition))
    for function, asserts in found.items():
        yield _assert_gap(tree, function, asserts, text_of)


def _is_reached(tree: Tree, function: Definition, place: Location, condition: str) -> bool:
    op = tree.operator_of(function)
    if op is None or op[0] == "_" or "backward" in op or function.kind == "impl_func":
        return False
    if tree.natives[op].structured_delegate or tree.natives[op].structured:
        return False
    names = parameter_names(_WRITTEN.sub("", function.parameters))
    named = {found[0] for found in _ASKED.finditer(condition) if (found[1] or found[2]) in names}
    start = function.location.line
    above = "\n".join(tree.lines(place.path, start, place.line - 1)) if named else ""
    checked = "".join(one[1] for one in _CHECKS.finditer(above))
    return bool(named) and not any(one in checked for one in named)


def _assert_gap(
    tree: Tree, function: Definition, asserts: list[Assert], report: Location | None
) -> Gap:
    lines = [place for place, _ in asserts]
    shown = "; ".join(" ".join(condition.split()) for _, condition in asserts[:3])
    what = f"an argument can fail an internal assert: {shown}"
    rule = "an internal assert is for what no argument can cause: it asks to report a bug;"
    rule += " use TORCH_CHECK(condition, message)"
    places = (*lines, *((report,) if report else ()))
    op, name, subject = tree.operator_of(function), function.name, subject_of(function)
    return Gap(lines[0], what, rule, places, op, name, subject)


KINDS = (
    Kind(
        "runtime-error",
        "easy",
        "std::runtime_error thrown beside TORCH_CHECK",
        find_throws,
        lacks,
        unit="places",
        few=5,
    ),
    Kind(
        "deprecated-macro",
        "easy",
        "deprecated C++ macros still in use",
        find_macros,
        Tree.lacks_kernels,
        unit="places",
        few=5,
    ),
    Kind(
        "internal-assert",
        "medium",
        "internal asserts about users' arguments",
        find_asserts,
        Tree.lacks_kernels,
    ),
)
