"""Writes the static site of a tree, which works from disk and from a server."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from pathlib import Path
from typing import NamedTuple

from indexes.build.workers import start_workers, working
from indexes.model.errors import SourceError, TorchnavError
from indexes.model.files import Roots
from indexes.model.vocabulary import SourceKind
from indexes.queries.index import Index
from indexes.source.files import read_text
from indexes.source.source import Source
from navigator.site import lists
from navigator.site.layout import LISTS, address, folder_of, page, versions_page
from navigator.site.operator_page import Quoted, operator_page
from navigator.text.clean import html_text
from navigator.text.html import stylesheet

Progress = Callable[[str, int, int], None]
"""Called with the stage, the amount done and the total."""


_FEW = 200
"""Up to this number of operators, starting processes takes longer."""
_LONGEST = 250
"""Maximum length of a file name on common disks, in bytes."""
_CHUNK = 4
_MOST = 4
"""Number of processes; each one has an index in memory."""


class Built(NamedTuple):
    """What was written."""

    folder: Path
    pages: int
    size: int
    """In bytes."""
    missing: tuple[str, ...]
    """Operators without a page, and why."""


def build_site(index: Index, folder: Path, progress: Progress) -> Built:
    """Writes a page for each operator, and lists, into ``folder/VERSION``.

    Raises:
        SourceError: The folder cannot be written.
    """
    site = _Site(index, folder / folder_of(index.info.version))
    try:
        return site.build(progress)
    except OSError as error:
        raise SourceError(f"cannot write the site in {folder}: {error.strerror}") from error


def _numbers(version: str) -> list[int]:
    return [*map(int, re.findall(r"\d+", version))]


@dataclass(frozen=True)
class _Bodies:
    index: Index
    names: Collection[str]
    """The operators that have a page."""

    def of(self, overloads: Sequence[str]) -> list[str]:
        """The bodies of the pages of an operator's overloads."""
        quoted: Quoted = {}
        return [self._body(op, quoted) for op in overloads]

    def _body(self, op: str, quoted: Quoted) -> str:
        try:
            return "".join(operator_page(self.index, op, self.names, quoted))
        except TorchnavError as error:
            return f"<p>{html_text(str(error))}</p>"


_opened: list[_Bodies] = []
"""In worker processes only."""


def _open(place: tuple[str, SourceKind, Roots], cache: Path, names: Collection[str]) -> None:
    _opened.append(_Bodies(Index.as_left(Source(*place), cache), names))


def _bodies_of(overloads: Sequence[str]) -> list[str]:
    return _opened[0].of(overloads)


def _base(op: str) -> str:
    """The name that an operator's overloads share, in place or not."""
    return op.partition(".")[0].rstrip("_")


class _Site:
    def __init__(self, index: Index, folder: Path) -> None:
        self._index, self._folder = index, folder
        self._pages = self._size = 0
        self._missing: list[str] = []
        self._names: dict[str, str] = {}
        """Pages by searchable name."""

    def build(self, progress: Progress) -> Built:
        ops = [*self._with_address(operator.full_name for operator in self._index.operators())]
        for folder in ("op", "errors"):
            (self._folder / folder).mkdir(parents=True, exist_ok=True)
        families = [[*found] for _, found in groupby(sorted(ops, key=_base), _base)]
        bodies = chain.from_iterable(self._bodies(families))
        for at, (op, body) in enumerate(zip(chain.from_iterable(families), bodies, strict=True)):
            progress("operators", at, len(ops))
            self._page(address(op), op, [body], 1)
        self._lists(ops)
        self._write("style.css", stylesheet())
        self._write("search.js", read_text(Path(__file__).with_name("search.js")))
        found = json.dumps([*self._names.items()], separators=(",", ":")).replace("</", "<\\/")
        self._write("names.js", f"var NAMES={found};")
        self._write("../index.html", versions_page(self._versions()))
        return Built(self._folder, self._pages, self._size, tuple(self._missing))

    def _with_address(self, ops: Iterable[str]) -> Iterator[str]:
        """Operators with a unique address on case-insensitive disks."""
        taken: dict[str, str] = {}
        for op in ops:
            if len(address(op).encode()) > _LONGEST:
                self._missing.append(f"{op}: too long for a file name")
            elif (other := taken.setdefault(address(op).lower(), op)) == op:
                self._names[op] = address(op)
                yield op
            else:
                self._missing.append(f"{op}: on some disks its file would be that of {other}")

    def _bodies(self, families: Sequence[Sequence[str]]) -> Iterator[list[str]]:
        """The bodies of the pages; large numbers are split among processes."""
        local = _Bodies(self._index, frozenset(self._names))
        if len(families) < _FEW:
            yield from map(local.of, families)
            return
        source, cache = self._index.source, self._index.cache
        place, count = (source.top, source.kind, source.roots), min(_MOST, os.cpu_count() or 1)
        writers = start_workers(count, _open, place, cache, local.names)
        with working(writers, "a process that wrote pages") as pool:
            yield from pool.map(_bodies_of, families, chunksize=_CHUNK)

    def _versions(self) -> list[str]:
        """The versions with a site in the folder, newest first."""
        found = self._folder.parent.glob("*/names.js")
        return sorted((one.parent.name for one in found), key=_numbers, reverse=True)

    def _lists(self, ops: Sequence[str]) -> None:
        index = self._index
        self._list("index", [lists.source_words(index.info), *lists.operators(ops)])
        for name, found in {
            "python": lists.by_python(index, ops),
            "nodes": lists.by_node(index),
            "files": lists.by_file(index),
            "keys": lists.by_key(index),
        }.items():
            self._list(name, lists.named(self._with_pages(found, name != "keys")))
        errors = lists.errors(index)
        self._list("errors", lists.letters(errors))
        for letter, rows in errors.items():
            body = ["<table>", *rows, "</table>"]
            self._page(f"errors/{letter}.html", f"{LISTS['errors']}: {letter}", body, 1)

    def _with_pages(self, found: lists.Named, searched: bool) -> Mapping[str, list[str]]:
        """The operators that have a page; their names are added to the search."""
        linked = {name: [op for op in ops if op in self._names] for name, ops in found.items()}
        linked = {name: ops for name, ops in linked.items() if ops}
        if searched:
            for name, ops in linked.items():
                self._names.setdefault(name, address(ops[0]))
        return linked

    def _list(self, name: str, body: Iterable[str]) -> None:
        self._page(f"{name}.html", LISTS[name], body)

    def _page(self, name: str, title: str, body: Iterable[str], depth: int = 0) -> None:
        self._write(name, page(self._index.info, title, body, depth))
        self._pages += 1

    def _write(self, name: str, text: str) -> None:
        data = text.encode("utf-8", "replace")
        (self._folder / name).write_bytes(data)
        self._size += len(data)
