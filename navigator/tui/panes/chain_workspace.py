"""A workspace with a chain: its hops, jumps between them, and the history."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from indexes.model.answers import Hop
from indexes.model.vocabulary import Role
from navigator.tui.background import ask, say
from navigator.tui.chain.card_view import DIGITS
from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.chain.start_page import StartPage
from navigator.tui.context import Context
from navigator.tui.history import History, Visit
from navigator.tui.panes.operator_pane import OperatorPane
from navigator.tui.panes.workspace import Workspace
from navigator.tui.place_rows import target_of
from navigator.tui.processes.preview import REASON
from navigator.tui.text import short_symbol
from navigator.tui.widgets.bars import TopBar
from navigator.tui.widgets.line_list import LineList
from navigator.tui.widgets.operator_list import OperatorList


class ChainWorkspace(Workspace):
    """A list pane, the chain of the chosen item, and the source of the selected hop."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "colon",
            "goto",
            "Name",
            tooltip="Go to a name or file:line",
            key_display=":",
            priority=True,
            id="goto",
        ),
        Binding(
            "s", "find", "Find", tooltip="Find by a part of any name", priority=True, id="find"
        ),
        Binding("o", "operator", "Open operator", show=False, id="operator"),
        Binding("f", "letters", "Hop by letter", show=False, id="hop.letter"),
        Binding("left_square_bracket,alt+left,ctrl+o", "back", "Back", id="back"),
        Binding("right_square_bracket,alt+right", "forward", "Forward", show=False, id="forward"),
        Binding("z", "zoom", "Zoom", id="zoom"),
        Binding("tab", "next_pane(1)", "Next pane", show=False, priority=True, id="pane.next"),
        Binding(
            "shift+tab",
            "next_pane(-1)",
            "Previous pane",
            show=False,
            priority=True,
            id="pane.previous",
        ),
        Binding("escape", "leave", "Close", id="leave"),
        *(
            Binding(digit, f"card('{digit}')", f"Card: {words}", show=False, id=f"card.{digit}")
            for digit, words in DIGITS.items()
        ),
    ]

    CHORDS: ClassVar[Mapping[str, Sequence[Binding]]] = {
        "go": (
            *Workspace.CHORDS["go"],
            Binding("k", "hop('kernel')", "kernel", id="go.kernel"),
            Binding("y", "hop('YAML entry')", "YAML entry", id="go.yaml"),
            Binding("b", "derivative", "derivative", id="go.derivative"),
            Binding("m", "hop('meta function')", "meta", id="go.meta"),
            Binding("t", "hop('test')", "tests", id="go.test"),
        ),
        "copy": Workspace.CHORDS["copy"],
    }

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.history = History()
        self._now: tuple[str, ...] = ()
        """The last breadcrumb."""

    @property
    def chain(self) -> ChainPane:
        return self.query_one(ChainPane)

    def when_ready(self, do: Callable[[], object]) -> None:
        self.chain.when_ready(do)

    # ----------------------------------------------------------------- following steps

    def open(self, visit: Visit) -> None:
        """Show a visit: its chain, and its place in source."""
        self._now = (visit.title,)
        self.chain.open(visit)

    def on_chain_pane_followed(self, message: ChainPane.Followed) -> None:
        visit = message.visit
        self._now = (self.chain.op or "", visit.title)
        if visit.path is None:
            self.source.show_message(message.reason)
        else:
            self.source.load_soon(visit)
        self.show_crumbs()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        if message.list is self.chain.card:
            self._follow_card()
        elif message.list is self.chain.hops:
            self.settle()
            self.screen.set_focus(self.source.view)
        elif isinstance(message.list, OperatorList) and message.list.place is not None:
            self.jump(target_of(message.list.place))
        elif message.list is self.main.list:
            self._enter_chain()
            self.settle()

    def _enter_chain(self) -> None:
        """Into the selected row's chain, also from the start page."""
        rows = self.main.list
        if self.chain.is_start and isinstance(rows, OperatorList) and rows.current is not None:
            self.chain.follow(rows.current.full_name)
        self.screen.set_focus(self.chain.entrance)

    def on_filter_input_chosen(self) -> None:
        """A typed operator is a visit, too."""
        self.when_ready(self.settle)

    def on_operator_pane_place_chosen(self, message: OperatorPane.PlaceChosen) -> None:
        self.jump(target_of(message.row))

    def _follow_card(self) -> None:
        """The routes of a device, the chain, or else the source of the line."""
        line = self.chain.card.line
        self.settle()
        if line is not None and (line.label == "more" or self.chain.show_routes(line.label)):
            self.screen.set_focus(self.chain.hops)
        elif self.chain.card.location is not None:
            self.screen.set_focus(self.source.view)

    # ------------------------------------------------------------------------- jumping

    def jump(self, visit: Visit) -> None:
        self.history.go(self.here(), visit)
        if visit.path and visit.op in (None, self.chain.op):
            self.source.expected = visit
        self.open(visit)
        self.screen.set_focus(self.source.view if visit.path else self.chain.entrance)
        self.show_crumbs()

    def jump_to_hop(self, hop: Hop) -> None:
        """Go to a hop of this chain and its source."""
        visit = self.chain.visit_of(hop)
        self.history.go(self.here(), visit)
        if hop == self.chain.hops.hop:
            self.source.load(visit)
        else:
            self.chain.show_chain(hop)
            self.source.expected = visit if visit.path else None
        if visit.path is not None:
            self.screen.set_focus(self.source.view)

    def show_start(self) -> None:
        """The start page, with the last places."""
        here = self.here()
        if here is not None:
            self.history.settle(here)
        self.chain.start.show(self.history.trail(History.LIMIT))
        self.chain.show_start()

    def on_operator_pane_emptied(self) -> None:
        self.show_start()

    def on_start_page_place_chosen(self, message: StartPage.PlaceChosen) -> None:
        self.jump(message.visit)

    def action_card(self, digit: str) -> None:
        """Go to the card line of a digit."""
        self.when_ready(lambda: self._go_to_line(digit))

    def _go_to_line(self, digit: str) -> None:
        if self.chain.card.select(digit):
            self.screen.set_focus(self.chain.card)
        elif self.context.index is None:
            say(self, f"the card of {self.chain.op or 'this'} is not available yet: {REASON}")
        else:
            say(self, f"the card of {self.chain.op or 'this'} has no line for {DIGITS[digit]}")

    def action_derivative(self) -> None:
        self.action_hop("derivative")

    def action_hop(self, words: str) -> None:
        """Go to the next hop of a kind."""
        self.when_ready(lambda: self._jump_to_next(words))

    def _jump_to_next(self, words: str) -> None:
        hop, op = self.chain.hops.next_where(lambda one: _is_called(words, one)), self.chain.op
        if hop is not None:
            self.jump_to_hop(hop)
        elif self.context.session is not None and self.context.index is None:
            say(self, f"the {words} of {op} is not available yet: {REASON}")
        else:
            say(self, f"{op or 'this'} has no {words} in this source")

    def action_letters(self) -> None:
        """Show a letter on every visible hop; the next key jumps."""
        if self.chain.is_ready:
            self.chain.hops.show_letters(True)
            self.context.next_key = self._letter

    async def _letter(self, event: events.Key) -> bool:
        hop = self.chain.hops.labelled(event.character or "")
        self.chain.hops.show_letters(False)
        if hop is not None:
            self.jump_to_hop(hop)
        return True

    # ------------------------------------------------------------------------- history

    def here(self) -> Visit | None:
        shown, hop, op = self.source.here(), self.chain.hops.hop, self.chain.op
        if not self.is_in_source and (line := self.chain.card_visit()) is not None:
            return line
        if shown is not None and (self.is_in_source or hop is None):
            return Visit(op, shown.path, shown.line, 0, hop.symbol if hop else op or "")
        return self.chain.visit_of(hop) if hop else None

    def name_here(self) -> str:
        hop = self.chain.hops.hop
        name = super().name_here() if self.is_in_source else ""
        return name or (hop.symbol if hop else self.chain.op or "")

    def settle(self) -> None:
        """Record the present place in the history."""
        here = self.here()
        if here is not None:
            self.history.settle(here)
        self.show_crumbs()

    def action_back(self) -> None:
        self._return_to(self.history.back(self.here()), "this is the first place")

    def action_forward(self) -> None:
        self._return_to(self.history.forward(self.here()), "this is the last place")

    def _return_to(self, visit: Visit | None, otherwise: str) -> None:
        if visit is None:
            say(self, otherwise)
        else:
            self.open(visit)
            self.show_crumbs()

    def show_crumbs(self) -> None:
        """Show the last places at the top of the screen."""
        trail = [visit.title or visit.op or "" for visit in self.history.trail(5)]
        crumbs = [short_symbol(crumb) for crumb in (*trail, *self._now)]
        unique = [crumb for at, crumb in enumerate(crumbs) if crumb not in crumbs[at + 1 :]]
        self.screen.query_one(TopBar).show_crumbs(unique)

    # --------------------------------------------------------------------------- panes

    def action_zoom(self) -> None:
        self.screen.toggle_class("-zoomed")

    def action_leave(self) -> None:
        """Go one step out: source, chain, list; then clear the filter."""
        main = self.main
        if self.is_in_source:
            self.screen.set_focus(self.chain.entrance)
        elif self.chain.leave_routes():
            self.screen.set_focus(self.chain.card)
        elif self.screen.focused is not main.list:
            self.screen.set_focus(main.list)
        elif main.filter is not None:
            main.filter.value = ""

    def on_line_list_left(self, message: LineList.Left) -> None:
        """From a route to its line of the card, otherwise to the list."""
        left = message.list is self.chain.hops and self.chain.leave_routes()
        self.screen.set_focus(self.chain.card if left else self.main.list)

    # ---------------------------------------------------------------------- other ways

    def action_definition(self) -> None:
        """In the source the definition of the selected name, in the chain the hop itself."""
        hop = self.chain.hops.hop
        if self.is_in_source:
            super().action_definition()
        elif hop is not None:
            self.jump_to_hop(hop)

    async def action_goto(self) -> None:
        await self.run_action("app.goto")

    async def action_find(self) -> None:
        await self.run_action("app.list('find')")

    def action_operator(self) -> None:
        """Show the chain of the operator under the cursor, such as a call."""
        name, session = self.name_here(), self.context.session
        if session is not None and name:
            ask(
                self,
                "names",
                lambda: session.index.resolve(name).overloads,
                lambda operators: self._open_operator(name, operators),
            )

    def _open_operator(self, name: str, operators: tuple[str, ...]) -> None:
        if operators:
            self.jump(Visit(op=operators[0], title=operators[0]))
        else:
            say(self, f"{name} is not an operator of this tree")


_ROLES: Mapping[str, Sequence[Role]] = {
    "YAML entry": ("schema",),
    "kernel": ("kernel",),
    "derivative": ("derivative",),
    "meta function": ("meta", "meta_registration"),
    "test": ("opinfo", "test"),
}
"""The hops that keys go to."""


def _is_called(words: str, hop: Hop) -> bool:
    return hop.role in _ROLES[words] and (hop.role != "kernel" or hop.location is not None)
