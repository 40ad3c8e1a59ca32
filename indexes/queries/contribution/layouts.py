"""What belongs to an operator's kernels for a layout: sparse, quantized, nested tensors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from indexes.linking.facts import TO_OPERATORS
from indexes.linking.graph import device_of_key
from indexes.linking.python.links import names_of
from indexes.linking.works import is_view, moves
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import KernelRow
from indexes.queries.changes.backends import test_files
from indexes.queries.contribution.steps import Step
from indexes.queries.gaps.tree import Tree

_MOST = 6


def layouts(tree: Tree, op: str) -> list[str]:
    """The keys of an operator's kernels that are no device's alone."""
    return sorted(key for key in _rows(tree, op) if device_of_key(key) not in ("", key))


def _rows(tree: Tree, op: str) -> dict[str, KernelRow]:
    """Its kernels by key: of it alone, as all kernels of a tree take a while to read."""
    return {row.key: row for row in tree.index.facts.kernels(op)}


def layout_tests(tree: Tree, op: str) -> dict[str, str]:
    """The nearest test file for each of its layouts, with the first key."""
    native = tree.index.native(op)
    public = names_of(native, tree.index.facts.python) if native else ()
    names = {name.rpartition(".")[2] for name in public}
    found: dict[str, str] = {}
    for key in layouts(tree, op):
        for path in test_files(tree, key, names)[:1]:
            found.setdefault(path, key)
    return found


def called_kernels(tree: Tree, ops: Iterable[str]) -> Iterator[Step]:
    """The kernels for the same layout of operators that its kernels call, and of those that these
    call, as what they compute is written there: ``to_dense`` adds to zeros."""
    first: dict[str, Step] = {}
    for op, key in ((one, key) for one in ops for key in layouts(tree, one)):
        called = list(_called(tree, op, key))
        further = [one for name, _ in called for one in _called(tree, name, key)]
        for _, step in (*called, *further):
            first.setdefault(step.location.path, step)
    yield from islice(first.values(), _MOST)


def _called(tree: Tree, op: str, key: str) -> Iterator[tuple[str, Step]]:
    """The operators that a kernel calls, with their kernels for its key."""
    facts, rows = tree.index.facts, _rows(tree, op)
    known = map(facts.known, rows[key].definitions if key in rows else ())
    for edge in (edge for one in known if one for edge in facts.edges(one.id)):
        theirs = _rows(tree, str(edge.target)) if edge.kind in TO_OPERATORS else {}
        if key not in theirs or _only_moves(tree, str(edge.target)):
            continue
        for kernel in theirs[key].definitions[:1]:
            rule = f"the {key} kernel of {op} calls {edge.target}, whose kernel this is"
            yield str(edge.target), Step("calls", kernel.qualified, kernel.location, rule)


def _only_moves(tree: Tree, op: str) -> bool:
    """Whether an operator computes no values."""
    native = tree.index.native(op)
    schema = parse_schema(native.schema) if native else None
    return schema is None or is_view(schema) or moves(schema)
