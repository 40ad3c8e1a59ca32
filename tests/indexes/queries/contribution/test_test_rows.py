"""Tables of test inputs without an OpInfo."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import cast

from indexes.queries.contribution.test_rows import class_rows, cxx_tests, makers_of
from indexes.queries.contribution.test_rows import test_rows as rows
from indexes.queries.corpus import Corpus
from indexes.queries.index import Index

_TEST = b"""TEST(Dict, Copies) {
  at::median(a);
  median_of(at::median(b));
}
"""
_TABLE = b"""tests = [
    ('median', (S, S), NO_ARGS),
    ('median', (S,), (0,), 'dim'),
    dict(module_name="MaxPool2d"),
    ('median_of', ()),
]
"""


def test_the_first_row_of_each_file_of_the_librarys_tests(tree_index: Index) -> None:
    corpus = Corpus(tree_index.facts, lambda path: _TABLE)
    (row, *more) = rows(corpus, "median", [])
    assert (row.word, row.location.line, row.lines) == ("median", 2, 2)
    assert all(one.location.path.startswith("torch/testing/") for one in (row, *more))
    assert {
        one.location.line for one in rows(corpus, "max_pool2d", ["torch.nn.functional.max_pool2d"])
    } == {4}
    assert list(rows(corpus, "absent", ["torch."])) == []
    assert {one.word for one in rows(corpus, "maxpool2d", [])} == {"MaxPool2d"}


def test_the_tables_that_name_a_class_most() -> None:
    rows = b"# Fold\ndict(constructor=lambda: nn.Fold(2))\n'Fold'\n"
    texts = {
        "torch/testing/_internal/common_nn.py": rows,
        "torch/testing/_internal/common_modules.py": b"ModuleInfo(torch.nn.Fold,\nUnfold\n",
        "torch/testing/_internal/common_more.py": b"nn.Fold(2)\nnn.Fold(3)\nnn.Fold(4)\n",
        "test/test_nn.py": b"Fold\n" * 9,
    }

    def files_with(_name: str, _group: str, fits: Callable[[str], bool]) -> list[str]:
        return [path for path in texts if fits(path)]

    corpus = cast(Corpus, SimpleNamespace(text=texts.__getitem__, files_with=files_with))
    found = [(str(row.location), row.lines) for row in class_rows(corpus, "Fold")]
    first, second, *_ = texts
    assert found == [(f"{first}:2", 2), (f"{second}:1", 1)]


def test_tests_in_cxx_that_call_a_function_most() -> None:
    texts = {f"aten/src/ATen/test/{at}_test.cpp": _TEST * at for at in range(1, 6)}
    texts["aten/src/ATen/native/Sort.cpp"] = _TEST * 9
    corpus = cast("Corpus", SimpleNamespace(paths=lambda kind: texts, text=texts.__getitem__))
    found = list(cxx_tests(corpus, "median", []))
    assert [(one.location.line, one.lines) for one in found] == [(2, 10), (2, 8), (2, 6)]
    first = next(cxx_tests(corpus, "median", ["aten/src/ATen/native/1/Sort.cpp"]))
    assert first.location.path.endswith("/1_test.cpp")
    assert not list(cxx_tests(corpus, "mode", []))


def test_files_that_make_tests_of_a_table() -> None:
    table, line = "torch/testing/tables.py", b"from torch.testing.tables import rows"
    texts = {f"test/test_{at}.py": b"\n" + line * (at < 2) for at in range(9)}
    corpus = cast("Corpus", SimpleNamespace(paths=lambda kind: texts, text=texts.__getitem__))
    found = [str(one) for one in makers_of(corpus, table)]
    assert found == ["test/test_0.py:2", "test/test_1.py:2"]
    texts |= dict.fromkeys(texts, line)  # what all test files import is what they are written with
    assert not list(makers_of(corpus, table))
