"""Finds the tests that cover an operator, and the command that runs exactly those."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from indexes.linking.python.links import names_of, opinfo_entries, words_of
from indexes.linking.python.paths import (
    MAX_TESTS,
    Found,
    NamedTest,
    named_tests,
    place_of,
    ranked_tests,
)
from indexes.linking.python.test_expressions import (
    Expression,
    Made,
    joined,
    named_expression,
    opinfo_expression,
    readable,
    varied_names,
)
from indexes.model.files import PythonFact, unpack
from indexes.model.lines import grouped
from indexes.model.regex import regex
from indexes.model.vocabulary import Location, NativeFunction
from indexes.readers.python.opinfo_tests import TESTING, OpList, OpTest, Parametrized, SuiteFacts
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.registrations import tests_in
from indexes.store.tables import load

NOW = 5
"""Test commands to run before a pull request; CI runs the rest."""
_IN_ONE = 12
"""Most tests selected by name in one command."""
_TABLES = f"{TESTING}common_methods_invocations.py"
_MODULES = f"{TESTING}common_modules.py"


@dataclass(frozen=True, slots=True)
class OpInfoEntry:
    """An OpInfo of an operator."""

    name: str
    """As in its tests: ``nn_functional_relu``, ``div_floor_rounding``."""
    cls: str
    database: str
    """The list that holds it: ``op_db``, ``python_ref_db``."""
    location: Location
    rule: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The tests of one file that cover an operator."""

    path: str
    expression: Expression
    tests: tuple[Location, ...]
    names: tuple[str, ...]
    """``TestCommon.test_out``: class and name of each of ``tests``."""
    rule: str
    filtered: int = 0
    """The number of tests that filter OpInfos by a condition and may skip this one."""

    @property
    def command(self) -> str:
        """The command, for the top of the tree."""
        return self.expression.command(self.path)

    @property
    def is_whole(self) -> bool:
        """Whether it is the file, without a choice of tests."""
        return self.names == (self.path,)


@dataclass(frozen=True, slots=True)
class OperatorTests:
    """All tests of an operator in this tree."""

    opinfos: tuple[OpInfoEntry, ...]
    files: tuple[Selection, ...]
    """Files with tests made from its OpInfos."""
    named: tuple[Selection, ...]
    """Handwritten tests named after it that call it."""
    missing: str = ""


class _Taken(NamedTuple):
    """The OpInfos of a list that a test may take."""

    database: str
    cls: str
    """Their class; empty for any."""
    prefix: str
    """The beginning of their names in tests."""


def formatted_name(fact: PythonFact) -> str:
    """An OpInfo's name as its tests have it (``OpInfo.formatted_name``)."""
    variant = unpack(fact.detail).get("variant", "")
    return "_".join(filter(None, (fact.symbol, variant))).replace(".", "_")


def selection_of(
    store: Store, path: str, names: Sequence[str], places: tuple[Location, ...], rule: str = ""
) -> Selection:
    """Some tests of a file, by their names."""
    others = [_split(fact.symbol) for fact in tests_in(store, path) if fact.symbol not in names]
    expression = joined([named_expression(*_split(one), others, path) for one in names])
    expression = readable(expression, [*map(_split, names)], others)
    return Selection(path, expression, places, tuple(names), rule)


