"""What stands behind a node of a live backward graph: its entry, the formula of each edge, its
class."""

from __future__ import annotations

from dataclasses import dataclass

from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Definition, DerivativeEntry, Formula
from indexes.queries.index import Index


@dataclass(frozen=True, slots=True)
class NodeSource:
    """Where a node comes from."""

    entry: DerivativeEntry | None
    """Its entry in derivatives.yaml; None of what is written by hand, or by the program."""
    operators: tuple[str, ...]
    """The overloads whose calls make it."""
    formulas: tuple[tuple[str, Formula | None], ...]
    """The input and the formula of each gradient that it computes, in the order of its edges; empty
    where that is not known."""
    definition: Definition | None
    """The class, of one that is written by hand in C++."""


def node_source(index: Index, name: str, edges: int) -> NodeSource:
    """What a node of that name is, which has so many edges: ``AddmmBackward0``."""
    plain = name.rpartition("::")[2]
    for entry in index.node(plain)[:1]:
        formulas = tuple(_of_edges(entry, plain, edges))
        return NodeSource(entry, index.node_operators(plain), formulas, None)
    own = index.definitions(name if "::" in name else f"torch::autograd::{plain}")
    return NodeSource(None, (), (), own[0] if own else None)


def _of_edges(entry: DerivativeEntry, node: str, edges: int) -> list[tuple[str, Formula | None]]:
    """As torchgen collects them: one edge for each tensor with a formula, in the order of the
    schema, and as many as it has elements for a list."""
    formulas = {
        name: formula
        for one in entry.sets
        if one.makes(node)
        for formula in one.formulas
        if formula.kind == "gradient"
        for name in formula.inputs
    }
    arguments = [one for one in parse_schema(entry.schema).arguments if one.name in formulas]
    lists = [one for one in arguments if "[" in one.type]
    if len(lists) > 1 or (not lists and len(arguments) != edges):
        return []
    each = edges - len(arguments) + 1
    return [
        (one.name, formulas[one.name])
        for one in arguments
        for _ in range(each if one in lists else 1)
    ]
