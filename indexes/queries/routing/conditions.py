"""Conditions on a route: what a body's order shows, where the last step writes the result; the cost
of taking a branch; and what names of operators, functions, classes and stubs say about each
other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain

from indexes.linking.facts import Call, Edge, Known
from indexes.linking.graph import Node, node_kind
from indexes.linking.usual_conditions import (
    Defaults,
    condition_of,
    flag_of,
    is_nested,
    is_of_few,
    is_of_one_value,
    is_within_limit,
    leans_to,
    possible_values,
    split_at,
    taken,
    unwrapped,
)
from indexes.linking.works import is_generic, is_named_shader
from indexes.model.regex import regex
from indexes.model.vocabulary import Choice, Location, NativeFunction
from indexes.queries.routing.argument_values import Given, Walk, without_answers
from indexes.store.lookup import Lookup

_JOINED = regex(r"&&|\|\||[<>=]=?|\s[?]\s")
OTHER = {"then": "else", "else": "then"}
_TESTED = ("then", "otherwise")
Arms = frozenset[tuple[str, str]]
"""Conditions, each with the branch taken."""
_CALLS = frozenset(("call", "stub", "passed stub", "operator"))
_PASSED = frozenset(("passed", "passed stub"))
_OBJECTS = frozenset(("graph", "metal"))
"""Objects set up by several messages: the last is no own step, as a kernel with a name is."""
_EARLIER = 1.0
"""The cost if something else computes later in the same body."""
_BEFORE = 0.05
"""The cost for each later call, so that the last of equals wins."""

_WARNS = "TORCH_WARN"
UNUSUAL = 15.0
REFUSED = 8.0
"""The cost of a condition that is false by the results of functions it calls."""
_UNKNOWN = {"then": 2.5, "case": 5.0, "few": REFUSED, "else": 0.5, "otherwise": 0.25}
"""The cost of an unknown condition; one of a single value is like a case."""
_BESIDE_USUAL = 2.0
"""The extra cost of another case if one is known to hold on the device."""
_CASE = 1.0
"""The cost of the case that holds on the device."""
_LATER = 2.0
"""The cost for each value tried before a case."""
_FALLBACK = "slow"
"""PyTorch's names for what runs without a library: ``ConvBackend::SlowTranspose2d``."""
_CAPITALISED = regex(r"[A-Z][a-z]+")
_WORDS = regex(r"[a-z]{6,}")
_NAMES = regex(r"\w+")
_ASKED_FOR = regex(r"!=\s*(?:nullptr|NULL)\b|mask\w*\[").search
"""Asks whether a result is wanted: ``dX_data != nullptr``, ``output_mask[0]``."""


