from __future__ import annotations

from indexes.readers.python.opinfo_tests import read_op_tests, read_test_functions


def test_a_file_without_a_function_has_no_test() -> None:
    for text in ("x = ops(op_db)\n", "", "# @ops(op_db)\n"):
        assert read_test_functions(text) == ()
        assert read_op_tests(text) == ()
