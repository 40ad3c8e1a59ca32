"""Builds the compiled recorder for one torch with a C++ compiler of this machine.

    python build.py FOLDER

prints the path of the library as JSON and builds it first if needed, which takes half a minute.
Libraries are cached by the versions of torch and Python and by their source. ``begin_to_build``
builds in a background process.
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
    """The library cannot be built; the message says why in one line."""


class Torch(NamedTuple):
    """The properties of an installed torch that the build depends on."""

    version: str
    folder: str
    """The folder of the package."""
    abi: int
    """``_GLIBCXX_USE_CXX11_ABI``: the ABI of C++ strings it was built with."""

    @staticmethod
    def of(torch: Any) -> Torch:
        """From the imported package."""
        abi = getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True)
        return Torch(str(torch.__version__), next(iter(torch.__path__)), int(abi))


def library_path(folder: str, torch: Torch) -> str:
    """The path of the library for this source, torch and Python, whether or not it exists."""
    with open(SOURCE, "rb") as file:
        source = file.read()
    parts = [source, torch.version.encode(), sys.version.encode(), sys.platform.encode()]
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:20]
    return os.path.join(os.path.abspath(folder), digest, NAME + ".so")


def build(folder: str, torch: Torch, wait: bool = True) -> str:
    """Build the library if missing; without ``wait``, not while another process builds it."""
    path = library_path(folder, torch)
    if os.path.exists(path):
        return path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with _locked(path, wait) as ours:
        if ours and not os.path.exists(path):
            _build(path, torch)
    return path


def _build(path: str, torch: Torch) -> None:
    made = os.path.join(os.path.dirname(path), "unfinished.so")
    try:
        _compile(_compiler(), made, torch)
        os.replace(made, path)
    except (BuildError, OSError, subprocess.SubprocessError) as error:
        _save_reason(path, str(error))
        raise BuildError(str(error)) from error
    finally:
        if os.path.exists(made):
            os.unlink(made)


@contextmanager
def _locked(path: str, wait: bool) -> Iterator[bool]:
    """Holds the lock on a library; false if another process has it and ``wait`` is not set."""
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
    """Build the library in a background process that outlives this one.

    Returns a message for the end of the run; empty if there is no compiler, or after a failure that
    was already reported.
    """
    place = os.path.dirname(library_path(folder, torch))
    if not hasattr(os, "fork") or not _has_compiler():
        return ""
    try:
        os.makedirs(place, exist_ok=True)
        if reason := _new_failure(place):
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
    """Run this file in its own session, by a process that ends at once: no child is left."""
    command = [sys.executable, "-I", "-S", os.path.abspath(__file__), *arguments]
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    subprocess.run(command, **quiet, start_new_session=True, cwd=os.sep, check=False)


def _build_later(folder: str, torch: Torch) -> None:
    """Runs in the background process: build at low priority."""
    if os.fork():
        os._exit(0)
    os.nice(_NICE)
    build(folder, torch, wait=False)


def _has_compiler() -> bool:
    try:
        return shutil.which(_compiler()[0]) is not None
    except (BuildError, ValueError, IndexError):
        return False


def _save_reason(path: str, reason: str) -> None:
    with open(os.path.join(os.path.dirname(path), _FAILED), "w", encoding="utf-8") as file:
        file.write(" ".join(reason.split()))


def _new_failure(place: str) -> str:
    """Why the last attempt failed; empty if that was reported before."""
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
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != folder]
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
