"""Kernels that an operator lacks for a backend that its neighbours have one for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.statements import Statement, about, unimplemented
from indexes.queries.gaps.tree import Tree

_TABLES = ("test/test_mps.py", "torch/testing/_internal/common_mps.py")
"""Where a table UNIMPLEMENTED_XFAILLIST stands, of one version or another."""
_SHARE = 0.75
_FEWEST = 4
"""So many neighbours make a neighbourhood."""


def find(tree: Tree) -> Iterator[Gap]:
    """What PyTorch's own test of a device says is not implemented, and what all but a few
    operators of one shape and one file of kernels have."""
    stated = _stated(tree)
    neighbours = near(tree)
    wanted = [op for op in tree.public if tree.is_dense(op)]
    for ops in tree.by_name(op for op in wanted if "MPS" not in tree.keys(op)):
        notes = tuple(about(stated, tree.opinfo_names(ops[0])))
        siblings = [one for op in ops for one in neighbours.get(op, ()) if one not in ops]
        if any(one.whole for one in notes):
            yield _gap(tree, ops, "MPS", notes, siblings)
        elif _most(tree, siblings, "MPS"):
            yield _gap(tree, ops, "MPS", (), siblings)
    yield from _without_cuda(tree, neighbours)


def _without_cuda(tree: Tree, neighbours: dict[str, list[str]]) -> Iterator[Gap]:
    lone = [op for op in tree.public if "CPU" in tree.keys(op) and "CUDA" not in tree.keys(op)]
    for ops in tree.by_name(lone):
        siblings = [one for op in ops for one in neighbours.get(op, ()) if one not in ops]
        if _most(tree, siblings, "CUDA"):
            yield _gap(tree, ops, "CUDA", (), siblings)


def _stated(tree: Tree) -> list[Statement]:
    return [one for path in _TABLES for one in unimplemented(tree.text(path), path)]


def near(tree: Tree, outs: Mapping[str, str] | None = None) -> dict[str, list[str]]:
    """For each public operator with a CPU kernel those whose CPU kernel stands in the same
    file and that take the same types: torchgen gives them the same signature. ``outs`` are
    overloads whose kernel counts for an operator that has none of its own."""
    groups: dict[object, list[str]] = {}
    for op in tree.public:
        rows = tree.kernels.get(op, {})
        row = rows.get("CPU") or tree.kernels.get((outs or {}).get(op, ""), {}).get("CPU")
        paths = {d.location.path for d in row.definitions} if row else set()
        if len(paths) == 1:
            types = tuple(a.type for a in tree.schemas[op].arguments)
            groups.setdefault((paths.pop(), types), []).append(op)
    return {op: [other for other in ops if other != op] for ops in groups.values() for op in ops}


def _most(tree: Tree, siblings: Sequence[str], key: str) -> bool:
    having = sum(key in tree.keys(one) for one in siblings)
    return len(siblings) >= _FEWEST and having >= _SHARE * len(siblings)


def _gap(
    tree: Tree, ops: list[str], key: str, notes: Sequence[Statement], siblings: Sequence[str]
) -> Gap:
    having = [one for one in siblings if key in tree.keys(one)]
    rule = f"the schema declares no {key} kernel"
    if _most(tree, siblings, key):
        rule += f"; {len(having)} of {len(siblings)} operators with the same types whose CPU"
        rule += " kernel is in the same file do"
    if notes:
        rule += f"; {notes[0].group} lists it as not implemented"
    shown = [tree.natives[one].location for one in having[:3]]
    places = (dispatch_line(tree, ops[0]), *(one.location for one in notes), *shown)
    what, place = f"no {key} kernel for {', '.join(ops)}", tree.natives[ops[0]].location
    subject = f"{key}/{tree.natives[ops[0]].name}"
    return Gap(place, what, rule, places, ops[0], subject=subject, keys=(key,), stated=bool(notes))


def dispatch_line(tree: Tree, op: str) -> Location:
    """The line where its kernels are named, or left to another entry."""
    native = tree.natives[op]
    for field in ("dispatch", "structured_delegate"):
        if field in native.field_lines:
            return Location(native.location.path, native.field_lines[field])
    return native.location


KINDS = (Kind("kernel", "medium", "operators missing a backend kernel", find),)
