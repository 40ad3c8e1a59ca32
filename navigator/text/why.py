"""Why a program ended with an error, as plain text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from navigator.text.answers import wrap
from navigator.text.clean import clean

if TYPE_CHECKING:
    from indexes.model.answers import Hit
    from navigator.explanation import Cause, Explanation, Write


_MOST_TEXT = 600
"""Maximum length of an error: the dispatcher's has one line for each key."""


def why_lines(found: Explanation) -> Iterator[str]:
    """The write first, then who needed the value, then the error itself."""
    for cause in found.causes:
        yield from _cause_lines(cause)
    yield from _raising_lines(found)
    for what, line in found.made:
        yield clean(f"{what} was made at {_place(line)}")
    yield from wrap(found.note, "")
    where = f" at {_place(found.raised_at)}" if found.raised_at else ""
    rest = " ... (--json has all of it)" if len(found.error) > _MOST_TEXT else ""
    yield from wrap(f"raised{where}: {found.error[:_MOST_TEXT]}{rest}", "")


def _raising_lines(found: Explanation) -> Iterator[str]:
    """The lines that raise the error, the running operators, and the failed call."""
    before: Hit | None = None
    for hit in found.said_by:
        if hit.kind != "operator":
            yield from _statement_lines(hit, before)
            before = hit
    for hit in found.said_by:
        if hit.kind == "operator":
            yield clean(f"operator {hit.name}, {hit.detail}  {hit.location}")
    if found.call:
        yield clean(f"arguments of {found.call}")
        for one in found.given:
            yield clean(f"    {one}")


def _statement_lines(hit: Hit, before: Hit | None) -> Iterator[str]:
    """A line that can have raised the error; of the same function only the line."""
    if before and (before.name, before.location.path) == (hit.name, hit.location.path):
        yield from wrap(f"line {hit.location.line}: {hit.detail}", "    ")
        return
    yield clean(f"{'or' if before else 'raised'} in {hit.name}  {hit.location}")
    yield from wrap(hit.detail, "    ")


def _cause_lines(cause: Cause) -> Iterator[str]:
    for at, write in enumerate(cause.writes):
        yield from _write_lines(write, first=at == 0)
    if not cause.writes:
        yield "no write was seen: a thread, an extension or a call below Python wrote to it"
    made = f", made at {_place(cause.made_at)}" if cause.made_at else ""
    saved = f"{', '.join(cause.saved) or 'a value'} of shape {cause.shape}"
    yield clean(f"needed by {cause.node}{made}, which saved {saved}")
    if cause.entry is not None:
        yield clean(f"    {cause.entry.op}  {cause.entry.location}")
    for formula in cause.formulas:
        yield clean(f"    {', '.join(formula.inputs)}: {formula.text}  {formula.location}")
    if cause.code is not None:
        yield clean(f"    the program's backward  {_place(cause.code)}")


def _write_lines(write: Write, *, first: bool) -> Iterator[str]:
    text = "written to" if first else "and again"
    under = ", under no_grad" if write.with_grad is False else ""
    yield clean(f"{text} at {_place(write.line)} by {write.call}")
    yield clean(f"    through {write.through}, version {write.before} to {write.after}{under}")


def _place(line: tuple[str, int] | None) -> str:
    return f"{line[0]}:{line[1]}" if line else "a line that was not recorded"
