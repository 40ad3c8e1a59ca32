"""C++ name lookup by scopes: which definitions a name in a body can mean.

Scopes are searched from the innermost outwards, and the first that has the name hides the others.
``using namespace`` adds the names of another scope to the one where it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Protocol

from indexes.linking.facts import Call, Facts, Known
from indexes.linking.visible import is_header, linkable, path_device, plain_scope
from indexes.model.lines import length_in_common
from indexes.model.vocabulary import Definition

_FUNCTIONS = frozenset(("function", "global"))
_STRUCTURED = ("at::impl::MetaBase", "at::TensorIteratorBase", "at::TensorIterator")
"""The scope of the classes that torchgen generates for structured kernels."""
_NAMESPACES = {"T": ("at",), "L": ("at", "c10"), "G": ("at",), **dict.fromkeys("SODI", ("c10",))}
"""The namespaces of the types that have marks of one letter."""
_ByScope = Mapping[str, Sequence[Known]]
Level = tuple[str, ...]
"""Scopes that are searched together."""


class ResolverFacts(Facts, Protocol):
    """The questions of resolving calls."""

    def is_scope(self, scope: str) -> bool:
        """Whether a namespace or class of that name is not empty."""

    def directives(self, path: str, scope: str) -> Sequence[str]:
        """The namespaces named by ``using namespace`` in a scope of a file."""

    def using_declarations(self, name: str) -> Sequence[tuple[str, str, str]]:
        """Uses of ``using scope::name;``: the file, the scope, and the target."""

    def alias_of(self, name: str, path: str) -> str:
        """The target of ``using NAME = ...`` in a file; empty if there is none."""

    def scopes_of_alias(self, name: str) -> Collection[str]:
        """The scopes in which ``using NAME = ...`` stands."""

    def classes_named(self, name: str) -> Sequence[str]:
        """The classes of a simple name, with scopes."""

    def bases_of(self, scope: str) -> Sequence[str]:
        """The direct bases of a class; none for a namespace."""

    def is_method_name(self, name: str) -> bool:
        """Whether a class of the tree has a method of that name."""

    def all_bases(self, scope: str) -> Sequence[str]:
        """All bases of a class."""

    def is_standard(self, name: str) -> bool:
        """Whether the name is also an alias of a vector."""

    def template_methods(self, owner: Definition) -> Sequence[Known]:
        """The method templates of a class."""

    def methods_in(self, owner: Definition) -> Sequence[Known]:
        """The methods defined in a class."""

    def sites(self, known: Known) -> Sequence[Call]:
        """The uses of names in a body, one for each place."""

    def called_on_unknown(self, folder: str) -> Collection[str]:
        """The methods that code in a folder calls on objects of unknown type."""

    def shaders_of(self, path: str) -> Sequence[Known]:
        """The kernels in the shader library of a file."""

    def shaders_asked(self, path: str) -> Sequence[tuple[str, str]]:
        """The strings in a file that can name kernels, each with its function."""

    def shaders_shared(self) -> Sequence[str]:
        """The strings in files without a shader library, which use another file's."""

    def by_id(self, number: int) -> Known | None:
        """The definition of a number."""

    def headers_missing(self, path: str) -> Sequence[str]:
        """Headers included by ``<...>`` without a folder that the tree does not have."""

    def includes_header(self, path: str, header: str) -> bool:
        """Whether a file includes a header itself."""

    def folders_included(self, path: str) -> Collection[str]:
        """The first folder of each ``<...>`` include."""

    def macros_in(self, path: str) -> Mapping[str, Sequence[Known]]:
        """The function-like macros that a file defines, by name."""

    def path_of(self, number: int) -> str:
        """The file of a definition's number."""

    def is_stub(self, name: str) -> bool:
        """Whether a stub bears this name."""

    @property
    def key_namespaces(self) -> Collection[str]:
        """The namespaces of generated functions that skip the dispatcher: ``cpu``."""


