"""The workspace of the trace screen."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import ClassVar

from textual.binding import Binding, BindingType

from indexes.model.errors import TorchnavError
from indexes.model.vocabulary import Location
from indexes.queries.dispatch_path.recorded import DispatchPath
from navigator.trace.compiling.graphs import compiled_from
from navigator.trace.figures.pairs import pairs_of
from navigator.trace.model import TraceOp
from navigator.trace.storages.tensors import RecordedMember, RecordedTensor
from navigator.trace.storages.uses import Use
from navigator.trace.trace import Trace
from navigator.trace.views import Row
from navigator.tui.background import ask, say
from navigator.tui.context import Context
from navigator.tui.debounce import Debounce
from navigator.tui.history import Visit
from navigator.tui.panes.chain_workspace import ChainWorkspace
from navigator.tui.place_rows import PlaceRow, of_slots
from navigator.tui.source.document import Document
from navigator.tui.source.source_pane import SourcePane
from navigator.tui.trace.links import Linked, TraceLinks, line_notes
from navigator.tui.trace.output_log import OutputLog
from navigator.tui.trace.pane import TracePane
from navigator.tui.widgets.line_list import LineList


class TraceWorkspace(ChainWorkspace):
    """The trace, the chain of the selected row, the source of a hop or of the user."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "view(1)", "View", id="trace.view"),
        Binding("alt+v", "view(-1)", "Previous view", show=False, id="trace.view_before"),
        Binding("t", "tail", "Tail", show=False, id="trace.tail"),
        Binding("p", "pause", "Pause", show=False, id="trace.pause"),
        Binding("u", "users_line", "User's line", id="trace.users_line"),
        Binding("d", "dispatch_path", "Dispatch path", id="trace.dispatch_path"),
        Binding("S", "tensors", "Tensors", show=False, id="trace.tensors"),
        Binding(
            "b", "pair", "Backward", tooltip="Forward and backward side by side", id="trace.pair"
        ),
    ]

    CHORDS: ClassVar[Mapping[str, Sequence[Binding]]] = {
        "go": (
            *ChainWorkspace.CHORDS["go"],
            Binding("f", "partner", "forward or backward", id="go.partner"),
        ),
        "copy": ChainWorkspace.CHORDS["copy"],
    }

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.links: TraceLinks | None = None
        self._shows_pair = False
        self._lines = cache(self._lines_of)
        self._link_soon = Debounce(self, 0.06)

    @property
    def pane(self) -> TracePane:
        return self.query_one(TracePane)

    def line_text(self, location: Location) -> str:
        """A line of the program; empty if the file is not on this machine."""
        lines = self._lines(location.path)
        return lines[location.line - 1] if 0 < location.line <= len(lines) else ""

    def _lines_of(self, path: str) -> Sequence[str]:
        try:
            return self.context.users.document(path).lines if os.path.isabs(path) else ()
        except TorchnavError:
            return ()

    def grow(self, trace: Trace, *, done: bool) -> None:
        """Show a trace, or new rows of the present one."""
        is_other = self.pane.trace is not trace
        self.pane.ops.line_text = self.line_text
        self.pane.grow(trace, done=done)
        if is_other:
            self.link()
        elif done:
            self.pane.relink()

    def link(self) -> None:
        """Link rows again after a new trace or index."""
        trace, session = self.pane.trace, self.context.session
        if trace is not None and session is not None:
            links = self.links = TraceLinks(trace, session, self.context.opener.cache)
            self.pane.links = lambda: links.linker
            self._follow_row()
            ask(self, "installed", links.use_installed, self._refined)

    def _refined(self, better: bool) -> None:
        if better:
            self._follow_row()
        self.pane.relink()

    # -------------------------------------------------------------- what a row leads to

    def on_line_list_moved(self) -> None:
        self._link_soon(self._follow_row)

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        pane = self.pane
        if message.list is pane.table:
            message.prevent_default()
            self._open_cell(pane.table.current or {})
        elif message.list is pane.lanes:
            message.prevent_default()
            if pane.current is not None:
                pane.open_row(pane.current)
            else:
                say(self, "the trace has no row for this span")
        elif message.list is pane.ops and pane.ops.line_here() is not None:
            message.prevent_default()
            self.action_users_line()

    def _open_cell(self, row: Row) -> None:
        """Open the target of a view's row: a row of the trace, filtered rows, or source."""
        op_id, term, path = row.get("op_id"), row.get("term"), row.get("path")
        if isinstance(op_id, int):
            self.pane.open_row(op_id)
        elif isinstance(term, str) and term:
            self.pane.open_filtered(term)
        elif isinstance(path, str) and path:
            line = row.get("line")
            number = line if isinstance(line, int) else 1
            self.jump(Visit(self.chain.op, path, number, 0, f"{path}:{number}"))
        else:
            say(self, "this has no row in the trace and no source")

    def _follow_row(self) -> None:
        row, op, links = self.pane.current, self._op(), self.links
        if row is None or op is None:
            self.pane.detail.show(None)
            return
        self.pane.detail.show(op, self._forward(op))
        if self._shows_pair:
            self._show_pairs(row)
        self.pane.timeline.mark(op.start_us)
        if links is not None:
            ask(self, "link", lambda: links.answer(row), self._linked)

    def action_pair(self) -> None:
        """Show or hide forward and backward side by side."""
        row, trace = self.pane.current, self.pane.trace
        if row is None or trace is None:
            return
        if not self._shows_pair and not pairs_of(trace, row):
            say(self, "no matching backward call recorded")
            return
        self._shows_pair = not self._shows_pair
        self.screen.set_class(self._shows_pair, "-pairs")
        self._follow_row()

    def _show_pairs(self, row: int) -> None:
        """Show both sides at once, the formulas when they are known."""
        trace, links, detail = self.pane.trace, self.links, self.pane.detail
        pairs = pairs_of(trace, row) if trace is not None else []
        detail.show_pairs(pairs)
        if pairs and links is not None:
            node = pairs[0].node.id

            def known(found: Linked) -> None:
                if self._shows_pair and self.pane.current == row and found.link is not None:
                    formulas = found.link.node.formulas if found.link.node is not None else ()
                    detail.show_pairs(pairs, formulas)

            ask(self, "pair", lambda: links.answer(node), known)

    def _op(self) -> TraceOp | None:
        """What is under the cursor."""
        row, trace = self.pane.current, self.pane.trace
        return trace.op(row) if trace is not None and row is not None else None

    def _forward(self, op: TraceOp) -> TraceOp | None:
        """The operator whose gradient the row's Node computes."""
        trace = self.pane.trace
        if trace is None or op.node_id is None:
            return None
        forward = trace.op(op.node_id).forward_id
        return trace.op(forward) if forward is not None else None

    def _linked(self, found: Linked) -> None:
        if found.row != self.pane.current or self.pane.trace is None:
            return
        if found.link is not None:
            self.pane.detail.show_link(found.link, found.launched, found.compiled)
        self.chain.ran = found.ran
        if found.visit is not None:
            self.open(found.visit)
            self.chain.mark_ran()
        else:
            self.chain.show_message(self.pane.trace.op(found.row).label, found.reason)
            self.source.show_message(found.reason)

    def action_dispatch_path(self) -> None:
        """Show the dispatch keys that the call went through, with their kernels."""
        row, links = self.pane.current, self.links
        if row is not None and links is not None:
            ask(self, "path", lambda: links.path(row), self._show_path)

    def _show_path(self, path: DispatchPath | None) -> None:
        if path is None or not path.steps:
            say(self, path.end if path else "this row was not dispatched")
        else:
            title = f"dispatch path of {path.op}"
            self.post_message(self.Offered(self, title, list(path_rows(path))))

    def action_tensors(self) -> None:
        """Show the call's inputs and results by member, and other uses of their storages."""
        row, links = self.pane.current, self.links
        if row is not None and links is not None:
            ask(self, "tensors", lambda: links.tensors(row), self._show_tensors)

    def _show_tensors(self, found: Sequence[RecordedTensor]) -> None:
        op, trace = self._op(), self.pane.trace
        if op is None or trace is None or not found:
            say(self, "no tensors were recorded for this row")
        else:
            title = f"tensors of {op.label}"
            self.post_message(self.Offered(self, title, list(tensor_rows(trace, found))))

    def action_derivative(self) -> None:
        """Show the formula of the row: in a backward pass that of its Node."""
        row, links = self.pane.current, self.links
        visit = links.formula(row) if links is not None and row is not None else None
        if visit is not None:
            self.jump(visit)
        else:
            say(self, "derivatives.yaml has no formula for this row")

    def action_partner(self) -> None:
        """Go from an operator to the Node of its gradient, or back; in compiled code, to the row of
        the graph or kernel."""
        op, trace = self._op(), self.pane.trace
        if op is None or trace is None:
            return
        forward = self._forward(op)
        partner = forward.id if forward else trace.backward_of(op.id)
        if partner is None:
            partner = compiled_from(trace.table, op.id)
        if partner is None:
            say(self, "no matching backward call recorded")
        elif self.pane.list is not self.pane.ops or not self.pane.ops.select(partner):
            self.pane.open_row(partner)

    def action_next_pane(self, by: int) -> None:
        """Go to a program that waits for input first, else as everywhere."""
        for log in self.query(OutputLog):
            if log.asks and not log.has_focus_within:
                self.screen.set_focus(log.line)
                return
        super().action_next_pane(by)

    # ----------------------------------------------------------------------------- rows

    def action_view(self, by: int) -> None:
        self.pane.turn_view(by)

    def action_tail(self) -> None:
        self.pane.toggle_tail()

    def action_pause(self) -> None:
        self.pane.toggle_pause()

    # ------------------------------------------------------------ the user's own source

    def action_users_line(self) -> None:
        """Go to the user's line that led to the row."""
        op = self._op()
        user = op.user if op is not None else None
        if user is None:
            say(self, "user line not recorded")
        else:
            self.jump(Visit(self.chain.op, user.path, user.line, 0, f"{user.path}:{user.line}"))

    def on_source_pane_shown(self, message: SourcePane.Shown) -> None:
        """Show what each line of the user's source has run."""
        document, trace = message.document, self.pane.trace
        if os.path.isabs(document.path) and trace is not None:
            lines = len(document.lines)
            ask(
                self,
                "notes",
                lambda: line_notes(trace, document.path, lines),
                lambda notes: self._show_notes(document, notes),
            )

    def _show_notes(self, document: Document, notes: Sequence[str]) -> None:
        if self.source.view.document is document:
            self.source.view.show_notes(notes, len(notes[0]) if notes else 0)


