"""The costs of a route's steps: nothing for conditions that hold for dense tensors, much for those
that do not, and for copies, new tensors, checks and reductions, which are beside what computes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from indexes.linking.facts import TO_STUBS, Edge, Known, StubEntry
from indexes.linking.graph import COPY, Node, Step
from indexes.linking.usual_conditions import holds, is_special
from indexes.linking.works import is_check
from indexes.model.idioms import ELEMENT_LOOPS
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Definition, KernelRow, NativeFunction
from indexes.queries.routing.argument_values import Given, Walk
from indexes.queries.routing.conditions import (
    UNUSUAL,
    Conditions,
    Order,
    form_of,
    is_helper,
    is_of_operator,
    is_stub_of,
    packs_for_another,
    share_name,
    words_in,
)
from indexes.store.lookup import Lookup

ASIDE = {"moves": 14.0, "allocates": 14.0, "checks": 20.0, "helps": 10.0}
"""Passing an operator that is beside what computes."""
_COPY = 7.0
"""A copy in an operator that only moves values, and may do nothing else."""
_RESULT = 40.0
"""A copy of the result in a generated kernel, if anything else computes."""
_STEP = 0.7
_KINDS = {"functor": 1.5, "passed": 0.5, "passed stub": 0.2}
"""The cost of things that are passed on instead of called."""
_FALLBACK = regex(r"_(?:generic|fallback)(?:_|$)")
"""PyTorch's names for what runs where a library can't, or is not there."""
_INSTEAD = 0.5
_RARE = 4.0
"""A library that usual builds lack."""
HELP = 2.0
"""A function whose name says that it prepares."""
FILLS = regex(r"(?:^|_)(?:fill|zero|offsets?|cleanup)(?:_|$)")
"""Names of functions that write one value, initialize or finish."""
_STATISTICS = regex(r"(?:^|_)(?:stats|statistics|invstd|mean_var)(?:_|$)")
"""Names of functions that compute means and variances for a normalization."""
FILL = 4.0
"""Writing one value beside what copies, or computing statistics beside what uses them."""
DATA = regex(r"Tensor|Iter|\*|List|Ref\b")
_NUMBER = regex(r"\bScalar\b(?!Type)")
_CHANGED = regex(r"(?:^|,)\s*(?!const\b)[\w:]+\s*&(?!&)")
"""A parameter that the function may write to."""
_ELEMENTS = 10.0
"""An elementwise operator in another kind of operator."""
_ARITHMETIC = 1.0
"""The extra cost of an operator with a C++ sign, since sums and products are around what
computes."""
_REDUCTION = 5.0
"""A reduction in another kind of operator: it prepares, or sums up."""
_LAST = 3.0
"""A reduction in another reduction, which often sums up the result."""
_OF_RESULTS = 3.0
"""An operator applied only to another's results, which finishes it."""
_FORMS = {"1": 2.0, "2": -5.0, "3": 2.0}
"""The forms of an operator for one, two and three dimensions: images are usual."""
_GRADIENT = 5.0
"""An operator for gradients, in one that is for none."""
_UNDIFFERENTIABLE = 5.0
"""An operator without a gradient, in one with a formula."""
_ASKS = 5.0
"""An operator that makes no tensor, as ``item``."""
_AGAIN = 4.0
"""A reduction followed by another one."""
_SELECTION = 4.0
"""An operator that selects by indices, in one without indices."""
_BESIDE_STUB = 6.0
"""An operator in a kernel that calls a stub of its own, or always an operator of its name later."""
_FINISH = 12.0
"""The final reduction of a loss, above its elementwise part."""
_POINTWISE = "pointwise"
_ITERATOR = "TensorIteratorBase"
"""The base class of elementwise structured kernels."""
_REDUCED = frozenset(("reduction",))
"""The final reduction of a loss: ``at::Reduction::Mean``."""
_KEPT = frozenset(("keepdim",))
_INDICES = frozenset(("index", "indices"))
_OTHER_TYPES = regex(r"complex|BFloat16|Half|Symm?Int|qint|Dimname|Float8")
_OTHER_TENSORS = regex(r"Quantized|Sparse|Nested|Mkldnn")
"""In names of classes for other tensors that have the called method."""
_FLOAT = regex(r"\bfloat\b")
_OTHER_NUMBERS = regex(r"\bdouble\s*[*&]|\bconst\s+u?int\d+_t\s*\*")
"""In parameters of overloads for other numbers; ``float`` is the usual dtype."""
_TYPES = {True: 0.0, None: 0.5, False: 2.0}
"""The cost of a template by whether ``enable_if`` allows it for ``float``."""
ROCM = "/hip/"
"""The folder of AMD's replacements for CUDA code."""
_OTHER_BUILD = 2.0
"""A function there: less than what is beside the way in CUDA's build."""
_WORD = 1.0
"""The bonus for a word of the operator's name in the class of a possible method."""
_LETTERS = regex(r"\w+")
_Why = Edge | StubEntry | KernelRow


