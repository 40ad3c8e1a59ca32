"""Where the kernels of a dispatch key stand, read from how operators with one register it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from indexes.linking.facts import TO_DEFINITIONS, TO_STUBS, StubEntry
from indexes.linking.graph import device_of_key
from indexes.model.vocabulary import Definition, Location, NativeFunction
from indexes.queries.gaps.tree import Tree

_DEPTH = 2
"""Calls between a kernel and the stub that runs its loop."""

_REGISTERED = "SELECT op,target FROM library_kernels WHERE key=? AND target NOT NULL ORDER BY rowid"


class Home(NamedTuple):
    """The kernel of one overload for one key."""

    op: str
    key: str
    kernel: Definition
    """The function that computes there: that registered on the stub, where it is shared."""
    entry: StubEntry | None
    """The line that registers it on a stub; None where the YAML file names it."""

    @property
    def path(self) -> str:
        """The file that it stands in."""
        return self.kernel.location.path


class KernelFiles:
    """The kernels of one tree by key and operator. An operator is a base name here: ``add`` stands
    for ``add_``, ``add.Tensor`` and ``add.out`` too."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._facts = tree.index.facts
        self.of_key = lru_cache(None)(self._of_key)
        self.own_homes = lru_cache(None)(self._own_homes)
        self.shared_files = lru_cache(None)(self._shared_files)
        self.stubs = lru_cache(None)(self._stubs)
        self._numbers = lru_cache(None)(self._numbers_of)

    @cached_property
    def groups(self) -> dict[str, list[NativeFunction]]:
        """The entries of each operator of native_functions.yaml, in its order."""
        found: dict[str, list[NativeFunction]] = {}
        for native in self.tree.natives.values():
            if "::" not in native.name and "generated" not in native.tags:
                found.setdefault(base_name(native.name), []).append(native)
        return found

    def _of_key(self, key: str) -> dict[str, list[Home]]:
        """The operators whose entries name a kernel for a key, each with where these stand."""
        found: dict[str, list[Home]] = {}
        for base, natives in self.groups.items():
            homes = [home for native in natives for home in self._of_entry(native, key)]
            if homes:
                found[base] = homes
        return found or self._of_library(key)

    def _of_library(self, key: str) -> dict[str, list[Home]]:
        """The functions that TORCH_LIBRARY blocks register for a key that no entry names."""
        found: dict[str, list[Home]] = {}
        for op, target in self.tree.store.query(_REGISTERED, (key,)):
            native, known = self.tree.natives.get(op), self._facts.by_id(target)
            if native and known and "::" not in native.name:
                home = Home(op, key, known.definition, None)
                found.setdefault(base_name(native.name), []).append(home)
        return found

    def _of_entry(self, native: NativeFunction, key: str) -> Iterator[Home]:
        if any(one.key == key for one in native.dispatch or ()):
            rows = self.tree.kernels.get(native.full_name, {})
            shared = rows["CPU"].definitions if "CPU" in rows else ()
            for definition in rows[key].definitions if key in rows else ():
                entry = self._registered(definition, key) if definition in shared else None
                kernel = self._definition(entry) if entry else None
                yield Home(native.full_name, key, kernel or definition, entry if kernel else None)

    def _registered(self, definition: Definition, key: str) -> StubEntry | None:
        """What a kernel that serves the CPU too runs for a key: the first stub that it calls
        decides."""
        device = device_of_key(key)
        if device != key:
            return None
        entries = (e for s in self.stubs(definition) for e in self._facts.registered_on(s))
        return next((e for e in entries if e.device == device and e.target is not None), None)

    def _definition(self, entry: StubEntry) -> Definition | None:
        known = self._facts.by_id(entry.target) if entry.target is not None else None
        return known.definition if known else None

    def _numbers_of(self, definition: Definition) -> tuple[int, ...]:
        known = self._facts.named(definition.name)
        return tuple(one.id for one in known if one.definition.location == definition.location)

    def _stubs(self, definition: Definition) -> tuple[str, ...]:
        """The stubs that a kernel calls, itself or through a helper."""
        found = (s for number in self._numbers(definition) for s in self._called(number, _DEPTH))
        return tuple(dict.fromkeys(found))

    def helpers(self, kernel: Definition, word: str) -> list[Definition]:
        """The functions named by a word that a kernel calls in other files."""
        edges = (edge for number in self._numbers(kernel) for edge in self._facts.edges(number))
        known = (self._facts.by_id(e.target) for e in edges if isinstance(e.target, int))
        found = [one.definition for one in known if one and word in one.definition.name]
        return [one for one in dict.fromkeys(found) if one.location.path != kernel.location.path]

    def _called(self, number: int, depth: int) -> Iterator[str]:
        edges = self._facts.edges(number)
        yield from (str(edge.target) for edge in edges if edge.kind in TO_STUBS)
        if depth > 1:
            for edge in edges:
                if edge.kind in TO_DEFINITIONS and isinstance(edge.target, int):
                    yield from self._called(edge.target, depth - 1)

    # -------------------------------------------------------------------- of an operator

    def kernels(self, base: str, keys: Iterable[str]) -> list[Definition]:
        """The functions of an operator's kernels for some keys."""
        rows = (self.tree.kernels.get(n.full_name, {}) for n in self.groups.get(base, ()))
        return [d for row in rows for key in keys if key in row for d in row[key].definitions]

    def _shared_files(self, key: str) -> frozenset[str]:
        """The files in which most kernels are those of the CPU or of the key's device: what stands
        there for a key of another layout is shared with those."""
        plain = {"CPU", device_of_key(key)} - {key, ""}
        counted = Counter(self._paths(key))
        counted.subtract(path for one in sorted(plain) for path in self._paths(one))
        return frozenset(path for path, count in counted.items() if count < 0)

    def _paths(self, key: str) -> Iterator[str]:
        """The files of the kernels for a key, each once for an operator."""
        for homes in self.of_key(key).values():
            yield from {home.path for home in homes}

    def files(self, key: str) -> frozenset[str]:
        """The sources in the folders in which the kernels of a key stand apart from others."""
        own = {home.path for homes in self.own_homes(key).values() for home in homes}
        folders = {path.rpartition("/")[0] for path in own}
        return frozenset(p for p in self.tree.native_files if p.rpartition("/")[0] in folders)

    def _own_homes(self, key: str) -> dict[str, list[Home]]:
        """The same as ``of_key``, of the files alone that are for the key and no other layout."""
        shared = self.shared_files(key)
        found: dict[str, list[Home]] = {}
        for base, homes in self.of_key(key).items():
            own = [one for one in homes if one.path not in shared or one.entry]
            if own:
                found[base] = own
        return found


def base_name(name: str) -> str:
    """The name without the underscore of in-place; ``__and__`` stays."""
    return name if name.endswith("__") else name.rstrip("_")


def after(definition: Definition) -> Location:
    """The last line of a definition."""
    where = definition.location
    return Location(where.path, max(where.line, where.end_line))
