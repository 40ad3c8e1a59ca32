"""Which operators may have a say in what torchgen makes of each other.

Variants, views and their copies, foreach operators and those that they repeat are found by name:
all of them are of one family. Other families come in where an entry names them, as a delegate or
as an overload to generate.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from indexes.model.vocabulary import NativeFunction
from indexes.readers.yaml.schema import Schema

_ENDINGS = ("_functional", "_copy", "_scatter", "_inverse", "_")
_FOREACH = "_foreach_"


def family(name: str) -> str:
    """``expand`` for ``expand_copy``, ``_foreach_expand_`` and ``expand.out``."""
    return _family(name.partition(".")[0])


@lru_cache(maxsize=8192)
def _family(name: str) -> str:
    base = Schema(name, "", (), ()).base.rpartition(_FOREACH)[2]
    while ending := next((e for e in _ENDINGS if base.endswith(e) and base != e), ""):
        base = base.removesuffix(ending)
    return base


def named_families(function: NativeFunction) -> set[str]:
    """The families of all operators that an entry names, with its own."""
    named = (function.name, function.structured_delegate, *function.autogen)
    return {family(name) for name in named if name}


def joined(functions: Iterable[NativeFunction]) -> list[list[str]]:
    """The families that are held together by entries of one that name another."""
    groups: list[set[str]] = []
    for function in functions:
        named = named_families(function)
        if len(named) > 1:
            met = [group for group in groups if not group.isdisjoint(named)]
            groups = [group for group in groups if group.isdisjoint(named)]
            groups.append(named.union(*met))
    return [sorted(group) for group in groups]


def closed(families: Iterable[str], groups: Iterable[Iterable[str]]) -> set[str]:
    """``families`` with all that are held together with them."""
    found = set(families)
    for group in groups:
        if not found.isdisjoint(group):
            found.update(group)
    return found
