"""Kernels that could be structured, and composite kernels that call stubs."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping

from indexes.model.regex import regex
from indexes.model.schema import SchemaKind
from indexes.model.vocabulary import Definition, KernelRow, Location
from indexes.queries.gaps.kernels.siblings import dispatch_line, near
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.tree import Tree

_README = "aten/src/ATen/native/README.md"
_FORBIDS = regex(r"should NOT be registered as\s+CompositeExplicitAutograd")
_COMPOSITE = "CompositeExplicitAutograd"
_WANTS = regex(r"\b(?:make|port|convert|move)\b.*\bstructured\b", re.IGNORECASE)
_BELOW = 5
"""Lines between a comment and its function."""
_SHARE = 0.75
_FEWEST = 4


def find_composite_stubs(tree: Tree) -> Iterator[Gap]:
    """Kernels for every backend that call a stub with functions for a few."""
    stubs = _device_stubs(tree)
    found: dict[Location, tuple[Definition, list[str], str, int]] = {}
    for op, rows in tree.kernels.items():
        if _COMPOSITE in rows and "generated" not in tree.natives[op].tags:
            for definition, stub, line in _stub_calls(tree, rows[_COMPOSITE], stubs):
                known = found.setdefault(definition.location, (definition, [], stub, line))
                known[1].append(op)
    forbids = _FORBIDS.search(tree.text(_README))
    readme = tree.place_of(forbids[0], _README) if forbids else None
    for definition, ops, stub, line in found.values():
        yield _composite_gap(tree, definition, ops, stub, line, readme)


def _device_stubs(tree: Tree) -> set[str]:
    """Stubs with functions for several devices; one for a single device is called only there."""
    kinds: dict[str, set[str]] = {}
    sql = "SELECT DISTINCT stub,device FROM registrations WHERE function!='nullptr'"
    for stub, device in tree.store.query(sql):
        kinds.setdefault(stub.rpartition("::")[2], set()).add(device)
    return {stub for stub, devices in kinds.items() if len(devices) > 1}


def _stub_calls(
    tree: Tree, row: KernelRow, stubs: set[str]
) -> Iterator[tuple[Definition, str, int]]:
    """The first call of a stub in each definition of a kernel."""
    facts = tree.index.facts
    for definition in row.definitions:
        known = facts.known(definition)
        calls = facts.calls(known) if known else ()
        first = next((c for c in calls if c.name in stubs and c.kind == "call"), None)
        if first:
            yield definition, first.name, first.line


def _composite_gap(
    tree: Tree,
    definition: Definition,
    ops: list[str],
    stub: str,
    line: int,
    readme: Location | None,
) -> Gap:
    call = Location(definition.location.path, line)
    what = f"{definition.name} calls {stub} under {_COMPOSITE}: {', '.join(ops)}"
    rule = f"{stub} has functions for the devices that register one, {_COMPOSITE} covers all"
    if readme:
        rule += "; the README of native says that such kernels should not be registered so"
    places = (call, dispatch_line(tree, ops[0]), *((readme,) if readme else ()))
    is_stated, keys = readme is not None, (_COMPOSITE,)
    return Gap(definition.location, what, rule, places, ops[0], keys=keys, stated=is_stated)


# -------------------------------------------------------------------------- structured


def find_structured(tree: Tree) -> Iterator[Gap]:
    """Kernels that a TODO wants structured, and the only unstructured ones among similar ones."""
    noted = {tree.natives[op].name: gap for op, gap in _noted(tree)}
    yield from noted.values()
    yield from _among_structured(tree, noted)


def _noted(tree: Tree) -> Iterator[tuple[str, Gap]]:
    for place, words, _ in tree.kernel_remarks("todo"):
        if _WANTS.search(words):
            op = tree.operator_of(tree.function_at(place) or tree.function_below(place, _BELOW))
            if op is not None:
                yield op, _noted_gap(tree, op, place, words)


def _noted_gap(tree: Tree, op: str, place: Location, words: str) -> Gap:
    what, rule = f"{op} could be structured", f"its authors say: {words}"
    keys = tuple(sorted(tree.keys(op)))
    return Gap(place, what, rule, (place, tree.natives[op].location), op, keys=keys, stated=True)


def _among_structured(tree: Tree, noted: Container[str]) -> Iterator[Gap]:
    """Operators with functional and out kernels, where most of those with the same types in the
    same file are structured."""
    outs = _out_overloads(tree)
    neighbours = near(tree, outs)
    for op in tree.public:
        native, out = tree.natives[op], outs.get(op)
        if out is None or native.name in noted:
            continue
        if _is_structured(tree, op) or _is_structured(tree, out):
            continue
        several = len(tree.schemas[op].returns) > 1
        if several or tree.is_composite(op) or tree.is_random_or_dynamic(op):
            continue
        siblings = [one for one in neighbours.get(op, ()) if tree.natives[one].name != native.name]
        having = [one for one in siblings if _is_structured(tree, one)]
        if len(siblings) >= _FEWEST and len(having) >= _SHARE * len(siblings):
            yield _structured_gap(tree, op, out, siblings, having)


def _is_structured(tree: Tree, op: str) -> bool:
    native = tree.natives[op]
    return native.structured or native.structured_delegate is not None


def _out_overloads(tree: Tree) -> Mapping[str, str]:
    """The out overload of each functional one with CPU and CUDA kernels of its own."""
    outs = {
        schema.signature(): op
        for op, schema in tree.schemas.items()
        if schema.kind is SchemaKind.OUT
        and tree.is_dense(op)
        and "generated" not in tree.natives[op].tags
    }
    found = {op: outs.get(tree.schemas[op].signature()) for op in tree.public}
    return {op: out for op, out in found.items() if out}


def _structured_gap(tree: Tree, op: str, out: str, siblings: list[str], having: list[str]) -> Gap:
    rule = f"{op} and {out} have kernels of their own; {len(having)} of {len(siblings)} operators"
    rule += " with the same types and a CPU kernel in the same file are structured"
    what = f"{op} and {out} could be structured"
    places = tuple(tree.natives[one].location for one in (op, out, *having[:3]))
    return Gap(places[0], what, rule, places, op, keys=("CPU", "CUDA"))


KINDS = (
    Kind(
        "composite-stub",
        "hard",
        "stubs called under a composite key",
        find_composite_stubs,
        Tree.lacks_kernels,
    ),
    Kind(
        "structured",
        "hard",
        "kernels that could be structured",
        find_structured,
        Tree.lacks_kernels,
    ),
)
