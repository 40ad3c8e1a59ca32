"""Searches operators, symbols, Node classes, stubs and files by a part of their name."""

from __future__ import annotations

from bisect import bisect_right
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
from indexes.typed import Any

_KIND_RANK = {"operator": 0, "grad_fn": 1, "stub": 2, "impl_func": 3, "function": 3, "class": 4}
_LEAST_OF_DEFINITIONS, _OTHERS = 3, 5
_DEFINITIONS = 400
"""So many, the first by their place, are looked at."""
_AT_ONCE = 16
"""Names whose definitions are read at once: most keys need no others."""

Scored = tuple[int, str, Row]
"""How well a name fits, smaller is better; the kind; what fetches the rest."""


def find(text: str, store: Store, catalogue: Catalogue, limit: int) -> tuple[Hit, ...]:
    """Operators, Node classes, symbols, stubs and files whose name holds ``text``, best first."""
    word = text.strip()
    if not word or limit < 1:
        return ()
    simple = _searched(word)
    wanted = Wanted(simple)
    first = _scored(wanted, "operator", catalogue.operators.holding(simple, 200))
    first += _scored(wanted, "grad_fn", catalogue.nodes.holding(simple, 50))
    last = _scored(wanted, "stub", catalogue.stubs.holding(simple, 100))
    last += _scored(wanted, "file", catalogue.files.holding(word, limit))
    shown = sorted([one[0] for one in first + last])[:limit]
    names = _scores(wanted, list(_names(catalogue.defined, simple, limit)))
    found = first + _symbols(store, catalogue, names, shown, limit) + last
    found.sort(key=itemgetter(0))
    return _hits(store, found[:limit])


def _searched(word: str) -> str:
    """The name to look for in what was typed or pasted."""
    if (query := parse_name(word)).kind == "stub":
        return query.base
    return word.rpartition("::")[2].partition("(")[0].strip() or word


_ELSEWHERE = ("operator", "grad_fn", "stub", "file")
"""Kinds of what is no definition."""


def _scored(wanted: Wanted, kind: str, rows: Sequence[Row]) -> list[Scored]:
    of_kind = _KIND_RANK.get(kind, _OTHERS) << OWN_RANK
    names = [row[0] for row in rows]
    if kind not in ("operator", "file"):
        names = [name.rpartition("::")[2] for name in names]
    ranked = zip(wanted.ranks(names), names, rows, strict=True)
    return [(_score(rank, name) + of_kind, kind, row) for rank, name, row in ranked]


def _scores(wanted: Wanted, names: Sequence[str]) -> dict[str, int]:
    ranked = zip(names, wanted.ranks(names), strict=True)
    return {name: _score(rank, name) for name, rank in ranked}


def _score(rank: int | None, name: str) -> int:
    # Without a rank it stands in what is before the name.
    return rank_of(9, second=len(name)) if rank is None else rank


def _symbols(
    store: Store, catalogue: Catalogue, names: dict[str, int], shown: list[int], limit: int
) -> list[Scored]:
    """The definitions with these names, by their place, but for those that can't be among the
    best: ``shown`` are the scores of what is shown if there are none, best first."""
    found: list[Scored] = []
    files: list[int] = []
    waiting = sorted(names, key=names.__getitem__)
    at_once = 0
    while waiting := _good_enough(waiting, names, shown, limit):
        if not at_once:
            files = _files_of_many(store, names)
            at_once = len(names) if files else _AT_ONCE
        rows = _definitions(store, waiting[:at_once])
        if files:
            rows = _first_by_place(store, catalogue, names, files, rows)
        some = [_symbol(names[row[0]], row) for row in rows]
        found, waiting = found + some, waiting[at_once:]
        shown = sorted([*shown, *[one[0] for one in some]])[:limit]
    if len(shown) == limit:
        found = [one for one in found if one[0] <= shown[-1]]
    return _by_place(catalogue, found)


def _good_enough(
    names: list[str], scores: Mapping[str, int], shown: Sequence[int], limit: int
) -> list[str]:
    if len(shown) < limit:
        return names
    most = shown[-1] - (_LEAST_OF_DEFINITIONS << OWN_RANK)
    return names[: bisect_right(names, most, key=scores.__getitem__)]


