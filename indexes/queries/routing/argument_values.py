"""Values of arguments along a route: what calls pass, defaults from schemas, and the results of
short functions that decide a branch."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

from indexes.linking.facts import TO_OPERATORS, Call, Edge, Known, StubEntry, arguments_of
from indexes.linking.graph import CLONE, Node, Step
from indexes.linking.usual_conditions import (
    CASTS,
    NONE,
    OR,
    Defaults,
    answer_of,
    holds,
    is_limit,
    is_unusual,
    taken,
    value_of,
)
from indexes.linking.works import is_fill, is_view, moves
from indexes.model.files import GIVEN_SEPARATOR
from indexes.model.idioms import split_outside
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import NativeFunction
from indexes.store.lookup import Lookup

COMPOSITE = (
    "CompositeExplicitAutogradNonFunctional",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutograd",
)
_NAME = regex(r"\w+(?=\s*(?:=.*)?$)")
_VALUE = regex(r"\s*(?:true|false|-?\d+|[\w:]+::\w+)\s*$")
"""A template argument that is a value."""
_LINEAR = "linalg"
"""Matrix operators, for which a single matrix is the usual case."""
_LEFT_OUT = regex(
    r"(?:Sym)?[Ii]nt\b|ScalarType\b|str\b|(?:float|bool|Generator|Layout|Device|MemoryFormat)\?$"
)
"""Types of arguments that most callers omit if they can."""
_OF_MODULES = {"weight", "bias"}
"""The parameters of modules, of which a bias has one value for each output."""
_TRAINS = ("train", "training")
"""A flag set by modules, whose ``training`` is True by default."""
_CALLED = regex(r"(\w+)\s*\(")
_SAME = answer_of("is_same")
_CONTIGUOUS = "is_contiguous"
PROPERTIES = (".dim()", f".{_CONTIGUOUS}()")
"""What is known of tensors by name."""
SPREAD: Defaults = ((answer_of(_CONTIGUOUS), "False"),)
"""What a copy is told of a tensor whose elements do not lie one after the other."""
IN_ORDER: Defaults = ((f"self.{_CONTIGUOUS}()", "True"),)
"""What such a copy is told of the tensor that it writes to, unless that is a view."""
CAST: Defaults = ((CASTS, "True"),)
"""What a copy to another dtype is told."""
_OF_FIRST = ("dim", "0")
_SUMS = r"\bsum"
"""The gradient of a view that shows elements several times."""
_COPY = "_copy"
_DEEPEST = 4
"""Depth of functions that call each other for an answer."""
_CALLS = frozenset(("call", "chooser", *TO_OPERATORS))
_RETURNS = "returns"
_FORMAT = "ChannelsLast"
"""Memory formats depend on the caller, so that no usual answer follows."""
_CUT = "..."
"""The end of a truncated condition."""
_LITERALS = ("true", "false")
_BOOLS = frozenset(("True", "False"))
_Values = Sequence[str | None]


@dataclass(slots=True)
class Walk:
    """The cheapest paths found so far from one operator on one device."""

    device: str
    native: NativeFunction
    is_sparse: bool
    """Whether the operator is of sparse tensors: others may run their kernels for those."""
    before: dict[Node, tuple[Node, Step] | None] = field(default_factory=dict)
    defaults: Defaults = ()
    """The values of arguments that are not passed."""
    base: dict[Node, str] = field(default_factory=dict)
    """The base name of the operator of a kernel, after which its functions are often named."""
    operator: dict[Node, str] = field(default_factory=dict)
    """The full name of that operator."""
    given: dict[tuple[Node, bool], Defaults] = field(default_factory=dict)
    """The values of functions' arguments, as far as computed; the usual ones, and those that always
    hold."""
    passed: dict[tuple[Node, bool], _Values] = field(default_factory=dict)
    """The arguments of stubs, in order."""

    @property
    def asked(self) -> str:
        """The device that was asked for; ``device`` is that on which the path goes on."""
        return next(iter(self.before)).device


class Given:
    """Determines values of arguments."""

    def __init__(self, facts: Lookup) -> None:
        self.facts = facts
        self._answers = Answers(facts, self)
        self._copies = Copies(facts)
        self.flags = self._answers.flags

    def inside(self, walk: Walk, caller: int, always: bool = False) -> Defaults:
        """The values inside a function on a path; ``always``: those for any call of the operator.
        Otherwise including results of functions that it calls."""
        node = Node("definition", caller, walk.device)
        if always:
            return self._of(walk, node, always) if node in walk.before else ()
        here = self._of(walk, node, always) if node in walk.before else walk.defaults
        return (*here, *self._answers.asked(caller, walk.device, here))

    def is_built(self, guard: str, device: str) -> bool | None:
        """Whether a build for a device includes what stands under a guard."""
        return holds(guard or "true", device, self._answers.flags(guard, device))

    def passed_on(self, device: str, here: Defaults, edge: Edge, number: int) -> Defaults:
        """The arguments of the function that a call, possibly of an operator, leads to."""
        values = self._values(device, here, edge)
        if values is None:
            return here
        names = self._names(Node("definition", number))
        native = self.facts.native(str(edge.target)) if edge.kind in TO_OPERATORS else None
        if native is None:
            return _assigned(here, names, values[1])
        return _renamed(_operator_defaults(here, native, *values), native, names)

    def _of(self, walk: Walk, node: Node, always: bool) -> Defaults:
        if (node, always) not in walk.given:
            before, given = walk.before[node], () if always else walk.defaults
            walk.given[node, always] = self._behind(walk, *before, always) if before else given
        return walk.given[node, always]

    def _behind(self, walk: Walk, upper: Node, step: Step, always: bool) -> Defaults:
        """The values behind a step."""
        here = self._bound(walk.device, self._of(walk, upper, always), step)
        lower, why = step.lower, step.why
        if isinstance(why, Edge):
            values = self._values(walk.device, here, why)
            here = self._copies.told(walk.device, here, why, self._site(why))
            if lower.kind == "stub" and values:
                walk.passed[lower, always] = values[1][1:]  # behind the device
            return self._called(here, lower, *values) if values else here
        if isinstance(why, StubEntry):
            passed = walk.passed.get((upper, always))
            return here if passed is None else _assigned(here, self._names(lower), passed)
        native = self.facts.native(why.op)
        if native is None or lower.kind != "definition":
            copies = native and lower.what == CLONE and self._copies.takes_apart(native)
            return (*here, *SPREAD) if copies else here
        usual = () if always else _of_one_matrix(native)
        wrapped = _wrapped(native, self.facts.overloads(native.name))
        return (*_renamed(here, native, self._names(lower)), *usual, *_always_of(native), *wrapped)

    def _bound(self, device: str, here: Defaults, step: Step) -> Defaults:
        """Values of a template's parameters: ``f<true>`` sets its ``bool ReLU``."""
        known = self.facts.by_id(step.lower.what) if isinstance(step.lower.what, int) else None
        if known is None or not known.definition.bound:
            return here
        if isinstance(step.why, Edge):
            call = self._site(step.why)
            written = call.template if call else ""
        else:
            named = step.why.function if isinstance(step.why, StubEntry) else step.why.symbol
            written = named.partition("<")[2].rpartition(">")[0]
        own, of_class, _ = f"{known.definition.bound};;".split(";", 2)
        told, parts = dict(here), split_outside(written, angles=True)
        known_parts = (one if _VALUE.match(one) or one.strip() in told else "" for one in parts)
        values = [value_of(one, device, here) if one else None for one in known_parts]
        return _assigned(here, (own or of_class).split(","), values)

    def _values(self, device: str, here: Defaults, edge: Edge) -> tuple[Call, _Values] | None:
        """The arguments of a call; None if unknown."""
        call = self._site(edge) if not edge.macro and edge.kind != "functor" else None
        marks = arguments_of(call) if call else None
        if call is None or marks is None or call.kind == "name":
            return None
        written = call.given.split(GIVEN_SEPARATOR) if call.given else []
        values = [value_of(one, device, here) if one else None for one in written]
        return call, values + [None] * (len(marks) - len(values))

    def _called(self, here: Defaults, lower: Node, call: Call, values: _Values) -> Defaults:
        """The values behind a call."""
        if lower.kind == "definition":
            names, omitted = self._names(lower), self._parameters(lower)[len(values) :]
            defaults = (value_of(one.partition("=")[2], lower.device, here) for one in omitted)
            passed = _assigned(here, names, (*values, *defaults))
            return (*passed, *_properties(here, names, call))
        native = self.facts.native(str(lower.what)) if lower.kind == "operator" else None
        return _operator_defaults(here, native, call, values) if native else here

    def _site(self, edge: Edge) -> Call | None:
        """The call of an edge; None if several are possible."""
        caller, name = self.facts.by_id(edge.caller), edge.symbol.rpartition("::")[2]
        sites = self.facts.sites(caller) if caller else ()
        place = (name, edge.line, edge.branch)
        found = [one for one in sites if (one.name, one.line, one.branch) == place]
        return found[0] if len({(one.arguments, one.given) for one in found}) == 1 else None

    def _parameters(self, node: Node) -> Sequence[str]:
        known = self.facts.by_id(node.what) if isinstance(node.what, int) else None
        return split_outside(known.definition.parameters, angles=True) if known else ()

    def _names(self, node: Node) -> list[str]:
        parts = self._parameters(node)
        return [found[0] if (found := _NAME.search(one)) else "" for one in parts]


