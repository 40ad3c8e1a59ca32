"""Builds the compiled recorder for one torch, with the compiler that is there.

    python build.py FOLDER

prints the path of the library as JSON, building it unless it is there already. The first time takes
half a minute; afterwards it is found by the versions of torch and Python and by its source.
``begin_to_build`` leaves that to a process that nobody waits for.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native", "recorder.cpp")
NAME = "_torchnav_native"
_STANDARDS = ("-std=c++20", "-std=c++17")
_TIMEOUT_S = 600
_NICE = 19
_FAILED, _TOLD = "failed.txt", "failed-and-told.txt"


class BuildError(Exception):
    """It cannot be built here; the message says why in one line."""


class Torch(NamedTuple):
    """What of an installed torch decides how the library is built."""

    version: str
    folder: str
    """Of the package."""
    abi: int
    """Which strings of C++ it was built with: ``_GLIBCXX_USE_CXX11_ABI``."""

    @staticmethod
    def of(torch: Any) -> Torch:
        """Of the imported package."""
        abi = getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True)
        return Torch(str(torch.__version__), next(iter(torch.__path__)), int(abi))


def library_path(folder: str, torch: Torch) -> str:
    """Where the library for this source, torch and Python is or will be."""
    with open(SOURCE, "rb") as file:
        source = file.read()
    parts = [source, torch.version.encode(), sys.version.encode(), sys.platform.encode()]
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:20]
    return os.path.join(os.path.abspath(folder), digest, NAME + ".so")


def build(folder: str, torch: Torch, wait: bool = True) -> str:
    """Build the library unless it is there; without ``wait`` not where another process does.
    Raises BuildError, OSError."""
    path = library_path(folder, torch)
    if os.path.exists(path):
        return path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with _only_one(path, wait) as ours:
        if ours and not os.path.exists(path):
            _build(path, torch)
    return path


def _build(path: str, torch: Torch) -> None:
    made = os.path.join(os.path.dirname(path), "unfinished.so")
    try:
        _compile(_compiler(), made, torch)
        os.replace(made, path)
    except (BuildError, OSError, subprocess.SubprocessError) as error:
        _keep_reason(path, str(error))
        raise BuildError(str(error)) from error
    finally:
        if os.path.exists(made):
            os.unlink(made)


@contextmanager
def _only_one(path: str, wait: bool) -> Iterator[bool]:
    """Holds the lock on a library; false where another process has it and we do not wait."""
    import fcntl  # POSIX only

    with open(os.path.join(os.path.dirname(path), "lock"), "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
        else:
            yield True


def _compiler() -> list[str]:
    named = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if named is None:
        raise BuildError("there is no C++ compiler: install g++, or name one in CXX")
    return shlex.split(named)


def _compile(compiler: list[str], output: str, torch: Torch) -> None:
    include, libraries = (os.path.join(torch.folder, name) for name in ("include", "lib"))
    api = os.path.join(include, "torch", "csrc", "api", "include")
    includes = [f"-I{one}" for one in (include, api, sysconfig.get_paths()["include"])]
    flags = f"-O2 -DNDEBUG -shared -fPIC -w -D_GLIBCXX_USE_CXX11_ABI={torch.abi}".split()
    linked = [f"-L{libraries}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{libraries}"]
    error = ""
    for standard in _STANDARDS:
        command = [*compiler, standard, *flags, *includes, SOURCE, "-o", output, *linked]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
        if done.returncode == 0:
            return
        error = next((line for line in done.stderr.splitlines() if "error" in line), "")
    raise BuildError(f"{compiler[0]} could not build it: {error or 'no message'}")


# ------------------------------------------------------------------------- while others run


def begin_to_build(folder: str, torch: Torch) -> str:
    """Have the library built by a process that nobody waits for and that outlives this one.

    Returns the sentence that the user should read at the end of the run; empty where there is no
    compiler, or where it failed before and that was told.
    """
    place = os.path.dirname(library_path(folder, torch))
    if not hasattr(os, "fork") or not _has_compiler():
        return ""
    try:
        os.makedirs(place, exist_ok=True)
        if reason := _reason_untold(place):
            return f"the compiled recorder could not be built: {reason}; {_AGAIN}"
        if os.path.exists(os.path.join(place, _TOLD)):
            return ""
        with open(os.path.join(place, "lock"), "a", encoding="utf-8"):
            pass
        _run_detached([os.path.abspath(folder), json.dumps(torch)])
    except OSError as error:
        return f"the compiled recorder cannot be built: {place}: {error.strerror}"
    return "the compiled recorder is being built: the next run uses it"


_AGAIN = "torchnav trace --compiled tries again"


def _run_detached(arguments: list[str]) -> None:
    """This file in a session of its own, by a process that ends at once: no child is left."""
    command = [sys.executable, "-I", "-S", os.path.abspath(__file__), *arguments]
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    subprocess.run(command, **quiet, start_new_session=True, cwd=os.sep, check=False)


def _build_later(folder: str, torch: Torch) -> None:
    """In that process: build with what the programs leave over."""
    if os.fork():
        os._exit(0)
    os.nice(_NICE)
    build(folder, torch, wait=False)


def _has_compiler() -> bool:
    try:
        return shutil.which(_compiler()[0]) is not None
    except (BuildError, ValueError, IndexError):
        return False


def _keep_reason(path: str, reason: str) -> None:
    with open(os.path.join(os.path.dirname(path), _FAILED), "w", encoding="utf-8") as file:
        file.write(" ".join(reason.split()))


def _reason_untold(place: str) -> str:
    """Why the last attempt failed, the first time that it is asked."""
    failed = os.path.join(place, _FAILED)
    try:
        with open(failed, encoding="utf-8") as file:
            reason = file.read()
    except FileNotFoundError:
        return ""
    os.replace(failed, os.path.join(place, _TOLD))
    return reason


def _installed() -> Torch:
    # Modules in this folder would shadow ones that torch needs.
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    import torch

    return Torch.of(torch)


if __name__ == "__main__":
    try:
        if len(sys.argv) > 2:
            _build_later(sys.argv[1], Torch(*json.loads(sys.argv[2])))
        else:
            print(json.dumps(build(sys.argv[1], _installed())))
    except (BuildError, OSError) as problem:
        sys.exit(str(problem))
