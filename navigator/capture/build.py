"""Builds the compiled recorder for one torch, with the compiler that is there.

    python build.py FOLDER

prints the path of the library as JSON, building it unless it is there already. The first time takes
some seconds; afterwards it is found by the versions of torch and Python and by its source.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from typing import Any

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "native", "recorder.cpp")
NAME = "_torchnav_native"
_STANDARDS = ("-std=c++20", "-std=c++17")
_TIMEOUT_S = 600


class BuildError(Exception):
    """It cannot be built here; the message says why in one line."""


def library_path(folder: str, version: str) -> str:
    """Where the library for this source, torch and Python is or will be."""
    with open(SOURCE, "rb") as file:
        source = file.read()
    parts = [source, version.encode(), sys.version.encode(), sys.platform.encode()]
    digest = hashlib.sha256(b"\0".join(parts)).hexdigest()[:20]
    return os.path.join(folder, digest, NAME + ".so")


def build(folder: str) -> str:
    """Build the library unless it is there. Raises BuildError."""
    import torch

    path = library_path(folder, torch.__version__)
    if os.path.exists(path):
        return path
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise BuildError("there is no C++ compiler: install g++, or name one in CXX")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    handle, made = tempfile.mkstemp(".so", dir=os.path.dirname(path))
    os.close(handle)
    try:
        _compile(compiler, made, torch)
        os.replace(made, path)
    finally:
        if os.path.exists(made):
            os.unlink(made)
    return path


def _compile(compiler: str, output: str, torch: Any) -> None:
    folder = next(iter(torch.__path__))
    include, libraries = os.path.join(folder, "include"), os.path.join(folder, "lib")
    api = os.path.join(include, "torch", "csrc", "api", "include")
    includes = [f"-I{one}" for one in (include, api, sysconfig.get_paths()["include"])]
    abi = int(getattr(torch._C, "_GLIBCXX_USE_CXX11_ABI", True))
    flags = f"-O2 -DNDEBUG -shared -fPIC -w -D_GLIBCXX_USE_CXX11_ABI={abi}".split()
    linked = [f"-L{libraries}", "-ltorch_cpu", "-lc10", f"-Wl,-rpath,{libraries}"]
    error = ""
    for standard in _STANDARDS:
        command = [compiler, standard, *flags, *includes, SOURCE, "-o", output, *linked]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )
        if done.returncode == 0:
            return
        error = next((line for line in done.stderr.splitlines() if "error" in line), "")
    raise BuildError(f"{compiler} could not build it: {error or 'no message'}")


if __name__ == "__main__":
    # This folder has modules of the names of modules that torch needs.
    sys.path[:] = [
        entry
        for entry in sys.path
        if os.path.abspath(entry or ".") != os.path.dirname(os.path.abspath(__file__))
    ]
    try:
        print(json.dumps(build(sys.argv[1])))
    except (BuildError, OSError, subprocess.SubprocessError) as problem:
        sys.exit(str(problem))
