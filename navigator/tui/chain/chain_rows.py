"""A chain as rows of a foldable tree.

Chains of a thousand hops are common: a kernel calls functions, these call operators, which have
kernels. At first, as much is open as fits a screen or two, the most useful groups and hops first.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from indexes.model.answers import Chain, Hop
from indexes.model.vocabulary import Role
from navigator.tui.chain.chain_groups import Step, groups, tier

Key = str | int
"""A node: a group by name, a hop by id."""
Groups = Mapping[str, Sequence[Step]]

BUDGET = 44
"""Rows that are open at first, if the screen has that many."""

_FEW = 3

_ON_THE_WAY: tuple[Role, ...] = ("stub", "registration", "device_kernel", "launch", "kernel")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the tree: a group's heading, a hop, or an unresolved step."""

    key: Key
    group: str
    step: Step | None = None
    guide: str = ""
    """The branches drawn in front of it."""
    hidden: int = 0
    """Number of folded steps below it."""
    is_open: bool = False
    device: str | None = None
    """The device of its parent."""

    @property
    def hop(self) -> Hop | None:
        return self.step if isinstance(self.step, Hop) else None


@dataclass(slots=True)
class _Node:
    """A group or a step, with its children."""

    key: Key
    group: str
    step: Step | None
    children: list[_Node] = field(default_factory=list)

    @property
    def device(self) -> str | None:
        """Its device, if there is only one."""
        if not isinstance(self.step, Hop):
            return None
        return self.step.device if len(self.step.keys) < 2 else None

    @property
    def most(self) -> int:
        """How many children may be open at first: fewer in less useful groups."""
        if self.step is not None or tier(self.group) < 2:
            return BUDGET
        return _FEW

    @property
    def is_redispatch(self) -> bool:
        """Whether it calls another operator, whose chain is below it."""
        return any(
            isinstance(child.step, Hop) and child.step.role == "schema" for child in self.children
        )

    @property
    def leads_on(self) -> bool:
        """Whether the path to the device kernel leads through it."""
        return any(
            child.step is not None and child.step.role in _ON_THE_WAY for child in self.children
        )

    def size(self) -> int:
        return sum(1 + child.size() for child in self.children)


class Outline:
    """Groups of steps as trees, and their open nodes."""

    def __init__(self, steps: Groups, budget: int = BUDGET) -> None:
        self._groups = [_forest(name, ones) for name, ones in steps.items()]
        self._ids = sum(map(len, steps.values()))
        """Number of hops with a number."""
        self._nodes: dict[Key, _Node] = {}
        self._parents: dict[Key, Key] = {}
        self._unfolded: dict[Key, str] = {}
        """Hops, and the operators whose chains were inserted below them."""
        for group in self._groups:
            self._note_parents(group)
        self.open: set[Key] = set()
        self._open_what_fits(budget)

    def _note_parents(self, node: _Node) -> None:
        self._nodes[node.key] = node
        for child in node.children:
            self._parents[child.key] = node.key
            self._note_parents(child)

    def _open_what_fits(self, budget: int) -> None:
        """Open nodes, the most useful first, while there is room."""
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
        """The rows to show."""
        return [row for group in self._groups for row in self._walk(group, "", "", None)]

    def _walk(self, node: _Node, guide: str, indent: str, device: str | None) -> Iterator[Row]:
        is_open = node.key in self.open
        hidden = 0 if is_open else node.size()
        yield Row(node.key, node.group, node.step, guide, hidden, is_open, device)
        for child in node.children if is_open else ():
            branch, below = "", ""
            if node.step is not None or guide:
                last = child is node.children[-1]
                branch, below = ("└ ", "  ") if last else ("├ ", "│ ")
            here = node.device or device
            yield from self._walk(child, indent + branch, indent + below, here)

    def hops_after(self, key: Key) -> list[Hop]:
        """Every hop in tree order, folded or not, starting after a node and wrapping around."""
        nodes = [node for group in self._groups for node in _nodes(group)]
        at = next((at for at, node in enumerate(nodes, 1) if node.key == key), 0)
        return [node.step for node in nodes[at:] + nodes[:at] if isinstance(node.step, Hop)]

    def toggle(self, key: Key) -> None:
        """Fold or open a node."""
        self.open ^= {key}

    def unfold(self, hop: Hop, chain: Chain) -> None:
        """Insert an operator's chain below the hop that calls it, open for the hop's device."""
        node, first = self._nodes[hop.id], self._ids
        self._ids += len(chain.hops)
        self._unfolded[hop.id] = chain.op.full_name
        for name, steps in groups(chain).items():
            child = _forest(name, [_renumbered(step, first) for step in steps], f"{hop.id} ")
            node.children.append(child)
            self._parents[child.key] = hop.id
            self._note_parents(child)
            if tier(name) == 0 and len(child.children) <= _FEW * 2:
                self.open.add(child.key)
        self.open.add(hop.id)

    def has_below(self, key: Key) -> bool:
        """Whether a node has children."""
        return bool(self._nodes[key].children)

    def above(self, key: Key) -> Iterator[Key]:
        """The ancestors of a node, nearest first."""
        above = self._parents.get(key)
        while above is not None:
            yield above
            above = self._parents.get(above)

    def operator_above(self, hop: Hop, op: str) -> Key | None:
        """Where an operator was entered on the path to a hop: entering it again would be a loop."""
        for key in self.above(hop.id):
            step = self._nodes[key].step
            entry = step.symbol if step and step.role == "schema" else None
            if op in (entry, self._unfolded.get(key)):
                return key
        return None

    def reveal(self, key: Key) -> None:
        """Open all ancestors of a node."""
        self.open.update(self.above(key))


def _renumbered(step: Step, first: int) -> Step:
    """A step of another chain, with ids from ``first`` on."""
    parent = None if step.parent is None else step.parent + first
    if not isinstance(step, Hop):
        return replace(step, parent=parent)
    again = None if step.again is None else step.again + first
    return replace(step, id=step.id + first, parent=parent, again=again)


def _forest(group: str, steps: Sequence[Step], prefix: str = "") -> _Node:
    """The steps of a group as trees; ``prefix`` keeps keys distinct."""
    root = _Node(f"{prefix}{group}", group, None)
    nodes: dict[int, _Node] = {}
    for number, step in enumerate(steps):
        key = step.id if isinstance(step, Hop) else f"{prefix}{group} {number}"
        node = _Node(key, group, step)
        parent = nodes.get(step.parent) if step.parent is not None else None
        (parent or root).children.append(node)
        if isinstance(step, Hop):
            nodes[step.id] = node
    return root


def _nodes(node: _Node) -> Iterator[_Node]:
    yield node
    for child in node.children:
        yield from _nodes(child)


def _rank(node: _Node, depth: int) -> tuple[int, ...]:
    """Lower ranks are opened first: main groups, the path to the kernel, low depth."""
    if node.step is None:
        return (tier(node.group), 0, 0, 0)
    return (tier(node.group), node.is_redispatch, not node.leads_on, depth)
