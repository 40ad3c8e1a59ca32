"""The chain of an operator as a tree: one hop a row, with place and confidence."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message

from indexes.model.answers import Chain, Hop, Unresolved
from indexes.model.vocabulary import Role
from navigator.tui.chain.chain_groups import Step, groups, is_pending
from navigator.tui.chain.chain_rows import BUDGET, Groups, Key, Outline, Row
from navigator.tui.text import one_line, place, short_symbol, shorten
from navigator.tui.widgets.line_list import LineList, Piece, fill

MARKS = {"exact": ("●", "good"), "by rule": ("◆", "name"), "ambiguous": ("?", "warn")}
"""Marks and styles of confidences; unresolved steps have ``✗``."""

_SELF_EVIDENT: tuple[Role, ...] = (
    "python",
    "schema",
    "kernel",
    "derivative",
    "meta",
    "formula_function",
    "docs",
    "test",
    "autocast",
    "batch_rule",
    "owner",
)
"""Roles that the group's heading already states."""
_BRIEF = {"registration": "reg", "device kernel": "", "delegate": "to"}
"""Short names of roles for narrow panes."""
_LEAST = 14
"""Rows that are open at first, however small the pane is."""
_SHORT_RULE = 24
"""Minimum width to show the rule in the row."""
_ROOMY = 64
"""Narrower panes indent less."""

LETTERS = "asdfghjklqwertyuiopzxcvbnmASDFGHJKLQWERTYUIOPZXCVBNM"


