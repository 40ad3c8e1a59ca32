"""The help screen: every key, with the id for changing it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen

from navigator.tui.config import config_path
from navigator.tui.keys import Key
from navigator.tui.text import one_line
from navigator.tui.widgets.comment import Comment
from navigator.tui.widgets.filter_input import FilterInput
from navigator.tui.widgets.line_list import LineList, Piece, cut

HelpRow = tuple[str, str, str]
"""(keys, action, id); a heading has only the first."""

MARKS: Sequence[HelpRow] = (
    ("Marks", "", ""),
    ("●", "exact: the source says so", ""),
    ("◆", "inferred: codegen or a macro, which is named", ""),
    ("?", "ambiguous: one of several, all are shown", ""),
    ("✗", "not resolved, with the reason", ""),
    ("∂", "differentiable, directly or through what it calls", ""),
    ("▸", "an operator: Enter shows its chain here", ""),
    ("↑ ↻", "shown elsewhere: Enter goes there; ↻ a loop", ""),
)
LEGEND: Sequence[HelpRow] = (
    *MARKS,
    ("Words for the filter", "", ""),
    ("key:CUDA", "has a kernel for this dispatch key", ""),
    ("file:SoftMax", "has a kernel in such a file", ""),
    ("tag:core", "has this tag", ""),
    ("kind:structured", "structured, delegate, composite, plain ...", ""),
    ("no:derivative", "without it: also no:CUDA, no:tag ...", ""),
)


class HelpList(LineList):
    """The keys in groups."""

    _all: Sequence[HelpRow] = ()
    _rows: Sequence[HelpRow] = ()

    def show(self, rows: Sequence[HelpRow]) -> None:
        """Show these rows."""
        self._all = self._rows = rows
        self.rows_changed()

    def keep(self, text: str) -> None:
        """Show the rows that match these words, with their headings."""
        words = text.lower().split()
        self._rows = list(_with_words(self._all, words))
        self.message = "" if self._rows else f"no key, mark or word for {one_line(text)}"
        self.rows_changed()

    @property
    def row_count(self) -> int:
        return len(self._rows)

    def can_rest(self, index: int) -> bool:
        return bool(self._rows[index][1])

    def row(self, index: int, width: int) -> Iterable[Piece]:
        keys, words, name = self._rows[index]
        if not words:
            return [(f" {keys}", "head")]
        return cut([(f"   {keys:<18} ", "match"), (f"{words:<25} ", ""), (name, "faint")], width)


class HelpInput(FilterInput):
    """The search text for keys."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """A q closes the help like Escape, except after other letters."""
        return (key != "q" or bool(self.value)) and super().check_consume_key(key, character)


class HelpScreen(ModalScreen[None]):
    """The current keys of the screen below."""

    CSS_PATH = "help.tcss"

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "escape,q,question_mark,f1", "app.pop_screen", "Close", id="help.close", priority=True
        )
    ]

    def __init__(
        self, groups: Sequence[tuple[str, Sequence[Key]]], legend: Sequence[HelpRow] = LEGEND
    ) -> None:
        super().__init__()
        self._legend = legend
        self._groups = groups

    def compose(self) -> ComposeResult:
        with Vertical(id="help"):
            yield HelpInput(placeholder="search the keys", target=HelpList)
            yield HelpList()
            yield Comment()

    def on_input_changed(self, event: FilterInput.Changed) -> None:
        self.query_one(HelpList).keep(event.value)

    def on_mount(self) -> None:
        keys = [row for group in self._groups for row in _rows(*group)]
        self.query_one(HelpList).show([*keys, *self._legend])
        where = one_line(str(config_path()))
        self.query_one(Comment).show(f"Keys can be changed by their id under [keys] in {where}")
        self.query_one(FilterInput).focus()


def _with_words(rows: Iterable[HelpRow], words: Sequence[str]) -> Iterator[HelpRow]:
    """Rows that contain all words, with their headings."""
    heading: HelpRow | None = None
    for row in rows:
        if not row[1]:
            heading = row
        elif all(word in " ".join(row).lower() for word in words):
            if heading:
                yield heading
            heading = None
            yield row


def _rows(title: str, keys: Sequence[Key]) -> list[HelpRow]:
    """One row for each action."""
    rows = [(" ".join(key.keys), key.words, key.id) for key in keys]
    return [(title, "", ""), *rows] if rows else []
