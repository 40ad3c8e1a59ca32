"""The keys of screens and widgets as data: for the key bar, the help screen, the palette.

A key in two strokes is a chord: ``g d``. Its first stroke is a binding ``chord('go')``, the second
ones stand under the chord's name in ``CHORDS`` of the same class.
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
    """Something that keys do."""

    id: str
    keys: tuple[str, ...]
    """As they are printed: ``g d`` for two strokes."""
    words: str
    brief: str
    """The words for the key bar."""
    action: str
    chord: str = ""
    """The chord whose second stroke it is."""
    show: bool = False
    """Whether the key bar shows it."""
    while_typing: tuple[str, ...] = ()
    """Those of the keys that still work while letters go into an input."""


def keys_of(owner: type[DOMNode], changed: Mapping[str, str]) -> list[Key]:
    """The keys that a class and its parents in torchnav define, as ``changed`` by the reader."""
    found = {one.id: _key(one, changed) for one in _bindings(owner)}
    for chord, members in _chords(owner).items():
        first = found[chord].keys[0]
        for one in members:
            found[one.id] = replace(_key(one, changed, f"{first} "), chord=chord, show=False)
    return [key for key in found.values() if key.id and key.words]


def unknown_ids(owners: Iterable[type[DOMNode]], changed: Mapping[str, str]) -> list[str]:
    """The ids of the config file that no key has."""
    known = {key.id for owner in owners for key in keys_of(owner, {})}
    return [name for name in changed if name not in known]


def second_stroke(
    owner: type[DOMNode], chord: str, event: events.Key, changed: Mapping[str, str]
) -> Binding | None:
    """What a key means behind the first stroke of a chord."""
    names = (event.key, event.character)
    members = _chords(owner).get(chord, ())
    return next((one for one in members if set(_raw(one, changed)) & set(names)), None)


def _bindings(owner: type[DOMNode]) -> Iterator[Binding]:
    """Those of a class behind those of its parents; Textual's own are not listed."""
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


def _raw(one: Binding, changed: Mapping[str, str]) -> list[str]:
    return [key.strip() for key in changed.get(one.id or "", one.key).split(",")]


def _types_nothing(key: str) -> bool:
    """Whether a key is no letter in an input; a question mark is none anywhere."""
    character = key_to_character(key) or "\0"
    return key == "question_mark" or (len(key) > 1 and not character.isprintable())
