"""What a pasted name means in one index."""

from __future__ import annotations

from collections.abc import Iterable

from indexes.model.places import Hit, NameMatch
from indexes.model.vocabulary import Definition, Location
from indexes.queries.names import NameQuery, near, parse_name
from indexes.store.lookup import Lookup
from indexes.store.registrations import StoredPython


def resolve(text: str, facts: Lookup) -> NameMatch:
    """Operator, Node class, stub or symbol, in the order in which its spelling suggests."""
    query = parse_name(text)
    ways = {
        "operator": (_functional, _operator, _grad_fn, _stub, _symbol),
        "grad_fn": (_grad_fn, _operator, _symbol),
        "stub": (_stub, _symbol, _operator),
        "symbol": (_first_symbol, _stub, _operator, _grad_fn, _symbol),
    }[query.kind]
    for way in ways:
        if found := way(query, facts):
            return found
    return NameMatch("none", text.strip(), suggestions=_near(query, facts))


def _functional(query: NameQuery, facts: Lookup) -> NameMatch | None:
    """A function of torch.nn.functional, or a module of torch.nn, means the operators that
    it passes its call on to."""
    name = query.symbols[0].rpartition(".")[2] if query.symbols else query.base
    if query.module.endswith("functional"):
        path, kind = f"torch.nn.functional.{query.base}", "functional"
    elif query.module.partition(".")[0] == "nn" and name[:1].isupper():
        path, kind = f"torch.nn.{name}", "module"
    else:
        return None
    called = _called(path, kind, facts)
    if kind == "module":
        called += [inner for target, _ in called for inner in _called(target, "functional", facts)]
    names = [target.rpartition(".")[2] for target, _ in called]
    overloads = [o for one in names for o in _overloads(one, query, facts)]
    if not overloads:
        return None
    where = called[0][1]
    said = ", ".join(dict.fromkeys(target for target, _ in called))
    note = f"{path} ({where}) calls {said}"
    hit = Hit("python", path, where, f"calls {called[0][0]}")
    named = next(n for n in names if _overloads(n, query, facts))
    return NameMatch("operator", named, tuple(dict.fromkeys(overloads)), (hit,), note)


def _called(path: str, kind: str, facts: Lookup) -> list[tuple[str, Location]]:
    """What a Python function or module returns the result of, in-place forms last."""
    found = StoredPython(facts.store).passed_on(path, kind)
    return [(fact.target, Location(file, fact.line)) for file, fact in found]


def _operator(query: NameQuery, facts: Lookup) -> NameMatch | None:
    for at, name in enumerate(query.operators):
        overloads = _overloads(name, query, facts)
        if overloads:
            note = "" if at == 0 else f"no {query.operators[0]}; {name} is the nearest it can mean"
            return NameMatch("operator", name, overloads, note=note)
    return None


def _overloads(name: str, query: NameQuery, facts: Lookup) -> tuple[str, ...]:
    if facts.native(name) and (query.overload is not None or "." in name):
        return (name,)
    return tuple(f.full_name for f in sorted(facts.overloads(name), key=_commonness))


def _commonness(function: object) -> tuple[int, int]:
    """Bare names mean the overload for tensors first, then the default one, out= last."""
    overload = getattr(function, "overload", "")
    tags = getattr(function, "tags", ())
    rank = {"": 0, "Tensor": 1}.get(overload, 2)
    return (int("generated" in tags) + int("out" in overload), rank)


def _grad_fn(query: NameQuery, facts: Lookup) -> NameMatch | None:
    for name in query.grad_fns:
        if operators := facts.node_operators(name):
            entries = facts.node_entries(name)
            hits = tuple(Hit("grad_fn", name, entry.location, entry.op) for entry in entries)
            own = {entry.op for entry in entries}
            ops = sorted(operators, key=lambda op: op not in own)
            return NameMatch("grad_fn", name, tuple(ops), hits)
    return None


def _stub(query: NameQuery, facts: Lookup) -> NameMatch | None:
    for symbol in query.symbols:
        simple = symbol.rpartition("::")[2]
        uses = facts.stub_uses(simple)
        if uses:
            hits = tuple(Hit("stub", f"{u.macro}({u.arguments})", u.location, u.what) for u in uses)
            return NameMatch("stub", simple, (), hits)
    return None


def _first_symbol(query: NameQuery, facts: Lookup) -> NameMatch | None:
    """The symbol as it was pasted; looser readings come after operators."""
    return _symbol_among(query.symbols[:1], facts)


def _symbol(query: NameQuery, facts: Lookup) -> NameMatch | None:
    return _symbol_among(query.symbols, facts)


def _symbol_among(symbols: Iterable[str], facts: Lookup) -> NameMatch | None:
    for symbol in symbols:
        simple = symbol.rpartition("::")[2]
        definitions = [k.definition for k in facts.named(simple)]
        fitting = [d for d in definitions if _ends_with(d, symbol)]
        if fitting:
            return NameMatch("symbol", symbol, (), tuple(definition_hit(d) for d in fitting))
    return None


def _ends_with(definition: Definition, symbol: str) -> bool:
    plain = definition.qualified.replace("(anonymous)::", "")
    return plain == symbol or plain.endswith(f"::{symbol}")


def definition_hit(definition: Definition) -> Hit:
    """A definition as a search result."""
    kind = "__global__" if definition.cuda_global else definition.kind
    return Hit(kind, definition.qualified, definition.location, definition.parameters)


def _near(query: NameQuery, facts: Lookup) -> tuple[str, ...]:
    operators = dict.fromkeys(name.partition(".")[0] for name in facts.operator_names)
    wanted = query.operators[0] if query.operators else query.base
    first = facts.node_names if query.kind == "grad_fn" else operators
    every = (*operators, *facts.node_names)
    return near(wanted.partition(".")[0], first, 5) or near(query.base, every, 5)
