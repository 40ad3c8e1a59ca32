"""Another Python asked for what it knows."""

from __future__ import annotations

import sys

import pytest

from indexes.model.errors import SourceError
from navigator.live.python_process import ask


def test_its_answer_is_decoded() -> None:
    echo = "import json, sys; print(json.dumps([sys.stdin.read(), *sys.argv[1:]]))"
    assert ask(sys.executable, "-c", echo, "ä", words="b\n") == ["b\n", "ä"]


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("print('words')", "Expecting value"),
        ("import no_such_module", "No module named 'no_such_module'"),
        ("import sys; sys.exit(3)", "status 3"),
        ("import time; time.sleep(60)", "timed out"),
    ],
)
def test_what_goes_wrong_is_one_line(code: str, says: str) -> None:
    with pytest.raises(SourceError, match=says) as error:
        ask(sys.executable, "-c", code, timeout=2)
    assert "\n" not in str(error.value)


def test_a_python_that_is_not_there() -> None:
    with pytest.raises(SourceError, match="no-such-python"):
        ask("no-such-python")
