"""Keys in two strokes: ``g d``, ``y p``. While the first is pending the key bar shows the rest.

Both strokes are ordinary bindings with ids, so that both can be remapped.
"""

from __future__ import annotations

from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.widgets import Input

from navigator.tui.screens.fitting import FittingScreen


def member(chord: str, key: str, action: str, description: str) -> Binding:
    """The second key of a chord; ``action`` is one of the screen."""
    return Binding(
        key,
        f"in_chord('{chord}', '{action}')",
        description,
        show=False,
        priority=True,
        id=f"{chord}.{action}",
    )


def opener(chord: str, key: str, description: str) -> Binding:
    """The first key of a chord."""
    return Binding(key, f"chord('{chord}')", description, priority=True, id=chord)


def typing(key: str, action: str, description: str, **options: Any) -> Binding:
    """A key behind which letters are typed: it is heard before them, however fast they come."""
    return Binding(key, f"typing('{action}')", description, priority=True, id=action, **options)


class ChordScreen(FittingScreen):
    """A screen with keys in two strokes."""

    chord = ""
    """The chord that was begun, or empty."""

    BINDINGS: ClassVar[list[BindingType]] = []

    def __init_subclass__(cls, **options: Any) -> None:
        """Keep the bindings of parents where a subclass uses the same key for a second stroke.

        Textual would drop them: it merges bindings key by key.
        """
        found: dict[str, BindingType] = {}
        for owner in reversed(cls.__mro__):
            if issubclass(owner, ChordScreen):
                own = owner.__dict__.get("BINDINGS", ())
                found |= {one.id or one.key: one for one in own if isinstance(one, Binding)}
        cls.BINDINGS = list(found.values())
        super().__init_subclass__(**options)

    @property
    def is_typing(self) -> bool:
        """Whether letters go into an input."""
        return isinstance(self.focused, Input)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "in_chord":
            return parameters[0] == self.chord
        if action in ("chord", "typing"):
            return not self.chord and not self.is_typing
        return True

    def action_chord(self, chord: str) -> None:
        """The first key: wait for the second."""
        self._set_chord(chord)

    async def action_in_chord(self, _chord: str, action: str) -> None:
        """The second key."""
        self._set_chord("")
        await self.run_action(action)

    async def action_typing(self, action: str) -> None:
        """Opens an input."""
        await self.run_action(action)

    def take_key(self, event: events.Key) -> bool:
        """Whether the screen keeps a key to itself, before any binding sees it."""
        if self.chord and event.key == "escape":
            self._set_chord("")
            return True
        return False

    def after_key(self, chord: str) -> None:
        """A key was handled that was pressed while ``chord`` was pending."""
        if self.chord == chord:
            self._set_chord("")

    def _set_chord(self, chord: str) -> None:
        self.chord = chord
        self.refresh_bindings()
