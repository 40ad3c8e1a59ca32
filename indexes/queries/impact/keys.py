"""The dispatch keys with which code runs, propagated up the call graph.

A kernel registered for SparseCsrCUDA runs if an operator is called with such a tensor: its callers
reach the kernel with that key alone, and a composite operator passes the key on to what it calls. A
key has a layout (``SparseCsr``; none for dense tensors) and a device (``CUDA``).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from indexes.linking.graph import device_of_key
from indexes.readers.cxx.dispatch_keys import DispatchKeys
from indexes.store.index_file import Store

Keys = frozenset[str]

_ABOVE = "BackendSelect"
"""The dispatcher's key above all backends, in all versions."""
_IMPLICIT = ("CompositeImplicitAutograd", "Math", "Undefined", "CatchAll")
_EXPLICIT = ("CompositeExplicitAutograd", "DefaultBackend")
_NESTED, _NO_SPARSE = "NestedTensor", "NonFunctional"
_SHOWN = 4
"""Most keys shown before the rest is counted."""


class KeySets:
    """The keys that the kernels of a tree serve."""

    def __init__(self, store: Store, keys: DispatchKeys | None) -> None:
        """``keys``: those of DispatchKey.h; None if the tree has none."""
        self._store = store
        self._header = keys

    @cached_property
    def every(self) -> Keys:
        """The backend keys with a kernel in this tree."""
        named = {key for keys in self._registered.values() for key in keys}
        return frozenset(key for key in named if self._is_backend(key))

    def of_device(self, device: str) -> Keys:
        """The keys of a device, for all layouts; all keys for no device."""
        return self._of_devices({device}) if device else self.every

    def _of_devices(self, devices: Iterable[str]) -> Keys:
        wanted = set(devices)
        return frozenset(key for key in self.every if self.device(key) in wanted)

    # ----------------------------------------------------------------------- operators

    def own(self, op: str) -> Keys:
        return self.every & self._registered.get(op, frozenset())

    def of_operator(self, op: str) -> Keys:
        """The backends on which an operator runs, by any kernel; all if unknown."""
        registered = self._registered.get(op, frozenset())
        composite = (self._composite(op, key) for key in registered if key not in self.every)
        return self.own(op).union(*composite) or self.every

    def serving(self, op: str, key: str) -> Keys:
        """The backends on which an operator's kernel for a key runs. One for a mode (autograd,
        vmap, autocast) runs wherever the operator does."""
        if key in self.every:
            return frozenset((key,))
        if key.startswith((*_IMPLICIT, *_EXPLICIT)):
            return self._composite(op, key)
        device = device_of_key(key) if key.startswith("Autograd") else ""
        return self.of_operator(op) & self.of_device(device)

    def of_rows(self, op: str, keys: Iterable[str]) -> Keys | None:
        """The backends on which some rows of an operator's dispatch table run, or ran before they
        were removed; None if unknown."""
        return frozenset[str]().union(*(self.serving(op, key) for key in keys)) or None

    def _composite(self, op: str, key: str) -> Keys:
        rest = self.every - self.own(op)
        if key.endswith(_NESTED) and key.startswith("Composite"):
            return frozenset(one for one in rest if self.layout(one) == _NESTED)
        if key.startswith(_IMPLICIT):
            return rest
        if not key.startswith(_EXPLICIT):
            return frozenset()
        left_out = (_NESTED, "Sparse") if key.endswith(_NO_SPARSE) else (_NESTED,)
        return frozenset(one for one in rest if self.layout(one) not in left_out)

    def across(self, op: str, keys: Keys) -> Keys:
        """The keys of a body that calls an operator, given those the operator runs with.

        Kernels of any layout call dense ones for their values. An operator without kernels for
        other layouts is called before there is such a tensor.
        """
        layouts = {self.layout(key) for key in keys}
        if all(self.layout(key) in layouts for key in self.of_operator(op)):
            return keys | self._of_devices(self.device(key) for key in keys)
        return keys | self._of_devices(self.device(key) for key in keys if not self.layout(key))

    # ---------------------------------------------------------------------------- keys

    def device(self, key: str) -> str:
        """The device of a key, or a key that is its own device: ``Vulkan``."""
        return self._parts.get(key) or device_of_key(key) or key

    def layout(self, key: str) -> str:
        """``SparseCsr`` for ``SparseCsrCUDA``; empty for dense tensors."""
        return key.removesuffix(self.device(key))

    def named(self, op: str, keys: Keys) -> tuple[str, ...]:
        """The keys with which an operator is reached, summarized by whole layouts and devices;
        empty for all that it runs with. A key whose row is removed is none that it runs with."""
        runs = self.of_operator(op)
        left = keys & runs or keys
        if left == runs:
            return ()
        found: list[str] = []
        for part in (self.layout, self.device):
            for name in sorted({part(key) for key in left} - {""}):
                whole = {key for key in runs if part(key) == name}
                if whole & left and whole <= keys and len(whole & left) > 1:
                    found.append(name)
                    left -= whole
        found += sorted(left)
        more = len(found) - _SHOWN
        return (*found[:_SHOWN], f"{more} more keys") if more > 1 else tuple(found)

    def _is_backend(self, key: str) -> bool:
        if self._backends:
            return key in self._backends
        return bool(device_of_key(key)) and not key.startswith(("Auto", "FuncTorch"))

    @cached_property
    def _backends(self) -> Keys:
        names = [key.name for key in self._header.runtime] if self._header else []
        end = names.index(_ABOVE) if _ABOVE in names else 0
        return frozenset(names[:end]) - {"Undefined"}

    @cached_property
    def _parts(self) -> dict[str, str]:
        runtime = self._header.runtime if self._header else ()
        return {key.name: key.backend for key in runtime if key.backend}

    @cached_property
    def _registered(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        sql = "SELECT op,key FROM kernels UNION SELECT op,key FROM library_kernels"
        for op, key in self._store.query(sql):
            found.setdefault(op, set()).add(key or _IMPLICIT[0])
        return {op: frozenset(keys) for op, keys in found.items()}
