"""Another Python, which may have torch, in a process of its own: it answers with JSON, or runs our
code."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from indexes.model.errors import SourceError


def ask(python: str, *arguments: str, words: str = "", timeout: float | None = None) -> Any:
    """What ``python ARGUMENTS...`` writes for ``words`` on its standard input, decoded.

    Raises
    ------
    SourceError
        In one line, when it cannot run, fails, or takes more than ``timeout`` seconds.
    """
    return ask_each(python, arguments, words=words, timeout=timeout)[0]


def ask_each(
    python: str, *commands: Sequence[str], words: str = "", timeout: float | None = None
) -> list[Any]:
    """The same of several processes beside each other. None outlives an error or ctrl+c."""
    with ExitStack() as stack:
        try:
            started = [stack.enter_context(_process([python, *one])) for one in commands]
            return [_answer(one, words, timeout) for one in started]
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            raise SourceError(f"{python}: {error}") from error


@contextmanager
def _process(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _answer(process: subprocess.Popen[str], words: str, timeout: float | None) -> Any:
    out, err = process.communicate(words, timeout)
    if process.returncode:
        said = err.strip().splitlines() or [ended(process.returncode)]
        raise ValueError(said[-1])
    return json.loads(out)


def ended(status: int) -> str:
    """How a process ended, by the status that subprocess gives: ``killed by SIGABRT``."""
    if status >= 0:
        return f"exit status {status}"
    known = -status in list(signal.Signals)
    return f"killed by {signal.Signals(-status).name if known else f'signal {-status}'}"


def own_command(python: str, module: str, *arguments: str) -> list[str]:
    """The command that calls ``main(arguments)`` of a module of ours in another Python.

    Our own folders come last there: torch and the program's modules are those of that Python.
    """
    own = [path for path in sys.path if path]
    start = (
        "import sys; count = int(sys.argv[1]); sys.path.extend(sys.argv[2 : 2 + count]);"
        f" from {module} import main; sys.exit(main(sys.argv[2 + count :]))"
    )
    return [python, "-c", start, str(len(own)), *own, *arguments]