def _assigned(here: Defaults, names: Sequence[str], values: _Values) -> Defaults:
    """Parameters with their new values. Other names keep theirs, and so does one that is passed an
    expression, which is mostly a conversion of it."""
    given = {n: value for n, value in zip(names, values, strict=False) if value is not None}
    kept = [one for one in here if one[0].removesuffix("?") not in given and not of_place(one[0])]
    return (*kept, *(pair for name, value in given.items() for pair in _with_presence(name, value)))


def _properties(here: Defaults, names: Sequence[str], call: Call) -> Iterator[tuple[str, str]]:
    """What is known of the tensors that a call passes by name: their numbers of dimensions, and
    whether their elements lie one after the other."""
    given = dict(here)
    for name, written in zip(names, call.given.split(GIVEN_SEPARATOR), strict=False):
        for end in PROPERTIES:
            if known := given.get(written.lstrip("*") + end):
                yield name + end, known


def _with_presence(name: str, value: str) -> Iterator[tuple[str, str]]:
    yield name, value
    yield f"{name}?", str(value != NONE)


def _operator_defaults(
    here: Defaults, native: NativeFunction, call: Call, values: _Values
) -> Defaults:
    """The arguments of an operator's call; omitted ones have the schema's defaults."""
    ordered = parse_schema(native.schema).in_cpp(call.kind == "member", call.name.endswith("_outf"))
    names = [one.name for one in ordered]
    found = [*_assigned(here, names, values), *_properties(here, names, call)]
    found += [one for one in here if one == IN_ORDER[0]]
    if moves(parse_schema(native.schema)) and any(one.base_type == "ScalarType" for one in ordered):
        found += CAST
    for one in ordered[len(values) :]:
        if one.default is not None:
            found += _with_presence(one.name, one.default)
    return tuple(found)


