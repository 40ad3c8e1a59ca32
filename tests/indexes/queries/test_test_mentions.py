"""Test files by what they name, and by the words of their paths."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.linking.python.paths import NamedTest, ranked_tests
from indexes.linking.python.test_expressions import Expression, joined
from indexes.model.vocabulary import Location
from indexes.queries.impact.answers import Impacts
from indexes.queries.operator_tests import Suite
from indexes.queries.test_mentions import TestMentions as Mentions
from indexes.queries.test_mentions import is_of
from indexes.queries.test_mentions import test_of as outer_test
from tests.indexing import append, opened

_OPTIM = """
class TestOptim:
    def test_step(self):
        def test_inner():
            torch.optim.Adam([])
        test_inner()

    def test_other(self):
        pass
"""
_FREEZING = "make_tests(Adam, SGD)\n\n\nclass TestFreezing:\n    def test_it(self):\n        pass\n"
_LINALG = """
class TestLinalg:
    def test_softmax(self, device):
        torch.softmax(None, 0)

    def test_softmax_twice(self, device):
        torch.softmax(None, 0)
"""


@pytest.fixture
def tree(tree_copy: Path) -> Path:
    (tree_copy / "test/optim").mkdir()
    (tree_copy / "test/optim/test_optim.py").write_text(_OPTIM)
    (tree_copy / "test/test_freezing.py").write_text(_FREEZING)
    (tree_copy / "test/test_softmax.py").write_text("")
    (tree_copy / "test/test_functional.py").write_text(_LINALG)
    return tree_copy


_RAISING = r"""
class TestFill:
    def test_it(self):
        with self.assertRaisesRegex(RuntimeError, "Expected dtype int64"):
            fill()
        err_msg = r"Nobody may .* the value\."
        with self.assertRaisesRegex(RuntimeError, err_msg):
            fill()
