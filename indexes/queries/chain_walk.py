"""The graph below an operator as hops: what leads to computing is listed, the rest is folded and
counted.

Each place is expanded once, where it is nearest to the operator; where it comes again, the hop
names the one that shows it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

from indexes.linking.facts import (
    BY_HAND,
    TO_DEFINITIONS,
    Details,
    Edge,
    HopList,
    Known,
    StubEntry,
    StubUse,
)
from indexes.linking.graph import DEVICES, Graph, Node, Step, device_of_key, node_kind
from indexes.linking.overloads import by_hand
from indexes.linking.usual import taken
from indexes.linking.visible import APPLE, is_header, path_device, stub_name, stub_scope
from indexes.linking.works import Works
from indexes.model.vocabulary import (
    Choice,
    Confidence,
    Definition,
    DtypeDispatch,
    KernelRow,
    Location,
    NativeFunction,
    Role,
    Work,
)

if TYPE_CHECKING:
    from indexes.queries.index import Index
    from indexes.store.lookup import Lookup

_MAIN_KEYS = ("CPU", "CUDA", "MPS")
_SPECIAL = 40
"""How much longer the way through a kernel for sparse, quantized or nested tensors is."""
_UNUSUAL = 20
"""How much longer the way under a condition is that does not hold for most tensors."""
_ON_THE_WAY = frozenset[Work](("computes", "chooses", "dispatches"))
_UFUNC_TEMPLATES = {"CPU": "UfuncCPU.cpp", "CUDA": "UfuncCUDA.cu"}


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a chain is wanted."""

    full: bool = False
    """Every operator expanded, everything listed, nothing folded."""
    depth: int | None = None
    """Dispatches that are followed; None for all."""
    limit: int | None = None
    """Hops that are listed; None for all."""


@dataclass(slots=True)
class _Place:
    """A hop whose steps are to be listed below it."""

    hop: int
    nodes: Sequence[Node]
    """Where it is: one place, for each device that the way is for."""
    follows: bool
    """Whether operators that it calls are expanded."""
    dispatches: int
    cost: int = 0
    """How far it is from the operator; unusual ways are longer."""

    def below(self, hop: int, nodes: Sequence[Node], cost: int = 1) -> _Place:
        return _Place(hop, nodes, self.follows, self.dispatches, self.cost + cost)


@dataclass(slots=True)
class _Use:
    """Calls of one thing in a body: its edges, and the steps that they are on this way."""

    edges: list[Edge] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    work: Work = "helps"
    choices: tuple[Choice, ...] = ()
    """What decides at run time whether the call is made."""
    unusual: int = 0
    """How many of them do not hold for the tensors that most have."""

    @property
    def cost(self) -> int:
        return 1 + self.unusual * _UNUSUAL

    @property
    def nodes(self) -> list[Node]:
        return list(dict.fromkeys(step.lower for step in self.steps))


