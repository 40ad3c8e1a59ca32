"""Processes beside the screen: functions of ours run by a Python of their own, so that keys never
wait for them."""

from __future__ import annotations

import json
import subprocess
import sys

_START = (
    "import sys, json; sys.path[:] = json.loads(sys.argv.pop(1));"
    "from {} import main; main(*sys.argv[1:])"
)


def start(module: str, *arguments: str) -> subprocess.Popen[bytes]:
    """Starts ``main`` of a module with its standard input and output in pipes. Raises OSError
    when no process can be started."""
    command = [sys.executable, "-c", _START.format(module), json.dumps(sys.path), *arguments]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
