"""A chain as the rows of a tree that can be folded.

Chains of a thousand hops are no rarity: a kernel calls functions, those call operators,
those have kernels. What is open at first is what fits a screen or two, the groups and
the hops that most readers come for before all others.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from indexes.model.vocabulary import Chain, Hop, Role
from navigator.tui.chain.chain_groups import Step, groups, tier

Key = str | int
"""What can be folded: a group by its name, a hop by its id."""

BUDGET = 44
"""Rows that are open at first, if the screen has as many."""

_FEW = 3

LABELS = "123456789"
_LABELLED: tuple[Role, ...] = ("schema", "derivative", "kernel", "device_kernel", "meta")
"""Roles in the order in which they get a digit, when there are more hops than digits."""
_ON_THE_WAY: tuple[Role, ...] = ("stub", "registration", "device_kernel", "launch", "kernel")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tree: the heading of a group, a hop, or what could not be linked."""

    key: Key
    group: str
    step: Step | None = None
    guide: str = ""
    """The branches drawn in front of it."""
    label: str = ""
    """The digit that jumps to it."""
    hidden: int = 0
    """How many steps below it are folded away."""
    is_open: bool = False
    device: str | None = None
    """The device that what it is below is for."""

    @property
    def hop(self) -> Hop | None:
        return self.step if isinstance(self.step, Hop) else None


@dataclass(slots=True)
class _Node:
    """A group or a step, and what is below it."""

    key: Key
    group: str
    step: Step | None
    children: list[_Node] = field(default_factory=list)

    @property
    def device(self) -> str | None:
        """The device that it is for, if there is one alone."""
        if not isinstance(self.step, Hop):
            return None
        return self.step.device if len(self.step.keys) < 2 else None

    @property
    def most(self) -> int:
        """How many children may be open at first: few of what few come for."""
        if self.step is not None or tier(self.group) < 2:
            return BUDGET
        return 0 if self.group == "Python" else _FEW

    @property
    def is_redispatch(self) -> bool:
        """A call of another operator, whose chain is below it."""
        return any(
            isinstance(child.step, Hop) and child.step.role == "schema" for child in self.children
        )

    @property
    def leads_on(self) -> bool:
        """Whether the way to the device kernel goes through it."""
        return any(
            child.step is not None and child.step.role in _ON_THE_WAY for child in self.children
        )

    def size(self) -> int:
        return sum(1 + child.size() for child in self.children)


class Outline:
    """The tree of a chain, and which parts of it are open."""

    def __init__(self, chain: Chain, budget: int = BUDGET) -> None:
        self._groups = [_forest(name, steps) for name, steps in groups(chain).items()]
        self._parents: dict[Key, Key] = {}
        for group in self._groups:
            self._note_parents(group)
        self.open: set[Key] = set()
        self._open_what_fits(budget)

    def _note_parents(self, node: _Node) -> None:
        for child in node.children:
            self._parents[child.key] = node.key
            self._note_parents(child)

    def _open_what_fits(self, budget: int) -> None:
        """Open nodes, those that matter most first, while there is room."""
        room = budget - sum(tier(group.group) == 0 for group in self._groups)
        waiting = [(_rank(group, 0), at, 0, group) for at, group in enumerate(self._groups)]
        heapq.heapify(waiting)
        number = len(waiting)
        while waiting:
            _, _, depth, node = heapq.heappop(waiting)
            if not 0 < len(node.children) <= min(room, node.most):
                continue
            room -= len(node.children)
            self.open.add(node.key)
            for child in node.children:
                number += 1
                heapq.heappush(waiting, (_rank(child, depth + 1), number, depth + 1, child))

    def rows(self) -> list[Row]:
        """The rows to show, with digits on the hops that get one, counted from the top."""
        rows = [row for group in self._groups for row in self._walk(group, "", "", None)]
        chosen = _labelled(rows)
        labels = iter(LABELS)
        return [replace(row, label=next(labels)) if row.key in chosen else row for row in rows]

    def _walk(self, node: _Node, guide: str, indent: str, device: str | None) -> Iterator[Row]:
        is_open = node.key in self.open
        hidden = 0 if is_open else node.size()
        yield Row(node.key, node.group, node.step, guide, "", hidden, is_open, device)
        for child in node.children if is_open else ():
            branch, below = "", ""
            if node.step is not None:
                last = child is node.children[-1]
                branch, below = ("└ ", "  ") if last else ("├ ", "│ ")
            here = node.device or device
            yield from self._walk(child, indent + branch, indent + below, here)

    def all_hops(self) -> list[Hop]:
        """Every hop in the order of the tree, folded or not."""
        return [hop for group in self._groups for hop in _hops(group)]

    def toggle(self, key: Key) -> None:
        """Fold or open a node."""
        self.open ^= {key}

    def parent(self, key: Key) -> Key | None:
        """What a node is below; None for a group."""
        return self._parents.get(key)

    def reveal(self, key: Key) -> None:
        """Open everything above a node."""
        above = self._parents.get(key)
        while above is not None:
            self.open.add(above)
            above = self._parents.get(above)


def _forest(group: str, steps: Sequence[Step]) -> _Node:
    """The steps of one group, each under its parent."""
    root = _Node(group, group, None)
    nodes: dict[int, _Node] = {}
    for number, step in enumerate(steps):
        key = step.id if isinstance(step, Hop) else f"{group} {number}"
        node = _Node(key, group, step)
        parent = nodes.get(step.parent) if step.parent is not None else None
        (parent or root).children.append(node)
        if isinstance(step, Hop):
            nodes[step.id] = node
    return root


def _hops(node: _Node) -> Iterator[Hop]:
    if isinstance(node.step, Hop):
        yield node.step
    for child in node.children:
        yield from _hops(child)


def _rank(node: _Node, depth: int) -> tuple[int, ...]:
    """Small for what is opened first: main groups, the way to the kernel, what is near."""
    if node.step is None:
        return (tier(node.group), 0, 0, 0)
    return (tier(node.group), node.is_redispatch, not node.leads_on, depth)


def _labelled(rows: Sequence[Row]) -> set[Key]:
    """The hops in view that people jump to most, as many as there are digits."""
    by_key = {row.key: row.hop for row in rows}
    placed = [row for row in rows if row.hop and row.hop.location and _is_head(row.hop, by_key)]
    placed.sort(key=_worth)
    return {row.key for row in placed[: len(LABELS)]}


def _is_head(hop: Hop, by_key: dict[Key, Hop | None]) -> bool:
    """The entry of a derivative rather than each formula; of a kernel the first function."""
    parent = by_key.get(hop.parent) if hop.parent is not None else None
    return hop.role in _LABELLED and (parent is None or parent.role != hop.role)


def _worth(row: Row) -> tuple[int, int]:
    assert row.hop is not None
    nested = len(row.guide) > 6 and row.hop.role not in ("kernel", "device_kernel")
    return (tier(row.group) + nested, _LABELLED.index(row.hop.role))
