"""The map of a tree: contents of folders, entry points, and the path of one call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal

from indexes.model.answers import Route
from indexes.model.code_map import CallMap, CallStep, FolderMap, MapEntry, Words
from indexes.model.errors import NotFound, SourceError
from indexes.model.lines import grouped
from indexes.queries.dispatch_path.walk import SwitchedPaths
from indexes.queries.index import Index
from indexes.queries.naming.near import near
from indexes.readers.project.prose import first_sentence, package_sentence, read_structure
from indexes.store.folders import ORDER, calls_into, counts_by_file

_DOORS = 5
_DISPATCHER = "ATen/core/dispatch/Dispatcher.h"


class CodeMap:
    """Answers for one tree, with shared counts."""

    def __init__(self, index: Index) -> None:
        self._index, self._source = index, index.source

    def folder(self, path: str = "") -> FolderMap:
        """A folder, one level deep; the root of the tree for an empty ``path``.

        Raises:
            NotFound: It has nothing indexed; with similar folders.
        """
        folder = "/".join(part for part in path.replace("\\", "/").split("/") if part not in ".")
        inside = [one for one in self._counts if not folder or one.startswith(f"{folder}/")]
        if not inside:
            raise NotFound(f"no indexed file is in a folder {path}", self._near(folder))
        begin = len(folder) + 1 if folder else 0
        children = grouped((one[begin:].partition("/")[0], one) for one in inside)
        entries = [self._entry(folder, name, paths) for name, paths in children.items()]
        return FolderMap(
            self._index.info,
            folder,
            self._sum(inside),
            tuple(self._all_words(folder)),
            tuple(sorted(entries, key=_by_weight)),
            self._doors(inside),
        )

    def _near(self, folder: str) -> tuple[str, ...]:
        folders = {path.rpartition("/")[0] for path in self._counts}
        ending = sorted((one for one in folders if one.endswith(f"/{folder}")), key=len)
        return tuple(ending[:5]) or near(folder, sorted(folders), 5)

    def _entry(self, folder: str, name: str, paths: list[str]) -> MapEntry:
        path = f"{folder}/{name}" if folder else name
        kind: Literal["folder", "file"] = "file" if paths == [path] else "folder"
        words = self._file_words(path) if kind == "file" else next(self._all_words(path), None)
        references = sum(self._references.get(one, 0) for one in paths)
        door = min(paths, key=lambda one: (-self._references.get(one, 0), one))
        return MapEntry(kind, path, self._sum(paths), references, words, door)

    def _doors(self, paths: Iterable[str]) -> tuple[MapEntry, ...]:
        known = [path for path in paths if self._references.get(path)]
        known.sort(key=lambda path: (-self._references[path], path))
        return tuple(self._door(path) for path in known[:_DOORS])

    def _door(self, path: str) -> MapEntry:
        words = self._file_words(path)
        return MapEntry("file", path, self._sum([path]), self._references[path], words, path)

    def _sum(self, paths: Iterable[str]) -> dict[str, int]:
        whole: Counter[str] = Counter()
        for path in paths:
            whole.update(self._counts[path])
        return {what: whole[what] for what in ORDER if whole[what]}

    @cached_property
    def _counts(self) -> Mapping[str, Counter[str]]:
        found = counts_by_file(self._index.facts.store)
        for what, places in (
            ("operators", (one.location for one in self._index.operators())),
            ("formulas", (one.location for one in self._index.derivative_rows())),
        ):
            for place in places:
                found.setdefault(place.path, Counter())[what] += 1
        return found

    @cached_property
    def _references(self) -> Mapping[str, int]:
        found = Counter(dict(calls_into(self._index.facts.store)))
        headers: dict[str, str] = {}
        for path in self._counts:
            parts = path.split("/")
            for at in range(len(parts)):
                headers.setdefault("/".join(parts[at:]), path)
        for includes in self._index.facts.includes().values():
            found.update(headers[one.name] for one in includes if one.name in headers)
        return found

    # -------------------------------------------------------------------------- words

    @cached_property
    def _structure(self) -> Mapping[str, Words]:
        data = self._source.content("CONTRIBUTING.md")
        return read_structure(data, "CONTRIBUTING.md") if data else {}

    def _all_words(self, folder: str) -> Iterator[Words]:
        if folder in self._structure:
            yield self._structure[folder]
        prefix = f"{folder}/" if folder else ""
        for name, read in (("README.md", first_sentence), ("__init__.py", package_sentence)):
            if data := self._source.content(prefix + name):
                found = read(data, prefix + name)
                if found:
                    yield found

    def _file_words(self, path: str) -> Words | None:
        if path in self._structure or not path.endswith(".py"):
            return self._structure.get(path)
        return package_sentence(self._source.content(path), path)

    # ------------------------------------------------------------------- way of a call

    def call(self, op: str, device: str = "cpu") -> CallMap:
        """The path of a call of ``add.Tensor`` from Python to what computes it.

        Raises:
            NotFound: There is no such operator.
            UsageError: No dispatch key is for the device.
        """
        native = self._index.native(op)
        if native is None:
            raise NotFound(f"no operator {op}")
        steps = [*self._python(op), CallStep("schema", op, native.location, "its entry")]
        unknown = ""
        try:
            steps += self._dispatched(op, device)
        except SourceError as error:
            unknown = str(error)
        routes = [one for one in self._index.routes(op) if one.device.lower() == device.lower()]
        if routes:
            steps += self._routed(routes[0], steps)
        else:
            unknown = unknown or f"no known route to code that computes on {device}"
        return CallMap(self._index.info, op, device, tuple(steps), unknown)

    def _python(self, op: str) -> Iterator[CallStep]:
        for one in self._index.surroundings(op).python[:1]:
            yield CallStep("Python", one.name, one.location, "the name in Python")

    def _dispatched(self, op: str, device: str) -> Iterator[CallStep]:
        path = SwitchedPaths(self._index).paths(op, device=device).paths[0]
        found = self._index.definitions("Dispatcher::call")
        where = next((d.location for d in found if d.location.path.endswith(_DISPATCHER)), None)
        if where:
            yield CallStep("dispatcher", "c10::Dispatcher::call", where, "looks up the kernel")
        for step in path.steps:
            if step.action == "runs" and step.slot:
                place = step.slot.definition or step.slot.registration
                why = f"{step.key}: {step.then}"
                yield CallStep("kernel", step.slot.kernel, place, why)

    def _routed(self, route: Route, before: list[CallStep]) -> Iterator[CallStep]:
        known = {step.location for step in before}
        for way in route.via:
            if way.location not in known:
                again = self._index.native(way.symbol) is not None
                why = "called through the dispatcher again" if again else f"for {route.device}"
                yield CallStep("schema" if again else "route", way.symbol, way.location, why)
        yield CallStep("computes", route.symbol, route.location, route.note or route.kind)


def _by_weight(entry: MapEntry) -> tuple[bool, int, str]:
    if entry.kind == "folder":
        return (False, -entry.counts.get("files", 0), entry.path)
    return (True, -entry.references, entry.path)
