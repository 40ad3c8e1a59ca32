"""Searches operators, symbols, Node classes, stubs and files by a part of their name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from operator import itemgetter

from indexes.catalogue import Catalogue, Row
from indexes.codec import load_derivative
from indexes.known_names import KnownNames
from indexes.model import Definition, Hit, Location, OperatorSummary
from indexes.names import parse_name
from indexes.resolve import definition_hit
from indexes.rows_sql import DEFINITION_COLUMNS, DEFINITION_FROM, definition
from indexes.search import OWN_RANK, Wanted, rank_of
from indexes.store import Store
from indexes.summaries import summaries
from indexes.tables import FILE_BITS, FILE_OF

_KIND_RANK = {"operator": 0, "grad_fn": 1, "stub": 2, "impl_func": 3, "function": 3, "class": 4}
_LEAST_OF_DEFINITIONS, _OTHERS = 3, 5
_DEFINITIONS = 400
"""So many, the first by their place, are looked at."""

Scored = tuple[int, str, Row]
"""How well a name fits, smaller is better; the kind; what fetches the rest."""


def find(text: str, store: Store, catalogue: Catalogue, limit: int) -> tuple[Hit, ...]:
    """Operators, Node classes, symbols, stubs and files whose name holds ``text``, best first."""
    word = text.strip()
    if not word:
        return ()
    simple = _searched(word)
    wanted = Wanted(simple)
    first = _scored(wanted, "operator", catalogue.operators.holding(simple, 200))
    first += _scored(wanted, "grad_fn", catalogue.nodes.holding(simple, 50))
    last = _scored(wanted, "stub", catalogue.stubs.holding(simple, 100))
    last += _scored(wanted, "file", catalogue.files.holding(word, limit))
    names = {name: _score(wanted, name) for name in _names(catalogue.defined, simple, limit)}
    enough = sorted([one[0] for one in first + last])[max(limit - 1, 0) : limit]
    found = first + _symbols(store, catalogue, names, enough) + last
    found.sort(key=itemgetter(0))
    return _hits(store, found[:limit])


def _searched(word: str) -> str:
    """The name to look for in what was typed or pasted."""
    if (query := parse_name(word)).kind == "stub":
        return query.base
    return word.rpartition("::")[2].partition("(")[0].strip() or word


_ELSEWHERE = ("operator", "grad_fn", "stub", "file")
"""Kinds of what is no definition."""


def _scored(wanted: Wanted, kind: str, rows: Iterable[Row]) -> list[Scored]:
    of_kind = _KIND_RANK.get(kind, _OTHERS) << OWN_RANK
    if kind in ("operator", "file"):
        return [(_score(wanted, row[0]) + of_kind, kind, row) for row in rows]
    return [(_score(wanted, row[0].rpartition("::")[2]) + of_kind, kind, row) for row in rows]


def _score(wanted: Wanted, name: str) -> int:
    rank = wanted.rank(name)  # without one it stands in what is before the name
    return rank_of(9, second=len(name)) if rank is None else rank


def _symbols(
    store: Store, catalogue: Catalogue, names: dict[str, int], enough: Sequence[int]
) -> list[Scored]:
    """The definitions with these names, but for those that can't be among the best: ``enough``
    is the score of the last that is shown if there are none."""
    looked_at = None
    if enough:
        looked_at = _looked_at(store, catalogue, names)
        most = enough[0] - (_LEAST_OF_DEFINITIONS << OWN_RANK)
        names = {name: score for name, score in names.items() if score <= most}
    rows = store.query(
        "SELECT d.name,d.id,d.kind,d.is_global FROM definitions d"
        f" JOIN files f ON f.id={FILE_OF} WHERE d.name IN ({_marks(names)})"
        " AND d.kind!='macro_use' ORDER BY f.path,d.line,d.name,d.end_line"
        f" LIMIT {_DEFINITIONS}",
        tuple(names),
    )
    return [_symbol(names[row[0]], row) for row in rows if looked_at is None or row[1] in looked_at]


def _symbol(score: int, row: Row) -> Scored:
    kind = "__global__" if row[3] else row[2]
    return score + (_KIND_RANK.get(kind, _OTHERS) << OWN_RANK), kind, row


def _looked_at(store: Store, catalogue: Catalogue, names: Collection[str]) -> set[int] | None:
    """The numbers of the definitions that are looked at; None for all. To have SQL sort the
    paths of so many takes longer than everything else."""
    named, given = f"FROM definitions d WHERE d.name IN ({_marks(names)})", tuple(names)
    if store.query(f"SELECT count(*) {named}", given)[0][0] <= _DEFINITIONS:
        return None
    listed = store.query(f"SELECT group_concat(d.id) {named} AND d.kind!='macro_use'", given)[0][0]
    numbers = [int(one) for one in (listed or "").split(",") if one]
    return _first_by_place(store, catalogue.file_order, numbers)


def _first_by_place(store: Store, order: Mapping[int, int], numbers: list[int]) -> set[int]:
    placed = sorted([(order.get(number >> FILE_BITS, -1), number) for number in numbers])
    if len(placed) <= _DEFINITIONS:
        return set(numbers)
    last = placed[_DEFINITIONS - 1][0]
    before = [number for file, number in placed if file < last]
    there = [number for file, number in placed if file == last]
    some = f"WHERE id IN ({_marks(there)}) ORDER BY line,name,end_line"
    ordered = store.query(f"SELECT id FROM definitions {some}", there)
    return {*before, *(row[0] for row in ordered[: _DEFINITIONS - len(before)])}


def _marks(values: Collection[object]) -> str:
    return ",".join("?" * len(values))


def _hits(store: Store, chosen: Sequence[Scored]) -> tuple[Hit, ...]:
    known = _definitions_of(store, [row[1] for _, kind, row in chosen if kind not in _ELSEWHERE])
    operators = summaries(store, [row[0] for _, kind, row in chosen if kind == "operator"])
    return tuple(_hit(store, kind, row, known, operators) for _, kind, row in chosen)


def _hit(
    store: Store, kind: str, row: Row, known: Mapping[int, Definition],
    operators: Mapping[str, OperatorSummary],
) -> Hit:  # fmt: skip
    name = row[0]
    if kind == "operator":
        operator = operators[name]
        where = Location(operator.location.path, operator.location.line)
        return Hit("operator", name, where, operator.schema, name)
    if kind == "grad_fn":
        _, op, position = row
        rows = store.query("SELECT data FROM derivatives WHERE position=?", (position,))
        where = load_derivative(rows[0][0]).location
        return Hit("grad_fn", name, Location(where.path, where.line), f"of {op}", op)
    if kind == "stub":
        _, path, line, macro, arguments, _ = row
        return Hit("stub", name, Location(path, line), f"{macro}({arguments})")
    if kind == "file":
        return Hit("file", name, Location(name, 0))
    return definition_hit(known[row[1]])


def _definitions_of(store: Store, numbers: Sequence[int]) -> dict[int, Definition]:
    rows = store.query(
        f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE d.id IN ({_marks(numbers)})",
        numbers,
    )
    return {r[0]: definition(r) for r in rows}


def _names(defined: KnownNames, word: str, limit: int) -> Iterable[str]:
    if len(word) < 3:  # too many names hold it
        return islice(defined.beginning(word), limit)
    return defined.holding(word, limit * 2)
