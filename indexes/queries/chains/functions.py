"""The hops below a function: those on the way to computing are listed, the others folded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from indexes.linking.facts import BY_HAND, TO_DEFINITIONS, Details, Edge, Known, by_hand
from indexes.linking.graph import DEVICES, Node, node_kind
from indexes.linking.usual_conditions import taken
from indexes.linking.visible import APPLE, is_header, path_device
from indexes.model.vocabulary import Choice, Confidence, Definition, Role, Work
from indexes.queries.chains.steps import MAIN_KEYS, ON_THE_WAY, Place, Use, at, other_lines
from indexes.queries.chains.stubs import lines_of
from indexes.queries.chains.walk import Lister


class Functions(Lister):
    """Lists what functions lead to, for a walk."""

    def of(self, place: Place, known: Known) -> None:
        """Lists the steps of a function that lead to computing, and folds the others."""
        listed = []
        for use in self._uses(place, known):
            if self._is_listed(use):
                use.choices = _common(map(self.facts.conditions, use.edges))
                use.unusual = _unusual(use, place.nodes)
                listed.append(use)
            else:
                self.walk.fold(place, use.work, len(use.edges))
        seen: set[object] = set()
        if not self.extent.full:
            listed.sort(key=lambda use: use.unusual)
        self._unknown(place, known, listed)
        for use in _merged(use for use in listed if use.edges[0].kind != "unknown"):
            call = (use.edges[0].line, use.edges[0].symbol)
            if call in seen and self._is_repeated(use):
                self.walk.fold(place, use.work, len(use.edges))
            else:
                self._use(place, known, use)
            seen.add(call)

    def _is_repeated(self, use: Use) -> bool:
        """Whether another one of the functions that a call can mean is already shown, which stands
        for all."""
        return (
            not self.extent.full and len(use.steps) > 0 and self.walk.shown(use.nodes) is not None
        )

    def _is_listed(self, use: Use) -> bool:
        if use.edges[0].kind == "unknown":
            return True
        if self.walk.is_full:
            return False
        leads_off = node_kind(use.edges[0]) is not None and not use.steps
        return not leads_off and (self.extent.full or use.work in self.walk.listed)

    def _uses(self, place: Place, known: Known) -> list[Use]:
        """The uses in a body, each once, in source order."""
        found: dict[object, Use] = {}
        for edge in self.facts.edges(known.id):
            use = found.setdefault(_sameness(edge), Use())
            use.edges.append(edge)
            use.steps += filter(None, (self.graph.step(node, edge) for node in place.nodes))
        for use in found.values():
            use.work = self._work(use, place)
        return list(found.values())

    def _work(self, use: Use, place: Place) -> Work:
        if use.steps:
            work = self.works.of(use.steps[0].lower)
            chooses = any(edge.kind == "chooser" for edge in use.edges)
            return "chooses" if chooses and work in ("helps", "checks") else work
        return self.works.of_edge(use.edges[0], place.nodes[0].device)

    def _use(self, place: Place, known: Known, use: Use) -> None:
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
        elif edge.kind == "library":
            self._library(place, known, use)
        else:
            self._loop(place, known, use)

    def _unknown(self, place: Place, known: Known, uses: Sequence[Use]) -> None:
        """Notes calls with an unknown target."""
        for edge in (edge for use in uses for edge in use.edges if edge.kind == "unknown"):
            self.walk.note_unknown(place, edge, at(known, edge))

    def _function_call(self, place: Place, known: Known, use: Use) -> None:
        edge, nodes = use.edges[0], use.nodes
        target = self._definition(nodes[0].what)
        if target is None:
            return
        found, evidence = target.definition, [at(known, one) for one in use.edges]
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
            dtypes=self.walk.dtypes(found),
            choices=use.choices,
            work=use.work,
        )
        self.walk.enter(place.below(hop, nodes, use.cost))

    def _definition(self, what: int | str) -> Known | None:
        return self.facts.by_id(what) if isinstance(what, int) else None

    def _role(self, edge: Edge, known: Known, work: Work) -> Role:
        """The role of a call; a header's function that runs others is a starter."""
        if edge.kind in ("launch", "shader"):
            return "launch"
        how = self.works.computing(known.id)
        if how in ("loop", "launch") and is_header(known.definition.location.path):
            return "launch"
        return "device_kernel" if work == "computes" and edge.kind != "functor" else "call"

    def _owner(self, found: Definition) -> Definition | None:
        scope, _, name = found.scope.rpartition("::")
        for owner in self.facts.named(name) if name else ():
            one = owner.definition
            placed = (one.kind, one.scope, one.location.path)
            if placed == ("class", scope, found.location.path):
                return one
        return None

    def _macro(self, place: Place, known: Known, use: Use) -> None:
        edge = use.edges[0]
        target = self._definition(edge.target)
        if target is not None:
            evidence = [at(known, one) for one in use.edges]
            what = (target.definition, edge.rule, edge.confidence)
            self.hops.add_definition(place.hop, "call", *what, evidence=evidence, work=use.work)

    def _loop(self, place: Place, known: Known, use: Use) -> None:
        edge, places = use.edges[0], [at(known, one) for one in use.edges]
        what = (edge.symbol, places[0], edge.rule, edge.confidence)
        choices = use.choices
        self.hops.add(place.hop, "call", *what, evidence=places[1:], choices=choices, work=use.work)

    def _library(self, place: Place, known: Known, use: Use) -> None:
        edge = use.edges[0]
        library = str(edge.target)
        rule = f"runs code of {library}" if library in APPLE else f"a function of {library}"
        what = (edge.symbol, at(known, edge), rule, edge.confidence)
        details: Details = {"note": library, "choices": use.choices, "work": use.work}
        self.hops.add(place.hop, "library", *what, evidence=other_lines(known, use), **details)

    def _operator_call(self, place: Place, known: Known, use: Use) -> None:
        """Lists a call of an operator, expanded if the kernel computes through it."""
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
            at(known, edge),
            rule,
            sure,
            note=", ".join(names),
            evidence=other_lines(known, use),
            choices=use.choices,
            work=use.work,
        )
        follows = place.follows and self.works.leads(nodes[0]) and not own
        follows = follows and use.work in ON_THE_WAY
        self.walk.first_dispatch(place.below(hop, (), use.cost), nodes, follows)

    def _stub_call(self, place: Place, known: Known, use: Use) -> None:
        edge = use.edges[0]
        name = edge.symbol.rpartition("::")[2]
        passed = edge.kind == "passed stub"
        how = "passed on by name" if passed else "called through its dispatch table"
        evidence = [declared.location for declared in lines_of(self.facts, str(edge.target))[:1]]
        evidence += other_lines(known, use)
        hop = self.hops.add(
            place.hop,
            "call",
            name,
            at(known, edge),
            f"{name} is a stub, {how}",
            edge.confidence,
            evidence=evidence,
            choices=use.choices,
            work=use.work,
        )
        self.walk.enter(place.below(hop, use.nodes, use.cost))


