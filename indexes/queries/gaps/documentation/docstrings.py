"""Docstrings of Python functions and classes that contradict their signatures."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from indexes.model.files import ArgumentDocs, module_name
from indexes.model.regex import MULTILINE, regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.tree import Tree
from indexes.store.tables import load

_REFERENCE = regex(
    r"(?i)\b(?:like|same|see|refer|version|wraps?|wrapper|equivalent|details)\b[^.:]{0,60}"
    r":(?:func|meth|class|obj):`[~!.]*([\w.]+)"
)
"""A reference by which a docstring refers to another."""
_DEPRECATED = regex(r"(\w+)[`'\"]*(?: \w+)? (?:is|are) deprecated")
"""A deprecation warning about a parameter."""
_BEHIND = regex(r"^\S", MULTILINE)
"""The start of what follows a top-level class or function."""
_MANY = 3
"""Functions of a folder that make a custom."""


def find(tree: Tree) -> Iterator[Gap]:
    """One gap per public function or class whose docstring is wrong."""
    remarks = tree.remarks("arguments")
    rows = [(place, name, load(text, ArgumentDocs)) for place, name, text in remarks]
    customs = _Customs((place.path, one) for place, _, one in rows)
    documented = [(name.rpartition(".")[2], one) for _, name, one in rows]
    for place, name, one in rows:
        missing = () if one.wrong else customs.omitted(place.path, one)
        missing = _left(missing, tree, place, one, documented) if missing else ()
        if found := one.wrong or _omission(one, missing):
            yield _gap(place, name, one, *found)


def _left(
    missing: Sequence[str],
    tree: Tree,
    place: Location,
    one: ArgumentDocs,
    documented: Iterable[tuple[str, ArgumentDocs]],
) -> Sequence[str]:
    """The omitted parameters that are not deprecated and not documented by a function that the
    docstring refers to: ``load_inline`` behaves "like :func:`load`"."""
    last = max(one.lines.values())
    text = "\n".join(tree.lines(place.path, place.line, last))
    meant = {name.rpartition(".")[2] for name in _REFERENCE.findall(text)}
    mentioned = {word for name, other in documented if name in meant for word in other.said}
    code = _BEHIND.split("\n".join(tree.lines(place.path, last)), 1)[0]
    mentioned.update(_DEPRECATED.findall(code) if " deprecated" in code else ())
    return [name for name in missing if name not in mentioned]


def _omission(one: ArgumentDocs, missing: Sequence[str]) -> tuple[str, str] | None:
    """The message about omitted parameters; None if there are none."""
    if not missing:
        return None
    rule = f"its docstring documents {', '.join(one.said)} and leaves that out"
    return f"does not document {', '.join(missing)}", rule


class _Customs:
    """Parameters that a folder's docstrings usually omit: ``device`` of modules."""

    def __init__(self, rows: Iterable[tuple[str, ArgumentDocs]]) -> None:
        self._there: Counter[tuple[str, str]] = Counter()
        self._said: Counter[tuple[str, str]] = Counter()
        for path, one in rows:
            folder = os.path.dirname(path)
            self._there.update((folder, name) for name in one.parameters)
            self._said.update((folder, name) for name in one.parameters if name in one.said)

    def omitted(self, path: str, one: ArgumentDocs) -> Sequence[str]:
        """The parameters that a docstring omits unlike others in its folder."""
        folder = os.path.dirname(path)
        missing = (name for name in one.parameters if name not in one.said)
        return [name for name in missing if not self._is_left_out((folder, name))]

    def _is_left_out(self, where: tuple[str, str]) -> bool:
        return self._there[where] >= _MANY and 2 * self._said[where] < self._there[where]


def _gap(place: Location, symbol: str, one: ArgumentDocs, what: str, rule: str) -> Gap:
    name = f"{module_name(place.path)}.{symbol}"
    words = set(re.findall(r"\w+", what))
    wrong = [line for word, line in one.lines.items() if word in words]
    lines = wrong or [max(one.lines.values())]
    entries = dict.fromkeys(Location(place.path, line) for line in lines)
    return Gap(place, f"{name} {what}", rule, (place, *entries), name=name)


KINDS = (
    Kind(
        "docstring",
        "easy",
        "docstrings that disagree with the signature",
        find,
        unit="names",
        few=2,
    ),
)
