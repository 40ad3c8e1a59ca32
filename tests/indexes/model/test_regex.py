from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from indexes.model.regex import ASCII, MULTILINE, VERBOSE, regex


def test_flags_are_those_of_re() -> None:
    assert (ASCII, MULTILINE, VERBOSE) == (re.ASCII, re.MULTILINE, re.VERBOSE)


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


_USED = """
import sys
from indexes.regex import regex
word = regex(r"(?x) (?P<first> [a-z]) (\\w*)", 2)
found = word.match("Add_ x")
print(found["first"], found[2], word.groups, regex(rb"\\d").search(b"a1").start())
print("re" in sys.modules)
"""


def _used(kept: Path, **variables: str) -> list[str]:
    """What is found in a process of its own, and whether it had to compile."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(kept), **variables}
    run = [sys.executable, "-c", _USED]
    done = subprocess.run(run, capture_output=True, text=True, check=True, env=environment)
    return done.stdout.splitlines()


@pytest.fixture
def writing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="this Python compiles in another way")
@pytest.mark.usefixtures("writing")
def test_what_is_compiled_once_is_kept_for_the_next_process(tmp_path: Path) -> None:
    first = _used(tmp_path)
    assert first == ["A dd_ 2 1", "True"]
    assert _used(tmp_path) == [first[0], "False"]


@pytest.mark.usefixtures("writing")
@pytest.mark.parametrize("damage", ["cut off", "overwritten", "is a folder"])
def test_damage_to_what_is_kept_costs_time_alone(tmp_path: Path, damage: str) -> None:
    first = _used(tmp_path)
    for file in tmp_path.rglob("*.programs"):
        data = file.read_bytes()
        if damage == "is a folder":
            file.unlink()
            file.mkdir()
        else:
            half = data[: len(data) // 2]
            file.write_bytes(half if damage == "cut off" else half + bytes(len(data) // 2))
    for _ in range(3):
        assert _used(tmp_path)[0] == first[0]


def test_nothing_is_kept_where_python_keeps_no_bytecode(tmp_path: Path) -> None:
    _used(tmp_path, PYTHONDONTWRITEBYTECODE="1")
    assert not [*tmp_path.rglob("*.programs")]


@pytest.mark.parametrize(
    "module", ["names", "schema", "linking.reach", "linking.dtypes", "readers.cpp"]
)
def test_importing_compiles_none(module: str) -> None:
    run = [sys.executable, "-c", "import json, tokenize\n" + _COMPILED.format(module=module)]
    done = subprocess.run(run, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]
