"""Which methods a call on an object can mean: those of its class, of the classes that this derives
from, and of those that derive from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Protocol

from indexes.linking.facts import Call, Known
from indexes.linking.scopes import ScopeQuestions, enclosing, nearest
from indexes.linking.visible import plain_scope

_PTR = "Ptr"
"""How PyTorch names pointers to a class: ``using QuantizerPtr = c10::intrusive_ptr<Quantizer>``."""
_COUNTED = {"c10::intrusive_ptr_target"}
"""What every class derives from whose objects count who holds them: their only kinship."""


class ClassQuestions(ScopeQuestions, Protocol):
    """What is asked of classes."""

    def all_bases(self, scope: str) -> Sequence[str]:
        """What a class derives from, far ones too."""

    def is_standard(self, name: str) -> bool:
        """Whether a file calls a vector so."""


class Classes:
    """The classes of a tree, and their methods."""

    def __init__(self, facts: ClassQuestions) -> None:
        self.facts = facts
        self._by_scope = lru_cache(4096)(self._sort)

    def methods(self, call: Call, caller: Known, mark: str) -> list[Known]:
        """The methods of a name that an object has whose class is marked so."""
        classes = _own_class(caller) if mark == "this" else self._classes_named(mark, caller)
        wanted = {base for one in classes for base in (one, *self.facts.all_bases(one))}
        scopes = self._by_scope(call.name)
        found = _others(scopes, wanted & scopes.keys(), caller)
        if found and not any(one.definition.virtual for one in found):
            return found
        # It is virtual, or only declared in the class: those that derive from it define it.
        deriving = (one for one in scopes if one not in wanted and self._derives(one, classes))
        return [*found, *_others(scopes, deriving, caller)]

    def others(self, call: Call, caller: Known) -> list[Known]:
        """The functions of the name that a call has, but for its caller."""
        scopes = self._by_scope(call.name)
        return _others(scopes, scopes, caller)

    def _sort(self, name: str) -> dict[str, list[Known]]:
        """The functions of a name by the scopes through which they are found."""
        found: dict[str, list[Known]] = {}
        for known in self.facts.named(name):
            if known.definition.kind == "function":
                found.setdefault(plain_scope(known.definition.scope), []).append(known)
        return found

    def are_of_one_family(self, methods: Iterable[Known]) -> bool:
        """Whether the classes of methods all derive from one: an object of no known type, of which
        a method is called, is of that class, and runs one of them."""
        owners = dict.fromkeys(plain_scope(one.definition.scope) for one in methods)
        families = [{one, *self.facts.all_bases(one)} - _COUNTED for one in owners]
        if len(families) < 2:
            return False
        return any(map(self.facts.is_scope, set.intersection(*families)))

    def _classes_named(self, name: str, caller: Known) -> Sequence[str]:
        """The classes that the name of a type can mean: those of the nearest scope around the
        caller; elsewhere all, unless it is also an alias of a vector, as ``Stack`` is."""
        classes = self.facts.classes_named(name) or self.facts.classes_named(
            name.removesuffix(_PTR)
        )
        scope = plain_scope(caller.definition.scope)
        if self.facts.is_standard(name):
            around = set(enclosing(scope))
            classes = tuple(one for one in classes if one.rpartition("::")[0] in around)
        return nearest(classes, scope)

    def _derives(self, scope: str, classes: Collection[str]) -> bool:
        """Whether a scope is a class that derives from one of some."""
        return not set(classes).isdisjoint(self.facts.all_bases(scope))


def _others(
    functions: Mapping[str, Sequence[Known]], scopes: Iterable[str], caller: Known
) -> list[Known]:
    """The functions of some scopes but for one, in the order of their numbers."""
    found = (one for scope in scopes for one in functions[scope] if one.id != caller.id)
    return sorted(found, key=itemgetter(0))


def _own_class(caller: Known) -> tuple[str, ...]:
    return (plain_scope(caller.definition.scope),)
