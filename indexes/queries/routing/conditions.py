"""What is known of conditions on a way: what the order of a body tells, where the last step writes
what is given back; what the arguments of functions are; what it costs that an arm is taken."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import attrgetter

from indexes.linking.facts import Call, Edge, StubEntry, arguments_of
from indexes.linking.graph import Node, Step, node_kind
from indexes.linking.usual import (
    NONE,
    Defaults,
    asked_all,
    flag_of,
    holds,
    is_of_few,
    is_of_one_value,
    taken,
    value_of,
)
from indexes.model.files import GIVEN_SEPARATOR
from indexes.model.idioms import split_outside
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Choice, Definition, Location, NativeFunction
from indexes.store.lookup import Lookup

_CALLS = frozenset(("call", "stub", "passed stub", "operator"))
_OBJECTS = frozenset(("graph", "metal"))
"""What is set up step by step on objects: the last message to one is no step of its own."""
_EARLIER = 1.0
"""What it costs that something else computes afterwards in the same body."""
_BEFORE = 0.05
"""What each costs that follows: of what costs the same the last is the answer."""

_WARNS = "TORCH_WARN"
_LINE = attrgetter("line")
_NAME = regex(r"\w+(?=\s*(?:=.*)?$)")
"""The name of a parameter."""
_LINEAR = "linalg"
"""Of its operators, which take a matrix or batches of them, the usual case is a matrix."""
_LEFT_OUT = regex(
    r"(?:Sym)?[Ii]nt\b|ScalarType\b|str\b|(?:float|bool|Generator|Layout|Device|MemoryFormat)\?$"
)
"""Types of arguments that most callers leave out where they can."""
UNUSUAL = 15.0
_UNKNOWN = {"then": 2.5, "case": 5.0, "else": 0.5, "otherwise": 0.25}
"""What a condition costs of which nothing is known; one of a single value is like a case."""
_BESIDE_USUAL = 2.0
"""What another case of a switch costs more, of which one is known to hold on the device."""
_CASE = 1.0
"""What the case of a switch costs that holds on the device."""
_FALLBACK = "slow"
"""How PyTorch calls what runs where no library does: ``ConvBackend::SlowTranspose2d``."""
_CAPITALISED = regex(r"[A-Z][a-z]+")
"""The words of ``SlowTranspose2d``."""
_WORDS = regex(r"[a-z]{6,}")
_Values = Sequence[str | None]


class Order:
    """Reads bodies in their order. Answers are kept while it lives."""

    def __init__(self, facts: Lookup) -> None:
        self.facts = facts
        self.works = facts.works
        self._parts = lru_cache(4096)(self._find_parts)
        self._warned = lru_cache(1024)(self._find_warned)

    def choices(self, edge: Edge) -> tuple[Choice, ...]:
        """The conditions that an edge is passed under; of what a macro holds, for launches alone.
        A macro that is written in a case of a switch is written in the others too."""
        if not edge.branch or (edge.macro and edge.kind != "launch"):
            return ()
        found = self.facts.conditions(edge)
        return found[:-1] if edge.macro and found[-1].arm == "case" else found

    def price(self, edge: Edge, device: str, defaults: Defaults) -> float:
        """What it costs that something else computes after an edge wherever this one is passed."""
        computing, calls = self._parts(edge.caller)
        if edge in computing:
            after = sum(self._follows(one, edge, device, defaults) for one in computing)
            return after and _EARLIER + _BEFORE * after
        if edge not in calls:
            return 0.0
        later = self.later(edge, device, defaults)
        return _BEFORE * any(self._leads(one, device) for one in later)

    def later(self, edge: Edge, device: str, defaults: Defaults) -> Iterator[Edge]:
        """What a body calls after an edge wherever this one is passed."""
        calls = self._parts(edge.caller)[1]
        below = calls[bisect_right(calls, edge.line, key=_LINE) :]
        return (one for one in below if self._follows(one, edge, device, defaults))

    def is_of_many(self, edge: Edge, device: str, defaults: Defaults) -> bool:
        """Whether a body computes in several steps, one after another, of which an edge is one."""
        computing, calls = self._parts(edge.caller)
        if edge not in computing:
            return False
        others = (*computing, *(one for one in calls if self._leads(one, device)))
        return any(
            self._follows(one, edge, device, defaults) or self._follows(edge, one, device, defaults)
            for one in others
        )

    def _find_parts(self, caller: int) -> tuple[Sequence[Edge], Sequence[Edge]]:
        """What of a body computes, and what it calls else."""
        known = self.facts.by_id(caller)
        found = self.works.computing_edges(known) if known else []
        computing = [edge for edge, kind in found if kind not in _OBJECTS]
        others = (edge for edge in self.facts.edges(caller) if edge.kind in _CALLS)
        return computing, sorted((one for one in others if one not in computing), key=_LINE)

    def _follows(self, later: Edge, edge: Edge, device: str, defaults: Defaults) -> bool:
        """Whether an edge is passed after another, wherever that is, in the usual case."""
        if later.line <= edge.line or later.symbol == edge.symbol or later.macro or edge.macro:
            return False
        here = {(one.text, one.arm) for one in self.choices(edge)}
        builds = any(arm == "#if" for _, arm in here)
        further = (one for one in self.choices(later) if (one.text, one.arm) not in here)
        return all(
            (one.arm == "#if" and not builds) or taken(one, device, defaults) for one in further
        )

    def _leads(self, edge: Edge, device: str) -> bool:
        kind = node_kind(edge)
        return kind is not None and self.works.leads(Node(kind, edge.target, device))

    def warns(self, choice: Choice, caller: int) -> bool:
        """Whether a body warns of that an arm is taken: that is not the usual case."""
        return choice.arm != "otherwise" and choice in self._warned(caller)

    def _find_warned(self, caller: int) -> frozenset[Choice]:
        """The arms in which a body warns, but for those of which the others warn too."""
        edges = (one for one in self.facts.edges(caller) if one.symbol.startswith(_WARNS))
        found = {arms[-1] for one in edges if (arms := self.choices(one))}
        often = Counter(one.text for one in found)
        return frozenset(one for one in found if often[one.text] == 1)

    def likeness(self, choice: Choice, caller: int) -> str:
        """The arm that one is like of which nothing is known: of one value or few, a case; but
        where more is made for that value than for all others, as for the softmax of the last
        dimension, it is the usual one."""
        if not is_of_one_value(choice):
            return "case" if is_of_few(choice) else choice.arm
        computing = self._parts(caller)[0]
        arms = [{c.arm for c in self.choices(e) if c.text == choice.text} for e in computing]
        ones, others = (sum(arm in one for one in arms) for arm in ("then", "else"))
        if others and ones > others:
            return "otherwise" if choice.arm == "then" else "then"
        return "case" if choice.arm == "then" else choice.arm

    def is_specialised(self, edge: Edge) -> bool:
        """Whether a function is that of a class for one type alone: C++ wants the template before
        its specialisations."""
        edges = self.facts.edges(edge.caller) if edge.kind == "functor" else ()
        same = {one.target for one in edges if (one.line, one.symbol) == (edge.line, edge.symbol)}
        found = self.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        others = (self.facts.by_id(one) for one in same if isinstance(one, int))
        return any(found and one and _is_before(one.definition, found.definition) for one in others)


def _is_before(one: Definition, other: Definition) -> bool:
    """Whether a method stands in front of one of the same class with the same parameters."""
    if (one.scope, one.parameters) != (other.scope, other.parameters):
        return False
    place, later = one.location, other.location
    return place.path == later.path and place.line < later.line


@dataclass(slots=True)
class Walk:
    """The cheapest ways found so far from one operator, for one device."""

    device: str
    native: NativeFunction
    before: dict[Node, tuple[Node, Step] | None] = field(default_factory=dict)
    defaults: Defaults = ()
    """What the operator's arguments are that nobody gives."""
    base: dict[Node, str] = field(default_factory=dict)
    """The name of the operator whose kernel a node is, by which its functions are often named."""
    operator: dict[Node, str] = field(default_factory=dict)
    """The full name of that operator."""
    given: dict[tuple[Node, bool], Defaults] = field(default_factory=dict)
    """What the arguments of functions are, as far as anybody asked; and what they always are."""
    passed: dict[tuple[Node, bool], _Values] = field(default_factory=dict)
    """What stubs are given, in order."""