_MOST_USES = 30


def tensor_rows(trace: Trace, found: Sequence[RecordedTensor]) -> Iterator[PlaceRow]:
    """Each tensor with its members at their declarations, and its storage's uses."""
    for one in found:
        members = [_member_row(member) for member in one.members if member.value]
        unknown = [_member_row(member, 2) for member in one.members if not member.value]
        uses = [_use_row(trace, use) for use in one.uses[:_MOST_USES]]
        if more := len(one.uses) - len(uses):
            uses.append(PlaceRow(f"and {more:,} other calls", depth=1))
        hidden = PlaceRow(f"{len(unknown)} members are not known", depth=1, below=len(unknown))
        rows = [*members, *uses, hidden, *unknown]
        yield PlaceRow(f"{one.name}  {one.form}", below=len(rows))
        yield from rows


def _member_row(recorded: RecordedMember, depth: int = 1) -> PlaceRow:
    member = recorded.member
    words = member.name + (f" = {recorded.value}" if recorded.value else f": {recorded.reason}")
    comment = f"{words}\n{member.type}\n{member.comment}"  # narrow rows cut it
    return PlaceRow(words, member.location, depth=depth, comment=comment)


def _use_row(trace: Trace, use: Use) -> PlaceRow:
    op = trace.op(use.row)
    done = "taken" if use.argument >= 0 else "made"
    rise = "" if use.after in (None, use.state.version) else f" to {use.after}"
    return PlaceRow(f"{done} by {op.label}, version {use.state.version}{rise}", op.user, depth=1)


def path_rows(path: DispatchPath) -> Iterator[PlaceRow]:
    """The keys that a call went through, in order, and why there are no more."""
    for step in path.steps:
        if step.slot is None:
            yield PlaceRow(f"{step.key}: this source does not know the key")
        else:
            yield of_slots(path.op, [step.slot])
    yield PlaceRow(f"└ {path.end}")
    if path.assumed:
        yield PlaceRow(f"? {path.assumed}")
    elif not path.is_certain:
        yield PlaceRow("? likely, not certain: the source of some of these kernels is not here")
