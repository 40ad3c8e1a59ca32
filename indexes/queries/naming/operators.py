"""Operators: of aten by their names and torchgen's derived names, of other namespaces, and by Node
class."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from indexes.linking.python.paths import Found, operator_named
from indexes.model.answers import Hit, NameMatch
from indexes.model.files import canonical, unpack
from indexes.model.vocabulary import Confidence
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.query import NameQuery
from indexes.queries.overloads import as_documented, bound_to, in_order
from indexes.store.lookup import Lookup


def find_library_operator(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The operator ``namespace::name.overload``, or those of a bare name in any namespace."""
    if not query.namespace:
        return _bare(query, index)
    name = f"{query.namespace}::{query.base}"
    found = index.facts.overloads(name)
    if query.overload is not None:
        found = [one for one in found if one.overload == query.overload]
    return NameMatch("operator", name, in_order(found)) if found else None


def _bare(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The meaning of a bare name if only one namespace has it."""
    found = index.facts.named_in_libraries(query.base)
    spaces = dict.fromkeys(one.space for one in found)
    if not found:
        return None
    listed = ", ".join(f"{space}{query.base}" for space in spaces)
    note = f"no operator {query.base} of aten; {listed}"
    return NameMatch("operator", query.base, in_order(found), note=note, confidence="by rule")


def find_node(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The operators that record a Node class, and its entries in derivatives.yaml."""
    facts = index.facts
    for name in query.grad_fns:
        if operators := facts.node_operators(name):
            entries = facts.node_entries(name)
            hits = tuple(Hit("grad_fn", name, entry.location, entry.op) for entry in entries)
            own = {entry.op for entry in entries}
            ops = sorted(operators, key=lambda op: op not in own)
            return NameMatch("grad_fn", name, tuple(ops), hits)
    return None


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The operators of a name; for a Python path those with this generated binding."""
    if found := named_operator(query, index.facts):
        return replace(found, overloads=as_documented(found.overloads, index))
    return _bound(query, index.facts)


def named_operator(query: NameQuery, facts: Lookup) -> NameMatch | None:
    """The first existing operator among a spelling's readings."""
    for at, name in enumerate(query.operators):
        if overloads := _overloads(name, query, facts):
            note = _way(query, name) if at or query.called_on or query.note else ""
            sure: Confidence = "by rule" if note else "exact"
            return NameMatch("operator", name, overloads, note=note, confidence=sure)
    return None


def _way(query: NameQuery, name: str) -> str:
    """How a name that is not an operator's leads to one."""
    if query.note:
        return query.note
    if query.base.startswith("__"):
        return f"Python's {query.base} of tensors calls {name}"
    return "" if "." in name else f"no operator {query.operators[0]}; showing {name}"


def _overloads(name: str, query: NameQuery, facts: Lookup) -> tuple[str, ...]:
    if query.overload is not None or "." in name:
        return (name,) if facts.native(name) else ()
    found = facts.overloads(name)
    return in_order(one for one in found if not query.variant or query.variant in one.variants)


# ------------------------------------------------------------------------- Python's names


def _bound(query: NameQuery, facts: Lookup) -> NameMatch | None:
    for path in query.paths:
        if overloads := bound_to(path, facts):
            return NameMatch("operator", path, overloads)
    return bound_method(query.called_on, query.base, facts) if query.called_on else None


def bound_method(owner: str, name: str, facts: Lookup) -> NameMatch | None:
    """The operators of ``owner.name`` if the owner is a tensor."""
    method = f"torch.Tensor.{name}"
    if overloads := bound_to(method, facts):
        note = f"if {owner} is a tensor"
        return NameMatch("operator", method, overloads, note=note, confidence="by rule")
    return None


KINDS = {"functional": "function", "method": "method", "module": "class", "alias": "attribute"}
"""Kinds of Python API rows, by what they pass on to operators."""
_DEPTH = 5


def passing_on(path: str, facts: Lookup) -> list[Found]:
    """The API rows of a Python name, those for in-place forms last."""
    found = facts.python.named(canonical(path), tuple(KINDS))
    return sorted(found, key=lambda row: row[1].target.endswith("_"))


def leads_to(path: str, facts: Lookup) -> tuple[str, ...]:
    """The operators that a Python function, method or module passes its call on to."""
    return tuple(dict.fromkeys(_followed(path, facts, _DEPTH)))


def _followed(path: str, facts: Lookup, depth: int) -> Iterator[str]:
    if named := path.startswith("aten::") and operator_named(path):
        native = facts.native(named)
        yield from (named,) if native else in_order(facts.overloads(named))
        return
    if bound := bound_to(path, facts):
        yield from bound
    elif depth:
        for _, fact in passing_on(path, facts):
            returned = fact.kind == "alias" or unpack(fact.detail).get("returned") == "1"
            if returned and fact.target != path:
                yield from _followed(fact.target, facts, depth - 1)
