"""The graph below an operator as hops: what leads to computing is listed, the rest is folded and
counted.

Each place is expanded once, where it is nearest to the operator; where it comes again, the hop
names the one that shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

from indexes.linking.facts import Edge, HopList
from indexes.linking.graph import Graph, Node
from indexes.linking.works import Works
from indexes.model.vocabulary import (
    Confidence,
    Definition,
    DtypeDispatch,
    Location,
    NativeFunction,
    Role,
    Work,
)
from indexes.queries.chains.functions import Functions
from indexes.queries.chains.kernels import Kernels
from indexes.queries.chains.steps import ON_THE_WAY, Extent, Place
from indexes.queries.chains.stubs import Stubs

if TYPE_CHECKING:
    from indexes.queries.index import Index
    from indexes.store.lookup import Lookup

_PLACES = 3
"""Places of calls whose target is not known that are told where not everything is."""


class ChainWalk:
    """Lists hops from an operator on, the nearest first."""

    def __init__(self, index: Index, facts: Lookup, hops: HopList, extent: Extent) -> None:
        self.index = index
        self.facts = facts
        self.hops = hops
        self.extent = extent
        self.graph = Graph(facts)
        self.works = Works(facts)
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
        self._root: NativeFunction | None = None
        self._first: dict[Node, int] = {}
        self._places: list[tuple[int, int, Place]] = []
        self._number = count()
        self.listed = ON_THE_WAY
        self.kernels = Kernels(self)
        self._functions = Functions(self)
        self._stubs = Stubs(self)

    def operator(self, native: NativeFunction) -> int:
        """Lists an overload with all that it leads to; the number of its hop."""
        node = Node("operator", native.full_name)
        self._root = native
        if not self.works.leads(node):
            self.listed = ON_THE_WAY | {"allocates", "moves", "helps"}
        root = self._schema(native, None)
        self.enter(Place(root, (node,), True, 0))
        while self._places:
            self._expand(heappop(self._places)[-1])
        self._say_unknown()
        return root

    def enter(self, place: Place) -> None:
        """Notes a place, to be expanded unless another hop shows it."""
        shown = self.shown(place.nodes)
        if shown is not None:
            if shown != place.hop:
                self.again[place.hop] = shown
            return
        for node in place.nodes:
            self._first.setdefault(node, place.hop)
        heappush(self._places, (place.cost, next(self._number), place))

    def shown(self, nodes: Sequence[Node]) -> int | None:
        """The hop that shows all of these; what is for every device shows those for one."""
        every = [
            self._first.get(node, self._first.get(Node(node.kind, node.what))) for node in nodes
        ]
        return None if None in every else every[0]

    def _expand(self, place: Place) -> None:
        node = place.nodes[0]
        self.expanded.setdefault(place.hop, []).extend(place.nodes)
        if isinstance(node.what, int):
            known = self.facts.by_id(node.what)
            if known is not None:
                self._functions.of(place, known)
        elif node.kind == "stub":
            self._stubs.of(place, node.what)
        else:
            native = self.facts.native(node.what)
            if native is not None:
                self.kernels.of(place, native)

    @property
    def is_full(self) -> bool:
        """Whether no more hops are wanted."""
        return self.extent.limit is not None and len(self.hops.hops) >= self.extent.limit

    def fold(self, place: Place, work: Work, count: int = 1) -> None:
        self.folded.setdefault(place.hop, Counter())[work] += count
        if self._root and self.is_full:
            self.continues.setdefault(place.hop, f"{self._root.full_name} --full")

    def note_unknown(self, place: Place, edge: Edge, where: Location) -> None:
        """Notes a call whose target is not known: in full it is said of each function, otherwise
        once for each reason."""
        hop = place.hop if self.extent.full else None
        self.unknown.setdefault((hop, str(edge.target)), []).append((edge.symbol, where))

    def _say_unknown(self) -> None:
        for (hop, reason), calls in self.unknown.items():
            names = Counter(name for name, _ in calls)
            told = ", ".join(f"{name} ({n})" if n > 1 else name for name, n in names.items())
            places = list(dict.fromkeys(str(place) for _, place in calls))
            shown = len(places) if self.extent.full else _PLACES
            where = ", ".join(places[:shown])
            more = len(places) - shown
            where += f" and {more} more: --full lists them" if more > 0 else ""
            self.hops.miss(hop, "call", told, f"{reason}: at {where}")

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
        said = (parent, role, what, where, rule, confidence)
        return self.hops.add(*said, evidence=evidence, note=native.schema, work=work)

    def first_dispatch(self, place: Place, nodes: Sequence[Node], follows: bool) -> None:
        """Expands the operators that a call can mean: the first of them, or all in full."""
        by_name: dict[str, list[Node]] = {}
        for node in nodes:
            by_name.setdefault(str(node.what), []).append(node)
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
        """The dtypes that a function is made for."""
        known = self.facts.known(definition)
        if not known:
            return ()
        names = [call.name for call in self.facts.calls(known)]
        self.index.dtypes.know(names)
        dispatches = any(map(self.index.dtypes.dispatches, names))
        return self.index.dtypes.of(definition) if dispatches else ()
