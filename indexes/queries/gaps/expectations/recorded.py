"""Tests that fail or are skipped under torch.compile, by PyTorch's lists."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import partial
from json import dumps

from indexes.linking.graph import DEVICES
from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.tree import Tree

READER = "torch/testing/_internal/dynamo_test_failures.py"
"""The reader of the lists: one file per test, or sets of names in this file."""
_TEST = "test"
_SET = regex(r"^(\w+)\s*=\s*\{([^{}]*)\}", MULTILINE)
_NAME = regex(r"[\"']([\w.-]+\.test\w+)[\"']")
_CPYTHON = regex(r"CPython\d+-(\w+)-")
_DEVICE = regex(rf"({'|'.join((*DEVICES, 'META')).upper()})$")
"""The suffix of classes instantiated per device."""
_FOLDER = regex(r"(\w+)_(expected_failures|skips)")


@dataclass(frozen=True, slots=True)
class Recorded:
    """A test that a list names."""

    test: str
    """``TestTorch.test_add``."""
    under: str
    """The compiler: ``dynamo``, ``inductor``."""
    place: Location


def recorded(tree: Tree, what: str) -> Iterator[Recorded]:
    """The tests in the lists ``expected_failures`` or ``skips``."""
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
    """The folders of test/ with a file per test, with their names."""
    for folder in filter(_FOLDER.fullmatch, tree.source.listed(_TEST)):
        names = tree.source.listed(f"{_TEST}/{folder}")
        yield folder, [name for name in names if ".test" in name and name[0] != "."]


def lacks(tree: Tree, what: str) -> str:
    there = next(recorded(tree, what), None)
    return "" if there else f"this source has no {_TEST}/dynamo_{what}"


def find(tree: Tree, what: str) -> Iterator[Gap]:
    """One gap per test in a list, at the test, or if it is generated or inherited, at its source or
    class."""
    named = tuple(recorded(tree, what))
    written = _Written(tree, {written_as(one.test)[1].partition(".")[0] for one in named})
    for one in named:
        yield _gap(one, what, written.at(one.test))


def written_as(test: str) -> tuple[str, str]:
    """The file, if a list gives it, and class and test:
    ``CPython313-test_set-TestSet.test_len``."""
    found = _CPYTHON.match(test)
    return (found[1], test[found.end() :]) if found else ("", test)


class _Written:
    """The places of tests in some classes."""

    def __init__(self, tree: Tree, classes: Set[str]) -> None:
        self._places: dict[str, list[Location]] = defaultdict(list)
        self._tests: dict[str, list[str]] = defaultdict(list)
        rows = tree.store.query(
            "SELECT symbol,path,line FROM tests JOIN files ON files.id=tests.file"
            " WHERE substr(symbol,1,instr(symbol||'.','.')-1) IN (SELECT value FROM json_each(?))"
            " ORDER BY tests.rowid",
            (dumps(sorted(classes | {_DEVICE.sub("", cls) for cls in classes})),),
        )
        for symbol, path, line in rows:
            self._places[symbol].append(Location(path, line))
            cls, _, name = symbol.partition(".")
            self._tests[cls].append(name)

    def at(self, test: str) -> Location | None:
        """The place of a test: the function, the one it is generated from, or the inheriting
        class."""
        file, name = written_as(test)
        cls, _, function = name.partition(".")
        names = [name, *self._makers(_DEVICE.sub("", cls), function), cls]
        places = (place for one in names for place in self._places.get(one, ()))
        return next((p for p in places if not file or p.path.endswith(f"/{file}.py")), None)

    def _makers(self, cls: str, function: str) -> list[str]:
        """The tests of a class whose names begin a generated one, longest first."""
        made = (one for one in self._tests.get(cls, ()) if one and function.startswith(f"{one}_"))
        return [f"{cls}.{one}" for one in sorted(made, key=len, reverse=True)]


def _gap(one: Recorded, what: str, test: Location | None) -> Gap:
    fails = what == "expected_failures"
    text = "fails" if fails else "is skipped"
    rule = f"{one.place.path} says so; "
    rule += "where the test passes, the file goes" if fails else "nobody sees whether it passes"
    evidence = (one.place, *((test,) if test else ()))
    return Gap(
        test or one.place,
        f"{one.test} {text} under {one.under}",
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
