"""Keeps kineto, the library below ``torch.profiler``, quiet while it works for us.

It reads its log level from the environment when it is first used, and keeps it. What it says of
the program's own profiler is the program's to see.
"""

from __future__ import annotations

import ctypes
import glob
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import torch

_VARIABLE = "KINETO_LOG_LEVEL"
_SILENT = 99
_LEVEL, _RESET = "_ZN9libkineto6Logger14severityLevel_E", "suppressLibkinetoLogMessages"


@contextmanager
def quiet_kineto() -> Iterator[None]:
    """Nothing is said while the block runs, unless the user has chosen a level."""
    if _VARIABLE in os.environ:
        yield
        return
    library = _library()
    os.environ[_VARIABLE] = str(_SILENT)
    try:
        if library is not None:
            ctypes.c_int.in_dll(library, _LEVEL).value = _SILENT
        yield
    finally:
        os.environ.pop(_VARIABLE, None)
        if library is not None:
            getattr(library, _RESET)()  # to what torch itself chooses without the variable


@lru_cache(maxsize=1)
def _library() -> Any:
    """Torch's own library, where it has both names; else kineto stays quiet after its first use."""
    for path in glob.glob(os.path.join(next(iter(torch.__path__)), "lib", "libtorch_cpu.*")):
        try:
            library = ctypes.CDLL(path)
            ctypes.c_int.in_dll(library, _LEVEL)
            getattr(library, _RESET)
        except (OSError, ValueError, AttributeError):
            continue
        return library
    return None
