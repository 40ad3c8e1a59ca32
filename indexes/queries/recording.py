"""What autograd records of a composite operator: the operators that its kernels call, and which of
them makes the result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from indexes.linking.facts import Edge
from indexes.linking.usual_conditions import Defaults, is_nested, taken
from indexes.linking.works import makes_new
from indexes.model.answers import Route
from indexes.model.regex import regex
from indexes.model.schema import Schema, parse_schema
from indexes.model.vocabulary import OUT_RAISES, DerivativeEntry
from indexes.queries.routing.argument_values import defaults_of
from indexes.queries.routing.conditions import Order
from indexes.store.lookup import Lookup

_IMPLICIT = "CompositeImplicitAutograd"
_TO_OPERATORS = frozenset(("operator", "passed operator", "accessor"))
"""What goes through the dispatcher, unlike ``at::cpu::add``."""
_TO_FUNCTIONS = frozenset(("call", "passed", "functor", "chooser"))
_FILLS = frozenset(("fill_", "zero_"))
_SIGN = "operator"
_NAMES = regex(r"\w+")


class Recorded(NamedTuple):
    """What autograd records of an operator."""

    entry: DerivativeEntry | None
    """Of the operator that computes, or makes the result; None if it is not known."""
    carries: bool
    """Whether a gradient can reach the result."""
    then: str = ""
    """The Node of what makes the result, if that is another operator."""
    why: str = ""
    """What is known where there is no entry."""


_NO_FORMULA = "nothing that it calls has a formula for its result"
_RAISES = "{} raises when an argument requires grad"


def of_composite(facts: Lookup, name: str, found: Sequence[Route]) -> Recorded | None:
    """What is recorded of an operator with these routes, if it is made of others on their device:
    the operator on its usual route and what makes its result, or the only one."""
    native, device = facts.native(name), found[0].device if found else "CPU"
    recording = Recording(facts, device, defaults_of(native) if native else ())
    if not recording.is_composite(name):
        return None
    if why := recording.refusal(found):
        return Recorded(None, False, why=why)
    carriers = recording.carriers(name)
    if carriers is not None and not carriers:
        return Recorded(None, False, why=_NO_FORMULA)
    routed, made = [*map(recording.first, found)], recording.maker(name)
    entries = {one: entry for one in (*routed, made) if (entry := recording.entry(one))}
    for one in (*routed[:1], made):
        if one in entries and not _nodes(entries[one]):
            return Recorded(entries[one], False)
    known = {o: e for o, e in entries.items() if _nodes(e) and o in (carriers or entries)}
    if not known and recording.is_unseen(found):
        return Recorded(None, False, why=_NO_FORMULA)
    if not known and (only := recording.only(name, carriers or frozenset(), found)):
        if (entry := recording.entry(only)) is None:
            return Recorded(None, True, why=f"by {only}, written by hand")
        known = {only: entry}
    via = min(known, key=lambda one: _is_of_zeros(known[one]), default="")
    last = known.get(made) if made != via else None
    return Recorded(known.get(via), True, _nodes(last)[0] if last else "")


def _nodes(entry: DerivativeEntry) -> list[str]:
    return [one.grad_fn for one in entry.sets if one.grad_fn]


def _is_of_zeros(entry: DerivativeEntry) -> bool:
    """Whether its gradients are zeros, as of operators that fill a tensor with new values."""
    formulas = [one for node in entry.sets for one in node.formulas if one.kind == "gradient"]
    return all(one.text.startswith("zeros_like(") for one in formulas)


class _Call(NamedTuple):
    edge: Edge
    usual: bool
    """Whether all conditions on it hold in the usual case."""


class Recording:
    """Finds what autograd records on a device."""

    def __init__(self, facts: Lookup, device: str, defaults: Defaults) -> None:
        self.facts = facts
        self.device = device
        self.defaults = defaults
        self.below = lru_cache(256)(self._find_below)
        self._order = Order(facts)

    def is_composite(self, name: str) -> bool:
        """Whether autograd records what a composite kernel calls: the dispatcher takes it before a
        formula, unless there is a kernel for the device or an explicit composite one."""
        keys = {row.key for row in self.facts.kernels(name)}
        return _IMPLICIT in keys and keys.isdisjoint((self.device, "CompositeExplicitAutograd"))

    def entry(self, name: str) -> DerivativeEntry | None:
        """The derivative entry of an operator."""
        return self.facts.derivative(name)[0]

    def has_nodes(self, name: str) -> bool:
        """Whether an operator records a Node."""
        entry = self.entry(name)
        return bool(_nodes(entry)) if entry else name in self.facts.differentiated_by_hand

    def carriers(self, name: str) -> frozenset[str] | None:
        """The recorded operators that may carry the gradient of a composite one to its result; None
        if it is not known whether there are any. Those of one that changes its argument change
        theirs; those of one that makes a tensor from options make one. A view of what has no Node
        carries none."""
        schema, below = self._schema(name), self.below(name)
        carry = frozenset(filter(self.has_nodes, below))
        if _changes(schema):
            carry = frozenset(one for one in carry if _changes(self._schema(one)))
        elif makes_new(schema):
            carry = frozenset(one for one in carry if makes_new(self._schema(one)))
        work = self.facts.works.operator
        made = [one for one in below if work(one) not in ("helps", "allocates")]
        if made and not any(map(self.has_nodes, made)):
            carry = frozenset()
        edges = (edge for body in self._bodies(name) for edge in self.facts.edges(body))
        is_known = made or makes_new(schema) or any(edge.kind == "loop" for edge in edges)
        return carry if carry or is_known else None

    def first(self, route: Route) -> str:
        """The first operator on a route that autograd records: others are made of operators. Empty
        if the route ends before."""
        names = (one.symbol for one in route.via[1:] if self.facts.native(one.symbol))
        return next((one for one in names if not self.is_composite(one)), "")

    def refusal(self, found: Sequence[Route]) -> str:
        """Why no gradient passes the ``out`` overload on the usual route, if there is one."""
        name = self.first(found[0]) if found else ""
        if not name or not self._schema(name).out_arguments:
            return ""
        raises = self.facts.derivative(name)[1] == OUT_RAISES
        return _RAISES.format(name) if raises else _NO_FORMULA

    def is_unseen(self, found: Sequence[Route]) -> bool:
        """Whether the usual route computes without an operator, which autograd does not see."""
        return bool(found) and found[0].kind != "none" and not self.first(found[0])

    def only(self, name: str, carriers: frozenset[str], found: Sequence[Route]) -> str:
        """The one operator that can carry the gradient; empty if it is not certain. Where something
        is computed it has the operator's name, where nothing is it is a view."""
        if len(carriers) > 1 or self.may_compute(name):
            computes = bool(found) and found[0].kind != "none"
            alike = (one for one in carriers if self.may_compute(one) == computes)
            carriers = frozenset(o for o in alike if not computes or _is_kin(name, o))
        return next(iter(carriers)) if len(carriers) == 1 else ""

    def maker(self, name: str) -> str:
        """The recorded operator whose result a composite one returns: the last that its kernel
        calls in the usual case, in turn; empty if that is not certain."""
        schema, seen = self._schema(name), set[int | str]()
        if len(schema.returns) != 1:
            return ""
        changes = _changes(schema)
        at: int | str = name
        while not (isinstance(at, str) and not self.is_composite(at)):
            bodies = self._bodies(at)
            found = self._last(bodies[0], changes) if len(bodies) == 1 else None
            if found is None or found in seen or self._depends(name, at):
                return ""
            seen.add(found)
            at = found
        return at

    def may_compute(self, name: str) -> bool:
        """Whether an operator does more than to make a view or a new tensor."""
        return self.facts.works.operator(name) not in ("helps", "allocates")

    def _depends(self, name: str, called: int | str) -> bool:
        """Whether an operator calls one that makes another view or a copy, as the memory of what is
        computed before needs it: ``reshape``."""
        is_inside = isinstance(called, str) and called != name and not self.may_compute(called)
        return is_inside and self.may_compute(name) and len(self.below(called)) > 1

    # ------------------------------------------------------------------------- below

    def _bodies(self, at: int | str) -> Sequence[int]:
        """The numbers of the functions that a function or composite operator runs."""
        if isinstance(at, int):
            return [at]
        rows = (row for row in self.facts.kernels(at) if row.key == _IMPLICIT)
        known = (self.facts.known(one) for row in rows for one in row.definitions)
        return [one.id for one in known if one]

    def _find_below(self, start: int | str) -> frozenset[str]:
        """The recorded operators that a function or composite operator calls, in all branches."""
        found, seen, pending = set(), {start}, [start]
        while pending:
            at = pending.pop()
            if isinstance(at, str) and not self.is_composite(at):
                found.update([at] if self._makes(at) else [])
                continue
            new = {one for body in self._bodies(at) for one in self._targets(body)} - seen
            seen |= new
            pending += new
        return frozenset(found)

    def _steps(self, body: int) -> Iterator[Edge]:
        for edge in self.facts.edges(body):
            is_function = edge.kind in _TO_FUNCTIONS and isinstance(edge.target, int)
            if edge.kind in _TO_OPERATORS or is_function:
                yield edge

    def _targets(self, body: int) -> Iterator[int | str]:
        """What the steps of a body lead to, and the operators that an unknown call may mean."""
        yield from (edge.target for edge in self._steps(body))
        for edge in self.facts.edges(body):
            named = self.facts.overloads(edge.symbol) if edge.kind == "unknown" else ()
            yield from (one.full_name for one in named)

    def _makes(self, name: str) -> bool:
        """Whether an operator may be recorded: it makes or changes a tensor, and is no ``out``,
        which raises where an argument requires grad."""
        native = self.facts.native(name)
        schema = parse_schema(native.schema) if native else None
        if schema is None or schema.out_arguments or name.partition(".")[0] in _FILLS:
            return False
        return any(one.base_type == "Tensor" for one in schema.returns) or _changes(schema)

    def _schema(self, name: str) -> Schema:
        native = self.facts.native(name)
        assert native is not None
        return parse_schema(native.schema)

    # -------------------------------------------------------------------------- last

    def _last(self, body: int, changes: bool) -> int | str | None:
        """The target of the last call of a body that makes a tensor, of nested ones the outermost;
        None if its conditions are unknown, or several functions have its name."""
        calls = list(self._calls(body, changes))
        if not calls:
            return None
        last = max(enumerate(calls), key=lambda one: (one[1].edge.line, one[0]))[1]
        seen: list[_Call] = []
        while last not in seen:
            seen.append(last)
            around = (one for one in calls if one not in seen and self._is_given(last, one, calls))
            last = next(around, last)
        place = (last.edge.line, last.edge.symbol)
        targets = {o.edge.target for o in calls if (o.edge.line, o.edge.symbol) == place}
        is_sure = last.usual and len(targets) == 1 and not self._may_be_inside(last, calls)
        return last.edge.target if is_sure else None

    def _calls(self, body: int, changes: bool) -> Iterator[_Call]:
        for edge in self._steps(body):
            around = self.facts.conditions(edge) if edge.branch else ()
            known = [(one, taken(one, self.device, self.defaults)) for one in around]
            # That a branch within another does not leave is as usual as that the outer one ends.
            conditions = [one for one, holds in known if holds is not None or not is_nested(one)]
            held = [holds for one, holds in known if one in conditions]
            is_call = edge.kind in (*_TO_OPERATORS, "call") and False not in held
            if is_call and self._leads(edge.target, changes):
                yield _Call(edge, all(held) and all(one.arm != "case" for one in conditions))

    def _leads(self, target: int | str, changes: bool) -> bool:
        """Whether a call leads to what makes a tensor of others, or changes one."""
        work = self.facts.works.operator
        made = (o for o in self.below(target) if work(o) != "allocates" or self.has_nodes(o))
        return any(_changes(self._schema(one)) if changes else True for one in made)

    def _is_given(self, inner: _Call, outer: _Call, calls: Sequence[_Call]) -> bool:
        """Whether a call is given another's result, in one statement."""
        first, last = outer.edge, inner.edge
        if first.line > last.line or (first.line, first.symbol) == (last.line, last.symbol):
            return False
        name = last.symbol.rpartition("::")[2]
        given = (f"{one.arguments} {one.receiver}" for one in self._order.sites(first))
        between = (o.edge for o in calls if o.edge.symbol == last.symbol and o != inner)
        return any(name in _NAMES.findall(one) for one in given) and not any(
            first.line <= one.line < last.line for one in between
        )

    def _may_be_inside(self, sign: _Call, calls: Sequence[_Call]) -> bool:
        """Whether a sign may stand inside the brackets of a call: ``at::norm(a - b)``."""
        if not sign.edge.symbol.startswith(_SIGN):
            return False
        around = (o.edge for o in calls if o.edge.line == sign.edge.line)
        named = (one for one in around if not one.symbol.startswith(_SIGN))
        given = (site.arguments.split() for one in named for site in self._order.sites(one))
        return any(mark in "T?" for marks in given for mark in marks)


def _is_kin(*operators: str) -> bool:
    """Whether one of two operators is named as the other begins: ``linalg_eigvals``."""
    one, other = (name.partition(".")[0].strip("_") for name in operators)
    return one.startswith(other) or other.startswith(one)


def _changes(schema: Schema) -> bool:
    """Whether it changes an argument that is not only for its result."""
    return any(one.mutable and not one.is_out for one in schema.arguments)
