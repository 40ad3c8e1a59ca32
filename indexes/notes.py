"""What a hop says beside its place, in lines that every face shows alike."""

from __future__ import annotations

from collections.abc import Sequence

from indexes.model import DtypeDispatch

_UNKNOWN = "that this tree does not define,"


def dtype_notes(dispatches: Sequence[DtypeDispatch]) -> list[str]:
    """A line for each set of dtypes, with the macros that cover it and their lines."""
    uses: dict[tuple[str, str, str], list[str]] = {}
    for one in dispatches:
        of = f" of {one.type_name}" if one.type_name not in ("", "scalar_t") else ""
        types = ", ".join((*one.dtypes, *one.unread))
        where = f"{one.macro}, line {one.location.line}"
        listed = uses.setdefault((of, types, one.guard), [])
        if where not in listed:
            listed.append(where)
    return [
        f"dtypes{of} {types or _UNKNOWN} by {'; '.join(where)}"
        + (f"; #if {guard}" if guard else "")
        for (of, types, guard), where in uses.items()
    ]
