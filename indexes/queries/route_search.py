"""The search for what computes an operator on a device: the cheapest way is the usual one.

Steps of the graph have costs: conditions that hold for dense tensors cost nothing, those that do
not hold cost much, and so do copies, new tensors and checks on the way, which stand beside what
computes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count

from indexes.codegen.variants import called_by_generated
from indexes.linking.facts import Edge, Known
from indexes.linking.graph import Graph, Node, Step
from indexes.linking.usual import Defaults, flag_of, holds, is_special, taken
from indexes.linking.visible import is_header, path_device
from indexes.linking.works import ComputingKind, Works, is_check, is_generic
from indexes.model.answers import RouteKind
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Choice, KernelRow, NativeFunction
from indexes.store.lookup import Lookup

DEVICES = ("CPU", "CUDA", "MPS", "XPU", "PrivateUse1")
ASIDE = {"moves": 14.0, "allocates": 14.0, "checks": 20.0, "helps": 10.0}
"""What it costs to pass an operator that stands beside what computes."""
_MEMORY = ("allocates", "helps")
"""The work of operators that give memory to others: new tensors and views."""
_UNUSUAL = 15.0
_UNKNOWN = {"then": 2.5, "case": 5.0, "else": 0.5, "otherwise": 0.25}
"""What a condition costs of which nothing is known."""
_MADE = 3.0
"""What the kernel, stub and loop cost that torchgen makes around an inner loop."""
_STEP = 0.7
_KINDS = {"functor": 1.5, "passed": 0.5, "passed stub": 0.2}
"""What it costs that something is not called here, but given to what is called."""
_CASE = 1.0
"""What the case of a switch costs that holds on the device."""
_RARE = 4.0
"""What a library costs that a usual build does without."""
_ELSEWHERE = 4.0
"""What a function costs that a header outside of the kernels' folder has for all."""
_HELP = 2.0
"""What a function costs whose name says that it prepares."""
_HELPER = regex(
    r"_*(?:infer|check|get|is|has|should|can|set|validate|expand|resize|wrap|maybe|make|create"
    r"|allocate|init|assert|warn|to|convert|will|unpack)_"
)
_SHORTEST = 3
"""Letters of a name by which functions are known to be of an operator."""
_DATA = regex(r"Tensor|Iter|\*|List|Ref\b")
_ELEMENTS = 8.0
"""What an operator of single elements costs in one that is none."""
_REDUCTION = 5.0
"""What a reduction costs in one that is none: it prepares for what computes there, or sums up."""
_BESIDE_STUB = 6.0
"""What an operator costs in a kernel that calls a stub which is named after its own."""
_POINTWISE = "pointwise"
_KEPT = "keepdim"
DTYPE_SWITCH = ("AT_DISPATCH_", "_AT_DISPATCH")
_WEAK = 6.0
"""What it costs that a function only looks as if it computed."""
PLAIN: dict[str, RouteKind] = {"CPU": "loop", "MPS": "metal"}
"""How a kernel of a device computes that shows nothing of it."""
_REACH = 10.0
"""How much more than the usual route another one may cost."""
COMPOSITE = (
    "CompositeExplicitAutogradNonFunctional",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutograd",
)
_OTHER_TYPES = regex(r"complex|BFloat16|Half|Symm?Int|qint|Dimname|Float8")
_FLOAT = regex(r"\bfloat\b")
_DOUBLE = regex(r"\bdouble\s*[*&]")
"""In the parameters of one of several overloads: ``float`` is the usual dtype of tensors."""
_PREPARES = regex(
    r"(?:^|_)(fill|init|initialize|zero|unpack|memset|preprocess|postprocess|reset|check)(?:_|$)"
)
"""In the name of what is launched: it makes ready what others compute with."""
_WORDS = regex(r"[a-z]{6,}")
_LAYOUTS = {
    device: frozenset(
        f"{kind}{device}" for kind in ("Quantized", "Sparse", "SparseCsr", "NestedTensor", "Mkldnn")
    )
    for device in DEVICES
}
"""Keys of operators that dense tensors have no kernel for."""


