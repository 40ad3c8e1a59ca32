"""For which dtypes a function runs in two versions: as each version's macros expand.

The same text can run for other dtypes, and another macro for the same ones: only what a use
becomes is compared. Where a use does not expand, both sides are compared as they are written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from indexes.model.vocabulary import Definition, DtypeDispatch
from indexes.queries.diff.bodies import Bodies, dispatched
from indexes.queries.diff.model import Change, Side, side_change

_EXPANDED = "by what the macros of each version expand to"
_SAME_TEXT = "the function is written the same: its macros differ"


def dtype_change(
    ops: tuple[str, ...], one: Definition, other: Definition, before: Bodies, after: Bodies
) -> Change | None:
    """The choices by dtype of a function that only one version has; None without any."""
    same_text = before.tokens(one) == after.tokens(other)
    if same_text and before.macros(one) == after.macros(other):
        return None
    old, new = before.dispatches(one), after.dispatches(other)
    sides: tuple[Side | None, Side | None]
    rules: tuple[str, ...]
    if unexpanded := tuple(dict.fromkeys((*old.unexpanded, *new.unexpanded))):
        was, now = dispatched(before.tokens(one)), dispatched(after.tokens(other))
        sides = _written(was, one), _written(now, other)
        rules = (f"compared as written: no exact dtypes for {', '.join(unexpanded)}",)
        differ = was != now
    else:
        gone, come = _lacking(old.uses, new.uses), _lacking(new.uses, old.uses)
        sides = _expanded(gone), _expanded(come)
        rules = _rules(gone, come, same_text)
        differ = bool(gone or come)
    if not differ:
        return None
    return replace(side_change("dtypes", ops, other.qualified, *sides), rules=rules)


def _key(use: DtypeDispatch) -> tuple[frozenset[str], str]:
    return frozenset(use.dtypes), use.guard


def _lacking(uses: Sequence[DtypeDispatch], other: Sequence[DtypeDispatch]) -> list[DtypeDispatch]:
    """The uses whose dtypes ``other`` does not have, or not as often."""
    surplus = Counter(map(_key, uses)) - Counter(map(_key, other))
    return [use for use in uses if _key(use) in surplus]


def _written(uses: tuple[str, ...], where: Definition) -> Side | None:
    return Side(", ".join(uses), where.location) if uses else None


def _expanded(uses: Sequence[DtypeDispatch]) -> Side | None:
    """Each way once, at the place of the first."""
    if not uses:
        return None
    return Side("; ".join(dict.fromkeys(map(_words, uses))), uses[0].location)


def _words(use: DtypeDispatch) -> str:
    guard = f" (#if {use.guard})" if use.guard else ""
    return f"{use.macro}: {', '.join(use.dtypes)}{guard}"


def _rules(
    gone: Sequence[DtypeDispatch], come: Sequence[DtypeDispatch], same_text: bool
) -> tuple[str, ...]:
    rules = [_EXPANDED]
    if same_text:
        rules.append(_SAME_TEXT)
    if gone and come:
        old, new = (dict.fromkeys(chain(*(u.dtypes for u in uses))) for uses in (gone, come))
        if more := ", ".join(d for d in new if d not in old):
            rules.append(f"more: {more}")
        if less := ", ".join(d for d in old if d not in new):
            rules.append(f"no more: {less}")
    return tuple(rules)
