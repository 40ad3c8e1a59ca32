"""The vocabulary of differences between two versions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from indexes.model.vocabulary import Location, SourceInfo

Facet = Literal[
    "operator",
    "schema",
    "dispatch",
    "entry",
    "tags",
    "formula",
    "deprecated",
    "kernel",
    "stub",
    "dtypes",
    "decomposition",
    "meta",
    "ref",
    "lowering",
    "batch_rule",
    "opinfo",
    "docs",
    "api",
]
"""What differs. ``entry`` is any other field of native_functions.yaml."""

FACETS: tuple[Facet, ...] = get_args(Facet)

What = Literal["added", "removed", "changed", "moved", "renamed", "edited"]
"""``moved``: to another file. ``edited``: the same function with another body."""

Verdict = Literal["compatible", "breaking", ""]
"""By PyTorch's own rules; empty if they do not apply."""


@dataclass(frozen=True, slots=True)
class Side:
    """One version's side of a difference."""

    text: str
    location: Location | None


@dataclass(frozen=True, slots=True)
class Change:
    """One difference."""

    facet: Facet
    what: What
    ops: tuple[str, ...]
    """The overloads it is about, or that reach the function; may be empty."""
    subject: str
    """A dispatch key, a field, an input, a function."""
    before: Side | None
    after: Side | None
    backward: Verdict = ""
    """Whether callers for the old version still work."""
    forward: Verdict = ""
    """Whether the old version can run what is made with the new one."""
    rules: tuple[str, ...] = ()
    """The reasons, a line each: what differs, and PyTorch's rule."""


def side_change(
    facet: Facet, ops: tuple[str, ...], subject: str, before: Side | None, after: Side | None
) -> Change:
    """``added`` without a side before, ``removed`` without one after, else ``changed``."""
    what: What = "added" if before is None else "removed" if after is None else "changed"
    return Change(facet, what, ops, subject, before, after)


@dataclass(frozen=True, slots=True)
class Diff:
    """Two versions with all differences."""

    before: SourceInfo
    after: SourceInfo
    changes: tuple[Change, ...]
    notes: tuple[str, ...] = ()
    """What could not be compared, and why."""
