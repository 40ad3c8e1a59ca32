"""Plans of structured kernels: one meta function for the shape, one impl per device."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.model.schema import SchemaKind
from indexes.model.vocabulary import Definition, Location, NativeFunction
from indexes.queries.changes import entries
from indexes.queries.changes.diffs import Edit, edited, margin
from indexes.queries.changes.model import Change, ChangeStep, Neighbour, Parts
from indexes.queries.changes.python.nearest import nearest
from indexes.queries.changes.related import neighbour
from indexes.queries.changes.test_runs import operator_runs
from indexes.queries.gaps.tree import Tree

_DEVICES = (
    "SELECT DISTINCT device FROM registrations WHERE stub LIKE ? AND function!='nullptr'"
    " ORDER BY device"
)
_LONGEST = 20
_KINDS = (SchemaKind.FUNCTIONAL, SchemaKind.INPLACE)


def structured(tree: Tree, change: Change) -> Parts:
    """Plans a structured operator, whose functional and in-place variants torchgen makes from its
    out variant."""
    assert change.op
    out = _out(tree, change.op)
    shown = [ChangeStep("read", change.gap.location, change.gap.what)] if change.gap else []
    if out is None:
        added = _out_added(tree, change.op, change.why)
        return Parts((*shown, added), tests=operator_runs(tree, change.op))
    having = {n.name for n in tree.natives.values() if n.structured_delegate}
    near = nearest(tree, change.op, having)
    model = next((_structured(tree, one.name) for one in near), None)
    neighbours = tuple(_neighbours(tree, model)) if model else ()
    steps = (*shown, *_entries(tree, change, out, model), *_kernels(tree, change, out, model))
    there = out.location if out.structured else None
    return Parts(
        steps,
        neighbours,
        operator_runs(tree, change.op),
        title=f"structured {change.name}",
        there=there,
    )


def composite_stub(tree: Tree, change: Change) -> Parts:
    """Plans the registration of a stub-calling kernel for the stub's devices."""
    assert change.gap
    assert change.op
    call, _, *shown = change.gap.evidence
    stub = change.gap.rule.partition(" ")[0]
    steps = (
        ChangeStep("read", call, f"{stub} is called here, under every key"),
        *_narrowed(tree, change, stub),
        *(ChangeStep("read", place, "see the rule") for place in shown),
    )
    return Parts(steps, tests=operator_runs(tree, change.op))


def _narrowed(tree: Tree, change: Change, stub: str) -> Iterator[ChangeStep]:
    assert change.gap
    keys = ", ".join(device for (device,) in tree.store.query(_DEVICES, (f"%{stub}",)))
    natives = (tree.natives[op] for op in tree.overloads[change.name])
    for native in (one for one in natives if "generated" not in one.tags):
        if row := entries.row_of(native, change.gap.keys[0]):
            place = entries.place_of_row(native, row)
            line = f"{margin(tree.line(place))}{keys}: {row.symbol}"
            what = f"name {keys} in the row of {native.full_name}: what ran it for other keys"
            what += " then needs a kernel of its own, as Meta does"
            code = edited(tree, place.path, [Edit(place.line, place.line, (line,))])
            yield ChangeStep("edit", place, what, code, change.why)


def _structured(tree: Tree, name: str) -> NativeFunction | None:
    found = (tree.natives[one] for one in tree.overloads[name])
    return next((one for one in found if one.structured), None)


def _out_added(tree: Tree, op: str, why: str) -> ChangeStep:
    """A new out entry, if it is generated or missing."""
    native, schema = tree.natives[op], tree.schemas[op]
    name = f"{native.overload}_out" if native.overload else "out"
    given = ", ".join(str(one) for one in schema.arguments)
    code = (
        f"- func: {native.name}.{name}({given}, *, Tensor(a!) out) -> Tensor(a!)",
        "  structured: True",
        "  dispatch:",
        f"    CPU, CUDA: {native.name}_out",
    )
    what = "Add the out variant: the structured kernel is its kernel; the others delegate to it."
    last = native.location.line + len(list(_entry_lines(tree, native))) - 1
    return ChangeStep("add", Location(native.location.path, last), what, code, why)


def _out(tree: Tree, op: str) -> NativeFunction | None:
    wanted = tree.schemas[op].signature()
    for one in tree.overloads[tree.natives[op].name]:
        schema = tree.schemas[one]
        own = "generated" not in tree.natives[one].tags
        if own and schema.kind is SchemaKind.OUT and schema.signature() == wanted:
            return tree.natives[one]
    return None


