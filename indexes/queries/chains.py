"""A chain: everything one overload leads to, from its schema to the lines that compute."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from indexes.codegen.variants import signature_of
from indexes.linking.facts import Call, HopList, Known
from indexes.linking.overloads import (
    BY_HAND,
    by_hand,
    call_arguments,
    fitting_overloads,
    receiver_is_tensor,
)
from indexes.linking.reach import OperatorCall, Reached, Walker, operator_base
from indexes.model.errors import SourceError
from indexes.model.vocabulary import (
    Chain,
    Choice,
    Confidence,
    DerivativeEntry,
    Hop,
    KernelRow,
    Location,
    NativeFunction,
    OperatorSummary,
    Problem,
    Role,
    Unresolved,
)
from indexes.queries.chain_sides import add_around, add_derivative
from indexes.readers.cxx.bodies import body_calls
from indexes.readers.cxx.lexer import lex
from indexes.readers.yaml.schema import parse_schema
from indexes.store.lookup import Lookup

if TYPE_CHECKING:
    from indexes.queries.index import Index

MAX_REDISPATCH = 3
_DEPTHS = (6, 5, 3)
"""How many calls deep a kernel is walked, by how many dispatches away it is."""
_ENOUGH = 900
"""Hops after which no further operator is followed."""
_DEVICES = ("CPU", "CUDA", "MPS", "XPU", "HIP", "MTIA", "PrivateUse1")
_MAIN_KEYS = ("CPU", "CUDA", "MPS")


def device_of_key(key: str) -> str | None:
    """The device that a backend dispatch key computes on; None for alias and Meta keys."""
    for device in _DEVICES:
        if key.endswith(device):
            return device
    return None


_UFUNC_TEMPLATES = {"CPU": "UfuncCPU.cpp", "CUDA": "UfuncCUDA.cu"}


@dataclass(frozen=True, slots=True)
class _Pending:
    """An operator to follow, once nearer ones are done."""

    native: NativeFunction
    parent: int
    keys: tuple[str, ...]
    depth: int


class _ChainBuilder:
    def __init__(self, index: Index, facts: Lookup) -> None:
        self.index = index
        self.facts = facts
        self.hops = HopList()
        self.walker = Walker(facts, self.hops, index.dtypes, index.choices)
        self.followed: set[str] = set()
        self.pending: deque[_Pending] = deque()
        self._level = 0

    # ------------------------------------------------------------------ schema

    def operator(
        self, native: NativeFunction, parent: int | None, keys: Sequence[str] | None, depth: int = 0
    ) -> int:
        """Adds an overload's schema, delegate, meta and kernels; returns the schema's hop."""
        self.followed.add(native.full_name)
        self._level = depth
        number = self._schema(native, parent)
        under = self._delegate(native, number)
        rows = [r for r in self.facts.kernels(native.full_name) if _wanted(r.key, keys)]
        for row in rows:
            if row.key == "Meta":
                self._row([row], "meta", under)
        for group in _grouped([r for r in rows if r.key != "Meta"]):
            self._row(group, "kernel", under)
        if native.doubt:
            self.hops.miss(number, "kernel", native.full_name, native.doubt)
        elif not rows and keys is None:
            self._no_kernel(native, number)
        return number

    def _schema(self, native: NativeFunction, parent: int | None) -> int:
        if "generated" in native.tags:
            rule = "autogen: torchgen derives this overload from the entry that lists it here"
            return self._entry(parent, "schema", native, rule, "by rule")
        return self._entry(parent, "schema", native, "its entry in native_functions.yaml")

    def _entry(
        self,
        parent: int | None,
        role: Role,
        native: NativeFunction,
        rule: str,
        confidence: Confidence = "exact",
        evidence: Sequence[Location] = (),
    ) -> int:
        what, where = native.full_name, native.location
        return self.hops.add(
            parent, role, what, where, rule, confidence, evidence=evidence, note=native.schema
        )

    def _delegate(self, native: NativeFunction, parent: int) -> int:
        out = native.structured_delegate and self.facts.native(native.structured_delegate)
        if not out:
            return parent
        line = native.field_lines.get("structured_delegate", native.location.line)
        rule = f"structured_delegate: {out.full_name} names the kernels"
        evidence = [Location(native.location.path, line)]
        return self._entry(parent, "delegate", out, rule, evidence=evidence)

    def siblings(self, native: NativeFunction, parent: int) -> None:
        """Adds the in-place, functional and out overloads of the same signature."""
        signature = signature_of(native)
        base = parse_schema(native.schema).base
        for name in (base, f"{base}_"):
            for other in self.facts.overloads(name):
                same = signature_of(other) == signature and other.full_name not in self.followed
                if same and "generated" not in other.tags:
                    kind = parse_schema(other.schema).kind.name.lower()
                    rule = f"the {kind} overload of the same signature"
                    self._entry(parent, "schema", other, rule)

    def _no_kernel(self, native: NativeFunction, parent: int) -> None:
        line = native.field_lines.get("dispatch", native.location.line)
        reason = f"dispatch: {{}} at {native.location.path}:{line}: no C++ kernel at all"
        self.hops.miss(parent, "kernel", native.full_name, reason)

    # ----------------------------------------------------------------- kernels

    def _row(self, rows: Sequence[KernelRow], role: Role, parent: int) -> None:
        row, keys = rows[0], [r.key for r in rows]
        devices = [d for k in keys if (d := device_of_key(k))]
        if not row.definitions:
            self._without_definition(row, keys, role, parent)
            return
        if row.kind == "ufunc":
            self._ufunc(row, keys, parent)
            return
        for definition in row.definitions:
            what = (role, definition, row.rule, row.confidence)
            device = devices[0] if len(devices) == 1 else None
            line, dtypes = self._yaml_line(row), self.walker.dtypes(definition)
            number = self.hops.add_definition(
                parent, *what, device=device, keys=keys, evidence=[line], dtypes=dtypes
            )
            known = self.facts.known(definition)
            if known and role != "meta" and self._level < len(_DEPTHS):
                composite = row.key.startswith("Composite")
                on, depth = () if composite else devices, _DEPTHS[self._level]
                self._operators(self.walker.walk(known, number, on, depth), keys, composite)

    def _ufunc(self, row: KernelRow, keys: Sequence[str], parent: int) -> None:
        """torchgen makes the kernel, the stub and the loop around the inner loops."""
        first, device, line = row.definitions[0], device_of_key(row.key), self._yaml_line(row)
        rule = f"{row.rule}; torchgen generates {row.symbol}, this is the arithmetic it calls"
        what, at = (row.symbol, first.location, rule), [line]
        guard = first.guard
        number = self.hops.add(
            parent, "kernel", *what, "by rule", device=device, keys=keys, evidence=at, guard=guard
        )
        if path := self.index.source.locate(f"ATen/templates/{_UFUNC_TEMPLATES[device or '']}"):
            rule = "the template from which torchgen makes the kernel"
            made = Location(path, 1)
            self.hops.add(number, "generated", row.symbol, made, rule, "by rule", device=device)
        base = row.symbol.removeprefix("ufunc_").rpartition("_")[0]
        for use in self.facts.stub_uses(f"{base}_stub") if device == "CPU" else ():
            rule = f"{use.macro}: the stub is {use.what} here; torchgen defines and registers it"
            self.hops.add(number, "stub", f"{base}_stub", use.location, rule, "by rule")
        for definition in row.definitions:
            rule = "an inner loop named in ufunc_inner_loop"
            self.hops.add_definition(
                number, "device_kernel", definition, rule, "by rule", device=device, evidence=[line]
            )

    def _yaml_line(self, row: KernelRow) -> Location:
        native = self.facts.native(row.op)
        assert native is not None
        source = native
        if native.structured_delegate and native.dispatch is None:
            source = self.facts.native(native.structured_delegate) or native
        for kernel in source.dispatch or ():
            if kernel.key == row.key:
                return Location(source.location.path, kernel.line)
        return source.location

    def _without_definition(
        self, row: KernelRow, keys: Sequence[str], role: Role, parent: int
    ) -> None:
        role = "generated" if row.kind == "generated" else role
        if role == "generated" and (template := self._template(row)):
            how, line = row.reason, self._yaml_line(row)
            self.hops.add(
                parent, role, row.symbol, template, how, "by rule", keys=keys, evidence=[line]
            )
        else:
            self.hops.miss(parent, role, row.symbol, row.reason, keys)

    def _template(self, row: KernelRow) -> Location | None:
        name = "RegisterDispatchKey.cpp"
        if row.key.endswith("NonFunctional") or row.op.partition(".")[0].endswith("_copy"):
            name = "CompositeViewCopyKernels.cpp"
        path = self.index.source.locate(f"ATen/templates/{name}") or self.index.source.locate(
            f"aten/src/ATen/templates/{name}"
        )
        return Location(path, 1) if path else None

    # -------------------------------------------------------------- redispatch

    def follow_pending(self) -> None:
        """Follows the operators that were met, the nearest first."""
        while self.pending and len(self.hops.hops) < _ENOUGH:
            one = self.pending.popleft()
            if one.native.full_name not in self.followed:
                self.operator(one.native, one.parent, one.keys, one.depth)

    def _operators(self, reached: Reached, keys: Sequence[str], composite: bool) -> None:
        """Notes calls of other operators, to be followed where the kernel computes through them."""
        main = composite or any(k in _MAIN_KEYS for k in keys)
        follow = main and (composite or not reached.computes)
        calls = reached.operators
        if follow:
            calls = calls + [
                OperatorCall(call, known, hop)
                for known, hop in reached.visited
                for call in self._member_calls(known)
            ]
        for one in self._worth(calls):
            self._operator_call(one, keys, composite, follow)

    def _member_calls(self, known: Known) -> list[Call]:
        """``x.name(...)`` in a function's text, where ``name`` is an operator's."""
        where = known.definition.location
        text = "\n".join(self._text(where.path)[where.line - 1 : where.end_line])
        clean = lex(text).clean
        calls = []
        for (name, qualifier, kind, template), offsets in body_calls(
            clean, 0, len(clean), members=True
        ).items():
            if kind == "member" and self.facts.overloads(name.removesuffix("_symint")):
                calls += [
                    Call(name, qualifier, where.line + clean.count("\n", 0, at), kind, template)
                    for at in reversed(offsets)
                ]
        return calls

    def _worth(self, calls: list[OperatorCall]) -> list[OperatorCall]:
        """Without factories and views, unless there is nothing else."""
        main = [c for c in calls if not self._is_plumbing(c)]
        return main or calls

    def _is_plumbing(self, one: OperatorCall) -> bool:
        overloads = self.facts.overloads(operator_base(one.call))
        return all(_is_plumbing(o) for o in overloads)

    def _operator_call(
        self, one: OperatorCall, keys: Sequence[str], composite: bool, follow: bool
    ) -> None:
        call, path = one.call, one.caller.definition.location.path
        overloads = self.facts.overloads(operator_base(call))
        if call.kind == "member" and not self._on_tensor(one):
            return
        arguments = call_arguments(self._text(path), call.line, call.name)
        fitting = fitting_overloads(call, overloads, arguments)
        if not fitting:
            return
        names = ", ".join(f.full_name for f in fitting)
        own = any(map(by_hand, fitting))
        rule = f"calls an operator {BY_HAND}" if own else "calls an operator: dispatches anew"
        sure: Confidence = "by rule" if own else "exact"
        if len(fitting) > 1:
            sure = "ambiguous"
            rule += f"; the argument types decide among {names}"
        spelled = f"{call.qualifier}::{call.name}" if call.qualifier else call.name
        place, choices = Location(path, call.line), self.walker.choices(call, one.caller)
        number = self.hops.add(
            one.parent, "call", spelled, place, rule, sure, note=names, choices=choices
        )
        if follow and not own and not self._is_plumbing(one):
            self._follow(fitting[0], number, keys, composite)

    def _on_tensor(self, one: OperatorCall) -> bool:
        definition = one.caller.definition
        return receiver_is_tensor(self._text(definition.location.path), one.call, definition)

    def _follow(
        self, native: NativeFunction, parent: int, keys: Sequence[str], composite: bool
    ) -> None:
        if native.full_name in self.followed or self._level >= MAX_REDISPATCH:
            return
        rows = [r.key for r in self.facts.kernels(native.full_name)]
        wanted = _MAIN_KEYS if composite else tuple(keys)
        chosen = tuple(k for k in rows if k in wanted or k.startswith("Composite"))
        self.pending.append(_Pending(native, parent, chosen, self._level + 1))

    def _text(self, path: str) -> list[str]:
        try:
            return self.index.lines(path)
        except SourceError:
            return []


def _grouped(rows: Sequence[KernelRow]) -> list[list[KernelRow]]:
    """Rows of one symbol together, as the YAML often groups their keys."""
    groups: dict[tuple[str, str], list[KernelRow]] = {}
    for row in rows:
        groups.setdefault((row.symbol, row.kind), []).append(row)
    return list(groups.values())


def _wanted(key: str, keys: Sequence[str] | None) -> bool:
    return keys is None or key in keys


def _is_plumbing(native: NativeFunction) -> bool:
    """Whether an operator makes, views, copies or describes tensors rather than computes."""
    schema = parse_schema(native.schema)
    tensors = [a for a in schema.arguments if a.type.startswith("Tensor") and not a.is_out]
    views = any(r.annotation and not r.mutable for r in schema.returns)
    if not tensors or views or not any(r.type.startswith("Tensor") for r in schema.returns):
        return True
    if any(a.name in ("memory_format", "layout", "pin_memory") for a in schema.arguments):
        return True
    return schema.inplace and len(tensors) == 1


def build_chain(
    index: Index, facts: Lookup, summary: OperatorSummary, native: NativeFunction
) -> Chain:
    """The chain of one overload."""
    builder = _ChainBuilder(index, facts)
    root = builder.operator(native, None, None)
    builder.siblings(native, root)
    builder.follow_pending()
    add_derivative(native, root, facts, builder.hops, index.source)
    add_around(native, root, facts, builder.hops, index.source)
    entry = facts.derivative(native.full_name)[0]
    hops = builder.hops
    if hops.full:
        hops.miss(root, "call", native.full_name, "cut here: this chain is longer than is useful")
    ordered, unresolved = _display_order(builder)
    problems = _problems(index, native, entry)
    return Chain(index.info, summary, native, entry, ordered, unresolved, problems)


def _problems(
    index: Index, native: NativeFunction, entry: DerivativeEntry | None
) -> tuple[Problem, ...]:
    """Those of its entries: its own, its delegate's and that of its derivative."""
    out = index.native(native.structured_delegate) if native.structured_delegate else None
    places = [one.location for one in (native, out, entry) if one]
    return tuple(p for p in index.problems() if any(map(p.concerns, places)))


