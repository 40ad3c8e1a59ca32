"""Members of Python classes by name only: ``state_dict``, ``optimizer.zero_grad()``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from indexes.model.files import module_name
from indexes.model.python import PythonAnswer
from indexes.queries.indexed_tree import IndexedTree, kept
from indexes.queries.python_names.finding import Finder, finder_of, is_private, naming, together
from indexes.readers.python.blocks import Head, Text, occurrences

_MOST = 12
"""Most classes shown."""
_LIKE = (str.__eq__, str.endswith, str.startswith)
"""How a class may be named after an object, most certain first: ``optimizer``, ``scaler`` (a
``GradScaler``), ``prof`` (a ``profile``)."""
_SHORTEST = 3


def find_in_classes(member: str, called_on: str, index: IndexedTree) -> PythonAnswer | None:
    """A member of the classes named after the object, else of all classes that have it, base
    classes first; None if no class has it.

    Parameters:
        member: Its name.
        called_on: ``self.optimizer`` in ``self.optimizer.step``; empty if unknown.
        index: The index of the tree.
    """
    finder, owners = finder_of(index), _owners(member, index)
    classes = [] if (alike := _named_as(called_on, owners)) else _public_named(called_on, finder)
    alike = alike or [one for one in classes if finder.find(f"{one}.{member}")]
    if not alike and any(_last(one).lower() == _word(called_on) for one in classes):
        return None  # ``dataset.map``: a Dataset has none
    names = [f"{finder.shortened(one)}.{member}" for one in (alike or owners)[:_MOST]]
    if called_on:  # ``stream``, of C++'s torch.Stream
        names.insert(0, f"torch.{_word(called_on).capitalize()}.{member}")
    found = together(map(finder.find, names))
    if found is None or not called_on:
        return found
    note = f"if {called_on} is a {found.name.rpartition('.')[0]}"
    return replace(found, note=note, confidence=found.confidence if alike else "ambiguous")


def find_in_named(member: str, called_on: str, index: IndexedTree) -> PythonAnswer | None:
    """The same for public classes named after the object only."""
    found = find_in_classes(member, called_on, index) if called_on else None
    owner = found.name.rpartition(".")[0] if found else ""
    is_its = owner.rpartition(".")[2].lower() == called_on.rpartition(".")[2].lower()
    if found is None or not is_its or is_private(owner):
        return None
    if found.places:  # a ``model`` is rather a Module than the Model of some example
        owner = finder_of(index).shortened(found.places[0].name.rpartition(".")[0])
    return replace(found, name=f"{owner}.{member}", note=f"if {called_on} is a {owner}")


def _named_as(called_on: str, owners: list[str]) -> list[str]:
    """The classes named most like an object."""
    if len(word := _word(called_on)) < _SHORTEST:
        return []
    found = ([one for one in owners if like(_last(one).lower(), word)] for like in _LIKE)
    return next(filter(None, found), [])


def _word(called_on: str) -> str:
    return called_on.rpartition(".")[2].strip("_0123456789").lower().replace("_", "")


def _public_named(called_on: str, finder: Finder) -> list[str]:
    """The public classes named after an object, whose methods may set a member on ``self``:
    ``optimizer.param_groups``."""
    named = [name for name in finder.exported if name.lstrip("_")[:1].isupper()]
    return [one for name in _named_as(called_on, named) for one in finder.public(name)]


def _last(name: str) -> str:
    return name.rpartition(".")[2]


@kept
def _owners(member: str, index: IndexedTree) -> list[str]:
    """The classes with a member: public ones, most derived from, short names first."""
    finder, stored = finder_of(index), index.facts.python
    texts = ((path, index.source.content(path)) for path in naming(member, index))
    found = list(_with(member.encode(), texts))
    derived = Counter(stored.bases()) if found else Counter()

    def rank(name: str) -> tuple[bool, int, int, str]:
        private = all(map(is_private, finder.public(_last(name)) or (name,)))
        return private, -derived[_last(name)], name.count("."), name

    return sorted(found, key=rank)


def _with(member: bytes, texts: Iterable[tuple[str, bytes]]) -> Iterator[str]:
    name = re.escape(member)
    method, attribute = rb"(?:async[ \t]+)?def[ \t]+%b\b" % name, rb"%b[ \t]*[:=](?!=)" % name
    defined = re.compile(rb"[ \t]+(?:%b|%b)" % (method, attribute))
    for path, data in texts:
        lines = dict.fromkeys(data.rfind(b"\n", 0, at) + 1 for at in occurrences(data, member))
        if starts := [start for start in lines if defined.match(data, start)]:
            text = Text(data)
            around = dict.fromkeys(_class_around(text, start) for start in starts)
            yield from (f"{module_name(path)}.{head.qualified}" for head in around if head)


def _class_around(text: Text, start: int) -> Head | None:
    """The class whose body contains a line; None in a function or at top level."""
    if text.strings.end_at(start + 1):
        return None
    own = next((head for head in text.heads if head.start == start), None)
    if own:
        around = text.heads[own.parent] if own.parent >= 0 else None
    else:
        block = text.around(text.data.count(b"\n", 0, start) + 1)
        around = block.head if block else None
    return around if around and around.is_class else None