class Suite:
    """The tests of one tree."""

    def __init__(self, facts: Lookup) -> None:
        self._facts = facts
        self._python = facts.python
        self._devices: dict[str, dict[str, frozenset[str]]] = {}
        """For each test file, the devices that its classes are made for; none is any."""
        self._told_apart = cache(self._select_opinfos)
        self._accepted = cache(self._accepted_anew)
        self._taken = cache(self._taken_anew)
        self._subclasses = cache(self._subclasses_of)
        self._own_lists = cache(lambda path: {one.name: one for one in self._suite(path).lists})

    def of(self, op: NativeFunction, device: str = "cpu") -> OperatorTests:
        """The tests of an overload on a kind of device."""
        found = list(opinfo_entries(op, self._python))
        opinfos = tuple(_entry(one, target) for one, target in found)
        files = sorted(self._opinfo_files(opinfos, device), key=_surely_runs, reverse=True)
        named = tuple(self._named_files(op))
        missing = "" if self._files else "tests (not in this source): torchnav clone"
        return OperatorTests(opinfos, tuple(files), named, missing)

    def of_opinfos(self, found: Iterable[Found]) -> list[Selection]:
        """The tests made from some OpInfos, on the CPU."""
        opinfos = tuple(dict.fromkeys(_entry(one, "") for one in found))
        return sorted(self._opinfo_files(opinfos, "cpu"), key=_surely_runs, reverse=True)

    def at(self, where: Location) -> Selection:
        """The command for the test at a line; for line 0, the whole file."""
        found = [fact for fact in self._tests_in(where.path) if fact.line <= where.line]
        if not found:
            name, expression = where.path, Expression("pytest", ())
        else:
            name = max(found, key=lambda fact: fact.line).symbol
            others = [_split(fact.symbol) for fact in self._tests_in(where.path)]
            expression = named_expression(*_split(name), others, where.path)
        return Selection(where.path, expression, (where,), (name,), "the test itself")

    # -------------------------------------------------------------------------- OpInfo

    def _opinfo_files(self, opinfos: tuple[OpInfoEntry, ...], device: str) -> Iterator[Selection]:
        for path, tests in self._files.items():
            takes = [
                (test, self._taken(test.chosen, path))
                for test in tests
                if not (devices := self._devices[path][test.cls]) or device in devices
            ]
            kinds = {taken for _, taken in takes if any(_in(o, taken) for o in opinfos)}
            chosen = [(test, taken) for test, taken in takes if taken in kinds]
            if not chosen:
                continue
            mine = [o.name for o in opinfos if any(_in(o, taken) for taken in kinds)]
            expression = self._opinfo_expression(path, opinfos, takes, device)
            yield Selection(
                path,
                expression,
                tuple(Location(path, test.line) for test, _ in chosen),
                tuple(f"{test.cls}.{test.name}" for test, _ in chosen),
                f"made for each OpInfo by @ops; {', '.join(dict.fromkeys(mine))} in their names",
                sum(1 for test, _ in chosen if _is_filtered(test.chosen, self._lists)),
            )

    def _opinfo_expression(
        self,
        path: str,
        opinfos: tuple[OpInfoEntry, ...],
        takes: list[tuple[OpTest, frozenset[_Taken]]],
        device: str,
    ) -> Expression:
        names = tuple(dict.fromkeys(one.name for one in opinfos))
        wanted: dict[tuple[Made, str], None] = {}
        others: dict[tuple[Made, str], None] = {}
        for test, taken in takes:
            made = Made(test.name, test.ending)
            mine, near = self._told_apart(taken, opinfos)
            wanted.update(dict.fromkeys((made, one) for one in sorted(mine)))
            others.update(dict.fromkeys((made, one) for one in near))
        named, unknown = self._by_hand(path, {test.name for test, _ in takes}, names, device)
        return opinfo_expression(wanted, others, named, unknown, device)

    def _select_opinfos(
        self, taken: frozenset[_Taken], opinfos: tuple[OpInfoEntry, ...]
    ) -> tuple[set[str], list[str]]:
        """The OpInfos wanted among those that a test may take, and others that their names match
        too."""
        accepted = self._accepted(taken)
        mine = {one.name for one in opinfos if _key(one) in accepted}
        rest = dict.fromkeys(name for _, _, name in accepted if name not in mine)
        near = [one for one in rest if _alike(one, opinfos)] or list(rest)[:1]
        return mine, near

    def _by_hand(
        self, path: str, made: set[str], opinfos: Iterable[str], device: str
    ) -> tuple[list[str], list[str]]:
        """Names of a file's other tests, and those with parameters unknown before a run."""
        functions = (fact.symbol.rpartition(".")[2] for fact in self._tests_in(path))
        named, unknown = [one for one in functions if one not in made], []
        lists = {name: one.text for name, one in self._own_lists(path).items()}
        for one in self._varied(path, device):
            if one.name not in made:
                names = varied_names(one, opinfos, self._modules, lists)
                named += names or ()
                unknown += [one.name] if names is None else []
        return named, unknown

    def _varied(self, path: str, device: str) -> list[Parametrized]:
        classes = self._devices[path]
        return [
            one
            for one in self._suite(path).parametrized
            if one.cls in classes and device in (classes[one.cls] or (device,))
        ]

    def _accepted_anew(self, taken: frozenset[_Taken]) -> dict[tuple[str, str, str], None]:
        return dict.fromkeys(_key(one) for one in self._all_opinfos if _in(one, taken))

    def _taken_anew(self, chosen: str, path: str) -> frozenset[_Taken]:
        return frozenset(self._expanded(chosen, path, _Taken("", "", "")))

    def _expanded(self, text: str, path: str, of: _Taken, depth: int = 0) -> Iterator[_Taken]:
        """Resolves names of lists to the lists with OpInfo entries."""
        checked, prefixed = _CHECKED.search(text), _PREFIXED.search(text)
        of = of._replace(
            cls=checked[1] if checked else of.cls,
            prefix=prefixed[1].replace(".", "_") if prefixed else of.prefix,
        )
        for name in dict.fromkeys(_NAME.findall(text)):
            if name in self._databases:
                for one in self._subclasses(of.cls):
                    yield of._replace(database=name, cls=one)
            made = self._own_lists(path).get(name) or self._lists.get(name)
            if made and depth < _DEEPEST:
                yield from self._expanded(made.text, path, of, depth + 1)

    def _subclasses_of(self, cls: str) -> frozenset[str]:
        if not cls:
            return frozenset({""})
        found = {cls}
        while more := {one for one, bases in self._bases.items() if found & set(bases)} - found:
            found |= more
        return frozenset(found)

    # --------------------------------------------------------------------- named tests

    def _named_files(self, op: NativeFunction) -> Iterator[Selection]:
        """The tests named after it by file, for every public name, the best file first."""
        names = names_of(op, self._python)
        ranked = ranked_tests(named_tests(words_of(op, self._python), self._python), names)
        by_file = grouped((test.path, test) for test in ranked[:MAX_TESTS])
        for path, tests in by_file.items():
            for at in range(0, len(tests), _IN_ONE):
                yield self._named_file(path, tests[at : at + _IN_ONE])

    def _named_file(self, path: str, tests: Sequence[NamedTest]) -> Selection:
        chosen = {test.symbol for test in tests}
        others = [_split(f.symbol) for f in self._tests_in(path) if f.symbol not in chosen]
        expressions = [named_expression(*_split(one.symbol), others, path) for one in tests]
        exact = joined([e for e in expressions if e.runner == expressions[0].runner])
        expression = readable(exact, [_split(one.symbol) for one in tests], others)
        where = tuple(Location(path, test.line, test.end_line) for test in tests)
        words = ", ".join(dict.fromkeys(repr(test.word) for test in tests))
        calls = ", ".join(dict.fromkeys(test.call for test in tests))
        rule = f"its name has {words} and it calls {calls}"
        return Selection(path, expression, where, tuple(test.symbol for test in tests), rule)

    # --------------------------------------------------------------------------- files

    @cached_property
    def _files(self) -> dict[str, tuple[OpTest, ...]]:
        with_tests = {path: one for path, one in self._suites.items() if one.tests}
        for path, one in with_tests.items():
            self._devices[path] = {cls: frozenset(found) for cls, found in one.devices.items()}
        return {path: one.tests for path, one in with_tests.items()}

    @cached_property
    def _suites(self) -> dict[str, SuiteFacts]:
        return {path: load(data, SuiteFacts) for path, data in self._facts.suites()}

    def _suite(self, path: str) -> SuiteFacts:
        return self._suites.get(path, _NOTHING)

    @property
    def _lists(self) -> dict[str, OpList]:
        return self._own_lists(_TABLES)

    @cached_property
    def _modules(self) -> tuple[str, ...]:
        return self._suite(_MODULES).modules

    @cached_property
    def _databases(self) -> frozenset[str]:
        return frozenset(one.database for one in self._all_opinfos)

    @cached_property
    def _bases(self) -> dict[str, tuple[str, ...]]:
        return {cls: bases for one in self._suites.values() for cls, bases in one.bases.items()}

    @cached_property
    def _all_opinfos(self) -> tuple[OpInfoEntry, ...]:
        return tuple(_entry(found, "") for found in self._python.of_kinds("opinfo"))

    def _tests_in(self, path: str) -> list[PythonFact]:
        return tests_in(self._facts.store, path)


