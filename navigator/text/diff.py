"""A comparison of two versions as text for people, and as Markdown for a review."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby

from indexes.model.lines import listed
from indexes.queries.diff.model import Change, Diff
from navigator.text.answers import version_words, wrap
from navigator.text.clean import clean
from navigator.text.markdown import code, heading, words

TITLES = {
    "operator": "Operators",
    "schema": "Schemas",
    "dispatch": "Dispatch entries",
    "entry": "Other fields of native_functions.yaml",
    "tags": "Tags",
    "formula": "Derivative formulas",
    "deprecated": "Deprecated Python signatures",
    "kernel": "Kernels",
    "stub": "Functions on stubs",
    "dtypes": "Dtypes dispatched",
    "decomposition": "Decompositions",
    "meta": "Meta functions in Python",
    "ref": "References (torch._refs)",
    "lowering": "Lowerings of Inductor",
    "batch_rule": "Batch rules of vmap",
    "opinfo": "OpInfos",
    "docs": "Docstrings and pages of the docs",
    "api": "Public names of Python",
}
_SIGNS = {"added": "+", "removed": "-"}
_OPS_SHOWN = 6


def counts(changes: Iterable[Change]) -> str:
    """``3 added, 1 moved``."""
    found = Counter(change.what for change in changes)
    return ", ".join(f"{number:,} {what}" for what, number in found.items())


def diff_lines(diff: Diff) -> Iterator[str]:
    """The whole comparison, one section per facet."""
    yield f"before: {version_words(diff.before)}"
    yield f"after:  {version_words(diff.after)}"
    for note in diff.notes:
        yield from wrap(note, "  ")
    for facet, group in groupby(diff.changes, key=lambda change: change.facet):
        changes = list(group)
        yield ""
        yield f"{TITLES[facet]}: {counts(changes)}"
        for change in changes:
            yield from change_lines(change)
    if not diff.changes:
        yield "no difference"


def change_lines(change: Change) -> Iterator[str]:
    """One difference: its subject, both sides with their places, and the rules."""
    verdict = "  BREAKING" if change.backward == "breaking" else ""
    sign = _SIGNS.get(change.what, "~")
    how = f" {change.what}" if change.what in ("moved", "renamed", "edited") else ""
    yield f"  {sign} {clean(title(change))}{how}{verdict}"
    for mark, side in (("-", change.before), ("+", change.after)):
        if side:
            yield from wrap(f"{mark} {side.text}", "      ")
            yield f"        {clean(str(side.location))}" if side.location else ""
    for rule in change.rules:
        yield from wrap(rule, "      ")


def title(change: Change) -> str:
    """``mul.Tensor MPS``; for a function, the first operator that reaches it."""
    about = "" if change.facet in ("operator", "schema", "tags") else f" {change.subject}"
    return f"{listed(change.ops, _OPS_SHOWN)}{about}".strip()


# ---------------------------------------------------------------------------- Markdown


def markdown_lines(diff: Diff) -> Iterator[str]:
    """The comparison as Markdown: breaking changes, then a list for each facet."""
    yield f"# From {version_words(diff.before)} to {version_words(diff.after)}"
    for note in diff.notes:
        yield from ("", f"*{words(note)}*")
    breaking = [change for change in diff.changes if change.backward == "breaking"]
    if breaking:
        yield from heading(2, f"Breaking for callers ({len(breaking):,})")
        for change in breaking:
            yield from _markdown(change)
    for facet, group in groupby(diff.changes, key=lambda change: change.facet):
        changes = list(group)
        yield from heading(2, f"{TITLES[facet]}: {counts(changes)}")
        for change in changes:
            yield from _markdown(change)
    if not diff.changes:
        yield from ("", "No difference.")


def _markdown(change: Change) -> Iterator[str]:
    verdict = " **breaking**" if change.backward == "breaking" else ""
    yield f"- {change.what} {code(title(change))}{verdict}"
    for word, side in (("before", change.before), ("after", change.after)):
        if side:
            where = f" ({code(side.location)})" if side.location else ""
            yield f"  - {word}: {code(side.text)}{where}"
    for rule in change.rules:
        yield f"  - {words(rule)}"
