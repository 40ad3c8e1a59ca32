"""Tests to run for a change: a few now, the rest in CI.

First tests that change or call what changes, then those named after the operators reached and made
from their OpInfos, then files that name what changes, then those whose path has its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, repeat

from indexes.linking.graph import device_of_key
from indexes.linking.python.links import names_of
from indexes.linking.python.paths import Found
from indexes.linking.python.test_expressions import Expression
from indexes.model.files import module_name
from indexes.model.impact import ReachedOperator, Step, TestCommand, Tier
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, NativeFunction
from indexes.queries.impact.cxx import STRUCTURED_META
from indexes.queries.impact.endpoints import worst
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.walk import RANK
from indexes.queries.operator_tests import NOW, OperatorTests, Selection, Suite, selection_of
from indexes.queries.test_mentions import TestMentions, is_of, test_of
from indexes.readers.python.tests import is_test_file
from indexes.source.source import Source
from indexes.store.registrations import StoredPython

MAX_TESTED = 6
"""Operators whose tests are listed without ``--all``; each takes about 0.1 s."""
_FILES, _NEAR, _NAMES = 4, 3, 8
"""Test files listed for one name, and for one path; Python names that are looked for."""


_TESTED_BY = {
    "batch rule": "vmap",
    "backward": "autograd",
    "meta": "meta",
    STRUCTURED_META: "meta",
    "decomposition": "decomp",
    "lowering": "inductor",
    "sharding rule": "dtensor",
    "symbolic": "onnx",
    "kernel jagged": "nestedtensor",
}
"""The word in names of PyTorch's test files for each aspect of an operator."""
_OPINFOS_OF = {**_TESTED_BY, "backward": "grad"}
"""The same for the files that test it by OpInfos: ``test_ops_gradients.py``."""