class Order:
    """Compares positions in bodies, with caches."""

    def __init__(self, facts: Lookup) -> None:
        self.facts = facts
        self.works = facts.works
        self._parts = lru_cache(4096)(self._find_parts)
        self._tests = lru_cache(4096)(self._find_tests)
        self._unusual = lru_cache(1024)(self._find_unusual)
        self._warned = lru_cache(1024)(self._find_warned)

    def choices(self, edge: Edge) -> tuple[Choice, ...]:
        """The conditions of an edge, with the tests before it in one. Those inside a macro count
        for launches only. A macro used in one case of a switch is used in the others too."""
        if edge.macro and edge.kind != "launch":
            return ()
        found = self.facts.conditions(edge)
        if edge.macro and found and found[-1].arm == "case":
            return found[:-1]
        called, here = f"{edge.symbol.rpartition('::')[2]}(", (edge.line, edge.branch)
        tests = self._tests(edge.caller).get(here, ())
        return (*found, *[before for before, text in tests if called in text][-1:])

    def _find_tests(self, caller: int) -> dict[tuple[int, int], list[tuple[Choice, str]]]:
        """The parts of a body's conditions, each with those before it, by line and branch: C++
        evaluates ``b()`` of ``a && b()`` if ``a`` holds."""
        found: dict[tuple[int, int], list[tuple[Choice, str]]] = {}
        for one in self.facts.branches(caller):
            for sign, arm in (("&&", "then"), ("||", "else")) if one.arm in _TESTED else ():
                parts = split_at(condition_of(one), sign)
                for at in range(1, len(parts)):
                    before = Choice(sign.join(parts[:at]).strip(), arm, Location("", one.line))
                    found.setdefault((one.line, one.parent), []).append((before, parts[at]))
        return found

    def price(self, edge: Edge, device: str, defaults: Defaults) -> float:
        """The cost if something else computes after an edge, wherever that is passed."""
        computing, calls = self._parts(edge.caller)
        if edge in computing:
            after = len(self._following(edge, computing, device, defaults))
            return after and _EARLIER + _BEFORE * after
        if edge not in calls:
            return 0.0
        later = self.later(edge, device, defaults)
        return _BEFORE * any(self._leads(one, device) for one in later)

    def later(self, edge: Edge, device: str, defaults: Defaults) -> Sequence[Edge]:
        """What a body calls after an edge, wherever that is passed."""
        return self._following(edge, self._parts(edge.caller)[1], device, defaults)

    def is_of_many(self, edge: Edge, device: str, defaults: Defaults) -> bool:
        """Whether an edge is one of several computing steps in sequence; what is called around a
        Metal kernel does not count."""
        computing, calls = self._parts(edge.caller)
        if edge in computing:
            around = () if edge.kind == "shader" else calls
            others = [*computing, *(one for one in around if self._leads(one, device))]
        else:
            others = self._steps_beside(edge, device, defaults)
        following = partial(self._following, device=device, defaults=defaults)
        return bool(following(edge, others)) or any(following(one, [edge]) for one in others)

    def _steps_beside(self, edge: Edge, device: str, defaults: Defaults) -> list[Edge]:
        """What computes where a call is passed: for a function that computes other such functions,
        else what is dispatched or computes in the body itself."""
        (computing, calls), step = self._parts(edge.caller), self._step(edge, device)
        passed = self._passed_with(edge, (*computing, *calls), device, defaults) if step else ()
        if step == "computes":
            return [o for o in passed if o not in computing and self._step(o, device) == step]
        return [o for o in passed if o in computing or self._step(o, device) == "dispatches"]

    def passes_both(self, edge: Edge, other: Edge, device: str, defaults: Defaults) -> bool:
        """Whether a body that passes an edge usually passes another one too: not by another meaning
        of one name, nor in another branch, nor in one macro, whose branches are not known."""
        is_one = self._is_same(edge, other) or {edge.kind, other.kind} <= _PASSED
        if (edge.line == other.line and (is_one or edge.kind == "shader")) or (
            edge.macro and edge.macro == other.macro
        ):
            return False
        arms = dict(map(_arm, self.choices(edge)))
        more = [one for one in self.choices(other) if _arm(one) not in arms.items()]
        known = [one for one in more if _arm(one)[0] not in arms]
        return len(known) == len(more) and are_likely(known, device, defaults)

    def _is_same(self, edge: Edge, other: Edge) -> bool:
        """Whether two edges are meanings of one name. A call runs what it is given: of each class
        the function that its arguments choose."""
        kinds = {edge.kind, other.kind}
        if edge.symbol != other.symbol or "functor" not in kinds:
            return edge.symbol == other.symbol
        targets = (self.facts.by_id(o.target) for o in (edge, other) if isinstance(o.target, int))
        scopes = {one.definition.scope for one in targets if one}
        return kinds == {"functor"} and len(scopes) == 1

    def _passed_with(
        self, edge: Edge, others: Iterable[Edge], device: str, defaults: Defaults
    ) -> list[Edge]:
        """The edges of a body that are usually passed where one is, and not instead of it."""
        here = {(one.text, one.arm) for one in self.choices(edge)}
        cases = {_switch(text): text for text, arm in here if arm == "case"}
        unusual = self._unusual(edge.caller, device, defaults)
        usual = (one for one in others if unusual[one] <= here)
        return [
            one
            for one in usual
            if all(cases.get(_switch(c.text), c.text) == c.text for c in self.choices(one))
        ]

    def _step(self, edge: Edge, device: str) -> str:
        """How a call leads to what computes: by a stub or an operator not beside that, to a
        function that computes, or to one that helps; empty if it does not."""
        is_operator = edge.kind == "operator"
        is_beside = is_operator and self.works.operator(str(edge.target)) != "dispatches"
        if (
            is_beside
            or edge.kind not in ("call", "operator", "stub")
            or not self._leads(edge, device)
        ):
            return ""
        if edge.kind == "call" and isinstance(edge.target, int):
            return "computes" if self._computes(edge) else "helps"
        return "dispatches"

    def _computes(self, edge: Edge) -> bool:
        return isinstance(edge.target, int) and self.works.computing(edge.target) is not None

    def _find_parts(self, caller: int) -> tuple[Sequence[Edge], Sequence[Edge]]:
        """The computing and other calls of a body."""
        known = self.facts.by_id(caller)
        found = self.works.computing_edges(known) if known else []
        computing = [e for e, kind in found if kind not in _OBJECTS or is_named_shader(e)]
        if known and not computing and not is_generic(known):  # that may try one after the other
            computing = list(filter(self._is_given_kernel, self.facts.edges(caller)))
        others = (edge for edge in self.facts.edges(caller) if edge.kind in _CALLS)
        return computing, [one for one in others if one not in computing]

    def _is_given_kernel(self, edge: Edge) -> bool:
        """Whether a ``__global__`` function is always passed to what launches it."""
        given = self.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        is_given = edge.kind == "passed" and not edge.branch
        return is_given and given is not None and given.definition.cuda_global

    def _following(
        self, edge: Edge, others: Iterable[Edge], device: str, defaults: Defaults
    ) -> list[Edge]:
        """The edges of a body that follow one in the usual case, wherever that is passed."""
        unusual = self._unusual(edge.caller, device, defaults)
        here = {(one.text, one.arm) for one in self.choices(edge)}
        builds = any(arm == "#if" for _, arm in here)
        return [
            one
            for one in others
            if one.symbol != edge.symbol and not (one.macro or edge.macro)
            if one.line > edge.line or self._is_on_result(one, edge)
            if all(arm == "#if" and not builds for _, arm in unusual[one] - here)
        ]

    def made_for(self, edge: Edge) -> list[Edge]:
        """The other calls of a body on whose results a member is called."""
        return [one for one in self.facts.edges(edge.caller) if self._is_on_result(edge, one)]

    def _is_on_result(self, one: Edge, edge: Edge) -> bool:
        """Whether a member is called on the result of another call of its line: ``x.f().g()``."""
        sites = self.sites(one) if one.line == edge.line else ()
        name = edge.symbol.rpartition("::")[2]
        return any(name in _NAMES.findall(site.receiver) for site in sites)

    def sites(self, edge: Edge) -> list[Call]:
        """The uses of an edge's name on its line."""
        caller, place = self.facts.by_id(edge.caller), (edge.line, edge.symbol.rpartition("::")[2])
        sites = self.facts.sites(caller) if caller else ()
        return [one for one in sites if (one.line, one.name) == place]

    def _find_unusual(self, caller: int, device: str, defaults: Defaults) -> dict[Edge, Arms]:
        """The branches around each step of a body that are not usually taken."""
        found: dict[Edge, Arms] = {}
        for edge in chain(*self._parts(caller)):
            choices = (one for one in self.choices(edge) if not taken(one, device, defaults))
            unusual = (
                o for o in choices if not is_nested(o) or taken(o, device, defaults) is False
            )
            found[edge] = frozenset((one.text, one.arm) for one in unusual)
        return found

    def _leads(self, edge: Edge, device: str) -> bool:
        kind = node_kind(edge)
        return kind is not None and self.works.leads(Node(kind, edge.target, device))

    def warns(self, choice: Choice, caller: int) -> bool:
        """Whether a body warns when it takes a branch, which is not usual then."""
        return choice.arm != "otherwise" and choice in self._warned(caller)

    def _find_warned(self, caller: int) -> frozenset[Choice]:
        """The branches in which a body warns, unless the others warn too."""
        edges = (one for one in self.facts.edges(caller) if one.symbol.startswith(_WARNS))
        found = {arms[-1] for one in edges if (arms := self.choices(one))}
        often = Counter(one.text for one in found)
        return frozenset(one for one in found if often[one.text] == 1)

    def likeness(self, choice: Choice, caller: int) -> str:
        """The kind of branch that an unknown condition resembles: one for a single value or few
        elements is a case; but if more is done for that value than for all others, as for softmax
        over the last dimension, it is the usual one."""
        if is_within_limit(choice):
            return "otherwise" if choice.arm == "then" else "then"
        if not is_of_one_value(choice):
            return "few" if is_of_few(choice) else choice.arm
        computing, calls = self._parts(caller)
        done = (*computing, *(e for e in calls if e.kind == "call" and self._computes(e)))
        arms = [{c.arm for c in self.choices(e) if c.text == choice.text} for e in done]
        ones, others = (sum(arm in one for one in arms) for arm in ("then", "else"))
        if others and ones > others:
            return "otherwise" if choice.arm == "then" else "then"
        return "case" if choice.arm == "then" else choice.arm


