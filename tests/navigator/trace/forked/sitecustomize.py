"""Python imports this at its start: it imports torch and waits, and each program that it is asked
for goes on from here in a fork, as a Python that has only just started and has no torch yet."""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import socket
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

_SHARED = {*sys.stdlib_module_names, "numpy"}  # one for all who import it, whoever is the first


class Hidden:
    """Modules out of sight, which come back together when one of them is imported."""

    def __init__(self, modules: Mapping[str, ModuleType]) -> None:
        self._modules = {n: one for n, one in modules.items() if n.split(".")[0] not in _SHARED}
        for name in self._modules:
            del sys.modules[name]
        self._in_packages(lambda package, name, _: delattr(package, name))
        sys.meta_path.insert(0, self)

    def _in_packages(self, change: Callable[[ModuleType, str, ModuleType], None]) -> None:
        """The attributes by which packages that are in sight have these modules."""
        for name, one in self._modules.items():
            package, _, last = name.rpartition(".")
            if package in sys.modules and package not in self._modules:
                change(sys.modules[package], last, one)

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        if name not in self._modules:
            return None
        sys.meta_path.remove(self)
        self._own = self._modules[name].__spec__
        return importlib.util.spec_from_loader(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return self._modules[spec.name]

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__spec__"] = self._own
        sys.modules.update(self._modules)
        self._in_packages(setattr)


def brought(name: str) -> dict[str, ModuleType]:
    """The modules that come with an import."""
    before = set(sys.modules)
    importlib.import_module(name)
    return {name: one for name, one in sys.modules.items() if name not in before}


def serve(channel: socket.socket) -> None:
    """Returns in a fork, once for each program."""
    while True:
        told, files, *_ = socket.recv_fds(channel, 1 << 20, 3)
        if not told:
            os._exit(0)
        if not os.fork():
            channel.close()
            return become(files, **json.loads(told))
        for file in files:
            os.close(file)
        channel.send(str(os.wait()[1]).encode())


def become(
    files: Sequence[int], argv: list[str], folder: str, environment: Mapping[str, str]
) -> None:
    """Changes what Python knows of its start."""
    for number, file in enumerate(files):
        os.dup2(file, number)
        os.close(file)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path.remove(os.path.dirname(os.path.abspath(__file__)))
    sys.argv[:] = argv
    sys.orig_argv[:] = [sys.executable, *argv]


# The second is imported where it is first needed: by an optimizer, a compiler, a custom operator.
for _modules in [brought("torch"), brought("torch._dynamo")][::-1]:
    Hidden(_modules)
gc.freeze()  # a collection would copy all of torch's pages
serve(socket.socket(fileno=int(os.environ["TORCHNAV_TEST_FORKS"])))
