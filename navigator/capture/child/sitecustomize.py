"""Records Python processes that a recorded program starts: Python imports this module at startup.

``torchnav trace --children`` puts this folder first in PYTHONPATH. The ``sitecustomize`` that
Python would have imported otherwise is imported too.
"""

from __future__ import annotations

import importlib
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


def _import_the_other() -> None:
    """Import the machine's own ``sitecustomize``, as if this one had not been there."""
    ours = sys.modules.pop("sitecustomize", None)
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]
    try:
        importlib.import_module("sitecustomize")
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if ours is not None:  # the running import looks it up at its end
            sys.modules.setdefault("sitecustomize", ours)


def _begin() -> None:
    import runpy

    main = runpy.run_path(os.path.join(os.path.dirname(_HERE), "__main__.py"))
    importlib.import_module(main["load_package"]() + ".program").begin_child()


try:
    _import_the_other()
finally:
    _begin()
