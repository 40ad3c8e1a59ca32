"""Which tests of the small tree cover an operator, and how they are run."""

from __future__ import annotations

from pathlib import Path

import pytest

from indexes.linking.python.test_expressions import varied_names
from indexes.model.vocabulary import NativeFunction
from indexes.queries.index import Index
from indexes.queries.operator_tests import Suite
from indexes.readers.python.opinfo_tests import (
    read_instantiated,
    read_modules,
    read_op_lists,
    read_op_tests,
    read_parametrized,
)
from tests.indexing import opened


@pytest.fixture(scope="module")
def suite(tree_index: Index) -> Suite:
    return Suite(tree_index.facts)


def _native(index: Index, name: str) -> NativeFunction:
    native = index.native(name)
    assert native is not None
    return native


@pytest.mark.parametrize(
    ("op", "names", "expression"),
    [
        (
            "sin",
            ["test_out", "test_out_warning", "test_numerics"],
            "_sin_cpu and not _name_sin and not _masked_sin and not test_references",
        ),
        (
            "relu",
            ["test_out", "test_out_warning"],
            "_nn_functional_relu_cpu and not test_references",
        ),
        ("add.Tensor", ["test_out", "test_out_warning"], "_add_cpu and not test_references"),
    ],
)
def test_tests_made_from_opinfos(
    suite: Suite, tree_index: Index, op: str, names: list[str], expression: str
) -> None:
    (found,) = suite.of(_native(tree_index, op)).files
    assert found.path == "test/test_ops.py"
    assert list(found.names) == [f"TestCommon.{name}" for name in names]
    assert found.expression.arguments == ("-k", expression)
    assert found.expression.also == ()
    assert found.command == f"pytest test/test_ops.py -k '{expression}'"
    assert found.filtered == sum(name != "test_out" for name in names)


def test_a_test_file_that_is_for_other_devices_is_left_out(suite: Suite, tree_index: Index) -> None:
    assert suite.of(_native(tree_index, "sin"), "mps").files == ()
    assert len(suite.of(_native(tree_index, "sin"), "cuda").files) == 1


def test_tests_written_by_hand(suite: Suite, tree_index: Index) -> None:
    found = suite.of(_native(tree_index, "softmax.int")).named
    assert [one.command for one in found] == [
        "pytest test/test_nn.py -k 'TestNN and test_softmax_cpu'"
    ]


def test_a_tree_without_tests_says_so(tree_copy: Path, cache: Path) -> None:
    import shutil

    shutil.rmtree(tree_copy / "test")
    with opened(tree_copy, cache) as index:
        found = Suite(index.facts).of(_native(index, "sin"))
    assert [one.name for one in found.opinfos] == ["sin"]
    assert (found.files, found.missing != "") == ((), True)


def test_ways_to_write_the_decorator() -> None:
    text = """
only = ("cpu", "mps")
_a = ops(short_list, dtypes=None)
class TestA:
    _b = functools.partial(ops, dtypes=None)
    @skip
    @ops(one + two, dtypes=None)
    @other(1, 2)
    def test_1(self): pass
    @_a
    def test_2(self): pass
    @_b(filter(lambda op: op.x, three))
    def test_3(self): pass
    def test_4(self): pass
    # @ops(op_db)
    def helper(self): pass
instantiate_device_type_tests(
    TestA, globals(), only_for=only)
if X:
    instantiate_device_type_tests(TestB, globals())
"""
    assert [(one.name, one.chosen) for one in read_op_tests(text)] == [
        ("test_1", "one + two"),
        ("test_2", "short_list"),
        ("test_3", "filter(lambda op: op.x, three)"),
    ]
    assert read_instantiated(text) == {"TestA": frozenset({"cpu", "mps"}), "TestB": frozenset()}


PARAMETERS = """
some = ["a_b", "c"]
more = sorted(others)
def all_layouts(name="layout"):
    return parametrize(name, [subtest(torch.strided, name="Strided")])
kinds = parametrize("kind", [subtest(1, name="sin")])
class TestA:
    @all_layouts()
    @ops(op_db)
    def test_0(self): pass
    @ops(op_db)
    # a comment
    @all_layouts("x")
    def test_1(self): pass
    @common.parametrize("x", [1])
    @ops(op_db)
    @parametrize("executor", ["aten"])
    def test_2(self): pass
    @kinds
    def test_3(self):
        class TestInner:
            @ops(op_db)
            def test_inner(self): pass
    @parametrize("x", some)
    def test_4(self): pass
    @parametrize("x", more)
    def test_5(self): pass
    @modules(module_db)
    def test_6(self): pass
    @parametrize("f", [torch.sin, torch.cos], name_fn=lambda f: f.__name__)
    def test_7(self): pass
    @parametrize("x", [torch.float32, torch.nan])
    @parametrize("y", range(3))
    @parametrize("z", [one for one in more])
    def test_8(self): pass
"""


def test_what_follows_an_opinfo_in_the_names_of_its_tests() -> None:
    assert [(one.name, one.ending) for one in read_op_tests(PARAMETERS)] == [
        ("test_0", None),
        ("test_1", ""),
        ("test_2", "executor"),
    ]


def test_names_that_parameters_give() -> None:
    lists = {one.name: one.text for one in read_op_lists(PARAMETERS)}
    found = [
        (one.name, varied_names(one, ["sin", "c", "Strided"], ["nn_Sin"], lists))
        for one in read_parametrized(PARAMETERS)
        if one.name not in ("test_0", "test_1", "test_2")
    ]
    assert found == [
        ("test_3", ("test_3_sin",)),
        ("test_4", ("test_4_x_c",)),
        ("test_5", None),
        ("test_6", ("test_6_nn_Sin",)),
        ("test_7", ("test_7_f_sin",)),
        ("test_8", ()),
        ("test_8", ()),
        ("test_8", None),
    ]


def test_modules_of_the_testing_library() -> None:
    text = "ModuleInfo(torch.nn.Sin,\n  a)\nModuleInfo(\n  torch.ao.nn.Cos)"
    assert read_modules(text) == ("nn_Sin", "ao_nn_Cos")


def test_a_table_of_opinfos_is_no_list_made_of_others() -> None:
    text = 'db = [\n    OpInfo("a"),\n]\nmore = [o for o in db\n  if o.x]\nsum_ = db + more\n'
    assert [one.name for one in read_op_lists(text)] == ["more", "sum_"]
