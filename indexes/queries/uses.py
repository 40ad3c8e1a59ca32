"""Who uses a symbol: calls, registrations, formulas, and the operators that reach it."""

from __future__ import annotations

from indexes.linking.overloads import formula_functions
from indexes.linking.reverse import callers_of, reaching, stub_callers, stubs_of
from indexes.model.vocabulary import Definition, Hit, Location
from indexes.queries.places_library import registrations_of
from indexes.queries.resolve import resolve
from indexes.store.lookup import Lookup


def uses(facts: Lookup, symbol: str, limit: int = 200) -> tuple[Hit, ...]:
    """Direct uses first, then the operators that reach the symbol, with the way."""
    match = resolve(symbol, facts)
    hits: list[Hit] = []
    known = [
        k
        for h in match.hits
        for k in facts.named(h.name.rpartition("::")[2])
        if k.definition.location == h.location
    ]
    stubs = [match.text] if match.kind == "stub" else []
    for stub in stubs:
        hits += [
            _use(c.definition, f"{call.kind} of the stub", call.line)
            for c, call in stub_callers(stub, facts)
        ]
        hits += [
            Hit("registration", f"{u.macro}({u.arguments})", u.location, u.guard)
            for u in facts.stub_uses(stub)
        ]
    for one in known:
        hits += [_use(c.definition, call.kind, call.line) for c, call in callers_of(one, facts)]
        hits += [
            Hit("registration", f"{u.macro}({u.arguments})", u.location, "registers it")
            for u in stubs_of(one, facts)
        ]
        if one.definition.kind == "function":
            hits += registrations_of(facts, one.definition)
    hits += _formulas(facts, {k.definition.name for k in known})
    hits += [_operator(facts, r.op, r.through) for r in reaching(known, stubs, facts)]
    hits += _overload_callers(facts, match.overloads)
    return tuple(dict.fromkeys(hits))[:limit]


def _use(caller: Definition, how: str, line: int) -> Hit:
    place = Location(caller.location.path, line or caller.location.line)
    return Hit("caller", caller.qualified, place, how)


def _operator(facts: Lookup, op: str, through: tuple[str, ...]) -> Hit:
    native = facts.native(op)
    location = native.location if native else Location("", 0)
    return Hit("operator", op, location, " <- ".join(reversed(through)), op)


def _formulas(facts: Lookup, names: set[str]) -> list[Hit]:
    hits = []
    for name in sorted(names):
        for entry in facts.entries_with(name):
            for function in formula_functions(entry, facts):
                if function.name.rpartition("::")[2] == name and function.definition:
                    said, where = f"{entry.op}: {function.formula.text}", function.formula.location
                    hits.append(Hit("formula", said, where, name, entry.op))
    return hits


def _overload_callers(facts: Lookup, overloads: tuple[str, ...]) -> list[Hit]:
    """Bodies that call an operator by its C++ name: all its overloads, since types decide."""
    bases = dict.fromkeys(o.partition(".")[0] for o in overloads)
    hits = []
    for base in bases:
        for caller, call in (*facts.callers(base), *facts.callers(f"{base}_out")):
            if call.kind == "member" or call.qualifier == "at":
                hits.append(_use(caller.definition, f"calls the operator {base}", call.line))
    return hits
