"""What tests say about an operator's derivatives: flags and skips of its OpInfo, and expected
failures; and what its docs say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from indexes.linking.python.paths import Found, place_of
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import Edit, edited, margin, removed
from indexes.queries.changes.model import Change, ChangeStep, TestRun
from indexes.queries.changes.python.opinfo import inputs
from indexes.queries.changes.python.rows import without_row
from indexes.queries.changes.test_runs import operator_runs
from indexes.queries.gaps.expectations.opinfo_rows import rows as opinfo_rows
from indexes.queries.gaps.statements import about, expected_failures
from indexes.queries.gaps.tree import Tree
from indexes.readers.python.blocks import parse_expression

_EXPECTING = ("test/functorch/test_%.py", "functorch/test/test_%.py")
_AUTOGRAD = "test/test_autograd.py"
_OF_GRADIENTS = regex(r"differentiab|back-?prop|\bbackward\b|\bgradients?\b|\bautograd\b", re.I)
_GRADIENT_TESTS = regex(r"gradient|test_autograd|functorch/test_(?:ops|eager|aot)")


class Mode(NamedTuple):
    """The names of a mode of differentiation in the tree."""

    kind: str
    """The kind of formulas."""
    noun: str
    flags: tuple[str, ...]
    """The OpInfo flags that enable its tests."""
    said: re.Pattern[str]
    """Words in tests that are expected to fail without it."""
    ending: str
    """The suffix of functions in FunctionsManual."""


REVERSE = Mode(
    "gradient",
    "gradient",
    ("supports_autograd", "supports_gradgrad"),
    regex(r"derivative|test_grad|vjp|BwdGrad|TestGradients|test_fn_grad", re.I),
    "backward",
)
FORWARD = Mode(
    "forward",
    "forward-mode formula",
    ("supports_forward_ad", "supports_fwgrad_bwgrad"),
    regex(r"forward[- ]?(?:mode|AD)|jvp|FwdGrad|fwgrad", re.I),
    "jvp",
)


@dataclass
class FormulaTests:
    """What an operator's tests say about one mode."""

    tree: Tree
    change: Change
    op: str
    mode: Mode

    def steps(self) -> Iterator[ChangeStep]:
        """The places that say it is missing."""
        yield from (
            self._flags() if self._opinfos else inputs(self.tree, self.change, self.mode.noun)
        )
        yield from self._skips()
        yield from self._expected()
        yield from self._docs()

    @cached_property
    def _opinfos(self) -> list[Found]:
        found = self.tree.opinfos(self.op)
        return [one for one in found if not one[1].symbol.startswith("_refs.")]

    def _flags(self) -> Iterator[ChangeStep]:
        """The OpInfo flags that disable the mode's tests."""
        for path, fact in self._opinfos:
            lines = self.tree.lines_of(place_of((path, fact)))
            edits = list(flag_edits(lines, fact.line, self.mode))
            if edits:
                code = edited(self.tree, path, edits)
                what = f"set {', '.join(flags_of(edits))} in the OpInfo {fact.symbol}"
                why = "the tests of this mode run for the OpInfos that set it"
                yield ChangeStep("edit", Location(path, edits[0].first), what, code, why)

    def _skips(self) -> Iterator[ChangeStep]:
        for path, fact in self._opinfos:
            last = max(fact.line, fact.end_line)
            for row in opinfo_rows(self.tree.text(path), path):
                text = "\n".join(self.tree.lines_of(row.place))
                if fact.line <= row.place.line <= last and self.mode.said.search(text):
                    what = f"remove the {row.excuse} of {row.test}, if it passes now"
                    why = f"the OpInfo says that it fails{row.reason and f': {row.reason}'}"
                    code = without_row(self.tree, row.place)
                    yield ChangeStep("edit", row.place, what, code, why)

    def _expected(self) -> Iterator[ChangeStep]:
        names, seen = self.tree.opinfo_names(self.op), set()
        for path in (path for like in _EXPECTING for path in self.tree.paths(like)):
            found = list(about(expected_failures(self.tree.text(path), path), names))
            for one in found:
                words = f"{one.group} {one.comment}"
                if self.mode.said.search(words) and self._is_meant(one.comment):
                    seen.add(one.location)
                    what = f"remove the expected failure of {one.group}"
                    why = one.comment or "it expects a failure, as the formula is missing"
                    yield self._without(one.location, what, why)

        for place in self.change.gap.evidence if self.change.gap else ():
            if place.path.startswith(("test/", "functorch/test/")) and place not in seen:
                yield self._without(place, "remove the expected failure", "it shows the gap")

    def _without(self, place: Location, what: str, why: str) -> ChangeStep:
        """The removal of a row; without a diff if more stands on its lines."""
        lines = self.tree.lines_of(place)
        code = removed(self.tree, place) if _is_one_call("\n".join(lines)) else ()
        return ChangeStep("remove", place, what, code, why)

    def _docs(self) -> Iterator[ChangeStep]:
        """The first line of each docstring that speaks of gradients."""
        names = self.tree.names(self.op)
        rows = (found for name in names for found in self.tree.python.by_target(name))
        for place in (place_of(found) for found in rows if found[1].kind == "docs"):
            lines = enumerate(self.tree.lines_of(place), place.line)
            if at := next((n for n, text in lines if _OF_GRADIENTS.search(text)), 0):
                what = "see whether what its docs say of gradients is true then"
                yield ChangeStep("read", Location(place.path, at), what)

    def _is_meant(self, comment: str) -> bool:
        """Whether a comment names this operator or mode; without a name it may be about others."""
        return self.tree.natives[self.op].name in comment or bool(self.mode.said.search(comment))

    def runs(self) -> tuple[TestRun, ...]:
        """Its gradient tests, those of the mode first."""
        runs = operator_runs(self.tree, self.op)
        wanted = "fwd" if self.mode is FORWARD else "gradients"
        wide = "test_ops" if self._opinfos else ""
        found = [run for run in runs if _GRADIENT_TESTS.search(run.path) or wide in run.path]
        found.sort(key=lambda run: wanted not in run.path)
        if not any(run.path == _AUTOGRAD for run in found) and self.tree.source.holds(_AUTOGRAD):
            why, name = "tests of formulas that are written by hand stand there", self.change.name
            named = re.search(rf"def test_\w*{name}", self.tree.text(_AUTOGRAD))
            chosen = f" -k {name}" if named else ""
            found.append(TestRun(f"pytest {_AUTOGRAD}{chosen}", _AUTOGRAD, why))
        return tuple(found)


