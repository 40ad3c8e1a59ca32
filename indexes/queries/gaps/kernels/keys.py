"""Dispatch keys for which kernels can be missing: those of each family (dense, Sparse, NestedTensor
...) for each backend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from indexes.model.errors import SourceError
from indexes.model.regex import regex
from indexes.queries.gaps.kernels.tables import tables_of
from indexes.queries.gaps.tree import TESTS, Tree

_MAKES = "empty.memory_format"
"""The operator whose kernel every backend needs to create tensors."""
REFUSED = "torchgen takes no kernel for it: dispatch_keys in torchgen/model.py lacks it"
_APART = regex(r"Auto(?:grad|cast)\w*")
"""Families of keys before those that compute."""
META = "Meta"
_EVERYWHERE = frozenset({"CPU", "CUDA", META})
"""Backends on which every operator test runs."""
_UNTESTED = "no table of this source says which operators its tests expect to fail there"
DENSE = ""
"""The family of ordinary tensors, whose keys are named as backends."""


class KernelKey(NamedTuple):
    """A computing dispatch key: ``SparseMPS`` is ``Sparse`` on ``MPS``."""

    name: str
    family: str
    backend: str


@dataclass(frozen=True, slots=True)
class KernelKeys:
    """The keys of a tree, and those about which it cannot tell."""

    families: Mapping[str, tuple[KernelKey, ...]]
    """By family, with kernels first; families without any kernel are left out."""
    unknown: Mapping[str, str]
    """Why a key's kernels are unknown here, by name."""


def kernel_keys(tree: Tree) -> KernelKeys:
    """The keys of backends whose kernels this source has."""
    used = {key for rows in tree.kernels.values() for key in rows} | _registered(tree)
    split = _split(tree, _backends(tree, used))
    backends = dict.fromkeys(key.backend for key in split)
    untested = [one for one in backends if not _is_tested(tree, one)]
    taken = tree.accepted_keys or [key.name for key in split]
    refused = [key.name for key in split if key.name not in used and key.name not in taken]
    split = [key for key in split if key.backend not in untested and key.name not in refused]
    families: dict[str, list[KernelKey]] = {}
    for key in sorted(split, key=lambda key: key.name not in used):
        families.setdefault(key.family, []).append(key)
    known = {name: tuple(keys) for name, keys in families.items() if keys[0].name in used}
    unknown = {**dict.fromkeys(refused, REFUSED), **dict.fromkeys(untested, _UNTESTED)}
    return KernelKeys(known, {**_elsewhere(tree, used, {*backends}), **unknown})


def _is_tested(tree: Tree, backend: str) -> bool:
    """Whether operator tests run on a backend, which is expected to have each."""
    return backend in _EVERYWHERE or any(tables_of(tree, backend))


def _registered(tree: Tree) -> set[str]:
    """The keys registered in TORCH_LIBRARY blocks outside tests."""
    sql = (
        "SELECT DISTINCT l.key,f.path FROM library_kernels l JOIN files f ON f.id=l.file"
        " WHERE l.op=? AND l.target NOT NULL"
    )
    rows = tree.store.query(sql, (_MAKES,))
    return {key for key, path in rows if not TESTS.search(f"/{path}")}


def _backends(tree: Tree, used: set[str]) -> list[str]:
    """The backends with a tensor-creating kernel in this source: ``CPU``, not ``SparseCPU``."""
    makes = (tree.keys(_MAKES) | _registered(tree)) & used
    found = [key for key in sorted(makes) if _is_defined(tree, key)]
    return [key for key in found if not any(key != one and key.endswith(one) for one in found)]


def _is_defined(tree: Tree, key: str) -> bool:
    """Whether this source has some kernel of a key; for a wheel the YAML is enough."""
    if tree.lacks_kernels() or key in _registered(tree):
        return True
    return any(key in rows and rows[key].definitions for rows in tree.kernels.values())


def _split(tree: Tree, backends: list[str]) -> list[KernelKey]:
    """The keys of DispatchKey.h in a family on one of these backends."""
    found = []
    for name in _runtime(tree):
        ends = [one for one in backends if name.endswith(one)]
        backend = max(ends, key=len, default="")
        family = name.removesuffix(backend)
        if backend and not _APART.fullmatch(family):
            found.append(KernelKey(name, family, backend))
    return found


def _runtime(tree: Tree) -> list[str]:
    try:
        return [key.name for key in tree.index.dispatch.keys.runtime]
    except SourceError:
        return []


def _elsewhere(tree: Tree, used: set[str], made: set[str]) -> dict[str, str]:
    """The keys of backends with kernels elsewhere: those named in the YAML, and those without any
    kernel here."""
    try:
        backends = tree.index.dispatch.keys.backends
    except SourceError:
        return {}
    reason = "this source has no {} kernel of {}: its kernels are in another repository"
    reason += " (index that too, by --with DIR)"
    found: dict[str, str] = {}
    for backend in (one for one in backends if one not in made):
        for key in (backend, *sorted({*used, *_runtime(tree)})):
            is_of_it = key.endswith(backend) and not key.endswith(tuple(made))
            if is_of_it and not _APART.fullmatch(key.removesuffix(backend)):
                found[key] = reason.format(backend, _MAKES)
    return found