def _sameness(edge: Edge) -> object:
    """The key by which calls share a row: of one function, or of one operator or stub on one
    line."""
    if edge.kind in TO_DEFINITIONS:
        return edge.kind == "launch", edge.target
    if edge.kind == "loop":
        return edge.kind, edge.symbol
    return edge.line, edge.symbol, edge.kind, edge.target if edge.kind == "library" else ""


def _common(conditions: Iterable[tuple[Choice, ...]]) -> tuple[Choice, ...]:
    """The common beginning of conditions."""
    first, *others = conditions
    while any(one[: len(first)] != first for one in others):
        first = first[:-1]
    return first


def _unusual(use: Use, nodes: Sequence[Node]) -> int:
    """The number of a call's conditions that do not hold for usual tensors."""
    devices = {node.device for node in nodes} - {""} or {*MAIN_KEYS}
    return sum(all(taken(one, device) is False for device in devices) for one in use.choices)


def _merged(uses: Iterable[Use]) -> list[Use]:
    """Merges calls of one target under the same conditions."""
    found: dict[object, Use] = {}
    for use in uses:
        edge, targets = use.edges[0], tuple(edge.target for edge in use.edges)
        kept = found.setdefault((edge.kind, edge.symbol, targets, use.choices), use)
        if kept is not use:
            kept.edges += use.edges
    return list(found.values())
