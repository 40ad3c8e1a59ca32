"""The chain pane: an operator's card, its chain, and details of the selected step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from indexes.model.answers import CardLine, Chain, Hop, Route, Unresolved
from navigator.tui.background import ask
from navigator.tui.chain.card_view import CardView
from navigator.tui.chain.chain_groups import Step, is_pending
from navigator.tui.chain.chain_tree import ChainTree
from navigator.tui.chain.route_rows import Ran, route_groups
from navigator.tui.chain.start_page import StartPage
from navigator.tui.chain.step_detail import StepDetail
from navigator.tui.context import Context
from navigator.tui.debounce import Debounce
from navigator.tui.history import Visit
from navigator.tui.processes.chains import Answer
from navigator.tui.session import visit_to
from navigator.tui.widgets.bars import PaneTitle
from navigator.tui.widgets.line_list import LineList
from navigator.tui.widgets.pane import Pane

_BLINK_S = 0.4
"""Seconds before a pending chain is announced."""


class ChainPane(Pane):
    """Title, card, tree and detail of the last requested operator."""

    NAME = "chain"

    DEFAULT_CSS: ClassVar[str] = """
    ChainPane CardView { max-height: 15; background: $surface; }
    ChainPane CardView:ansi { background: ansi_default; }
    ChainPane ChainTree { height: 1fr; }
    ChainPane.-start CardView, ChainPane.-start ChainTree, ChainPane.-start StepDetail {
        display: none;
    }
    ChainPane.-start StartPage { display: block; }
    """

    class Followed(Message):
        """Show the source of the selected step, or why there is none."""

        def __init__(self, visit: Visit, reason: str) -> None:
            super().__init__()
            self.visit = visit
            self.reason = reason

    def __init__(self, context: Context) -> None:
        super().__init__()
        self.context = context
        self.op: str | None = None
        """The overload whose chain is shown or pending."""
        self.answer: Answer | None = None
        """The answer on screen."""
        self.ran: Ran | None = None
        """What the present call ran."""
        self._followed: LineList | None = None
        """The widget that the source follows, card or tree; None before the user chose one."""
        self._place_in_hop: Visit | None = None
        """A place to show within the hop, instead of its own."""
        self.next_ops: Callable[[], Sequence[str]] = tuple
        """Returns operators whose chains are likely to be requested next."""
        self._is_chosen = True
        self._later: list[Callable[[], object]] = []
        self._soon = Debounce(self, 0.08)
        self._pending = Timer(self, 1, pause=True)

    def compose(self) -> ComposeResult:
        yield PaneTitle()
        yield StartPage(self.context)
        yield CardView()
        yield ChainTree(self._follow_step)
        yield StepDetail()

    @property
    def card(self) -> CardView:
        return self.query_one(CardView)

    @property
    def hops(self) -> ChainTree:
        return self.query_one(ChainTree)

    @property
    def start(self) -> StartPage:
        return self.query_one(StartPage)

    @property
    def is_start(self) -> bool:
        """Whether the start page is shown instead of a chain."""
        return self.has_class("-start")

    @property
    def stops(self) -> Sequence[Widget]:
        return (self.start,) if self.is_start else (self.card, self.hops)

    @property
    def entrance(self) -> LineList:
        """The widget that gets the focus: the card, or the tree if the place is in it."""
        return self.start if self.is_start else self._followed or self.card

    # ------------------------------------------------------------------------- showing

    def follow(self, op: str) -> None:
        """Show the chain of an operator because a cursor moved to it."""
        if op != self.op:
            self._begin(op)
            visit = Visit(op=op)
            if not self._show_cached(visit):
                self._soon(lambda: self.load(visit))

    def open(self, visit: Visit) -> None:
        """Show the operator of a visit, or another place in its chain."""
        if visit.op is not None and visit.op != self.op:
            self._begin(visit.op)
            self.load(visit)
        elif visit.path is not None:
            self._show_place(visit)
            if self.op is not None and not self.is_ready:
                self._soon.cancel()
                self.load(replace(visit, op=self.op))  # a pending chain must not lead elsewhere

    def _begin(self, op: str) -> None:
        """Another operator was requested; announce it if that takes longer than a moment."""
        self.op = op
        self._soon.cancel()
        self.remove_class("-start")
        self._pending.stop()
        self._pending = self.set_timer(_BLINK_S, lambda: self._say_pending(op))

    def _say_pending(self, op: str) -> None:
        chain = self.hops.chain
        if op == self.op and not (chain is not None and chain.op.full_name == op):
            self.query_one(PaneTitle).show(op, "following its calls …")
            self.card.show(None)
            self.hops.message = ""
            self.hops.show(None)

    def load(self, visit: Visit) -> None:
        """Show the chain of the operator from the present index."""
        session, op = self.context.session, visit.op
        if session is not None and op is not None and not self._show_cached(visit):
            ask(self, "chain", lambda: session.chains(op), lambda one: self.show(one, visit))

    def reload(self, here: Callable[[], Visit | None]) -> None:
        """Show the operator's chain from a newer index, at the current place."""
        session, op = self.context.session, self.op

        def show(answer: Answer) -> None:
            if op == self.op:
                self.show(answer, here() or Visit(op=op))

        if session is not None and op is not None:
            ask(self, "chain", lambda: session.chains(op), show)

    def _show_cached(self, visit: Visit) -> bool:
        """Show a cached chain; returns whether there is one."""
        session, op = self.context.session, visit.op
        answer = session.chains.cached(op) if session is not None and op is not None else None
        if answer is not None:
            self.workers.cancel_group(self, "chain")  # a pending one must not lead elsewhere
            self.show(answer, visit)
        return answer is not None

    def show(self, answer: Answer, visit: Visit) -> None:
        """Show an answer at the place of a visit, unless another one was requested meanwhile."""
        if visit.op != self.op:
            return
        chain, before = answer.chain, self.answer
        is_same = before is not None and before.chain.op.full_name == visit.op
        on_card = is_same and self._followed is self.card
        hop = _hop_at(chain, visit) or _like(chain, self.hops.hop if visit.path else None)
        self._place_in_hop = visit if visit.path and not on_card else None
        self.answer = answer
        self.query_one(PaneTitle).show(chain.op.full_name, answer.card.kind or chain.op.kind)
        self.hops.message = ""
        self.card.show(answer.card, keep=is_same)
        self.mark_ran()
        if not on_card:
            self._followed = self.hops if visit.path else None
        self.hops.show(chain, hop.id if hop and not on_card else None)
        self._run_later()
        self.call_after_refresh(self._look_ahead)

    def _look_ahead(self) -> None:
        """After painting, compute the chains that may be requested next."""
        if self.context.session is not None:
            self.context.session.chains.ahead(self.next_ops())

    def show_message(self, title: str, message: str) -> None:
        """Show why there is no chain."""
        self.op = self.answer = self._followed = None
        self.remove_class("-start")
        self.query_one(PaneTitle).show(title)
        self.card.show(None)
        self.hops.message = message
        self.hops.show(None)

    def show_start(self) -> None:
        """Show the start page instead of a chain."""
        self.show_message("Start", "")
        self.add_class("-start")

    def show_place(self, visit: Visit, words: str) -> None:
        """Show a place without an operator: its source, and no chain."""
        self._soon.cancel()
        self.show_message(visit.title, words)
        self.post_message(self.Followed(visit, words))

    def _show_place(self, visit: Visit) -> None:
        """Another place in the same chain, or one outside of any chain."""
        hop = _hop_at(self.hops.chain, visit) if self.hops.chain else None
        if hop is None or hop == self.hops.hop:
            self.post_message(self.Followed(visit, ""))
        else:
            self._place_in_hop = visit
            self.show_chain(hop)

    # -------------------------------------------------------------------- card and tree

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        """The source follows the cursor of the focused widget."""
        one = event.widget
        if one is not self.screen.focused:
            return  # the user has gone on
        if one is not self._followed and isinstance(one, (CardView, ChainTree)):
            self._followed = one
            one.announce()

    def on_card_view_end_passed(self, message: CardView.EndPassed) -> None:
        message.stop()
        self.screen.set_focus(self.hops)

    def on_chain_tree_top_passed(self, message: ChainTree.TopPassed) -> None:
        message.stop()
        self.screen.set_focus(self.card)

    def show_routes(self, device: str) -> bool:
        """Show the routes of a device instead of the chain; False if nothing computes there."""
        answer = self.answer
        if answer is None or not any(_computes(route, device) for route in answer.routes):
            return False
        steps = route_groups(device, answer.routes, answer.chain, self.ran_route)
        self._followed = self.hops
        self.hops.show_routes(device, steps)
        return True

    @property
    def ran_route(self) -> Route | None:
        """The route taken by the call that the operator is shown for."""
        if self.ran is None or self.answer is None or self.ran.op != self.op:
            return None
        return self.ran.route(self.answer.routes)

    def mark_ran(self) -> None:
        """Mark the device on which the call ran."""
        self.card.mark_ran({self.ran.device} if self.ran and self.ran.op == self.op else ())

    def leave_routes(self) -> bool:
        """Show the chain again instead of routes; False if there were none."""
        if not self.hops.route or self.answer is None:
            return False
        self._followed = self.card
        self.hops.show(self.answer.chain)
        return True

    def show_chain(self, hop: Hop) -> None:
        """Show a hop of the chain instead of a route."""
        self._followed = self.hops
        if self.hops.route and self.answer is not None:
            self.hops.show(self.answer.chain, hop.id)
        else:
            self.hops.select(hop.id)

    def on_chain_tree_wanted(self, message: ChainTree.Wanted) -> None:
        """Compute an operator's chain and insert it below the hop that calls it."""
        message.stop()
        session, hop = self.context.session, message.hop
        if session is not None:
            ask(
                self,
                "below",
                lambda: session.chains(message.op),
                lambda answer: self.hops.unfold(hop, answer.chain),
            )

    # ------------------------------------------------------------------ following steps

    def _follow_step(self, step: Step | None) -> None:
        if self._followed is self.card:
            return
        self.query_one(StepDetail).show(step)
        if isinstance(step, Unresolved):
            reason = step.reason if is_pending(step) else f"not resolved: {step.reason}"
            self.post_message(self.Followed(Visit(op=self.op), reason))
        elif step is not None:
            visit, self._place_in_hop = self._place_in_hop or self.visit_of(step), None
            self.post_message(self.Followed(visit, step.rule))

    def on_card_view_line_selected(self, message: CardView.LineSelected) -> None:
        message.stop()
        if message.line is not self.card.line or self.screen.focused is not self.card:
            return  # the cursor has moved on
        self._followed = self.card
        self.query_one(StepDetail).show_line(*self._detail_of(message.line), self.ran_route)
        visit = self.card_visit()
        if visit is not None:
            reason = message.line.text if message.line else ""
            self.post_message(self.Followed(visit, reason))

    def _detail_of(self, line: CardLine | None) -> tuple[Sequence[str], Sequence[Route]]:
        """The details of a line of the card, and its routes, if any."""
        card, answer = self.card.card, self.answer
        if card is None or answer is None:
            return (), ()
        if line is None:
            return (card.schema, card.kind), ()
        routes = [route for route in answer.routes if route.device == line.label]
        return tuple(filter(None, (line.text, line.note))), routes

    def card_visit(self) -> Visit | None:
        """The place of the selected line of the card, if the source follows the card."""
        if self._followed is not self.card or self.card.card is None:
            return None
        line, end = self.card.line, ""
        if line is not None:
            end = line.text.rpartition(" > ")[2] if line.key in ("1", "2", "3") else line.label
        return visit_to(self.card.location, end or self.op or "", self.op)

    def visit_of(self, hop: Hop) -> Visit:
        """The place of a hop, in this chain."""
        return visit_to(hop.location, hop.symbol, self.op)

    # ------------------------------------------------------- keys typed ahead of answers

    @property
    def is_chosen(self) -> bool:
        """Whether keys apply to this operator: a filter may still be pending."""
        return self._is_chosen

    @is_chosen.setter
    def is_chosen(self, value: bool) -> None:
        self._is_chosen = value
        self._run_later()

    @property
    def is_ready(self) -> bool:
        """Whether the requested chain is on screen."""
        chain = self.hops.chain
        return self._is_chosen and chain is not None and chain.op.full_name == self.op

    def when_ready(self, do: Callable[[], object]) -> None:
        """Run a function now, or once the requested chain is on screen."""
        self._later.append(do)
        self._run_later()

    def _run_later(self) -> None:
        while self._later and self.is_ready:
            self._later.pop(0)()


def _computes(route: Route, device: str) -> bool:
    return route.device == device and route.kind != "none"


def _like(chain: Chain, hop: Hop | None) -> Hop | None:
    """The hop of a newer chain that corresponds to one of an older chain."""
    if hop is None:
        return None
    what = (hop.role, hop.symbol, hop.device, hop.keys)
    same = (one for one in chain.hops if (one.role, one.symbol, one.device, one.keys) == what)
    return next(same, None)


def _hop_at(chain: Chain, visit: Visit) -> Hop | None:
    """The hop at a visit's place; one that starts there is preferred."""
    placed = [(hop, hop.location) for hop in chain.hops if hop.location]
    near = [(hop, where) for hop, where in placed if where.path == visit.path]
    at = [hop for hop, where in near if where.line == visit.line]
    inside = (hop for hop, where in near if where.line < visit.line <= where.end_line)
    return at[0] if at else next(inside, None)