def are_likely(choices: Iterable[Choice], device: str, defaults: Defaults) -> bool:
    """Whether branches are usually taken, of which unknown ones may be."""
    known = ((one, taken(one, device, defaults)) for one in choices)
    return all(_is_likely(one) if usual is None else usual for one, usual in known)


def _is_likely(choice: Choice) -> bool:
    """Whether an unknown branch is passed unless a body returns, or if a result is asked for."""
    return choice.arm == "otherwise" or (choice.arm == "then" and bool(_ASKED_FOR(choice.text)))


def _arm(choice: Choice) -> tuple[str, str]:
    """A condition or switch, and the branch or case of it."""
    is_case = choice.arm == "case"
    return (_switch(choice.text), choice.text) if is_case else (choice.text, arm_of(choice))


def _switch(text: str) -> str:
    return text.partition(" case ")[0]


class Conditions:
    """Determines the costs of conditions, with caches."""

    def __init__(self, facts: Lookup, order: Order, given: Given) -> None:
        self.facts = facts
        self.order = order
        self.given = given

    def prices(self, edge: Edge, walk: Walk) -> list[float]:
        """The cost of each condition of an edge."""
        choices = self.order.choices(edge)
        given = self.given.inside(walk, edge.caller) if choices else ()
        return [self._price(one, walk, edge, given) for one in choices]

    def _price(self, choice: Choice, walk: Walk, edge: Edge, given: Defaults) -> float:
        caller = edge.caller
        if self._is_asked(choice, walk):
            return 0.0
        usual = taken(choice, walk.device, given)
        if usual is False and taken(choice, walk.device, without_answers(given)) is not False:
            return REFUSED + _BESIDE_USUAL * (choice.arm == "case")
        if self.order.warns(choice, caller):
            usual = False
        if usual is None:
            usual = True if is_nested(choice) else self._is_own_flag(choice, walk, caller)
        if usual is None and (rank := self._rank(choice)) is not None:
            return _CASE + _LATER * rank
        if usual is None:
            is_usual = partial(taken, device=walk.device, defaults=given)
            is_beside = self._is_beside(choice, caller, is_usual)
            if not is_beside and possible_values(choice, walk.device, given):
                return _CASE + _BESIDE_USUAL
            arm = self._leaning(choice, walk, given) or self.order.likeness(choice, caller)
            price = _UNKNOWN.get(arm, 1.0) / max(_labels(choice), self.cases(edge, choice))
            return price + _BESIDE_USUAL * is_beside
        if usual and choice.arm == "case":
            is_asked = partial(self._is_asked, walk=walk)
            return _CASE + _BESIDE_USUAL * self._is_beside(choice, caller, is_asked)
        if not usual and self._leaning(choice, walk, given) == "otherwise":
            return REFUSED
        return 0.0 if usual else UNUSUAL

    def cases(self, edge: Edge, choice: Choice) -> int:
        """The number of cases of a switch that lead where an edge does, as for unrolled kernels."""
        if choice.arm != "case":
            return 0
        same = (one for one in self.facts.edges(edge.caller) if one.target == edge.target)
        texts = {c.text for one in same for c in self.order.choices(one) if c.arm == "case"}
        return sum(_switch(one) == _switch(choice.text) for one in texts)

    def _leaning(self, choice: Choice, walk: Walk, given: Defaults) -> str:
        """The kind of branch that one with many conditions resembles, most of which hold."""
        texts = (choice.text, choice.means) if choice.arm != "case" else ()
        if not any(leans_to(one, walk.device, given) for one in texts):
            return ""
        return "otherwise" if choice.arm == "then" else "then"

    def _rank(self, choice: Choice) -> int | None:
        """The place of a case's value in the tree's list of them, which is the order of trying;
        None without a list."""
        labels = choice.text.partition(" case ")[2].split(", ") if choice.arm == "case" else ()
        parts = (label.rpartition("::") for label in labels)
        orders = ((self.facts.orders.get(p.rpartition("::")[2], ()), name) for p, _, name in parts)
        return min((order.index(name) for order, name in orders if name in order), default=None)

    def _is_beside(self, choice: Choice, caller: int, is_one: Callable[[Choice], object]) -> bool:
        """Whether another case of the same switch satisfies ``is_one``."""
        cases = [one for one in self.facts.branches(caller) if one.arm == choice.arm == "case"]
        same = (one for one in cases if _switch(one.text) == _switch(choice.text))
        places = ((one, Location("", one.line)) for one in same)
        return any(is_one(Choice(one.text, one.arm, at, one.means)) for one, at in places)

    def _is_own_flag(self, choice: Choice, walk: Walk, caller: int) -> bool | None:
        """Whether a branch is taken by a flag named after an operator on the route, as
        ``LogSoftMax``; None for another condition."""
        name, wanted = flag_of(choice) or ("", False)
        named = self.facts.overloads(self._flags[name]) if name in self._flags else ()
        if not named or self.facts.works.answers_alone(named[0].full_name):
            return None  # ``is_floating_point`` asks, and is no name of what runs
        passed = walk.operator.get(Node("definition", caller, walk.device), "").partition(".")[0]
        return (name in (_plain(walk.native.name), _plain(passed))) is wanted

    @cached_property
    def _flags(self) -> dict[str, str]:
        """The names of flags named after operators with several words."""
        return {_plain(one): one for one in self.facts.bases if "_" in one.strip("_")}

    def _is_asked(self, choice: Choice, walk: Walk) -> bool:
        """Whether the case of a switch has a word of the operator's name."""
        if choice.arm != "case":
            return False
        label = choice.text.rpartition("::")[2]
        words = {word.lower() for word in _CAPITALISED.findall(label)}
        return _FALLBACK not in words and not words.isdisjoint(_WORDS.findall(walk.native.name))


