"""The stage that determines the devices of each operator and whether it is differentiable, for
composite ones by the operators that they call."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from indexes.codegen.variants import called_by_generated
from indexes.linking.facts import TO_DEFINITIONS, TO_OPERATORS, TO_STUBS
from indexes.linking.graph import DEVICES
from indexes.linking.usual_conditions import is_for_other_tensors
from indexes.linking.works import schema_work
from indexes.model.vocabulary import NativeFunction, OperatorSummary
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup
from indexes.store.tables import dump, numbers

_IMPLICIT = "CompositeImplicitAutograd"
_FORMULA = "formula"
"""Stands for a derivative among the devices that an operator has."""
_STEPS = TO_DEFINITIONS | TO_OPERATORS | TO_STUBS
_Facts = dict[str, set[str]]
_Steps = dict[int | str, list[int | str]]


class Reach(NamedTuple):
    """What an operator has itself, or through the operators that it calls."""

    devices: tuple[str, ...]
    differentiable: bool
    called: bool
    """Whether operators call it in their own code."""


def reach_inputs(store: Store) -> Iterable[object]:
    """The inputs besides edges, without positions."""
    return chain.from_iterable(map(store.rows, _INPUTS))


_INPUTS = (
    (
        "SELECT full_name,derivative NOT NULL,"
        "json_remove(data,'$.location','$.field_lines','$.dispatch','$.variants')"
        " FROM ops ORDER BY position"
    ),
    "SELECT op,key,kind,definitions,source_op FROM kernels ORDER BY id",
    "SELECT DISTINCT stub,device,target FROM registrations ORDER BY stub,device,target",
    "SELECT op,key,target FROM library_kernels ORDER BY rowid",
)


def keep_reach(store: Store) -> None:
    """Determines the callees of composite operators, and what each operator reaches."""
    operators = Lookup(store)
    summaries = {one.full_name: one for one in operators.summaries()}
    stubs: _Facts = defaultdict(set)
    for stub, device in store.query(_REGISTERED):
        stubs[stub].add(device)
    steps = _steps(store)
    callees = _callees(operators, _steps(store, _for_other_tensors(operators)), steps)
    own = {name: _own(one, operators) for name, one in summaries.items()}
    reached = _reached(summaries, {**stubs, **own}, callees)
    callers = _callers(operators, steps)
    reach = {name: _reach(reached[name], bool(callers[name] - {name})) for name in summaries}
    called = {name: sorted(callees[name]) for name in sorted(callees)}
    documents = (("composites", dump(called)), ("reach", dump(reach)))
    store.db.executemany("INSERT OR REPLACE INTO documents VALUES(?,?)", documents)


def write_reach(store: Store) -> None:
    """Writes what operators reach into the rows of the operator list."""
    operators = Lookup(store)
    reach = dict(operators.document("reach"))
    reached = ((one, Reach(*reach[one.full_name])) for one in operators.summaries())
    after = ((one, replace(one, **found._asdict())) for one, found in reached)
    changed = [(dump(new), new.full_name) for one, new in after if one != new]
    store.db.executemany("UPDATE ops SET summary=? WHERE full_name=?", changed)


_REGISTERED = "SELECT DISTINCT stub,device FROM registrations WHERE target NOT NULL"


def _reach(reached: set[str], called: bool) -> Reach:
    devices = tuple(device for device in DEVICES if device in reached)
    return Reach(devices, _FORMULA in reached, called)


def _reached(
    summaries: Mapping[str, OperatorSummary], reached: _Facts, callees: Mapping[str, set[str]]
) -> _Facts:
    """What each operator has itself or through the operators and stubs that its composite kernels
    call. ``reached``: what operators and stubs have themselves."""
    callers: dict[str, list[str]] = defaultdict(list)
    for caller, called in callees.items():
        for name in called & reached.keys():
            callers[name].append(caller)
    pending = list(reached)
    while pending:
        name = pending.pop()
        for caller in callers[name]:
            gained = _handed_on(reached[name], summaries[caller]) - reached[caller]
            if gained:
                reached[caller] |= gained
                pending.append(caller)
    return reached


def _own(one: OperatorSummary, operators: Lookup) -> set[str]:
    devices = {key for key in one.keys if key in DEVICES}
    by_hand = one.full_name in operators.differentiated_by_hand
    return devices | {_FORMULA} if one.has_derivative or by_hand else devices


def _handed_on(facts: set[str], caller: OperatorSummary) -> set[str]:
    """What a composite kernel passes on: autograd only if it is composite for autograd too."""
    return facts if _IMPLICIT in caller.keys else facts - {_FORMULA}


# ---------------------------------------------------------------------- what kernels call


def _callees(operators: Lookup, plain: _Steps, steps: _Steps) -> dict[str, set[str]]:
    """The operators that each operator's composite kernels call, those that may compute first;
    where plain tensors meet any, only these."""
    natives = {one.full_name: one for one in operators.natives()}
    aside = {name for name, one in natives.items() if _is_aside(one, operators)}
    found: dict[str, set[str]] = defaultdict(set)
    for op, kind, linked, source in operators.store.query(_COMPOSITE):
        start = numbers(linked)
        called = (_called(start, plain) - {op}) or (_called(start, steps) - {op})
        if kind == "python":
            called |= {source} - {op}
        if kind == "generated" and (made := called_by_generated(natives[op], operators.overloads)):
            called.add(made.full_name)
        found[op] |= called - aside or called
    return found


_COMPOSITE = (
    "SELECT op,kind,definitions,source_op FROM kernels WHERE key LIKE 'Composite%' ORDER BY id"
)


def _is_aside(native: NativeFunction, operators: Lookup) -> bool:
    """Whether a call of an operator does not show where another one computes."""
    return schema_work(native, operators.overloads(native.name)) in ("allocates", "checks")


def _callers(operators: Lookup, steps: _Steps) -> Mapping[int | str, set[str]]:
    """Two callers of each operator, which is enough to know that another one calls it."""
    store, every = operators.store, {**steps}
    for stub, target in store.query("SELECT stub,target FROM registrations WHERE target NOT NULL"):
        every[stub] = [*every.get(stub, ()), target]
    found: dict[int | str, set[str]] = defaultdict(set)
    pending: list[tuple[int | str, str]] = _generated_calls(operators)
    for op, listed in store.query(_KERNELS):
        pending += [(number, op) for number in numbers(str(listed))]
    while pending:
        node, op = pending.pop()
        if op not in found[node] and len(found[node]) < _ENOUGH:
            found[node].add(op)
            pending += [(target, op) for target in every.get(node, ())]
    return found


def _generated_calls(operators: Lookup) -> list[tuple[int | str, str]]:
    """The operators that generated kernels call, with the operators of these."""
    ops = operators.store.column("SELECT DISTINCT op FROM kernels WHERE kind='generated'")
    natives = filter(None, map(operators.native, ops))
    calls = ((called_by_generated(one, operators.overloads), one) for one in natives)
    return [(called.full_name, one.full_name) for called, one in calls if called]


_ENOUGH = 2
_KERNELS = (
    "SELECT op,definitions FROM kernels WHERE key!='Meta' UNION ALL"
    " SELECT op,target FROM library_kernels WHERE target NOT NULL"
)


def _steps(store: Store, left_out: Collection[tuple[int, int]] = ()) -> _Steps:
    """The edges of each definition: to definitions by number, to operators by name; without those
    in some of its branches."""
    kinds = ",".join(f"'{kind}'" for kind in sorted(_STEPS - {"macro"}))
    found: _Steps = {}
    sql = f"SELECT caller,branch,target FROM edges WHERE kind IN ({kinds})"
    for caller, branch, target in store.query(sql):
        if (caller, branch) not in left_out:
            found.setdefault(caller, []).append(target)
    return found


def _for_other_tensors(operators: Lookup) -> set[tuple[int, int]]:
    """The branches of definitions that plain tensors never take: ``if (self.is_quantized())``."""
    callers = operators.store.column("SELECT DISTINCT caller FROM edges WHERE branch")
    return {
        (caller, number)
        for caller in callers
        for number, choices in enumerate(operators.conditions_of(caller))
        if any(map(is_for_other_tensors, choices))
    }


def _called(start: Iterable[int], steps: _Steps) -> set[str]:
    """The operators reached from definitions without calling another one."""
    seen: set[int | str] = set(start)
    pending: list[int | str] = list(seen)
    while pending:
        for target in steps.get(pending.pop(), ()):
            if target not in seen:
                seen.add(target)
                pending.append(target)
    return {one for one in seen if isinstance(one, str)}