def _renamed(here: Defaults, native: NativeFunction, names: Sequence[str]) -> Defaults:
    """The arguments of an operator under its kernel's names."""
    given = dict(here)
    arguments = parse_schema(native.schema).arguments
    pairs = [(one.name, name) for one, name in zip(arguments, names, strict=False)]
    suffixes = ("", "?", *PROPERTIES)
    ends = [(one + end, name + end) for one, name in pairs if one != name for end in suffixes]
    return (*here, *((name, given[one]) for one, name in ends if one in given))


def _always_of(native: NativeFunction) -> Defaults:
    """What holds in an operator's kernel: the value that tensors are filled with has no dimensions;
    a result is another tensor than the arguments, except in place."""
    schema = parse_schema(native.schema)
    tensors = [one for one in schema.arguments if one.base_type == "Tensor"]
    is_known = not schema.inplace or moves(schema) or len(tensors) == 1
    same = str(schema.inplace and len(tensors) == 1) if is_known else NONE
    return ((_SAME, same), *((rank_of("value"), "0"),) * is_fill(schema))


def _wrapped(native: NativeFunction, overloads: Sequence[NativeFunction]) -> Defaults:
    """The numbers that other overloads take as tensors: a kernel gets them as tensors on the CPU,
    in order behind the output."""
    taken_by = [parse_schema(one.schema).arguments for one in overloads]
    tensors = {a.name for arguments in taken_by for a in arguments if a.type == "Tensor"}
    operands = [
        (one.type == "Scalar" and one.name in tensors)
        for one in parse_schema(native.schema).arguments
        if one.type in ("Tensor", "Scalar") and not one.is_out
    ]
    return tuple((f"is_cpu_scalar({at})", "True") for at, one in enumerate(operands, 1) if one)


def _of_one_matrix(native: NativeFunction) -> Defaults:
    """The usual size of a batch in a kernel of a matrix operator."""
    is_linear = _LINEAR in (native.python_module, native.name.strip("_").partition("_")[0])
    return (("batch_size", "1"),) * is_linear