def _labels(choice: Choice) -> int:
    """The number of values that lead to a branch; labels of fallbacks in a switch do not count."""
    labels = choice.text.partition(" case ")[2].lower().split(", ")
    return max(sum(_FALLBACK not in one for one in labels), 1)


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


# ------------------------------------------------------------------------------------- names

_HELPER = regex(
    r"_*(?:infer|check|get|is|has|should|can|set|validate|expand|resize|wrap|maybe|make|create"
    r"|allocate|init|assert|warn|to|convert|will|unpack)_"
)
_SHORTEST = 3
"""Fewest letters of a name that shows a function to be an operator's."""
_FORM = regex(r"(\w+?)_?([123])d")


def words_in(scope: str, name: str) -> int:
    """The number of words of an operator's name in the class of a called method."""
    owner = scope.rpartition("::")[2].lower()
    return sum(word in owner for word in _WORDS.findall(name))


_PACKS = regex(r"(?:^|_)(?:pre)?pack(?:_|$)|(?:im|vol)2col|col2h?(?:im|vol)|columns[23]d")
"""In names of functions that lay out matrices for a library, as the columns of a convolution, or
take its result apart: others multiply."""


def packs_for_another(name: str, native: NativeFunction) -> bool:
    """Whether a function lays out matrices for a library, by its name, for an operator that does
    more."""
    return bool(_PACKS.search(name)) and not _PACKS.search(native.name)


