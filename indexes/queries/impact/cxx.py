"""What is reached from a C++ definition: one edge at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from indexes.linking.facts import Call, Known
from indexes.linking.graph import device_of_key
from indexes.linking.meaning import is_method, meaning
from indexes.linking.visible import is_header
from indexes.model.vocabulary import Confidence, Definition, DerivativeEntry, Location
from indexes.queries.impact.dispatch import (
    MAX_SEARCHES,
    DispatchEdges,
    formula_node,
    stub_node,
    stubs_of,
)
from indexes.queries.impact.facts import KernelUse
from indexes.queries.impact.graph import Edge, Node
from indexes.queries.places_library import means
from indexes.readers.cxx.facts import holds_operators

MANY_CLASSES = 12
"""Calls of a method whose name more classes have are not looked for, but for what changes."""
MANY = 60
"""A name-only use that stands in more places than this is counted but not followed."""


class CppEdges(DispatchEdges):
    """Edges out of C++ definitions, and those of what they lead to."""

    # -------------------------------------------------------------------- definitions

    def of_definition(self, known: Known, first: bool, device: str = "") -> Iterator[Edge]:
        """What a definition reaches. ``first`` is for what changes itself: its uses are looked
        for in the texts of all files, those whose bodies the index does not keep too."""
        yield from self._kernels(known, device)
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
        if known.definition.name in self.facts.registered_words:
            yield from self._registrations(known)

    def _kernels(self, known: Known, device: str) -> Iterator[Edge]:
        path = self._yaml
        grouped: dict[tuple[str, str], list[KernelUse]] = {}
        for use in self.facts.kernel_uses(known):
            if device and device_of_key(use.key) not in ("", device):
                continue
            grouped.setdefault((use.op, _aspect(use.key)), []).append(use)
        for (op, aspect), uses in grouped.items():
            keys = ", ".join(dict.fromkeys(u.key for u in uses))
            rule = f"its kernel for {keys}: {uses[0].rule}"
            at = Location(path, uses[0].line)
            yield Edge(self.facts.operator(op, aspect), rule, at, uses[0].confidence)

    @cached_property
    def _yaml(self) -> str:
        first = self.facts.native(self.facts.operator_names[0])
        return first.location.path if first else ""

    def _made(self, macro: Known) -> Iterator[Edge]:
        for made in self.facts.made_by(macro.definition):
            yield Edge(Node.of(made), "a use of the macro defines it", made.definition.location)

    def _functor(self, owner: Known) -> Iterator[Edge]:
        """What a class holds changes with it."""
        inside = owner.definition.location
        for method in self.facts.methods(owner.definition):
            where = method.definition.location
            if where.path == inside.path and inside.line <= where.line <= inside.end_line:
                continue  # found by its own change
            yield Edge(Node.of(method), "a method of the class", where, "by rule")

    def _stubs(self, known: Known) -> Iterator[Edge]:
        if known.definition.kind != "function":
            return
        for use in stubs_of(known, self.facts):
            yield Edge(stub_node(use), f"{use.macro} registers it on the stub", use.location)

    def _registrations(self, known: Known) -> Iterator[Edge]:
        uses = self.facts.registered_words[known.definition.name]
        found = (one for use in uses for one in self.facts.registered(use))
        for hit, registered in found:
            key, _, op = hit.name.partition(": ")
            if not means(registered, known.definition):
                continue
            if "::" in op or hit.op:
                node = self.facts.operator(hit.op or op, _aspect(key, "registration"))
                yield Edge(node, f"TORCH_LIBRARY registers it for {key}", hit.location)

    # --------------------------------------------------------------------------- uses

    def direct_uses(self, known: Known) -> list[Edge]:
        """Every function that uses a definition, in whichever file, name-only uses too."""
        searched = self._searched_uses(known, True)
        return _each_once([*self._kept_uses(known), *searched, *self._constructions(known, True)])

    def _uses(self, known: Known, first: bool) -> list[Edge]:
        uses = [*self._kept_uses(known), *self._constructions(known, first)]
        if self._needs_search(known, first):
            uses += self._sure(known, list(self._searched_uses(known, first)))
        return _each_once(uses)

    def _constructions(self, known: Known, first: bool) -> Iterator[Edge]:
        """A constructor or destructor is used where its class is named."""
        owner = is_method(known, self.facts)
        if not owner or known.definition.name.lstrip("~") != owner:
            return
        for one in self.facts.named(owner):
            same = one.definition.qualified == known.definition.scope
            if same and one.definition.kind == "class":
                for edge in self._searched_uses(one, first):
                    yield replace(edge, rule=f"names {owner}, which it makes or ends")

    def _sure(self, known: Known, edges: list[Edge]) -> list[Edge]:
        """Without name-only uses, where they are so many that they would reach everything."""
        sure = [edge for edge in edges if edge.confidence != "ambiguous"]
        left = len(edges) - len(sure)
        if left <= MANY:
            return edges
        self.unfollowed.append(
            f"{known.definition.qualified}: {left} more functions use that name, and it can't be"
            " told whether they mean it: not followed"
        )
        return sure

    def _kept_uses(self, known: Known) -> Iterator[Edge]:
        """Uses whose calls the index keeps: those in files that can hold operators."""
        name = known.definition.name
        if name == "operator()":
            yield from self._functor_uses(known)
            return
        for caller, call in self.facts.callers(name):
            if caller.id != known.id and (edge := self._use(call, caller, "", known)):
                yield edge

    def _functor_uses(self, method: Known) -> Iterator[Edge]:
        owner = method.definition.scope.rpartition("::")[2]
        for one in self.facts.named(owner):
            found = one.definition
            if found.kind == "class" and found.qualified == method.definition.scope:
                yield Edge(Node.of(one), "the operator() of the class", found.location)

    def _needs_search(self, known: Known, first: bool) -> bool:
        found = known.definition
        if found.name.startswith("operator") and found.name != "operator()":
            self.unfollowed.append(f"{found.qualified}: uses of an operator sign are not followed")
        if found.kind == "macro_use" or not found.name.isidentifier():
            return False
        if found.kind == "macro" and not is_header(found.location.path):
            return True  # of several in its file, each use means the one above
        told = found.kind in ("function", "impl_func", "meta_func") and holds_operators(
            found.location.path
        )
        if not first and told and not is_method(known, self.facts):
            return False
        if not first:
            owners = {k.definition.scope for k in self.facts.named(found.name)}
            if is_method(known, self.facts) and len(owners) > MANY_CLASSES:
                self.unfollowed.append(
                    f"{found.qualified}: a method of that name is in {len(owners)} classes, so its"
                    " calls can't be told apart"
                )
                return False
            self._searches += 1
            if self._searches > MAX_SEARCHES:
                self.unfollowed.append(f"{found.qualified}: its uses were not looked for")
                return False
        return True

    def _searched_uses(self, known: Known, first: bool) -> Iterator[Edge]:
        found = known.definition
        for mention in self.facts.corpus.mentions(found.name, _where(found, first)):
            caller = mention.caller
            if caller is None or caller.id == known.id or caller.definition == known.definition:
                continue
            if edge := self._use(mention.call, caller, mention.receiver, known):
                yield edge

    def _use(self, call: Call, caller: Known, receiver: str, known: Known) -> Edge | None:
        meant = meaning(call, caller, receiver, known, self.facts)
        if meant is None:
            return None
        where = caller.definition.location
        at = Location(where.path, call.line or where.line)
        return Edge(Node.of(caller), meant.rule, at, meant.confidence, meant.candidates)

    # ------------------------------------------------------------------------- autograd

    def _formula_entries(self, known: Known) -> Iterator[Edge]:
        if known.definition.kind != "function":
            return
        for entry in self.facts.entries_with(known.definition.name):
            functions = [f for f in self._formulas(entry) if f.definition == known.definition]
            for function in functions:
                sure: Confidence = "exact" if function.candidates == 1 else "ambiguous"
                rule = f"the formula for {', '.join(function.formula.inputs)} calls it"
                node, at = formula_node(entry, function.formula), function.formula.location
                yield Edge(node, rule, at, sure, function.candidates)

    def of_formula(self, node: Node) -> Iterator[Edge]:
        """The operators whose backward a formula computes."""
        assert node.location
        for op in self.operators_of_entry(node.location.line):
            rule = "derivatives.yaml: its backward computes this formula"
            yield Edge(self.facts.operator(op, "backward"), rule, node.location)

    def operators_of_entry(self, line: int) -> list[str]:
        """The overloads that the entry around a line of derivatives.yaml differentiates."""
        for entry in self._entries:
            if entry.location.covers(line):
                return self.facts.differentiated(entry.op) or [entry.op]
        return []

    @cached_property
    def _entries(self) -> Sequence[DerivativeEntry]:
        return self.facts.entries()


def _each_once(edges: Sequence[Edge]) -> list[Edge]:
    """The first edge to each definition."""
    found: dict[str, Edge] = {}
    for edge in edges:
        found.setdefault(edge.node.key, edge)
    return list(found.values())


def _where(found: Definition, first: bool) -> Callable[[str], bool]:
    """The files in which a use can stand; further on, those whose bodies lead to operators."""
    local = "(anonymous)" in found.scope or found.kind == "macro"
    if local and not is_header(found.location.path):
        return lambda path: path == found.location.path
    return (lambda path: True) if first else (lambda p: holds_operators(p) or p.startswith("c10/"))


def _aspect(key: str, otherwise: str = "kernel") -> str:
    """What of an operator a dispatch key's registration is."""
    if "Meta" in key:
        return "meta"
    if key.startswith("FuncTorch") or "Batched" in key:
        return "batch rule"
    if "Autograd" in key and not key.startswith("Composite"):
        return "backward"
    return otherwise
