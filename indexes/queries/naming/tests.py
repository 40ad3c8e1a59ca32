"""Names of tests as unittest, pytest and CI print them: written ones, and those made from them with
device, dtype and operator at the end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from string import ascii_uppercase
from typing import NamedTuple

from indexes.linking.python.paths import Found
from indexes.model.answers import Hit, NameMatch
from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Confidence, Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.query import NameQuery, match_of
from indexes.queries.operator_tests import formatted_name
from indexes.store.registrations import classes_named, tests_starting

_PRINTED = regex(
    r"(?:\d{4}-\d\d-\d\dT[\d:.]+Z\s+)?(?:(?:DISABLED|FAILED|ERROR|PASSED|FLAKY|python3?|pytest|-\w|\[[^\]]*\])\s+)*"
    r"(?:(?P<file>[\w./-]+\.py)(?:::|\s+)(?:-\w+\s+)*)?"
    r"(?:(?:[\w,-]+\.)*(?P<cls>[A-Z_]\w*)(?:[.,]|::))?(?P<test>test(?:_|[A-Z])\w*)(?:\[[^\]]*\])?"
    r"(?:\s+\((?:[\w.]+\.)?(?P<of>[A-Z_]\w*)(?:\.test\w*)?\))?(?:\s+(?:-|\.\.\.).*)?"
)
_MOST = 12


class _Asked(NamedTuple):
    """The parts of a printed test name; empty if not given."""

    test: str
    cls: str
    file: str

    def fits(self, found: Found) -> bool:
        """Whether a test is in this class, possibly with a device suffix, and in this file."""
        path, fact = found
        owner = fact.symbol.rpartition(".")[0].rpartition(".")[2]
        is_class = not self.cls or self.cls == owner or self.cls[len(owner) :].isupper()
        is_class = is_class and self.cls.startswith(owner if self.cls else "")
        return is_class and f"/{path}".endswith(f"/{self.file}" if self.file else "")


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The test of a name with class or file; for a bare name ``find_bare``."""
    asked = _asked(query.raw)
    return _find(asked, index) if asked and (asked.cls or asked.file) else None


def find_bare(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The test of ``test_out_add_cpu_float32``, or the one it is made from."""
    asked = _asked(query.raw)
    return _find(asked, index) if asked else None


def _asked(text: str) -> _Asked | None:
    found = _PRINTED.fullmatch(text.strip("`'\"_ \n"))
    if found is None:
        return None
    return _Asked(found["test"], found["cls"] or found["of"] or "", found["file"] or "")


def _find(asked: _Asked, index: IndexedTree) -> NameMatch | None:
    found = [one for one in tests_starting(index.facts.store, asked.test) if _is(asked.test, one)]
    classes = _classes(asked, index)
    homes = {path for path, _ in classes}
    fitting = [one for one in found if asked.fits(one)]
    fitting = fitting or [one for one in found if one[0] in homes] or _in_file(found, asked)
    if not (fitting or classes):
        fitting = found
    longest = max((len(_last(one)) for one in fitting), default=0)
    best = [one for one in fitting if len(_last(one)) == longest]
    rest = asked.test[longest:].lstrip("_")
    if best and not rest:
        return _match(best, "", index)
    made = [one for one in best if _is_made(one, rest, index)]
    listed = [one for one in made if _MAKES.search(_above(one, index))]
    if listed and (_DTYPE.search(rest) or next(_opinfos(rest, index), None)):
        made = listed  # the others are given no dtype, and run no OpInfo
    return _match(made, asked.test, index) if made else _of_class(asked, classes, index)


def _classes(asked: _Asked, index: IndexedTree) -> list[Found]:
    """The classes of a printed name, in the given file; device suffixes are generated."""
    names = dict.fromkeys((asked.cls, asked.cls.rstrip(ascii_uppercase))) if asked.cls else ()
    named = (classes_named(index.facts.store, name) for name in names if name)
    found = next(filter(None, named), [])
    return _in_file(found, asked) or found


def _match(found: list[Found], made: str, index: IndexedTree) -> NameMatch:
    hits = [_hit(one) for one in found[:_MOST]]
    if rest := made[len(_last(found[0])) + 1 :]:
        hits += _opinfos(rest, index)
    note = f"no test is written as {made}: it is made of this one" if made else ""
    sure: Confidence = "ambiguous" if len(found) > 1 else "by rule" if made else "exact"
    return NameMatch("symbol", found[0][1].symbol, hits=tuple(hits), note=note, confidence=sure)


def _is(test: str, found: Found) -> bool:
    nested = "test" in found[1].symbol.rpartition(".")[0]
    return f"{test}_".startswith(f"{_last(found)}_") and not nested


def _last(found: Found) -> str:
    return found[1].symbol.rpartition(".")[2]


def _in_file(found: Iterable[Found], asked: _Asked) -> list[Found]:
    """Tests in the given file, or in one from which another takes its tests."""
    return [one for one in found if asked.file and asked._replace(cls="").fits(one)]


def _is_made(found: Found, rest: str, index: IndexedTree) -> bool:
    """Whether other tests are made from it: for devices, or by a decorator."""
    devices = {name.lower() for name in index.dispatch.keys.backends}
    return bool(_MAKES.search(_above(found, index))) or not devices.isdisjoint(rest.split("_"))


def _above(found: Found, index: IndexedTree) -> str:
    path, fact = found
    lines = index.read(path).split("\n")[: fact.line - 1]
    return "\n".join(lines[-_ABOVE:]).rpartition("\n\n")[2]


_MAKES = regex(r"^\s*@\w*(?:ops|modules|optims|parametri[zs]e|dtypes)\w*\(", MULTILINE)
_DTYPE = regex(r"(?:\A|_)(?:u?int\d+|b?float\d+|complex\d+)\Z")
_ABOVE = 60


def _hit(found: Found) -> Hit:
    path, fact = found
    return Hit("test", fact.symbol, Location(path, fact.line, fact.end_line))


def _of_class(asked: _Asked, found: list[Found], index: IndexedTree) -> NameMatch | None:
    """A test assigned in a class body; else the class."""
    hits = [Hit("class", fact.symbol, Location(path, fact.line)) for path, fact in found]
    assigned = re.compile(rf"^[ \t]+{asked.test}[ \t]*=", re.MULTILINE)
    for path, _ in found:
        for one in assigned.finditer(text := index.read(path)):
            line = text.count("\n", 0, one.start()) + 1
            hit = Hit("test", asked.test, Location(path, line))
            return NameMatch("symbol", asked.test, hits=(hit,))
    note = f"no test is written as {asked.test} here; this is its class"
    return match_of("symbol", asked.cls, hits, note, "by rule")


def _opinfos(rest: str, index: IndexedTree) -> Iterator[Hit]:
    """The OpInfo of a made test: the longest matching name."""
    rows = index.facts.python.of_kinds("opinfo")
    named = [(formatted_name(fact), path, fact) for path, fact in rows]
    fitting = [one for one in named if f"{rest}_".startswith(f"{one[0]}_")]
    longest = max((len(name) for name, *_ in fitting), default=0)
    places = {
        Location(path, fact.line, fact.end_line): name
        for name, path, fact in fitting
        if len(name) == longest
    }
    return (Hit("opinfo", name, place, "the OpInfo in it") for place, name in places.items())