def is_helper(name: str) -> bool:
    """Whether a function prepares something, by its name: ``get_buffer``, ``set_result``."""
    return bool(_HELPER.match(name))


def form_of(name: str, operator: str) -> str:
    """The number of dimensions for which an operator is a form of another one, as
    ``grid_sampler_2d`` of ``grid_sampler``; empty if it is none."""
    found = _FORM.fullmatch(name.partition(".")[0])
    return found[2] if found and found[1].strip("_") == operator.strip("_") else ""


def share_name(base: str, name: str) -> bool:
    """Whether an operator is named after another: ``addcdiv`` and ``_foreach_addcdiv``."""
    name = name.strip("_")
    return (len(base) >= _SHORTEST and base in name) or f"_{name}_" in f"_{base}_"


def is_stub_of(stub: str, name: str) -> bool:
    """Whether a stub is named after an operator: ``cholesky_stub`` and ``linalg_cholesky_ex``."""
    stem = stub.rpartition("::")[2].removesuffix("_stub")
    return len(stem) >= _SHORTEST and f"_{stem}_" in f"_{name.strip('_')}_"


def is_of_operator(known: Known, base: str) -> bool:
    """Whether a function is named after an operator."""
    found = known.definition
    named = len(base) >= _SHORTEST and base in found.name
    return named and not is_helper(found.name)


