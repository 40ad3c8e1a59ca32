"""A live tensor as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from navigator.text.answers import version_words, wrap
from navigator.text.clean import clean

if TYPE_CHECKING:
    from navigator.objects.members import MemberValue
    from navigator.objects.storage import Sharer, Strip
    from navigator.objects.tensor import Inspection, KeySet, Part


def inspection_lines(found: Inspection) -> Iterator[str]:
    """The tensor, its storage and formats, then every member."""
    yield clean(found.summary)
    if found.strip is not None:
        yield from _strip_lines(found.strip)
    for one in found.formats:
        yield from wrap(f"{one.name}: {'yes' if one.holds else 'no'}, {one.why}", "  ")
    for other in found.sharers:
        yield from wrap(_sharer(other), "  ")
    yield from _key_lines(found.keys)
    for part in found.parts:
        yield from _part_lines(part)
    for note in found.notes:
        yield from wrap(f"unknown: {note}", "")
    yield f"values: torch {clean(found.torch_version)}"
    yield f"declarations: {version_words(found.source)}"


def _strip_lines(strip: Strip) -> Iterator[str]:
    size = strip.elements * strip.item_bytes
    reached = "" if strip.reached is None else f", of which it reaches {strip.reached:,}"
    yield f"  storage of {strip.elements:,} elements, {size:,} bytes{reached}"
    each = "" if strip.per_cell == 1 else f" {strip.per_cell:,} elements a cell"
    yield f"  [{''.join(map(_cell, strip.covered))}]{each}"
    where = f"element [i, j, ...] is number {strip.formula}"
    yield from wrap(f"{where}: {strip.first:,} to {strip.last:,}", "  ")


def _cell(share: float) -> str:
    return "." if not share else "#" if share >= 1 else "+"


def _sharer(sharer: Sharer) -> str:
    what = "its base" if sharer.is_base else "another tensor"
    version = {True: ", the same version counter", False: ", another version counter", None: ""}
    shared = version[sharer.same_version]
    return f"storage shared with {what} {sharer.shape} from element {sharer.offset:,} on{shared}"


def _key_lines(keys: KeySet) -> Iterator[str]:
    yield ""
    yield from wrap(f"key set {keys.raw:#x}: {', '.join(keys.keys) or 'empty'}", "")
    for bit in keys.bits:
        what = "backend" if bit.is_backend else "functionality"
        where = f"  {bit.location}" if bit.location else ""
        yield f"  bit {bit.bit:2}  {bit.name:<28} {what}{where}".rstrip()


def _part_lines(part: Part) -> Iterator[str]:
    yield ""
    yield (
        f"{clean(part.class_name)} at {part.address:#x}" if part.address else clean(part.class_name)
    )
    if part.missing:
        yield from wrap(part.missing, "  ")
    for member in part.members:
        if member.value or not part.missing:
            yield from _member_lines(member)


def _member_lines(member: MemberValue) -> Iterator[str]:
    value = member.value or f"unknown: {member.reason}"
    yield from wrap(f"{member.name} = {value}", "  ")
    how = f"{member.read_by}  " if member.read_by else ""
    yield clean(f"    {how}{member.type}  {member.location}")
    if member.note:
        yield from wrap(member.note, "    ")