def below_dtypes(lines: Sequence[str]) -> int | None:
    """The line of an OpInfo's dtypes, behind which a flag may be added."""
    return next((n for n, line in enumerate(lines) if re.match(r"\s*dtypes=.*,\s*$", line)), None)


def _is_one_call(text: str) -> bool:
    """Whether lines of a list are one row, perhaps with a comma and a comment behind it."""
    try:
        row = parse_expression(text.strip())
    except SyntaxError:
        return False
    rows = row.elts if isinstance(row, ast.Tuple) else [row]
    return len(rows) == 1 and isinstance(rows[0], ast.Call)


def flags_of(edits: Iterable[Edit]) -> list[str]:
    """The flags that edits set."""
    return [line.partition("=")[0].strip() for edit in edits for line in edit.lines]


def flag_edits(lines: Sequence[str], first: int, mode: Mode) -> Iterator[Edit]:
    """Edits that enable flags: those set to False, and missing forward-mode flags."""
    text = "\n".join(lines)
    for flag in mode.flags:
        for at, line in enumerate(lines):
            if re.search(rf"\b{flag}\s*=\s*False", line):
                yield Edit(first + at, first + at, (re.sub(r"=\s*False", "=True", line),))
    unsaid = [
        flag for flag in mode.flags if mode is FORWARD and not re.search(rf"\b{flag}\b", text)
    ]
    below = below_dtypes(lines)
    if unsaid and below is not None:
        indent = margin(lines[below])
        yield Edit(first + below + 1, first + below, tuple(f"{indent}{f}=True," for f in unsaid))
