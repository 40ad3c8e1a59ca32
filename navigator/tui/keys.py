"""The keys of screens and widgets as data: for the key bar, the help screen, the palette."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

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
    bindings = list(_bindings(owner))
    chords = {_argument(one): _names(one, changed)[0] for one in bindings if _opens(one)}
    found: dict[str, Key] = {}
    for one in bindings:
        if one.id and one.description:
            found[one.id] = _key(one, changed, chords)
    return list(found.values())


def unknown_ids(owners: Iterable[type[DOMNode]], changed: Mapping[str, str]) -> list[str]:
    """The ids of the config file that no key has."""
    known = {one.id for owner in owners for one in _bindings(owner)}
    return [name for name in changed if name not in known]


def _bindings(owner: type[DOMNode]) -> Iterator[Binding]:
    """Those of a class behind those of its parents; Textual's own are not listed."""
    for cls in reversed(owner.__mro__):
        if cls.__module__.startswith("navigator."):
            for one in cls.__dict__.get("BINDINGS", ()):
                if isinstance(one, Binding):
                    yield one


def _key(one: Binding, changed: Mapping[str, str], chords: Mapping[str, str]) -> Key:
    chord = _argument(one) if one.action.startswith("in_chord(") else ""
    prefix = f"{chords.get(chord, '')} " if chord else ""
    names = tuple(prefix + name for name in _names(one, changed))
    raw = _raw(one, changed)
    usable = tuple(name for key, name in zip(raw, names, strict=True) if _types_nothing(key))
    while_typing = names if one.priority and not _opens(one) else usable
    words = one.tooltip or one.description
    return Key(
        one.id or "", names, words, one.description, one.action, chord, one.show, while_typing
    )


def _raw(one: Binding, changed: Mapping[str, str]) -> list[str]:
    return [key.strip() for key in changed.get(one.id or "", one.key).split(",")]


def _names(one: Binding, changed: Mapping[str, str]) -> list[str]:
    return [format_key(key) for key in _raw(one, changed)]


def _types_nothing(key: str) -> bool:
    character = key_to_character(key) or "\0"
    return len(key) > 1 and not character.isprintable()


def _opens(one: Binding) -> bool:
    """Whether it is the first stroke of a chord, or opens an input: in one it is a letter."""
    return one.action.startswith(("chord(", "typing("))


def _argument(one: Binding) -> str:
    """The first argument of its action: the chord's name."""
    parts = one.action.split("'")
    return parts[1] if len(parts) > 1 else ""
