"""The dispatch table of an operator, computed from source alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property

from indexes.build.torchgen_rules import TABLE_RULES, read_rules
from indexes.codegen.handwritten import INCOMPLETE, handwritten_registrations
from indexes.codegen.registration import MetaRules, Registration, python_meta
from indexes.codegen.registrations import generated_registrations
from indexes.codegen.table import NOT_HERE, AliasSets, TableModel, TableRow
from indexes.linking.registrations import (
    Written,
    is_built,
    kernels_over_cpp,
    registered_definition,
    written_registrations,
)
from indexes.model.dispatch import DispatchSlot, DispatchTable
from indexes.model.errors import NotFound, SourceError
from indexes.model.files import in_extension
from indexes.model.lines import grouped
from indexes.model.vocabulary import Confidence, Location, NativeFunction
from indexes.readers.cxx.dispatch_keys import DispatchKeys, read_dispatch_keys, read_key_sets
from indexes.source.source import Source
from indexes.store.lookup import Lookup
from indexes.store.registrations import UNSEEN, library_uses, named_macros

_META_FILE = "torch/_meta_registrations.py"
_PROBE = "empty.memory_format"
"""An operator for which every backend has a kernel, since it creates tensors."""
_DECIDES = "computeDispatchTableEntryWithDebug"
_ELSEWHERE = "this tree holds no kernels of the backend, an extension may register some"
_FROM_PYTHON = (
    "Python may register a meta kernel while torch is imported: that is not followed here"
)

_Where = tuple[Location | None, Location | None, tuple[Location, ...], str]
"""The line of a registration, its kernel's definition, evidence, ``#if`` guard."""
_Places = tuple[str, _Where]
"""The kernel that a registration replaces, and its place."""


