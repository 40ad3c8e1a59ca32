"""Links rows of a trace to chains and source, for the trace pane. Call in threads."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from textual.worker import get_current_worker

from indexes.model.errors import SourceError
from indexes.queries.dispatch_path.recorded import DispatchPath
from indexes.queries.index import Index
from indexes.source.source import Source
from navigator.trace.compiling.words import compiled_words
from navigator.trace.filters import matching, parse_filter
from navigator.trace.groups import GROUPS, hottest, line_totals
from navigator.trace.link import Linker
from navigator.trace.links import NodeLink, OpLink
from navigator.trace.model import TraceOp
from navigator.trace.program_code import RULE
from navigator.trace.storages.tensors import RecordedTensor, recorded_tensors
from navigator.trace.table import OP
from navigator.trace.trace import Trace
from navigator.trace.versions import schema_index
from navigator.trace.views import VIEWS, Links, View
from navigator.trace.views.times import time_view
from navigator.trace.wording import duration
from navigator.tui.chain.route_rows import Ran
from navigator.tui.history import Visit
from navigator.tui.session import Session, refreshed_index, visit_to
from navigator.tui.trace.detail import Launched
from navigator.tui.trace.view_table import Sheet, sheet_of

_MOST_ROWS = 400
_MOST_KERNELS = 8


@dataclass(frozen=True)
class Linked:
    """The target of a row: the chain to show, or why there is none."""

    row: int
    link: OpLink | None
    launched: tuple[Launched, ...]
    visit: Visit | None
    reason: str
    ran: Ran | None = None
    """What the call ran, as far as recorded."""
    compiled: tuple[str, ...] = ()
    """Facts from torch.compile, one line each."""


class TraceLinks:
    """Links for one trace and one index."""

    def __init__(self, trace: Trace, session: Session, cache: Path | None) -> None:
        self._trace = trace
        self._index = session.index
        self._cache = cache
        self._linker = Linker(trace, self._index) if isinstance(self._index, Index) else None

    @property
    def linker(self) -> Linker | None:
        """Links the trace to the index; None while the index is built."""
        return self._linker

    def answer(self, row: int) -> Linked:
        """The target of a row; for a call, that of its operator."""
        op = self._operator(self._trace.op(row))
        linker = self._linker
        if linker is None:
            visit = Visit(op=op.full_name, title=op.label) if op.kind == "op" else None
            return Linked(row, None, (), visit, "the index is still being built")
        link = linker.link(op)
        launched: list[Launched] = [
            (kernel, linker.kernel_name(kernel)) for kernel in self._trace.kernels_of(op.id)[:2]
        ]
        visit = self._visit(op, link)
        reason = "; ".join(link.reasons) or f"{op.label} is not an operator"
        compiled = tuple(compiled_words(self._trace.table, row, linker))
        ran = self._ran(op, link, linker)
        return Linked(row, link, tuple(launched), visit, reason, ran, compiled)

    def _ran(self, op: TraceOp, link: OpLink, linker: Linker) -> Ran | None:
        """What a call ran, if on a single device."""
        if op.kind != "op" or not link.full_name or len(link.keys) != 1:
            return None
        rows = [op.id, *self._below(op.id)]
        names = {self._trace.op(row).name for row in rows[1:]}
        kernels = [one for row in rows for one in self._trace.kernels_of(row)][:_MOST_KERNELS]
        answers = map(linker.kernel_name, kernels)
        sources = (one for answer in answers for one in (answer.source, answer.launcher) if one)
        return Ran(
            link.full_name,
            link.keys[0],
            frozenset(name.removeprefix("aten::") for name in names),
            frozenset((source.location.path, source.location.line) for source in sources),
        )

    def _below(self, row: int) -> list[int]:
        """Descendants of a row, breadth first."""
        found = list(self._trace.children(row))
        for one in found:  # grows
            found += self._trace.children(one)
            if len(found) > _MOST_ROWS:
                break
        return found

    def path(self, row: int) -> DispatchPath | None:
        """The dispatch path of a row or of a call's operator; None if it was not dispatched."""
        if self._linker is None:
            return DispatchPath("", (), "the index is still being built")
        return self._linker.path(self._operator(self._trace.op(row)))

    def tensors(self, row: int) -> tuple[RecordedTensor, ...]:
        """The inputs and results of a row; empty while the index is being built."""
        if self._linker is None:
            return ()
        return recorded_tensors(self._trace, self._linker, row)

    def formula(self, row: int) -> Visit | None:
        """The formula of a row: of its Node, or of the operator itself."""
        op = self._operator(self._trace.op(row))
        if self._linker is None:
            return None
        link = self._linker.link(op)
        if link.node is not None:
            return self._node(link.node, self._linker.index)
        entry = self._linker.index.derivative(link.full_name) if link.full_name else None
        return visit_to(entry.location, link.full_name, link.full_name) if entry else None

    def _node(self, node: NodeLink, index: Index) -> Visit | None:
        """The Node's entry in this tree, at its first formula, or its class."""
        entries = index.node(node.grad_fn)
        if entries and self._has(entries[0].op):
            formulas = [
                f
                for one in entries[0].sets
                if one.grad_fn in (node.grad_fn, None)
                for f in one.formulas
                if f.kind == "gradient"
            ]
            at = formulas[0].location if formulas else entries[0].location
            return visit_to(at, node.grad_fn, entries[0].op)
        if node.definition is not None:
            return visit_to(node.definition.location, node.grad_fn, None)
        return None

    def use_installed(self) -> bool:
        """Take names and formulas from the torch that recorded the trace, if it is installed and
        differs from the tree. Can take long the first time."""
        index = self._index
        if not isinstance(index, Index):
            return False
        schemas = schema_index(self._trace, index, self._cache, _index_in_process)
        if schemas is not None:
            self._linker = Linker(self._trace, index, schemas)
        return schemas is not None

    def _operator(self, op: TraceOp) -> TraceOp:
        """The longest of the operators that a call ran directly."""
        if op.kind not in ("call", "annotation"):
            return op
        below = [self._trace.op(child) for child in self._trace.children(op.id)]
        operators = [child for child in below if child.kind == "op"]
        return max(operators, key=lambda child: child.duration_us, default=op)

    def _visit(self, op: TraceOp, link: OpLink) -> Visit | None:
        """The operator's chain at the kernel that ran; for a Node its entry."""
        if op.kind in ("node", "engine"):
            return self.formula(op.id)
        if not link.full_name or not self._has(link.full_name):
            return _of_program(op, link)
        at = None
        if link.kernel is not None and link.kernel.definitions:
            at = link.kernel.definitions[0].location
        return visit_to(at, link.full_name, link.full_name)

    def _has(self, full_name: str) -> bool:
        return self._index.summary(full_name) is not None