@dataclass(frozen=True, slots=True)
class _Row:
    """Kernels of one symbol, by the keys under which an operator has them."""

    rows: Sequence[KernelRow]
    steps: Sequence[Step]
    """What they are on this way."""
    parent: int
    """The hop that they stand below."""
    cost: int = 0

    @property
    def first(self) -> KernelRow:
        return self.rows[0]

    @property
    def keys(self) -> list[str]:
        return [row.key for row in self.rows]

    @property
    def is_special(self) -> bool:
        return self.cost >= _SPECIAL

    def nodes_of(self, known: Known | None) -> list[Node]:
        """Where a definition of theirs is on this way."""
        return _nodes(step for step in self.steps if known and step.lower.what == known.id)


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
        self.expanded: dict[int, list[Node]] = {}
        """Of each hop whose steps are listed or folded, where it is."""
        self._root: NativeFunction | None = None
        self._first: dict[Node, int] = {}
        self._places: list[tuple[int, int, _Place]] = []
        self._number = count()
        self._listed = _ON_THE_WAY
        self._by_itself: dict[Node, bool] = {}

    def operator(self, native: NativeFunction) -> int:
        """Lists an overload with all that it leads to; the number of its hop."""
        node = Node("operator", native.full_name)
        self._root = native
        if not self.works.leads(node):
            self._listed = _ON_THE_WAY | {"allocates", "moves", "helps"}
        root = self._schema(native, None)
        self._enter(_Place(root, (node,), True, 0))
        while self._places:
            self._expand(heappop(self._places)[-1])
        return root

    # --------------------------------------------------------------------------- places

    def _enter(self, place: _Place) -> None:
        """Notes a place, to be expanded unless another hop shows it."""
        shown = self._shown(place.nodes)
        if shown is not None:
            if shown != place.hop:
                self.again[place.hop] = shown
            return
        for node in place.nodes:
            self._first.setdefault(node, place.hop)
        heappush(self._places, (place.cost, next(self._number), place))

    def _shown(self, nodes: Sequence[Node]) -> int | None:
        """The hop that shows all of these; what is for every device shows those for one."""
        every = [
            self._first.get(node, self._first.get(Node(node.kind, node.what))) for node in nodes
        ]
        return None if None in every else every[0]

    def _expand(self, place: _Place) -> None:
        node = place.nodes[0]
        self.expanded.setdefault(place.hop, []).extend(place.nodes)
        if isinstance(node.what, int):
            known = self.facts.by_id(node.what)
            if known is not None:
                self._function(place, known)
        elif node.kind == "stub":
            self._stub(place, node.what)
        else:
            native = self.facts.native(node.what)
            if native is not None:
                self._kernels(place, native)

    @property
    def _is_full(self) -> bool:
        """Whether no more hops are wanted."""
        return self.extent.limit is not None and len(self.hops.hops) >= self.extent.limit

    def _fold(self, place: _Place, work: Work, count: int = 1) -> None:
        self.folded.setdefault(place.hop, Counter())[work] += count
        if self._root and self._is_full:
            self.continues.setdefault(place.hop, f"{self._root.full_name} --full")

    # ------------------------------------------------------------------------ operators

    def _schema(self, native: NativeFunction, parent: int | None) -> int:
        if "generated" in native.tags:
            rule = "autogen: torchgen derives this overload from the entry that lists it here"
            return self.entry(parent, "schema", native, rule, "by rule")
        return self.entry(parent, "schema", native, "its entry in native_functions.yaml")

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

    def _kernels(self, place: _Place, native: NativeFunction) -> None:
        """Lists an overload's delegate, meta and kernels, those that most ask for first."""
        under = self._delegate(native, place.hop)
        rows = self.facts.kernels(native.full_name)
        if place.dispatches == 0 or self.extent.full:
            for group in _grouped([row for row in rows if row.key == "Meta"]):
                self._meta(group, under)
        groups = _grouped([row for row in rows if row.key != "Meta"])
        for group in sorted(groups, key=lambda one: _extra_cost(one, rows)):
            steps = [s for n in place.nodes for row in group for s in self.graph.row_steps(n, row)]
            if steps or not place.nodes[0].device:  # otherwise for another device than this way
                self._kernel_row(place, _Row(group, steps, under, _extra_cost(group, rows)))
        if native.doubt:
            self.hops.miss(place.hop, "kernel", native.full_name, native.doubt)
        elif not rows:
            self._no_kernel(native, place.hop)

    def _kernel_row(self, place: _Place, row: _Row) -> None:
        """Lists a kernel by its keys, unless it is one that few ask for, of an operator on the
        way."""
        if (row.is_special and place.dispatches and not self.extent.full) or self._is_full:
            if row.steps:
                self._fold(place, self.works.of(row.steps[0].lower))
                self.continues.setdefault(place.hop, row.first.op)
        elif row.first.kind == "ufunc" and row.first.definitions:
            self._ufunc(place, row)
        elif row.first.kind == "generated":
            self._generated(place, row)
        elif not row.first.definitions:
            first = row.first
            self.hops.miss(row.parent, "kernel", first.symbol, first.reason, row.keys)
        else:
            for found in row.first.definitions:
                self._kernel(place, row, found)

    def _delegate(self, native: NativeFunction, parent: int) -> int:
        out = native.structured_delegate and self.facts.native(native.structured_delegate)
        if not out:
            return parent
        line = native.field_lines.get("structured_delegate", native.location.line)
        rule = f"structured_delegate: {out.full_name} names the kernels"
        evidence = [Location(native.location.path, line)]
        return self.entry(parent, "delegate", out, rule, evidence=evidence)

    def _no_kernel(self, native: NativeFunction, parent: int) -> None:
        line = native.field_lines.get("dispatch", native.location.line)
        reason = f"dispatch: {{}} at {native.location.path}:{line}: no C++ kernel at all"
        self.hops.miss(parent, "kernel", native.full_name, reason)

    def _meta(self, rows: Sequence[KernelRow], parent: int) -> None:
        row, keys, line = rows[0], [r.key for r in rows], self._yaml_line(rows[0])
        if not row.definitions:
            self.hops.miss(parent, "meta", row.symbol, row.reason, keys)
        for found in row.definitions:
            dtypes, what = self._dtypes(found), (found, row.rule, row.confidence)
            self.hops.add_definition(
                parent, "meta", *what, keys=keys, evidence=[line], dtypes=dtypes
            )

    def _kernel(self, place: _Place, row: _Row, found: Definition) -> None:
        nodes = row.nodes_of(self.facts.known(found))
        hop = self.hops.add_definition(
            row.parent,
            "kernel",
            found,
            row.first.rule,
            row.first.confidence,
            device=_only_device(row.keys),
            keys=row.keys,
            evidence=[self._yaml_line(row.first)],
            dtypes=self._dtypes(found),
            work=self.works.of(nodes[0]) if nodes else None,
        )
        if nodes:
            composite = row.first.key.startswith("Composite")
            follows = composite or not any(map(self._computes_itself, nodes))
            cost = place.cost + 1 + row.cost
            self._enter(_Place(hop, nodes, follows, place.dispatches, cost))

    def _computes_itself(self, start: Node) -> bool:
        """Whether a function computes without dispatching anew."""
        if start not in self._by_itself:
            below = (step.lower for step in self.graph.without_dispatch(start))
            self._by_itself[start] = self._computes(start) or any(map(self._computes, below))
        return self._by_itself[start]

    def _computes(self, node: Node) -> bool:
        return isinstance(node.what, int) and self.works.computing(node.what) is not None

    def _ufunc(self, place: _Place, row: _Row) -> None:
        """torchgen makes the kernel, the stub and the loop around the inner loops."""
        made, loop, device = row.first, row.first.definitions[0], _only_device(row.keys)
        rule = f"{made.rule}; torchgen generates {made.symbol}, this is the arithmetic it calls"
        hop = self.hops.add(
            row.parent,
            "kernel",
            made.symbol,
            loop.location,
            rule,
            "by rule",
            keys=row.keys,
            evidence=[self._yaml_line(made)],
            guard=loop.guard,
            device=device,
            work="computes",
        )
        self._ufunc_template(made, hop, device)
        self._ufunc_stub(made, hop, device)
        rule = "an inner loop named in ufunc_inner_loop; torchgen writes the loop around it"
        below = place.below(hop, (), row.cost)
        for found in made.definitions:
            self._inner_loop(below, row, found, rule)

    def _ufunc_template(self, row: KernelRow, parent: int, device: str | None) -> None:
        name = _UFUNC_TEMPLATES[device or ""]
        if path := self.index.source.locate(f"ATen/templates/{name}"):
            rule = "the template from which torchgen makes the kernel"
            what = (row.symbol, Location(path, 1), rule)
            self.hops.add(parent, "generated", *what, "by rule", device=device, work="computes")

    def _ufunc_stub(self, row: KernelRow, parent: int, device: str | None) -> None:
        base = row.symbol.removeprefix("ufunc_").rpartition("_")[0]
        for use in self.facts.stub_uses(f"{base}_stub") if device == "CPU" else ():
            rule = f"{use.macro}: the stub is {use.what} here; torchgen defines and registers it"
            what = (f"{base}_stub", use.location, rule)
            self.hops.add(parent, "stub", *what, "by rule", work="dispatches")

    def _inner_loop(self, place: _Place, row: _Row, found: Definition, rule: str) -> None:
        nodes = row.nodes_of(self.facts.known(found))
        hop = self.hops.add_definition(
            place.hop,
            "device_kernel",
            found,
            rule,
            "by rule",
            device=nodes[0].device if len(nodes) == 1 else None,
            evidence=[self._yaml_line(row.first)],
            work="computes",
        )
        if nodes:
            self._enter(place.below(hop, nodes))

    def _generated(self, place: _Place, row: _Row) -> None:
        """A kernel that torchgen makes, and the operator that it makes it call."""
        made, template = row.first, self._template(row.first)
        if template is None:
            self.hops.miss(row.parent, "generated", made.symbol, made.reason, row.keys)
            return
        what, evidence = (made.symbol, template, made.reason), [self._yaml_line(made)]
        details: Details = {"work": "dispatches"}
        hop = self.hops.add(
            row.parent, "generated", *what, "by rule", keys=row.keys, evidence=evidence, **details
        )
        self._first_dispatch(place.below(hop, (), row.cost), _nodes(row.steps), follows=True)

    def _template(self, row: KernelRow) -> Location | None:
        name = "RegisterDispatchKey.cpp"
        if row.key.endswith("NonFunctional") or row.op.partition(".")[0].endswith("_copy"):
            name = "CompositeViewCopyKernels.cpp"
        path = self.index.source.locate(f"ATen/templates/{name}") or self.index.source.locate(
            f"aten/src/ATen/templates/{name}"
        )
        return Location(path, 1) if path else None

    def _yaml_line(self, row: KernelRow) -> Location:
        native = self.facts.native(row.op)
        assert native is not None
        source = native
        if native.structured_delegate and native.dispatch is None:
            source = self.facts.native(native.structured_delegate) or native
        for kernel in source.dispatch or ():
            if kernel.key == row.key:
                return Location(source.location.path, kernel.line)
        return source.location

    # ------------------------------------------------------------------------ functions

    def _function(self, place: _Place, known: Known) -> None:
        """Lists what a function leads to that is on the way to computing; folds the rest."""
        listed = []
        for use in self._uses(place, known):
            if self._is_listed(use):
                use.choices = _common(map(self.facts.conditions, use.edges))
                use.unusual = _unusual(use, place.nodes)
                listed.append(use)
            else:
                self._fold(place, use.work, len(use.edges))
        said: set[object] = set()
        if not self.extent.full:
            listed.sort(key=lambda use: use.unusual)
        for use in _merged(listed):
            call = (use.edges[0].line, use.edges[0].symbol)
            if call in said and self._is_repeated(use):
                self._fold(place, use.work, len(use.edges))
            else:
                self._use(place, known, use)
            said.add(call)

    def _is_repeated(self, use: _Use) -> bool:
        """Whether it is one of several that a call can mean, shown already: of those one row
        says all."""
        return not self.extent.full and len(use.steps) > 0 and self._shown(use.nodes) is not None

    def _is_listed(self, use: _Use) -> bool:
        if use.edges[0].kind == "unknown":
            return True
        if self._is_full:
            return False
        leads_off = node_kind(use.edges[0]) is not None and not use.steps
        return not leads_off and (self.extent.full or use.work in self._listed)

    def _uses(self, place: _Place, known: Known) -> list[_Use]:
        """What a body leads to, each thing once, in the order of the text."""
        found: dict[object, _Use] = {}
        for edge in self.facts.edges(known.id):
            use = found.setdefault(_sameness(edge), _Use())
            use.edges.append(edge)
            use.steps += filter(None, (self.graph.step(node, edge) for node in place.nodes))
        for use in found.values():
            use.work = self._work(use, place)
        return list(found.values())

    def _work(self, use: _Use, place: _Place) -> Work:
        if use.steps:
            return self.works.of(use.steps[0].lower)
        return self.works.of_edge(use.edges[0], place.nodes[0].device)

    def _use(self, place: _Place, known: Known, use: _Use) -> None:
        edge = use.edges[0]
        kind = node_kind(edge)
        if kind == "operator":
            self._operator_call(place, known, use)
        elif kind == "stub":
            self._stub_call(place, known, use)
        elif kind == "definition":
            self._function_call(place, known, use)
        elif edge.kind == "macro":
            self._macro(place, known, use)
        elif edge.kind == "unknown":
            self.hops.miss(place.hop, "call", edge.symbol, f"{edge.target}, at {_at(known, edge)}")
        elif edge.kind == "library":
            self._library(place, known, use)
        else:
            self._loop(place, known, use)

    def _function_call(self, place: _Place, known: Known, use: _Use) -> None:
        edge, nodes = use.edges[0], use.nodes
        target = self._definition(nodes[0].what)
        if target is None:
            return
        found, evidence = target.definition, [_at(known, one) for one in use.edges]
        owner = self._owner(found)
        if owner and edge.kind == "functor":
            found, owner = owner, found
        if owner and (edge.kind == "functor" or "::" in edge.symbol):
            evidence.append(owner.location)
        device = "CUDA" if edge.kind == "launch" else path_device(found.location.path)
        hop = self.hops.add_definition(
            place.hop,
            self._role(edge, target, use.work),
            found,
            edge.rule,
            edge.confidence,
            evidence=evidence,
            device=device if device in DEVICES else None,
            dtypes=self._dtypes(found),
            choices=use.choices,
            work=use.work,
        )
        self._enter(place.below(hop, nodes, use.cost))

    def _definition(self, what: int | str) -> Known | None:
        return self.facts.by_id(what) if isinstance(what, int) else None

    def _role(self, edge: Edge, known: Known, work: Work) -> Role:
        """What is called by what it does: a header's function that runs others starts them."""
        if edge.kind == "launch":
            return "launch"
        how = self.works.computing(known.id)
        if how in ("loop", "launch") and is_header(known.definition.location.path):
            return "launch"
        return "device_kernel" if work == "computes" and edge.kind != "functor" else "call"

    def _owner(self, found: Definition) -> Definition | None:
        """The class whose function it is."""
        scope, _, name = found.scope.rpartition("::")
        for owner in self.facts.named(name) if name else ():
            one = owner.definition
            placed = (one.kind, one.scope, one.location.path)
            if placed == ("class", scope, found.location.path):
                return one
        return None

    def _macro(self, place: _Place, known: Known, use: _Use) -> None:
        edge = use.edges[0]
        target = self._definition(edge.target)
        if target is not None:
            evidence = [_at(known, one) for one in use.edges]
            what = (target.definition, edge.rule, edge.confidence)
            self.hops.add_definition(place.hop, "call", *what, evidence=evidence, work=use.work)

    def _loop(self, place: _Place, known: Known, use: _Use) -> None:
        edge, places = use.edges[0], [_at(known, one) for one in use.edges]
        what = (edge.symbol, places[0], edge.rule, edge.confidence)
        choices = use.choices
        self.hops.add(place.hop, "call", *what, evidence=places[1:], choices=choices, work=use.work)

    def _library(self, place: _Place, known: Known, use: _Use) -> None:
        edge = use.edges[0]
        library = str(edge.target)
        rule = f"runs code of {library}" if library in APPLE else f"a function of {library}"
        what = (edge.symbol, _at(known, edge), rule, edge.confidence)
        details: Details = {"note": library, "choices": use.choices, "work": use.work}
        self.hops.add(place.hop, "library", *what, evidence=_other_lines(known, use), **details)

    def _dtypes(self, definition: Definition) -> tuple[DtypeDispatch, ...]:
        """The dtypes that a function is made for."""
        known = self.facts.known(definition)
        if not known:
            return ()
        names = [call.name for call in self.facts.calls(known)]
        self.index.dtypes.know(names)
        dispatches = any(map(self.index.dtypes.dispatches, names))
        return self.index.dtypes.of(definition) if dispatches else ()

    # ---------------------------------------------------------------------- dispatching

    def _operator_call(self, place: _Place, known: Known, use: _Use) -> None:
        """Lists a call of an operator, which is expanded where the kernel computes through it."""
        edge, nodes = use.edges[0], use.nodes
        names = list(dict.fromkeys(str(node.what) for node in nodes))
        natives = list(filter(None, map(self.facts.native, names)))
        own = any(map(by_hand, natives))
        rule = f"calls an operator {BY_HAND}" if own else edge.rule.partition("; one of")[0]
        if len(names) > 1:
            rule += f"; the argument types decide among {', '.join(names)}"
        sure: Confidence = "ambiguous" if len(names) > 1 else "by rule" if own else edge.confidence
        hop = self.hops.add(
            place.hop,
            "call",
            edge.symbol,
            _at(known, edge),
            rule,
            sure,
            note=", ".join(names),
            evidence=_other_lines(known, use),
            choices=use.choices,
            work=use.work,
        )
        follows = place.follows and self.works.leads(nodes[0]) and not own
        follows = follows and use.work in _ON_THE_WAY
        self._first_dispatch(place.below(hop, (), use.cost), nodes, follows)

    def _first_dispatch(self, place: _Place, nodes: Sequence[Node], follows: bool) -> None:
        """Expands the operators that a call can mean: the first of them, or all in full."""
        by_name: dict[str, list[Node]] = {}
        for node in nodes:
            by_name.setdefault(str(node.what), []).append(node)
        names = list(by_name)
        deep = self.extent.depth is not None and place.dispatches >= self.extent.depth
        if not names:
            return
        if not (follows or self.extent.full) or deep or self._is_full:
            self.continues[place.hop] = names[0]
            return
        for name in names if self.extent.full else names[:1]:
            self._dispatch(place, by_name[name], len(names) == 1 or not self.extent.full)
        if not self.extent.full and len(names) > 1:
            self._fold(place, "dispatches", len(names) - 1)

    def _dispatch(self, place: _Place, nodes: Sequence[Node], alone: bool) -> None:
        shown, native = self._shown(nodes), self.facts.native(str(nodes[0].what))
        if native is None:
            return
        if shown is not None and alone:
            self.again[place.hop] = shown
            return
        hop = self._schema(native, place.hop)
        self._enter(_Place(hop, nodes, True, place.dispatches + 1, place.cost + 1))

    def _stub_call(self, place: _Place, known: Known, use: _Use) -> None:
        edge = use.edges[0]
        name = edge.symbol.rpartition("::")[2]
        passed = edge.kind == "passed stub"
        how = "passed on by name" if passed else "called through its dispatch table"
        evidence = [declared.location for declared in self._lines_of(str(edge.target))[:1]]
        evidence += _other_lines(known, use)
        hop = self.hops.add(
            place.hop,
            "call",
            name,
            _at(known, edge),
            f"{name} is a stub, {how}",
            edge.confidence,
            evidence=evidence,
            choices=use.choices,
            work=use.work,
        )
        self._enter(place.below(hop, use.nodes, use.cost))

    def _lines_of(self, stub: str) -> list[StubUse]:
        """The lines that declare, define and register a stub."""
        uses = self.facts.stub_uses(stub.rpartition("::")[2])
        return [use for use in uses if stub_name(stub_scope(use), use.stub) == stub]

    def _stub(self, place: _Place, stub: str) -> None:
        """Lists where a stub is declared and defined, and what is registered on it."""
        name, lines = stub.rpartition("::")[2], self._lines_of(stub)
        for use in lines:
            if use.what != "registered":
                rule = f"{use.macro}: the stub is {use.what} here"
                said = (name, use.location, rule)
                self.hops.add(place.hop, "stub", *said, guard=use.guard, work="dispatches")
        entries = self.facts.registered_on(stub)
        made = self.graph.ufunc_rows(stub)
        self._made_by_torchgen(place, name, made)
        if not entries and not made:
            what = "declared" if all(use.what == "declared" for use in lines) else "defined"
            reason = f"{name} is {what} but no line of this tree registers a function on it"
            self.hops.miss(place.hop, "registration", name, reason)
        devices = {node.device for node in place.nodes}
        wanted = [one for one in entries if "" in devices or one.device in devices]
        for builds in self._registrations(wanted):
            self._registration(place, builds)

    def _made_by_torchgen(self, place: _Place, name: str, rows: Sequence[KernelRow]) -> None:
        for one in rows:
            rule = f"torchgen defines and registers {name} from ufunc_inner_loop of {one.op}"
            steps = [step for node in place.nodes for step in self.graph.row_steps(node, one)]
            row = _Row([one], steps, place.hop)
            for found in one.definitions if steps else ():
                self._inner_loop(place, row, found, rule)

    def _registrations(self, entries: Sequence[StubEntry]) -> list[list[list[StubEntry]]]:
        """The lines that register something, each with its targets; those of one device that
        register the same together unless everything is listed, and ``nullptr`` last."""
        lines: dict[object, list[StubEntry]] = {}
        for one in entries:
            lines.setdefault((one.location, one.macro, one.function), []).append(one)
        builds: dict[object, list[list[StubEntry]]] = {}
        for at, line in lines.items():
            targets = tuple(one.target for one in line)
            same = at if self.extent.full else (line[0].device, targets, line[0].reason)
            builds.setdefault(same, []).append(line)
        return sorted(builds.values(), key=lambda one: one[0][0].target is None)

    def _registration(self, place: _Place, builds: Sequence[Sequence[StubEntry]]) -> None:
        line = builds[0]
        first = line[0]
        stub = first.stub.rpartition("::")[2]
        note = ""
        if len(builds) > 1:
            names = " ".join(_build(one[0].macro) for one in builds)
            note = f"{len(builds)} {first.device} builds: {names}"
        hop = self.hops.add(
            place.hop,
            "registration",
            f"{first.macro}({stub}, {first.function})",
            first.location,
            f"{first.macro} sets the {first.device} entry of the stub",
            device=first.device,
            guard=first.guard,
            evidence=[one[0].location for one in builds[1:]],
            note=note,
            work="dispatches",
        )
        for one in line:
            if one.target is None:
                self.hops.miss(hop, "device_kernel", f"{stub}: {one.function}", one.reason)
            else:
                self._registered(place.below(hop, ()), one, one.target, len(line) > 1)

    def _registered(self, place: _Place, one: StubEntry, target: int, several: bool) -> None:
        known = self.facts.by_id(target)
        if known is None:
            return
        node = Node("definition", target, one.device)
        work = self.works.of(node)
        rule = "the registered function, in the file of its registration"
        if several:
            rule += "; one definition for each build configuration"
        hop = self.hops.add_definition(
            place.hop,
            "call" if work == "chooses" else "device_kernel",
            known.definition,
            rule,
            device=one.device,
            evidence=[one.location],
            dtypes=self._dtypes(known.definition),
            work=work,
        )
        self._enter(place.below(hop, (node,)))


