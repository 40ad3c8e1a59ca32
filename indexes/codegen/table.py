"""The computed dispatch table: which kernel an operator runs for each runtime key.

Precedence is that of ``OperatorEntry::computeDispatchTableEntryWithDebug``
(aten/src/ATen/core/dispatch/OperatorEntry.cpp), the sets of alias keys those of
c10/core/DispatchKeySet.{h,cpp}.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from indexes.codegen.registration import Registration
from indexes.model.vocabulary import Location
from indexes.readers.cxx.dispatch_keys import DispatchKeys, KeySet, RuntimeKey

TableKind = Literal[
    "kernel",
    "default backend kernel",
    "nested kernel",
    "math kernel",
    "ambiguous autogradother",
    "autograd kernel",
    "batched kernel",
    "backend fallback",
    "missing",
]
"""Why a kernel won, in the dispatcher's own words (``torch._C._dispatch_dump_table``)."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """One slot of the table."""

    key: str
    kernel: str
    """Empty if there is none."""
    kind: TableKind
    origin: str
    """What registered it."""
    rule: str
    """Why it won."""
    fallthrough: bool = False
    """The slot passes on to the next key."""
    location: Location | None = None
    certain: bool = True
    """False if source that this tree lacks may register a kernel."""
    winner: Registration | None = None


_WITHOUT = frozenset({"Sparse", "XLABit", "LazyBit"})


@dataclass(frozen=True, slots=True)
class AliasSets:
    """Which functionalities each alias key covers."""

    backends: frozenset[str]
    """Functionalities that are backends: all of AutogradOther's, and ``Dense``."""
    autograd: frozenset[str]
    non_functional_without: frozenset[str] = _WITHOUT
    """Functionalities and backends that allow only functional operators."""
    autograd_backends: Mapping[str, str] | None = None
    """Backend key by autograd key; None: all but those of ``_NO_AUTOGRAD_BACKEND``."""
    composite: frozenset[str] | None = None
    """What CompositeImplicitAutograd covers beside backends and autograd keys; None without
    DispatchKeySet.cpp (versions differ about ``Functionalize``)."""

    @classmethod
    def of(cls, sets: Mapping[str, KeySet], autograd_backends: Mapping[str, str]) -> AliasSets:
        """From ``read_key_sets`` of DispatchKeySet.h and, if the tree has it, of the .cpp."""
        other = sets.get("autogradother_backends")
        autograd = sets.get("autograd_dispatch_keyset")
        without = sets.get("non_functional_backend_dispatch_keyset")
        composite = sets.get("math_dispatch_keyset")
        return cls(
            frozenset((*(other.keys if other else _OTHER_BACKENDS), "Dense")),
            frozenset(autograd.keys if autograd else _AUTOGRAD),
            frozenset(without.removed if without else _WITHOUT),
            autograd_backends or None,
            frozenset(composite.keys) if composite else None,
        )


_OTHER_BACKENDS = "FPGA Vulkan Metal CustomRNGKeyId MkldnnCPU Sparse SparseCsr Quantized".split()
_AUTOGRAD = ("AutogradFunctionality", "AutogradOther", "AutogradNestedTensor")
_NO_AUTOGRAD_BACKEND = frozenset({"HIP", "VE", "MTIA"})
"""Backends that ``getBackendKeySetFromAutograd`` omits."""


NOT_HERE = "C++ source that decides otherwise may exist, and is not in this tree"


