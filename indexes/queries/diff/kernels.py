"""Differences in functions behind operators: kernels, and registrations on stubs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from indexes.model.vocabulary import Definition, DtypeDispatch, KernelRow, StubRow
from indexes.queries.diff.bodies import Bodies, dispatched, unnamed
from indexes.queries.diff.model import Change, Facet, Side, side_change

_MOVED = "the same symbol, defined in another file"
_RENAMED = "another symbol with the same body, but for its own name"
_EDITED = "the same symbol in the same file, with another body"
_BOTH = "its body differs as well"


@dataclass(slots=True)
class _Pair:
    """A function in both versions, and what uses it."""

    before: Definition
    after: Definition
    ops: dict[str, None] = field(default_factory=dict)
    subjects: dict[str, None] = field(default_factory=dict)


class Functions:
    """Compares pairs of functions."""

    def __init__(self, before: Bodies, after: Bodies) -> None:
        self._before = before
        self._after = after

    def changes(self, facet: Facet, pair: _Pair) -> Iterator[Change]:
        """Moves, renames, edits and changed dtypes of a function."""
        old, new = self._before.tokens(pair.before), self._after.tokens(pair.after)
        same = unnamed(old, pair.before.name) == unnamed(new, pair.after.name)
        one, other = pair.before, pair.after
        ops, subject = tuple(pair.ops), ", ".join(pair.subjects)
        before, after = Side(one.qualified, one.location), Side(other.qualified, other.location)
        if one.name == other.name and one.location.path != other.location.path:
            rules = (_MOVED,) if same else (_MOVED, _BOTH)
            yield Change(facet, "moved", ops, subject, before, after, rules=rules)
        elif one.name == other.name and not same:
            yield Change(facet, "edited", ops, subject, before, after, rules=(_EDITED,))
        elif one.name != other.name and same and old:
            yield Change(facet, "renamed", ops, subject, before, after, rules=(_RENAMED,))
        if dtypes := dtype_change(ops, one, other, self._before, self._after):
            yield dtypes


def kernel_changes(
    before: Iterable[KernelRow], after: Iterable[KernelRow], functions: Functions
) -> Iterator[Change]:
    """Changes of kernels in native_functions.yaml defined in both versions, once per function."""
    was = {(row.op, row.key): row for row in before}
    pairs: dict[tuple[Definition, Definition], _Pair] = {}
    for row in after:
        old = was.get((row.op, row.key))
        for one, other in _paired(old.definitions if old else (), row.definitions):
            pair = pairs.setdefault((one, other), _Pair(one, other))
            pair.ops[row.op] = None
            pair.subjects[row.key] = None
    for pair in pairs.values():
        yield from functions.changes("kernel", pair)


def _paired(
    before: Sequence[Definition], after: Sequence[Definition]
) -> Iterator[tuple[Definition, Definition]]:
    """Definitions of a kernel in two versions: by name and ``#if`` if several, overloads in
    order."""
    if len(before) == 1 and len(after) == 1:
        yield before[0], after[0]
        return
    known = _told_apart(before)
    yield from ((known[key], one) for key, one in _told_apart(after).items() if key in known)


def _told_apart(found: Iterable[Definition]) -> dict[tuple[object, ...], Definition]:
    seen: Counter[tuple[str, str, str]] = Counter()
    keyed: dict[tuple[object, ...], Definition] = {}
    for one in found:
        what = (one.name, one.guard, one.location.path)
        key = (*what, seen[what])
        keyed[key] = one
        seen[what] += 1
    return keyed


Operators = Callable[[str], tuple[str, ...]]
"""The overloads that reach a stub."""


def stub_changes(
    before: Iterable[StubRow],
    after: Iterable[StubRow],
    functions: Functions,
    operators: tuple[Operators, Operators],
) -> Iterator[Change]:
    """Added, removed and changed registrations, and changes of the functions."""
    was, now = _by_stub(before), _by_stub(after)
    for key in dict.fromkeys((*was, *now)):
        old, new = was.get(key, {}), now.get(key, {})
        stub, device = key
        found = list(_registrations(f"{stub} {device}", old, new, functions))
        if found:
            ops = operators[1](stub) or operators[0](stub)
            yield from (replace(change, ops=ops) for change in found)


def _by_stub(rows: Iterable[StubRow]) -> dict[tuple[str, str], dict[str, StubRow]]:
    found: dict[tuple[str, str], dict[str, StubRow]] = {}
    for row in rows:
        found.setdefault((row.stub, row.device), {}).setdefault(row.function, row)
    return found


def _registrations(
    subject: str, old: dict[str, StubRow], new: dict[str, StubRow], functions: Functions
) -> Iterator[Change]:
    gone, come = ([f for f in one if f not in other] for one, other in ((old, new), (new, old)))
    if len(gone) == len(come) == 1:
        yield side_change("stub", (), subject, _side(old[gone[0]]), _side(new[come[0]]))
        yield from _functions(subject, old[gone[0]], new[come[0]], functions)
    else:
        for name in gone:
            yield side_change("stub", (), subject, _side(old[name]), None)
        for name in come:
            yield side_change("stub", (), subject, None, _side(new[name]))
    for name, row in old.items():
        if name in new:
            yield from _functions(subject, row, new[name], functions)


def _side(row: StubRow) -> Side:
    return Side(row.function, row.registration)


def _functions(subject: str, old: StubRow, new: StubRow, functions: Functions) -> Iterator[Change]:
    if old.definition and new.definition:
        pair = _Pair(old.definition, new.definition, subjects={subject: None})
        yield from functions.changes("stub", pair)


_EXPANDED = "by what the macros of each version expand to"
_SAME_TEXT = "the function is written the same: its macros differ"


def dtype_change(
    ops: tuple[str, ...], one: Definition, other: Definition, before: Bodies, after: Bodies
) -> Change | None:
    """The dtype dispatches of a function that only one version has; None if equal."""
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
    """The uses whose dtypes ``other`` lacks, or has less often."""
    surplus = Counter(map(_key, uses)) - Counter(map(_key, other))
    return [use for use in uses if _key(use) in surplus]


def _written(uses: tuple[str, ...], where: Definition) -> Side | None:
    return Side(", ".join(uses), where.location) if uses else None


def _expanded(uses: Sequence[DtypeDispatch]) -> Side | None:
    """Each expansion once, at its first place."""
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
