"""Which methods a call on an object can mean: those of its class, of the classes that this derives
from, and of those that derive from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from indexes.linking.facts import Call, Known
from indexes.linking.scopes import ScopeQuestions, enclosing
from indexes.linking.visible import plain_scope

_COUNTED = {"c10::intrusive_ptr_target"}
"""What every class derives from whose objects count who holds them: their only kinship."""


class ClassQuestions(ScopeQuestions, Protocol):
    """What is asked of classes."""

    def classes_named(self, name: str) -> Sequence[str]:
        """The classes of a simple name, with their scopes."""

    def all_bases(self, scope: str) -> Sequence[str]:
        """What a class derives from, far ones too."""

    def is_standard(self, name: str) -> bool:
        """Whether a file calls a vector so."""


class Classes:
    """The classes of a tree, and their methods."""

    def __init__(self, facts: ClassQuestions) -> None:
        self.facts = facts

    def methods(self, call: Call, caller: Known, mark: str) -> list[Known]:
        """The methods of a name that an object has whose class is marked so."""
        classes = _own_class(caller) if mark == "this" else self._classes_meant(mark, caller)
        wanted = {base for one in classes for base in (one, *self.facts.all_bases(one))}
        others = self.others(call, caller)
        found = [k for k in others if plain_scope(k.definition.scope) in wanted]
        # Or it is declared in the class, and defined in those that derive from it.
        return found or [k for k in others if self._derives(k, classes)]

    def others(self, call: Call, caller: Known) -> list[Known]:
        """The functions of the name that a call has, but for its caller."""
        named = self.facts.named(call.name)
        return [k for k in named if k.definition.kind == "function" and k.id != caller.id]

    def are_of_one_family(self, methods: Iterable[Known]) -> bool:
        """Whether the classes of methods all derive from one: an object of no known type, of which
        a method is called, is of that class, and runs one of them."""
        owners = dict.fromkeys(plain_scope(one.definition.scope) for one in methods)
        families = [{one, *self.facts.all_bases(one)} - _COUNTED for one in owners]
        if len(families) < 2:
            return False
        return any(map(self.facts.is_scope, set.intersection(*families)))

    def _classes_meant(self, name: str, caller: Known) -> Sequence[str]:
        """The classes that the name of a type can mean; of one that is also an alias of a vector,
        as ``Stack`` is, those in the scopes around the caller alone."""
        classes = self.facts.classes_named(name)
        if not self.facts.is_standard(name):
            return classes
        around = set(enclosing(plain_scope(caller.definition.scope)))
        return [one for one in classes if one.rpartition("::")[0] in around]

    def _derives(self, method: Known, classes: Collection[str]) -> bool:
        """Whether a function is a method of a class that derives from one of some."""
        bases = self.facts.all_bases(plain_scope(method.definition.scope))
        return not set(classes).isdisjoint(bases)


def _own_class(caller: Known) -> tuple[str, ...]:
    return (plain_scope(caller.definition.scope),)
