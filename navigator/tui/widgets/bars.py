"""One-line bars: breadcrumbs, pane titles, notices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from indexes.model.vocabulary import SourceInfo
from navigator.tui.text import one_line, shorten, shorten_path


class Bar(Widget):
    """A line that is rendered for its width."""

    DEFAULT_CSS: ClassVar[str] = "Bar { height: 1; }"


class PaneTitle(Bar):
    """The name of a pane, or the path of its content."""

    DEFAULT_CSS: ClassVar[str] = """
    PaneTitle {
        padding: 0 1;
        color: $text-muted;
        background: $panel;
        &:ansi { background: ansi_default; text-style: underline; }
    }
    Pane:focus-within > PaneTitle {
        color: $foreground;
        background: $primary 30%;
        text-style: bold;
        &:ansi { background: ansi_default; color: ansi_blue; text-style: bold underline; }
    }
    """
    SCOPED_CSS = False

    _text = ""
    _is_path = False
    _note = ""

    def show(self, text: str, note: str = "", *, is_path: bool = False) -> None:
        """Show a text, and a note at the end of the line if it fits."""
        shown = self._text, self._note, self._is_path
        self._text, self._note, self._is_path = one_line(text), one_line(note), is_path
        if shown != (self._text, self._note, self._is_path):
            self.refresh()

    def render(self) -> Content:
        width = self.size.width
        cut = shorten_path if self._is_path else shorten
        text = cut(self._text, width)
        gap = width - cell_len(text) - cell_len(self._note)
        return Content(text + " " * gap + self._note if gap > 0 and self._note else text)


class TopBar(Bar):
    """Breadcrumbs on the left, the source tree on the right."""

    DEFAULT_CSS: ClassVar[str] = "TopBar { padding: 0 1; }"

    _crumbs: Sequence[str] = ()
    _source = ""

    def show_crumbs(self, crumbs: Sequence[str]) -> None:
        """The last places, the present one at the end."""
        shown, self._crumbs = self._crumbs, [one_line(crumb) for crumb in crumbs if crumb]
        if shown != self._crumbs:
            self.refresh()

    def show_source(self, info: SourceInfo) -> None:
        """Show the source of the answers."""
        commit = f" {info.commit[:9]}" if info.commit else ""
        self._source = one_line(f"{info.kind} {info.version}{commit}{'*' if info.dirty else ''}")
        self.refresh()

    def render(self) -> Content:
        width = self.size.width
        source = shorten(self._source, width // 2)
        trail = _fitting(self._crumbs, width - cell_len(source) - 2)
        used = sum(map(cell_len, trail)) + 3 * max(0, len(trail) - 1)
        parts = [(crumb, "dim") for crumb in trail[:-1]]
        parts += [(crumb, "bold") for crumb in trail[-1:]]
        left = Content(" › ").join([Content.styled(*part) for part in parts])
        gap = " " * max(0, width - used - cell_len(source))
        return Content.assemble(left, gap, (source, "dim"))


def _fitting(crumbs: Sequence[str], width: int) -> list[str]:
    """The last crumbs that fit; the very last one is shortened if needed."""
    shown: list[str] = []
    for crumb in reversed(crumbs or ["torchnav"]):
        if shown and sum(map(cell_len, shown)) + 3 * len(shown) + cell_len(crumb) > width:
            break
        shown.insert(0, crumb if shown else _shortened(crumb, width))
    return shown


def _shortened(crumb: str, width: int) -> str:
    """Paths lose folders, other texts their end."""
    is_path = "/" in crumb and " " not in crumb
    return shorten_path(crumb, width) if is_path else shorten(crumb, width)


class NoticeBar(Bar):
    """An important line: what is missing and the command that adds it, or an error."""

    DEFAULT_CSS: ClassVar[str] = """
    NoticeBar {
        height: auto;
        max-height: 3;
        display: none;
        padding: 0 1;
        color: $text-warning;
        background: $warning 15%;
        &.-shown { display: block; }
        &.-error { color: $text-error; background: $error 15%; }
        &:ansi { background: ansi_default; }
    }
    """

    _text = ""
    _note = ""

    def show(self, text: str, note: str = "", *, error: bool = False) -> None:
        """Show a line, and a note if it fits; an empty line hides the bar."""
        self._text, self._note = one_line(text), one_line(note)
        self.set_class(bool(text), "-shown")
        self.set_class(error, "-error")
        self.refresh(layout=True)

    def render(self) -> Content:
        has_room = len(self._text) + len(self._note) + 2 <= self.size.width
        return Content(f"{self._text}  {self._note}" if has_room else self._text)