class ChainTree(LineList):
    """The hops of a chain, in groups."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "fold", "Fold", show=False, id="chain.fold"),
        Binding("right,l", "into", "Expand", show=False, id="chain.into"),
        Binding("left,h", "out", "Collapse", show=False, id="chain.out"),
    ]

    class TopPassed(Message):
        """The cursor moved up from the first row."""

    class Wanted(Message):
        """Requests an operator's chain below a hop that calls it."""

        def __init__(self, hop: Hop, op: str) -> None:
            super().__init__()
            self.hop = hop
            self.op = op

    def __init__(self, follow: Callable[[Step | None], None]) -> None:
        """``follow`` is called with the step under the cursor: a hop, an unresolved step, or None
        for a heading. A message could arrive after a later choice."""
        super().__init__()
        self._follow = follow

    chain: Chain | None = None
    route: str = ""
    """The device whose routes are shown instead of the chain."""
    _outline: Outline | None = None
    rows: Sequence[Row] = ()
    """The rows on screen, with headings."""
    _letters: bool = False

    # ------------------------------------------------------------------------ content

    def show(self, chain: Chain | None, hop_id: int | None = None) -> None:
        """Show a chain with the cursor on a hop, by default the first."""
        self.chain = chain
        self.route = ""
        self._show(groups(chain) if chain else {}, hop_id)

    def show_routes(self, device: str, steps: Groups) -> None:
        """Show the routes of a device instead of the chain."""
        self.route = device
        self._show(steps, None)

    def _show(self, steps: Groups, hop_id: int | None) -> None:
        self._letters = False
        self._outline = Outline(steps, max(_LEAST, min(BUDGET, self.size.height)))
        if hop_id is not None:
            self._outline.reveal(hop_id)
        self.rows = self._outline.rows()
        self.rows_changed(self._row_of(hop_id) or self._first_row())
        self.announce()

    def announce(self) -> None:
        """Report the step under the cursor."""
        self._follow(self.step)

    @property
    def row_count(self) -> int:
        return len(self.rows)

    @property
    def step(self) -> Step | None:
        """The step under the cursor."""
        return self.rows[self.cursor].step if self.rows else None

    @property
    def hop(self) -> Hop | None:
        """The hop under the cursor."""
        return self.rows[self.cursor].hop if self.rows else None

    def select(self, hop_id: int) -> bool:
        """Put the cursor on a hop, opening its ancestors; False if there is none."""
        if self._outline and self._row_of(hop_id) is None:
            self._outline.reveal(hop_id)
            self.rows = self._outline.rows()
            self._refit()
        row = self._row_of(hop_id)
        if row is not None:
            self.move_to(row)
        return row is not None

    def next_where(self, wanted: Callable[[Hop], bool]) -> Hop | None:
        """The next matching hop below the cursor, folded or not, wrapping around."""
        if self._outline is None or not self.rows:
            return None
        return next(filter(wanted, self._outline.hops_after(self.rows[self.cursor].key)), None)

    def labelled(self, label: str) -> Hop | None:
        """The hop with this letter while letters are shown."""
        for index, row in enumerate(self.rows):
            if label and row.hop and self._label(index, row) == label:
                return row.hop
        return None

    def unfold(self, hop: Hop, chain: Chain) -> None:
        """Insert an operator's chain below the hop that calls it."""
        if self._outline is not None and hop == self.hop:
            self._outline.unfold(hop, chain)
            self.rows = self._outline.rows()
            self._refit()
            self.show_cursor()

    def show_letters(self, shown: bool) -> None:
        """Show a letter on every visible hop."""
        self._letters = shown
        self.refresh()

    # ------------------------------------------------------------------------ drawing

    def row(self, index: int, width: int) -> Iterable[Piece]:
        row = self.rows[index]
        if row.step is None:
            return self._heading(row, width)
        return self._step_row(index, row, row.step, width)

    def _heading(self, row: Row, width: int) -> list[Piece]:
        mark = "▾" if row.is_open else "▸"
        guide = [(f"   {row.guide if width >= _ROOMY else row.guide[::2]}", "faint")]
        title = (f"{mark} {one_line(row.group)}", "head")
        return fill([*(guide if row.guide else []), title, *_hidden(row)], [], width)

    def _step_row(self, index: int, row: Row, step: Step, width: int) -> list[Piece]:
        label = self._label(index, row)
        guide = row.guide if width >= _ROOMY else row.guide[::2]
        left: list[Piece] = [(f" {label or ' '} ", "match"), (guide, "faint"), *_mark(step)]
        left += [*_tag(row, width), (short_symbol(step.symbol), "strong"), *_hidden(row)]
        room = width - 2 - sum(cell_len(text) for text, _ in left)
        return fill(left, [*_right(step, width, room), (" ", "")], width)

    def _label(self, index: int, row: Row) -> str:
        if not self._letters or row.hop is None:
            return ""
        top = self.top
        before = sum(one.hop is not None for one in self.rows[top:index])
        return LETTERS[before] if index >= top and before < len(LETTERS) else ""

    # -------------------------------------------------------------------------- moves

    def watch_cursor(self, old: int, new: int) -> None:
        super().watch_cursor(old, new)
        self.announce()

    def action_move(self, by: int) -> None:
        """Moves on to the widget above from the first row."""
        at = self.cursor
        super().action_move(by)
        if by < 0 and self.cursor == at:
            self.post_message(self.TopPassed())

    def action_choose(self) -> None:
        """Show the chain of the operator that a hop calls, else its source."""
        hop = self.hop
        if hop is None or not self._has_more(hop):
            super().action_choose()

    def _row_of(self, hop_id: int | None) -> int | None:
        return self._at(hop_id) if hop_id is not None else None

    def _first_row(self) -> int:
        """The schema, whatever precedes it."""
        roots = (at for at, row in enumerate(self.rows) if row.hop and row.hop.role == "schema")
        return next(roots, 0)

    def _at(self, key: Key | None) -> int | None:
        return next((at for at, row in enumerate(self.rows) if row.key == key), None)

    def _refit(self) -> None:
        """Rebuild the rows, keeping the cursor on its step."""
        self.virtual_size = Size(0, len(self.rows))
        self.refresh()

    def _toggle(self, key: Key) -> None:
        """Fold or open a node and move to it."""
        if self._outline:
            self._outline.toggle(key)
            self.rows = self._outline.rows()
            self._refit()
            self.move_to(self._at(key) or 0)

    def action_fold(self) -> None:
        """Fold or open the node under the cursor; for a leaf, its parent."""
        row = self.rows[self.cursor] if self.rows else None
        if row is None or self._outline is None:
            return
        if row.hidden or row.is_open:
            self._toggle(row.key)
        elif (above := next(self._outline.above(row.key), None)) is not None:
            self._toggle(above)

    def can_rest(self, index: int) -> bool:
        """On hops, and on headings of folded groups."""
        return self.rows[index].step is not None or not self.rows[index].is_open

    def clicked(self, index: int, times: int) -> None:
        """As in every list; a click on a heading folds and opens it."""
        if self.rows[index].step is None:
            self._toggle(self.rows[index].key)
        else:
            super().clicked(index, times)

    def _has_more(self, hop: Hop) -> bool:
        """Whether a hop has a chain to request, or to go to if it is shown elsewhere."""
        outline = self._outline
        if outline is None or outline.has_below(hop.id):
            return False
        op = operator_below(hop)
        shown = self._shown_above(hop, op) if op else hop.again
        if shown is not None:
            return isinstance(shown, int) and self.select(shown)
        if op:
            self.post_message(self.Wanted(hop, op))
        return bool(op)

    def _shown_above(self, hop: Hop, op: str) -> Key | None:
        if self.chain and op == self.chain.op.full_name:
            return next((one.id for one in self.chain.hops if one.role == "schema"), None)
        return self._outline.operator_above(hop, op) if self._outline else None

    def action_into(self) -> None:
        """Open a folded node; from an open hop go to its source."""
        row = self.rows[self.cursor] if self.rows else None
        if row and row.hidden:
            self._toggle(row.key)
        else:
            self.action_choose()

    def action_out(self) -> None:
        """Fold a node, else go to its parent, else to where the chain was chosen."""
        row, outline = self.rows[self.cursor] if self.rows else None, self._outline
        above: list[Key] = list(outline.above(row.key)) if row and outline else []
        if row and row.step and row.is_open and outline and outline.has_below(row.key):
            self._toggle(row.key)
        elif hops := [key for key in above if isinstance(key, int)]:
            self.move_to(self._at(hops[0]) or 0)
        else:
            super().action_out()


