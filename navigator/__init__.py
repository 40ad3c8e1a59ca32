"""What people touch: the command line, the terminal UI, live capture."""

from __future__ import annotations

TYPE_CHECKING = False  # not from typing: ctrl+c during its import prints a traceback
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Loads ``trace``, ``inspect``, ``graph`` and IPython's hook when they are first used."""
    if name == "trace":
        import importlib

        return importlib.import_module("navigator.trace")
    if name == "inspect":
        from navigator.objects.tensor import inspect

        return inspect
    if name == "graph":
        from navigator.objects.linked_graph import graph

        return graph
    if name == "load_ipython_extension":
        import importlib

        return importlib.import_module("navigator.notebook").load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
