"""Another Python asked for what it knows."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from indexes.model.errors import SourceError
from navigator.live.python_process import ask, ask_each


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


def test_those_that_are_asked_at_once_end_with_the_first_that_fails(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    waits = f"import os; os.symlink(str(os.getpid()), {str(mark)!r}); input()"
    fails = f"import os\nwhile not os.path.islink({str(mark)!r}): pass\nraise OSError('no')"
    with pytest.raises(SourceError, match="no"):
        ask_each(sys.executable, ("-c", fails), ("-c", waits))
    with pytest.raises(ProcessLookupError):
        os.kill(int(os.readlink(mark)), 0)
