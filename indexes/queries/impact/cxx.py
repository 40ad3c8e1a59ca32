"""Edges from a C++ definition to what depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from indexes.linking.facts import Edge as Use
from indexes.linking.facts import Known
from indexes.linking.registrations import function_name, registered_function
from indexes.linking.visible import is_header
from indexes.model.vocabulary import Confidence, DerivativeEntry, Location
from indexes.queries.graph_places import callers_outside, uses_of
from indexes.queries.impact.dispatch import DispatchEdges, formula_node, stub_node
from indexes.queries.impact.facts import KernelUse
from indexes.queries.impact.graph import Edge, Node
from indexes.queries.impact.keys import Keys
from indexes.queries.impact.mentions import GeneratedCallers, names_outside_bodies
from indexes.queries.impact.unread import UnreadBodies
from indexes.queries.places import registrations_of
from indexes.readers.cxx.facts import keeps_bodies

MANY = 60
"""With more uses on receivers of unknown type, none is followed, and the answer says so."""
MAX_READ_FOR = 12
"""Definitions for which files are read whose bodies the index lacks."""
MAX_SEARCHES = 40
"""Names looked for in the texts of files, in one walk: a few hundredths of a second each. What is
left is said."""
_TEXTUAL = ("class", "enum", "global")
STRUCTURED_META = "structured meta"
"""The aspect of a structured operator's meta function, which its kernels of all backends run."""


