"""Plans of Python registrations for an operator: decompositions, refs, meta functions, lowerings.

The most similar operator with one shows where and how: file, decorators, lists, tests.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from textwrap import dedent

from indexes.linking.python.paths import Found, place_of
from indexes.model.files import module_name
from indexes.model.regex import IGNORECASE, regex
from indexes.model.schema import SchemaKind
from indexes.model.vocabulary import Location
from indexes.queries.changes.diffs import Edit, edited, in_order, inserted, margin, replaced
from indexes.queries.changes.model import (
    Action,
    Change,
    ChangeStep,
    Neighbour,
    Parts,
    Planner,
    TestRun,
)
from indexes.queries.changes.python.drafts import (
    Renaming,
    Style,
    decorators,
    for_others,
    function_lines,
    style_of,
    unknown_to,
)
from indexes.queries.changes.python.lists import PUBLIC, NamedRow, near_each_other, public_row
from indexes.queries.changes.python.memberships import Joined, Memberships, Subject
from indexes.queries.changes.python.mirrors import mirrored
from indexes.queries.changes.python.nearest import Near, nearest
from indexes.queries.changes.python.opinfo import inputs, python_ref, tests_of_new
from indexes.queries.changes.python.traits import place
from indexes.queries.changes.related import computed, neighbour, shared_modules
from indexes.queries.changes.test_runs import importing, operator_runs
from indexes.queries.contribution.by_name import tables_of
from indexes.queries.contribution.python_siblings import SiblingPlace, called_privately
from indexes.queries.gaps.tree import Tree
from indexes.readers.python.blocks import parse

_MOST_DOUBTFUL = 8
_FILES = 2
"""Test files run as a whole, if none has tests of the operator."""
_GIVEN = regex(r"\)\((\w+)\)\s*$")
"""The function passed to a decorator: ``register_lowering(aten.a)(b)``."""
_WRITTEN = ".expect"
"""Suffixes of files that tests write."""


def _is_written(row: NamedRow) -> bool:
    return row.location.path.endswith(_WRITTEN)


_EITHER: dict[str, tuple[str, Action, str]] = {
    "decomposition": ("ref", "edit", "Register the ref of {}, or write its own decomposition."),
    "ref": ("decomposition", "read", "See the decomposition of {}, which the ref may replace."),
}


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of registration."""

    subject: Subject
    noun: str
    tests: str
    """A pattern of test files about it."""

    @property
    def kind(self) -> str:
        return self.subject.kind


DECOMPOSITION = Rule(
    Subject("decomposition", r"decomp|aot|proxy|symbolic|inductor"),
    "decomposition",
    r"decomp|proxy|aotdispatch",
)
REF = Rule(Subject("ref", r"_refs?\b|_refs/|python_ref"), "ref", r"test_ops\.py|ufunc|reductions")
META = Rule(
    Subject("meta", r"meta|fake|proxy|symbolic|aot"),
    "meta function",
    r"meta|fake|proxy|aotdispatch",
)
LOWERING = Rule(Subject("lowering", r"inductor"), "lowering", r"inductor")


def planner(rule: Rule) -> Planner:
    """The planner of a kind of registration."""
    return lambda tree, change: RulePlan(tree, change, rule).parts()