class Given:
    """Tells what arguments are."""

    def __init__(self, facts: Lookup) -> None:
        self.facts = facts

    def inside(self, walk: Walk, caller: int, always: bool = False) -> Defaults:
        """What a function on a way is given; ``always``, whatever a user gives the operator."""
        node = Node("definition", caller, walk.device)
        if node in walk.before:
            return self._of(walk, node, always)
        return () if always else walk.defaults

    def _of(self, walk: Walk, node: Node, always: bool) -> Defaults:
        if (node, always) not in walk.given:
            before, given = walk.before[node], () if always else walk.defaults
            walk.given[node, always] = self._behind(walk, *before, always) if before else given
        return walk.given[node, always]

    def _behind(self, walk: Walk, upper: Node, step: Step, always: bool) -> Defaults:
        """What is given where a step leads."""
        here, lower, why = self._of(walk, upper, always), step.lower, step.why
        if isinstance(why, Edge):
            values = self._values(walk.device, here, why)
            if lower.kind == "stub" and values:
                walk.passed[lower, always] = values[1][1:]  # behind the device
            return self._called(here, lower, *values) if values else here
        if isinstance(why, StubEntry):
            passed = walk.passed.get((upper, always))
            return here if passed is None else _assigned(here, self._names(lower), passed)
        native = self.facts.native(why.op) if lower.kind == "definition" else None
        return _renamed(here, native, self._names(lower)) if native else here

    def _values(self, device: str, here: Defaults, edge: Edge) -> tuple[Call, _Values] | None:
        """What a call gives; None where that is not known."""
        call = self._site(edge) if not edge.macro and edge.kind != "functor" else None
        marks = arguments_of(call) if call else None
        if call is None or marks is None or call.kind == "name":
            return None
        written = call.given.split(GIVEN_SEPARATOR) if call.given else []
        values = [value_of(one, device, here) if one else None for one in written]
        return call, values + [None] * (len(marks) - len(values))

    def _called(self, here: Defaults, lower: Node, call: Call, values: _Values) -> Defaults:
        """What is known where a call leads."""
        if lower.kind == "definition":
            return _assigned(here, self._names(lower), values)
        native = self.facts.native(str(lower.what)) if lower.kind == "operator" else None
        return _asked(here, native, call, values) if native else here

    def _site(self, edge: Edge) -> Call | None:
        """The call that an edge is; None where several may be."""
        caller, name = self.facts.by_id(edge.caller), edge.symbol.rpartition("::")[2]
        sites = self.facts.sites(caller) if caller else ()
        place = (name, edge.line, edge.branch)
        found = [one for one in sites if (one.name, one.line, one.branch) == place]
        return found[0] if len({(one.arguments, one.given) for one in found}) == 1 else None

    def _names(self, node: Node) -> list[str]:
        """What a function calls its parameters."""
        known = self.facts.by_id(node.what) if isinstance(node.what, int) else None
        parts = split_outside(known.definition.parameters, angles=True) if known else ()
        return [found[0] if (found := _NAME.search(one)) else "" for one in parts]


