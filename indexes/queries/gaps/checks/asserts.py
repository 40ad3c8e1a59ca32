"""Internal asserts about arguments that users give."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.gaps.messages import parameter_names
from indexes.queries.gaps.model import Gap, Kind, subject_of
from indexes.queries.gaps.tree import Tree

_ASKED = regex(
    r"\b(\w+)(?:\.|->)(?:sizes?|sym_sizes?|dim|ndimension|numel|sym_numel|strides?|scalar_type|dtype"
    r"|is_contiguous|is_floating_point|is_complex|requires_grad|empty|length)\("
    r"|\b(?<![.>:])(\w+)\s*(?:[<>]=?|[!=]=)\s*-?\d"
)
"""What is asked of a parameter: a property that arguments differ in, or its value."""
_WRITTEN = regex(r"(?<!const )(?<![:\w])(?:at::)?Tensor\s*&\s*\w+")
"""A parameter that the function writes to: what is asked of it may be of its own making."""
_CHECKS = regex(r"\b(?:TORCH_CHECK\w*|check\w*|AT_ERROR|TORCH_INTERNAL_ASSERT)\s*\(([^;]*);")
_DEFINITION = "c10/util/Exception.h"
_REPORT = "INTERNAL ASSERT FAILED"
Assert = tuple[Location, str]
"""Where an assert stands, and its condition."""


def lacks(tree: Tree) -> str:
    """Kernels stand in a checkout only."""
    return tree.lacks_kernels()


def find(tree: Tree) -> Iterator[Gap]:
    """Kernels of operators that people call, not of structured ones, which their meta function
    has checked, with an assert about a parameter that nothing above it has checked."""
    text_of = tree.place_of(_REPORT, tree.source.locate(_DEFINITION) or "")
    found: dict[Definition, list[Assert]] = {}
    for place, condition, _ in tree.kernel_remarks("assert"):
        function = tree.function_at(place) if _ASKED.search(condition) else None
        if function and _is_reached(tree, function, place, condition):
            found.setdefault(function, []).append((place, condition))
    for function, asserts in found.items():
        yield _gap(tree, function, asserts, text_of)


def _is_reached(tree: Tree, function: Definition, place: Location, condition: str) -> bool:
    op = tree.operator_of(function)
    if op is None or op[0] == "_" or "backward" in op or function.kind == "impl_func":
        return False
    if tree.natives[op].structured_delegate or tree.natives[op].structured:
        return False
    names = parameter_names(_WRITTEN.sub("", function.parameters))
    asked = {found[0] for found in _ASKED.finditer(condition) if (found[1] or found[2]) in names}
    start = function.location.line
    above = "\n".join(tree.lines(place.path, start, place.line - 1)) if asked else ""
    checked = "".join(one[1] for one in _CHECKS.finditer(above))
    return bool(asked) and not any(one in checked for one in asked)


def _gap(tree: Tree, function: Definition, asserts: list[Assert], report: Location | None) -> Gap:
    lines = [place for place, _ in asserts]
    shown = "; ".join(" ".join(condition.split()) for _, condition in asserts[:3])
    what = f"an argument can fail an internal assert: {shown}"
    rule = "an internal assert is for what no argument can cause: it asks to report a bug;"
    rule += " use TORCH_CHECK(condition, message)"
    places = (*lines, *((report,) if report else ()))
    op, name, subject = tree.operator_of(function), function.name, subject_of(function)
    return Gap(lines[0], what, rule, places, op, name, subject)


KINDS = (Kind("internal-assert", "medium", "internal asserts about users' arguments", find, lacks),)
