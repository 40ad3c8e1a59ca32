"""Differences around operators: decompositions, meta functions, refs, lowerings, batch rules,
OpInfos, docstrings and pages."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import NamedTuple

from indexes.linking.python.paths import Found, place_of
from indexes.model.files import unpack
from indexes.model.vocabulary import Location
from indexes.queries.diff.model import Change, Facet, Side, side_change
from indexes.queries.index import Index
from indexes.queries.operator_tests import formatted_name
from indexes.readers.python.blocks import parse
from indexes.store.registrations import UNSEEN

_KINDS: dict[Facet, tuple[str, ...]] = {
    "decomposition": ("decomposition",),
    "meta": ("meta_registration",),
    "ref": ("ref",),
    "lowering": ("lowering",),
    "opinfo": ("opinfo",),
    "docs": ("docs", "page"),
}
"""The kinds of Python rows for each facet."""
SURROUNDINGS: tuple[Facet, ...] = (*_KINDS, "batch_rule")
_UNSEEN: dict[Facet, str] = {
    "batch_rule": f"batch rules are not compared: {UNSEEN}",
    "docs": "pages of the docs are not compared: the installed wheel holds none",
}
_DOCUMENTED = {"page": "page", "docs": "docstring"}
_OF_ITS_NAME = "OpInfo "
"""The prefix of subjects found by name only."""
_FALLBACK = "a fallback to ATen"
_EDITED = "the same function in the same file, with another text"
_MOVED = "the same name, in another file"


class Entry(NamedTuple):
    """A registration: its target and source."""

    target: str
    """``aten::add.Tensor``, ``aten::add`` for all overloads, ``torch.add``."""
    subject: str
    text: str
    location: Location

    @property
    def key(self) -> tuple[str, str]:
        """What identifies it in the other version."""
        return self.subject, "" if self.subject.startswith(_OF_ITS_NAME) else self.target


_Entries = dict[tuple[str, str], dict[str, Entry]]
"""By subject and target, then by text."""


def surroundings_changes(before: Index, after: Index, facet: Facet) -> Iterator[Change]:
    """Additions, removals, changes, moves and edits in one facet."""
    yield from _Comparison(before, after, facet).changes()


def lacks(facet: Facet, before: Index, after: Index) -> str:
    """Why a facet cannot be compared; empty if it can."""
    for index in (before, after):
        if index.source.kind == "wheel" and facet in _UNSEEN:
            return _UNSEEN[facet]
    return ""


class _Comparison:
    """One facet in two versions."""

    def __init__(self, before: Index, after: Index, facet: Facet) -> None:
        self._facet = facet
        self._indexes = (before, after)
        kinds = _kinds(facet, before, after)
        self._sides = (_grouped(_entries(before, kinds)), _grouped(_entries(after, kinds)))
        self._singly = (_singly(self._sides[0]), _singly(self._sides[1]))
        self._texts = (_texts(before), _texts(after))

    def changes(self) -> Iterator[Change]:
        """All differences, in the old version's order, then in the new one's."""
        old_side, new_side = self._sides
        for key in dict.fromkeys((*old_side, *new_side)):
            old, new = old_side.get(key, {}), new_side.get(key, {})
            if old and new:
                yield from self._of_both(old, new)
            elif new:
                yield from self._of_one(key, new, 0)
            else:
                yield from self._of_one(key, old, 1)

    def _of_both(self, old: dict[str, Entry], new: dict[str, Entry]) -> Iterator[Change]:
        gone = [o for text, o in old.items() if text not in new and not self._is_spelled(o, 1)]
        come = [o for text, o in new.items() if text not in old and not self._is_spelled(o, 0)]
        if len(gone) == len(come) == 1:
            yield self._pair(gone[0], come[0])
        else:
            yield from (self._change(one, None) for one in gone)
            yield from (self._change(None, one) for one in come)
        for text, one in old.items():
            if text in new and self._is_edited(one, new[text]):
                edited = self._change(one, new[text])
                yield replace(edited, what="edited", rules=(_EDITED,))

    def _of_one(self, key: tuple[str, str], here: dict[str, Entry], side: int) -> Iterator[Change]:
        """Entries in one version only; ``side``: the other, which may spell them for all overloads
        at once, or one by one."""
        if whole := self._sides[side].get((key[0], key[1].partition(".")[0]), {}):
            if not whole.keys() & here.keys():
                one, other = next(iter(here.values())), next(iter(whole.values()))
                yield self._pair(other, one) if side == 0 else self._pair(one, other)
            return
        left = self._not_spelled(key, side)
        for one in here.values() if left is None or left else ():
            change = self._change(None, one) if side == 0 else self._change(one, None)
            yield change if left is None else replace(change, ops=left)

    def _is_spelled(self, one: Entry, side: int) -> bool:
        """Whether a version registers single overloads for the other's registration of all."""
        return (one.subject, one.target, one.text) in self._singly[side]

    def _not_spelled(self, key: tuple[str, str], side: int) -> tuple[str, ...] | None:
        """The overloads of a target for all that the other version does not have one by one; None
        if it has none so."""
        subject, target = key
        if not target.startswith("aten::") or "." in target:
            return None
        overloads = self._operators(target, self._indexes[side])
        missing = tuple(
            op
            for op in overloads
            if (subject, f"aten::{op}" if "." in op else f"aten::{op}.default")
            not in self._sides[side]
        )
        return None if len(missing) == len(overloads) else missing

    def _pair(self, one: Entry, other: Entry) -> Change:
        change = self._change(one, other)
        same = one.text.rpartition(".")[2] == other.text.rpartition(".")[2]
        if not same or self._facet in ("docs", "opinfo") or _FALLBACK in (one.text, other.text):
            return change
        return replace(change, what="moved", rules=(_MOVED,))

    def _change(self, one: Entry | None, other: Entry | None) -> Change:
        entry = other or one
        assert entry is not None
        ops = self._operators(entry.target, self._indexes[1 if other else 0])
        before, after = (Side(e.text, e.location) if e else None for e in (one, other))
        return side_change(self._facet, ops, entry.subject, before, after)

    def _operators(self, target: str, index: Index) -> tuple[str, ...]:
        """The overloads of a target; outside aten as written."""
        name = target.removeprefix("aten::")
        if not target.startswith("aten::"):
            return (target,) if "::" in target else _bound_to(target, index)
        if "." in name:
            return (name.removesuffix(".default"),)
        return tuple(one.full_name for one in index.facts.overloads(name)) or (name,)

    def _is_edited(self, one: Entry, other: Entry) -> bool:
        if not (one.location.end_line and other.location.end_line):
            return False
        return self._texts[0](one.location) != self._texts[1](other.location)


