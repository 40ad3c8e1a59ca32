"""Operators of a recording that took, made or wrote to a storage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from indexes.model.schema import parse_schema
from navigator.trace.columns import NONE
from navigator.trace.link import Linker
from navigator.trace.model import TensorState
from navigator.trace.table import OP
from navigator.trace.trace import Trace


class Use(NamedTuple):
    """An operator that took or made a tensor of the storage."""

    row: int
    argument: int
    """Index of the argument; ``NONE`` if it only made the tensor."""
    state: TensorState
    """The state at the operator's start; for results, at its end."""
    after: int | None
    """The version at its end, if it returned the tensor."""


class Written(NamedTuple):
    """A use that changed the storage."""

    use: Use
    before: int
    after: int


class Storages:
    """Finds the uses of storages in one recording."""

    def __init__(self, trace: Trace, linker: Linker) -> None:
        self._trace, self._linker = trace, linker

    def uses(self, storage: int) -> list[Use]:
        """Operators that took or made the storage, by time, callers before callees.

        Several storages may have the number, one after the other.
        """
        table = self._trace.table
        numbers = {at for at, (one, _) in table.storage_places.items() if one == storage}
        rows = (row for row in range(len(table)) if self._has(row, numbers))
        found = (self._use(row, storage) for row in rows if table.kind[row] == OP)
        return sorted(
            (use for use in found if use),
            key=lambda use: (table.start[use.row], -table.duration[use.row], -use.row),
        )

    def _has(self, row: int, numbers: set[int]) -> bool:
        placed, at = self._trace.table.placed, self._trace.table.tensors[row]
        if at < 0:
            return False
        return not numbers.isdisjoint(placed[at + 2 : at + 2 + placed[at] + placed[at + 1]])

    def _use(self, row: int, storage: int) -> Use | None:
        taken, made = self._trace.table.states_of(row)
        results = (one for some in made for one in some)
        result = next((one for one in results if one and one.storage == storage), None)
        after = result.version if result else None
        for argument, some in enumerate(taken):
            for one in some:
                if one and one.storage == storage:
                    return Use(row, argument, one, after)
        return Use(row, NONE, result, after) if result else None

    def writes(self, storage: int, since: int) -> Iterator[Written]:
        """The outermost operators that wrote to a storage after a row had ended, by time, with the
        versions before and after."""
        table = self._trace.table
        ended = table.start[since] + table.duration[since]
        later = [use for use in self.uses(storage) if table.start[use.row] >= ended]
        found: set[int] = set()
        for at, use in enumerate(later):
            if use.argument == NONE or found.intersection(self._trace.table.ancestors(use.row)):
                continue
            after = use.after if use.after is not None else self._seen_after(use, later[at + 1 :])
            if after is None and self._may_write(use):
                after = use.state.version + 1
            if after is not None and after > use.state.version:
                found.add(use.row)
                yield Written(use, use.state.version, after)

    def _seen_after(self, use: Use, later: list[Use]) -> int | None:
        """The version seen by the next operator, for an argument that was not returned."""
        table = self._trace.table
        ended = table.start[use.row] + table.duration[use.row]
        following = (one for one in later if table.start[one.row] >= ended and one.argument != NONE)
        found = next(following, None)
        return found.state.version if found and self._may_write(use) else None

    def _may_write(self, use: Use) -> bool:
        """Whether the schema marks the argument as written."""
        schema = self._linker.link(self._trace.op(use.row)).schema
        if schema is None:
            return False
        arguments = parse_schema(schema.schema).arguments
        return use.argument < len(arguments) and "!" in str(arguments[use.argument])

    def life(self, storage: int, moment: float) -> list[Use]:
        """The outermost operators that took or made the storage that has a number at a moment, in
        microseconds of the table: from its creation to the last use before the number is reused."""
        every = self.uses(storage)
        rows = {use.row for use in every}
        found: list[Use] = []
        for use in every:
            if self._trace.table.parent[use.row] in rows:
                continue
            if use.argument == NONE:
                if self._trace.table.start[use.row] > moment:
                    return found
                found = []
            found.append(use)
        return found