class Prices:
    """Determines the costs of steps, with caches."""

    def __init__(self, facts: Lookup) -> None:
        self.facts = facts
        self.works = facts.works
        self.order = Order(facts)
        self.given = Given(facts)
        self.conditions = Conditions(facts, self.order, self.given)
        self.choices = self.order.choices
        self._loops_over_elements = lru_cache(1024)(self._find_element_loops)

    def of(self, step: Step, walk: Walk) -> float:
        price, lower = _STEP, step.lower
        if isinstance(step.why, Edge):
            price += self._edge_price(step.why, walk)
        if lower.kind == "operator":
            price += self._operator_price(step, walk)
            form = form_of(str(lower.what), walk.native.name)
            price = max(price + _FORMS.get(form, 0.0), 0.1)
            price += _RESULT * (isinstance(step.why, KernelRow) and lower.what == COPY)
        elif lower.kind == "stub":
            price -= (_STEP - 0.1) * self._is_own_named(str(lower.what), walk)
            price += _BESIDE_STUB * self._is_beside_own(step, walk)
        elif isinstance(lower.what, int):
            price += self._function_price(lower.what, walk, walk.base[step.upper], step)
            price += _BESIDE_STUB * self._is_beside_own(step, walk)
        return price

    def _is_beside_own(self, step: Step, walk: Walk) -> bool:
        """Whether a body uses a stub named after the overload, and this is another one."""
        overload = _plain_overload(walk.native)
        if not overload or not isinstance(step.why, Edge):
            return False
        full = f"{walk.native.name.strip('_')}_{overload}_stub"
        if str(step.lower.what).endswith(full):
            return False
        stubs = (one for one in self.facts.edges(step.why.caller) if one.kind in TO_STUBS)
        return any(str(one.target).rpartition("::")[2] == full for one in stubs)

    def _is_own_named(self, stub: str, walk: Walk) -> float:
        """Whether a stub is named after the operator and its overload."""
        name, overload = walk.native.name.strip("_"), _plain_overload(walk.native)
        if overload and is_stub_of(stub, f"{name}_{overload}") and overload in stub:
            return 1.1
        return float(is_stub_of(stub, name))

    def _operator_price(self, step: Step, walk: Walk) -> float:
        """The cost of what is beside the way, of elementwise arithmetic, and of an operator of
        another family in a composite one that calls others too."""
        lower = self.facts.native(str(step.lower.what))
        same = lower is not None and lower.name.strip("_") == walk.base[step.upper]
        if lower is None or same or isinstance(step.why, KernelRow):
            return 0.0
        work = self.works.of(step.lower)
        is_copy = work == "moves" == self.works.operator(walk.native.full_name)
        price = _COPY if is_copy else ASIDE.get(work, 0.0)
        price += FILL * self._fills_before(lower.name, walk)
        own = self._has_own_stub(step.upper, walk) or self._is_before_own(lower, step, walk)
        price += _BESIDE_STUB * own
        price += _OF_RESULTS * self._is_of_results(lower, step.why)
        price += _ASKS * self.works.answers_alone(lower.full_name)
        price += _GRADIENT * ("backward" in lower.name and "backward" not in walk.native.name)
        within = self.facts.native(walk.operator[step.upper])
        price += _UNDIFFERENTIABLE * (within is not None and self._ends_gradient(lower, within))
        family = walk.native.python_module or (within and within.python_module)
        is_foreign = family not in (None, lower.python_module)
        base = walk.base[step.upper]
        if is_foreign or not share_name(base, lower.name) or self._is_word_of(lower, base, walk):
            price += 1.0 * is_foreign + self._parts_price(lower, step, walk)
        return price

    def _ends_gradient(self, lower: NativeFunction, within: NativeFunction) -> bool:
        """Whether an operator has no gradient in one with a formula for its own: it only selects or
        compares, as ``nonzero`` in ``linalg_matrix_exp``. It makes indices of sparse tensors."""
        entries = [self.facts.derivative(one.full_name)[0] for one in (lower, within)]
        has_nodes = [one and any(made.grad_fn for made in one.sets) for one in entries]
        ends = entries[0] is not None and not has_nodes[0] and bool(has_nodes[1])
        keys = (row.key for row in self.facts.kernels(within.full_name))
        return ends and not any("Sparse" in one for one in keys)

    def _is_word_of(self, lower: NativeFunction, base: str, walk: Walk) -> bool:
        """Whether an elementwise operator is a word in the name of another kind: ``rnn_relu_cell``.
        The last word tells what is done."""
        is_last = base.endswith(f"_{lower.name.strip('_')}")  # ``_foreach_addcdiv``
        is_part = base not in lower.name and not is_last and self.is_pointwise(lower)
        return is_part and not self.is_pointwise(walk.native)

    def _kernel_price(self, number: int, base: str, step: Step, walk: Walk) -> float:
        """The cost of calling a kernel of other operators without dispatch."""
        names = dict.fromkeys(row.op for row in self.facts.kernel_rows_of(number))
        others = [one for one in names if one.partition(".")[0].strip("_") != base]
        price = max((ASIDE.get(self.works.operator(one), 0.0) for one in others), default=0.0)
        other = self.facts.native(others[0]) if len(others) == len(names) and others else None
        if other is None or walk.operator[step.upper] in names or share_name(base, other.name):
            return price
        return price + self._parts_price(other, step, walk)

    def _fills_before(self, name: str, walk: Walk) -> bool:
        """Whether a function writes one value, by its name, for an operator that does more."""
        stands_aside = self.works.operator(walk.native.full_name) in ASIDE
        return bool(FILLS.search(name)) and not stands_aside

    def _parts_price(self, lower: NativeFunction, step: Step, walk: Walk) -> float:
        """The cost of an operator that is elementwise, reduces or selects, in one that does not."""
        within = self.facts.native(walk.operator[step.upper])
        around = (walk.native, within or walk.native)
        price = 0.0
        is_within = self.is_pointwise(walk.native) or self._is_part(within, walk)
        if self.is_pointwise(lower) and not is_within:
            price += _ELEMENTS + _ARITHMETIC * self._is_around_function(lower, step)
        if self._takes(lower, _INDICES) and not self._any_takes(around, _INDICES):
            price += _SELECTION
        if self._takes(lower, _KEPT):
            if self._takes(walk.native, _REDUCED):
                return price + _FINISH * self._is_asked_of_loss(step)
            tells = self._tells(lower, walk)
            price += _LAST if self._any_takes(around, _KEPT) and not tells else _REDUCTION
            price += _REDUCTION * (not tells and self._is_of_result(lower, step.why))
            later = (one for _, one in self._called_later(step.why, walk, False))
            price += _AGAIN * self._any_takes(later, _KEPT)
        return price

    def _is_around_function(self, lower: NativeFunction, step: Step) -> bool:
        """Whether an operator is arithmetic in a body without reductions; after a reduction it
        writes the result."""
        if lower.name not in self.facts.called_by_signs or not isinstance(step.why, Edge):
            return False
        edges = self.facts.edges(step.why.caller)
        called = (self.facts.native(str(one.target)) for one in edges if one.kind == "operator")
        return not any(self._takes(one, _KEPT) for one in called if one)

    def _is_before_own(self, lower: NativeFunction, step: Step, walk: Walk) -> bool:
        """Whether an operator comes before one of the body's name, as padding a convolution."""
        base = walk.base[step.upper]
        later = () if share_name(base, lower.name) else self._called_later(step.why, walk, True)
        return any(
            share_name(base, one.name)
            and self.works.operator(one.full_name) == "dispatches"
            and not (self._takes(one, _KEPT) and self._is_of_result(one, edge))
            for edge, one in later
        )

    def _called_later(
        self, why: _Why, walk: Walk, always: bool
    ) -> Iterator[tuple[Edge, NativeFunction]]:
        """The operators called after an edge, wherever that is passed, or ``always``."""
        if isinstance(why, Edge):
            for one in self.order.later(why, walk.device, self.given.inside(walk, why.caller)):
                native = self.facts.native(str(one.target)) if one.kind == "operator" else None
                passed = (choice.arm == "otherwise" for choice in self.choices(one))
                if native and (not always or all(passed)):
                    yield one, native

    def _is_part(self, within: NativeFunction | None, walk: Walk) -> bool:
        """Whether an operator is elementwise, at a cost already counted."""
        if within is None or share_name(walk.native.name.strip("_"), within.name):
            return False
        return self.is_pointwise(within)

    def _is_of_results(self, lower: NativeFunction, why: _Why) -> bool:
        """Whether all arguments of an operator are results of another: the product of ``svd``'s
        results."""
        here = self.order.sites(why) if isinstance(why, Edge) else ()
        marks = {mark for one in here for mark in one.arguments.split()}
        names = {_LETTERS.match(mark, 1) if mark[0] == "." else None for mark in marks}
        found = {name and name[0] for name in names}
        made = found.pop() if len(found) == 1 else None
        called = self.facts.overloads(made)[:1] if made and made != lower.name else ()
        return any(map(self._computes_more, called))

    def _is_of_result(self, lower: NativeFunction, why: _Why) -> bool:
        """Whether an operator is called on another's result: ``linalg_svdvals(x).sum(-1)``."""
        here = self.order.sites(why) if isinstance(why, Edge) else ()
        names = {name for one in here for name in one.receiver.split(".")[1:]}
        called = (native for name in names for native in self.facts.overloads(name)[:1])
        return any(map(self._computes_more, called))

    def _computes_more(self, native: NativeFunction) -> bool:
        """Whether an operator computes and is not elementwise."""
        work = self.works.of(Node("operator", native.full_name))
        return work == "dispatches" and not self.is_pointwise(native)

    def _is_asked_of_loss(self, step: Step) -> bool:
        """Whether a step is for one value of a loss's ``reduction``."""
        choices = self.choices(step.why) if isinstance(step.why, Edge) else ()
        return any(not _REDUCED.isdisjoint(_LETTERS.findall(one.text)) for one in choices)

    def _tells(self, lower: NativeFunction, walk: Walk) -> bool:
        """Whether an operator only tests something, as ``all``, within a differentiable one: no
        gradient passes it."""
        rows = self.facts.kernels(walk.native.full_name)
        if all(row.key != "CompositeImplicitAutograd" for row in rows):
            return False
        overloads = self.facts.overloads(lower.name)
        entries = filter(None, (self.facts.derivative(one.full_name)[0] for one in overloads))
        return not any(one.grad_fn for entry in entries for one in entry.sets)

    def _has_own_stub(self, node: Node, walk: Walk) -> bool:
        """Whether a kernel leads to a stub named after the operator, or always calls one defined in
        its file: that computes, and other operators prepare or finish."""
        edges = self.facts.edges(node.what) if isinstance(node.what, int) else ()
        stubs = (edge for edge in edges if edge.kind == "stub")
        return any(self._is_own_stub(one, walk) for one in stubs)

    def _is_own_stub(self, edge: Edge, walk: Walk) -> bool:
        stub = str(edge.target)
        if is_stub_of(stub, walk.native.name):
            return True
        caller, last = self.facts.by_id(edge.caller), stub.rpartition("::")[2]
        path = caller.definition.location.path if caller else ""
        uses = self.facts.stub_uses(last)
        if not any(one.what == "defined" and one.location.path == path for one in uses):
            return False
        devices = {one.device for one in self.facts.registered_on(stub) if one.target is not None}
        return walk.device in devices and not self.choices(edge)

    def is_pointwise(self, native: NativeFunction) -> bool:
        """Whether PyTorch tags a form of the operator as pointwise; before 2.0, without tags,
        whether its loop over a TensorIterator is elementwise."""
        overloads = self.facts.overloads(native.name.removesuffix("_"))
        if self._has_tags:
            return any(_POINTWISE in one.tags for one in (native, *overloads))
        return any(map(self._loops_over_elements, dict.fromkeys(o.full_name for o in overloads)))

    @cached_property
    def _has_tags(self) -> bool:
        return any(_POINTWISE in one.tags for one in self.facts.overloads("mul"))

    def _find_element_loops(self, name: str) -> bool:
        """Whether a CPU kernel of an operator with one result loops over a function of single
        elements, as torchgen's ufunc kernels do."""
        native = self.facts.native(name)
        if native is None or self.works.operator(name) in ASIDE:
            return False
        if len(parse_schema(native.schema).returns) > 1:
            return False  # a normalization also loops over the elements of its input
        if native.structured_inherits == _ITERATOR and not self._takes(native, _KEPT | _INDICES):
            return True
        if any(row.kind == "ufunc" for row in self.facts.kernels(name)):
            return True
        steps = self.works.graph.without_dispatch(Node("operator", name, "CPU"))
        called = (known for one in steps if (known := self._definition(one.lower)))
        return any(known.definition.name in ELEMENT_LOOPS for known in called)

    def _definition(self, node: Node) -> Known | None:
        return self.facts.by_id(node.what) if isinstance(node.what, int) else None

    def _any_takes(self, natives: Iterable[NativeFunction], names: frozenset[str]) -> bool:
        return any(self._takes(one, names) for one in natives)

    def _takes(self, native: NativeFunction, names: frozenset[str]) -> bool:
        """Whether a form of the operator has one of some arguments, such as keepdim or indices."""
        schemas = (parse_schema(one.schema) for one in self.facts.overloads(native.name))
        return any(one.name in names and not one.is_out for s in schemas for one in s.arguments)

    def _edge_price(self, edge: Edge, walk: Walk) -> float:
        price = sum(self.conditions.prices(edge, walk))
        given = self.given.inside(walk, edge.caller)
        price += self.order.price(edge, walk.device, given)
        return price + _KINDS.get(edge.kind, 0.0) + ASIDE["checks"] * self._is_checked(edge)

    def _is_checked(self, edge: Edge) -> bool:
        """Whether a call is inside a ``TORCH_CHECK``."""
        caller = self.facts.by_id(edge.caller)
        return bool(caller and self.is_in_check(caller, edge.line))

    def is_in_check(self, known: Known, line: int) -> bool:
        """Whether a line of a function is part of a ``TORCH_CHECK``."""
        messages = self.facts.messages_in(known.definition.location.path)
        return any(first <= line <= last and is_check(kind) for kind, first, last in messages)

    def _function_price(self, number: int, walk: Walk, base: str, step: Step) -> float:
        known = self.facts.by_id(number)
        if known is None:
            return 0.0
        found, price = known.definition, 0.0
        if not is_special(walk.native.name):
            price += UNUSUAL * (self.given.is_built(found.guard, walk.device) is False)
            price += _OTHER_BUILD * (ROCM in found.location.path)
            file = found.location.path.rpartition("/")[2]
            price += _RARE * any(map(is_special, (found.qualified, file)))
        price += HELP * is_helper(found.name)
        price += _INSTEAD * bool(_FALLBACK.search(found.name))
        is_for_another = _STATISTICS.search(found.name) and not _STATISTICS.search(walk.native.name)
        called = isinstance(step.why, Edge) and not FILLS.search(walk.native.name)
        is_for_another = is_for_another or (called and self._fills_before(found.name, walk))
        price += FILL * (bool(is_for_another) or packs_for_another(found.name, walk.native))
        is_own = is_of_operator(known, walk.native.name.strip("_"))
        price += ASIDE["allocates"] * (not is_own and _is_of_number(found.parameters))
        if isinstance(step.why, Edge):
            if step.why.candidates > 1:
                price += 2.0 * bool(_OTHER_TYPES.search(found.parameters))
                if self._is_of_other_tensors(found.scope, step.why, walk.native):
                    return math.inf
                price += 0.5 * bool(_OTHER_NUMBERS.search(found.parameters))
                price += price_of_types(found, walk.device)
                price -= 0.1 * bool(_FLOAT.search(found.parameters))
                price -= _WORD * words_in(found.scope, walk.native.name)
            if is_of_operator(known, base):
                price -= _STEP - 0.1
            price += self._kernel_price(number, base, step, walk)
            price += _RARE * self.works.is_specialised(step.why)
        return price

    def _is_of_other_tensors(self, scope: str, edge: Edge, native: NativeFunction) -> bool:
        """Whether a class is for a kind of tensors that an operator is not named after, or less
        than another class with the method."""
        name = native.name
        if _OTHER_TENSORS.search(scope) and not _is_kind_in(name, scope):
            return True
        call, edges = (edge.line, edge.symbol), self.facts.edges(edge.caller)
        same = (e.target for e in edges if (e.line, e.symbol) == call)  # it can mean each of them
        found = (self.facts.by_id(one) for one in same if isinstance(one, int))
        scopes = (one.definition.scope for one in found if one)
        named = (words_in(one, name) for one in scopes if _is_kind_in(name, one))
        return max(named, default=0) > words_in(scope, name)


def _is_kind_in(name: str, scope: str) -> bool:
    """Whether an operator is named after the kind of tensors that a class is for."""
    kind = _OTHER_TENSORS.search(scope)
    return kind is not None and kind[0].lower() in name


def _is_of_number(parameters: str) -> bool:
    """Whether a function is given a number and nothing that holds elements, as
    ``wrapped_scalar_tensor``, which makes a tensor of it."""
    holds_data = DATA.search(parameters) or _CHANGED.search(parameters)
    return bool(_NUMBER.search(parameters)) and not holds_data


def price_of_types(found: Definition, device: str) -> float:
    """The cost of a template by the types for which ``enable_if`` allows it."""
    needs = "".join(found.bound.split(";", 2)[2:])
    return _TYPES[holds(needs or "true", device)]


def _plain_overload(native: NativeFunction) -> str:
    """The overload of which an ``out`` overload is a form: ``reduce`` for ``reduce_out``."""
    return native.overload.removesuffix("out").removesuffix("_")
