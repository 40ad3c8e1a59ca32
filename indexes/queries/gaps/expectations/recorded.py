"""Tests that fail, or are passed over, under torch.compile: PyTorch keeps a list of each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from functools import partial
from json import dumps

from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.tree import Tree

READER = "torch/testing/_internal/dynamo_test_failures.py"
"""What reads the lists: one file a test, or sets of names in this file itself."""
_TEST = "test"
_SET = regex(r"^(\w+)\s*=\s*\{([^{}]*)\}", MULTILINE)
_NAME = regex(r"[\"']([\w.]+\.test_\w+)[\"']")
_FOLDER = regex(r"(\w+)_(expected_failures|skips)")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A test that a list names."""

    test: str
    """``TestTorch.test_add``."""
    under: str
    """What runs it: ``dynamo``, ``inductor``."""
    place: Location


def recorded(tree: Tree, what: str) -> Iterator[Recorded]:
    """The tests on the lists of ``what``: ``expected_failures`` or ``skips``."""
    for folder, names in _folders(tree):
        found = _FOLDER.fullmatch(folder)
        if found and found[2] == what:
            for name in names:
                yield Recorded(name, found[1], Location(f"{_TEST}/{folder}/{name}", 0))
    text = tree.text(READER)
    for one in _SET.finditer(text):
        named = _FOLDER.fullmatch(one[1])
        if named and named[2] == what:
            for test in _NAME.finditer(text, one.start(2), one.end(2)):
                place = Location(READER, text.count("\n", 0, test.start()) + 1)
                yield Recorded(test[1], named[1], place)


def _folders(tree: Tree) -> Iterator[tuple[str, list[str]]]:
    """The folders of test/ that hold a file for each test, with their names."""
    for folder in filter(_FOLDER.fullmatch, tree.source.listed(_TEST)):
        names = tree.source.listed(f"{_TEST}/{folder}")
        yield folder, [name for name in names if ".test" in name and name[0] != "."]


def lacks(tree: Tree, what: str) -> str:
    """Before 2.0 there are no such lists, and an installed package has none."""
    there = next(recorded(tree, what), None)
    return "" if there else f"this source has no {_TEST}/dynamo_{what}"


def find(tree: Tree, what: str) -> Iterator[Gap]:
    """One gap for each test on a list, at the test where its file spells it out."""
    named = tuple(recorded(tree, what))
    written = _tests(tree, {one.test for one in named})
    for one in named:
        yield _gap(one, what, written.get(one.test))


def _tests(tree: Tree, names: Set[str]) -> Mapping[str, Location]:
    """Where the tests of some names are."""
    rows = tree.store.query(
        "SELECT symbol,path,line FROM tests JOIN files ON files.id=tests.file"
        " WHERE symbol IN (SELECT value FROM json_each(?)) ORDER BY tests.rowid",
        (dumps(sorted(names)),),
    )
    return {symbol: Location(path, line) for symbol, path, line in rows}


def _gap(one: Recorded, what: str, test: Location | None) -> Gap:
    fails = what == "expected_failures"
    said = "fails" if fails else "is skipped"
    rule = f"{one.place.path} says so; "
    rule += "where the test passes, the file goes" if fails else "nobody sees whether it passes"
    evidence = (one.place, *((test,) if test else ()))
    return Gap(
        test or one.place,
        f"{one.test} {said} under {one.under}",
        rule,
        evidence,
        name=one.test,
        subject=f"{one.under}/{one.test}",
        stated=True,
    )


KINDS = (
    Kind(
        "compile-failure",
        "hard",
        "tests expected to fail under torch.compile",
        partial(find, what="expected_failures"),
        partial(lacks, what="expected_failures"),
    ),
    Kind(
        "compile-skip",
        "hard",
        "tests skipped under torch.compile",
        partial(find, what="skips"),
        partial(lacks, what="skips"),
    ),
)
