"""Blocks of memory from allocation to release, and the amount in use over time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from indexes.model.lines import grouped
from navigator.trace.columns import NONE
from navigator.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Block:
    """Memory allocated during the recording. Moments are indexes of ledger entries."""

    taken: int
    freed: int
    """NONE if it was not freed."""
    row: int
    """The row that was running at the allocation, or NONE."""
    bytes: int

    def is_alive(self, moment: int) -> bool:
        """Whether it is allocated just after a moment."""
        return self.taken <= moment and not 0 <= self.freed <= moment


@dataclass
class Ledger:
    """The events of one device's allocator, by time."""

    device: str
    """``cpu``, ``cuda:0``; ``cpu shared`` for memory shared between processes."""
    moments: list[int]
    """Indexes into the trace's allocations."""
    totals: list[int]
    """Bytes held after each moment: as the allocator says, else sums of recorded events."""
    blocks: list[Block] = field(default_factory=list)
    earlier: list[int] = field(default_factory=list)
    """Moments at which memory was freed that was allocated before the recording."""
    unseen: int = 0
    """Blocks whose address was allocated again without a recorded release."""

    @cached_property
    def peak(self) -> int:
        """The first moment with the most memory."""
        return max(range(len(self.totals)), key=self.totals.__getitem__)

    def alive(self, moment: int) -> Iterator[Block]:
        return (block for block in self.blocks if block.is_alive(moment))


def ledgers(trace: Trace) -> list[Ledger]:
    """One for each device with memory events."""
    table = trace.table.allocations
    ordered = sorted(range(len(table)), key=table.start.__getitem__)
    by_device = grouped((table.places[table.place[n]], n) for n in ordered if table.size[n])
    for device, moments in list(by_device.items()):
        allocated, mapped = _apart(trace, moments)
        by_device[device] = allocated
        by_device |= {f"{device} shared": mapped} if mapped else {}
    return [_ledger(trace, device, moments) for device, moments in by_device.items() if moments]


def _apart(trace: Trace, moments: list[int]) -> tuple[list[int], list[int]]:
    """The allocator's events, and those of shared memory, which have no total."""
    table = trace.table.allocations
    held, allocated, mapped = 0, [], []
    recorded = any(table.total[number] for number in moments)
    for number in moments:
        if recorded and not table.total[number] and held + table.size[number]:
            mapped.append(number)
        else:
            held = table.total[number]
            allocated.append(number)
    return allocated, mapped


def _ledger(trace: Trace, device: str, moments: list[int]) -> Ledger:
    table = trace.table.allocations
    totals = [table.total[number] for number in moments]
    if not any(totals):
        totals = list(accumulate(table.size[number] for number in moments))
    ledger = Ledger(device, moments, totals)
    _pair(trace, ledger)
    return ledger


def _pair(trace: Trace, ledger: Ledger) -> None:
    """Pairs each block with its release, the next event of its address."""
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
