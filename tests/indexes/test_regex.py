from __future__ import annotations

import re
import subprocess
import sys

import pytest

from indexes.regex import regex


def test_it_is_a_pattern_from_its_first_use() -> None:
    word = regex(r"(?P<first>[a-z])\w*", re.IGNORECASE)
    found = word.match("Add_ x")
    assert found is not None
    assert (found["first"], found.end()) == ("A", 4)
    assert word.findall("a b") == ["a", "b"]
    assert [m.start() for m in word.finditer("a b")] == [0, 2]
    assert word.sub("-", "a b") == "- -"
    assert (word.groups, word.pattern) == (1, r"(?P<first>[a-z])\w*")
    assert regex(rb"\d").search(b"a1") is not None


def test_a_wrong_one_is_an_error_when_it_is_used() -> None:
    wrong = regex("(")
    with pytest.raises(re.error):
        wrong.match("")


_COMPILED = """
import re
made = []
compile_ = re._compiler.compile if hasattr(re, "_compiler") else re.sre_compile.compile
def noted(pattern, flags=0):
    made.append(pattern)
    return compile_(pattern, flags)
(re._compiler if hasattr(re, "_compiler") else re.sre_compile).compile = noted
import indexes.{module}
print(len(made))
"""


@pytest.mark.parametrize(
    "module", ["names", "schema", "linking.reach", "linking.dtypes", "readers.cpp"]
)
def test_importing_compiles_none(module: str) -> None:
    run = [sys.executable, "-c", "import json, tokenize\n" + _COMPILED.format(module=module)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]
