"""Formulas of derivatives.yaml: a gradient that an operator lacks, or one for forward mode."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from indexes.linking.python.paths import Found
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, DerivativeEntry, Formula, Location
from indexes.queries.changes.diffs import Edit, edited, inserted, margin, removed
from indexes.queries.changes.homes import after
from indexes.queries.changes.model import Change, ChangeStep, Neighbour, Parts, TestRun
from indexes.queries.changes.python.nearest import Near, nearest
from indexes.queries.changes.test_runs import operator_runs
from indexes.queries.gaps.statements import about, expected_failures
from indexes.queries.gaps.tree import Tree

DERIVATIVES = "tools/autograd/derivatives.yaml"
_GENERATORS = "tools/autograd/gen_%.py"
_NEIGHBOURS = 3
_CODE = 40
_UNKNOWN = regex(r"not_implemented\(")
_CALL = regex(r"(?<![\w.])([a-z_]\w*)\(")
_GRADIENT_TESTS = regex(r"gradient|test_autograd|functorch/test_(?:ops|eager)")


class _Mode(NamedTuple):
    """What one of the two modes of differentiation is called in the tree."""

    kind: str
    """Of the formulas."""
    noun: str
    flags: tuple[str, ...]
    """Of an OpInfo, that have its tests run."""
    said: re.Pattern[str]
    """In tests that are expected to fail for want of it."""
    ending: str
    """Of a function in FunctionsManual."""


_REVERSE = _Mode(
    "gradient",
    "gradient",
    ("supports_autograd", "supports_gradgrad"),
    regex(r"derivative|test_grad|vjp|BwdGrad|TestGradients|test_fn_grad", re.I),
    "backward",
)
_FORWARD = _Mode(
    "forward",
    "forward-mode formula",
    ("supports_forward_ad", "supports_fwgrad_bwgrad"),
    regex(r"forward[- ]?(?:mode|AD)|jvp|FwdGrad|fwgrad", re.I),
    "jvp",
)


def gradient(tree: Tree, change: Change) -> Parts:
    """The plan of a gradient that is not there."""
    return _plan(tree, change, _REVERSE)


def forward(tree: Tree, change: Change) -> Parts:
    """The plan of a formula for forward mode."""
    return _plan(tree, change, _FORWARD)


def _plan(tree: Tree, change: Change, mode: _Mode) -> Parts:
    if change.op is None:
        return Parts((), missing=("no operator is known here",))
    new = _NewFormula(tree, change, change.op, mode)
    if there := new.there():
        return Parts((), there=there, title=f"{change.op} has a {mode.noun}")
    if new.entry is None and tree.is_composite(change.op):
        said = f"{change.op} is composite: it is differentiated through what it calls"
        return Parts((), there=tree.natives[change.op].location, title=said)
    return new.parts()


@dataclass
class _NewFormula:
    """A formula that is to be written, and what goes with it."""

    tree: Tree
    change: Change
    op: str
    mode: _Mode

    def parts(self) -> Parts:
        title = f"{self.mode.noun} of {self.op}"
        return Parts(
            tuple(self._steps()), tuple(self._neighbours()), tuple(self._tests()), title=title
        )

    @cached_property
    def entry(self) -> DerivativeEntry | None:
        """The operator's entry, as it is."""
        return self.tree.index.derivative(self.op)

    @property
    def name(self) -> str:
        return self.tree.natives[self.op].name

    def there(self) -> Location | None:
        """Where the formula already is."""
        known = [one for one in _formulas(self.entry, self.mode) if not _UNKNOWN.search(one.text)]
        missing = [o for o in _formulas(self.entry, self.mode) if _UNKNOWN.search(o.text)]
        return known[0].location if known and not missing else None

    # -------------------------------------------------------------------- the neighbour

    @cached_property
    def near(self) -> Sequence[Near]:
        """The operators most like it with a formula, the nearest first."""
        having = {
            self.tree.natives[entry.op].name
            for entry in self.tree.index.derivative_rows()
            if entry.op in self.tree.natives and _known(entry, self.mode)
        }
        return nearest(self.tree, self.op, having, _NEIGHBOURS)

    def _their_entry(self, near: Near) -> DerivativeEntry | None:
        ops = self.tree.overloads.get(near.name, [near.op])
        found = (self.tree.index.derivative(op) for op in (near.op, *ops))
        return next((one for one in found if one and _known(one, self.mode)), None)

    @cached_property
    def model(self) -> DerivativeEntry | None:
        """The nearest one's entry."""
        return next((e for near in self.near if (e := self._their_entry(near))), None)

    def _neighbours(self) -> Iterator[Neighbour]:
        for near in self.near:
            if entry := self._their_entry(near):
                where = entry.location
                last = max(where.line, where.end_line, *(f.location.line for f in _all(entry)))
                lines = self.tree.lines(where.path, where.line, last)
                formula = _known(entry, self.mode)[0]
                yield Neighbour(
                    entry.op,
                    near.why,
                    where,
                    tuple(lines),
                    row=formula.location,
                    word=formula.text.strip("\"'"),
                )

    # --------------------------------------------------------------------------- steps

    def _steps(self) -> Iterator[ChangeStep]:
        yield self._yaml()
        yield from self._function()
        yield from self._lists()
        yield from self._flags()
        yield from self._skips()
        yield from self._expected()

    def _yaml(self) -> ChangeStep:
        like = _known(self.model, self.mode)[0].location if self.model else None
        why = "a draft: put the formula in its place"
        unknown = [one for one in _formulas(self.entry, self.mode) if _UNKNOWN.search(one.text)]
        if unknown:
            lines = {one.location.line: one for one in unknown}
            edits = [Edit(at, at, (self._redrafted(at, one),)) for at, one in lines.items()]
            code = edited(self.tree, unknown[0].location.path, edits)
            what = f"write the {self.mode.noun} of {self.op} in place of not_implemented"
            return ChangeStep("edit", unknown[0].location, what, code, why, like)
        if self.entry:
            place = self._end(self.entry)
            indent = next((margin(self.tree.line(one.location)) for one in _all(self.entry)), "  ")
            code = inserted(self.tree, place, [f"{indent}{line}" for line in self._drafts()])
            what = f"add a {self.mode.noun} to the entry of {self.entry.op}"
            return ChangeStep("edit", place, what, code, why, like)
        return self._new_entry(why, like)

    def _redrafted(self, line: int, formula: Formula) -> str:
        return f"{margin(self.tree.line(formula.location))}{self._draft(formula.inputs)}"

    def _end(self, entry: DerivativeEntry) -> Location:
        """The last line of the formulas that the Default key has."""
        path, plain = entry.location.path, [one for one in entry.sets if one.key == "Default"]
        formulas = plain[0].formulas if plain else tuple(_all(entry))
        line = max((one.location.line for one in formulas), default=entry.location.line)
        depth = len(margin(self.tree.line(formulas[0].location))) if formulas else len("  ")
        for text in self.tree.lines(path, line + 1):
            if not text.strip() or len(margin(text)) <= depth:
                break
            line += 1
        return Location(path, line)

    def _new_entry(self, why: str, like: Location | None) -> ChangeStep:
        """The file is in the order of names."""
        entries = [one for one in self.tree.index.derivative_rows() if _name(one) < self.name]
        above = max(entries, key=_name) if entries else None
        path = self.tree.source.locate("derivatives.yaml") or DERIVATIVES
        last = self._end(above).line if above else 0
        lines = ["", f"- name: {self.tree.natives[self.op].schema}"]
        lines += [f"  {line}" for line in self._drafts()]
        place = Location(path, last)
        what = f"add an entry for {self.op}"
        return ChangeStep("add", place, what, inserted(self.tree, place, lines), why, like)

    def _drafts(self) -> list[str]:
        if self.mode is _FORWARD:
            return [self._draft((output,)) for output in self._outputs()]
        return [self._draft((one,)) for one in self._inputs()]

    def _draft(self, of: Sequence[str]) -> str:
        """A formula that calls a function still to be written; for an elementwise operator in
        forward mode torchgen derives it from the gradient."""
        if self.mode is _FORWARD and "pointwise" in self.tree.natives[self.op].tags:
            return f"{', '.join(of)}: auto_element_wise"
        arguments = [a.name for a in self.tree.schemas[self.op].arguments]
        if self.mode is _FORWARD:
            tangents = [f"{one}_p, {one}_t" for one in self._inputs()]
            rest = [one for one in arguments if one not in self._inputs()]
            return f"{', '.join(of)}: {self._symbol}({', '.join([*tangents, *rest])})"
        return f"{', '.join(of)}: {self._symbol}({', '.join(['grad', *arguments])})"

    @property
    def _symbol(self) -> str:
        return f"{self.name.strip('_')}_{self.mode.ending}"

    def _inputs(self) -> list[str]:
        """The inputs that it is differentiated by: those of its gradient, where it has one."""
        if known := [name for one in _known(self.entry, _REVERSE) for name in one.inputs]:
            return known
        arguments = self.tree.schemas[self.op].arguments
        return [a.name for a in arguments if a.base_type == "Tensor" and not a.is_out]

    def _outputs(self) -> list[str]:
        """The names by which formulas call the outputs."""
        returns = self.tree.schemas[self.op].returns
        plain = "result" if len(returns) == 1 else "result{}"
        tensors = [(at, one) for at, one in enumerate(returns) if one.base_type == "Tensor"]
        return [one.name or plain.format(at) for at, one in tensors]

    # --------------------------------------------------------------- FunctionsManual

    def _function(self) -> Iterator[ChangeStep]:
        """The function that a formula calls, where the neighbour's or its own gradient stands in a
        file of such functions."""
        if self.mode is _FORWARD and "pointwise" in self.tree.natives[self.op].tags:
            return
        models = [*self._called(self.entry), *self._called(self.model)]
        for one in models[:1]:
            code = tuple(self.tree.lines_of(one.location)[:_CODE])
            what = f"write {self._symbol}; this is {one.name}"
            why = "a formula that is more than an expression calls a function of this file"
            yield ChangeStep("add", after(one), what, code, why, one.location)
            header = re.sub(r"\.cpp$", ".h", one.location.path)
            lines = self.tree.lines(header)
            at = next((n for n, t in enumerate(lines, 1) if re.search(rf"\b{one.name}\(", t)), 0)
            if at and header != one.location.path:
                place = Location(header, at)
                yield ChangeStep("add", place, f"declare {self._symbol}", (), "", place)

    def _called(self, entry: DerivativeEntry | None) -> list[Definition]:
        """The functions of hand-written C++ that its formulas call."""
        if entry is None:
            return []
        names = {name for one in _all(entry) for name in _CALL.findall(one.text)}
        found = self.tree.index.formula_functions(entry)
        return [
            d
            for d in found
            if d.name in names and d.location.path.endswith(".cpp") and d.name != "not_implemented"
        ]

    # ------------------------------------------------------------------------ generators

    def _lists(self) -> Iterator[ChangeStep]:
        """The lists of operators in the generators: of those without a derivative it must go; to
        those that the neighbour stands in it may belong."""
        theirs = {self.tree.natives[self.model.op].name} if self.model else set()
        for path in self.tree.paths(_GENERATORS):
            rows = list(_rows(self.tree.lines(path), {self.name, *theirs}))
            mine = {table for table, name, _, _ in rows if name == self.name}
            for table, name, line, alone in rows:
                place = Location(path, line)
                if name == self.name and "DONT_REQUIRE" in table and self.mode is _REVERSE:
                    code = removed(self.tree, place) if alone else ()
                    what = f"take {name} out of {table}"
                    yield ChangeStep("remove", place, what, code, "it has a derivative from now on")
                elif name in theirs and table not in mine and self._may_join(table):
                    what = f"add {self.name} to {table}, if its gradient is right for that"
                    yield ChangeStep("edit", place, what, (), f"{name} stands there", place)

    def _may_join(self, table: str) -> bool:
        return self.mode is _REVERSE and "IMPLEMENTED" in table

    # ---------------------------------------------------------------------- OpInfo, tests

    @cached_property
    def _opinfos(self) -> list[Found]:
        found = self.tree.opinfos(self.op)
        return [one for one in found if not one[1].symbol.startswith("_refs.")]

    def _flags(self) -> Iterator[ChangeStep]:
        """The flags of its OpInfos that keep tests of the mode from running."""
        for path, fact in self._opinfos:
            lines = self.tree.lines(path, fact.line, max(fact.line, fact.end_line))
            edits = list(_flag_edits(lines, fact.line, self.mode))
            if edits:
                code = edited(self.tree, path, edits)
                what = f"say {', '.join(self.mode.flags)} in the OpInfo {fact.symbol}"
                why = "the tests of this mode run for the OpInfos that say so"
                yield ChangeStep("edit", Location(path, edits[0].first), what, code, why)

    def _skips(self) -> Iterator[ChangeStep]:
        """What its OpInfos skip for want of it."""
        for path, fact in self._opinfos:
            lines = self.tree.lines(path, fact.line, max(fact.line, fact.end_line))
            for at, text in enumerate(lines, fact.line):
                if self.mode.said.search(text) and re.match(r"\s*(?:[\"']|DecorateInfo)", text):
                    what = "remove the skip or expected failure, if it passes now"
                    why = f"the OpInfo says of {text.strip()[:60]} that it fails"
                    yield ChangeStep("edit", Location(path, at), what, (), why)

    def _expected(self) -> Iterator[ChangeStep]:
        """Rows of tests that expect it to fail."""
        names, seen = self.tree.opinfo_names(self.op), set()
        for path in (*self.tree.paths("test/functorch/test_%.py"), *self._older):
            found = list(about(expected_failures(self.tree.text(path), path), names))
            for one in found:
                said = f"{one.group} {one.comment}"
                if self.mode.said.search(said) and self._is_meant(one.comment):
                    text = self.tree.line(one.location)
                    code = removed(self.tree, one.location) if text.count("(") == 1 else ()
                    seen.add(one.location)
                    what = f"remove the expected failure of {one.group}"
                    why = one.comment or "it expects to fail for want of a formula"
                    yield ChangeStep("remove", one.location, what, code, why)

        for place in self.change.gap.evidence if self.change.gap else ():
            if place.path.startswith(("test/", "functorch/test/")) and place not in seen:
                yield ChangeStep(
                    "remove", place, "remove the expected failure", (), "it shows the gap"
                )

    @property
    def _older(self) -> tuple[str, ...]:
        return self.tree.paths("functorch/test/test_%.py")

    def _is_meant(self, comment: str) -> bool:
        """Whether a comment names this operator or its mode; one without may be about others."""
        return self.name in comment or bool(self.mode.said.search(comment))

    def _tests(self) -> Iterable[TestRun]:
        runs = operator_runs(self.tree, self.op)
        wanted = "fwd" if self.mode is _FORWARD else "gradients"
        return sorted(
            (run for run in runs if _GRADIENT_TESTS.search(run.path) or "test_ops" in run.path),
            key=lambda run: wanted not in run.path,
        )


