"""Views of memory: allocated, freed, kept, and alive at the peak, by allocating row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from indexes.model.lines import grouped
from navigator.trace.figures.blocks import Block, Ledger, ledgers
from navigator.trace.figures.categories import RULES, Categories
from navigator.trace.groups import group_key
from navigator.trace.table import GONE
from navigator.trace.trace import Trace
from navigator.trace.views.view import Column, Links, Row, View
from navigator.trace.wording import duration, size

MemoryBy = Literal["line", "operator", "node", "module", "category"]
MEMORY_BY: tuple[MemoryBy, ...] = ("line", "operator", "node", "module", "category")

NO_MEMORY = (
    "no allocations were recorded: torchnav trace --memory records them, and so does "
    "torch.profiler's profile_memory=True"
)
_OUTSIDE = "(outside of any row)"
_EARLIER = "(taken before the recording)"

_COLUMNS = (
    Column("peak_bytes", "at peak", "bytes"),
    Column("peak_count", "blocks", "count"),
    Column("bytes", "allocated", "bytes"),
    Column("count", "allocs", "count"),
    Column("freed_bytes", "freed", "bytes"),
    Column("freed_count", "frees", "count"),
    Column("kept_bytes", "kept", "bytes"),
    Column("largest_bytes", "largest", "bytes"),
    Column("device", "device"),
)

_BLOCK_COLUMNS = (
    Column("bytes", "bytes", "bytes"),
    Column("taken_us", "allocated at", "us"),
    Column("freed_us", "freed at", "us"),
    Column("category", "category"),
    Column("operator", "operator"),
    Column("module", "module"),
    Column("user", "line"),
    Column("device", "device"),
)

Naming = Callable[[Ledger, Block], tuple[str, str]]
"""The group of a block and the filter for its rows."""


def memory_view(trace: Trace, _links: Links, by: MemoryBy) -> View:
    """Groups of allocations by what made them, most bytes at the peak first."""
    found = ledgers(trace)
    naming = _naming(trace, by)
    rows = [row for ledger in found for row in _groups(trace, ledger, by, naming)]
    rows.sort(key=_weight)
    columns = (*_COLUMNS, Column(by, by))
    notes = [line for ledger in found for line in ledger_lines(trace, ledger)]
    rules = RULES if found and by == "category" else ()
    name = "memory" if by == MEMORY_BY[0] else f"memory-{by}"
    return View(name, f"memory by {by}", columns, rows, (*(notes or [NO_MEMORY]), *rules))


def peak_view(trace: Trace, _links: Links) -> View:
    """Blocks alive at each device's peak, largest first."""
    found = ledgers(trace)
    categories = Categories(trace)
    rows = [
        _block_row(trace, ledger, block, categories)
        for ledger in found
        for block in ledger.alive(ledger.peak)
    ]
    rows.sort(key=lambda row: -int(str(row["bytes"])))
    notes = [peak_line(trace, ledger) for ledger in found] or [NO_MEMORY]
    return View("memory-peak", "memory at the peak", _BLOCK_COLUMNS, rows, tuple(notes))


# ------------------------------------------------------------------------------- groups


def _naming(trace: Trace, by: MemoryBy) -> Naming:
    if by == "category":
        categories = Categories(trace)
        return lambda ledger, block: (categories.category(ledger, block), "")
    key = group_key(trace, by)
    return lambda _ledger, block: key(block.row) if block.row >= 0 else (_OUTSIDE, "")


def _groups(trace: Trace, ledger: Ledger, by: MemoryBy, naming: Naming) -> Iterator[Row]:
    groups = grouped((naming(ledger, block), block) for block in ledger.blocks)
    for (name, term), blocks in groups.items():
        yield _group(ledger, blocks) | {by: name} | ({"term": term} if term else {})
    if ledger.earlier:
        yield _earlier(trace, ledger) | {by: _EARLIER}


