"""Operators similar to a new one by name, namespace and schema, as models."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from types import MappingProxyType

from indexes.model.regex import regex
from indexes.model.schema import Schema, SchemaKind, parse_schema
from indexes.model.vocabulary import NativeFunction

_WORD = regex(r"[A-Za-z]+|\d+(?=[A-Za-z])")
_FAMILY = 3
"""Fewest operators that make a common first word a family's name."""
_NAME, _NAMESPACE, _SCHEMA = 0.35, 0.25, 0.4
_STEPS = 20
"""Steps in which similarity is measured."""
_LIKE_ENOUGH = 0.65
"""Least similarity of related stems, unlike ``sin`` and ``sum``."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """An operator with its similarity to the new one."""

    native: NativeFunction
    likeness: float
    """By name, namespace and schema; 1 for equality."""
    why: str = ""
    """What they have in common, in words."""


class Namespaces:
    """The namespaces in operators' names: ``linalg_``, ``special_``, ``_foreach_``."""

    def __init__(self, natives: Iterable[NativeFunction]) -> None:
        self._natives = tuple(natives)

    @cached_property
    def modules(self) -> frozenset[str]:
        """The values of ``python_module`` that begin operators' names."""
        found = {one.python_module for one in self._natives if one.python_module}
        firsts = {_first(one.name) for one in self._natives}
        return frozenset(module for module in found if module in firsts)

    @cached_property
    def _families(self) -> Counter[str]:
        bases = {base_of(one.name) for one in self._natives}
        return Counter(_first(base) for base in bases if _first(base))

    def of(self, name: str) -> str:
        """The namespace in an operator's name; empty if none.

        The first word is one if it is a ``python_module``, or if many operators have it and none is
        named so (``index_add`` belongs to ``index``).
        """
        first = _first(name)
        if first in self.modules or self._families[first] >= _FAMILY:
            return first
        return ""

    def module(self, name: str) -> str:
        """The ``python_module`` of operators in that namespace; empty if none."""
        first = _first(name)
        return first if first in self.modules else ""


def neighbours(
    schema: Schema,
    natives: Iterable[NativeFunction],
    limit: int,
    homes: Mapping[str, Collection[str]] = MappingProxyType({}),
) -> tuple[Neighbour, ...]:
    """The operators most similar to ``schema``, best first, one overload of each.

    Name and namespace count as well as types; for a public name public operators come first.
    Generated ones are left out.

    Parameters:
        homes: The files of each overload's kernels. Among equals, those whose kernels are where
        most others'
        are come first, since most operators compute element by element.
    """
    natives = tuple(natives)
    likeness = Likeness(schema, natives)
    best: dict[str, Neighbour] = {}
    for native in natives:
        if "generated" in native.tags or base_of(native.name) == schema.base:
            continue
        found = likeness.of(native)
        before = best.get(base_of(native.name))
        if before is None or _order(found) < _order(before):
            best[base_of(native.name)] = found
    near = _beside(best.values(), homes)
    return tuple(sorted(best.values(), key=lambda one: _order(one, near(one)))[:limit])


def _order(one: Neighbour, near: int = 0) -> tuple[int, int, tuple[bool, bool, int, int], float]:
    """Sort key among equals: most to learn from first."""
    return (_step(one), -near, _unusual(one.native), -one.likeness)


def as_like(one: Neighbour, other: Neighbour) -> bool:
    """Whether two are about equally similar to the new one."""
    return _step(one) == _step(other)


def _step(one: Neighbour) -> int:
    return -round(one.likeness * _STEPS)


def _beside(
    found: Iterable[Neighbour], homes: Mapping[str, Collection[str]]
) -> Callable[[Neighbour], int]:
    """The number of equally similar ones with a kernel in the same file."""
    files = [(_step(one), path) for one in found for path in homes.get(one.native.full_name, ())]
    counts = Counter(files)

    def beside(one: Neighbour) -> int:
        own = homes.get(one.native.full_name, ())
        return max((counts[_step(one), path] for path in own), default=0)

    return beside


