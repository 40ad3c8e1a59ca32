"""How a Definition is read from the index: the columns, the join and the conversion."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from indexes.model.vocabulary import TEMPLATE, Definition, Location
from indexes.store.tables import FIELD, FILE_OF, IN_FILE, QUALIFIED, UFUNC

if TYPE_CHECKING:
    from sqlite3 import Connection

DEFINITION_COLUMNS = (
    "d.id,d.name,d.scope,f.path,d.kind,d.line,d.end_line,d.parameters,d.guard,d.is_global,"
    "d.macro,d.macro_path,d.macro_line,d.base"
)
"""Of ``definitions d`` and its ``files f``."""

DEFINITION_FROM = f"definitions d JOIN files f ON f.id={FILE_OF} AND {IN_FILE}"

STEP = 64
"""Between the positions of overloads: there is room for entries that come between them."""
ROWS = 256
"""Room for rows of one overload: they are numbered in the order of overloads."""

OP_LINES = "(SELECT coalesce(sum(s.lines),0) FROM shifts s WHERE s.position<=ops.position)"
"""By how many lines an overload of ``ops`` has moved since its row was written."""

KERNEL_LINE = (
    "kernels.line+(SELECT coalesce(sum(s.lines),0) FROM shifts s CROSS JOIN ops"
    " WHERE ops.full_name=kernels.source_op AND s.position<=ops.position)"
)
"""The line in native_functions.yaml that names a kernel."""

KERNELS_NAMED = (
    "SELECT id,op,definitions FROM kernels WHERE symbol IN (?1,'structured_'||?1||'::meta')"
)
"""The kernels to which definitions of a name may be linked, as ``linking.kernels.wanted_names``
says; those of ``KERNELS_BEYOND`` may be too."""
KERNELS_BEYOND = (
    f"SELECT id,op,definitions FROM kernels INDEXED BY kernels_qualified WHERE {QUALIFIED}"
    f" UNION ALL SELECT id,op,definitions FROM kernels WHERE {UFUNC}"
)
"""The few kernels whose symbols are no names."""

_WRITTEN_OUT = frozenset({"", "macro_use"})


COLUMN_COUNT = DEFINITION_COLUMNS.count(",") + 1
"""How many columns a definition takes; joined ones come after."""


def definition(row: tuple[Any, ...]) -> Definition:
    """A Definition from a row that begins with ``DEFINITION_COLUMNS``."""
    name, scope, path, kind, line, end_line, parameters, guard = row[1:9]
    is_global, macro, macro_path, macro_line, base = row[9:COLUMN_COUNT]
    placed = Location(macro_path, macro_line) if macro_path else None
    return Definition(
        name,
        scope,
        kind,
        Location(path, line, end_line),
        parameters,
        guard,
        macro,
        placed,
        bool(is_global),
        base == TEMPLATE and kind == "function",
    )


_MOST_VALUES = 999
"""Of one statement, in any SQLite."""


def insert_many(db: Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Inserts whole rows; with many in a statement each costs a quarter less."""
    if not rows:
        return
    one = f"({','.join('?' * len(rows[0]))})"
    step = _MOST_VALUES // len(rows[0])
    ends = range(step, len(rows) + 1, step)
    together = [tuple(chain.from_iterable(rows[end - step : end])) for end in ends]
    if together:
        db.executemany(f"INSERT INTO {table} VALUES{','.join([one] * step)}", together)
    db.executemany(f"INSERT INTO {table} VALUES{one}", rows[len(together) * step :])


standing: Callable[[tuple[Any, ...]], tuple[str, str, str]] = itemgetter(4, 2, 3)
"""The kind, scope and path of the definition in such a row."""


CallRow = tuple[str, str, int, str, str]
"""Name, qualifier, line, kind and template arguments of a call."""


def unpack_calls(text: str) -> Iterator[CallRow]:
    """The calls in a text of ``packed.pack_calls``; raises ValueError on anything else."""
    for packed in text.split("\n") if text else ():
        name, qualifier, line, kind, template = packed.split(FIELD)
        yield name, qualifier, int(line), kind, template


def calls_named(text: str, name: str) -> Iterator[CallRow]:
    """Those of ``unpack_calls`` that call a name."""
    text, beginning = f"\n{text}\n", f"\n{name}{FIELD}"
    at = text.find(beginning)
    while at >= 0:
        end = text.index("\n", at + 1)
        yield from unpack_calls(text[at + 1 : end])
        at = text.find(beginning, end)
