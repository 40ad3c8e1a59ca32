"""A chain beside its source: hops, jumps among them, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from indexes.model.vocabulary import Chain, Hop, Unresolved
from navigator.tui.chain.chain_pane import ChainPane
from navigator.tui.chain.chain_rows import LABELS
from navigator.tui.chain.chain_tree import ChainTree
from navigator.tui.config import Config
from navigator.tui.debounce import Debounce
from navigator.tui.history import History, Visit
from navigator.tui.messages import ChainLoaded, Named
from navigator.tui.processes.preview import REASON, Preview
from navigator.tui.screens.chords import member, typing
from navigator.tui.screens.source_screen import SourceScreen
from navigator.tui.session import Session, visit_to
from navigator.tui.text import short_symbol
from navigator.tui.widgets.bars import TopBar
from navigator.tui.widgets.line_list import LineList


class ChainScreen(SourceScreen):
    """A screen with a chain pane, a source pane and a history."""

    BINDINGS: ClassVar[list[BindingType]] = [
        typing("colon", "goto", "Name", tooltip="Go to name", key_display=":"),
        typing("s", "find", "Find"),
        Binding("o", "operator", "Open operator", show=False, id="operator"),
        Binding("f", "letters", "Hop by letter", show=False, id="hop.letter"),
        Binding("left_square_bracket,alt+left,ctrl+o", "back", "Back", id="back"),
        Binding("right_square_bracket,alt+right", "forward", "Forward", show=False, id="forward"),
        member("go", "k", "kernel", "kernel"),
        member("go", "y", "yaml", "YAML entry"),
        member("go", "b", "derivative", "derivative"),
        member("go", "m", "meta", "meta"),
        member("go", "t", "test", "tests"),
        *(
            Binding(digit, f"hop('{digit}')", f"Hop {digit}", show=False, id=f"hop.{digit}")
            for digit in LABELS
        ),
    ]

    def __init__(self, session: Session | None, config: Config) -> None:
        super().__init__(session, config)
        self.history = History()
        self.op: str | None = None
        """The overload whose chain is shown or on its way."""
        self._override: Visit | None = None
        self._letters = False
        self._later: list[Callable[[], object]] = []
        self._now: tuple[str, ...] = ()
        """What the breadcrumbs end with."""
        self._chain_soon = Debounce(self, 0.08)
        self._source_soon = Debounce(self, 0.05)

    @property
    def chain(self) -> ChainPane:
        return self.query_one(ChainPane)

    # -------------------------------------------------------------------------- opening

    def follow(self, op: str) -> None:
        """Show the chain of an operator because a cursor is on it."""
        if op != self.op:
            self.op = op
            visit = Visit(op=op)
            self._chain_soon.cancel()
            if not self._show_at_hand(visit):
                self._chain_soon(lambda: self.load_chain(visit))

    def _show_at_hand(self, visit: Visit) -> bool:
        """Show a chain that is there already; whether it is."""
        session, op = self.session, visit.op
        chain = session.chains.at_hand(op) if session is not None and op is not None else None
        if chain is None:
            return False
        self.workers.cancel_group(self, "chain")
        self.show_chain(chain, visit)
        return True

    def open(self, visit: Visit) -> None:
        """Show what a visit showed: its chain, and its place in source."""
        self._now = (visit.title,)
        if visit.op is not None and visit.op != self.op:
            self.op = visit.op
            self._chain_soon.cancel()
            self.load_chain(visit)
        elif visit.path is not None:
            self._show_place(visit)

    def load_chain(self, visit: Visit) -> None:
        session, op = self.session, visit.op
        if session is not None and op is not None and not self._show_at_hand(visit):
            self.ask("chain", lambda: ChainLoaded(session.chains(op), visit))

    def on_chain_loaded(self, message: ChainLoaded) -> None:
        if message.visit.op == self.op:
            self.show_chain(message.chain, message.visit)

    def show_chain(self, chain: Chain, visit: Visit) -> None:
        """Show a chain with its source, all in one go, and prepare what may be next."""
        hop = _hop_at(chain, visit) or _like(chain, self.chain.hops.hop if visit.path else None)
        self._override = visit if visit.path else None
        self.chain.show(chain, hop.id if hop else None)
        self._follow_step(self.chain.hops.step)
        self.run_later()
        self.call_after_refresh(self._look_ahead)

    def _look_ahead(self) -> None:
        """Once all is painted: an answer that comes is taken apart by this process."""
        if self.session is not None:
            self.session.chains.ahead(self.next_ops())

    def next_ops(self) -> Sequence[str]:
        """The operators whose chains may be wanted next."""
        return ()

    def _show_place(self, visit: Visit) -> None:
        """Another place of the same chain, or one that no chain leads to."""
        tree = self.chain.hops
        hop = _hop_at(tree.chain, visit) if tree.chain else None
        if hop is None or hop == tree.hop:
            self.load(visit)
        else:
            self._override = visit
            tree.select(hop.id)

    # ------------------------------------------------------------------ following hops

    def on_chain_tree_hop_selected(self, message: ChainTree.HopSelected) -> None:
        message.stop()
        self._follow_step(message.hop)

    def on_chain_tree_step_selected(self, message: ChainTree.StepSelected) -> None:
        if isinstance(message.step, Unresolved):
            self._follow_step(message.step)

    def _follow_step(self, step: Hop | Unresolved | None) -> None:
        """Show the source of a step: at once if the file is at hand, else when the cursor rests."""
        if isinstance(step, Unresolved):
            self._source_soon.cancel()
            self.show_no_source(f"not resolved: {step.reason}")
        elif step is not None:
            self._follow_hop(step)

    def _follow_hop(self, hop: Hop) -> None:
        visit = self._override or self._visit_of(hop)
        self._override = None
        self._now = (self.op or "", visit.title)
        self._source_soon.cancel()
        if visit.path is None:
            self.show_no_source(hop.rule)
        elif not self.show_at_hand(visit):
            self.expected = visit
            self._source_soon(lambda: self.load(visit))
        self.show_crumbs()

    def on_line_list_chosen(self, message: LineList.Chosen) -> None:
        if message.list is self.chain.hops:
            self.settle()
            self.set_focus(self.source.view)

    def _visit_of(self, hop: Hop) -> Visit:
        return visit_to(hop.location, hop.symbol, self.op)

    # ------------------------------------------------------- keys typed ahead of answers

    @property
    def is_ready(self) -> bool:
        """Whether the chain on screen is the one that was asked for."""
        chain = self.chain.hops.chain
        return chain is not None and chain.op.full_name == self.op

    def when_ready(self, do: Callable[[], object]) -> None:
        """Do it now, or as soon as the chain that keys are meant for is there."""
        if self.is_ready and not self._later:
            do()
        else:
            self._later.append(do)

    def run_later(self) -> None:
        """The chain is there: do what was waiting for it, in the order of the keys."""
        while self._later and self.is_ready:
            self._later.pop(0)()

    def action_edit(self) -> None:
        self.when_ready(super().action_edit)

    def copy(self, what: Callable[[], str]) -> None:
        self.when_ready(partial(super().copy, what))

    # ------------------------------------------------------------------------- jumping

    def jump(self, visit: Visit) -> None:
        self.history.go(self.here(), visit)
        self.open(visit)
        self.set_focus(self.source.view if visit.path else self.chain.hops)
        self.show_crumbs()

    def jump_to_hop(self, hop: Hop) -> None:
        """Go to a hop of this chain and into its source."""
        visit = self._visit_of(hop)
        self.history.go(self.here(), visit)
        self.chain.hops.select(hop.id)
        if visit.path is not None:
            self.expected = visit
            self.set_focus(self.source.view)

    def action_hop(self, label: str) -> None:
        self.when_ready(lambda: self._jump_to_label(label))

    def _jump_to_label(self, label: str) -> None:
        hop = self.chain.hops.labelled(label)
        if hop is not None:
            self.jump_to_hop(hop)

    def action_kernel(self) -> None:
        self._next_hop(lambda hop: hop.role == "kernel" and hop.location is not None, "kernel")

    def action_yaml(self) -> None:
        self._next_hop(lambda hop: hop.role == "schema", "YAML entry")

    def action_derivative(self) -> None:
        self._next_hop(lambda hop: hop.role == "derivative", "derivative")

    def action_meta(self) -> None:
        self._next_hop(lambda hop: hop.role in ("meta", "meta_registration"), "meta function")

    def action_test(self) -> None:
        self._next_hop(lambda hop: hop.role in ("opinfo", "test"), "test")

    def _next_hop(self, wanted: Callable[[Hop], bool], words: str) -> None:
        self.when_ready(lambda: self._jump_to_next(wanted, words))

    def _jump_to_next(self, wanted: Callable[[Hop], bool], words: str) -> None:
        hop = self.chain.hops.next_where(wanted)
        if hop is not None:
            self.jump_to_hop(hop)
        elif self.session is not None and isinstance(self.session.index, Preview):
            self.say(f"the {words} of {self.op} is not known yet: {REASON}")
        else:
            self.say(f"{self.op or 'this'} has no {words} in this source")

    # ------------------------------------------------------------------------- letters

    def action_letters(self) -> None:
        """Put a letter on every hop in view; the next key jumps."""
        if self.is_ready:
            self._set_letters(True)

    def take_key(self, event: events.Key) -> bool:
        if not self._letters:
            return super().take_key(event)
        hop = self.chain.hops.labelled(event.character or "")
        self._set_letters(False)
        if hop is not None:
            self.jump_to_hop(hop)
        return True

    def _set_letters(self, shown: bool) -> None:
        self._letters = shown
        self.chain.hops.show_letters(shown)

    # ------------------------------------------------------------------------- history

    def here(self) -> Visit | None:
        shown = super().here()
        hop = self.chain.hops.hop
        title = hop.symbol if hop else self.op or ""
        if shown is not None and (self.is_in_source or hop is None):
            return Visit(self.op, shown.path, shown.line, 0, title)
        return self._visit_of(hop) if hop else None

    def name_here(self) -> str:
        hop = self.chain.hops.hop
        name = super().name_here() if self.is_in_source else ""
        return name or (hop.symbol if hop else self.op or "")

    def settle(self) -> None:
        here = self.here()
        if here is not None:
            self.history.settle(here)
        self.show_crumbs()

    def action_back(self) -> None:
        self._return_to(self.history.back(self.here()), "this is where you began")

    def action_forward(self) -> None:
        self._return_to(self.history.forward(self.here()), "there is nothing further on")

    def _return_to(self, visit: Visit | None, otherwise: str) -> None:
        if visit is None:
            self.say(otherwise)
            return
        self.open(visit)
        self.show_crumbs()

    def show_crumbs(self) -> None:
        """The last places at the top of the screen."""
        trail = [visit.title or visit.op or "" for visit in self.history.trail(5)]
        crumbs = [short_symbol(crumb) for crumb in (*trail, *self._now)]
        unique = [crumb for at, crumb in enumerate(crumbs) if crumb not in crumbs[at + 1 :]]
        self.query_one(TopBar).show_crumbs(unique)

    # ---------------------------------------------------------------------- other ways

    def action_definition(self) -> None:
        """In the source the name under the cursor, in the chain the hop itself."""
        if self.is_in_source:
            super().action_definition()
        elif self.chain.hops.hop is not None:
            self.jump_to_hop(self.chain.hops.hop)

    def action_operator(self) -> None:
        """Show the chain of the operator that the name here means: of a call, say."""
        name, session = self.name_here(), self.session
        if session is not None and name:
            self.ask("names", lambda: Named(name, session.index.resolve(name).overloads))

    def on_named(self, message: Named) -> None:
        if not message.operators:
            self.say(f"{message.name} is no operator of this tree")
        else:
            self.jump(Visit(op=message.operators[0], title=message.operators[0]))

    def action_goto(self) -> None:
        from navigator.tui.screens.goto import GotoScreen

        path = self.source.view.path
        self.app.push_screen(GotoScreen(self.session, self.config, path), self._chosen)

    def action_find(self) -> None:
        from navigator.tui.screens.find import FindScreen

        self.app.push_screen(FindScreen(self.session, self.config), self._chosen)


def _like(chain: Chain, hop: Hop | None) -> Hop | None:
    """The hop of a newer chain that an older one has become."""
    if hop is None:
        return None
    what = (hop.role, hop.symbol, hop.device, hop.keys)
    same = (one for one in chain.hops if (one.role, one.symbol, one.device, one.keys) == what)
    return next(same, None)


def _hop_at(chain: Chain, visit: Visit) -> Hop | None:
    """The hop that stands at a visit's place, its own line before lines inside it."""
    inside = None
    for hop in chain.hops:
        where = hop.location
        if where is None or where.path != visit.path:
            continue
        if where.line == visit.line:
            return hop
        if where.line < visit.line <= where.end_line:
            inside = inside or hop
    return inside