class Dispatch:
    """Tables of all operators of one tree, with shared parts computed once."""

    def __init__(self, source: Source, facts: Lookup) -> None:
        self._source = source
        self._facts = facts
        self._places: dict[int, _Places] = {}

    def table(self, op: str) -> DispatchTable:
        """The table of ``add.Tensor`` or ``quantized::add``. Raises NotFound, or SourceError in a
        tree without dispatch keys."""
        name = op.removeprefix("aten::")
        if name not in self._registered:
            raise NotFound(f"nothing is registered for {op} in this tree")
        slots = tuple(
            self._shared.get(id(row)) or self._slot(row) for row in self.model.table(name)
        )
        native = self._facts.native(name)
        over = self._over_cpp.get(name, []) if native and not native.defined_by else []
        slots = tuple(_taken_over(slot, over) for slot in slots) if over else slots
        own = tuple(self._own(r) for r in (*self._registered[name], *over))
        doubt = native.doubt if native else ""
        unseen = doubt or (UNSEEN if self._source.kind == "wheel" else "")
        return DispatchTable(self._source.info, name, slots, own, self._precedence, unseen)

    def operators(self) -> tuple[str, ...]:
        """Every operator with a registration, those of the YAML first."""
        return tuple(self._registered)

    def registered_for(self, key: str) -> Iterator[tuple[str, DispatchSlot]]:
        """The operators with a kernel for a key or alias key, in order."""
        for op, registrations in self._registered.items():
            for one in registrations:
                if self.keys.resolve(one.key) == key:
                    yield op, self._own(one)

    def fallback(self, key: str) -> DispatchSlot | None:
        """What runs for a key without a registration; None if nothing does."""
        found = [r for r in self._registrations if not r.op and self.keys.resolve(r.key) == key]
        return self._own(found[-1]) if found else None

    @cached_property
    def keys(self) -> DispatchKeys:
        """The dispatch keys of this tree."""
        path = self._source.locate("DispatchKey.h")
        if path is None:
            raise SourceError("this tree has no c10/core/DispatchKey.h")
        keys, problems = read_dispatch_keys(self._source.read(path), path)
        if not keys.runtime:
            raise SourceError(f"{path}: {problems[0].message if problems else 'no dispatch keys'}")
        return keys

    @cached_property
    def model(self) -> TableModel:
        """The registrations of every operator."""
        sets, registrations = self._sets, self._registrations
        if self._source.kind == "wheel":
            return TableModel(self.keys, sets, registrations, dict.fromkeys(INCOMPLETE, NOT_HERE))
        incomplete = dict.fromkeys(self._without_kernels, _ELSEWHERE)
        if self._source.locate(_META_FILE) and not self._meta_rules.known:
            incomplete["Meta"] = _FROM_PYTHON
        return TableModel(self.keys, sets, registrations, incomplete)

    @cached_property
    def _sets(self) -> AliasSets:
        names = ("DispatchKeySet.h", "c10/core/DispatchKeySet.cpp")
        sets, backends = {}, {}
        for path in filter(None, map(self._source.locate, names)):
            more, cases = read_key_sets(self._source.read(path), path)
            sets.update(more)
            backends.update(cases)
        return AliasSets.of(sets, backends)

    @cached_property
    def _written(self) -> Mapping[int, Written]:
        """Registrations in TORCH_LIBRARY blocks, by the identity of the registration."""
        uses = [u for u in library_uses(self._facts) if is_built(u.location.path)]
        # One under a condition comes before one that is always built, so that that one wins.
        found = sorted(
            written_registrations(uses, named_macros(self._facts, uses)),
            key=lambda w: not w.registration.condition,
        )
        return {id(one.registration): one for one in found}

    @cached_property
    def _registrations(self) -> tuple[Registration, ...]:
        natives = {native.full_name: native for native in self._facts.natives()}
        declared = [f for f in natives.values() if "generated" not in f.tags]
        rules, _ = read_rules(self._source, TABLE_RULES)
        generated = tuple(generated_registrations(declared, self._facts.entries(), rules))
        by_hand = tuple(one for one in self._by_hand if not _in_extension(one))
        if self._source.kind == "wheel":
            by_hand = tuple(handwritten_registrations())
        known = (*by_hand, *generated)
        # Extensions are loaded into a torch that is there already: what they register wins.
        known = (*known, *self._python(known, natives))
        there = {(one.op, one.key) for one in known}
        others = (r for r in self._of_python_libraries() if (r.op, r.key) not in there)
        return (*known, *others, *self._of_extensions())

    def generated(self) -> Mapping[str, set[str]]:
        """The operators for which each generator registers kernels, by its output: ``torchgen:
        VariableType*.cpp, by gen_variable_type.py``."""
        found: dict[str, set[str]] = {}
        for one in self._registrations:
            if one.origin.startswith("torchgen"):
                found.setdefault(one.origin, set()).add(one.op)
        return found

    def _of_python_libraries(self) -> Iterable[Registration]:
        for row in self._facts.library_kernels():
            if row.kind == "python" and row.registered and row.key in self._every_key:
                where = row.registered
                made = (row.op, row.key, row.symbol, where.path, row.rule)
                yield Registration(*made, location=where)

    @cached_property
    def _over_cpp(self) -> Mapping[str, list[Registration]]:
        kernels = kernels_over_cpp(self._facts.python.of_kinds("py_impl"))
        return grouped((one.op, one) for one in kernels if one.key in self._every_key)

    @property
    def _by_hand(self) -> Iterable[Registration]:
        return (one.registration for one in self._written.values())

    def _of_extensions(self) -> Iterable[Registration]:
        yield from filter(_in_extension, self._by_hand)
        for row in self._facts.extension_kernels():
            if row.key in self._key_names:
                what = (
                    row.op,
                    row.key,
                    row.symbol,
                    f"torchgen: Register{row.key}.cpp, by its YAML",
                )
                yield Registration(*what, row.rule, False, row.registered)

    @cached_property
    def _every_key(self) -> frozenset[str]:
        """Including alias keys, and modes for py_impl."""
        return self._key_names | self.keys.aliases.keys()

    @cached_property
    def _key_names(self) -> frozenset[str]:
        return frozenset(key.name for key in self.keys.runtime)

    def _python(
        self, known: Iterable[Registration], natives: Mapping[str, NativeFunction]
    ) -> Iterable[Registration]:
        if not self._meta_rules.known:
            return ()
        keys: dict[str, set[str]] = {}
        for one in known:
            if one.op:
                keys.setdefault(one.op, set()).add(one.key)
        have = {op: frozenset(k) for op, k in keys.items()}
        cpp = TableModel(self.keys, self._sets, known)

        def served(op: str) -> bool:
            row = cpp.row(op, "Meta")
            return row is not None and row.kind != "missing"

        rows = self._facts.python.of_kinds("decomposition", "meta_registration")
        return python_meta(rows, self._meta_rules, natives, have, served)

    @cached_property
    def _meta_rules(self) -> MetaRules:
        return MetaRules.of(self._facts.python.of_kinds("meta_rule"))

    @cached_property
    def _registered(self) -> Mapping[str, tuple[Registration, ...]]:
        found: dict[str, list[Registration]] = {name: [] for name in self._facts.operator_names}
        for one in self._registrations:
            if one.op:
                found.setdefault(one.op, []).append(one)
        return {op: tuple(all_) for op, all_ in found.items()}

    @cached_property
    def _without_kernels(self) -> frozenset[str]:
        """Backends whose registrations are in source that is not available."""
        built = {r.key for r in self._registered.get(_PROBE, ())}
        return frozenset(
            k.name
            for k in self.keys.runtime
            if k.backend and k.functionality == "Dense" and k.name not in built
        )

    @cached_property
    def _precedence(self) -> Location | None:
        found = [k.definition for k in self._facts.named(_DECIDES)]
        written = [d.location for d in found if d.kind in ("function", "method")]
        return written[0] if written else None

    # ------------------------------------------------------------------ answers

    def _slot(self, row: TableRow) -> DispatchSlot:
        winner = row.winner
        confidence: Confidence = "exact" if row.kind == "kernel" else "by rule"
        if not row.certain:
            confidence = "ambiguous"
        if winner is None:
            return DispatchSlot(row.key, "", row.kind, row.origin, row.rule, confidence)
        replaced, places = self._known_places(winner)
        what = (row.key, row.kernel, row.kind, row.origin, row.rule + replaced)
        return DispatchSlot(*what, confidence, row.fallthrough, *places)

    @cached_property
    def _shared(self) -> Mapping[int, DispatchSlot]:
        """Slots without a registration, which are equal for all operators."""
        return {id(row): self._slot(row) for row in self.model.without_kernel.values()}

    def _known_places(self, winner: Registration) -> _Places:
        """The places of a registration, which may fill many slots."""
        known = self._places.get(id(winner))
        if known is None:
            known = self._places[id(winner)] = (self._replaced(winner), self._where(winner))
        return known

    def _where(self, one: Registration) -> _Where:
        return self._registration(one), self._definition(one), self._evidence(one), one.condition

    def _own(self, one: Registration) -> DispatchSlot:
        what = (self.keys.resolve(one.key), one.kernel, "registered", one.origin, one.rule)
        return DispatchSlot(*what, "exact", one.fallthrough, *self._where(one))

    def _definition(self, one: Registration) -> Location | None:
        if written := self._written.get(id(one)):
            found = registered_definition(written, self._facts)
            return found.location if found else None
        if _is_python(one):
            return one.location
        for row in self._facts.kernels(one.op):
            if (row.key, row.symbol) == (one.key, one.kernel) and row.definitions:
                return row.definitions[0].location
        return None

    def _registration(self, one: Registration) -> Location | None:
        if one.location is None and one.origin.startswith("torchgen"):
            entry, _ = self._facts.derivative(one.op)
            native = self._facts.native(one.op)
            if entry and one.kernel.startswith("VariableType::"):
                return entry.location
            return native.location if native else None
        return one.location

    def _evidence(self, one: Registration) -> tuple[Location, ...]:
        written = self._written.get(id(one))
        if written:
            return (written.use.macro,) if written.use.macro else ()
        replaced = self._under(one)
        where = self._definition(replaced) if replaced else None
        return (where,) if where else ()

    def _replaced(self, winner: Registration) -> str:
        under = self._under(winner)
        return f"; replaces {under.kernel}, which C++ registers" if under else ""

    def _under(self, winner: Registration) -> Registration | None:
        """The C++ kernel that one registered from Python for the same key replaces."""
        if not _is_python(winner):
            return None
        same = [r for r in self._registered[winner.op] if r.key == winner.key and r is not winner]
        return same[-1] if same else None


def _taken_over(slot: DispatchSlot, over: Iterable[Registration]) -> DispatchSlot:
    own = (f"{one.kernel} takes over: {one.rule}" for one in over if one.key == slot.key)
    return replace(slot, rule="; ".join((slot.rule, *own)))


def _in_extension(one: Registration) -> bool:
    return one.location is not None and in_extension(one.location.path)


def _is_python(one: Registration) -> bool:
    """Whether a Python file of PyTorch registers it, other than torchgen."""
    return one.origin.startswith("torch/") and one.origin.endswith(".py")