def _grouped(entries: Iterable[Entry]) -> _Entries:
    found: _Entries = {}
    for one in entries:
        found.setdefault(one.key, {}).setdefault(one.text, one)
    return found


def _singly(entries: _Entries) -> frozenset[tuple[str, str, str]]:
    """The targets with registered single overloads, and those."""
    return frozenset(
        (subject, target.partition(".")[0], text)
        for (subject, target), found in entries.items()
        if target.startswith("aten::") and "." in target
        for text in found
    )


def _kinds(facet: Facet, *indexes: Index) -> tuple[str, ...]:
    """The kinds of rows in both versions."""
    kinds = _KINDS.get(facet, ())
    wheel = any(one.source.kind == "wheel" for one in indexes)
    return tuple(one for one in kinds if not (wheel and one == "page"))


def _entries(index: Index, kinds: tuple[str, ...]) -> Iterator[Entry]:
    if not kinds:
        yield from _batch_rules(index)
        return
    for found in index.facts.python.of_kinds(*kinds):
        yield _entry(found)


def _entry(found: Found) -> Entry:
    _, fact = found
    detail = unpack(fact.detail)
    where = place_of(found)
    if fact.kind == "opinfo":
        name = f"{_OF_ITS_NAME}{formatted_name(fact)} in {detail.get('db', '')}"
        return Entry(fact.target, name, detail.get("cls", ""), where)
    if fact.kind in _DOCUMENTED:
        page = fact.symbol.rpartition(".")[0]  # the same one in reStructuredText and in MyST
        text = page if fact.kind == "page" else _DOCUMENTED[fact.kind]
        return Entry(fact.target, f"{_DOCUMENTED[fact.kind]} of {fact.target}", text, where)
    fallback = "fallback" in detail.get("note", "")
    subject = fact.target if fact.kind == "ref" else ""
    return Entry(fact.target, subject, _FALLBACK if fallback else fact.symbol, where)


def _batch_rules(index: Index) -> Iterator[Entry]:
    """The registrations for vmap's keys, of any generation."""
    rows = index.facts.store.query(
        "SELECT k.op,k.key,f.path,k.line FROM library_kernels k JOIN files f ON f.id=k.file"
        " WHERE k.key LIKE '%Batched%' ORDER BY f.path,k.line"
    )
    for op, key, path, line in rows:
        name = op if "::" in op else f"aten::{op}" if "." in op else f"aten::{op}.default"
        yield Entry(name, key, "registered", Location(path, line))


def _bound_to(name: str, index: Index) -> tuple[str, ...]:
    """The overloads that a public name is named after: ``linalg_svd`` for ``torch.linalg.svd``,
    ``abs`` for ``torch.Tensor.abs``; may be empty."""
    module, _, last = name.rpartition(".")
    for one in (f"{module.rpartition('.')[2]}_{last}", last):
        if found := index.facts.overloads(one):
            return tuple(native.full_name for native in found)
    return ()


def _texts(index: Index) -> Callable[[Location], str]:
    """Lines of Python without layout, comments and types."""

    @cache
    def lines(path: str) -> Sequence[str]:
        return index.source.text(path).splitlines()

    def of(where: Location) -> str:
        text = "\n".join(lines(where.path)[where.line - 1 : where.end_line])
        try:
            tree = parse(textwrap.dedent(text))
        except SyntaxError:  # a part of an expression
            return " ".join(text.split())
        return ast.unparse(_Unannotated().visit(tree))

    return of


class _Unannotated(ast.NodeTransformer):
    """Removes types, since a body with new types does the same."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # ast's own name
        node.returns = None
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node
