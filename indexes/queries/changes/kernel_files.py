"""Where the kernels of a dispatch key are, by how operators register them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache
from typing import NamedTuple

from indexes.linking.facts import TO_DEFINITIONS, TO_STUBS, StubEntry
from indexes.linking.graph import device_of_key
from indexes.model.lines import grouped
from indexes.model.vocabulary import Definition, Location, NativeFunction
from indexes.queries.gaps.tree import Tree

_DEPTH = 2
"""Calls between a kernel and the stub with its loop."""

_REGISTERED = "SELECT op,target FROM library_kernels WHERE key=? AND target NOT NULL ORDER BY rowid"


class Home(NamedTuple):
    """The kernel of an overload for a key."""

    op: str
    key: str
    kernel: Definition
    """The computing function: registered on the stub, if the kernel is shared."""
    entry: StubEntry | None
    """The line that registers it on a stub; None if named in the YAML."""

    @property
    def path(self) -> str:
        """The file that it stands in."""
        return self.kernel.location.path


class KernelFiles:
    """The kernels of one tree by key and base name: ``add`` includes ``add_``, ``add.Tensor`` and
    ``add.out``."""

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
        """The entries of each operator in native_functions.yaml."""
        return grouped(
            (base_name(native.name), native)
            for native in self.tree.natives.values()
            if "::" not in native.name and "generated" not in native.tags
        )

    def _of_key(self, key: str) -> dict[str, list[Home]]:
        """The operators with a kernel for a key in the YAML, and its places."""
        found: dict[str, list[Home]] = {}
        for base, natives in self.groups.items():
            homes = [home for native in natives for home in self.of_entry(native, key)]
            if homes:
                found[base] = homes
        return found or self._of_library(key)

    def _of_library(self, key: str) -> dict[str, list[Home]]:
        """The functions registered for a key in TORCH_LIBRARY blocks only."""
        homes = ((self.tree.natives.get(one.op), one) for one in self._library_homes(key))
        return grouped((base_name(n.name), h) for n, h in homes if n and "::" not in n.name)

    def registered(self, op: str, key: str) -> Home | None:
        """The kernel of an overload for a key that a TORCH_LIBRARY block registers."""
        return next((one for one in self._library_homes(key) if one.op == op), None)

    def of_other_libraries(self, base: str, key: str) -> list[Home]:
        """The kernels for a key of operators beside ATen's of a name, or that begin with it:
        ``quantized::conv2d``, ``metal_prepack::conv2d_run``."""
        named = re.compile(rf"\w+::{re.escape(base)}(?:\.|$|_)(?P<more>\w*)")
        found = [(named.match(home.op), home) for home in self._library_homes(key)]
        mine = [(match["more"] != "", home) for match, home in found if match]
        return [home for _, home in sorted(mine, key=lambda one: one[0])]

    def _library_homes(self, key: str) -> Iterator[Home]:
        for op, target in self.tree.store.query(_REGISTERED, (key,)):
            if known := self._facts.by_id(target):
                yield Home(op, key, known.definition, None)

    def of_entry(self, native: NativeFunction, key: str) -> Iterator[Home]:
        """The kernels that an entry names for a key."""
        if any(one.key == key for one in native.dispatch or ()):
            rows = self.tree.kernels.get(native.full_name, {})
            shared = rows["CPU"].definitions if "CPU" in rows else ()
            for definition in rows[key].definitions if key in rows else ():
                entry = self._registered(definition, key) if definition in shared else None
                kernel = self._definition(entry) if entry else None
                yield Home(native.full_name, key, kernel or definition, entry if kernel else None)

    def _registered(self, definition: Definition, key: str) -> StubEntry | None:
        """What a kernel shared with the CPU runs for a key, by the first stub that it calls."""
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
        """The stubs that a kernel calls, directly or through a helper."""
        found = (s for number in self._numbers(definition) for s in self._called(number, _DEPTH))
        return tuple(dict.fromkeys(found))

    def helpers(self, kernel: Definition, word: str) -> list[Definition]:
        """The functions named with a word that a kernel calls in other files."""
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
        rows = (self.tree.kernels.get(n.full_name, {}) for n in self.groups.get(base, ()))
        return [d for row in rows for key in keys if key in row for d in row[key].definitions]

    def _shared_files(self, key: str) -> frozenset[str]:
        """Files in which most kernels are the CPU's or the device's, so that those of other layouts
        are shared."""
        plain = {"CPU", device_of_key(key)} - {key, ""}
        counted = Counter(self._paths(key))
        counted.subtract(path for one in sorted(plain) for path in self._paths(one))
        return frozenset(path for path, count in counted.items() if count < 0)

    def _paths(self, key: str) -> Iterator[str]:
        for homes in self.of_key(key).values():
            yield from {home.path for home in homes}

    def files(self, key: str) -> frozenset[str]:
        """The sources in folders for a key."""
        own = {home.path for homes in self.own_homes(key).values() for home in homes}
        folders = {path.rpartition("/")[0] for path in own}
        return frozenset(p for p in self.tree.native_files if p.rpartition("/")[0] in folders)

    def _own_homes(self, key: str) -> dict[str, list[Home]]:
        """As ``of_key``, in files only for the key."""
        shared = self.shared_files(key)
        found: dict[str, list[Home]] = {}
        for base, homes in self.of_key(key).items():
            own = [one for one in homes if one.path not in shared or one.entry]
            if own:
                found[base] = own
        return found


def base_name(name: str) -> str:
    """The name without a trailing underscore, except ``__and__``."""
    return name if name.endswith("__") else name.rstrip("_")


def after(definition: Definition) -> Location:
    where = definition.location
    return Location(where.path, max(where.line, where.end_line))