def _assigned(here: Defaults, names: Sequence[str], values: _Values) -> Defaults:
    """What parameters are that are given some values; other names are as they were, and so is what
    is given an expression: mostly that converts what bore the name before."""
    given = {n: value for n, value in zip(names, values, strict=False) if value is not None}
    kept = [one for one in here if one[0].removesuffix("?") not in given]
    return (*kept, *(pair for name, value in given.items() for pair in _said(name, value)))


def _said(name: str, value: str) -> Iterator[tuple[str, str]]:
    yield name, value
    yield f"{name}?", str(value != NONE)


def _asked(here: Defaults, native: NativeFunction, call: Call, values: _Values) -> Defaults:
    """What an operator is given; what its call leaves out is as the schema says."""
    ordered = parse_schema(native.schema).in_cpp(call.kind == "member", call.name.endswith("_outf"))
    found = list(_assigned(here, [one.name for one in ordered], values))
    for one in ordered[len(values) :]:
        if one.default is not None:
            found += _said(one.name, one.default)
    return tuple(found)


def _renamed(here: Defaults, native: NativeFunction, names: Sequence[str]) -> Defaults:
    """What the kernel of an operator is given, under the names that it has for it."""
    given = dict(here)
    arguments = parse_schema(native.schema).arguments
    pairs = [(one.name, name) for one, name in zip(arguments, names, strict=False)]
    ends = [(one + end, name + end) for one, name in pairs if one != name for end in ("", "?")]
    return (*here, *((name, given[one]) for one, name in ends if one in given))


