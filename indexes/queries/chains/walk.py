"""The graph below an operator as hops: what leads to computing is listed, the rest folded and
counted.

Each place is expanded once, nearest to the operator; elsewhere the hop refers to the one that shows
it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappush
from itertools import count

from indexes.linking.facts import Edge, HopList
from indexes.linking.graph import Graph, Node
from indexes.model.lines import grouped
from indexes.model.vocabulary import (
    Confidence,
    Definition,
    DtypeDispatch,
    Location,
    NativeFunction,
    Role,
    Work,
)
from indexes.queries.chains.steps import ON_THE_WAY, Extent, Place
from indexes.queries.indexed_tree import IndexedTree


class ChainWalk:
    """The hops listed so far, and the places to expand, nearest first."""

    def __init__(self, index: IndexedTree, native: NativeFunction, extent: Extent) -> None:
        self.index = index
        self.facts = index.facts
        self.hops = HopList()
        self.extent = extent
        self.graph = Graph(index.facts)
        self.works = index.facts.works
        self.folded: dict[int, Counter[Work]] = {}
        """Of each hop, what is not listed below it."""
        self.continues: dict[int, str] = {}
        """Of each hop whose steps are not listed at all, the operator that has them."""
        self.again: dict[int, int] = {}
        """Of each hop that comes again, the one that shows what is below it."""
        self.unknown: dict[tuple[int | None, str], list[tuple[str, Location]]] = {}
        """What is called and not known, by reason, with where; in full by hop too."""
        self.expanded: dict[int, list[Node]] = {}
        """Of each hop whose steps are listed or folded, where it is."""
        self.places: list[tuple[int, int, Place]] = []
        """Those that are still to be expanded, a heap."""
        self._first: dict[Node, int] = {}
        self._number = count()
        self.listed = ON_THE_WAY
        self._root = native.full_name
        node = Node("operator", native.full_name)
        if not self.works.leads(node):
            self.listed = ON_THE_WAY | {"allocates", "moves", "helps"}
        self.root = self._schema(native, None)
        """The hop of the operator."""
        self.enter(Place(self.root, (node,), True, 0))

    def enter(self, place: Place) -> None:
        """Adds a place to expand unless another hop shows it."""
        shown = self.shown(place.nodes)
        if shown is not None:
            if shown != place.hop:
                self.again[place.hop] = shown
            return
        for node in place.nodes:
            self._first.setdefault(node, place.hop)
        heappush(self.places, (place.cost, next(self._number), place))

    def shown(self, nodes: Sequence[Node]) -> int | None:
        """The hop that shows all of these nodes; one for every device includes those for one."""
        every = [
            self._first.get(node, self._first.get(Node(node.kind, node.what))) for node in nodes
        ]
        return None if None in every else every[0]

    @property
    def is_full(self) -> bool:
        """Whether no more hops are wanted."""
        return self.extent.limit is not None and len(self.hops.hops) >= self.extent.limit

    def fold(self, place: Place, work: Work, count: int = 1) -> None:
        self.folded.setdefault(place.hop, Counter())[work] += count
        if self.is_full:
            self.continues.setdefault(place.hop, f"{self._root} --full")

    def note_unknown(self, place: Place, edge: Edge, where: Location) -> None:
        """Notes a call with an unknown target: of each function in full, otherwise once per
        reason."""
        hop = place.hop if self.extent.full else None
        self.unknown.setdefault((hop, str(edge.target)), []).append((edge.symbol, where))

    def _schema(self, native: NativeFunction, parent: int | None) -> int:
        if "generated" in native.tags:
            rule = "autogen: torchgen derives this overload from the entry that lists it here"
            return self.entry(parent, "schema", native, rule, "by rule")
        rule = native.defined_by or "its entry in native_functions.yaml"
        return self.entry(parent, "schema", native, rule)

    def entry(
        self,
        parent: int | None,
        role: Role,
        native: NativeFunction,
        rule: str,
        confidence: Confidence = "exact",
        evidence: Sequence[Location] = (),
    ) -> int:
        """Adds a hop to the YAML entry of an overload."""
        what, where = native.full_name, native.location
        work = self.works.of(Node("operator", what))
        arguments = (parent, role, what, where, rule, confidence)
        return self.hops.add(*arguments, evidence=evidence, note=native.schema, work=work)

    def first_dispatch(self, place: Place, nodes: Sequence[Node], follows: bool) -> None:
        """Expands the operators that a call can mean: the first of them, or all in full."""
        by_name = grouped((str(node.what), node) for node in nodes)
        names = list(by_name)
        deep = self.extent.depth is not None and place.dispatches >= self.extent.depth
        if not names:
            return
        if not (follows or self.extent.full) or deep or self.is_full:
            self.continues[place.hop] = names[0]
            return
        for name in names if self.extent.full else names[:1]:
            self._dispatch(place, by_name[name], len(names) == 1 or not self.extent.full)
        if not self.extent.full and len(names) > 1:
            self.fold(place, "dispatches", len(names) - 1)

    def _dispatch(self, place: Place, nodes: Sequence[Node], alone: bool) -> None:
        shown, native = self.shown(nodes), self.facts.native(str(nodes[0].what))
        if native is None:
            return
        if shown is not None and alone:
            self.again[place.hop] = shown
            return
        hop = self._schema(native, place.hop)
        self.enter(Place(hop, nodes, True, place.dispatches + 1, place.cost + 1))

    def dtypes(self, definition: Definition) -> tuple[DtypeDispatch, ...]:
        known = self.facts.known(definition) if self.extent.dtypes else None
        if not known:
            return ()
        names = [call.name for call in self.facts.calls(known)]
        dispatches = any(map(self.index.dtypes.dispatches, names))
        return self.index.dtypes.of(definition) if dispatches else ()


class Lister:
    """Lists what some kind of node leads to, for a walk."""

    def __init__(self, walk: ChainWalk) -> None:
        self.walk = walk
        self.facts = walk.facts
        self.hops = walk.hops
        self.extent = walk.extent
        self.graph = walk.graph
        self.works = walk.works
