"""What a hop says beside its place, in lines that every face shows alike."""

from __future__ import annotations

from collections.abc import Sequence

from indexes.model.vocabulary import Choice, DtypeDispatch

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


_LONGEST = 100
_SHOWN = 2


def choice_note(choices: Sequence[Choice]) -> str:
    """The innermost conditions under which a step is taken; empty for none."""
    if not choices:
        return ""
    more = len(choices) - _SHOWN
    outer = f"; inside of {more} more" if more > 0 else ""
    return f"at run time, {' and '.join(map(_condition, choices[-_SHOWN:]))}{outer}"


def _condition(one: Choice) -> str:
    text = one.text if len(one.text) <= _LONGEST else f"{one.text[: _LONGEST - 3]}..."
    if one.arm == "else":
        text = f"else of {text}"
    elif one.arm == "otherwise":
        text = f"unless {text.removeprefix('if ')}"
    return f"{text} at line {one.location.line}"
