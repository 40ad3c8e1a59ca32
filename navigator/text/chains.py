"""Chains as plain text: an indented tree, with notes on each hop."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from indexes.model.answers import Chain, Hop, Unresolved
from indexes.model.vocabulary import Choice, DtypeDispatch, Work
from navigator.text.answers import WIDTH, problem_lines, sureness, where_text, wrap
from navigator.text.clean import clean


def chain_lines(chain: Chain) -> Iterator[str]:
    """A chain as an indented tree, with counts of omitted steps and what is unresolved."""
    yield clean(chain.op.full_name)
    yield from wrap(chain.op.schema, "  ")
    facts = [chain.op.kind, *(f"tag {tag}" for tag in chain.op.tags)]
    if chain.op.keys:
        facts.append(f"kernels for {', '.join(chain.op.keys)}")
    yield from wrap("; ".join(facts), "  ")
    yield from problem_lines(chain.problems, "! ")
    yield ""
    yield from _ChainTree(chain.hops).lines()
    if chain.unresolved:
        yield "not resolved"
        for one in chain.unresolved:
            yield from _unresolved_lines(one)


class _ChainTree:
    """The hops of a chain by their parents."""

    def __init__(self, hops: Sequence[Hop]) -> None:
        self._children: dict[int | None, list[Hop]] = defaultdict(list)
        known = {hop.id for hop in hops}
        for hop in hops:
            self._children[hop.parent if hop.parent in known else None].append(hop)

    def lines(self) -> Iterator[str]:
        yield from self._branch(None, 0)

    def _branch(self, parent: int | None, depth: int) -> Iterator[str]:
        for group in self._groups(self._children.pop(parent, [])):
            yield from hop_lines(group, "  " * depth)
            yield from self._branch(group[0].id, depth + 1)
            yield from folded_lines(group[0], "  " * (depth + 1))

    def _groups(self, hops: Sequence[Hop]) -> Iterator[list[Hop]]:
        """Groups calls of the same thing from several lines of one function."""
        groups: dict[object, list[Hop]] = {}
        for hop in hops:
            alone = hop.id in self._children or hop.location is None or hop.folded
            groups.setdefault(hop.id if alone else _sameness(hop), []).append(hop)
        yield from groups.values()


_NAMES: dict[Work, tuple[str, str]] = {
    "computes": ("step that computes", "steps that compute"),
    "chooses": ("choice", "choices"),
    "dispatches": ("dispatch", "dispatches"),
    "checks": ("check", "checks"),
    "allocates": ("allocation", "allocations"),
    "moves": ("copy", "copies"),
    "helps": ("helper", "helpers"),
}
"""Singular and plural for steps of each work."""


def folded_lines(hop: Hop, indent: str) -> Iterator[str]:
    """``... 3 checks, 2 allocations``: steps omitted below a hop, and how to list them."""
    if parts := [*filter(None, (folded_words(hop), hop.continues))]:
        yield from wrap(f"... {': '.join(parts)}", indent)


def folded_words(hop: Hop) -> str:
    """``3 checks, 2 allocations``: the steps omitted below a hop, or empty."""
    return ", ".join(f"{count:,} {_NAMES[work][count != 1]}" for work, count in hop.folded.items())


def _sameness(hop: Hop) -> object:
    path = hop.location.path if hop.location else ""
    return hop.role, hop.symbol, path, hop.device, hop.keys, hop.rule, hop.confidence, hop.guard


def hop_lines(group: Sequence[Hop], indent: str = "") -> Iterator[str]:
    """``role [where] symbol``, place and reason. Hops of a group differ in lines only."""
    hop = group[0]
    yield clean(f"{indent}{hop.role.replace('_', ' ')}{_marks(hop.device, hop.keys)} {hop.symbol}")
    inner = f"{indent}    "
    unsure = sureness(hop.confidence, "  ({})")
    place = f"{where_text(hop.location)}{_other_lines(group)}{unsure}" if hop.location else ""
    if place and len(inner) + len(place) + 2 + len(hop.rule) <= WIDTH:
        yield clean(f"{inner}{place}  {hop.rule}")
    else:
        if place:
            yield f"{inner}{place}"
        yield from wrap(hop.rule, inner)
    if hop.guard:
        yield from wrap(f"#if {hop.guard}", inner)
    if hop.note and not hop.symbol.endswith(hop.note):
        yield from wrap(hop.note, f"{inner}| ")
    if hop.choices:
        yield from wrap(choice_note(hop.choices), inner)
    for note in dtype_notes(hop.dtypes):
        yield from wrap(note, f"{inner}| ")


def _other_lines(group: Sequence[Hop]) -> str:
    return "".join(f", {hop.location.line}" for hop in group[1:] if hop.location)


def _marks(device: str | None, keys: Sequence[str]) -> str:
    where = keys or ([device] if device else [])
    return f" [{', '.join(where)}]" if where else ""


def _unresolved_lines(one: Unresolved) -> Iterator[str]:
    yield clean(f"  {one.role.replace('_', ' ')}{_marks(None, one.keys)} {one.symbol}")
    yield from wrap(one.reason, "      ")


_UNKNOWN = "that this tree does not define,"


def dtype_notes(dispatches: Sequence[DtypeDispatch]) -> list[str]:
    """A line for each set of dtypes, with the macros that produce it and their lines."""
    uses: dict[tuple[str, str, str], list[str]] = {}
    for dispatch in dispatches:
        of = f" of {dispatch.type_name}" if dispatch.type_name not in ("", "scalar_t") else ""
        types = ", ".join((*dispatch.dtypes, *dispatch.unread))
        where = f"{dispatch.macro}, line {dispatch.location.line}"
        listed = uses.setdefault((of, types, dispatch.guard), [])
        if where not in listed:
            listed.append(where)
    return [
        f"dtypes{of} {types or _UNKNOWN} by {'; '.join(where)}"
        + (f"; #if {guard}" if guard else "")
        for (of, types, guard), where in uses.items()
    ]


_LONGEST = 100
_PLAIN = re.compile(r"^\(([\w.:>-]+(?:\(\))?)\)$")
"""A condition that needs no parentheses."""
_SHOWN = 2


def choice_note(choices: Sequence[Choice]) -> str:
    """The innermost conditions of a step, or empty."""
    if not choices:
        return ""
    more = len(choices) - _SHOWN
    outer = f"; inside of {more} more" if more > 0 else ""
    shown = choices[-_SHOWN:]
    word = "if " if shown[0].text.startswith("if ") else ""
    return f"{word}{' and '.join(map(_condition, shown))}{outer}"


def _condition(choice: Choice) -> str:
    """``!use_mkldnn (:42)``; also for code after an ``if`` whose branches all return."""
    if choice.arm == "otherwise" and choice.text == "true":
        return f"never reached (:{choice.location.line})"
    text = choice.text if len(choice.text) <= _LONGEST else f"{choice.text[: _LONGEST - 3]}..."
    condition = _PLAIN.sub(r"\1", text.removeprefix("if "))
    negation = "!" if choice.arm in ("else", "otherwise") else ""
    if negation and ") && (" in condition:  # of one branch within another
        condition = f"({condition})"
    return f"{negation}{condition} (:{choice.location.line})"
