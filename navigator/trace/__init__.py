"""What a program did: the trace model, readers of trace formats, links to an index.

``readers.read_trace`` reads a file, ``trace.Trace`` is what it gives, ``link.Linker`` joins it
with an index. Times are microseconds.

The package can be called: ``with navigator.trace() as t: ...`` records a block of a program,
see ``navigator.recording.Recording``. That alone needs torch, and imports it when it is called.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    """A module that records when it is called."""

    def __call__(self, *args: Any, **options: Any) -> Any:
        return importlib.import_module("navigator.recording").Recording(*args, **options)


sys.modules[__name__].__class__ = _Callable
