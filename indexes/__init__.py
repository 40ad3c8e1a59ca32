"""The cross-reference of a PyTorch source tree: source in, answers out.

    from indexes import Index, Source

    index = Index.open(Source.find("~/pytorch"))
    chain = index.chain("add.Tensor")

Each is loaded when it is first asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from indexes.queries.index import Index
    from indexes.source.source import Source

__all__ = ["Index", "Source"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    modules = {"Index": "indexes.queries.index", "Source": "indexes.source.source"}
    if name in modules:
        return getattr(import_module(modules[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
