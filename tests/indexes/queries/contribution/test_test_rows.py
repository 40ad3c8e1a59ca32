"""Tables of test inputs without an OpInfo."""

from __future__ import annotations

from indexes.queries.contribution.test_rows import test_rows as rows
from indexes.queries.corpus import Corpus
from indexes.queries.index import Index

_TABLE = b"""tests = [
    ('median', (S, S), NO_ARGS),
    ('median', (S,), (0,), 'dim'),
    dict(module_name="MaxPool2d"),
    ('median_of', ()),
]
"""


def test_the_first_row_of_each_file_of_the_librarys_tests(tree_index: Index) -> None:
    corpus = Corpus(tree_index.facts, lambda path: _TABLE)
    (row, *more) = rows(corpus, ["median"])
    assert (row.word, row.location.line, row.lines) == ("median", 2, 2)
    assert all(one.location.path.startswith("torch/testing/") for one in (row, *more))
    assert {one.location.line for one in rows(corpus, ["max_pool2d", "MaxPool2d"])} == {4}
    assert list(rows(corpus, ["", "absent"])) == []
