"""The keys of screens and widgets as data, for the key bar, the help screen and the palette.

A key with two strokes is a chord: ``g d``. Its first stroke is bound to ``chord('go')``, the second
ones are listed under the chord's name in the class's ``CHORDS``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from textual import events
from textual.binding import Binding
from textual.dom import DOMNode
from textual.keys import format_key, key_to_character


@dataclass(frozen=True, slots=True)
class Key:
    """A key and its action."""

    id: str
    keys: tuple[str, ...]
    """The keys as printed: ``g d`` for two strokes."""
    words: str
    brief: str
    """The label in the key bar."""
    action: str
    chord: str = ""
    """The chord whose second stroke it is."""
    show: bool = False
    """Whether the key bar shows it."""
    while_typing: tuple[str, ...] = ()
    """The keys that still work in an input."""


def keys_of(owner: type[DOMNode], changed: Mapping[str, str]) -> list[Key]:
    """The keys of a class and its parents in torchnav, as ``changed`` in the config file."""
    found = {binding.id: _key(binding, changed) for binding in _bindings(owner)}
    for chord, members in _chords(owner).items():
        first = found[chord].keys[0]
        for member in members:
            found[member.id] = replace(_key(member, changed, f"{first} "), chord=chord, show=False)
    return [key for key in found.values() if key.id and key.words]


def unknown_ids(owners: Iterable[type[DOMNode]], changed: Mapping[str, str]) -> list[str]:
    """Ids in the config file that no key has."""
    known = {key.id for owner in owners for key in keys_of(owner, {})}
    return [name for name in changed if name not in known]


def second_stroke(
    owner: type[DOMNode], chord: str, event: events.Key, changed: Mapping[str, str]
) -> Binding | None:
    """The action of a key after the first stroke of a chord."""
    names = (event.key, event.character)
    members = _chords(owner).get(chord, ())
    return next((member for member in members if set(_raw(member, changed)) & set(names)), None)


def _bindings(owner: type[DOMNode]) -> Iterator[Binding]:
    """A class's bindings after those of its parents, without Textual's own."""
    for cls in reversed(owner.__mro__):
        if cls.__module__.startswith("navigator."):
            for one in cls.__dict__.get("BINDINGS", ()):
                if isinstance(one, Binding):
                    yield one


def _chords(owner: type[DOMNode]) -> Mapping[str, Sequence[Binding]]:
    return getattr(owner, "CHORDS", {})


def _key(one: Binding, changed: Mapping[str, str], prefix: str = "") -> Key:
    raw = _raw(one, changed)
    names = tuple(prefix + format_key(key) for key in raw)
    usable = tuple(name for key, name in zip(raw, names, strict=True) if _types_nothing(key))
    words = one.tooltip or one.description
    return Key(
        one.id or "", names, words, one.description, one.action, show=one.show, while_typing=usable
    )


def _raw(binding: Binding, changed: Mapping[str, str]) -> list[str]:
    return [key.strip() for key in changed.get(binding.id or "", binding.key).split(",")]


def _types_nothing(key: str) -> bool:
    """Whether a key types no letter; question marks are never typed."""
    character = key_to_character(key) or "\0"
    return key == "question_mark" or (len(key) > 1 and not character.isprintable())