def _group(ledger: Ledger, blocks: list[Block]) -> dict[str, object]:
    at_peak = [block.bytes for block in blocks if block.is_alive(ledger.peak)]
    freed = [block.bytes for block in blocks if block.freed >= 0]
    taken = sum(block.bytes for block in blocks)
    return {
        "peak_bytes": sum(at_peak),
        "peak_count": len(at_peak),
        "bytes": taken,
        "count": len(blocks),
        "freed_bytes": sum(freed),
        "freed_count": len(freed),
        "kept_bytes": taken - sum(freed),
        "largest_bytes": max(block.bytes for block in blocks),
        "device": ledger.device,
    }


def _earlier(trace: Trace, ledger: Ledger) -> dict[str, object]:
    sizes = _sizes(trace, ledger, ledger.earlier)
    return {
        "bytes": 0,
        "count": 0,
        "freed_bytes": -sum(sizes),
        "freed_count": len(sizes),
        "device": ledger.device,
    }


def _weight(row: Row) -> tuple[int, int]:
    """By bytes at the peak, then allocated bytes."""
    return -int(str(row.get("peak_bytes", 0))), -int(str(row["bytes"]))


def _sizes(trace: Trace, ledger: Ledger, moments: Iterable[int]) -> list[int]:
    return [trace.table.allocations.size[ledger.moments[moment]] for moment in moments]


def _block_row(trace: Trace, ledger: Ledger, block: Block, categories: Categories) -> Row:
    op = trace.op(block.row) if block.row >= 0 else None
    return {
        "op_id": op.id if op else None,
        "bytes": block.bytes,
        "taken_us": _time(trace, ledger, block.taken),
        "freed_us": _time(trace, ledger, block.freed) if block.freed >= 0 else None,
        "category": categories.category(ledger, block),
        "operator": op.label if op else None,
        "module": (op.module or None) if op else None,
        "user": str(op.user) if op and op.user else None,
        "device": ledger.device,
    }


# --------------------------------------------------------------------------- sentences


def ledger_lines(trace: Trace, ledger: Ledger) -> Iterator[str]:
    """The peak, the sums, and what the recording missed."""
    yield peak_line(trace, ledger)
    sizes = _sizes(trace, ledger, range(len(ledger.moments)))
    taken, freed = sum(s for s in sizes if s > 0), -sum(s for s in sizes if s < 0)
    before, after = ledger.totals[0] - sizes[0], ledger.totals[-1]
    yield (
        f"{ledger.device}: {size(before)} at the start + {size(taken)} allocated - {size(freed)} "
        f"freed = {size(before + taken - freed)}; the allocator says {size(after)}"
    )
    reserved = trace.table.allocations.reserved[ledger.moments[-1]]
    if reserved and reserved != after:
        yield f"{ledger.device}: at the end {size(after)} allocated of {size(reserved)} reserved"
    if ledger.earlier:
        yield f"{len(ledger.earlier)} frees of memory allocated before the recording"
    if ledger.unseen:
        yield f"{ledger.unseen} blocks were freed without a record, and their memory reused"


def peak_line(trace: Trace, ledger: Ledger) -> str:
    """``cpu: peak 4.4 MB at 12.3ms, in aten::addmm (train.py:12)``."""
    number = ledger.moments[ledger.peak]
    row = trace.table.allocations.op[number]
    op = trace.op(row) if row >= 0 and trace.table.kind[row] != GONE else None
    where = f", in {op.label}" if op else ""
    line = f" ({op.user})" if op and op.user else ""
    moment = duration(_time(trace, ledger, ledger.peak))
    known = sum(block.bytes for block in ledger.alive(ledger.peak))
    total = ledger.totals[ledger.peak]
    rest = f"; {size(total - known)} of it from before the recording" if total > known else ""
    reserved = trace.table.allocations.reserved[number]
    room = f", {size(reserved)} reserved" if reserved and reserved != total else ""
    return f"{ledger.device}: peak {size(total)}{room} at {moment}{where}{line}{rest}"


def _time(trace: Trace, ledger: Ledger, moment: int) -> float:
    return trace.table.allocations.start[ledger.moments[moment]] - (trace.table.zero or 0.0)
