"""Prepares a first contribution: everything that a change of an operator, a file or a function
requires, read from one tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import PurePosixPath
from typing import Literal, NamedTuple

from indexes.linking.python.links import names_of
from indexes.linking.python.paths import operator_named
from indexes.model.answers import Hit, NameMatch, Place
from indexes.model.errors import NotFound, SourceError
from indexes.model.lines import placed
from indexes.model.vocabulary import Location, NativeFunction, SourceInfo
from indexes.queries.changes.python.rows import on_page
from indexes.queries.contribution.by_name import others_named, private
from indexes.queries.contribution.guides import Command, Convention, Guides
from indexes.queries.contribution.kin import called_by, in_library
from indexes.queries.contribution.layouts import layout_tests
from indexes.queries.contribution.likely import defines, will_change
from indexes.queries.contribution.operator_places import OperatorPlaces
from indexes.queries.contribution.python_siblings import calling
from indexes.queries.contribution.reviewers import Review, Reviewers
from indexes.queries.contribution.steps import (
    MAX_SHOWN,
    Step,
    by_interest,
    each_place,
    first_of_files,
    folded,
)
from indexes.queries.contribution.test_rows import class_rows
from indexes.queries.corpus import Corpus
from indexes.queries.gaps.kernels.dependents import needing
from indexes.queries.gaps.tree import Tree
from indexes.queries.impact.rebuild import Cost, Rebuild
from indexes.queries.index import Index
from indexes.queries.operator_tests import OperatorTests, Selection, Suite
from indexes.queries.test_mentions import TestMentions, with_mentions
from indexes.source.git_history import Changes, History

SubjectKind = Literal["operator", "file", "symbol"]

_MAX_PLACES = 60
_TEST_FILES = 5
_MAX_OPERATORS = 5
_DEFAULT_HISTORIES = 4


@dataclass(frozen=True, slots=True)
class PlaceHistory:
    """The last changes of one place."""

    step: Step
    changes: Changes


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a change of one subject requires."""

    source: SourceInfo
    kind: SubjectKind
    name: str
    steps: tuple[Step, ...]
    more: int
    """The number of places left out."""
    operators: tuple[str, ...]
    """For a file or symbol: the operators that reach it, as far as known."""
    costs: tuple[Cost, ...]
    """The rebuild cost of each file among the steps."""
    reviews: tuple[Review, ...]
    covering: tuple[Review, ...]
    """The merge rules, one of which covers all of these files."""
    history: tuple[PlaceHistory, ...]
    history_missing: str
    tests: tuple[tuple[str, OperatorTests], ...]
    """By operator."""
    commands: tuple[Command, ...]
    conventions: tuple[Convention, ...]
    missing: tuple[str, ...]
    """What this source cannot tell, with the command that adds it if any."""

    @property
    def files(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(step.location.path for step in self.steps))

    @property
    def will_change(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(s.location.path for s in self.steps if s.change == "will"))


class _Subject(NamedTuple):
    """The subject of a change."""

    kind: SubjectKind
    name: str
    steps: list[Step]
    operators: tuple[str, ...] = ()
    python: str = ""
    """The public name, if Python's."""
    others: tuple[str, ...] = ()
    """What else has the name, in words."""


def _places_of(hits: Iterable[Hit]) -> list[Step]:
    return [Step(one.kind, one.name, one.location, one.detail or "its definition") for one in hits]


