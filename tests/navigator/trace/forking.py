"""Programs that need not each import torch, which takes as long as a hundred of them."""

from __future__ import annotations

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

_FORKED = Path(__file__).parent / "forked"
_LIMIT_S = 300

Done = subprocess.CompletedProcess[str]


class Forks:
    """A Python that is about to run ``script``, with torch imported and out of sight, and does so
    in forks of itself: in the folder and with the arguments, environment and pipes of each."""

    def __init__(self, script: str) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._channel.settimeout(_LIMIT_S)
        path = [str(_FORKED), *filter(None, [os.environ.get("PYTHONPATH")])]
        own = {"PYTHONPATH": os.pathsep.join(path), "TORCHNAV_TEST_FORKS": str(theirs.fileno())}
        self._process = subprocess.Popen(
            [sys.executable, script],
            env={**os.environ, **own},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
        theirs.close()
        atexit.register(self._end)

    def _end(self) -> None:
        self._channel.close()
        self._process.wait()

    def run(
        self, argv: list[str], folder: Path, environment: Mapping[str, str], given: str
    ) -> Done:
        """As ``subprocess.run``."""
        (stdin, give), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
        asked = {"argv": argv, "folder": str(folder), "environment": dict(environment)}
        socket.send_fds(self._channel, [json.dumps(asked).encode()], [stdin, stdout, stderr])
        for file in (stdin, stdout, stderr):
            os.close(file)
        with ThreadPoolExecutor() as threads:
            threads.submit(_write, give, given)
            told = [threads.submit(_read, file) for file in (out, err)]
            status = self._status()
            return subprocess.CompletedProcess(argv, status, *map(Future.result, told))

    def _status(self) -> int:
        try:
            return os.waitstatus_to_exitcode(int(self._channel.recv(16)))
        except TimeoutError:
            os.killpg(self._process.pid, signal.SIGKILL)
            raise


def _write(file: int, text: str) -> None:
    with open(file, "w") as pipe:
        pipe.write(text)


def _read(file: int) -> str:
    with open(file) as pipe:
        return pipe.read()


def can_fork() -> bool:
    return sys.platform == "linux" and not os.environ.get("TORCHNAV_TEST_COLD")


@functools.cache
def forks(script: str) -> Forks:
    return Forks(script)