def _nodes(steps: Iterable[Step]) -> list[Node]:
    return list(dict.fromkeys(step.lower for step in steps))


def _only_device(keys: Sequence[str]) -> str | None:
    devices = list(filter(None, map(device_of_key, keys)))
    return devices[0] if len(devices) == 1 else None


def _grouped(rows: Sequence[KernelRow]) -> list[list[KernelRow]]:
    """Rows of one symbol together, as the YAML often groups their keys."""
    groups: dict[tuple[str, str], list[KernelRow]] = {}
    for row in rows:
        groups.setdefault((row.symbol, row.kind), []).append(row)
    return list(groups.values())


def _extra_cost(group: Sequence[KernelRow], rows: Sequence[KernelRow]) -> int:
    """How much longer the way through kernels is: those for tensors of a kind that few use, as
    sparse, quantized or nested ones; composite ones beside those of backends."""
    keys = {row.key for row in group}
    if not keys.isdisjoint(_MAIN_KEYS):
        return 0
    if not any(key.startswith("Composite") for key in keys):
        return _SPECIAL
    return _UNUSUAL if any(row.key in _MAIN_KEYS for row in rows) else 0


def _sameness(edge: Edge) -> object:
    """What stands in one row: calls of one function, or of one operator or stub on one line."""
    if edge.kind in TO_DEFINITIONS:
        return edge.kind == "launch", edge.target
    if edge.kind == "loop":
        return edge.kind, edge.symbol
    return edge.line, edge.symbol, edge.kind, edge.target if edge.kind == "library" else ""