def _definitions(store: Store, names: Sequence[str]) -> list[Row]:
    return store.query(
        "SELECT name,id,kind,is_global,line,end_line FROM definitions"
        f" WHERE name IN ({_marks(names)}) AND kind!='macro_use'",
        names,
    )


def _symbol(score: int, row: Row) -> Scored:
    kind = "__global__" if row[3] else row[2]
    return score + (_KIND_RANK.get(kind, _OTHERS) << OWN_RANK), kind, row


def _by_place(catalogue: Catalogue, found: list[Scored]) -> list[Scored]:
    """To have SQL sort their paths takes longer than everything else."""
    order = catalogue.file_order({row[1] >> FILE_BITS for _, _, row in found})

    def place(one: Scored) -> tuple[Any, ...]:
        name, number, _, _, line, end_line = one[2]
        return order[number >> FILE_BITS], line, name, end_line, number

    return sorted(found, key=place)


def _files_of_many(store: Store, names: Collection[str]) -> list[int]:
    """The file of each definition when there are more than are looked at, else nothing."""
    named, given = f"FROM definitions d WHERE d.name IN ({_marks(names)})", tuple(names)
    if store.query(f"SELECT count(*) {named}", given)[0][0] <= _DEFINITIONS:
        return []
    listed = store.query(f"SELECT group_concat({FILE_OF}) {named}", given)[0][0]
    return list(map(int, listed.split(",")))


def _first_by_place(
    store: Store, catalogue: Catalogue, names: Collection[str], files: list[int], rows: list[Row]
) -> list[Row]:
    """Those of ``rows`` that are looked at: the first of all with these names, whose ``files``
    count uses of macros as well, which are none."""
    order = catalogue.file_order(set(files))
    after = sorted([order[file] for file in files])[_DEFINITIONS]
    if all(order[row[1] >> FILE_BITS] < after for row in rows):
        return rows
    listed = store.query(
        f"SELECT id FROM definitions WHERE name IN ({_marks(names)}) AND kind!='macro_use'",
        tuple(names),
    )
    looked_at = _first(store, order, [number for (number,) in listed])
    return [row for row in rows if row[1] in looked_at]


def _first(store: Store, order: Mapping[int, int], numbers: list[int]) -> set[int]:
    placed = sorted([(order[number >> FILE_BITS], number) for number in numbers])
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
    of = {kind: [row for _, one, row in chosen if one == kind] for kind in ("operator", "grad_fn")}
    known = _definitions_of(store, [row[1] for _, kind, row in chosen if kind not in _ELSEWHERE])
    operators = summaries(store, [row[0] for row in of["operator"]])
    formulas = _formulas(store, [row[2] for row in of["grad_fn"]])
    return tuple([_hit(kind, row, known, operators, formulas) for _, kind, row in chosen])


def _hit(
    kind: str, row: Row, known: Mapping[int, Definition],
    operators: Mapping[str, OperatorSummary], formulas: Mapping[int, Location],
) -> Hit:  # fmt: skip
    name = row[0]
    if kind == "operator":
        operator = operators[name]
        where = Location(operator.location.path, operator.location.line)
        return Hit("operator", name, where, operator.schema, name)
    if kind == "grad_fn":
        _, op, position = row
        return Hit("grad_fn", name, formulas[position], f"of {op}", op)
    if kind == "stub":
        _, path, line, macro, arguments, _ = row
        return Hit("stub", name, Location(path, line), f"{macro}({arguments})")
    if kind == "file":
        return Hit("file", name, Location(name, 0))
    return definition_hit(known[row[1]])


def _formulas(store: Store, positions: Sequence[int]) -> dict[int, Location]:
    """Where derivative entries stand."""
    rows = store.query(
        f"SELECT position,data FROM derivatives WHERE position IN ({_marks(positions)})", positions
    )
    found = {position: load_derivative(data).location for position, data in rows}
    return {position: Location(one.path, one.line) for position, one in found.items()}


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
