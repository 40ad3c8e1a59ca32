"""Test functions and what they call of what they are named for."""

from __future__ import annotations

from indexes.model.files import unpack
from indexes.readers.python.blocks import Text
from indexes.readers.python.tests import read_tests

SOURCE = """# Owner(s): ["module: nn"]
class TestX(TestCase):
    def test_add_out(self):
        class Module:
            pass

        x.add_(b)
        y = torch.ops.aten.add.out(a, b)
        # torch.add(a, b) comes later

    def test_addmm(self):
        x.mm(y)
        x.add(y)

    def test_nn_relu_(self):
        x.relu_()


def helper():
    torch.add_out(a)
"""


def test_calls_by_a_word_of_the_name() -> None:
    facts = [fact for fact in read_tests(Text(SOURCE.encode())) if fact.kind == "test_call"]
    assert [(fact.target, fact.symbol, fact.line, fact.end_line) for fact in facts] == [
        ("add", "TestX.test_add_out", 3, 8),
        ("out", "TestX.test_add_out", 3, 8),
        ("relu", "TestX.test_nn_relu_", 15, 16),
    ]
    by_full_name, _, method = (unpack(fact.detail) for fact in facts)
    assert by_full_name == {"calls": "torch.ops.aten.add.out", "at": "8", "qualified": "1"}
    assert method == {"calls": ".relu_", "at": "16"}


def test_a_function_in_a_test_is_no_test_of_its_own() -> None:
    source = "class TestX:\n    def test_all(self):\n        def test_relu(x):\n"
    source += "            return torch.relu(x)\n"
    facts = [fact for fact in read_tests(Text(source.encode())) if fact.kind != "class"]
    assert [(fact.kind, fact.target, fact.symbol, fact.line) for fact in facts] == [
        ("test", "", "TestX.test_all", 2),
        ("test_call", "relu", "TestX.test_all", 3),
    ]


def test_a_function_that_is_passed_on_counts_as_called() -> None:
    source = "class TestX:\n    def test_cummax_relu_add(self):\n        x.relu, self.add)\n"
    source += "        check(torch.cummax, [torch.add])\n"
    facts = [fact for fact in read_tests(Text(source.encode())) if fact.kind == "test_call"]
    assert [(one.target, unpack(one.detail)["calls"]) for one in facts] == [
        ("cummax", "torch.cummax"),
        ("add", "torch.add"),
    ]