def _common(conditions: Iterable[tuple[Choice, ...]]) -> tuple[Choice, ...]:
    """What is decided in the same way for all."""
    first, *others = conditions
    while any(one[: len(first)] != first for one in others):
        first = first[:-1]
    return first


def _unusual(use: _Use, nodes: Sequence[Node]) -> int:
    """How many conditions of a call do not hold for the tensors that most have."""
    devices = {node.device for node in nodes} - {""} or {*_MAIN_KEYS}
    return sum(all(taken(one, device) is False for device in devices) for one in use.choices)


def _merged(uses: Iterable[_Use]) -> list[_Use]:
    """Calls of one thing under the same conditions together."""
    found: dict[object, _Use] = {}
    for use in uses:
        edge, targets = use.edges[0], tuple(edge.target for edge in use.edges)
        kept = found.setdefault((edge.kind, edge.symbol, targets, use.choices), use)
        if kept is not use:
            kept.edges += use.edges
    return list(found.values())


def _other_lines(known: Known, use: _Use) -> list[Location]:
    """The lines of a call after the first."""
    lines = dict.fromkeys(edge.line for edge in use.edges)
    return [Location(known.definition.location.path, line) for line in list(lines)[1:]]


def _at(known: Known, edge: Edge) -> Location:
    return Location(known.definition.location.path, edge.line)


def _build(macro: str) -> str:
    """``AVX2`` of ``REGISTER_ARCH_DISPATCH:AVX2`` and of ``REGISTER_AVX2_DISPATCH``."""
    name, _, given = macro.partition(":")
    return given or name.removeprefix("REGISTER_").removesuffix("_DISPATCH")
