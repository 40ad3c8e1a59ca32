"""Runs another Python, which may have torch, and reads its JSON."""

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
    """The decoded output of ``python ARGUMENTS...`` with ``words`` on standard input.

    Raises
    ------
    SourceError
        In one line, if it cannot start, fails, or takes more than ``timeout`` seconds.
    """
    return ask_each(python, arguments, words=words, timeout=timeout)[0]


def ask_each(
    python: str, *commands: Sequence[str], words: str = "", timeout: float | None = None
) -> list[Any]:
    """As ``ask``, for several processes in parallel. All end on an error or ctrl+c."""
    with ExitStack() as stack:
        try:
            started = [stack.enter_context(_process([python, *command])) for command in commands]
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
        errors = err.strip().splitlines() or [status_words(process.returncode)]
        raise ValueError(errors[-1])
    return json.loads(out)


def status_words(status: int) -> str:
    """How a process ended, from subprocess's status: ``killed by SIGABRT``."""
    if status >= 0:
        return f"exit status {status}"
    known = -status in list(signal.Signals)
    return f"killed by {signal.Signals(-status).name if known else f'signal {-status}'}"


def own_command(python: str, module: str, *arguments: str) -> list[str]:
    """The command that calls ``main(arguments)`` of one of our modules in another Python.

    Our folders come last on its path: torch and the program's modules are that Python's.
    """
    folders = [path for path in sys.path if path]
    start = (
        "import sys; count = int(sys.argv[1]); sys.path.extend(sys.argv[2 : 2 + count]);"
        f" from {module} import main; sys.exit(main(sys.argv[2 + count :]))"
    )
    return [python, "-c", start, str(len(folders)), *folders, *arguments]
