"""Searches operators, symbols, Node classes, stubs and files by a part of their name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from indexes.catalogue import Candidate, Catalogue
from indexes.codec import load_derivative
from indexes.known_names import KnownNames
from indexes.model import Definition, Hit, Location, OperatorSummary
from indexes.names import parse_name
from indexes.resolve import definition_hit
from indexes.rows_sql import DEFINITION_COLUMNS, DEFINITION_FROM, definition
from indexes.search import Wanted, kind_of_rank
from indexes.store import Store
from indexes.summaries import summaries
from indexes.tables import FILE_OF

_KIND_RANK = {"operator": 0, "grad_fn": 1, "stub": 2, "impl_func": 3, "function": 3, "class": 4}


def find(text: str, store: Store, catalogue: Catalogue, limit: int) -> tuple[Hit, ...]:
    """Operators, Node classes, symbols, stubs and files whose name holds ``text``, best first."""
    word = text.strip()
    if not word:
        return ()
    simple = _searched(word)
    found = [
        *catalogue.operators.holding(simple, 200), *catalogue.nodes.holding(simple, 50),
        *_symbols(store, catalogue, simple, limit), *catalogue.stubs.holding(simple, 100),
        *catalogue.files.holding(word, limit),
    ]  # fmt: skip
    wanted = Wanted(simple)
    scored = sorted((_score(wanted, one), at) for at, one in enumerate(found))
    return _hits(store, [found[at] for _, at in scored[:limit]])


def _searched(word: str) -> str:
    """The name to look for in what was typed or pasted."""
    if (query := parse_name(word)).kind == "stub":
        return query.base
    return word.rpartition("::")[2].partition("(")[0].strip() or word


_ELSEWHERE = ("operator", "grad_fn", "stub", "file")
"""Kinds of what is no definition."""


def _score(wanted: Wanted, one: Candidate) -> tuple[int, int, int]:
    name = one.name if one.kind in ("operator", "file") else one.name.rpartition("::")[2]
    rank = wanted.rank(name)
    if rank is None:  # it stands in what is before the name
        return (9, _KIND_RANK.get(one.kind, 5), len(name))
    return (kind_of_rank(rank), _KIND_RANK.get(one.kind, 5), rank)


def _symbols(store: Store, catalogue: Catalogue, word: str, limit: int) -> list[Candidate]:
    names = list(_names(catalogue.defined, word, limit))
    marks = ",".join("?" * len(names))
    rows = store.query(
        "SELECT d.kind,d.name,d.id,d.is_global FROM definitions d"
        f" JOIN files f ON f.id={FILE_OF} WHERE d.name IN ({marks}) AND d.kind!='macro_use'"
        " ORDER BY f.path,d.line,d.name,d.end_line LIMIT 400",
        names,
    )
    return [Candidate("__global__" if r[3] else r[0], *r[1:3]) for r in rows]


def _hits(store: Store, chosen: Sequence[Candidate]) -> tuple[Hit, ...]:
    known = _definitions_of(store, [one.key for one in chosen if one.kind not in _ELSEWHERE])
    operators = summaries(store, [one.name for one in chosen if one.kind == "operator"])
    return tuple(_hit(store, one, known, operators) for one in chosen)


def _hit(
    store: Store, one: Candidate, known: Mapping[int, Definition],
    operators: Mapping[str, OperatorSummary],
) -> Hit:  # fmt: skip
    if one.kind == "operator":
        operator = operators[one.name]
        where = Location(operator.location.path, operator.location.line)
        return Hit("operator", one.name, where, operator.schema, one.name)
    if one.kind == "grad_fn":
        op, position = one.key
        rows = store.query("SELECT data FROM derivatives WHERE position=?", (position,))
        where = load_derivative(rows[0][0]).location
        return Hit("grad_fn", one.name, Location(where.path, where.line), f"of {op}", op)
    if one.kind == "stub":
        path, line, macro, arguments, _ = one.key
        return Hit("stub", one.name, Location(path, line), f"{macro}({arguments})")
    if one.kind == "file":
        return Hit("file", one.name, Location(one.name, 0))
    return definition_hit(known[one.key])


def _definitions_of(store: Store, numbers: Sequence[int]) -> dict[int, Definition]:
    marks = ",".join("?" * len(numbers))
    rows = store.query(
        f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE d.id IN ({marks})", numbers
    )
    return {r[0]: definition(r) for r in rows}


def _names(defined: KnownNames, word: str, limit: int) -> Iterator[str]:
    if len(word) < 3:  # too many names hold it
        return islice(defined.beginning(word), limit)
    return islice(defined.holding(word), limit * 2)
