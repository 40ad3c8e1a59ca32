"""A chain: everything one overload leads to, from its schema to the lines that compute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, replace
from heapq import heappop

from indexes.codegen.variants import signature_of
from indexes.linking.graph import device_of_key
from indexes.model.answers import Chain, Hop, Unresolved
from indexes.model.lines import grouped
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import Choice, NativeFunction, Problem, Role, Work
from indexes.queries.chains.functions import Functions
from indexes.queries.chains.kernels import Kernels
from indexes.queries.chains.sides import add_derivative, add_python_links
from indexes.queries.chains.steps import Extent
from indexes.queries.chains.stubs import Stubs
from indexes.queries.chains.walk import ChainWalk
from indexes.queries.indexed_tree import IndexedTree

_PLACES = 3
"""Most places listed for calls with an unknown target, unless everything is shown."""

_OVER_AUTOGRAD = ("Autograd", "CompositeImplicitAutograd")
"""The alias keys that cover the autograd keys."""


def build_chain(index: IndexedTree, native: NativeFunction, extent: Extent) -> Chain:
    """The chain of one overload."""
    (summary,) = index.facts.summaries([native.full_name])
    walk = walked(index, native, extent)
    _add_siblings(native, walk.root, walk)
    add_derivative(native, walk.root, index.facts, walk.hops, index.source)
    add_python_links(native, walk.root, index.facts, walk.hops, index.source)
    entry = index.derivative(native.full_name)
    ordered, unresolved = _display_order(walk)
    problems = index.problems_of(native.full_name)
    return Chain(index.info, summary, native, entry, ordered, unresolved, problems)


def walked(index: IndexedTree, native: NativeFunction, extent: Extent) -> ChainWalk:
    """Everything that an overload leads to."""
    walk = ChainWalk(index, native, extent)
    functions, kernels = Functions(walk), Kernels(walk)
    stubs = Stubs(walk, kernels)
    while walk.places:
        place = heappop(walk.places)[-1]
        node = place.nodes[0]
        walk.expanded.setdefault(place.hop, []).extend(place.nodes)
        if isinstance(node.what, int):
            if known := walk.facts.by_id(node.what):
                functions.of(place, known)
        elif node.kind == "stub":
            stubs.of(place, node.what)
        elif operator := walk.facts.native(node.what):
            kernels.of(place, operator)
    _add_unknown(walk)
    return walk


def _add_unknown(walk: ChainWalk) -> None:
    for (hop, reason), calls in walk.unknown.items():
        names = Counter(name for name, _ in calls)
        names_text = ", ".join(f"{name} ({n})" if n > 1 else name for name, n in names.items())
        places = list(dict.fromkeys(str(place) for _, place in calls))
        shown = len(places) if walk.extent.full else _PLACES
        where = ", ".join(places[:shown])
        more = len(places) - shown
        where += f" and {more} more: --full lists them" if more > 0 else ""
        walk.hops.miss(hop, "call", names_text, f"{reason}: at {where}")


def _add_siblings(native: NativeFunction, parent: int, walk: ChainWalk) -> None:
    signature = signature_of(native)
    base = native.space + parse_schema(native.schema).base
    expanded = {n.what for nodes in walk.expanded.values() for n in nodes if n.kind == "operator"}
    for name in (base, f"{base}_"):
        for other in walk.facts.overloads(name):
            same = signature_of(other) == signature and other.full_name not in expanded
            if same and "generated" not in other.tags:
                kind = parse_schema(other.schema).kind.name.lower()
                rule = f"the {kind} overload of the same signature"
                walk.entry(parent, "schema", other, rule)


def _real_choices(hop: Hop, taken: Set[object]) -> tuple[Choice, ...]:
    """The conditions without early returns that lead nowhere."""
    return tuple(c for c in hop.choices if c.arm != "otherwise" or c.location in taken)


def _display_order(walk: ChainWalk) -> tuple[tuple[Hop, ...], tuple[Unresolved, ...]]:
    """Each hop before those below it, renumbered in that order."""
    hops = walk.hops.hops
    taken = {c.location for h in hops for c in h.choices if c.arm != "otherwise"}
    children = grouped((hop.parent, hop) for hop in hops)
    numbers: dict[int | None, int] = {}
    order: list[Hop] = []
    pending = list(reversed(children.get(None, [])))
    while pending:
        hop = pending.pop()
        numbers[hop.id] = len(order)
        order.append(hop)
        pending.extend(reversed(children.get(hop.id, [])))
    placed = tuple(_placed(hop, numbers, taken, walk) for hop in order)
    missing = (
        replace(u, parent=None if u.parent is None else numbers[u.parent])
        for u in walk.hops.unresolved
    )
    return placed, tuple(missing)


def _placed(hop: Hop, numbers: dict[int | None, int], taken: Set[object], walk: ChainWalk) -> Hop:
    """A hop with its final number, and notes about what is not shown below it."""
    shown, rule = walk.again.get(hop.id), hop.rule
    if shown is not None:
        rule += f"; {_where_shown(hop, shown, numbers, walk)}"
    goes_on = walk.continues.get(hop.id)
    return replace(
        hop,
        id=numbers[hop.id],
        parent=None if hop.parent is None else numbers[hop.parent],
        rule=rule,
        choices=_real_choices(hop, taken),
        folded=dict(walk.folded.get(hop.id, {})),
        continues=f"torchnav op {goes_on}" if goes_on else "",
        again=None if shown is None else numbers[shown],
    )


def _where_shown(hop: Hop, shown: int, numbers: dict[int | None, int], walk: ChainWalk) -> str:
    above = hop.parent
    while above is not None and above != shown:
        above = walk.hops.hops[above].parent
    if above == shown:
        return "a loop: it is on the way here"
    return "shown above" if numbers[shown] < numbers[hop.id] else "shown below"


@dataclass(frozen=True, slots=True)
class Filter:
    """Which hops of a chain are wanted, with those above them."""

    role: Role | None = None
    work: Work | None = None

    def of(self, chain: Chain) -> Chain:
        """The chain with only the wanted hops."""
        if self.role is None and self.work is None:
            return chain
        kept: set[int | None] = set()
        parents = {hop.id: hop.parent for hop in chain.hops}
        for hop in chain.hops:
            if self.role in (None, hop.role) and self.work in (None, hop.work):
                number: int | None = hop.id
                while number is not None and number not in kept:
                    kept.add(number)
                    number = parents[number]
        hops = tuple(hop for hop in chain.hops if hop.id in kept)
        missing = tuple(one for one in chain.unresolved if one.parent in kept)
        return replace(chain, hops=hops, unresolved=missing)


_OF_NO_KEY: frozenset[Role] = frozenset(
    ("python", "decomposition", "ref", "docs", "opinfo", "test", "owner")
)
_OF_AUTOGRAD: frozenset[Role] = frozenset(("derivative", "formula_function"))


def for_key(chain: Chain, key: str, role: Role | None = None) -> Chain:
    """The chain without hops for other dispatch keys or devices than ``key``, and without what
    belongs to none, as tests, unless it is of the wanted ``role``; a problem says that nothing has
    a kernel for the key."""
    dropped: set[int | None] = set()
    kept = []
    for hop in chain.hops:
        if hop.parent in dropped or not (_is_for(hop, key) or hop.role == role):
            dropped.add(hop.id)
        else:
            kept.append(hop)
    unresolved = [
        one
        for one in chain.unresolved
        if one.parent not in dropped and (not one.keys or key in one.keys)
    ]
    found = replace(chain, hops=tuple(kept), unresolved=tuple(unresolved))
    has_kernels = any(one.keys for one in chain.hops) or any(o.keys for o in chain.unresolved)
    is_found = any(hop.keys or hop.role in _OF_AUTOGRAD for hop in kept)
    if is_found or not has_kernels or any(key in one.keys for one in unresolved):
        return found
    where = chain.native.location
    text = f"no kernel for {key}: torchnav table {chain.op.full_name} says what runs"
    return replace(found, problems=(*chain.problems, Problem(where.path, where.line, text)))


def _is_for(hop: Hop, key: str) -> bool:
    """Whether a hop is for ``key``, or for every key that a composite kernel covers."""
    if not hop.keys:
        is_linked = hop.role != "registration" or hop.device is not None
        ours = key.startswith("Autograd") if hop.role in _OF_AUTOGRAD else is_linked
        under = hop.device in (None, key, device_of_key(key))  # a kernel of the key
        return ours and under and hop.role not in _OF_NO_KEY
    if key.startswith("Autograd"):
        return any(name in (key, *_OVER_AUTOGRAD) for name in hop.keys)
    return key in hop.keys or any(name.startswith("Composite") for name in hop.keys)
