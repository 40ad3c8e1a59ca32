"""The overloads that a name means, the most usual first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from indexes.linking.python.paths import bindings, skipping_rule
from indexes.model.files import canonical
from indexes.model.vocabulary import NativeFunction
from indexes.store.lookup import Lookup
from indexes.store.registrations import StoredPython


def in_order(functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """Bare names mean the default overload first, then that for tensors, out= last."""
    return tuple(one.full_name for one in sorted(functions, key=_commonness))


def _commonness(function: NativeFunction) -> tuple[int, int]:
    rank = {"": 0, "Tensor": 1}.get(function.overload, 2)
    return (int("generated" in function.tags) + int("out" in function.overload), rank)


def bound_to(path: str, facts: Lookup) -> tuple[str, ...]:
    """The overloads whose YAML entries ask for a Python function or method."""
    return in_order(_asking_for(path, facts))


def generated_for(path: str, facts: Lookup) -> tuple[str, ...]:
    """Those of them whose binding is generated: torchgen skips what is written by hand."""
    skipped = StoredPython(facts.store)
    found = _asking_for(path, facts)
    return in_order(one for one in found if skipping_rule(one, skipped) is None)


def _asking_for(path: str, facts: Lookup) -> Iterator[NativeFunction]:
    wanted = canonical(path)
    for one in facts.overloads(wanted.rpartition(".")[2]):
        if any(binding.path == wanted for binding in bindings(one)):
            yield one
