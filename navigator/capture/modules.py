"""The ``nn.Module`` path a thread is in: ``Net.blocks.0.attn.qkv``."""

from __future__ import annotations

import sys
import threading
import warnings
import weakref
from collections.abc import Callable
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
        """Forget the module, and what an exception left open inside of it."""
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


def follow_modules(paths: ModulePaths) -> list[Callable[[], None]]:
    """Install global hooks that keep ``paths``; what is returned removes them."""

    def before(module: Any, _inputs: Any) -> None:
        if not is_compiling():
            paths.enter(module)

    def after(module: Any, _inputs: Any, output: Any) -> None:
        if is_compiling():
            return
        paths.leave(module)
        error = sys.exc_info()[1] if output is None else None
        if error is not None:  # for who reads it without the traceback module, as pytest does
            error.__traceback__ = strip(error.__traceback__)

    # Dynamo warns about global hooks; that these may run once more is all there is to it.
    warnings.filterwarnings(
        "ignore", message=r"Using `torch\.compile\(module\)` when there are global hooks"
    )
    entered = register_module_forward_pre_hook(before)
    left = register_module_forward_hook(after, **_always_call())
    return [entered.remove, left.remove]


def _always_call() -> dict[str, bool]:
    import inspect

    parameters = inspect.signature(register_module_forward_hook).parameters
    return {"always_call": True} if "always_call" in parameters else {}


def torch_folder() -> str:
    return str(next(iter(torch.__path__)))
