"""The first rows of the operator list, found by a process beside this one while the screen's own
modules are loaded: that takes as long as to find them, and both would wait for each other."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.source import forked

if TYPE_CHECKING:
    from indexes.model.vocabulary import NativeFunction, OperatorSummary
    from indexes.source.source import Source

ROWS = 200
"""More than any terminal has lines."""
_Found = tuple[bytes, bytes]
"""Pickled: how many operators there are with the first of them, and the entries of the YAML
file, which is nothing where there is an index."""


class FirstRows:
    """What is there to show at first. The answers are waited for where they are asked."""

    def __init__(self, found: Callable[[], _Found | None]) -> None:
        self._wait = found

    @cached_property
    def _found(self) -> _Found | None:
        return self._wait()

    @property
    def operators(self) -> tuple[int, Sequence[OperatorSummary]] | None:
        """How many operators there are, and the first of them. None where there is no tree."""
        if self._found is None:
            return None
        total, first = pickle.loads(self._found[0])
        return total, first

    @property
    def entries(self) -> Sequence[NativeFunction] | None:
        """The entries of native_functions.yaml, where they had to be read."""
        if self._found is None or not self._found[1]:
            return None
        entries: Sequence[NativeFunction] = pickle.loads(self._found[1])
        return entries


def begin(tree: str | None, cache: Path | None) -> FirstRows:
    """Begins to look for them; see ``navigator.tui.session.Opener`` for what is asked."""
    return FirstRows(forked.begin(lambda: _find(tree, cache)))


def open_screen(tree: str | None, cache: Path | None) -> int:
    """Shows the screen, whose first rows are looked for while it is loaded; its exit code."""
    first = begin(tree, cache) if forked.possible() else None
    app = import_module("navigator.tui.app")
    return int(app.run(tree, cache, first=first))


def _find(tree: str | None, cache: Path | None) -> _Found | None:
    from indexes.model.errors import TorchnavError
    from indexes.queries.index import Index
    from indexes.source.source import Source

    try:
        source = Source.find(tree, cache)
        try:
            operators = Index.as_left(source, cache).operators()
            return _packed(operators), b""
        except TorchnavError:  # there is none yet
            return _preview(source)
    except TorchnavError:  # who opens the tree tells why
        return None


def _preview(source: Source) -> _Found:
    from navigator.tui.processes.preview import Preview

    preview = Preview(source)
    return _packed(preview.operators()), pickle.dumps(preview.entries, pickle.HIGHEST_PROTOCOL)


def _packed(operators: Sequence[OperatorSummary]) -> bytes:
    return pickle.dumps((len(operators), operators[:ROWS]), pickle.HIGHEST_PROTOCOL)
