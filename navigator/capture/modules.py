"""Tracks the ``nn.Module`` path that each thread is in: ``Net.blocks.0.attn.qkv``."""

from __future__ import annotations

import inspect
import sys
import threading
import warnings
import weakref
from typing import Any

import torch
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from .compat import is_compiling
from .hiding.tracebacks import strip


class ModulePaths(threading.local):
    """The modules being called in this thread, outermost first."""

    def __init__(self) -> None:
        self.open: list[tuple[int, str]] = []
        self.path = ""
        self._root: weakref.ref[Any] | None = None
        self._names: dict[int, str] = {}

    def enter(self, module: Any) -> None:
        path = self._path_of(module)
        self.open.append((id(module), path))
        self.path = path

    def leave(self, module: Any) -> None:
        """Remove the module, and inner ones that an exception left behind."""
        ident = id(module)
        if not any(ident == entry for entry, _ in self.open):
            return
        while self.open.pop()[0] != ident:
            pass
        self.path = self.open[-1][1] if self.open else ""

    def _path_of(self, module: Any) -> str:
        if not self.open:
            self._set_root(module)
            return type(module).__name__
        name = self._names.get(id(module))
        if name is None:
            self._read_names()
            name = self._names.get(id(module))
        if name:
            return f"{self.open[0][1]}.{name}"
        return f"{self.path}.{type(module).__name__}"  # called, but not a child of the root

    def _set_root(self, module: Any) -> None:
        if self._root is None or self._root() is not module:
            self._root = weakref.ref(module)
            self._names = {}

    def _read_names(self) -> None:
        root = self._root() if self._root is not None else None
        if root is not None:
            self._names = {id(child): name for name, child in root.named_modules()}


class ModuleHooks:
    """Global hooks that maintain ``paths``. Off while something is compiled and while compiled code
    runs: Dynamo traces hooks with each module, and ``torch.export`` rejects them."""

    def __init__(self, paths: ModulePaths) -> None:
        self._paths = paths
        self._handles: list[Any] = []
        self._off = 1
        """Number of ``off`` calls without a matching ``on``."""
        self._ended = False
        # Dynamo warns about global hooks; the only effect is that these may run twice.
        warnings.filterwarnings(
            "ignore", message=r"Using `torch\.compile\(module\)` when there are global hooks"
        )

    def on(self) -> None:
        """Install the hooks, once every ``off`` request has ended."""
        self._off -= 1
        if self._off or self._ended:
            return
        always = _always_call()
        self._handles = [
            register_module_forward_pre_hook(self._before),
            register_module_forward_hook(self._after, **always),
        ]

    def off(self) -> None:
        """Remove the hooks."""
        self._off += 1
        for handle in self._handles:
            handle.remove()
        self._handles = []

    def end(self) -> None:
        """Remove the hooks for good."""
        self._ended = True
        self.off()

    def _before(self, module: Any, _inputs: Any) -> None:
        if not is_compiling():
            self._paths.enter(module)

    def _after(self, module: Any, _inputs: Any, output: Any) -> None:
        if is_compiling():
            return
        self._paths.leave(module)
        error = sys.exc_info()[1] if output is None else None
        if error is not None:  # pytest reads it without the traceback module
            error.__traceback__ = strip(error.__traceback__)


def _always_call() -> dict[str, bool]:
    parameters = inspect.signature(register_module_forward_hook).parameters
    return {"always_call": True} if "always_call" in parameters else {}


def torch_folder() -> str:
    return str(next(iter(torch.__path__)))