def tests_of(
    operators: Sequence[ReachedOperator],
    steps: Sequence[Step],
    facts: ImpactFacts,
    unresolved: list[str],
    most: int | None,
    opinfos: Sequence[Found],
) -> tuple[TestCommand, ...]:
    """The test commands for what changes and is reached, best first; of at most ``most`` operators
    and OpInfos, with the number of others in ``unresolved``."""
    found = _Commands(facts)
    mentions = TestMentions(facts.corpus, facts.store)
    found.of_steps(steps, mentions)
    found.of_opinfos(opinfos[:most])
    if more := len(opinfos) - len(opinfos[:most]):
        unresolved.append(f"tests of {more} more OpInfos are not listed: --all lists them")
    for one in _tested(operators, facts, unresolved, most):
        native = facts.native(one.name)
        assert native
        tests = found.suite.of(native, _device(one))
        if tests.missing and tests.missing not in unresolved:
            unresolved.append(tests.missing)
        found.of_operator(one, native, tests)
        if not tests.named:
            found.add_all(mentions.naming(_words(native, facts), "", _FILES // 2), 3, "by rule")
    of_direct = _of_direct(operators, facts, found.suite)
    for word in _subjects(operators):
        beside = mentions.near(f"{word} {word.lower()}", _NEAR - 1)
        found.add_all((_narrowed(one, of_direct, facts) for one in beside), 2, "by rule")
    for path, words in _python_names(steps).items():
        found.add_all(mentions.naming(words, path, _FILES), 1, "by rule")
    for path in _changed_paths(steps):
        for near in mentions.near(path, _NEAR):
            is_own = path.endswith(".py") and is_of(near.path, path)
            chosen = near if is_own else _narrowed(near, of_direct, facts)
            found.add_all(iter((chosen,)), 0 if is_own else 4, "by rule" if is_own else "ambiguous")
    return found.in_tiers()


def tests_of_generators(source: Source, generators: Iterable[str]) -> Iterator[TestCommand]:
    """The tests that import a module of code generation."""
    names = [module_name(path).rpartition(".") for path in generators if path.endswith(".py")]
    imports = [
        rf"{package}\.{name}\b|from {package} import .*\b{name}\b" for package, _, name in names
    ]
    for test in filter(_TEST.fullmatch, source.listed(_OF_GENERATORS) if names else ()):
        path = f"{_OF_GENERATORS}/{test}"
        if found := re.search("|".join(imports), text := source.text(path)):
            count = len(re.findall(r"^ +def test_", text, re.MULTILINE))
            reason = f"it imports what changes: {found[0]}"
            yield TestCommand(f"pytest {path}", path, reason, (), "exact", count)


_OF_GENERATORS = "tools/test"
_TEST = regex(r"test_\w+\.py")


def _device(one: ReachedOperator) -> str:
    devices = {device_of_key(key) for key in one.keys}
    return devices.pop().lower() if len(devices) == 1 and "" not in devices else "cpu"


def _subjects(operators: Sequence[ReachedOperator]) -> list[str]:
    """Words for test files other than operators and files: the changed aspect (batch rule), and the
    only backend or layout."""
    direct = [one for one in operators if not one.dispatches]
    found = [_TESTED_BY[a] for one in direct for a in one.aspects if a in _TESTED_BY]
    keys = {key for one in direct[:MAX_TESTED] for key in one.keys}
    for key in sorted(keys):
        device = device_of_key(key)
        found += [key.removesuffix(device)] if key != device else [] if key == "CPU" else [key]
    return list(dict.fromkeys(found))[:_NAMES]


def _of_direct(
    operators: Sequence[ReachedOperator], facts: ImpactFacts, suite: Suite
) -> tuple[tuple[str, ...], ...]:
    """For each operator whose code changes, the names in its tests: its OpInfos', or its own; none
    if they are too many for one filter."""
    direct: dict[str, NativeFunction] = {}
    for one in (one for one in operators if not one.dispatches):
        if native := facts.native(one.name):
            direct.setdefault(native.name.rstrip("_"), native)
    if len(direct) > MAX_TESTED:
        return ()
    made = {name: suite.of(native).opinfos for name, native in direct.items()}
    return tuple((name, *(info.name for info in found)) for name, found in made.items())


def _narrowed(one: Selection, names: Sequence[Sequence[str]], facts: ImpactFacts) -> Selection:
    """A test file's tests of some operators; the whole file if it is not known to have any."""
    text = facts.corpus.text(one.path).decode("utf-8", "replace")
    known = [
        [name for name in some if "@ops(" in text or re.search(rf"def test_\w*{name}", text)]
        for some in names
    ]
    if not known or not all(known):
        return one
    every = dict.fromkeys(name for some in known for name in some)
    words = [one for one in every if not any(other != one and other in one for other in every)]
    return replace(one, expression=Expression("pytest", ("-k", " or ".join(words))))


def _words(native: NativeFunction, facts: ImpactFacts) -> list[str]:
    """Words in tests that are not named after an operator: its names, and those of modules."""
    python = facts.python
    names = names_of(native, python)
    modules = [
        fact.symbol for name in names for _, fact in python.by_target(name) if fact.kind == "module"
    ]
    words = (one.rpartition(".")[2].strip("_") for one in (native.name, *names, *modules))
    return [word for word in dict.fromkeys(words) if len(word) > 3]


def _python_names(steps: Sequence[Step]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    chosen = [s for s in steps if s.kind == "python" and s.location and not s.dispatches]
    for step in chosen[:_NAMES]:
        assert step.location
        path = step.location.path
        outer = step.symbol.removeprefix(f"{module_name(path)}.").partition(".")[0]
        if is_test_file(path):
            continue
        module = ".".join(module_name(path).split(".")[-2:])
        words = found.setdefault(path, [module] if "." in module else [])
        words += [outer] if outer.isidentifier() else []
    return found


def _changed_paths(steps: Sequence[Step]) -> list[str]:
    starts = (s.location.path for s in steps if s.parent is None and s.location)
    sources = (p for p in starts if not (p.endswith(".yaml") or is_test_file(p) or _in_docs(p)))
    return list(dict.fromkeys(sources))[:_NAMES]


def _in_docs(path: str) -> bool:
    """Whether it is of the documentation, which no test is named after: conf.py."""
    return path.startswith("docs/")


class _Commands:
    """Commands by text, each with its rank."""

    def __init__(self, facts: ImpactFacts) -> None:
        self.suite = Suite(facts)
        self._facts = facts
        self._found: dict[str, tuple[int, TestCommand]] = {}

    def add_all(self, chosen: Iterator[Selection], rank: int, sure: Confidence) -> None:
        for one in chosen:
            self._add(one, one.rule, rank, sure)

    def of_operator(
        self, one: ReachedOperator, native: NativeFunction, tests: OperatorTests
    ) -> None:
        """The tests of an operator, its best files first: those of the aspect that is reached."""
        words = [_OPINFOS_OF[aspect] for aspect in one.aspects if aspect in _OPINFOS_OF]
        files = sorted(tests.files, key=lambda each: not any(word in each.path for word in words))
        reached = f"{native.name}, reached by its {', '.join(one.aspects)}"
        by_rule = worst(one.confidence, "by rule")
        for at, selection in enumerate(files):
            rank = 2 if at == 0 else 3 if at < NOW else 5
            self._add(selection, f"OpInfo tests of {reached}", rank, one.confidence, one.name)
        for at, selection in enumerate(tests.named):
            rank = 1 if at == 0 else 4
            self._add(selection, f"named after {reached}", rank, by_rule, one.name)

    def of_opinfos(self, opinfos: Sequence[Found]) -> None:
        """The tests of OpInfos that change, or whose inputs do."""
        names = ", ".join(dict.fromkeys(fact.symbol for _, fact in opinfos))
        for at, selection in enumerate(self.suite.of_opinfos(opinfos) if opinfos else ()):
            rank = 0 if at == 0 else 1 if at < NOW else 5
            self._add(selection, f"made from OpInfos that change: {names}", rank, "exact")

    def of_steps(self, steps: Sequence[Step], mentions: TestMentions) -> None:
        """Tests that change or call what changes, those in the nearest files first."""
        by_file: dict[tuple[str, bool], list[Step]] = {}
        for step in steps:
            if step.kind == "test" and step.location:
                by_file.setdefault((step.location.path, step.parent is None), []).append(step)
        near = [mentions.score(path) for path in _changed_paths(steps)]
        order = sorted(
            by_file.items(),
            key=lambda one: (
                not one[0][1],
                -max((scores.get(one[0][0], 0) for scores in near), default=0),
                -len(one[1]),
            ),
        )
        for (path, changes), tests in order:
            reason = "it changes" if changes else "it calls what is reached"
            sure = min((one.way_confidence for one in tests), key=lambda one: RANK[one])
            self._add(self._of_tests(path, tests), reason, 0, sure)

    def _of_tests(self, path: str, tests: Sequence[Step]) -> Selection:
        inside = (test.symbol.removeprefix(f"{module_name(path)}.") for test in tests)
        names = list(dict.fromkeys(test_of(name) or name for name in inside))
        places = tuple(test.location for test in tests if test.location)
        return selection_of(self._facts.store, path, names, places)

    def _add(
        self, one: Selection, reason: str, rank: int, sure: Confidence, operator: str = ""
    ) -> None:
        count = len(one.tests)
        new = TestCommand(one.command, one.path, reason, (), sure, count)
        before_rank, before = self._found.get(one.command, (rank, new))
        names = tuple(dict.fromkeys(filter(None, (*before.operators, operator))))
        sure = min(before.confidence, sure, key=lambda each: RANK[each])
        merged = replace(before, operators=names, confidence=sure)
        self._found[one.command] = min(before_rank, rank), merged

    def in_tiers(self) -> tuple[TestCommand, ...]:
        """All commands in order, the first of them to run now."""
        return in_tiers(one for _, one in sorted(self._found.values(), key=lambda one: one[0]))


def in_tiers(commands: Iterable[TestCommand]) -> tuple[TestCommand, ...]:
    """Commands, the best first, with the tier of each."""
    tiers: Iterator[Tier] = chain(repeat("now", NOW), repeat("ci"))
    return tuple(replace(one, tier=tier) for one, tier in zip(commands, tiers, strict=False))


def _tested(
    operators: Sequence[ReachedOperator],
    facts: ImpactFacts,
    unresolved: list[str],
    most: int | None,
) -> list[ReachedOperator]:
    """One overload of each operator with OpInfos, surest and nearest first."""
    python = facts.python
    chosen: dict[str, ReachedOperator] = {}
    for one in operators:
        native = facts.native(one.name)
        base = native.name.rstrip("_") if native else ""
        near = one.dispatches == 0 or not chosen or not _any_opinfo(chosen, python)
        if base and base not in chosen and near:
            chosen[base] = one
    if most is not None and len(chosen) > most:
        unresolved.append(
            f"tests of {len(chosen) - most} more operators are not listed: --all lists them,"
            " torchnav contribute OP those of one"
        )
    return list(chosen.values())[:most]


def _any_opinfo(names: dict[str, ReachedOperator], python: StoredPython) -> bool:
    return any(
        fact.kind == "opinfo" for name in names for _, fact in python.by_target(f"aten::{name}")
    )