class CppEdges(DispatchEdges):
    """Edges out of C++ definitions, and those of what they lead to."""

    # -------------------------------------------------------------------- definitions

    def of_definition(self, known: Known, first: bool, keys: Keys | None = None) -> Iterator[Edge]:
        """What a definition reaches that runs with some dispatch keys, or any. ``first`` is for
        what changes itself: its uses are looked for in files whose bodies the index does not keep
        too."""
        yield from self._kernels(known, keys)
        kind = known.definition.kind
        if kind == "macro_use":
            for made in self.facts.same_place(known):
                yield Edge(Node.of(made), "the body of what this macro use defines", None)
        if kind == "macro":
            yield from self._made(known)
        if kind == "class":
            yield from self._functor(known)
        yield from self._stubs(known)
        yield from self._uses(known, first)
        yield from self._formula_entries(known)
        yield from self._registrations(known, keys)
        if first and self._is_read_for(known):
            yield from self.generated.of(known)

    @cached_property
    def generated(self) -> GeneratedCallers:
        """What generated code calls."""
        return GeneratedCallers(self.facts.corpus, self.facts.generated_registrations)

    def _kernels(self, known: Known, keys: Keys | None) -> Iterator[Edge]:
        path = self._yaml
        grouped: dict[tuple[str, str], list[KernelUse]] = {}
        for use in self.facts.kernel_uses(known):
            if self._served(use.op, use.key, keys):
                grouped.setdefault((use.op, self._aspect(use.op, use.key)), []).append(use)
        for (op, aspect), uses in grouped.items():
            named = dict.fromkeys(u.key for u in uses)
            rule = f"its kernel for {', '.join(named)}: {uses[0].rule}"
            if aspect == STRUCTURED_META:
                rule = "its meta function, which its kernels of all backends call first"
            at = Location(path, uses[0].line)
            node = self.facts.operator(op, aspect)
            node = replace(node, keys=frozenset().union(*(self._serving(op, k) for k in named)))
            yield Edge(node, rule, at, uses[0].confidence)

    def _aspect(self, op: str, key: str) -> str:
        return STRUCTURED_META if self._is_structured_meta(op, key) else _aspect(key)

    def _is_structured_meta(self, op: str, key: str) -> bool:
        native = self.facts.native(op)
        return key == "Meta" and bool(native and (native.structured or native.structured_delegate))

    def _serving(self, op: str, key: str) -> Keys:
        """The backends on which an operator's kernel for a key runs."""
        keys = self.facts.keys
        if self._is_structured_meta(op, key):
            return keys.of_operator(op)
        return keys.serving(op, key) or keys.every

    def _served(self, op: str, key: str, keys: Keys | None) -> bool:
        """Whether an operator's kernel for a key is reached with some keys; others are recorded."""
        if keys is None or self._serving(op, key) & keys:
            return True
        self.other_keys.setdefault(op, set()).add(key)
        return False

    @cached_property
    def _yaml(self) -> str:
        first = self.facts.native(self.facts.operator_names[0])
        return first.location.path if first else ""

    def _made(self, macro: Known) -> Iterator[Edge]:
        for made in self.facts.made_by(macro.definition):
            yield Edge(Node.of(made), "a use of the macro defines it", made.definition.location)

    def _functor(self, owner: Known) -> Iterator[Edge]:
        inside = owner.definition.location
        for method in self.facts.methods(owner.definition):
            where = method.definition.location
            if where.path == inside.path and inside.line <= where.line <= inside.end_line:
                continue  # found by its own change
            yield Edge(Node.of(method), "a method of the class", where, "by rule")

    def _stubs(self, known: Known) -> Iterator[Edge]:
        """The stubs that it is registered on; for a removed one, those that still name it."""
        if known.definition.kind != "function":
            return
        if known.id < 0:
            uses = self.facts.registrations_in(known.definition.location.path)
            gone = known.definition.name
            uses = [u for u in uses if function_name(registered_function(u)) == gone]
        else:
            entries = self.facts.registered_as(known.id)
            places = {entry.location for entry in entries}
            stubs = dict.fromkeys(entry.stub for entry in entries)
            named = (u for s in stubs for u in self.facts.stub_uses(s.rpartition("::")[2]))
            uses = [use for use in named if use.location in places]
        for use in uses:
            yield Edge(stub_node(use), f"{use.macro} registers it on the stub", use.location)

    def _registrations(self, known: Known, keys: Keys | None) -> Iterator[Edge]:
        for hit in registrations_of(self.facts, known) if known.id >= 0 else ():
            key, _, op = hit.name.partition(": ")
            if ("::" in op or hit.op) and self._served(hit.op or op, key, keys):
                node = self.facts.operator(hit.op or op, _aspect(key, "registration"))
                node = replace(node, keys=self._serving(hit.op or op, key))
                yield Edge(node, f"TORCH_LIBRARY registers it for {key}", hit.location)

    # --------------------------------------------------------------------------- uses

    def direct_uses(self, known: Known) -> list[Edge]:
        """Every function that uses a definition, in whichever file, name-only uses too."""
        others = [*self.facts.untold_uses(known), *self._other_uses(known, True)]
        return _each_once([*self._indexed_uses(known), *others])

    def _uses(self, known: Known, first: bool) -> list[Edge]:
        others = [*self.facts.untold_uses(known)]
        is_plain_macro = known.definition.kind == "macro" and known.id < 0
        if first or known.definition.kind in _TEXTUAL or is_plain_macro:
            others += self._other_uses(known, first)
        return _each_once([*self._indexed_uses(known), *self._reliable(known, others)])

    def _indexed_uses(self, known: Known) -> Iterator[Edge]:
        yield from self._callers(uses_of(self.facts, known))
        if known.definition.name == "operator()":
            yield from self._class_of(known)

    def _callers(self, uses: Iterable[Use]) -> Iterator[Edge]:
        return (edge for use in uses for edge in self._caller(use, use.rule))

    def _class_of(self, method: Known) -> Iterator[Edge]:
        owner = method.definition.scope.rpartition("::")[2]
        for one in self.facts.named(owner):
            found = one.definition
            if found.kind == "class" and found.qualified == method.definition.scope:
                yield Edge(Node.of(one), "the operator() of the class", found.location)

    def _other_uses(self, known: Known, first: bool) -> Iterator[Edge]:
        """Uses found in texts only: names of types and values, bodies that the index lacks."""
        found = known.definition
        if found.kind == "macro_use" or not found.name.isidentifier():
            if found.name != "operator()" and found.name.startswith("operator"):
                self.unfollowed.append(
                    f"{found.qualified}: uses of an operator sign are not followed"
                )
            return
        self._searches += 1
        if self._searches > MAX_SEARCHES and not first:
            self.unfollowed.append(f"{found.qualified}: its uses were not looked for")
            return
        yield from names_outside_bodies(known, self.facts, first)
        local = _is_local(known) or found.kind in _TEXTUAL
        if first and not local and self._is_read_for(known):
            yield from self._callers(self._unread.edges_to(known, self.unfollowed))

    def _is_read_for(self, known: Known) -> bool:
        self._read_for.setdefault(known.id)
        if len(self._read_for) <= MAX_READ_FOR:
            return True
        self.unfollowed.append(
            f"after {MAX_READ_FOR} definitions that change: calls in generated code, in tests of"
            " C++ and outside of aten and autograd were not looked for: torchnav callers NAME does"
        )
        return False

    @cached_property
    def _unread(self) -> UnreadBodies:
        return UnreadBodies(self.facts)

    def _reliable(self, known: Known, edges: list[Edge]) -> list[Edge]:
        """The edges without name-only uses, if there are so many that they would reach
        everything."""
        sure = [edge for edge in edges if edge.confidence != "ambiguous"]
        left = len(edges) - len(sure)
        if left <= MANY:
            return edges
        self.unfollowed.append(
            f"{known.definition.qualified}: {left} more functions use that name, and it can't be"
            " told whether they mean it: not followed"
        )
        return sure

    # ------------------------------------------------------------------------- autograd

    def _formula_entries(self, known: Known) -> Iterator[Edge]:
        if known.definition.kind == "function":
            named = known.definition.name
            uses = (use for use in self.facts.edges_to(known.id) if use.caller < 0)
            yield from self.formulas(uses, f"calls {named}")
            if known.id < 0:
                yield from self._formulas_naming(named)

    def _formulas_naming(self, gone: str) -> Iterator[Edge]:
        for entry in self.facts.entries_with(gone):
            for function in self.functions_of(entry):
                if function.name.rpartition("::")[2] == gone:
                    rule = f"the formula for {', '.join(function.formula.inputs)} calls it"
                    at = function.formula.location
                    yield Edge(formula_node(entry, function.formula), rule, at, "by rule")

    def of_formula(self, node: Node) -> Iterator[Edge]:
        """The operators whose backward a formula computes."""
        assert node.location
        for op in self.operators_of_entry(node.location.line):
            rule = "derivatives.yaml: its backward computes this formula"
            yield Edge(self.facts.operator(op, "backward"), rule, node.location)

    def of_outside(self, node: Node) -> Iterator[Edge]:
        """The functions that call one which the tree does not define."""
        for known, place in callers_outside(self.facts, node.symbol):
            yield Edge(Node.of(known), "called here", place)

    def operators_of_entry(self, line: int) -> list[str]:
        """The overloads that the entry around a line of derivatives.yaml differentiates."""
        for entry in self._entries:
            if entry.location.covers(line):
                return self.facts.differentiated(entry.op) or [entry.op]
        return []

    @cached_property
    def _entries(self) -> Sequence[DerivativeEntry]:
        return self.facts.entries()


def _each_once(edges: Iterable[Edge]) -> list[Edge]:
    rank: dict[Confidence, int] = {"exact": 0, "by rule": 1, "ambiguous": 2}
    found: dict[str, Edge] = {}
    for edge in sorted(edges, key=lambda one: rank[one.confidence]):
        found.setdefault(edge.node.key, edge)
    return list(found.values())


def _is_local(known: Known) -> bool:
    found = known.definition
    local = "(anonymous)" in found.scope or found.kind == "macro"
    return local and not is_header(found.location.path) and keeps_bodies(found.location.path)


def _aspect(key: str, otherwise: str = "kernel") -> str:
    if "Meta" in key:
        return "meta"
    if key.startswith("FuncTorch") or "Batched" in key:
        return "batch rule"
    if "Autograd" in key and not key.startswith("Composite"):
        return "backward"
    return otherwise