def operator_below(hop: Hop) -> str:
    """The operator whose chain continues below a hop, or empty."""
    return hop.continues.removeprefix("torchnav op ").partition(" ")[0]


def _hidden(row: Row) -> list[Piece]:
    """What is hidden below it: folded, not requested yet, or shown elsewhere."""
    if row.hidden:
        return [(f" +{row.hidden}", "accent")]
    if row.hop is None or row.is_open:
        return []
    if row.hop.again is not None:
        return [(" ↻" if "loop" in row.hop.rule else " ↑", "accent")]
    return [(" ▸", "accent")] if operator_below(row.hop) else []


def _mark(step: Step) -> list[Piece]:
    if not isinstance(step, Unresolved):
        text, style = MARKS[step.confidence]
    else:
        text, style = ("…", "dim") if is_pending(step) else ("✗", "bad")
    return [(f"{text} ", style)]


def _tag(row: Row, width: int) -> list[Piece]:
    """The role and the device, unless the group states them."""
    step = row.step
    if step is None:
        return []
    role = step.role.replace("_", " ")
    words = (
        [] if step.role in _SELF_EVIDENT else [role if width >= _ROOMY else _BRIEF.get(role, role)]
    )
    device = step.device if isinstance(step, Hop) else None
    if device and device not in row.group and device != row.device:
        words.append(device)
    return [(f"{word} ", "dim") for word in words if word]


def _right(step: Step, width: int, room: int) -> list[Piece]:
    """The place and, in a wide pane, the rule; for an unresolved step the reason.

    ``room`` is the space left by the symbol, which may be shortened a little.
    """
    if isinstance(step, Unresolved):
        reason = shorten(one_line(step.reason), max(room - 1, width // 2))
        return [(f" {reason}", "dim" if is_pending(step) else "warn")]
    if step.location is None:
        return []
    most = width * 2 // 5 if width >= _ROOMY else width
    where = place(step.location, min(max(room, 16), most))
    rest = room - len(where) - 3
    if rest < _SHORT_RULE or width < _ROOMY:
        return [(" " + where, "dim")]
    return [(f" {shorten(one_line(step.rule), rest)}  ", "faint"), (where, "dim")]