def arm_of(choice: Choice) -> str:
    """The branch of a choice; ``else`` also for what follows an ``if`` that returns."""
    return "else" if choice.arm == "otherwise" else choice.arm


def other_arm(choice: Choice) -> tuple[str, str]:
    """The condition of a choice, with the branch that it does not take."""
    return choice.text, OTHER.get(arm_of(choice), "")


def arms_of(choices: Iterable[Choice]) -> Arms:
    return frozenset((one.text, arm_of(one)) for one in choices if not is_nested(one))


def is_always(ways: Sequence[Arms], given: Arms) -> bool:
    """Whether one of several paths is always taken, given some branches."""
    not_taken = {(text, OTHER.get(arm, "")) for text, arm in given}
    left = [way - given for way in ways if way.isdisjoint(not_taken)]
    if not all(left):
        return True
    conditions = Counter(text for way in left for text, arm in way if arm in OTHER)
    if not conditions:
        return False
    ((text, _),) = conditions.most_common(1)
    return all(is_always(left, given | {(text, arm)}) for arm in OTHER)


def condition_words(conditions: Iterable[Choice], device: str) -> tuple[str, ...]:
    """Conditions in words, without those that a later one implies."""
    words = dict.fromkeys(filter(None, (in_words(one, device) for one in conditions)))
    labels = {one: set(one.split(", ")) - {one} for one in words}
    return tuple(one for one in words if words.keys().isdisjoint(labels[one]))


def in_words(choice: Choice, device: str) -> str:
    """A condition in words; empty if it usually holds or does not matter."""
    if (held := taken(choice, device)) or (held is None and choice.arm == "otherwise"):
        return ""
    text = condition_of(choice)
    if choice.arm == "case":
        value, _, label = text.partition(" case ")
        return label if "::" in label else f"{unwrapped(value)} == {label}"
    if arm_of(choice) != "else":
        return text
    plain = text.isidentifier() or not _JOINED.search(text)
    return text[1:] if text.startswith("!") and plain else f"not {text if plain else f'({text})'}"