def defaults_of(native: NativeFunction) -> Defaults:
    """The defaults of an operator's arguments, and whether optional numbers, types and outputs are
    usually passed."""
    schema = parse_schema(native.schema)
    scalars = [one for one in schema.arguments if one.type == "Scalar?"]
    single = "Scalar?" if len(scalars) == 1 else ""  # of several, one has to be given
    found: list[tuple[str, str]] = [("out?", str(bool(schema.out_arguments)))]
    if _OF_MODULES.issubset(one.name for one in schema.arguments):
        found.append((rank_of("bias"), "1"))
    if moves(schema) and any(one.base_type == "ScalarType" for one in schema.arguments):
        found += CAST
    for one in schema.arguments:
        if one.default is None and one.name in _TRAINS:
            found.append((one.name, "True"))
        if one.default is not None:
            found.append((one.name, one.default))
        if one.default == NONE and (_LEFT_OUT.match(one.type) or one.type == single):
            found.append((f"{one.name}?", "False"))
        if one.type == "Scalar" and one.default is None:
            found.append((rank_of(one.name), "0"))  # if a tensor is made of it
    return tuple(found)


class Copies:
    """Determines what copies are told."""

    def __init__(self, facts: Lookup) -> None:
        self.facts = facts
        self._lies_apart = lru_cache(512)(self._find_apart)

    def told(self, device: str, here: Defaults, edge: Edge, call: Call | None) -> Defaults:
        """The values at a call, with what follows for an operator that moves: on views, on single
        values, or only where a tensor is not contiguous."""
        called = self.facts.native(str(edge.target)) if edge.kind in TO_OPERATORS else None
        schema = parse_schema(called.schema) if called else None
        if called is None or schema is None or not moves(schema):
            return here
        asked = (c for c in self.facts.conditions(edge) if _CONTIGUOUS in c.text + c.means)
        is_asked = any(taken(one, device, here) is False for one in asked)
        are_views = partial(self._are_views, of_first=_OF_FIRST in here)
        on_view = call is not None and are_views(call.receiver)
        is_source = call is not None and (
            are_views(call.arguments) or (_is_of_one(call, here) and not is_fill(schema))
        )
        if not (on_view or is_source or is_asked or SPREAD[0] in here):
            return here
        writes = any(one.name == "self" and one.mutable for one in schema.arguments)
        return (*here, *SPREAD, *(IN_ORDER if writes and not on_view else ()))

    def takes_apart(self, copied: NativeFunction) -> bool:
        """Whether a view's copy is of elements that do not lie one after the other."""
        space, dot, overload = copied.full_name.partition(".")
        view = self.facts.native(space.removesuffix(_COPY) + dot + overload)
        return view is not None and self._lies_apart(view.full_name)

    def _are_views(self, marks: str, of_first: bool) -> bool:
        """Whether one of some results is a view whose elements do not lie one after the other;
        ``of_first``: if it takes a dimension, it is the first."""
        listed = (one.rpartition(".")[2] for one in marks.split() if one[:1] == ".")
        named = (one.partition("#")[0].removesuffix("[]") for one in listed)
        views = (self.facts.overloads(one.removesuffix("_symint")) for one in named)
        return any(self._lies_apart(one.full_name, of_first) for found in views for one in found)

    def _find_apart(self, name: str, by_default: bool = True) -> bool:
        """Whether the elements of a view usually lie apart, or in another order, as its gradient
        shows: a function of the view's name puts it back, or it is summed. Those of the first
        dimension, if that is the default, lie one after the other."""
        native = self.facts.native(name)
        schema = parse_schema(native.schema) if native else None
        if native is None or schema is None or not is_view(schema):
            return False
        if by_default and any(one.name == "dim" and one.default == "0" for one in schema.arguments):
            return False
        entry = self.facts.derivative(name)[0]
        formulas = [one for made in entry.sets for one in made.formulas] if entry else []
        texts = [one.text for one in formulas if one.kind == "gradient"]
        told = "(?:s?_|\\b)" if len(schema.arguments) > 1 else "\\b"
        pattern = rf"\b{native.name.strip('_')}{told}|{_SUMS}"
        if texts or not by_default:
            return any(re.search(pattern, one) for one in texts)
        return any(self._find_apart(one, by_default=False) for one in self._called(name))

    def _called(self, name: str) -> list[str]:
        """The operators that a composite kernel calls."""
        known = (self.facts.known(d) for row in self.facts.kernels(name) for d in row.definitions)
        edges = (edge for one in known if one for edge in self.facts.edges(one.id))
        return [str(edge.target) for edge in edges if edge.kind in TO_OPERATORS]


def _is_of_one(call: Call, here: Defaults) -> bool:
    """Whether a call is given a tensor of one value."""
    return any((rank_of(one), "0") in here for one in call.given.split(GIVEN_SEPARATOR))


def of_place(name: str) -> bool:
    """Whether a value is about how one tensor lies in memory, which a call passes on by name."""
    return name.endswith(PROPERTIES[1])


