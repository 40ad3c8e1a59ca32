"""Test files that mention something, or whose path has the words of another path."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache

from indexes.linking.python.test_expressions import Expression
from indexes.model.lines import LineCount, length_in_common
from indexes.model.regex import regex
from indexes.model.vocabulary import Location, NativeFunction
from indexes.queries.contribution.test_rows import makers_of, test_rows
from indexes.queries.corpus import Corpus
from indexes.queries.operator_tests import OperatorTests, Selection, selection_of
from indexes.readers.python.blocks import Text, innermost, occurrences
from indexes.store.index_file import Store

_MOST_FILES = 5
_MOST_TESTS = 12
"""With more tests, the file is run as a whole."""
_ALIKE = 4
"""Letters in which forms of a word agree: ``conv`` and ``convolution``."""
_ASSERTED = regex(
    r"(?:assertRaisesRegexp?\([^\"'\n]*|\b\w*(?:err|msg|message|[rR]egex)\w*\s*=\s*)\n?\s*"
    r"[rf]*(\"[^\"\n]*\"|'[^'\n]*')"
)
_ANYTHING = regex(r"\.[*+]\??")
_LETTER = regex(rb"\w")
_QUOTED = regex(r"(\"[^\"\\\n]{12,}\")")
_CXX_TEST = regex(r".*/test/")
_SHORTEST = 8
"""Fewest letters of an expected text that distinguish it."""
_PARTS = regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_TEST_NAME = regex(r"(?:^|/)(?:test_[^/]*|[^/]*_test)\.py$")


class TestMentions:
    """The test files of one tree."""

    __test__ = False

    def __init__(self, corpus: Corpus, store: Store) -> None:
        self._corpus = corpus
        self._store = store
        self.score = lru_cache(256)(self._scores)
        self._forms = lru_cache(256)(self._forms_of)

    def naming(self, words: Sequence[str], path: str, most: int) -> Iterator[Selection]:
        """The test files with one of some words, those first whose path has most words of ``path``,
        then those with most occurrences."""
        wanted = [word for word in dict.fromkeys(words) if len(word) > 2]
        found = ((one, _spots(self._corpus.text(one), wanted)) for one in self._files if wanted)
        spots = {one: places for one, places in found if places}
        near = self.score(path)
        ranked = sorted(spots, key=lambda p: -len(spots[p]) * (1 + 9 * near.get(p, 0)))
        for one in ranked[:most]:
            yield self._selection(one, spots[one], ", ".join(wanted[:3]))

    def _selection(self, path: str, spots: Sequence[int], words: str) -> Selection:
        text, count = self._corpus.text(path), len(spots)
        lines = list(map(LineCount(text), spots))
        tests = self._tests_around(text, lines)
        rule = f"names {words} on {count} line{'s' * (count != 1)}"
        return self._of_tests(path, tests, rule) or _whole(path, lines[0], rule)

    def _tests_around(self, text: bytes, lines: Iterable[int]) -> dict[str, int]:
        blocks = Text(text).blocks
        found: dict[str, int] = {}
        for line in lines:
            block = innermost(blocks, line)
            name = block.head.qualified if block else ""
            test = test_of(name)
            if block is None or not test:
                return {}  # what the file's tests are made of: all of them may use it
            found.setdefault(test, block.head.line)
        return found

    def _of_tests(self, path: str, tests: Mapping[str, int], rule: str) -> Selection | None:
        if not 0 < len(tests) <= _MOST_TESTS:
            return None
        places = tuple(Location(path, line) for line in tests.values())
        return selection_of(self._store, path, [*tests], places, rule)

    def of_tables(self, name: str, public: Sequence[str]) -> Iterator[Selection]:
        """The test files with tests from tables that have a row for an operator: named after rows
        where they are set on a class or made for each, else of all rows at once."""
        for row in test_rows(self._corpus, name, public):
            for where in makers_of(self._corpus, row.location.path):
                rule = f"makes tests from {row.location}, which names {row.word}"
                text = self._corpus.text(where.path)
                is_named = b"setattr(" in text or b"@ops(" in text
                one = _whole(where.path, where.line, rule)
                expression = Expression("pytest", ("-k", row.word))
                yield replace(one, expression=expression) if is_named else one

    def asking(self, message: str) -> Iterator[Location]:
        """Tests that expect words of a message to be raised, or have them in a text of C++
        tests."""
        for path in self._corpus.paths("test") if len(message) >= _SHORTEST else ():
            text = self._corpus.text(path).decode("utf-8", "replace")
            found = _ASSERTED.finditer(text) if "Regex" in text else ()
            yield from (_place(path, text, one) for one in found if _is_said(one[1], message))
        for path in (one for one in self._corpus.paths("cpp") if _CXX_TEST.match(one)):
            text = self._corpus.text(path).decode("utf-8", "replace")
            found = _QUOTED.finditer(text)
            yield from (_place(path, text, one) for one in found if _is_said(one[1], message))

    def saying(self, message: str) -> Iterator[Selection]:
        """The test files that expect words of a message."""
        first: dict[str, Location] = {}
        for where in self.asking(message):
            first.setdefault(where.path, where)
        for path, where in list(first.items())[:_MOST_FILES]:
            yield _whole(path, where.line, f"line {where.line} asks for words of the message")

    # ------------------------------------------------------------------------- by path

    def near(self, path: str, most: int) -> Iterator[Selection]:
        """The test files whose path has the words of a path, rarest words first: the best, then
        those without other words, then those with these very words."""
        scores, shared, own = self.score(path), self._forms(path), _words_of(path)
        ranked = sorted(scores, key=lambda p: (-scores[p], p.count("/"), p))
        named = {one: _words_of(one.rpartition("/")[2]) for one in ranked}
        found = [one for at, one in enumerate(ranked[:most]) if at == 0 or named[one] <= shared]
        found += (one for one in ranked[most:] if named[one] <= own)
        for one in found[:most]:
            words = ", ".join(sorted(self._words[one] & shared))
            yield _whole(one, 1, f"its path has {words}, as the path of what changes")

    def _scores(self, path: str) -> dict[str, float]:
        """How much of each test file's path is in a path: rare words and exact forms count more,
        and names without other words."""
        found: dict[str, float] = {}
        for wanted in _words_of(path):
            forms = {word for word in self._known if _alike(word, wanted)}
            files = {one: forms & words for one, words in self._words.items() if forms & words}
            for one, shared in files.items():
                found[one] = found.get(one, 0) + (1 + (wanted in shared)) / len(files)
        return {one: score * self._covered(one, path) for one, score in found.items()}

    def _covered(self, test: str, path: str) -> float:
        own = _words_of(test.rpartition("/")[2])
        return (len(own & self._forms(path)) + 0.5) / (len(own) + 0.5)

    def _forms_of(self, path: str) -> set[str]:
        wanted = _words_of(path)
        return {word for word in self._known if any(_alike(word, one) for one in wanted)}

    @cached_property
    def _files(self) -> list[str]:
        return [path for path in self._corpus.paths("test") if _TEST_NAME.search(path)]

    @cached_property
    def _words(self) -> dict[str, set[str]]:
        return {path: _words_of(path) for path in self._files}

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(word for words in self._words.values() for word in words)


def with_mentions(
    found: OperatorTests, op: NativeFunction, names: Sequence[str], mentions: TestMentions
) -> OperatorTests:
    """The tests of an operator, and the files that use its public names most. Its bare name is
    searched if no test has it."""
    short = [one.replace("torch.nn.functional.", "F.") for one in names]
    words = [op.name.rstrip("_"), *names, *short]
    wanted = [word for word in words if "." in word or not found.named]
    listed = {one.path for one in (*found.files, *found.named)}
    naming = [*mentions.naming(wanted, "", _MOST_FILES)]
    if not found.opinfos:
        naming += mentions.of_tables(op.name, names)
    more = {one.path: one for one in reversed(naming) if one.path not in listed}
    return replace(found, named=(*found.named, *reversed(more.values())))


def test_of(name: str) -> str:
    """The test that encloses a place: ``TestNN.test_x`` for ``TestNN.test_x.Inner.f``."""
    parts = name.split(".")
    ends = (at for at, part in enumerate(parts) if part.startswith("test"))
    return ".".join(parts[: next(ends, -1) + 1])


def _spots(text: bytes, words: Iterable[str]) -> list[int]:
    """Offsets of whole words."""
    places = (
        (at, at + len(one)) for one in map(str.encode, words) for at in occurrences(text, one)
    )
    spots, end = list[int](), 0
    for start, stop in sorted(places, key=lambda span: (span[0], -span[1])):
        around = text[start - 1 : start], text[stop : stop + 1]
        if start >= end and not any(map(_LETTER.match, around)):
            spots.append(start)
            end = stop
    return spots


def _place(path: str, text: str, found: re.Match[str]) -> Location:
    return Location(path, text.count("\n", 0, found.start(1)) + 1)


def _is_said(quoted: str, message: str) -> bool:
    pattern = quoted.strip("\"'").replace("\\", "").strip(".*^$ ")
    parts = _ANYTHING.split(pattern)  # whatever stands between is not in the source
    is_part = all(part in message for part in parts)
    return len("".join(parts)) >= _SHORTEST and (is_part or message.strip() in pattern)


def _words_of(path: str) -> set[str]:
    whole = path.rpartition(".")[0] or path
    return {word.lower() for word in _PARTS.findall(whole)} - {"test", "tests", "torch", "init"}


def is_of(test: str, path: str) -> bool:
    """Whether a test file is named after nothing but a module or its package: ``test_optim.py``
    for ``torch/optim/sgd.py``."""
    folder, _, name = path.rpartition("/")
    own = _words_of(test.rpartition("/")[2])
    named = (_words_of(name), _words_of(folder.rpartition("/")[2]))
    return bool(own) and own in named and _words_of(test) <= _words_of(path)


def _alike(one: str, other: str) -> bool:
    """Whether two words are forms of one: ``freeze`` and ``freezing``."""
    shared = length_in_common(one, other)
    return one == other or shared >= max(_ALIKE, min(len(one), len(other)) - 1)


def _whole(path: str, line: int, rule: str) -> Selection:
    return Selection(path, Expression("pytest", ()), (Location(path, line),), (path,), rule)