class RulePlan:
    """The plan of one Python registration."""

    def __init__(self, tree: Tree, change: Change, rule: Rule) -> None:
        assert change.op
        self._tree = tree
        self._change = change
        self._op = change.op
        self._native = tree.natives[change.op]
        self._name = self._native.name
        self._rule = rule
        tested = [place_of(one) for one in tree.opinfos(change.op)]
        places = change.gap.evidence if change.gap else ()
        shown = frozenset((one.path, one.line) for one in places if one not in tested)
        self._subject = replace(rule.subject, shown=shown)
        self._module = cache(self._parsed)
        self._lists = Memberships(tree)
        self._near = sorted(nearest(tree, self._op, self._having()), key=self._is_made_of_another)
        self._own = self._lists.lists.names(self._op)

    def parts(self) -> Parts:
        """The steps in the order of work, the models and the tests."""
        title = f"{self._rule.noun} of {self._name}"
        rows = self._lists.rows(self._own, self._near, self._subject)
        there = self._existing()
        if there and not self._change.gap:
            edit = ChangeStep("edit", there, f"The {self._rule.noun} of {self._name}.")
            failing = self._failing(self._lists.failing(self._subject, self._own, rows))
            known = (edit, *self._beside(there), *failing)
            return Parts(known, tests=tuple(self._tests()), title=title, there=there)
        writing = (*self._ref_to_register(), *self._to_write(), *self._of_ref(), *self._elsewhere())
        called = shared_modules(self._tree, self._models())
        listed = self._list_steps(rows)
        steps = (*self._to_read(), *writing, *listed, *self._inputs(), *called)
        made = tuple(self._neighbours()), tuple(self._tests()), tuple(self._missing())
        return Parts(steps, *made, title)

    def _having(self) -> Collection[str]:
        """The names of the operators that may be models."""
        return self._lists.traits.having(self._rule.kind)

    def _existing(self) -> Location | None:
        found = self._lists.traits.found(self._rule.kind).get(self._name)
        return place(found[0]) if found else None

    def _beside(self, there: Location) -> Iterator[ChangeStep]:
        """What the existing one shares with others."""
        return iter(())

    # --------------------------------------------------------------------- neighbours

    def _place(self, one: Near) -> Location:
        return place(self._registered(one))

    def _registered(self, one: Near) -> Found:
        """The model's place: the function before what a helper makes of it."""
        found = self._lists.traits.found(self._rule.kind)[one.name]
        return min(found, key=lambda f: (f[1].symbol.endswith("_"), not f[1].end_line))

    def _is_made_of_another(self, one: Near) -> bool:
        """Whether a helper makes the model's from another operator's, so that it is no model."""
        path, fact = self._registered(one)
        if self._tree.line(Location(path, fact.line))[:1].isspace():  # inside of another function
            return True
        last = 0 if fact.end_line else self._end(self._place(one))
        text = "\n".join(self._tree.lines(path, fact.line, last)) if last else ""
        given = _GIVEN.search(text)
        made = given[1] if given else text.partition("=")[2]
        return bool(made) and not regex(rf"\b{one.name}\b").search(made)

    def _neighbours(self) -> Iterator[Neighbour]:
        for one in self._near[:2]:
            where = self._place(one)
            row = Location(where.path, where.line)
            yield neighbour(self._tree, one.op, one.why, where, row, f"aten.{one.name}")

    # -------------------------------------------------------------------------- steps

    def _to_read(self) -> Iterator[ChangeStep]:
        """The evidence, and the operator's C++ code."""
        where = self._change.gap.location if self._change.gap else self._native.location
        yield ChangeStep("read", where, f"See what {self._name} is: {self._native.schema}")
        yield from computed(self._tree, self._op)

    def _to_write(self) -> Iterator[ChangeStep]:
        if not self._near:
            return
        one = self._near[0]
        found = self._registered(one)
        where = place(found)
        end, made = Location(where.path, self._end(where)), self._is_made_of_another(one)
        code = () if made else inserted(self._tree, end, self._draft(one, found))
        what = f"Add the {self._rule.noun} of {self._name}, after that of {one.name}."
        what += " That is made of another operator's: ours needs one of its own." if made else ""
        last = found[1].symbol.rpartition(".")[2]
        what += for_others(self._module(where.path), last, self._tree.schemas[self._op])
        what += unknown_to(self._tree.text(where.path), code)
        why = f"{one.name} is {one.why}"
        yield ChangeStep("add", Location(where.path, where.end_line), what, code, why, where)
        yield from self._listed(one, found)

    def _listed(self, one: Near, found: Found) -> Iterator[ChangeStep]:
        """The file's public names, if they include the model's."""
        last = found[1].symbol.rpartition(".")[2]
        if row := public_row(self._tree, found[0], last):
            name = self._renaming(one.name).function(last)
            line = self._tree.line(row).replace(last, name)
            code = inserted(self._tree, in_order(self._tree.lines(row.path), row, line), [line])
            yield ChangeStep("add", row, f"Add {name} to {PUBLIC}, which has {last}.", code)

    def _ref_to_register(self) -> Iterator[ChangeStep]:
        """Its ref, which may also be its decomposition, or vice versa."""
        other, action, what = _EITHER.get(self._rule.kind, ("", "read", ""))
        for one in self._lists.traits.found(other).get(self._name, ())[:1] if other else ():
            text = what.format(self._name)
            yield ChangeStep(action, place(one), text, why="many refs are decompositions too")

    def _of_ref(self) -> Iterator[ChangeStep]:
        """What goes with a ref: its prim, and its test entry."""
        near = self._near[0] if self._rule.kind == REF.kind and self._near else None
        if near and not self._is_made_of_another(near):
            last = self._registered(near)[1].symbol.rpartition(".")[2]
            called = called_privately(self._tree.index, self._place(near), last)
            for prim in (one for one in called if one.name.endswith(f".{last}")):
                yield from self._prim(near, prim, last)
            yield from mirrored(self._tree, self._native, self._place(near).path)
            for table in islice(tables_of(self._tree.corpus, self._place(near).path), _FILES):
                what = f"See whether {self._name} belongs here too: it {table.rule}."
                yield ChangeStep("read", table.location, what)
        if self._rule.kind == REF.kind:
            yield from python_ref(self._tree, self._change, self._near)

    def _prim(self, near: Near, theirs: SiblingPlace, last: str) -> Iterator[ChangeStep]:
        where, ours = theirs.location, self._renaming(near.name).function(last)
        end = Location(where.path, self._end(where._replace(end_line=where.line)))
        if not re.search(rf"(?m)^(?:def )?{ours}\b(?=\(| = )", self._tree.text(where.path)):
            lines = self._tree.lines(where.path, where.line, end.line)
            added = ["", *(re.sub(rf"\b{last}\b", ours, line) for line in lines)]
            is_plain = lines[0].startswith(f"{last} = ") and f"_{last}" not in "".join(lines)
            code = inserted(self._tree, end, added) if is_plain else ()
            what = f"Add {theirs.name.rpartition('.')[0]}.{ours}, unless other prims compute it."
            yield ChangeStep("add", end, what, code, f"the ref of {near.name} calls its own", where)

    def _elsewhere(self) -> Iterator[ChangeStep]:
        """Another file with such functions of similar operators."""
        places = [(one, self._place(one)) for one in self._near]
        others = ((one, where) for one, where in places if where.path != places[0][1].path)
        for one, where in list(others)[:1]:
            what = f"Or add it here, after that of {one.name}."
            yield ChangeStep("read", where, what, why=f"{one.name} is {one.why}")

    def _models(self) -> Iterator[str]:
        for path, fact in map(self._registered, self._near):
            yield f"{module_name(path)}.{fact.symbol.rpartition('.')[2]}"

    def _end(self, where: Location) -> int:
        """The last line of a statement that a helper's fact gives one line of."""
        return getattr(self._statement(where), "end_lineno", where.end_line)

    def _statement(self, where: Location) -> ast.stmt | None:
        module = self._module(where.path)
        for node in module.body if module else ():
            if node.lineno <= where.end_line <= (node.end_lineno or 0):
                return node
        return None

    def _draft(self, one: Near, found: Found) -> tuple[str, ...]:
        path, fact = found
        where = place(found)
        to = self._renaming(one.name)
        if not fact.end_line:  # a call of a helper, in one statement
            return tuple(map(to.given, self._tree.lines(path, fact.line, self._end(where))))
        decorated = getattr(self._statement(where), "decorator_list", ())
        first = min((one.lineno for one in decorated), default=where.line)
        head = "\n".join(self._tree.lines(path, first, fact.line - 1))
        indent = margin(head)
        name = to.function(fact.symbol.rpartition(".")[2])
        made = (
            *decorators(dedent(head).splitlines(), to),
            *function_lines(name, self._tree.schemas[self._op], self._style(path)),
            f'    raise NotImplementedError("{self._name}: what its kernel computes")',
        )
        return ("", "", *(f"{indent}{line}" for line in made))

    def _renaming(self, old: str) -> Renaming:
        overloads = self._tree.overloads[self._name]
        schema = self._tree.schemas[self._op]
        outs = (self._tree.schemas[one] for one in overloads)
        out = next(
            (s for s in outs if s.out_arguments and s.signature() == schema.signature()), None
        )
        names = tuple(one.name for one in out.out_arguments) if out else ()
        return Renaming(old, self._name, frozenset(overloads), schema, names)

    def _style(self, path: str) -> Style:
        pairs = [
            (fact.symbol.rpartition(".")[2], self._tree.schemas[self._tree.overloads[name][0]])
            for name, rows in self._lists.traits.found(self._rule.kind).items()
            for where, fact in rows
            if where == path
        ]
        module = self._module(path)
        return style_of(module, pairs) if module else Style()

    def _parsed(self, path: str) -> ast.Module | None:
        try:
            return parse(self._tree.text(path))
        except SyntaxError:
            return None

    # -------------------------------------------------------------------------- lists

    def _list_steps(self, rows: Collection[NamedRow]) -> Iterator[ChangeStep]:
        subject, kind = self._subject, self._rule.kind
        words = regex(subject.words, IGNORECASE)
        found = [
            one
            for one in self._lists.joined(kind, self._own, self._near, rows)
            if words.search(f"{one.row.list.path} {one.row.list.title}")
        ]
        entries = {place_of(f)[:2] for near in self._near for f in self._tree.opinfos(near.op)}
        joined = [one for one in found if one.usual and one.row.location[:2] not in entries]
        left = list(self._lists.left(subject, self._own, rows))
        yield from (self._join(one) for one in joined if not _is_written(one.row))
        yield from map(self._leave, near_each_other([r for r in left if not _is_written(r)]))
        for path in dict.fromkeys(r.location.path for r in (*left, *(j.row for j in joined))):
            if path.endswith(_WRITTEN):
                yield self._accept(path, [r for r in left if r.location.path == path])
        for one in (one for one in found if not one.usual):
            what = f"{one.row.name} is in {one.row.list.title}, similar ones are not: decide."
            yield ChangeStep("read", one.row.location, what)
        yield from self._failing(self._lists.doubtful(subject, self._own, rows))

    def _failing(self, rows: Iterable[NamedRow]) -> Iterator[ChangeStep]:
        for row in islice(rows, _MOST_DOUBTFUL):
            what = f"{row.list.title} says that {row.row.name} fails: drop the row if it passes."
            yield ChangeStep("read", row.location, what)

    def _join(self, joined: Joined) -> ChangeStep:
        row = joined.row
        lines = [*map(self._renaming(row.name).words, self._tree.lines_of(row.location))]
        after = in_order(self._tree.lines(row.location.path), row.location, lines[0])
        code = inserted(self._tree, after, lines)
        what = f"Add {self._name} to {row.list.title}, which has {row.name}."
        why = f"{joined.having} of its {joined.operators} operators have a {self._rule.noun}"
        return ChangeStep("add", row.location, what, code, why, row.location)

    def _leave(self, rows: Sequence[NamedRow]) -> ChangeStep:
        names = dict.fromkeys(row.row.name for row in rows)
        titles = dict.fromkeys(row.list.title for row in rows)
        what = f"Remove {' and '.join(names)} from {' and '.join(titles)}."
        why = f"it lists what has no {self._rule.noun}"
        edits = {Edit(row.location.line, row.location.end_line, ()) for row in rows}
        where = rows[0].location
        return ChangeStep("remove", where, what, edited(self._tree, where.path, edits), why)

    def _accept(self, path: str, left: Sequence[NamedRow]) -> ChangeStep:
        """A file that its test writes: ``TestClass.test_name.expect``."""
        test = path.rpartition("/")[2].removesuffix(_WRITTEN).partition("-")[0]
        lines = self._tree.lines(path)
        gone = {row.location.line for row in left}
        kept = [line for at, line in enumerate(lines, 1) if at not in gone]
        if not left:
            kept = sorted({*lines, *(f"aten::{one}" for one in self._variants())})
        first = min(gone, default=0)
        action: Action = "remove" if left else "add"
        text = "is there no longer" if left else "joins"
        what = f"Have {test} rewrite its file: {self._name} {text}."
        code = replaced(self._tree, Location(path, 1, len(lines)), kept)
        where = next((f.location for f in self._tree.index.find(test.partition(".")[0], 5)), None)
        command = f"EXPECTTEST_ACCEPT=1 python {where.path} {test}" if where else ""
        return ChangeStep(action, Location(path, first), what, code, command=command)

    def _variants(self) -> list[str]:
        kinds = (SchemaKind.FUNCTIONAL, SchemaKind.OUT)
        overloads = self._tree.overloads[self._name]
        return [one for one in overloads if self._tree.schemas[one].kind in kinds]

    # -------------------------------------------------------------------------- tests

    def _inputs(self) -> Iterator[ChangeStep]:
        """The OpInfo to write; for a decomposition also the one that is there, as two in five
        commits to decompositions edit OpInfos."""
        for own in self._tree.opinfos(self._op)[: self._rule is DECOMPOSITION]:
            what = "See its OpInfo: tests take its inputs, and leave out what it says to fail."
            yield ChangeStep("read", place_of(own), what)
        if not self._tree.opinfos(self._op):
            yield from inputs(self._tree, self._change, self._rule.noun)

    def _tests(self) -> Iterator[TestRun]:
        """The tests about such registrations: of the operator, or whole files if none is made for
        it."""
        runs = operator_runs(self._tree, self._op)
        if not self._tree.opinfos(self._op):  # its OpInfo is to be written: these then run
            runs += tests_of_new(self._tree, self._change)
        about = regex(self._rule.tests, re.IGNORECASE)
        yield from sorted(runs, key=lambda one: not about.search(one.path))
        own = [self._place(one).path for one in self._near[:1]]
        yield from (run for path in own for run in importing(self._tree, path, _FILES))
        if self._tree.opinfos(self._op) and any(about.search(one.path) for one in runs):
            return
        near = (one.path for path in own for one in self._tree.mentions.near(path, _FILES))
        paths = [*near, *self._tree.index.facts.paths("test")]
        for path in list(dict.fromkeys(filter(about.search, paths)))[:_FILES]:
            yield TestRun(f"python {path}", path, f"tests of what a {self._rule.noun} is for")

    def _missing(self) -> Iterator[str]:
        if not self._near:
            yield f"no operator of this tree has a {self._rule.noun} to copy from"
        elif not self._near[0].is_like:
            text = f"no operator similar to {self._name} has a {self._rule.noun}"
            yield f"{text}: {self._near[0].name} is the nearest, and its file and form are a guess"
