"""Memory from when it was taken to when it was given back, and how much there was when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from navigator.trace.columns import NONE
from navigator.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Block:
    """Memory that was taken while it was recorded. Moments are positions in the ledger."""

    taken: int
    freed: int
    """NONE where it was not given back."""
    row: int
    """What was running when it was taken, NONE for nothing."""
    bytes: int

    def is_alive(self, moment: int) -> bool:
        """Whether it was there just after a moment."""
        return self.taken <= moment and not 0 <= self.freed <= moment


@dataclass
class Ledger:
    """What one device's allocator did, by time."""

    device: str
    """``cpu``, ``cuda:0``; ``cpu shared`` for what processes share."""
    moments: list[int]
    """Numbers of the events in the trace's allocations."""
    totals: list[int]
    """Bytes that the allocator held after each moment."""
    are_recorded: bool
    """Whether the totals are the allocator's; else they are sums of what was recorded."""
    blocks: list[Block] = field(default_factory=list)
    earlier: list[int] = field(default_factory=list)
    """Moments at which memory was given back that was taken before the recording."""
    unseen: int = 0
    """Blocks whose memory was taken again without having been given back in the recording."""

    @cached_property
    def peak(self) -> int:
        """The first moment at which the allocator held most."""
        return max(range(len(self.totals)), key=self.totals.__getitem__)

    def alive(self, moment: int) -> Iterator[Block]:
        return (block for block in self.blocks if block.is_alive(moment))


def ledgers(trace: Trace) -> list[Ledger]:
    """One for each device that took memory or gave it back."""
    table = trace.table.allocations
    by_device: dict[str, list[int]] = {}
    for number in sorted(range(len(table)), key=table.start.__getitem__):
        if table.size[number]:
            by_device.setdefault(table.places[table.place[number]], []).append(number)
    for device, moments in list(by_device.items()):
        kept, mapped = _apart(trace, moments)
        by_device[device] = kept
        by_device |= {f"{device} shared": mapped} if mapped else {}
    return [_ledger(trace, device, moments) for device, moments in by_device.items() if moments]


def _apart(trace: Trace, moments: list[int]) -> tuple[list[int], list[int]]:
    """What the device's allocator did, and what was mapped past it, as memory that processes
    share is: that is told without a total."""
    table = trace.table.allocations
    held, kept, mapped = 0, [], []
    recorded = any(table.total[number] for number in moments)
    for number in moments:
        if recorded and not table.total[number] and held + table.size[number]:
            mapped.append(number)
        else:
            held = table.total[number]
            kept.append(number)
    return kept, mapped


def _ledger(trace: Trace, device: str, moments: list[int]) -> Ledger:
    table = trace.table.allocations
    totals = [table.total[number] for number in moments]
    recorded = any(totals)
    if not recorded:
        totals = list(accumulate(table.size[number] for number in moments))
    ledger = Ledger(device, moments, totals, recorded)
    _pair(trace, ledger)
    return ledger


def _pair(trace: Trace, ledger: Ledger) -> None:
    """Each block with what gives it back: the next event of its address."""
    table = trace.table.allocations
    open_: dict[int, int] = {}
    freed: dict[int, int] = {}
    for moment, number in enumerate(ledger.moments):
        before = open_.pop(table.address[number], NONE)
        if before >= 0:
            freed[before] = moment
        if table.size[number] > 0:
            ledger.unseen += before >= 0
            open_[table.address[number]] = moment
        elif before < 0:
            ledger.earlier.append(moment)
    for moment, number in enumerate(ledger.moments):
        if (size := table.size[number]) > 0:
            block = Block(moment, freed.get(moment, NONE), table.op[number], size)
            ledger.blocks.append(block)