class Scopes:
    """Looks names up, with caches."""

    def __init__(self, facts: ResolverFacts) -> None:
        self.facts = facts
        self.levels = lru_cache(1024)(self._levels)  # of the file at hand, and few others
        self.named_by = lru_cache(1024)(self._named_by)
        self._candidates = lru_cache(4096)(self._find)
        self._by_scope = lru_cache(32768)(self._sort)

    def candidates(self, call: Call, caller: Known) -> Sequence[Known]:
        """The functions and macros that a call can mean, by scopes alone."""
        definition = caller.definition
        scope, path = plain_scope(definition.scope), definition.location.path
        return self._candidates(call.name, call.qualifier, scope, path, definition.kind)

    def of_arguments(self, call: Call, caller: Known, marks: Iterable[str]) -> list[Known]:
        """The functions in the namespaces of its arguments' types (basic.lookup.argdep)."""
        scopes = {scope for mark in marks for scope in _NAMESPACES.get(mark, ())}
        found = (
            self.candidates(call._replace(qualifier=f"::{scope}"), caller)
            for scope in sorted(scopes)
        )
        seen = {k.id: k for each in found for k in each}
        return [k for k in seen.values() if plain_scope(k.definition.scope) in scopes]

    def _find(self, name: str, qualifier: str, scope: str, path: str, kind: str) -> Sequence[Known]:
        written, functions = self._by_scope(name)
        if written and not qualifier and (macros := _macros(written, functions, path)):
            return macros
        if not functions:
            return ()
        if qualifier.isupper() and self.facts.is_scope(qualifier):
            return _of_any_build(_within(functions, filter(_is_top, functions), path), path)
        levels = self.named_by(qualifier, scope, path) if qualifier else self.levels(scope, path)
        if kind in ("impl_func", "meta_func") and not qualifier:
            levels = (_STRUCTURED, *levels)
        brought = self.facts.using_declarations(name)
        all_levels = (
            (*level, *self._declared_in(brought, level, path)) if brought else level
            for level in levels
        )
        found = (_within(functions, level, path) for level in all_levels)
        if qualifier:  # what is compiled from a text at run time has no name: ::tanh is CUDA's
            found = ([k for k in inside if k.definition.kind != "global"] for inside in found)
        return _for_device(self._first_seen(filter(None, found), scope, path), path)

    def _first_seen(self, found: Iterator[list[Known]], scope: str, path: str) -> list[Known]:
        """The functions of the nearest level. If they are in headers that a file does not include
        itself, and in no namespace that it names, they are those of the next level that are in a
        header that it does include."""
        first = next(found, [])
        places = {k.definition.location.path for k in first}
        around = {plain_scope(k.definition.scope) for k in first} <= {*enclosing(scope)}
        if path in places or not all(map(is_header, places)) or not around:
            return first
        if self._includes(path, first):
            return first
        return next((outer for outer in found if self._includes(path, outer)), first)

    def _includes(self, path: str, found: Iterable[Known]) -> bool:
        return any(self.facts.includes_header(path, k.definition.location.path) for k in found)

    def _sort(self, name: str) -> tuple[Sequence[Known], _ByScope]:
        macros, functions = list[Known](), dict[str, list[Known]]()
        for known in self.facts.named(name):
            if known.definition.kind in _FUNCTIONS:
                functions.setdefault(plain_scope(known.definition.scope), []).append(known)
            elif known.definition.kind == "macro":
                macros.append(known)
        return macros, functions

    def _declared_in(
        self, brought: Iterable[tuple[str, str, str]], level: Level, path: str
    ) -> Level:
        """The scopes from which ``using scope::name`` brings a name into a level."""
        found = []
        for place, scope, target in brought:
            if scope in level and (place == path or is_header(place)):
                outer = target.rpartition("::")[0]
                spelled = (one for one in _spelled(outer, scope) if self.facts.is_scope(one))
                found += [one for _, one in zip(range(1), spelled, strict=False)]
        return tuple(found)

    def _levels(self, scope: str, path: str) -> tuple[Level, ...]:
        """The scopes in which an unqualified name is looked up, innermost first."""
        return tuple(self._with_nominated(outer, path) for outer in enclosing(scope))

    def _with_nominated(self, scope: str, path: str) -> Level:
        """A scope with those added by ``using namespace`` and its base classes."""
        found = dict.fromkeys([scope])
        pending = [scope]
        while pending:
            one = pending.pop()
            for target in (*self.facts.nominated(one), *self.facts.directives(path, one)):
                for known in _spelled(target, one):
                    if known not in found and self.facts.is_scope(known):
                        found[known] = None
                        pending.append(known)
                        break
            for base in self.facts.bases_of(one):
                if base not in found:
                    found[base] = None
                    pending.append(base)
        return tuple(found)

    def _named_by(self, qualifier: str, scope: str, path: str) -> tuple[Level, ...]:
        """The scopes that ``qualifier::`` can mean in a scope, nearest first."""
        named = plain_scope(qualifier.lstrip(":"))
        named = self.facts.alias_of(named, path) or named
        if qualifier.startswith("::"):
            return (self._with_nominated(named, path),)
        levels = []
        for level in self.levels(scope, path):
            inner = dict.fromkeys(f"{outer}::{named}" if outer else named for outer in level)
            found = [s for one in inner for s in self._with_nominated(one, path)]
            levels.append(tuple(dict.fromkeys(found)))
        return tuple(levels)