"""
_CERR = """TEST(Fill, Warns) {
  ASSERT_EQ(count(buffer.str(), "fill_(): Expected dtype int64 for index"), 2);
  ASSERT_EQ(buffer.str(), "something else that is said");
}
"""


def test_files_that_ask_for_words_of_a_message(tree: Path, cache: Path) -> None:
    (tree / "test/test_fill.py").write_text(_RAISING)
    (tree / "aten/src/ATen/test").mkdir(exist_ok=True)
    (tree / "aten/src/ATen/test/fill.cpp").write_text(_CERR)
    with opened(tree, cache) as index:
        facts = Impacts(index).facts
        mentions = Mentions(facts.corpus, facts.store)
        asking = [str(one) for one in mentions.asking("fill_(): Expected dtype int64 for index")]
        assert asking == ["test/test_fill.py:4", "aten/src/ATen/test/fill.cpp:2"]
        assert [one.path for one in mentions.saying("Expected dtype int64")] == [
            "test/test_fill.py",
            "aten/src/ATen/test/fill.cpp",
        ]
        named = [str(one) for one in mentions.asking("Nobody may ${what} the value.")]
        assert named == ["test/test_fill.py:6"]
        assert not list(mentions.asking("no test asks for this"))


def test_files_that_name_something_the_nearest_first(tree: Path, cache: Path) -> None:
    with opened(tree, cache) as index:
        facts = Impacts(index).facts
        mentions = Mentions(facts.corpus, facts.store)
        near, other = mentions.naming(["Adam"], "torch/optim/_adam.py", 5)
        assert near.command == "pytest test/optim/test_optim.py -k 'TestOptim and test_step'"
        assert (near.names, near.rule) == (("TestOptim.test_step",), "names Adam on 1 line")
        # Outside of tests: whatever is made of it may use it, so the file is run whole.
        assert other.command == "pytest test/test_freezing.py"
        assert list(mentions.naming(["NoSuchName"], "torch/optim/_adam.py", 5)) == []


def test_files_whose_path_has_the_words_of_a_path(tree: Path, cache: Path) -> None:
    with opened(tree, cache) as index:
        facts = Impacts(index).facts
        mentions = Mentions(facts.corpus, facts.store)
        for path, wanted in (
            ("torch/csrc/jit/passes/freeze_module.cpp", "test/test_freezing.py"),
            ("torch/optim/sgd.py", "test/optim/test_optim.py"),
            ("aten/src/ATen/native/SoftMax.cpp", "test/test_softmax.py"),
        ):
            assert next(mentions.near(path, 3)).path == wanted
        assert list(mentions.near("cmake/Something.cmake", 3)) == []


@pytest.mark.parametrize(
    ("test", "path", "own"),
    [
        ("test/test_optim.py", "torch/optim/sgd.py", True),
        ("test/profiler/test_profiler.py", "torch/autograd/profiler.py", True),
        ("test/nn/test_init.py", "torch/nn/functional.py", False),
        ("test/autograd/test_functional.py", "torch/nn/functional.py", False),
        ("test/test_utils.py", "torch/utils/data/sampler.py", False),
        ("test/distributed/test_store.py", "torch/distributed/store.py", True),
    ],
)
def test_a_test_file_named_after_a_module_alone(test: str, path: str, own: bool) -> None:
    assert is_of(test, path) == own


def test_a_common_word_leads_to_the_file_of_that_name_after_rarer_ones(
    tree: Path, cache: Path
) -> None:
    for name in ("test_sgd_other.py", "optim/test_first.py", "optim/test_second.py"):
        (tree / "test" / name).write_text("")
    with opened(tree, cache) as index:
        facts = Impacts(index).facts
        near = Mentions(facts.corpus, facts.store).near("torch/softmax/sgd/optim.cpp", 2)
        assert [one.path for one in near] == ["test/test_softmax.py", "test/optim/test_optim.py"]


def test_what_changes_in_python_has_the_tests_that_name_it(tree: Path, cache: Path) -> None:
    with opened(tree, cache) as index:
        found = Impacts(index).impact("torch.optim._adam.Adam")
    first = found.tests[0]
    assert first.path == "test/optim/test_optim.py"
    assert [test.tier for test in found.tests[:5]] == ["now"] * min(5, len(found.tests))


def test_tests_named_after_an_operator_are_one_command_a_file(tree: Path, cache: Path) -> None:
    with opened(tree, cache) as index:
        native = index.native("softmax.int")
        assert native is not None
        named = Suite(index.facts).of(native).named
    # test_softmax_twice is selected by the words of test_softmax.
    assert named[0].command == "pytest test/test_functional.py -k 'TestLinalg and test_softmax'"
    assert named[0].names == ("TestLinalg.test_softmax", "TestLinalg.test_softmax_twice")


def _named(path: str, name: str, call: str, word: str = "svd") -> NamedTest:
    at = Location(path, 1, 1)
    return NamedTest(path, f"TestX.{name}", 1, 2, word, call, call.startswith("torch"), at)


def test_the_file_named_after_a_part_of_a_public_name_comes_first() -> None:
    tests = [
        _named("test/test_a.py", "test_svd", "torch.ops.mine.svd"),
        _named("test/distributed/test_math.py", "test_svd", "torch.linalg.svd"),
        _named("test/test_b.py", "test_svd", "torch.svd"),
        _named("test/test_linalg.py", "test_x_svd", "torch.linalg.svd"),
        _named("test/test_linalg.py", "test_svd_y", ".svd"),
    ]
    ranked = ranked_tests(tests, ["torch._C._linalg.linalg_svd", "torch.linalg.svd"])
    assert [one.symbol.rpartition(".")[2] for one in ranked[:2]] == ["test_svd_y", "test_x_svd"]
    assert ranked[2].path == "test/distributed/test_math.py"


def test_expressions_of_one_file_are_joined() -> None:
    one, other = Expression("pytest", ("-k", "A and x")), Expression("pytest", ("-k", "B and y"))
    wider = Expression("pytest", ("-k", "A and x_more"))
    assert joined([one, wider]) == one
    assert joined([one, other]).arguments == ("-k", "(A and x) or (B and y)")
    patterns = [Expression("unittest", ("-k", f"*.{name}")) for name in "ab"]
    assert joined(patterns).arguments == ("-k", "*.a", "-k", "*.b")
    assert joined([one, *patterns]).arguments == ()


def test_a_test_is_what_stands_outermost() -> None:
    assert outer_test("TestNN.test_x.Inner.test_y") == "TestNN.test_x"
    assert outer_test("make_tests.run") == ""


def test_tests_of_tables_have_names_of_rows_only_where_they_are_set_on_a_class(
    tree_copy: Path, cache: Path
) -> None:
    lists = "from torch.testing._internal.lists import rows\n"
    files = {
        "torch/testing/_internal/lists.py": "rows = [('softmax', 1)]\n",
        "test/test_looped.py": f"{lists}class TestRows:\n    def test_all(self): list(rows)\n",
        "test/test_made.py": f"{lists}for one in rows: setattr(TestRows, one[0], run)\n",
    }
    append(tree_copy, files)
    with opened(tree_copy, cache) as index:
        facts = Impacts(index).facts
        found = Mentions(facts.corpus, facts.store)
        commands = [one.command for one in found.of_tables("softmax", ())]
    assert commands[1:] == ["pytest test/test_looped.py", "pytest test/test_made.py -k softmax"]
    assert commands[0] == "pytest test/test_ops.py -k softmax"
