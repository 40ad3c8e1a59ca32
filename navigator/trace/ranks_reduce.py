"""One rank's trace reduced with Polars: time by name, and how its device was used."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from navigator.trace.model import NameTotal, Rank
from navigator.trace.table import ANNOTATION, CALL, GONE, NODE, NONE, OP, PHASES, REGION
from navigator.trace.trace import Trace

_RANK = re.compile(r"rank[\W_]{0,2}(\d+)", re.IGNORECASE)
_COLLECTIVE = (
    r"(?i)^(?:void )?(?:nccl|rccl|oneccl|hccl)"
    r"|^(?:c10d::|_c10d_functional::|gloo:|nccl:|mpi:|ucc:)"
)
"""Kernels of the collective libraries; on the CPU the operators and spans around them."""
_KERNEL = 0


def reduce_trace(trace: Trace, path: Path) -> Rank:
    """What one rank did, by name, and how its device was used."""
    rows, kernels = _rows(trace), _kernels(trace)
    on_device = not kernels.is_empty()
    use = _device_use(kernels if on_device else rows.filter("outermost"))
    return Rank(
        _number(trace, path),
        str(path),
        len(rows) + len(kernels),
        _span(rows, kernels),
        *use,
        on_device,
        tuple(trace.meta.problems),
        (
            *_totals(rows.filter("timed"), "operator", "label"),
            *_totals(kernels, "kernel", "label"),
            *_totals(rows, "phase", "phase"),
            *_totals(kernels, "device phase", "phase"),
        ),
    )


def _rows(trace: Trace) -> pl.DataFrame:
    """Columns: label, phase, start, end, own (time without what it calls), timed, outermost."""
    table = trace.table
    labels = [f"{name}.{overload}" if overload else name for name, overload in table.names.values]
    frame = pl.DataFrame(
        {
            "kind": pl.Series(table.kind, dtype=pl.Int8),
            "label": pl.Series(table.name, dtype=pl.Int32),
            "phase": pl.Series(table.phase, dtype=pl.Int8),
            "parent": pl.Series(table.parent, dtype=pl.Int32),
            "start": pl.Series(table.start, dtype=pl.Float64),
            "time": pl.Series(table.duration, dtype=pl.Float64),
        }
    ).with_row_index("id")
    inside = frame.group_by(pl.col("parent").cast(pl.UInt32, strict=False).alias("id")).agg(
        pl.col("time").sum().alias("inside")
    )
    outer = pl.col("kind").gather(pl.when(pl.col("parent") >= 0).then(pl.col("parent")))
    return (
        frame.join(inside, on="id", how="left")
        .with_columns(
            _named("label", labels),
            _named("phase", PHASES),
            own=(pl.col("time") - pl.col("inside").fill_null(0.0)).clip(0.0),
            end=pl.col("start") + pl.col("time"),
            copy=pl.lit(False),
            timed=pl.col("kind").is_in([OP, NODE, REGION]),
            outermost=~pl.col("kind").is_in([CALL, ANNOTATION])
            & outer.is_in([CALL, ANNOTATION]).fill_null(True),
        )
        .filter(pl.col("kind") != GONE)
    )


def _kernels(trace: Trace) -> pl.DataFrame:
    """Columns: label, phase, start, end, own, copy, of kernels, copies and fills."""
    table, rows = trace.table.kernels, trace.table
    phases = [rows.phase[op] if op != NONE else 0 for op in table.op]
    return pl.DataFrame(
        {
            "label": pl.Series(table.name, dtype=pl.Int32),
            "phase": pl.Series(phases, dtype=pl.Int8),
            "work": pl.Series(table.work, dtype=pl.Int8),
            "start": pl.Series(table.start, dtype=pl.Float64),
            "own": pl.Series(table.duration, dtype=pl.Float64),
        }
    ).with_columns(
        _named("label", table.names.values),
        _named("phase", PHASES),
        end=pl.col("start") + pl.col("own"),
        copy=pl.col("work") != _KERNEL,
    )


def _named(column: str, names: object) -> pl.Expr:
    """Numbers of a column replaced by what they stand for."""
    return pl.lit(pl.Series(column, list(names), dtype=pl.String)).gather(pl.col(column))  # type: ignore[call-overload]


def _totals(frame: pl.DataFrame, kind: str, column: str) -> Iterator[NameTotal]:
    totals = frame.group_by(column).agg(pl.len(), pl.col("own").sum())
    for name, count, own in totals.sort("own", descending=True).iter_rows():
        yield NameTotal(kind, name, count, own)


def _device_use(work: pl.DataFrame) -> tuple[float, float, float, float]:
    """Time computing, communicating, communicating while nothing was computed, and busy."""
    collective = pl.col("label").str.contains(_COLLECTIVE)
    both = work.filter(~pl.col("copy"))
    compute = _union(both.filter(~collective))
    return compute, _union(both.filter(collective)), _union(both) - compute, _union(work)


def _union(spans: pl.DataFrame) -> float:
    """How long at least one of them lasted."""
    before = pl.col("end").cum_max().shift(1).fill_null(float("-inf"))
    new = (pl.col("end") - pl.max_horizontal("start", before)).clip(0.0)
    return float(spans.sort("start").select(new.sum()).item() or 0.0)


def _span(rows: pl.DataFrame, kernels: pl.DataFrame) -> float:
    """From the first event to the end of the last."""
    both = pl.concat([rows.select("start", "end"), kernels.select("start", "end")])
    return float(both.select(pl.col("end").max() - pl.col("start").min()).item() or 0.0)


def _number(trace: Trace, path: Path) -> int | None:
    """The trace says it, or else its name does: ``rank3.json``, ``rank_3/trace.json``."""
    if trace.meta.rank is not None:
        return trace.meta.rank
    found = _RANK.findall("/".join(path.parts[-2:]))
    return int(found[-1]) if found else None