def _within(functions: _ByScope, scopes: Iterable[str], path: str) -> list[Known]:
    inside = [s for s in dict.fromkeys(scopes) if s in functions]
    found = [k for scope in inside for k in functions[scope] if linkable(k, path)]
    return sorted(found, key=itemgetter(0)) if len(inside) > 1 else found


def _is_top(scope: str) -> bool:
    """Whether a namespace can be one that the build names: ``FLASH_NAMESPACE::mha_fwd``."""
    return bool(scope) and "::" not in scope


def _macros(found: Sequence[Known], functions: _ByScope, path: str) -> Sequence[Known]:
    macros = [k for k in found if linkable(k, path)]
    here = [k for k in macros if k.definition.location.path == path]
    if here or not macros or _within(functions, functions, path):
        return here
    headers = [k for k in macros if is_header(k.definition.location.path)]
    if not headers:
        return ()
    return [max(headers, key=lambda k: length_in_common(k.definition.location.path, path))]


def enclosing(scope: str) -> Iterator[str]:
    """A scope and those around it, innermost first, the global scope last."""
    while scope:
        yield scope
        scope = scope.rpartition("::")[0]
    yield ""


def nearest(classes: Sequence[str], scope: str) -> Sequence[str]:
    """The classes in the nearest scope around a place; all of them if there is none."""
    places = [one.rpartition("::")[0] for one in classes]
    near = next((one for one in enclosing(scope) if one in places), None)
    return [one for one, at in zip(classes, places, strict=True) if near in (None, at)]


def _spelled(target: str, scope: str) -> Iterator[str]:
    """The scopes that a scope's name can mean in another scope, nearest first."""
    if target.startswith("::"):
        yield target.lstrip(":")
        return
    for outer in enclosing(scope):
        yield f"{outer}::{target}" if outer else target


def _of_any_build(found: Sequence[Known], path: str) -> Sequence[Known]:
    """Functions of a namespace that the build names, for CUDA and in headers for HIP."""
    hip = [k for k in found if "/hip/" in k.definition.location.path]
    headers = [k for k in hip if is_header(k.definition.location.path)]
    return [*_for_device([k for k in found if k not in hip], path), *headers]


def _for_device(found: Sequence[Known], path: str) -> Sequence[Known]:
    device = path_device(path)
    if not device:
        return found
    same = [k for k in found if path_device(k.definition.location.path) in ("", device)]
    if "/hip/" in path:
        return same  # what is made for CUDA is translated for HIP, and not the other way round
    return [k for k in same if "/hip/" not in k.definition.location.path] or same