@dataclass(frozen=True, slots=True)
class End:
    """A function that computes, at the end of a way."""

    kind: RouteKind
    known: Known
    edge: Edge | None
    conditions: tuple[Choice, ...] = ()
    guessed: bool = False
    """Whether it only looks as if it computed."""


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


class Search:
    """Finds the ways from an operator to what computes it."""

    def __init__(self, facts: Lookup) -> None:
        self.facts = facts
        self.works = Works(facts)
        self.missing: list[str] = []
        """Operators that the last walk came to and that have no kernel for its device."""
        self._graph = Graph(facts)

    def rows(self, name: str, device: str) -> Sequence[KernelRow]:
        """The kernel that the dispatcher picks for dense tensors of a device: its own, or the
        composite one."""
        rows = self.facts.kernels(name)
        for key in (device, *COMPOSITE):
            if chosen := [row for row in rows if row.key == key]:
                return chosen if self._goes_on(chosen[0], device) else ()
        others = [row for row in rows if row.key.endswith(device) and row.key in _LAYOUTS[device]]
        return [row for row in others if row.key == others[0].key]

    def _goes_on(self, row: KernelRow, device: str) -> bool:
        """Whether a kernel that torchgen makes calls an operator that has one for the device."""
        called = self.called(row)
        return not called or bool(self.rows(called.full_name, device))

    def called(self, row: KernelRow) -> NativeFunction | None:
        """The operator that a kernel calls which torchgen makes; None for another kernel."""
        native = self.facts.native(row.op) if row.kind == "generated" else None
        return native and called_by_generated(native, self.facts.overloads)

    # ---------------------------------------------------------------------- the walk

    def ways(self, native: NativeFunction, device: str) -> Iterator[tuple[float, Walk, Node, End]]:
        """What computes, in the order of cost."""
        start = Node("operator", native.full_name, device)
        walk, order = Walk(device, native, defaults=_defaults(native)), count()
        self.missing = []
        heap: list[tuple[float, int, Node, tuple[Node, Step] | None, End | None]] = []
        heapq.heappush(heap, (0.0, next(order), start, None, None))
        seen: set[object] = set()
        best = None
        while heap:
            cost, _, node, before, end = heapq.heappop(heap)
            if best is not None and cost > best + _REACH:
                return
            if end is not None:
                if (end.known.id, end.kind) not in seen and not self._is_beside(walk, node, end):
                    seen.add((end.known.id, end.kind))
                    best = cost if best is None else best
                    yield cost, walk, node, end
                continue
            if node in walk.before:
                continue
            walk.before[node] = before
            walk.base[node] = self._base(walk, node, before)
            if cost < _UNUSUAL and self._has_none(node, device):
                self.missing.append(str(node.what))
            for price, one in self._ends(node, walk):
                heapq.heappush(heap, (cost + price, next(order), node, None, one))
            for step in self._steps(node, walk):
                if step.lower not in walk.before and not self._only_asks(step, walk):
                    price = self._price(step, walk)
                    heapq.heappush(
                        heap, (cost + price, next(order), step.lower, (node, step), None)
                    )

    def way(self, walk: Walk, node: Node) -> list[Step]:
        """The steps to a node, from the operator on."""
        steps, before = [], walk.before[node]
        while before:
            steps.append(before[1])
            before = walk.before[before[0]]
        return steps[::-1]

    def _is_beside(self, walk: Walk, node: Node, end: End) -> bool:
        """Whether something computes only in the unusual case of a view or a new tensor on the
        way, as ``empty`` fills where programs must be deterministic: that is not the answer."""
        passed = False
        for step in self.way(walk, node):
            passed = passed or self._gives_memory(step)
            choices = self.choices(step.why) if passed and isinstance(step.why, Edge) else ()
            if any(taken(one, walk.device, walk.defaults) is False for one in choices):
                return True
        return passed and any(taken(one, walk.device) is False for one in end.conditions)

    def _gives_memory(self, step: Step) -> bool:
        lower = step.lower
        return lower.kind == "operator" and self.works.operator(str(lower.what)) in _MEMORY

    def _only_asks(self, step: Step, walk: Walk) -> bool:
        """Whether a step leads to an operator that makes and changes no tensor, ``item``, though
        the one that is asked for does."""
        if step.lower.kind != "operator" or isinstance(step.why, KernelRow):
            return False
        alone = self.works.answers_alone
        return alone(str(step.lower.what)) and not alone(walk.native.full_name)

    def _has_none(self, node: Node, device: str) -> bool:
        """Whether a node is an operator without a kernel for the device."""
        if node.kind != "operator" or self.rows(str(node.what), device):
            return False
        return self.works.of(node) == "dispatches"

    def _base(self, walk: Walk, node: Node, before: tuple[Node, Step] | None) -> str:
        if node.kind == "operator":
            return str(node.what).partition(".")[0].strip("_")
        return walk.base[before[0]] if before else ""

    def _steps(self, node: Node, walk: Walk) -> Iterator[Step]:
        if node.kind != "operator":
            yield from self._graph.down(node)
            return
        chosen = self.rows(str(node.what), walk.device)
        for step in self._graph.down(node):
            if not isinstance(step.why, KernelRow) or step.why in chosen:
                yield step

    def _price(self, step: Step, walk: Walk) -> float:
        price, lower = _STEP, step.lower
        if isinstance(step.why, Edge):
            price += self._edge_price(step.why, walk)
        if lower.kind == "operator":
            price += self._operator_price(step, walk)
        elif lower.kind == "stub":
            price -= (_STEP - 0.1) * _is_stub_of(str(lower.what), walk.native.name)
        elif isinstance(lower.what, int):
            price += self._function_price(lower.what, walk, walk.base[step.upper], step)
        return price

    def _operator_price(self, step: Step, walk: Walk) -> float:
        """What stands aside costs; so does arithmetic element by element, and an operator of
        another family, in a composite one that calls others too."""
        lower = self.facts.native(str(step.lower.what))
        same = lower is not None and lower.name.strip("_") == walk.base[step.upper]
        if lower is None or same or isinstance(step.why, KernelRow):
            return 0.0
        price = ASIDE.get(self.works.of(step.lower), 0.0)
        price += _BESIDE_STUB * self._has_own_stub(step.upper, walk)
        if not _are_kin(walk.base[step.upper], lower.name):
            family = walk.native.python_module
            price += 1.0 * (family not in (None, lower.python_module))
            price += _ELEMENTS * (self._is_pointwise(lower) and not self._is_pointwise(walk.native))
            price += _REDUCTION * (self._reduces(lower) and not self._reduces(walk.native))
        return price

    def _has_own_stub(self, node: Node, walk: Walk) -> bool:
        """Whether a kernel leads to a stub that is named after the operator: that computes, and
        other operators which it calls prepare for that or finish it."""
        edges = self.facts.edges(node.what) if isinstance(node.what, int) else ()
        stubs = (str(edge.target) for edge in edges if edge.kind == "stub")
        return any(_is_stub_of(one, walk.native.name) for one in stubs)

    def _is_pointwise(self, native: NativeFunction) -> bool:
        """Whether PyTorch tags an operator, or another form of it, as one of single elements."""
        overloads = self.facts.overloads(native.name.removesuffix("_"))
        return any(_POINTWISE in one.tags for one in (native, *overloads))

    def _reduces(self, native: NativeFunction) -> bool:
        """Whether an operator, or another form of it, makes dimensions smaller: it is told whether
        to keep them."""
        schemas = (parse_schema(one.schema) for one in self.facts.overloads(native.name))
        return any(one.name == _KEPT for schema in schemas for one in schema.arguments)

    def _edge_price(self, edge: Edge, walk: Walk) -> float:
        price = sum(self._choice_price(one, walk) for one in self.choices(edge))
        return price + _KINDS.get(edge.kind, 0.0) + ASIDE["checks"] * self._is_checked(edge)

    def _is_checked(self, edge: Edge) -> bool:
        """Whether what is called is only checked: it stands in a ``TORCH_CHECK``."""
        caller = self.facts.by_id(edge.caller)
        said = self.facts.messages_in(caller.definition.location.path) if caller else ()
        return any(first <= edge.line <= last and is_check(kind) for kind, first, last in said)

    def _choice_price(self, choice: Choice, walk: Walk) -> float:
        usual = taken(choice, walk.device, walk.defaults)
        if usual is None:
            usual = self._is_own_flag(choice, walk)
        if usual is None:
            return _UNKNOWN.get(choice.arm, 1.0) * (not self._is_asked(choice, walk))
        if choice.arm == "case":
            return _CASE * (not self._is_asked(choice, walk)) if usual else _UNUSUAL
        return 0.0 if usual else _UNUSUAL

    def _is_own_flag(self, choice: Choice, walk: Walk) -> bool | None:
        """Whether an arm is taken that depends on a flag which bears an operator's name, as
        ``LogSoftMax`` does: it is set for that operator. None for another condition."""
        name, wanted = flag_of(choice) or ("", False)
        named = self.facts.overloads(self._flags[name]) if name in self._flags else ()
        if not named or self.works.answers_alone(named[0].full_name):
            return None  # ``is_floating_point`` asks, and is no name of what runs
        return (name == _plain(walk.native.name)) is wanted

    @cached_property
    def _flags(self) -> dict[str, str]:
        """What flags are called that bear the names of operators, of several words."""
        return {_plain(one): one for one in self.facts.bases if "_" in one.strip("_")}

    def _is_asked(self, choice: Choice, walk: Walk) -> bool:
        """Whether the case of a switch has a word of the operator's name."""
        if choice.arm != "case":
            return False
        label = choice.text.rpartition("::")[2].lower()
        return any(word in label for word in _WORDS.findall(walk.native.name))

    def _function_price(self, number: int, walk: Walk, base: str, step: Step) -> float:
        known = self.facts.by_id(number)
        if known is None:
            return 0.0
        found, price = known.definition, 0.0
        if found.guard and holds(found.guard, walk.device) is False:
            price += _UNUSUAL
        price += _RARE * is_special(found.name) + _HELP * bool(_HELPER.match(found.name))
        if isinstance(step.why, Edge):
            if step.why.candidates > 1:
                price += 2.0 * bool(_OTHER_TYPES.search(found.parameters))
                price += 0.5 * bool(_DOUBLE.search(found.parameters))
                price -= 0.1 * bool(_FLOAT.search(found.parameters))
            if _is_of_operator(known, base):
                price -= _STEP - 0.1
            rows = self.facts.kernel_rows_of(number)
            price += max((ASIDE.get(self.works.operator(row.op), 0.0) for row in rows), default=0.0)
        return price

    def choices(self, edge: Edge) -> tuple[Choice, ...]:
        return self.facts.conditions(edge) if edge.branch and not edge.macro else ()

    # ------------------------------------------------------------------------ ends

    def _ends(self, node: Node, walk: Walk) -> Iterator[tuple[float, End]]:
        """What computes in a node itself."""
        known = self.facts.by_id(node.what) if isinstance(node.what, int) else None
        if known is None:
            return
        before = walk.before[node]
        if before and isinstance(before[1].why, KernelRow) and before[1].why.kind == "ufunc":
            yield _MADE, End("launch" if walk.device == "CUDA" else "loop", known, None)
            return
        if is_generic(known):
            return
        if known.definition.cuda_global:
            end = End("launch", known, None)
            yield self._preparing(end, node, walk), end
            return
        if not self._is_of(known, walk.device):
            return
        strong = self.works.computing_edges(known)
        if not strong:
            yield from self._weak(known, node, walk)
        for edge, kind in strong:
            name = edge.symbol.rpartition("::")[2]
            is_it = edge.kind == "library" and name == known.definition.name
            if not is_it and not (kind == "loop" and walk.device != "CPU"):
                price, end = self._end(known, edge, kind, walk)
                yield price + self._preparing(end, node, walk), end

    def _preparing(self, end: End, node: Node, walk: Walk) -> float:
        """What it costs that a function is launched that prepares; of an operator that is named so
        it is what computes."""
        found = _PREPARES.search(end.known.definition.name) if end.kind == "launch" else None
        named = (walk.native.name, walk.base[node])
        return _HELP * (found is not None and not any(found[1] in one for one in named))

    def _end(self, known: Known, edge: Edge, kind: ComputingKind, walk: Walk) -> tuple[float, End]:
        conditions = self.choices(edge)
        path = known.definition.location.path
        price = 1.0 + _ELSEWHERE * (is_header(path) and "/native/" not in path)
        price += sum(self._choice_price(one, walk) for one in conditions)
        if edge.kind == "launch" and isinstance(edge.target, int):
            launched = self.facts.by_id(edge.target)
            return price, End(kind, launched or known, edge, conditions)
        return price, End(kind, known, edge, conditions)

    def _weak(self, known: Known, node: Node, walk: Walk) -> Iterator[tuple[float, End]]:
        """Functions that are made for dtypes compute, though no loop is seen in them: the one
        that a switch over dtypes calls, or the one that switches."""
        calls = self.facts.calls(known)
        if any(call.name.startswith(DTYPE_SWITCH) for call in calls):
            kind: RouteKind = PLAIN.get(walk.device, "launch")
            made = {call.name for call in calls if "_t" in call.template}
            for edge in self.facts.edges(known.id):
                target = self.facts.by_id(edge.target) if isinstance(edge.target, int) else None
                if target and target.definition.name in made and not is_generic(target):
                    yield _WEAK, End(kind, target, edge, self.choices(edge), True)
            yield _WEAK + 1.0, End(kind, known, None, guessed=True)
        elif _is_of_operator(known, walk.base[node]) and self._is_leaf(known):
            kind = PLAIN.get(walk.device, "launch")
            yield _WEAK + 1.0, End(kind, known, None, guessed=True)

    def _is_leaf(self, known: Known) -> bool:
        """Whether a function of a source file calls nothing of the tree."""
        found, edges = known.definition, self.facts.edges(known.id)
        if is_header(found.location.path) or not _DATA.search(found.parameters):
            return False
        if self.only_checks(known):
            return False
        return all(one.kind in ("macro", "passed", "unknown") for one in edges)

    def only_checks(self, known: Known) -> bool:
        """Whether a function does nothing but check, as one that always raises."""
        uses = self.facts.sites(known)
        return bool(uses) and all(is_check(use.name) for use in uses)

    def _is_of(self, known: Known, device: str) -> bool:
        """Whether a function without a launch can compute on a device: on others than the CPU,
        only in a file of the device's own."""
        return device == "CPU" or path_device(known.definition.location.path) == device


def _defaults(native: NativeFunction) -> Defaults:
    """What an operator's arguments are that are not given."""
    arguments = parse_schema(native.schema).arguments
    return tuple((one.name, one.default) for one in arguments if one.default is not None)


def _are_kin(base: str, name: str) -> bool:
    """Whether an operator is named after another: ``addcdiv`` and ``_foreach_addcdiv``."""
    name = name.strip("_")
    return (len(base) >= _SHORTEST and base in name) or f"_{name}_" in f"_{base}_"


def _plain(name: str) -> str:
    return name.replace("_", "").lower()


def _is_stub_of(stub: str, name: str) -> bool:
    """Whether a stub is named after an operator: ``cholesky_stub`` and ``linalg_cholesky_ex``."""
    stem = stub.rpartition("::")[2].removesuffix("_stub")
    return len(stem) >= _SHORTEST and f"_{stem}_" in f"_{name.strip('_')}_"


def _is_of_operator(known: Known, base: str) -> bool:
    """Whether a function is named after an operator."""
    found = known.definition
    named = len(base) >= _SHORTEST and base in found.name
    return named and not _HELPER.match(found.name)
