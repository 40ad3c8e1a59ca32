"""What stands beside the kernels of an operator: its derivative, and all that is around it. None
of it rests on the kernels, so it can be worked out by a fork while those are followed."""

from __future__ import annotations

from indexes.linking.hops import HopList
from indexes.model.typed import TYPE_CHECKING
from indexes.model.vocabulary import Hop, Location, NativeFunction, Unresolved
from indexes.source.forked import begin
from indexes.source.source import Source
from indexes.store.index_file import Store
from indexes.store.lookup import Lookup

if TYPE_CHECKING:
    from collections.abc import Callable

    from indexes.model.typed import Any


def add_beside(
    native: NativeFunction, parent: int, facts: Lookup, hops: HopList, source: Source
) -> None:
    """Adds the derivative of an overload and what stands around it."""
    # Loaded here: who has a fork do it needs none of it.
    from indexes.queries.chain_around import add_around
    from indexes.queries.chain_derivative import add_derivative

    add_derivative(native, parent, facts, hops, source)
    add_around(native, parent, facts, hops, source)


def begin_beside(native: NativeFunction, store: Store, source: Source) -> Callable[[], HopList]:
    """Begins to work it out in a fork; what is returned waits for a list of it, whose first hop
    stands for the one that it hangs under."""

    def work() -> Any:
        hops = HopList()
        root = hops.add(None, "schema", native.full_name, native.location, "", "exact")
        own = Store(store.path)  # a connection is of no use on the other side of a fork
        own.begin_reading()
        add_beside(native, root, Lookup(own), hops, source)
        return _packed(hops)

    answer = begin(work)
    return lambda: _unpacked(answer())


def _packed(hops: HopList) -> Any:
    """The hops as plain data; here none has dtypes or choices."""
    return (
        [
            (h.id, h.parent, h.role, h.symbol, _place(h.location), h.rule, h.confidence, h.device,
             h.keys, [_place(one) for one in h.evidence], h.guard, h.note)
            for h in hops.hops
        ],
        [(one.role, one.symbol, one.reason, one.keys, one.parent) for one in hops.unresolved],
    )  # fmt: skip


def _place(location: Location | None) -> tuple[str, int, int] | None:
    return None if location is None else (location.path, location.line, location.end_line)


def _unpacked(packed: Any) -> HopList:
    made = HopList()
    for number, parent, role, symbol, place, rule, confidence, device, keys, *rest in packed[0]:
        evidence, guard, note = rest
        where = place and Location(*place)
        shown = tuple(Location(*one) for one in evidence)
        made.hops.append(
            Hop(number, parent, role, symbol, where, rule, confidence, device, keys, shown, guard,
                note)
        )  # fmt: skip
    made.unresolved += [Unresolved(*one) for one in packed[1]]
    return made