class Likeness:
    """Similarities of the tree's operators to a schema."""

    def __init__(self, schema: Schema, natives: Sequence[NativeFunction]) -> None:
        self._schema = schema
        self._namespaces = Namespaces(natives)
        self._namespace = self._namespaces.of(schema.base)
        self._words = Counter(word for base in _bases(natives) for word in set(words(base)))
        self._total = len(natives)

    def of(self, native: NativeFunction) -> Neighbour:
        other = parse_schema(native.schema)
        namespace = self._namespaces.of(other.base)
        same_space = namespace == self._namespace
        same_kind = other.kind is self._schema.kind
        name = self._names(other.base)
        types = likeness(self._schema, other) * (1 if same_kind else 0.6)
        total = _NAME * name + _NAMESPACE * same_space + _SCHEMA * types
        if _is_private(other) != _is_private(self._schema):
            total *= 0.6
        why = [f"the namespace {namespace}" if namespace and same_space else ""]
        why += ["the name" if name > _LIKE_ENOUGH else "", "the schema" if types == 1 else ""]
        return Neighbour(native, total, " and ".join(part for part in why if part))

    def _names(self, base: str) -> float:
        """The similarity of two names by words and letters, weighted by rarity."""
        mine, theirs = set(words(self._schema.base)), set(words(base))
        # The words of a set have no order: fsum gives the same in any.
        every = math.fsum(map(self._rarity, mine | theirs))
        shared = math.fsum(map(self._rarity, mine & theirs)) / every if every else 0.0
        letters = SequenceMatcher(None, _stem(self._schema.base), _stem(base)).ratio()
        return max(shared, letters if letters > _LIKE_ENOUGH else 0.0)

    def _rarity(self, word: str) -> float:
        return math.log((self._total + 1) / (self._words[word] + 1)) + 0.1


def likeness(one: Schema, other: Schema) -> float:
    """The share of common arguments and returns of two schemas; types count twice, names once."""
    mine, theirs = _features(one), _features(other)
    shared = sum((mine & theirs).values())
    return shared / max(1, sum((mine | theirs).values()))


def words(name: str) -> list[str]:
    """The words of an operator's name: ``linalg``, ``vecdot``; without numbers at the end."""
    return _WORD.findall(name)


def base_of(name: str) -> str:
    """The name that an operator's variants have in common: ``add`` for ``add_``."""
    return name.rstrip("_") or name


def _stem(base: str) -> str:
    """A name without its namespace and numbers."""
    found = words(base)
    return "".join(found[1:] if len(found) > 1 else found)


def _first(name: str) -> str:
    """The first word of a name of several words, with a leading underscore."""
    head, _, rest = name.lstrip("_").partition("_")
    private = "_" if name.startswith("_") else ""
    return f"{private}{head}" if rest.strip("_") else ""


def _bases(natives: Iterable[NativeFunction]) -> set[str]:
    return {base_of(one.name) for one in natives}


def _features(schema: Schema) -> Counter[tuple[str, ...]]:
    found: Counter[tuple[str, ...]] = Counter()
    for argument in schema.arguments:
        if argument.is_out:
            continue
        found["type", argument.type] += 2
        found["name", argument.name, str(argument.kwarg_only)] += 1
    for at, returned in enumerate(schema.returns):
        found["returns", str(at), returned.type] += 2
    return found


def _is_private(schema: Schema) -> bool:
    return schema.name.startswith("_") and not schema.dunder


def _unusual(native: NativeFunction) -> tuple[bool, bool, int, int]:
    """Sort key: a dispatch and few special fields make the better model."""
    kind = parse_schema(native.schema).kind
    return (
        kind is not SchemaKind.FUNCTIONAL,
        native.dispatch is None and not native.structured_delegate,
        len(native.flags),
        len(native.name),
    )
