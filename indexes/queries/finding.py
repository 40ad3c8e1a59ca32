"""Searches operators, symbols, Node classes, stubs and files by a part of their name."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from operator import itemgetter
from typing import Any

from indexes.model.vocabulary import Hit, Location, OperatorSummary
from indexes.queries.search import BEGINS, OWN_RANK, Wanted, rank_of
from indexes.store.catalogue import Catalogue, Kind, KnownNames, Names, Row
from indexes.store.index_file import Store
from indexes.store.tables import DERIVATIVE_LINE, DERIVATIVE_PATH, FILE_BITS, numbers_of

_KIND_RANK = {"operator": 0, "grad_fn": 1, "stub": 2, "impl_func": 3, "function": 3, "class": 4}
_LEAST_OF_DEFINITIONS, _OTHERS = 3, 5
_DEFINITIONS = 400
"""So many, the first by their place, are looked at."""
_AT_ONCE = 16
"""Names whose definitions are read at once: most keys need no others."""

Scored = tuple[int, str, Names | None, Any]
"""How well a name fits, smaller is better; the kind; where in the names it stands. Of a
definition there is a row instead."""
Summaries = Callable[[Sequence[str]], Mapping[str, OperatorSummary]]
"""Fetches operators by their names."""


def find(
    text: str, store: Store, catalogue: Catalogue, summaries: Summaries, limit: int
) -> tuple[Hit, ...]:
    """Operators, Node classes, symbols, stubs and files whose name holds ``text``, best first."""
    word = text.strip()
    if not word or limit < 1:
        return ()
    simple = _searched(word)
    wanted = Wanted(simple)
    first = _scored(wanted, "operator", catalogue.operators, simple, 200, limit)
    first += _scored(wanted, "grad_fn", catalogue.nodes, simple, 50, limit)
    stubs = _scored(wanted, "stub", catalogue.stubs, simple, 100, limit)
    shown = sorted([one[0] for one in first + stubs])[:limit]
    names = _names(wanted, catalogue.defined, simple, limit)
    found = first + _symbols(store, catalogue, names, shown, limit) + stubs
    found.sort(key=itemgetter(0))
    if len(found) < limit or found[limit - 1][0] > _LEAST_OF_FILES or _is_file(catalogue, simple):
        found += _scored(wanted, "file", catalogue.files, word, limit, limit)
        found.sort(key=itemgetter(0))
    return _hits(store, summaries, found[:limit])


_LEAST_OF_FILES = rank_of(BEGINS) + (_OTHERS << OWN_RANK)
"""The score of a file is no less unless its name is the word."""


def _is_file(catalogue: Catalogue, word: str) -> bool:
    """Whether the name of a file may be the word."""
    bare = word.lower().partition(".")[0].strip("_")
    return "/" in bare or not bare or bare in catalogue.top_names


def _searched(word: str) -> str:
    """The name to look for in what was typed or pasted."""
    if "_stub" in word or "(" in word:  # no other spelling is a stub's
        from indexes.queries.names import parse_name

        if (query := parse_name(word)).kind == "stub":
            return query.base
    return word.rpartition("::")[2].partition("(")[0].strip() or word


def _scored(
    wanted: Wanted, kind: str, names: Kind, text: str, most: int, limit: int
) -> list[Scored]:
    """Of the ``most`` shortest names that hold a text those that fit best."""
    of_kind = _KIND_RANK.get(kind, _OTHERS) << OWN_RANK
    there = names.to_search(text)
    found = there.lines.holding(text, most)
    scores = there.lines.ranks(wanted, text, found)
    if scores is None:
        scores = _scores(wanted, [_simple(kind, there.row(one)[0]) for one in found])
    best = sorted(range(len(found)), key=scores.__getitem__)[:limit]
    return [(scores[at] + of_kind, kind, there, found[at]) for at in best]


def _simple(kind: str, name: str) -> str:
    return name if kind in ("operator", "file") else name.rpartition("::")[2]


def _scores(wanted: Wanted, names: Sequence[str]) -> list[int]:
    # Without a rank it stands in what is before the name.
    ranked = [(wanted.rank(name), name) for name in names]
    return [rank_of(9, second=len(name)) if rank is None else rank for rank, name in ranked]


def _names(wanted: Wanted, defined: KnownNames, word: str, limit: int) -> dict[str, int]:
    """Names of definitions, with their scores."""
    if len(word) < 3:  # too many names hold it
        found = defined.beginning(word, limit)
    else:
        found = defined.lines.holding(word, limit * 2)
    names = [defined.lines.text[start:end] for start, _, end in found]
    scores = defined.lines.ranks(wanted, word, found) or _scores(wanted, names)
    return dict(zip(names, scores, strict=True))


def _symbols(
    store: Store, catalogue: Catalogue, names: dict[str, int], shown: list[int], limit: int
) -> list[Scored]:
    """The definitions with these names, by their place, but for those that can't be among the
    best: ``shown`` are the scores of what is shown if there are none, best first."""
    found: list[_Definition] = []
    waiting = sorted(names, key=names.__getitem__)
    looked_at: _LookedAt | None = None
    while waiting := _good_enough(waiting, names, shown, limit):
        if looked_at is None:
            looked_at = _LookedAt(store, catalogue, names)
        some = looked_at.among(_definitions(store, names, waiting[:_AT_ONCE]))
        found, waiting = found + some, waiting[_AT_ONCE:]
        shown = sorted([*shown, *[one[0] for one in some]])[:limit]
    if len(shown) == limit:
        found = [one for one in found if one[0] <= shown[-1]]
    return _by_place(store, catalogue, found, limit)


_Definition = tuple[int, str, int]
"""The score, kind and number of a definition."""


def _good_enough(
    names: list[str], scores: Mapping[str, int], shown: Sequence[int], limit: int
) -> list[str]:
    if len(shown) < limit:
        return names
    most = shown[-1] - (_LEAST_OF_DEFINITIONS << OWN_RANK)
    return names[: bisect_right(names, most, key=scores.__getitem__)]


def _definitions(
    store: Store, scores: Mapping[str, int], names: Sequence[str]
) -> list[_Definition]:
    """What the index of names holds of the definitions with these: more takes longer."""
    rows = store.query(
        "SELECT name,CASE is_global WHEN 1 THEN '__global__' ELSE kind END,id FROM definitions"
        f" WHERE name IN ({_marks(names)}) AND kind!='macro_use'",
        names,
    )
    of_kind = {kind: _KIND_RANK.get(kind, _OTHERS) << OWN_RANK for _, kind, _ in rows}
    return [(scores[name] + of_kind[kind], kind, number) for name, kind, number in rows]


def _by_place(
    store: Store, catalogue: Catalogue, found: list[_Definition], limit: int
) -> list[Scored]:
    """The best of them, and perhaps others, by their place. To have SQL sort their paths takes
    longer than everything else."""
    order, paths = catalogue.files_at({number >> FILE_BITS for _, _, number in found})
    if len(found) > limit:
        places = [(score, order[number >> FILE_BITS]) for score, _, number in found]
        last = sorted(places)[limit - 1]
        found = [one for one, place in zip(found, places, strict=True) if place <= last]
    of = {number: (score, kind) for score, kind, number in found}
    rows = store.query(
        "SELECT line,name,end_line,id,scope,parameters FROM definitions"
        f" WHERE id IN ({_marks(of)})",
        tuple(of),
    )
    placed = sorted([(order[row[3] >> FILE_BITS], *row) for row in rows])
    return [(*of[row[4]], None, (paths[row[0]], *row[1:])) for row in placed]


class _LookedAt:
    """Which definitions with some names are looked at: the first by their place."""

    def __init__(self, store: Store, catalogue: Catalogue, names: Collection[str]) -> None:
        self._store = store
        self._named = f"FROM definitions WHERE name IN ({_marks(names)}) AND kind!='macro_use'"
        self._names = tuple(names)
        sql = f"SELECT count(*),group_concat(id) {self._named}"
        ((count, numbers),) = store.query(sql, self._names)
        self._are_all = count <= _DEFINITIONS
        if not self._are_all:
            in_files = Counter([int(number) >> FILE_BITS for number in numbers.split(",")])
            self._order = catalogue.files_at(in_files.keys()).order
            self._last, self._left = self._cut(in_files)

    def _cut(self, in_files: Mapping[int, int]) -> tuple[int, int]:
        """The file in which the last one stands, and how many of it are looked at."""
        left = _DEFINITIONS
        for file in sorted(in_files, key=self._order.__getitem__):
            if in_files[file] > left:
                break
            left -= in_files[file]
        return file, left

    def among(self, found: list[_Definition]) -> list[_Definition]:
        """Those of some definitions."""
        if self._are_all:
            return found
        end = self._order[self._last]
        first = [one for one in found if self._order[one[2] >> FILE_BITS] < end]
        there = [one for one in found if one[2] >> FILE_BITS == self._last]
        if there:
            first += [one for one in there if one[2] in self._of_last]
        return first

    @cached_property
    def _of_last(self) -> set[int]:
        low, high = numbers_of(self._last)
        rows = self._store.query(
            f"SELECT id {self._named} AND id BETWEEN {low} AND {high}"
            f" ORDER BY line,name,end_line,id LIMIT {self._left}",
            self._names,
        )
        return {number for (number,) in rows}


def _marks(values: Collection[object]) -> str:
    return ",".join("?" * len(values))


def _hits(store: Store, summaries: Summaries, chosen: Sequence[Scored]) -> tuple[Hit, ...]:
    rows = [(kind, names.row(one) if names else one) for _, kind, names, one in chosen]
    operators = summaries([row[0] for kind, row in rows if kind == "operator"])
    formulas = _formulas(store, [row[2] for kind, row in rows if kind == "grad_fn"])
    return tuple([_hit(kind, row, operators, formulas) for kind, row in rows])


def _hit(
    kind: str, row: Row, operators: Mapping[str, OperatorSummary], formulas: Mapping[int, Location]
) -> Hit:
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
    path, line, name, end_line, _, scope, parameters = row
    qualified = f"{scope}::{name}" if scope else name
    return Hit(kind, qualified, Location(path, line, end_line), parameters)


def _formulas(store: Store, positions: Sequence[int]) -> dict[int, Location]:
    """Where derivative entries stand."""
    if not positions:
        return {}
    place = f"json_extract(data,'{DERIVATIVE_PATH}'),json_extract(data,'{DERIVATIVE_LINE}')"
    rows = store.query(
        f"SELECT position,{place} FROM derivatives WHERE position IN ({_marks(positions)})",
        positions,
    )
    return {position: Location(path, line) for position, path, line in rows}
