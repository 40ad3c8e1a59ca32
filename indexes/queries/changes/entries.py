"""Rows of native_functions.yaml for a new kernel, as a diff."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from indexes.linking.graph import device_of_key
from indexes.model.vocabulary import Kernel, Location, NativeFunction
from indexes.queries.changes.diffs import Edit
from indexes.queries.changes.kernel_files import Home, base_name
from indexes.queries.gaps.tree import Tree

_LAST = ("tags", "autogen", "cpp_no_default_args", "precomputed")
"""Fields that come after ``dispatch`` by convention."""


class NewRow(NamedTuple):
    """A row to add to an entry."""

    native: NativeFunction
    keys: tuple[str, ...]
    symbol: str
    like: Location
    """The model's row."""
    own: Kernel | None
    """The existing row of the kernel for other keys; None for a new row."""

    @property
    def shared(self) -> bool:
        """Whether the entry already names the kernel."""
        return self.own is not None


def row_of(native: NativeFunction, key: str) -> Kernel | None:
    """The row of an entry for a key."""
    return next((one for one in native.dispatch or () if one.key == key), None)


def row_keys(native: NativeFunction, row: Kernel) -> tuple[str, ...]:
    """The keys on a row."""
    return tuple(one.key for one in native.dispatch or () if one.line == row.line)


def place_of_row(native: NativeFunction, row: Kernel) -> Location:
    return Location(row.path or native.location.path, row.line)


def new_rows(
    tree: Tree, op: str, mine: Sequence[NativeFunction], homes: Sequence[Home], key: str
) -> list[NewRow]:
    """The rows for an operator's entries, each modelled on the similar operator's entry of the same
    kind: functional, in-place or out. Other overloads get one if the model has one for their
    types."""
    group = tree.schemas[op].signature()
    is_device = device_of_key(key) == key
    found = []
    for native in mine:
        schema, like = tree.schemas[native.full_name], _partner(tree, native, homes)
        if like is not None and not row_of(native, key):
            same = [a.type for a in tree.schemas[like.op].arguments]
            if schema.signature() == group or [a.type for a in schema.arguments] == same:
                found.append(_new_row(tree, native, like, key))
        elif is_device and schema.signature() == group and (own := row_of(native, "CPU")):
            # of this kind the neighbour has none: named after the row for the CPU
            place = place_of_row(native, own)
            found.append(NewRow(native, (key,), _for_device(own, key), place, None))
    return found


def shared_rows(tree: Tree, op: str, mine: Sequence[NativeFunction], key: str) -> list[NewRow]:
    """A key added to the row of a function for CPU and CUDA, in each entry of the signature; none
    if an entry lacks such a row."""
    group = tree.schemas[op].signature()
    natives = [n for n in mine if tree.schemas[n.full_name].signature() == group]
    found = [
        NewRow(native, (key,), own.symbol, place_of_row(native, own), own)
        for native in natives
        if (own := row_of(native, "CPU")) and "CUDA" in row_keys(native, own)
    ]
    return found if len(found) == len(natives) else []


def _partner(tree: Tree, native: NativeFunction, homes: Sequence[Home]) -> Home | None:
    """The model's entry of the same kind, with the same types first."""
    schema = tree.schemas[native.full_name]
    types = [one.type for one in schema.arguments]
    same = [h for h in homes if tree.schemas[h.op].kind is schema.kind]
    same.sort(key=lambda h: [one.type for one in tree.schemas[h.op].arguments] != types)
    return next(iter(same), None)


def _new_row(tree: Tree, native: NativeFunction, home: Home, key: str) -> NewRow:
    theirs = tree.natives[home.op]
    row = row_of(theirs, home.key)
    assert row is not None  # a home is made of one
    keys = row_keys(theirs, row)
    place = place_of_row(theirs, row)
    if key not in keys and len(keys) == 1:  # the model is a kernel of one other device
        symbol = f"{renamed(row.symbol, theirs, native)}_{device_of_key(key).lower()}"
        return NewRow(native, (key,), symbol, place, None)
    mine = [r for k in keys if k != key and (r := row_of(native, k))]
    if len({one.symbol for one in mine}) > 1:  # it has a kernel for each of the devices
        return NewRow(native, (key,), _for_device(mine[0], key), place, None)
    own = next(iter(mine), None)
    taken = {one.key for one in native.dispatch or ()}
    wanted = dict.fromkeys((*(one for one in keys if one not in taken), key))
    symbol = own.symbol if own else renamed(row.symbol, theirs, native)
    return NewRow(native, (key,) if own else tuple(wanted), symbol, place, own)


def _for_device(own: Kernel, key: str) -> str:
    """A CPU kernel's name with a device inserted before a trailing underscore."""
    plain = own.symbol.removesuffix("_cpu")
    in_place = "_" if plain.endswith("_") else ""
    return f"{plain.rstrip('_')}_{device_of_key(key).lower()}{in_place}"


def renamed(symbol: str, theirs: NativeFunction, mine: NativeFunction) -> str:
    old, new = base_name(theirs.name).strip("_"), base_name(mine.name).strip("_")
    at = symbol.lower().find(old.lower())
    if at >= 0:
        head = "" if symbol[:at] == "_" else symbol[:at]  # that of a private operator
        return head + new + symbol[at + len(old) :]
    ending = re.search(r"(?:_out)?_[a-z]+$", symbol)
    return new + (ending[0] if ending else f"_{symbol}")


def edits(tree: Tree, rows: Sequence[NewRow]) -> Iterator[Edit]:
    for row in rows:
        yield _shared(tree, row, row.own) if row.own else _own(tree, row)


def _shared(tree: Tree, row: NewRow, own: Kernel) -> Edit:
    where = place_of_row(row.native, own)
    text = tree.line(where)
    keys, colon, rest = text.partition(":")
    return Edit(where.line, where.line, (f"{keys}, {', '.join(row.keys)}{colon}{rest}",))


def _own(tree: Tree, row: NewRow) -> Edit:
    """A row below the last one, or in a new ``dispatch``."""
    native = row.native
    text = f"    {', '.join(row.keys)}: {row.symbol}"
    if native.dispatch:
        last = max(one.line for one in native.dispatch)
        return Edit(last + 1, last, (text,))
    lines = ["  dispatch:"]
    if not native.structured_delegate:
        lines.append(f"    CompositeImplicitAutograd: {_implicit(tree, native)}")
    above = [at for field, at in native.field_lines.items() if field not in _LAST]
    return Edit(max(above) + 1, max(above), (*lines, text))


def _implicit(tree: Tree, native: NativeFunction) -> str:
    row = tree.kernels.get(native.full_name, {}).get("CompositeImplicitAutograd")
    return row.symbol if row else native.name
