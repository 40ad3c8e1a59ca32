"""Expected failures in PyTorch's own tests, with their reasons."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from indexes.model.lines import LineCount
from indexes.model.regex import regex
from indexes.model.vocabulary import Location


@dataclass(frozen=True, slots=True)
class Statement:
    """An operator that a test file lists as failing."""

    opinfo: str
    """The OpInfo's name, with a variant if written as one word."""
    variant: str | None
    """None for all variants."""
    group: str
    """The test, or the variable with the list."""
    comment: str
    location: Location
    whole: bool = True
    """For every dtype and device."""


_XFAIL = regex(
    r"^[^\S\n]*xfail\(\s*[\"']([\w.]+)[\"'](?:\s*,\s*[\"']([\w.]*)[\"'])?\s*"
    r"(,[^()]*(?:\([^()]*\)[^()]*)*)?\)(?:[^\S\n]*,)?[^\S\n]*(?:\#[^\S\n]*([^\n]*))?",
    re.MULTILINE,
)
_GROUP = regex(
    r"skipOps\(\s*(?:[\"']\w+[\"']\s*,\s*)[\"'](\w+)[\"']|^[^\S\n]*(\w+)\s*=\s*\{", re.MULTILINE
)


def expected_failures(text: str, path: str) -> Iterator[Statement]:
    """The ``xfail("name", "variant")`` of a file, each with its test."""
    if "xfail(" not in text:
        return
    groups = [(m.start(), m[1] or m[2]) for m in _GROUP.finditer(text)]
    starts = [start for start, _ in groups]
    line_of = LineCount(text)
    for match in _XFAIL.finditer(text):
        place = Location(path, line_of(match.start()), line_of(match.end()))
        before = bisect(starts, match.start())
        yield Statement(
            match[1],
            match[2],
            groups[before - 1][1] if before else "",
            (match[4] or "").strip(),
            place,
            not (match[3] or "").strip(",\n "),
        )


def about(
    statements: Iterable[Statement], opinfos: Iterable[tuple[str, str]]
) -> Iterator[Statement]:
    """The statements about an operator, by (name, variant) of its OpInfos."""
    known = set(opinfos)
    names = {name for name, _ in known}
    variants = {variant for _, variant in known}
    joined = {name + variant for name, variant in known}
    for one in statements:
        if one.variant is None:
            fits = one.opinfo in names | joined
        else:  # a variant that no entry spells out is made in a loop, of an entry of that name
            fits = (one.opinfo, one.variant) in known
            fits = fits or (one.opinfo in names and one.variant not in variants)
        if fits:
            yield one