def _real_choices(hop: Hop, taken: Set[Location]) -> tuple[Choice, ...]:
    """Without the early returns that lead nowhere: no other step is taken instead."""
    return tuple(c for c in hop.choices if c.arm != "otherwise" or c.location in taken)


def _display_order(builder: _ChainBuilder) -> tuple[tuple[Hop, ...], tuple[Unresolved, ...]]:
    """Each hop before what hangs under it, numbered in that order."""
    taken = {c.location for h in builder.hops.hops for c in h.choices if c.arm != "otherwise"}
    children: dict[int | None, list[Hop]] = {}
    for hop in builder.hops.hops:
        children.setdefault(hop.parent, []).append(hop)
    ordered: list[Hop] = []
    numbers: dict[int | None, int | None] = {None: None}
    pending = list(reversed(children.get(None, [])))
    while pending:
        hop = pending.pop()
        numbers[hop.id] = len(ordered)
        decided = _real_choices(hop, taken)
        place = replace(hop, id=len(ordered), parent=numbers[hop.parent], choices=decided)
        ordered.append(place)
        pending.extend(reversed(children.get(hop.id, [])))
    missing = (replace(u, parent=numbers.get(u.parent)) for u in builder.hops.unresolved)
    return tuple(ordered), tuple(missing)
