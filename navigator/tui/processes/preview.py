"""A preview while the index is being built: the operators, from YAML alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from indexes.model.answers import Card, Chain, Hit, Hop, NameMatch, Route, Unresolved
from indexes.model.errors import NotFound, SourceError
from indexes.model.vocabulary import (
    Definition,
    NativeFunction,
    OperatorSummary,
    Problem,
    SourceInfo,
)
from indexes.queries.explaining.fields import Explanation, Fields
from indexes.queries.search import OperatorFilter
from indexes.source.source import Source

REASON = "the index is still being built"


class Preview:
    """Answers like an index, as far as native_functions.yaml allows."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @cached_property
    def info(self) -> SourceInfo:
        return self._source.info

    @cached_property
    def _entries(self) -> dict[str, NativeFunction]:
        """The entries of native_functions.yaml. Raises SourceError."""
        from indexes.readers.yaml.native_functions import read_native_functions

        path = self._source.locate("native_functions.yaml")
        if path is None:
            raise SourceError("this tree has no native_functions.yaml")
        entries, _ = read_native_functions(self._source.read(path), path)
        return {entry.full_name: entry for entry in entries}

    def _entry(self, full_name: str) -> NativeFunction:
        if full_name not in self._entries:
            raise NotFound(f"{full_name}: {REASON}")
        return self._entries[full_name]

    def operators(self) -> tuple[OperatorSummary, ...]:
        return tuple(_summary(entry) for entry in self._entries.values())

    @cached_property
    def filter(self) -> OperatorFilter:
        return OperatorFilter(self.operators())

    def summary(self, full_name: str) -> OperatorSummary | None:
        entry = self._entries.get(full_name)
        return _summary(entry) if entry else None

    def chain(self, full_name: str) -> Chain:
        entry = self._entry(full_name)
        schema = Hop(
            0,
            None,
            "schema",
            full_name,
            entry.location,
            "its entry in native_functions.yaml",
            "exact",
            note=entry.schema,
        )
        rest = Unresolved("kernel", full_name, REASON, parent=0)
        return Chain(self.info, _summary(entry), entry, None, (schema,), (rest,))

    def routes(self, _: str) -> tuple[Route, ...]:
        return ()

    def card(self, full_name: str, _: Sequence[Route] | None = None) -> Card:
        entry = self._entry(full_name)
        return Card(entry.schema, "", entry.location, ())

    def resolve(self, text: str) -> NameMatch:
        name = text.removeprefix("aten::")
        found = tuple(one for one in self._entries if one == name or one.split(".")[0] == name)
        return NameMatch("operator" if found else "none", text, found, note=REASON)

    def python(self, name: str) -> None:
        return None

    def find(self, text: str, limit: int = 50) -> tuple[Hit, ...]:
        found = self.filter(text)[:limit]
        return tuple(
            Hit("operator", one.full_name, one.location, one.schema, one.full_name) for one in found
        )

    def read(self, path: str) -> str:
        return self._source.read(path).decode("utf-8", errors="replace")

    def explain(self, path: str, line: int) -> Explanation:
        if not path.endswith(".yaml"):
            raise SourceError(REASON)
        return Fields(self._source).at(path, line)

    def definitions(self, symbol: str) -> tuple[Definition, ...]:
        raise SourceError(REASON)

    def uses(self, symbol: str, limit: int = 200) -> tuple[Hit, ...]:
        raise SourceError(REASON)

    def problems(self) -> tuple[Problem, ...]:
        return ()


def _summary(entry: NativeFunction) -> OperatorSummary:
    """An operator's row, with the keys that its entry lists."""
    return OperatorSummary(
        full_name=entry.full_name,
        schema=entry.schema,
        location=entry.location,
        keys=tuple(kernel.key for kernel in entry.dispatch or ()),
        tags=entry.tags,
        python_module=entry.python_module,
        has_derivative=False,
        kind="",
    )