def defaults_of(native: NativeFunction) -> Defaults:
    """What an operator's arguments are that a user does not give, and whether numbers and types
    that it can do without are given, and what it writes into."""
    schema = parse_schema(native.schema)
    scalars = [one for one in schema.arguments if one.type == "Scalar?"]
    single = "Scalar?" if len(scalars) == 1 else ""  # of several, one has to be given
    found: list[tuple[str, str]] = [("out?", str(bool(schema.out_arguments)))]
    found += [("batch_size", "1")] * _is_linear(native)
    for one in schema.arguments:
        if one.default is not None:
            found.append((one.name, one.default))
        if one.default == NONE and (_LEFT_OUT.match(one.type) or one.type == single):
            found.append((f"{one.name}?", "False"))
    return tuple(found)


def _is_linear(native: NativeFunction) -> bool:
    """Whether an operator is of linear algebra, by its module or its name."""
    return _LINEAR in (native.python_module, native.name.strip("_").partition("_")[0])


class Conditions:
    """Tells what conditions cost. Answers are kept while it lives."""

    def __init__(self, facts: Lookup, order: Order, given: Given) -> None:
        self.facts = facts
        self.order = order
        self.given = given
        self._asks_the_unusual = lru_cache(1024)(self._find_asking)
        self._switches = lru_cache(1024)(self._find_switches)

    def price(self, choice: Choice, walk: Walk, caller: int) -> float:
        if self._is_asked(choice, walk):
            return 0.0
        usual = taken(choice, walk.device, self.given.inside(walk, caller))
        if self.order.warns(choice, caller):
            usual = False
        if usual is None:
            usual = self._is_own_flag(choice, walk, caller)
        if usual is None and any(self._asks_the_unusual(name) for name in asked_all(choice)):
            usual = choice.arm in ("else", "otherwise")
        if usual is None:
            price = _UNKNOWN.get(self.order.likeness(choice, caller), 1.0)
            return price / _labels(choice) + _BESIDE_USUAL * self._is_beside_usual(
                choice, walk, caller
            )
        return _CASE * (choice.arm == "case") if usual else UNUSUAL

    def _is_beside_usual(self, choice: Choice, walk: Walk, caller: int) -> bool:
        """Whether another case of the same switch is the usual one on a device."""
        if choice.arm != "case":
            return False
        head = choice.text.partition(" case ")[0]
        return head in self._switches(caller, walk.device)

    def _find_switches(self, caller: int, device: str) -> frozenset[str]:
        """The switches of a body that have a case which is the usual one on a device."""
        cases = (one for one in self.facts.branches(caller) if one.arm == "case")
        usual = (c for c in cases if taken(Choice(c.text, c.arm, Location("", c.line)), device))
        return frozenset(one.text.partition(" case ")[0] for one in usual)

    def _find_asking(self, name: str) -> bool:
        """Whether a function asks others alone, each of them for what is not usual:
        ``use_mkldnn_matmul`` for ``use_mkldnn_bf16_matmul`` and for that of half precision."""
        asked = {
            edge.symbol.rpartition("::")[2]
            for known in self.facts.named(name)
            for edge in self.facts.edges(known.id)
            if edge.kind != "macro"
        }
        return bool(asked) and all(holds(one, "CPU") is False for one in asked)

    def _is_own_flag(self, choice: Choice, walk: Walk, caller: int) -> bool | None:
        """Whether an arm is taken that depends on a flag which bears an operator's name, as
        ``LogSoftMax`` does: it is set for that operator, be it on the way alone. None for another
        condition."""
        name, wanted = flag_of(choice) or ("", False)
        named = self.facts.overloads(self._flags[name]) if name in self._flags else ()
        if not named or self.facts.works.answers_alone(named[0].full_name):
            return None  # ``is_floating_point`` asks, and is no name of what runs
        passed = walk.operator.get(Node("definition", caller, walk.device), "").partition(".")[0]
        return (name in (_plain(walk.native.name), _plain(passed))) is wanted

    @cached_property
    def _flags(self) -> dict[str, str]:
        """What flags are called that bear the names of operators, of several words."""
        return {_plain(one): one for one in self.facts.bases if "_" in one.strip("_")}

    def _is_asked(self, choice: Choice, walk: Walk) -> bool:
        """Whether the case of a switch has a word of the operator's name."""
        if choice.arm != "case":
            return False
        label = choice.text.rpartition("::")[2]
        words = {word.lower() for word in _CAPITALISED.findall(label)}
        return _FALLBACK not in words and not words.isdisjoint(_WORDS.findall(walk.native.name))


def _labels(choice: Choice) -> int:
    """How many values lead to an arm; of a switch several may, but for those of fallbacks."""
    labels = choice.text.partition(" case ")[2].lower().split(", ")
    return max(sum(_FALLBACK not in one for one in labels), 1)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()