class TableModel:
    """All registrations of a tree, from which any operator's table is computed."""

    def __init__(
        self,
        keys: DispatchKeys,
        sets: AliasSets,
        registrations: Iterable[Registration],
        incomplete: Mapping[str, str] | None = None,
    ) -> None:
        """Later registrations replace earlier ones for the same operator and key.

        ``incomplete``: keys for which registrations are missing, with the reason.
        """
        self.keys = keys
        self._incomplete = incomplete or {}
        self._sets = sets
        self._by_op: dict[str, dict[str, Registration]] = {}
        for registration in registrations:
            key = keys.resolve(registration.key)
            key = "CompositeImplicitAutograd" if key == "Undefined" else key
            self._by_op.setdefault(registration.op, {})[key] = registration
        self._fallbacks = self._by_op.pop("", {})
        self._covered = {
            alias: frozenset(k.name for k in keys.runtime if self._covers(alias, k))
            for alias in keys.aliases
        }
        self._others = [k.name for k in keys.runtime if self._is_other_backend(k)]
        self._nested = [k.name for k in keys.runtime if k.functionality == "NestedTensor"]
        self._below = {k.name: frozenset(self._backend_below(k)) for k in keys.runtime}

    def operators(self) -> tuple[str, ...]:
        """Every operator with a registration."""
        return tuple(self._by_op)

    def covered(self, alias: str) -> frozenset[str]:
        """The runtime keys of an alias key; None for another key."""
        return self._covered.get(alias, frozenset())

    def table(self, op: str) -> tuple[TableRow, ...]:
        """A row for each runtime key, in order of priority, lowest first."""
        own = self._by_op.get(op, {})
        return tuple(self._row(key, own) for key in self.keys.runtime)

    def row(self, op: str, key: str) -> TableRow | None:
        """The row of one runtime key; None for an unknown name."""
        own = self._by_op.get(op, {})
        wanted = self.keys.resolve(key)
        return next((self._row(k, own) for k in self.keys.runtime if k.name == wanted), None)

    def _row(self, key: RuntimeKey, own: Mapping[str, Registration]) -> TableRow:
        if key.name in own and key.name != "Undefined":
            return _won(key, own[key.name], "kernel", "registered for this key")
        row = self._from_alias(key, own)
        composite = "CompositeImplicitAutograd" in own and self._sets.composite is None
        if composite and key.name == "Functionalize":
            return _unsure(row or self._fallback(key), NOT_HERE)
        if row is None:
            return self.without_kernel[key.name]
        return self._as_known(row)

    def _as_known(self, row: TableRow) -> TableRow:
        why = self._incomplete.get(row.key)
        return _unsure(row, why) if why else row

    @cached_property
    def without_kernel(self) -> Mapping[str, TableRow]:
        """The row of each key for operators that register nothing for it."""
        return {key.name: self._as_known(self._fallback(key)) for key in self.keys.runtime}

    def _fallback(self, key: RuntimeKey) -> TableRow:
        fallback = self._fallbacks.get(key.name)
        if fallback is not None:
            return _won(key, fallback, "backend fallback", "the key's fallback for all operators")
        return TableRow(key.name, "", "missing", "", "no kernel for this key and no fallback")

    def _from_alias(self, key: RuntimeKey, own: Mapping[str, Registration]) -> TableRow | None:
        for alias, kind in _ALIASES:
            undefined = key.name == "Undefined" and alias in _FOR_UNDEFINED
            if alias in own and (undefined or key.name in self._covered.get(alias, ())):
                row: TableRow | None = _won(key, own[alias], kind, f"{alias} covers the key")
                if kind == "math kernel":
                    row = self._composite(key, own)
                if row is not None:
                    return row
        return None

    def _composite(self, key: RuntimeKey, own: Mapping[str, Registration]) -> TableRow | None:
        """A composite kernel serves an autograd key only if no backend kernel is below it."""
        alias = "CompositeImplicitAutograd"
        others = [own[n] for n in self._others if n in own] if key.name == "AutogradOther" else []
        if any(not other.condition for other in others):
            rule = "a backend of AutogradOther has its own kernel beside the composite one: raises"
            return TableRow(key.name, own[alias].kernel, "ambiguous autogradother", "", rule)
        if others:
            row = _won(key, own[alias], "math kernel", f"{alias} covers the key")
            where = " or ".join(f"{o.key} ({o.condition})" for o in others)
            return replace(row, rule=f"{row.rule}; raises in a build with {where}", certain=False)
        if "CompositeExplicitAutograd" in own or not self._below[key.name].isdisjoint(own):
            return None
        return _won(key, own[alias], "math kernel", f"{alias} covers the key")

    def _backend_below(self, key: RuntimeKey) -> list[str]:
        """The backend keys of an autograd key (``getBackendKeySetFromAutograd``)."""
        if key.name == "AutogradOther":
            return self._others
        if key.name == "AutogradNestedTensor":
            return self._nested
        if key.functionality not in self._sets.autograd:
            return []
        named = self._sets.autograd_backends
        if named is not None:
            return [named[key.name]] if key.name in named else []
        backend = key.backend or key.name.removeprefix("Autograd")
        return [] if backend in _NO_AUTOGRAD_BACKEND else [backend]

    def _covers(self, alias: str, key: RuntimeKey) -> bool:
        """``runtimeDispatchKeySetHas``."""
        sets = self._sets
        is_backend = key.functionality in sets.backends or key.name in sets.backends
        if alias == "Autograd":
            return key.functionality in sets.autograd
        if alias == "FuncTorchBatchedDecomposition":
            return key.name == "FuncTorchBatched"
        if alias == "CompositeImplicitAutogradNestedTensor":
            return key.functionality in ("NestedTensor", "AutogradNestedTensor")
        if alias == "CompositeExplicitAutogradNonFunctional":
            without = sets.non_functional_without
            functional = key.functionality in without or f"{key.backend}Bit" in without
            return is_backend and not functional
        if alias == "CompositeExplicitAutograd":
            return is_backend
        also = {"NestedTensor"} if sets.composite is None else sets.composite
        return is_backend or key.functionality in sets.autograd | also

    def _is_other_backend(self, key: RuntimeKey) -> bool:
        return key.functionality != "Dense" and key.functionality in self._sets.backends


_EXPLICIT, _IMPLICIT = "CompositeExplicitAutograd", "CompositeImplicitAutograd"
_ALIASES: tuple[tuple[str, TableKind], ...] = (
    (f"{_EXPLICIT}NonFunctional", "default backend kernel"),
    (_EXPLICIT, "default backend kernel"),
    (f"{_IMPLICIT}NestedTensor", "nested kernel"),
    (_IMPLICIT, "math kernel"),
    ("Autograd", "autograd kernel"),
    ("FuncTorchBatchedDecomposition", "batched kernel"),
)
"""In order of precedence."""
_FOR_UNDEFINED = frozenset((f"{_EXPLICIT}NonFunctional", _EXPLICIT, _IMPLICIT))


def _won(key: RuntimeKey, winner: Registration, kind: TableKind, why: str) -> TableRow:
    rule = f"{why}; {winner.rule}" if winner.rule else why
    passes, where = winner.fallthrough, winner.location
    return TableRow(key.name, winner.kernel, kind, winner.origin, rule, passes, where, True, winner)


def _unsure(row: TableRow, why: str) -> TableRow:
    return replace(row, rule=f"{row.rule}; {why}", certain=False)