class Contributions:
    """Prepares contributions to one tree, with caches."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self.history = History(index.source)
        self.reviewers = Reviewers(index.source)
        self.guides = Guides(index.source)

    @cached_property
    def rebuild(self) -> Rebuild:
        return Rebuild(self._index.source, self._index.facts)

    @cached_property
    def suite(self) -> Suite:
        return Suite(self._index.facts)

    @cached_property
    def _corpus(self) -> Corpus:
        return Corpus(self._index.facts, self._index.source.content)

    @cached_property
    def _places_of_operators(self) -> OperatorPlaces:
        return OperatorPlaces(self._tree, self._corpus)

    @cached_property
    def _tree(self) -> Tree:
        return Tree(self._index)

    @cached_property
    def mentions(self) -> TestMentions:
        return TestMentions(self._corpus, self._index.facts.store)

    def of(
        self, name: str, device: str = "cpu", histories: int = _DEFAULT_HISTORIES
    ) -> Contribution:
        """A contribution to ``name``: an operator in any spelling, a path of the tree,
        ``path:line`` or a symbol.

        ``device``: for tests; ``histories``: for how many places git is asked. Raises NotFound with
        similar names.
        """
        name = name.strip().removeprefix(f"{self._index.source.root}/")
        path, line = placed(name) or (name, 0)
        if self._is_file(path):
            subject = self._of_file(path, line)
        else:
            subject = self._of_name(name)
            is_symbol = subject.kind == "symbol"
            others = others_named(self._index, name, subject.steps) if is_symbol else ()
            subject = subject._replace(others=tuple(others))
        return self._make(subject, device, histories)

    def _of_name(self, name: str) -> _Subject:
        match = self._index.resolve(name)
        if match.kind == "none" and (own := private(self._corpus, name)):
            return self._of_file(own.path, own.line)
        match = self._index.meant(name)
        if match.kind in ("operator", "grad_fn", "python") and match.overloads:
            op = match.overloads[0]
            steps = self._python_steps(match) if match.kind == "python" else []
            steps = each_place([*steps, *self._places_of_operators.of(match.overloads)])
            return _Subject("operator", op, steps, python=match.text if match.hits else "")
        if match.kind == "python":
            places = [hit.location for hit in match.hits]
            operators = self._operators_at(places)
            steps = self._python_steps(match)
            return _Subject("symbol", match.text, steps, operators, match.text)
        if match.kind == "place" and len(match.hits) == 1:
            return self._of_file(match.hits[0].location.path, match.hits[0].location.line)
        return self._of_symbol(match.text, match.hits)

    def _python_steps(self, match: NameMatch) -> list[Step]:
        """The definition of a Python name, and the pages that name it."""
        card = self._index.python(match.text)
        rule = f"the page names {match.text}"
        pages = card.documents if card else ()
        listed = [Step("docs", PurePosixPath(at.path).name, at, rule) for at in pages]
        last = match.text.rpartition(".")[2]
        own = _places_of(match.hits)
        modules = filter(defines, {step.location.path for step in own})
        tables = (
            one for path in modules for one in self._places_of_operators.of_module(path, last)
        )
        calls = card.calls if card and card.answer.kind == "class" else ()
        facts = self._index.facts
        is_method = any(step.role == "method" for step in own)
        owner = match.text.split(".")[-2] if is_method else ""
        around = [*in_library(facts, last, owner), *called_by(facts, calls)]
        if any(step.role == "function" for step in own):
            around += [
                Step("caller", *one) for one in calling(self._index, self._corpus, match.text)
            ]
        if any(step.role == "class" for step in own):
            around += [row.step for row in class_rows(self._corpus, last)]
        listed = listed or [*self._unlisted(match.text, own)]
        return [*own, *listed, *around, *tables]

    def _unlisted(self, name: str, own: Iterable[Step]) -> Iterator[Step]:
        """The page that lists the rest of the module, for a public name that is on none."""
        if "._" not in name and any(step.role in ("function", "class") for step in own):
            for one in on_page(self._tree, name, or_package=False):
                page = PurePosixPath(one.location.path).name
                rule = f"no page names {name}, and this one lists its module"
                yield Step("docs", page, one.location, rule)

    def _is_file(self, path: str) -> bool:
        try:
            self._index.source.read(path)
        except SourceError:
            return False
        return True

    # ------------------------------------------------------------------------ subjects

    def _of_symbol(self, name: str, hits: Sequence[Hit]) -> _Subject:
        steps = _places_of(hits)
        operators = self._operators_at(hit.location for hit in hits)
        steps += self._places_of_operators.around(operators, steps)
        return _Subject("symbol", name, steps, operators)

    def _of_file(self, path: str, line: int) -> _Subject:
        places = self._places(path, line)
        steps = [Step(p.kind, p.name, p.location, p.rule or "it is at this line") for p in places]
        steps = steps or [Step("file", path, Location(path, line), "the file itself")]
        if not line:
            steps += self._places_of_operators.of_module(path) if defines(path) else ()
            return _Subject("file", path, steps, self._operators_in(path))
        operators = tuple(dict.fromkeys(op for p in places for op in p.operators))
        steps += self._places_of_operators.around(operators, steps)
        return _Subject("file", f"{path}:{line}", steps, operators)

    def _places(self, path: str, line: int) -> tuple[Place, ...]:
        try:
            return self._index.at(path, line) if line else ()
        except NotFound:  # a file that is not indexed has owners and history all the same
            return ()

    def _operators_at(self, locations: Iterable[Location]) -> tuple[str, ...]:
        found = (p for at in locations for p in self._places(at.path, at.line))
        return tuple(dict.fromkeys(op for place in found for op in place.operators))

    def _operators_in(self, path: str) -> tuple[str, ...]:
        """The operators with kernels, decompositions, OpInfos ... in a file."""
        kernels = [one.full_name for one in self._index.operators() if path in one.files]
        facts = self._index.facts.python.in_file(path)
        targets = dict.fromkeys(fact.target for fact in facts if fact.target.startswith("aten::"))
        named = map(operator_named, targets)
        return tuple(dict.fromkeys([*kernels, *(one for n in named for one in self._overloads(n))]))

    def _overloads(self, name: str) -> list[str]:
        if self._index.native(name):
            return [name]
        return [one.full_name for one in self._index.facts.overloads(name)]

    def _natives(self, operators: Iterable[str]) -> list[NativeFunction]:
        """One entry per operator, for its tests."""
        first: dict[str, NativeFunction] = {}
        for name in operators:
            native = self._index.native(name)
            if native is not None:
                first.setdefault(native.name.rstrip("_"), native)
        return list(first.values())[:_MAX_OPERATORS]

    # ----------------------------------------------------------------------- answering

    def _make(self, subject: _Subject, device: str, histories: int) -> Contribution:
        kind, name, steps, operators, *_ = subject
        sure = will_change(steps, kind == "operator")
        shown = [
            replace(step, change="will") if step.location.path in sure else step
            for step in folded(first_of_files(steps, _MAX_PLACES), MAX_SHOWN)
        ]
        files = tuple(dict.fromkeys(step.location.path for step in shown))
        natives = self._natives((name,) if kind == "operator" else operators)
        op = natives[0] if kind == "operator" else None
        touched = [path for path in files if not path.startswith("docs/")]
        asked = by_interest(shown)[: max(0, histories)]
        with ThreadPoolExecutor(2) as pool:  # git works meanwhile, in processes of its own
            changes = pool.map(self._changes, asked)
            tests = (
                *self._own_tests(subject),
                *self._tested(natives, device),
                *self._of_layouts(natives),
                *self._of_files(steps),
                *self._of_exporters(name, steps),
            )
            return Contribution(
                self._index.info,
                kind,
                name,
                tuple(shown),
                len(steps) - len(shown),
                operators,
                tuple(self.rebuild.cost(path, op) for path in files),
                self.reviewers.for_change(files),
                self.reviewers.covering(touched),
                tuple(map(PlaceHistory, asked, changes)),
                self.history.missing,
                tests,
                self.guides.commands_for(files),
                self.guides.conventions(files),
                (*subject.others, *self._missing()),
            )

    def _tested(
        self, natives: Iterable[NativeFunction], device: str
    ) -> Iterator[tuple[str, OperatorTests]]:
        """The tests of operators; without an OpInfo also those of operators that need it."""
        for one in natives:
            yield (own := self._tests_of(one, device))
            for op in () if own[1].opinfos else needing(self._tree, one.full_name):
                yield self._tests_of(self._tree.natives[op], device)

    def _of_layouts(self, natives: Iterable[NativeFunction]) -> Iterator[tuple[str, OperatorTests]]:
        """The test files of the layouts that operators have kernels for."""
        for op in natives:
            paths = layout_tests(self._tree, op.full_name)
            if named := tuple(self.suite.at(Location(path, 0)) for path in paths):
                yield op.full_name, OperatorTests((), (), named)

    def _tests_of(self, op: NativeFunction, device: str) -> tuple[str, OperatorTests]:
        names = names_of(op, self._index.facts.python)
        found = with_mentions(self.suite.of(op, device), op, names, self.mentions)
        return op.full_name, found

    def _own_tests(self, subject: _Subject) -> Iterator[tuple[str, OperatorTests]]:
        """The command for a test file or the test at a line; for a symbol the tests that name
        it."""
        where = subject.steps[0].location
        if where.path.startswith("test/") and where.path.endswith(".py"):
            yield str(where), OperatorTests((), (), (self.suite.at(where),))
            return
        if " " in subject.name and (asking := tuple(self.mentions.saying(subject.name))):
            yield subject.name, OperatorTests((), (), asking)
        name = subject.python or (subject.name if subject.kind == "symbol" else "")
        if name and (found := self._naming(name, where.path)):
            yield name, OperatorTests((), (), found)

    def _of_files(self, steps: Sequence[Step]) -> Iterator[tuple[str, OperatorTests]]:
        """The test files named after the modules or packages of some places: all in one turn, as
        they are of no test of what changes."""
        found: dict[str, str] = {}
        for path in (s.location.path for s in steps if s.role in ("python", "table")):
            for word in PurePosixPath(path).with_suffix("").parts[-1:-3:-1]:
                test = f"test/test_{word.lstrip('_')}.py"
                if path.startswith("torch/") and self._index.source.holds(test):
                    found.setdefault(test, path)
        if found:
            named = tuple(self.suite.at(Location(test, 0)) for test in found)
            yield next(iter(found.values())), OperatorTests((), (), named)

    def _of_exporters(
        self, name: str, steps: Sequence[Step]
    ) -> Iterator[tuple[str, OperatorTests]]:
        """The tests of exporters that register something for it and name it."""
        paths = (s.location.path for s in steps if s.role == "registration")
        path = next((one for one in paths if one.endswith(".py")), "")
        word = re.split(r"\W+", name.partition(".")[0] if path else "")[-1]
        if found := tuple(self.mentions.naming((word,), path, 2)) if word else ():
            yield path, OperatorTests((), (), found)

    def _naming(self, name: str, path: str) -> tuple[Selection, ...]:
        """The tests that name something, and those with similar paths."""
        words = (re.split(r"\W+", name)[-1],)
        found = [*self.mentions.naming(words, path, _TEST_FILES)]
        found.sort(key=lambda one: one.is_whole)  # what lists it, after tests of it
        first: dict[str, Selection] = {}
        for one in (*found, *self.mentions.near(path, 2)):
            first.setdefault(one.path, one)
        return tuple(first.values())

    def _changes(self, step: Step) -> Changes:
        where = step.location
        return self.history.changes(where.path, where.line, where.end_line)

    def _missing(self) -> tuple[str, ...]:
        lists = self.reviewers.missing
        absent = (f"reviewers by {one}: this tree has none" for one in lists)
        return (*self._index.info.missing, *absent)