def _all(entry: DerivativeEntry) -> list[Formula]:
    return [formula for one in entry.sets for formula in one.formulas]


def _formulas(entry: DerivativeEntry | None, mode: _Mode) -> list[Formula]:
    sets = entry.sets if entry else ()
    return [f for one in sets if one.key == "Default" for f in one.formulas if f.kind == mode.kind]


def _known(entry: DerivativeEntry | None, mode: _Mode) -> list[Formula]:
    return [one for one in _formulas(entry, mode) if not _UNKNOWN.search(one.text)]


def _name(entry: DerivativeEntry) -> str:
    return entry.op.partition(".")[0]


_LIST = regex(r"^(\w+)\s*(?::[^=]+)?=\s*[\[{(]")
_ITEM = regex(r"[\"'](\w+)[\"']")


def _rows(lines: Sequence[str], names: set[str]) -> Iterator[tuple[str, str, int, bool]]:
    """(list, name, line, whether it stands there alone) where a list of a module names one."""
    table = ""
    for number, text in enumerate(lines, 1):
        if match := _LIST.match(text):
            table = match[1]
        elif text[:1] in "])}" and text.strip():
            table = ""
        items = _ITEM.findall(text.partition("#")[0]) if table else []
        for name in items:
            if name in names:
                yield table, name, number, len(items) == 1


def _flag_edits(lines: Sequence[str], first: int, mode: _Mode) -> Iterator[Edit]:
    """The edits that switch flags on: those said to be False, and those of forward mode that are
    not said."""
    text = "\n".join(lines)
    for flag in mode.flags:
        for at, line in enumerate(lines):
            if re.search(rf"\b{flag}\s*=\s*False", line):
                yield Edit(first + at, first + at, (re.sub(r"=\s*False", "=True", line),))
    unsaid = [
        flag for flag in mode.flags if mode is _FORWARD and not re.search(rf"\b{flag}\b", text)
    ]
    below = next((n for n, line in enumerate(lines) if re.match(r"\s*dtypes=.*,\s*$", line)), None)
    if unsaid and below is not None:
        indent = margin(lines[below])
        yield Edit(first + below + 1, first + below, tuple(f"{indent}{f}=True," for f in unsaid))
