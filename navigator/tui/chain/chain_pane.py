"""The chain of an operator, and why the hop under the cursor is where it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.message import Message
from textual.widget import Widget

from indexes.model.vocabulary import Chain, Hop, Unresolved
from navigator.tui.asking import ask
from navigator.tui.chain.chain_tree import ChainTree
from navigator.tui.chain.step_detail import StepDetail
from navigator.tui.context import Context
from navigator.tui.debounce import Debounce
from navigator.tui.history import Visit
from navigator.tui.session import visit_to
from navigator.tui.widgets.bars import PaneTitle
from navigator.tui.widgets.pane import Pane


class ChainPane(Pane):
    """Title, tree, detail: of the operator that was last asked for."""

    NAME = "chain"

    DEFAULT_CSS: ClassVar[str] = "ChainPane ChainTree { height: 1fr; }"

    class Followed(Message):
        """The source of the step under the cursor is to be shown, or why there is none."""

        def __init__(self, visit: Visit, reason: str) -> None:
            super().__init__()
            self.visit = visit
            self.reason = reason

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.op: str | None = None
        """The overload whose chain is shown or on its way."""
        self._arriving: Visit | None = None
        """The place to show instead of that of the hop it is in."""
        self.next_ops: Callable[[], Sequence[str]] = tuple
        """Answers the operators whose chains may be wanted next."""
        self._is_chosen = True
        self._later: list[Callable[[], object]] = []
        self._soon = Debounce(self, 0.08)

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        yield ChainTree()
        yield StepDetail()

    @property
    def hops(self) -> ChainTree:
        return self.query_one(ChainTree)

    @property
    def stops(self) -> Sequence[Widget]:
        return (self.hops,)

    # ------------------------------------------------------------------------- showing

    def follow(self, op: str) -> None:
        """Show the chain of an operator because a cursor is on it."""
        if op != self.op:
            self.op = op
            visit = Visit(op=op)
            self._soon.cancel()
            if not self._show_at_hand(visit):
                self._soon(lambda: self.load(visit))

    def open(self, visit: Visit) -> None:
        """Show the operator of a visit, or another place of its chain."""
        if visit.op is not None and visit.op != self.op:
            self.op = visit.op
            self._soon.cancel()
            self.load(visit)
        elif visit.path is not None:
            self._show_place(visit)

    def load(self, visit: Visit) -> None:
        """Show the chain of the operator, as the index has it now."""
        session, op = self.context.session, visit.op
        if session is not None and op is not None and not self._show_at_hand(visit):
            ask(self, "chain", lambda: session.chains(op), lambda chain: self.show(chain, visit))

    def _show_at_hand(self, visit: Visit) -> bool:
        """Show a chain that is there already; whether it is."""
        session, op = self.context.session, visit.op
        chain = session.chains.at_hand(op) if session is not None and op is not None else None
        if chain is not None:
            self.show(chain, visit)
        return chain is not None

    def show(self, chain: Chain, visit: Visit) -> None:
        """Show a chain at the place of a visit, unless another one was asked for since."""
        if visit.op != self.op:
            return
        hop = _hop_at(chain, visit) or _like(chain, self.hops.hop if visit.path else None)
        self._arriving = visit if visit.path else None
        self.query_one(PaneTitle).show(chain.op.full_name, chain.op.kind)
        self.hops.message = ""
        self.hops.show(chain, hop.id if hop else None)
        self._run_later()
        self.call_after_refresh(self._look_ahead)

    def _look_ahead(self) -> None:
        """Once all is painted, chains that may be next are worked out."""
        if self.context.session is not None:
            self.context.session.chains.ahead(self.next_ops())

    def show_message(self, title: str, message: str) -> None:
        """Show why there is no chain."""
        self.op = None
        self.query_one(PaneTitle).show(title)
        self.hops.message = message
        self.hops.show(None)

    def _show_place(self, visit: Visit) -> None:
        """Another place of the same chain, or one that no chain leads to."""
        hop = _hop_at(self.hops.chain, visit) if self.hops.chain else None
        if hop is None or hop == self.hops.hop:
            self.post_message(self.Followed(visit, ""))
        else:
            self._arriving = visit
            self.hops.select(hop.id)

    # ------------------------------------------------------------------ following steps

    def on_chain_tree_step_selected(self, message: ChainTree.StepSelected) -> None:
        message.stop()
        step = message.step
        if step is not self.hops.step:
            return  # the cursor has moved on
        self.query_one(StepDetail).show(step)
        if isinstance(step, Unresolved):
            self.post_message(self.Followed(Visit(op=self.op), f"not resolved: {step.reason}"))
        elif step is not None:
            visit, self._arriving = self._arriving or self.visit_of(step), None
            self.post_message(self.Followed(visit, step.rule))

    def visit_of(self, hop: Hop) -> Visit:
        """The place of a hop, in this chain."""
        return visit_to(hop.location, hop.symbol, self.op)

    # ------------------------------------------------------- keys typed ahead of answers

    @property
    def is_chosen(self) -> bool:
        """Whether the operator is the one that keys mean: a filter may still be on its way."""
        return self._is_chosen

    @is_chosen.setter
    def is_chosen(self, value: bool) -> None:
        self._is_chosen = value
        self._run_later()

    @property
    def is_ready(self) -> bool:
        """Whether the chain on screen is the one that was asked for."""
        chain = self.hops.chain
        return self._is_chosen and chain is not None and chain.op.full_name == self.op

    def when_ready(self, do: Callable[[], object]) -> None:
        """Do it now, or as soon as the chain that keys are meant for is there."""
        self._later.append(do)
        self._run_later()

    def _run_later(self) -> None:
        while self._later and self.is_ready:
            self._later.pop(0)()


def _like(chain: Chain, hop: Hop | None) -> Hop | None:
    """The hop of a newer chain that an older one has become."""
    if hop is None:
        return None
    what = (hop.role, hop.symbol, hop.device, hop.keys)
    same = (one for one in chain.hops if (one.role, one.symbol, one.device, one.keys) == what)
    return next(same, None)


def _hop_at(chain: Chain, visit: Visit) -> Hop | None:
    """The hop that stands at a visit's place, its own line before lines inside it."""
    placed = [(hop, hop.location) for hop in chain.hops if hop.location]
    near = [(hop, where) for hop, where in placed if where.path == visit.path]
    at = [hop for hop, where in near if where.line == visit.line]
    inside = (hop for hop, where in near if where.line < visit.line <= where.end_line)
    return at[0] if at else next(inside, None)