def rank_of(name: str) -> str:
    """The expression for the number of dimensions of a tensor."""
    return name + PROPERTIES[0]


class Answers:
    """Evaluates functions with a single-word result, with caches."""

    def __init__(self, facts: Lookup, given: Given) -> None:
        self.facts = facts
        self.given = given
        self.asked = lru_cache(8192)(self._find_answers)
        self._asking = lru_cache(4096)(self._find_asking)
        self._depth = 0

    def _find_answers(self, caller: int, device: str, here: Defaults) -> Defaults:
        """The results of functions in a body's conditions, for given values of arguments."""
        if self._depth >= _DEEPEST:
            return ()
        self._depth += 1
        answers = (
            (name, self._joint(edges, device, here) if edges else self._flag(name, device))
            for name, edges in self._asking(caller)
        )
        found = tuple((answer_of(name), value) for name, value in answers if value is not None)
        self._depth -= 1
        return found

    def _find_asking(self, caller: int) -> Sequence[tuple[str, Sequence[Edge]]]:
        """The functions called in a body's conditions, by name."""
        branches = self.facts.branches(caller)
        names = {name for one in branches for name in _CALLED.findall(f"{one.text} {one.means}")}
        edges: dict[str, list[Edge]] = {name: [] for name in names if name in self.facts.flags}
        for edge in self.facts.edges(caller) if names else ():
            name = edge.symbol.rpartition("::")[2]
            if name in names and edge.kind in _CALLS and not is_unusual(name):
                edges.setdefault(name, []).append(edge)
        return tuple(edges.items())

    def flags(self, text: str, device: str) -> Defaults:
        """The values of macros in a text that the tree defines as true or false."""
        named = ((name, self._flag(name, device)) for name in _CALLED.findall(text))
        return tuple((answer_of(name), value) for name, value in named if value is not None)

    def _flag(self, name: str, device: str) -> str | None:
        kept = (
            is_true
            for guard, is_true in self.facts.flags.get(name, ())
            if holds(guard or "true", device)
        )
        return next(map(str, kept), None)

    def _joint(self, edges: Sequence[Edge], device: str, here: Defaults) -> str | None:
        """The common result of all functions that a name can mean; None if they differ."""
        answers = {
            self._of(known, edge, device, here) for edge, known in self._targets(edges, device)
        }
        return answers.pop() or None if len(answers) == 1 else None

    def _targets(self, edges: Sequence[Edge], device: str) -> Iterator[tuple[Edge, Known]]:
        """The functions of edges; of operators those for a device."""
        for edge in edges:
            numbers = [edge.target] if isinstance(edge.target, int) else []
            if edge.kind in TO_OPERATORS:
                rows = self.facts.kernels(str(edge.target))
                own = [row for row in rows if row.key == device]
                rows = own or [row for row in rows if row.key in COMPOSITE]
                places = (d for row in rows for d in row.definitions)
                numbers = [one.id for one in map(self.facts.known, places) if one]
            for known in filter(None, map(self.facts.by_id, numbers)):
                if self.given.is_built(known.definition.guard, device) is not False:
                    yield edge, known

    def _of(self, known: Known, edge: Edge, device: str, here: Defaults) -> str | None:
        """The result of a function at a call."""
        given = self.given.passed_on(device, here, edge, known.id)
        if any(_FORMAT in (value or "") for _, value in given):
            return None
        given = (*given, *self.asked(known.id, device, given))
        found: set[str | None] = set()
        for one in self.facts.branches(known.id):
            if one.arm != _RETURNS:
                continue
            choices = self.facts.conditions_of(known.id)[one.parent]
            passed = [None if c.text.endswith(_CUT) else taken(c, device, given) for c in choices]
            if False not in passed:
                text = one.means or one.text
                is_known = _FORMAT not in text and not text.endswith(_CUT)
                found.add(_value(text, device, given) if is_known else None)
                if None not in passed:
                    break
        kept = sorted(one for one in found if one is not None)
        return OR.join(kept) if len(kept) == len(found) and not _BOOLS.issubset(kept) else None


def without_answers(given: Defaults) -> Defaults:
    """The values of arguments alone, without results of functions."""
    return tuple(one for one in given if not one[0].endswith(answer_of("")))


def _value(text: str, device: str, given: Defaults) -> str | None:
    """The value of an expression. The spelling of a body's own unknown name, or of an enumerator,
    says nothing."""
    is_name = text.replace("::", "").isidentifier() and text not in _LITERALS
    held = None if is_name else holds(text, device, given)
    held = True if held is None and is_limit(text) else held
    return value_of(text, device, given) if held is None else str(held)
