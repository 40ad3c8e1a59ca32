"""The view of torch.compile: graphs, their calls and time, graph breaks and recompilations."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from navigator.trace.compiling.graphs import graph_of, is_region, region_number
from navigator.trace.compiling.model import Compilation, Graph, Note
from navigator.trace.table import GONE, NODE, Table
from navigator.trace.trace import Trace
from navigator.trace.views.view import Column, Links, Row, View
from navigator.trace.wording import duration

_COLUMNS = (
    Column("total_us", "time", "us"),
    Column("calls", "calls", "count"),
    Column("compile_us", "compiling", "us"),
    Column("kernels", "kernels", "count"),
    Column("operators", "operators", "count"),
    Column("breaks", "breaks", "count"),
    Column("recompiles", "recompiled", "count"),
    Column("compilation", "number"),
    Column("graph", "graph"),
    Column("function", "function"),
    Column("place", "line"),
)
_NO_LOG = (
    "the trace has no log of the compiler: graphs, kernels and reasons are in recordings of "
    "torchnav trace, and in folders of TORCH_TRACE"
)


def compiled_view(trace: Trace, _links: Links) -> View:
    """A row for each graph, and for each compilation without one; longest time first."""
    runs = _Runs(trace.table)
    rows = list(_rows(trace.table, runs))
    rows.sort(key=lambda row: -_number(row["total_us"]))
    return View("compiled", "results of torch.compile", _COLUMNS, rows, tuple(_notes(trace, runs)))


class _Runs:
    """Calls of graphs and compile times, by the number of a compilation and whether the graph is a
    backward one. Times in microseconds."""

    def __init__(self, table: Table) -> None:
        self.calls: Counter[tuple[str, bool]] = Counter()
        self.total: defaultdict[tuple[str, bool], float] = defaultdict(float)
        self.compiling: defaultdict[str, float] = defaultdict(float)
        rows = table.compiler_rows()
        self.count, compiling = len(rows), {*rows}
        for row in rows:
            self.compiling[table.compilations[row]] += table.duration[row]
        regions = {number for number, (name, _) in enumerate(table.names.values) if is_region(name)}
        for row, kind in enumerate(table.kind[: len(table)]):
            if kind != NODE and table.name[row] not in regions:
                continue
            key = _ran(table, row, kind)
            if key is not None:
                self.calls[key] += 1
                self.total[key] += _own_time(table, row, compiling)


def _ran(table: Table, row: int, kind: int) -> tuple[str, bool] | None:
    if kind == NODE and row in table.forward:
        graph = graph_of(table, row)
        found = [key for key, rows in table.graphs_of.items() if graph and graph.row in rows]
        return found[0] if found else None
    number = region_number(table, row) if kind != GONE else ""
    return (number, False) if number else None


def _own_time(table: Table, run: int, compiling: set[int]) -> float:
    """The time of a run without nested runs after a graph break, and without compilation of a
    backward graph at its first run."""
    inside = (
        row for row in table.descendants(run) if region_number(table, row) or row in compiling
    )
    return table.duration[run] - sum(
        table.duration[row]
        for row in inside
        if run == next(o for o in table.ancestors(row) if o == run or region_number(table, o))
    )


def _rows(table: Table, runs: _Runs) -> Iterator[Row]:
    compilations = {one.id: one for one in table.compiled}
    numbers = dict.fromkeys([*compilations, *(number for number, _ in runs.calls), *runs.compiling])
    for number in filter(None, numbers):
        one = compilations.get(number, Compilation(number))
        graphs = [graph for graph in one.kept_graphs() if graph.row >= 0]
        for at, graph in enumerate(graphs or [None]):
            yield _row(one, graph, runs, first=not at)


def _row(one: Compilation, graph: Graph | None, runs: _Runs, first: bool) -> Row:
    """``first``: whether this row carries the facts about the whole compilation."""
    key = (one.id, graph is not None and graph.is_backward)
    place = one.frame.location if one.frame else None
    kinds = Counter(note.kind for note in one.notes)
    return {
        "total_us": runs.total[key] if key in runs.calls else None,
        "calls": runs.calls[key],
        "compile_us": runs.compiling.get(one.id) if first else None,
        "kernels": len(graph.kernels) if graph else None,
        "operators": len(graph.nodes) if graph else None,
        "breaks": kinds["break"] if first else None,
        "recompiles": kinds["recompile"] if first else None,
        "compilation": one.id,
        "graph": (graph.name or "of Inductor") if graph else None,
        "function": one.function or (one.frame.function if one.frame else None),
        "place": str(place) if place else None,
        "path": place.path if place else None,
        "line": place.line if place else None,
        "op_id": graph.row if graph else None,
        "code": graph.path or None if graph else None,
        "notes": [_note(note) for note in one.notes] if first else [],
    }


def _note(note: Note) -> Row:
    place = note.frame.location if note.frame else None
    facts = {"kind": note.kind, "text": note.text}
    return facts | ({"path": place.path, "line": place.line} if place else {})


def _notes(trace: Trace, runs: _Runs) -> Iterator[str]:
    """Compile time, then each graph break and recompilation with reason and line."""
    if not runs.count and not trace.table.compiled:
        yield "nothing was compiled" if not runs.calls else _NO_LOG
        return
    if runs.count:
        took = duration(sum(runs.compiling.values()))
        yield f"{runs.count} time{'s' * (runs.count != 1)} in the compiler, {took}"
    for one in trace.table.compiled:
        for note in one.notes:
            place = f" {note.frame.location}" if note.frame else ""
            yield f"[{one.id}] {note.text}{place}"
    if not trace.table.compiled:
        yield _NO_LOG


def _number(value: object) -> float:
    return value if isinstance(value, int | float) else 0.0