def _index_in_process(source: Source, cache: Path | None) -> Index:
    """An up-to-date index, built in a separate process. Call in a worker."""
    with suppress(SourceError):  # there is none yet
        index = Index.as_left(source, cache)
        if index.is_current():
            return index
        index.close()
    worker = get_current_worker()
    return refreshed_index(
        source, cache, lambda _: None, lambda: worker.is_cancelled, lambda _: None
    )


def _of_program(op: TraceOp, link: OpLink) -> Visit | None:
    """The program's function, or the line that registers it."""
    kernel = link.kernel
    if kernel is None or kernel.rule != RULE:
        return None
    at = kernel.definitions[0].location if kernel.definitions else kernel.registered
    return visit_to(at, op.label)


def line_notes(trace: Trace, path: str, lines: int) -> list[str]:
    """Calls and time for each line of a file: ``12x 3.4ms``."""
    totals = line_totals(trace, path)
    notes = [
        f"{total.count:,}× {duration(total.own_us):>7} " if total else ""
        for total in map(totals.get, range(1, lines + 1))
    ]
    longest = max(map(len, notes), default=0)
    return [note.rjust(longest) for note in notes] if longest else []


def first_look(trace: Trace) -> int | None:
    """The innermost operator in which the program died, else the most expensive one."""
    running = trace.table.unfinished
    return max(running, key=trace.table.start.__getitem__) if running else hottest(trace)


def matched(trace: Trace, text: str, *, only_operators: bool) -> list[int]:
    """The rows that match a filter."""
    kinds = trace.table.kind
    rows = matching(trace, parse_filter(text), lambda: get_current_worker().is_cancelled)
    return [row for row in rows if not only_operators or kinds[row] == OP]


def sheet(trace: Trace, name: str, text: str, made: View | None, links: Links) -> Sheet:
    """A view of the rows that match a filter; for views that are not sums of rows, its lines that
    contain the filter's words."""
    query = parse_filter(text)
    for by in GROUPS:
        if by == name and query:
            rows = matching(trace, query, lambda: get_current_worker().is_cancelled)
            return sheet_of(time_view(trace, links, by, rows))
    view = made or VIEWS[name](trace, links)
    if query.terms:
        note = "the filter applies to rows of the trace, not to this view"
        view = replace(view, notes=(note, *view.notes))
    return sheet_of(view, " ".join(query.words))
