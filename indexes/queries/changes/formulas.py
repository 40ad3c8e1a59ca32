"""Plans of formulas in derivatives.yaml: a missing gradient, or one for forward mode."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from indexes.linking.facts import TO_OPERATORS
from indexes.linking.graph import DEVICES
from indexes.model.files import module_name
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, DerivativeEntry, Formula, Location
from indexes.queries.changes.diffs import Edit, edited, inserted, margin, removed
from indexes.queries.changes.formula_tests import FORWARD, REVERSE, FormulaTests, Mode
from indexes.queries.changes.kernel_files import after
from indexes.queries.changes.kernels import operators_below
from indexes.queries.changes.model import Change, ChangeStep, Neighbour, Parts, Planner
from indexes.queries.changes.python.nearest import Near, nearest
from indexes.queries.changes.related import computed
from indexes.queries.contribution.helpers import definitions_at
from indexes.queries.contribution.operator_places import formula_files
from indexes.queries.gaps.tree import Tree
from indexes.queries.impact.rebuild import NATIVE
from indexes.readers.python.operator_lists import ListRow, OperatorList, read_operator_lists

DERIVATIVES = "tools/autograd/derivatives.yaml"
_GENERATORS = "tools/autograd/gen_%.py"
_NEIGHBOURS = 3
_CODE = 40
_FUNCTIONS = "a formula that is more than an expression calls a function of this file"
_MOST_BELOW = 4
"""Operators that a composite one calls."""
_FEW_USERS = 2
"""Files that call a helper of one gradient."""
_UNKNOWN = regex(r"not_implemented\(")
_WITHOUT, _COMPLETE = "DONT_REQUIRE", "IMPLEMENTED"
_TABLE = regex(rf"\w*(?:{_WITHOUT}|{_COMPLETE})\w*(?::[^=]*)? = ")
_CALL = regex(r"(?<![\w.])([a-z_]\w*)\(")


def planner(mode: Mode) -> Planner:
    """The planner of the formulas of a mode."""
    return lambda tree, change: _plan(tree, change, mode)


def _plan(tree: Tree, change: Change, mode: Mode) -> Parts:
    if change.op is None:
        return Parts((), missing=("the change names no operator",))
    new = _NewFormula(tree, change, change.op, mode)
    if there := new.there():
        steps, title = tuple(new.existing_steps()), f"{change.op} has a {mode.noun}"
        return Parts(steps, tests=new.suite.runs(), title=title, there=there)
    if new.entry is None and tree.is_composite(change.op):
        text = f"{change.op} is composite: it is differentiated through what it calls"
        steps = tuple(_below(tree, change, change.op, mode))
        return Parts(steps, there=tree.natives[change.op].location, title=text)
    return new.parts()


def _below(tree: Tree, change: Change, op: str, mode: Mode) -> Iterator[ChangeStep]:
    """Where the gradient of a composite operator is computed: the formulas of what it calls, and
    the kernels."""
    called = dict.fromkeys(one.op for one in operators_below(tree, op, "CPU") if not one.condition)
    for name in islice(called, _MOST_BELOW):
        yield from _NewFormula(tree, change, name, mode).existing_steps()
        yield from computed(tree, name)


@dataclass
class _NewFormula:
    """A formula to write, and what goes with it."""

    tree: Tree
    change: Change
    op: str
    mode: Mode

    def parts(self) -> Parts:
        title = f"{self.mode.noun} of {self.op}"
        return Parts(
            tuple(self._steps()), tuple(self._neighbours()), self.suite.runs(), title=title
        )

    @cached_property
    def entry(self) -> DerivativeEntry | None:
        return self.tree.index.derivative(self.op)

    @property
    def name(self) -> str:
        return self.tree.natives[self.op].name

    @cached_property
    def suite(self) -> FormulaTests:
        return FormulaTests(self.tree, self.change, self.op, self.mode)

    def there(self) -> Location | None:
        known = _known(self.entry, self.mode)
        whole = known == _formulas(self.entry, self.mode)
        return known[0].location if known and whole else None

    def existing_steps(self) -> Iterator[ChangeStep]:
        """The formulas, their functions, and kernels of operators they call, where a wrong gradient
        can be fixed."""
        formulas = _known(self.entry, self.mode)
        for one in formulas:
            yield ChangeStep("edit", one.location, f"{', '.join(one.inputs)}: {one.text}")
        for found in self._called(self.entry):
            yield ChangeStep("edit", found.location, f"{found.name} is called there")
            if place := self._declared(found):
                yield ChangeStep("read", place, f"{found.name} is declared here")
        yield from self._lists()
        for op in self._helping():
            yield from computed(self.tree, op)
        called = {name for one in formulas for name in _CALL.findall(one.text)}
        for op in (op for name in sorted(called) for op in self.tree.overloads.get(name, ())[:1]):
            rows = self.tree.kernels.get(op, {})
            for kernel in (k for key in DEVICES if key in rows for k in rows[key].definitions[:1]):
                what = f"{kernel.name} computes {op}, called there"
                yield ChangeStep("read", kernel.location, what)

    def _helping(self) -> list[str]:
        """The operators that its functions call and little else does: made for this gradient."""
        facts = self.tree.index.facts
        places = [one.location for one in self._called(self.entry)]
        known = (one for place in places for one in definitions_at(facts, place))
        edges = (edge for one in known for edge in facts.edges(one.id))
        called = dict.fromkeys(str(edge.target) for edge in edges if edge.kind in TO_OPERATORS)
        rare = (op for op in called if facts.files_using(op) <= _FEW_USERS)
        return [op for op in rare if op in self.tree.natives]

    # -------------------------------------------------------------------- the neighbour

    @cached_property
    def near(self) -> Sequence[Near]:
        """The most similar operators with a formula, nearest first."""
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
        yield from _checked(self.tree)
        yield from self._lists()
        yield from computed(self.tree, self.op)
        yield from self.suite.steps()

    def _yaml(self) -> ChangeStep:
        like = _known(self.model, self.mode)[0].location if self.model else None
        why = "a draft: put the formula in its place"
        unknown = [one for one in _formulas(self.entry, self.mode) if _UNKNOWN.search(one.text)]
        if unknown:
            lines = {one.location.line: self._redrafted(one) for one in unknown}
            edits = [Edit(at, at, (text,)) for at, text in lines.items()]
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

    def _redrafted(self, formula: Formula) -> str:
        return f"{margin(self.tree.line(formula.location))}{self._draft(formula.inputs)}"

    def _end(self, entry: DerivativeEntry) -> Location:
        """The last line of the Default key's formulas."""
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
        """A new entry, in the file's order of names."""
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
        if self.mode is FORWARD:
            return [self._draft((output,)) for output in self._outputs()]
        return [self._draft((one,)) for one in self._inputs()]

    def _draft(self, of: Sequence[str]) -> str:
        """A formula with a function still to write; for an elementwise operator torchgen derives
        forward mode from the gradient."""
        if self.mode is FORWARD and "pointwise" in self.tree.natives[self.op].tags:
            return f"{', '.join(of)}: auto_element_wise"
        arguments = [a.name for a in self.tree.schemas[self.op].arguments]
        if self.mode is FORWARD:
            tangents = [f"{one}_p, {one}_t" for one in self._inputs()]
            rest = [one for one in arguments if one not in self._inputs()]
            return f"{', '.join(of)}: {self._symbol}({', '.join([*tangents, *rest])})"
        return f"{', '.join(of)}: {self._symbol}({', '.join(['grad', *arguments])})"

    @property
    def _symbol(self) -> str:
        return f"{self.name.strip('_')}_{self.mode.ending}"

    def _inputs(self) -> list[str]:
        """The differentiable inputs, those of its gradient if it has one."""
        if known := [name for one in _known(self.entry, REVERSE) for name in one.inputs]:
            return known
        arguments = self.tree.schemas[self.op].arguments
        return [a.name for a in arguments if a.base_type == "Tensor" and not a.is_out]

    def _outputs(self) -> list[str]:
        """The names of outputs in formulas."""
        returns = self.tree.schemas[self.op].returns
        plain = "result" if len(returns) == 1 else "result{}"
        tensors = [(at, one) for at, one in enumerate(returns) if one.base_type == "Tensor"]
        return [one.name or plain.format(at) for at, one in tensors]

    # --------------------------------------------------------------- FunctionsManual

    def _function(self) -> Iterator[ChangeStep]:
        """The formula's function, if the model's or its own gradient has one in such a file."""
        if self.mode is FORWARD and "pointwise" in self.tree.natives[self.op].tags:
            return
        own = self._called(self.entry)
        models = own or self._called(self.model)
        if not models or (self.entry and not own):
            for path in formula_files(self.tree.index):
                what = f"write {self._symbol} here, unless an expression says it"
                yield ChangeStep("read", Location(path, 1), what, why=_FUNCTIONS)
            return
        for one in models[:1]:
            code = tuple(self.tree.lines_of(one.location)[:_CODE])
            what = f"write {self._symbol}; this is {one.name}"
            yield ChangeStep("add", after(one), what, code, _FUNCTIONS, one.location)
            if place := self._declared(one):
                yield ChangeStep("add", place, f"declare {self._symbol}", (), "", place)

    def _declared(self, one: Definition) -> Location | None:
        """Where the header of the same name declares a function."""
        header = re.sub(r"\.cpp$", ".h", one.location.path)
        lines = self.tree.lines(header) if header != one.location.path else []
        at = next((n for n, t in enumerate(lines, 1) if re.search(rf"\b{one.name}\(", t)), 0)
        return Location(header, at) if at else None

    def _called(self, entry: DerivativeEntry | None) -> list[Definition]:
        """The handwritten C++ functions of its formulas."""
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
        """Operator lists in the generators: to leave those without derivative, and perhaps to join
        the model's, or the one of all whose gradient is complete."""
        theirs = {self.tree.natives[self.model.op].name} if self.model else set()
        for path in self.tree.paths(_GENERATORS) if self.mode is REVERSE else ():
            found = self._tables(path)
            for one in found:
                own = next((row for row in one.rows if row.name == self.name), None)
                like = next((row for row in one.rows if row.name in theirs), None)
                if own and _WITHOUT in one.title:
                    yield self._removed(one.title, Location(path, own.line))
                elif not own and _COMPLETE in one.title and (like or one == max(found, key=_size)):
                    yield self._joining(one, like)

    def _joining(self, table: OperatorList, like: ListRow | None) -> ChangeStep:
        """Without a model in it, and for a gradient that is there, the list is only read: others
        are left out for a reason."""
        place = Location(table.path, like.line if like else table.end_line)
        if like is None or self.there():
            what = f"Does {table.title} still lack {self.name} rightly?"
            return ChangeStep("read", place, what, like=place)
        what = f"add {self.name} to {table.title}, if its gradient is right for that"
        return ChangeStep("edit", place, what, (), f"{like.name} is in it", place)

    def _removed(self, table: str, place: Location) -> ChangeStep:
        alone = self.tree.line(place).partition("#")[0].strip(" ,")[1:-1] == self.name
        code = removed(self.tree, place) if alone else ()
        what = f"remove {self.name} from {table}"
        return ChangeStep("remove", place, what, code, "it has a derivative from now on")

    def _tables(self, path: str) -> list[OperatorList]:
        """The lists of a module that say which operators have derivatives."""
        text = self.tree.text(path)
        lines = [n for n, line in enumerate(text.splitlines(), 1) if _TABLE.match(line)]
        return read_operator_lists(text, path, lines) if lines else []