_NOTHING = SuiteFacts((), {}, (), (), {}, ())
_NAME = regex(r"[A-Za-z_]\w*")
_CHECKED = regex(r"isinstance\(\s*\w+\s*,\s*\(?(\w+)\s*\)")
_PREFIXED = regex(r"\.name\.startswith\(\s*[\"']([^\"']+)")
_CONDITION = regex(r"\bif\b|\bfilter\(|\blambda\b|\w+\(")
_DEEPEST = 6


def _surely_runs(one: Selection) -> tuple[int, int]:
    """How many tests run for it whatever a filter says, and how many may."""
    return len(one.tests) - one.filtered, len(one.tests)


def _entry(found: Found, target: str) -> OpInfoEntry:
    _, fact = found
    detail = unpack(fact.detail)
    rule = f"{detail.get('cls', 'OpInfo')} for {target}" if target else ""
    return OpInfoEntry(
        formatted_name(fact), detail.get("cls", ""), detail.get("db", ""), place_of(found), rule
    )


def _in(one: OpInfoEntry, taken: frozenset[_Taken]) -> bool:
    return any(
        of.database == one.database and of.cls in ("", one.cls) and one.name.startswith(of.prefix)
        for of in taken
    )


def _key(one: OpInfoEntry) -> tuple[str, str, str]:
    return one.database, one.cls, one.name


def _alike(name: str, wanted: Iterable[OpInfoEntry]) -> bool:
    """Whether words for the wanted names can be part of names made from this one."""
    name = name.lower()
    return any(one.name.lower() in name or name in one.name.lower() for one in wanted)


def _is_filtered(chosen: str, lists: dict[str, OpList]) -> bool:
    text = lists[chosen].text if chosen in lists else chosen
    return bool(_CONDITION.search(text))


def _split(symbol: str) -> tuple[str, str]:
    cls, _, name = symbol.rpartition(".")
    return cls, name
