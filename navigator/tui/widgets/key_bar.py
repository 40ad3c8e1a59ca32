"""The key bar: the keys that work here, on one line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual import actions, events
from textual.content import Content
from textual.dom import DOMNode
from textual.widgets import Input

from navigator.tui.keys import Key, keys_of
from navigator.tui.text import one_line
from navigator.tui.widgets.bars import Bar

Shown = tuple[DOMNode, Key, str]
"""The widget that acts, the key, and its display name."""
_WHILE_TYPING = ("help", "quit")
_HELP = len(" ? Help ")
_ORDER = (
    "go",
    "quit",
    "goto",
    "find",
    "edit",
    "copy",
    "back",
    "contribute",
    "leave",
    "impact",
    "table",
    "compare",
    "gaps",
    "blame",
    "affected",
    "new_operator",
    "zoom",
    "trace.open_all",
)
"""Keys by usefulness, after those that only one kind of screen has."""
_RANKS = {name: rank for rank, name in enumerate(_ORDER)}


class KeyBar(Bar):
    """Like Textual's footer, but one rendered line: it changes with the focus."""

    ALLOW_SELECT = False

    DEFAULT_CSS: ClassVar[str] = """
    KeyBar {
        background: $footer-background;
        color: $footer-description-foreground;
    }
    """

    def __init__(self, changed: Mapping[str, str]) -> None:
        super().__init__()
        self._changed = changed
        self._known: dict[type[DOMNode], list[Key]] = {}
        self._ends: list[tuple[int, DOMNode, str]] = []
        """(column after a key's text, widget, action)"""

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def show_chord(self, chord: str) -> None:
        """Show the second strokes of a chord; if empty, all keys."""
        self._chord = chord
        self.refresh()

    _chord = ""

    def render(self) -> Content:
        shown = list(self._shown())
        shown.sort(key=lambda one: _RANKS.get(one[1].id, -1))
        has_help = any(key.id == "help" for _, key, _ in shown)
        room = self.size.width - (_HELP if has_help else 0)
        parts = self._fitting([one for one in shown if one[1].id != "help"], room)
        used = self._ends[-1][0] if self._ends else 0
        for node, key, name in (one for one in shown if one[1].id == "help"):
            part = _part(key, name)
            parts += [Content(" " * (self.size.width - used - part.cell_length)), part]
            self._ends.append((self.size.width, node, key.action))
        return Content("").join(parts)

    def _fitting(self, shown: list[Shown], room: int) -> list[Content]:
        """The keys that fit, with the one for help at the end."""
        chosen: list[tuple[Shown, Content]] = []
        for one in shown:
            part = _part(one[1], one[2])
            room -= part.cell_length
            if room < 0:
                break
            chosen.append((one, part))
        chosen.sort(key=lambda one: one[0][1].id == "quit")  # where users expect it
        self._ends = []
        width = 0
        for (node, key, _), part in chosen:
            width += part.cell_length
            self._ends.append((width, node, key.action))
        return [part for _, part in chosen]

    def _shown(self) -> Iterator[Shown]:
        """The keys to show and their names; after the first stroke of a chord, the second ones."""
        chord = self._chord
        typing = isinstance(self.screen.focused, Input)
        seen: set[str] = set()  # of equal keys, the inner widget's acts
        focused = self.screen.focused
        for node in (focused or self.screen).ancestors_with_self:
            for key in self._keys(type(node)):
                if typing and node is not focused and key.id not in _WHILE_TYPING:
                    continue
                names = key.while_typing if typing else key.keys
                is_shown = key.chord == chord if chord else key.show
                name = names[0].split(" ")[-1] if names else ""
                if is_shown and name and name not in seen and _is_enabled(node, key.action):
                    seen.add(name)
                    yield node, key, name

    def _keys(self, owner: type[DOMNode]) -> list[Key]:
        if owner not in self._known:
            self._known[owner] = keys_of(owner, self._changed)
        return self._known[owner]

    async def on_click(self, event: events.Click) -> None:
        for end, node, action in self._ends:
            if event.x < end:
                await self.app.run_action(action, node)
                return


def _part(key: Key, name: str) -> Content:
    words = one_line(key.brief)
    return Content.assemble((f" {name}", "bold $footer-key-foreground"), f" {words} ")


def _is_enabled(node: DOMNode, action: str) -> bool:
    owner, name, parameters = actions.parse(action)
    return bool((node.app if owner == "app" else node).check_action(name, parameters))
