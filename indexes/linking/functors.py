"""Which methods run when a call constructs an object or names a type in its template:
``operator()`` of ``AddFunctor<T>()``, passed to a loop."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from indexes.linking.facts import Call, Known
from indexes.linking.scopes import ResolverFacts, Scopes
from indexes.linking.visible import in_scope, is_header, plain_scope

_PATHS = re.compile(r"(?:[A-Za-z_]\w*::)*[A-Za-z_]\w{2,}")

_WORDS = re.compile(r"[A-Za-z_]\w*")
_SCOPES = frozenset(("at", "c10", "std"))
_ANY_TYPE = re.compile(r"[A-Z]\w?|(?!u?int\d)\w+_t")
"""Type parameters of templates and dispatch macros, which say no particular type."""


class FunctionsRun:
    """Finds the methods that run, with a cache."""

    def __init__(self, facts: ResolverFacts, scopes: Scopes) -> None:
        self.facts = facts
        self._scopes = scopes
        self._methods_run = lru_cache(4096)(self._find_methods_run)
        self._methods_used = lru_cache(4096)(self._find_methods_used)

    def by(self, named: Call, caller: Known, call: Call) -> list[Known]:
        """The methods that run for one name of a call: the callee or a template argument."""
        seen = list(self._enclosing_classes(named, caller))
        owners = _nearest(seen) if seen else []
        run = [self._methods_run(owner) for owner in owners]
        if not any(run) and named.template:
            folder = caller.definition.location.path.rpartition("/")[0]
            run = [self._methods_used(owner, folder) for owner in owners]
        if not any(run) and named is not call:
            run = [self._methods_given(owner, call) for owner in owners]
        return of_specialization(call, run) if any(run) else []

    def _enclosing_classes(self, named: Call, caller: Known) -> Iterator[Known]:
        path, scope = caller.definition.location.path, plain_scope(caller.definition.scope)
        if not named.qualifier and (alias := self.facts.alias_of(named.name, path)):
            qualifier, _, name = alias.rpartition("::")
            named = named._replace(name=name, qualifier=qualifier)
        if not self.facts.classes_named(named.name):
            return
        all_named = self.facts.named(named.name)
        own = [one for one in all_named if one.definition.location.path == path]
        is_own = any(one.definition.kind == "class" for one in own)
        for known in own if is_own else all_named:  # else no header that has it is included
            place = known.definition.location.path
            near = known.definition.kind == "class" and (place == path or is_header(place))
            if near and in_scope(named, known, scope):
                yield known

    def _find_methods_run(self, owner: Known) -> Sequence[Known]:
        """The class's ``operator()``, or its method templates that the same folder calls."""
        inside = owner.definition.location
        methods = self.facts.members(owner.definition, "operator()")
        if within := [m for m in methods if inside.covers(m.definition.location.line)]:
            return within
        if "/native/" not in inside.path:
            return ()
        called = self.facts.called_on_unknown(inside.path.rpartition("/")[0])
        every = self.facts.template_methods(owner.definition)
        within = [m for m in every if inside.covers(m.definition.location.line)]
        return [m for m in within if m.definition.name in called]

    def _find_methods_used(self, owner: Known, folder: str) -> Sequence[Known]:
        """The methods of a class template that code in a folder calls on objects of unknown type:
        ``ops.reduce(a, b)``. If it inherits them, the class comes first."""
        if "/native/" not in owner.definition.location.path:
            return ()
        called = self.facts.called_on_unknown(folder)
        if own := [m for m in self._methods(owner) if m.definition.name in called]:
            return own
        scope = f"{plain_scope(owner.definition.scope)}::{owner.definition.name}"
        bases = [base for name in self.facts.all_bases(scope) for base in self._classes(name)]
        used = [m for one in bases for m in self._methods(one) if m.definition.name in called]
        return [owner, *used] if used else ()

    def _methods(self, owner: Known) -> Iterator[Known]:
        inside = owner.definition.location
        for one in self.facts.methods_in(owner.definition):
            if inside.covers(one.definition.location.line):
                yield one

    def _classes(self, qualified: str) -> Iterator[Known]:
        for one in self.facts.named(qualified.rpartition("::")[2]):
            scope = plain_scope(one.definition.scope)
            if one.definition.kind == "class" and f"{scope}::{one.definition.name}" == qualified:
                yield one

    def _methods_given(self, owner: Known, call: Call) -> list[Known]:
        """The methods that a template calls on its type parameter: ``F::map(a, b)``."""
        inside = owner.definition.location
        if "/native/" not in inside.path:
            return []
        templates = (one for one in self.facts.named(call.name) if one.definition.template)
        called = {name for one in templates for name in self._on_types(one)}
        methods = self._methods(owner) if called else ()
        return [one for one in methods if one.definition.name in called]

    def _on_types(self, start: Known) -> frozenset[str]:
        """The names that a function, and templates of its file, call on a type parameter."""
        called: set[str] = set()
        seen, pending = {start.id}, [start]
        while pending:
            for call in self.facts.sites(pending.pop()):
                owner = call.qualifier
                if call.kind == "call" and owner.isidentifier():
                    called.update(() if self.facts.classes_named(owner) else (call.name,))
                elif call.kind in ("call", "launch"):
                    below = [
                        one
                        for one in self._templates_in_file(start, call.name)
                        if one.id not in seen
                    ]
                    seen.update(one.id for one in below)
                    pending += below
        return frozenset(called)

    def _templates_in_file(self, known: Known, name: str) -> Iterator[Known]:
        path = known.definition.location.path
        for one in self.facts.named(name):
            if one.definition.template and one.definition.location.path == path:
                yield one


def _nearest(seen: Sequence[Known]) -> list[Known]:
    scopes = [plain_scope(one.definition.scope) for one in seen]
    nearest = max(scopes, key=len)
    return [one for one, scope in zip(seen, scopes, strict=True) if scope == nearest]


def named_in(call: Call) -> Iterator[Call]:
    """The names in a call: the callee and those in its template arguments."""
    yield call
    for path in _PATHS.findall(call.template):
        qualifier, _, name = path.rpartition("::")
        yield Call(name, qualifier, call.line, "name", "")


def of_functors(call: Call, run: list[Known]) -> list[Known]:
    """The methods for the classes of the functors that a call hands on: an overload for
    ``ReduceMean&`` is for none but that, and a template is for all others."""
    given = {mark for mark in call.arguments.split() if len(mark) > 1 and mark.isidentifier()}
    named = [m for m in run if given & set(_WORDS.findall(m.definition.parameters))]
    return named or [m for m in run if given and m.definition.template] or run


def of_specialization(call: Call, run: Sequence[Sequence[Known]]) -> list[Known]:
    """The methods of the specialization named in a call: ``AtomicFPOp<at::Half>()``."""
    every = [method for methods in run for method in methods]
    words = _WORDS.findall(call.template)
    given = {word for word in words if word not in _SCOPES and not _ANY_TYPE.fullmatch(word)}
    if len(run) < 2 or not given:
        return every
    return [m for m in every if given & set(_WORDS.findall(m.definition.parameters))] or every