def _entries(
    tree: Tree, change: Change, out: NativeFunction, model: NativeFunction | None
) -> Iterator[ChangeStep]:
    why = change.why or "torchgen makes the other variants of the out variant's kernel"
    like = model.location if model else None
    wanted = tree.schemas[out.full_name].signature()
    inherits = _field(tree, model, "structured_inherits_from") if model else ""
    fields = ["  structured: True", *([inherits] if inherits else [])]
    delegate = [f"  structured_delegate: {out.full_name}"]
    base = tree.schemas[out.full_name].base
    others = [
        native
        for native in tree.natives.values()
        if (schema := tree.schemas[native.full_name]).kind in _KINDS
        and schema.signature() == wanted
        and schema.base == base
    ]
    edits = [_entry(tree, out, fields, False)]
    edits += [_entry(tree, native, delegate, True) for native in others]
    text = (
        f"{out.full_name} is structured; {' and '.join(n.full_name for n in others)} delegate to it"
    )
    code = edited(tree, out.location.path, edits)
    yield ChangeStep("edit", out.location, f"Declare it in the entries: {text}.", code, why, like)


def _entry(tree: Tree, native: NativeFunction, fields: list[str], delegates: bool) -> Edit:
    """An entry with further fields; a delegating one has no dispatch."""
    first, lines = native.location.line, list(_entry_lines(tree, native))
    kept = [*lines[:1], *fields, *(_without_dispatch(lines[1:]) if delegates else lines[1:])]
    return Edit(first, first + len(lines) - 1, tuple(kept))


def _entry_lines(tree: Tree, native: NativeFunction) -> Iterator[str]:
    first = native.location.line
    for at, text in enumerate(tree.lines(native.location.path, first)):
        if at and (not text.strip() or text.startswith("- ")):
            return
        yield text


def _without_dispatch(lines: list[str]) -> Iterator[str]:
    inside = False
    for text in lines:
        inside = text.startswith("  dispatch:") or (inside and text.startswith("    "))
        if not inside:
            yield text


def _field(tree: Tree, native: NativeFunction, name: str) -> str:
    return next((t for t in _entry_lines(tree, native) if t.strip().startswith(f"{name}:")), "")


def _kernels(
    tree: Tree, change: Change, out: NativeFunction, model: NativeFunction | None
) -> Iterator[ChangeStep]:
    """The meta function, and the kernels that become impls."""
    rows = tree.kernels.get(out.full_name, {})
    found = {d: key for key, row in rows.items() for d in row.definitions[:1]}
    places = [(key, definition) for definition, key in found.items()]
    if not places:
        return
    first = places[0][1].location
    what = f"Write the meta function of {out.full_name}: shape, dtype and checks alone."
    place, code = Location(first.path, first.line), _meta_function(tree, out)
    yield ChangeStep("add", place, what, code, like=_meta(tree, model))
    for key, definition in places:
        what = f"Make the {key} kernel {definition.name} a TORCH_IMPL_FUNC({definition.name})."
        yield ChangeStep("edit", definition.location, what)
    yield from _removed(tree, change, set(found))


def _meta_function(tree: Tree, out: NativeFunction) -> tuple[str, ...]:
    """The skeleton of a meta function."""
    name = f"{out.name}, {out.overload}" if out.overload != "out" else out.name
    macro = f"TORCH_META_FUNC2({name})" if "," in name else f"TORCH_META_FUNC({name})"
    schema = tree.schemas[out.full_name]
    given = ", ".join(
        f"const {a.type}& {a.name}" if a.type == "Tensor" else f"{a.type} {a.name}"
        for a in schema.arguments
        if not a.is_out
    )
    return (
        f"{macro}({given}) {{",
        "  // check the arguments, then set_output_raw_strided or build_...",
        "}",
    )


def _removed(tree: Tree, change: Change, kept: set[Definition]) -> Iterator[ChangeStep]:
    """The functional variant's kernels, which torchgen will make."""
    rows = tree.kernels.get(change.op or "", {})
    own = dict.fromkeys(d for row in rows.values() for d in row.definitions[:1])
    for definition in own:
        if definition not in kept:
            what = f"Remove {definition.name}: torchgen makes the functional variant."
            yield ChangeStep("remove", definition.location, what)


def _meta(tree: Tree, model: NativeFunction | None) -> Location | None:
    hops = tree.hops(model.full_name) if model else ()
    return next((hop.location for hop in hops if hop.role == "meta"), None)


def _neighbours(tree: Tree, model: NativeFunction) -> Iterator[Neighbour]:
    for hop in tree.hops(model.full_name):
        where = hop.location
        if hop.role in ("meta", "kernel") and where is not None:
            why = f"the nearest structured operator's {hop.role}"
            yield neighbour(tree, model.full_name, why, where, most=_LONGEST)
        if hop.role == "kernel":
            return
