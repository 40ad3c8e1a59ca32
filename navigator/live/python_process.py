"""Another Python, which may have torch, in a process of its own: it answers with JSON, or runs our
code."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from indexes.model.errors import SourceError


def ask(python: str, *arguments: str, words: str = "", timeout: float | None = None) -> Any:
    """What ``python ARGUMENTS...`` writes for ``words`` on its standard input, decoded.

    Raises
    ------
    SourceError
        In one line, when it cannot run, fails, or takes more than ``timeout`` seconds.
    """
    try:
        done = subprocess.run(
            [python, *arguments],
            input=words,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=True,
        )
        return json.loads(done.stdout)
    except subprocess.CalledProcessError as error:
        said = error.stderr.strip().splitlines() or [f"status {error.returncode}"]
        raise SourceError(f"{python}: {said[-1]}") from error
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise SourceError(f"{python}: {error}") from error


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