_GENERATOR = "tools/autograd/gen_autograd.py"
_ARGUMENT = regex(r"add_argument\(\s*[\"'](\w+)[\"']")
_GIVEN = {
    "native_functions": NATIVE,
    "tags": "aten/src/ATen/native/tags.yaml",
    "out": '"$(mktemp -d)"',
    "autograd": "tools/autograd",
}
"""The arguments of the generator, by its own names."""


def _checked(tree: Tree) -> Iterator[ChangeStep]:
    """What the tree's own generator says of a changed formula, without a build."""
    names = _ARGUMENT.findall(tree.text(_GENERATOR))
    if names and all(name in _GIVEN for name in names):
        given = " ".join(_GIVEN[name] for name in names)
        command = f"python -m {module_name(_GENERATOR)} {given}"
        what, why = "see that the generator takes the formula", "it reads all, without a build"
        yield ChangeStep("run", Location(_GENERATOR, 1), what, (), why, command=command)


def _size(table: OperatorList) -> int:
    return len(table.rows) if _COMPLETE in table.title else 0


def _all(entry: DerivativeEntry) -> list[Formula]:
    return [formula for one in entry.sets for formula in one.formulas]


def _formulas(entry: DerivativeEntry | None, mode: Mode) -> list[Formula]:
    sets = entry.sets if entry else ()
    return [f for one in sets if one.key == "Default" for f in one.formulas if f.kind == mode.kind]


def _known(entry: DerivativeEntry | None, mode: Mode) -> list[Formula]:
    return [one for one in _formulas(entry, mode) if not _UNKNOWN.search(one.text)]


def _name(entry: DerivativeEntry) -> str:
    return entry.op.partition(".")[0]
