"""Definitions and their bodies in the index file: calls, branches, edges."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from json import dumps
from operator import itemgetter

from indexes.linking.facts import Call, Edge, Known
from indexes.model.files import Branch
from indexes.model.idioms import LOOPS
from indexes.model.vocabulary import Choice, Definition, Location
from indexes.store.index_file import Store
from indexes.store.tables import (
    DEFINITION_COLUMNS,
    DEFINITION_FROM,
    EDGE,
    FILE_BITS,
    FILE_OF,
    PASSED,
    known,
    load_known,
    numbers_of,
)

_MOST_ANSWERS = 16384
_MOST_NAMES = 8192

_ALL = f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM}"


_TENSORS = {"Tensor", "TensorBase"}


class Definitions:
    """What is defined where, with caches."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._all_by_name: dict[str, list[Known]] | None = None
        self._of_files: dict[int, list[Known]] = {}
        """All definitions by their names, and by the numbers of their files, once read at once."""
        self._of_name = lru_cache(_MOST_NAMES)(self._named)
        self.by_id = lru_cache(_MOST_ANSWERS)(self._by_id)

    def named(self, name: str) -> Sequence[Known]:
        if self._all_by_name is not None:
            return self._all_by_name.get(name, ())
        return self._of_name(name)

    def _named(self, name: str) -> Sequence[Known]:
        return self.definitions("d.name=?", name)

    def read_all(self) -> None:
        """Reads every definition at once, if nearly all of them will be needed."""
        self._all_by_name, self._of_files = defaultdict(list), defaultdict(list)
        for one in load_known(self.store.rows(f"{_ALL} ORDER BY d.id")):
            self._all_by_name[one.definition.name].append(one)
            self._of_files[one.id >> FILE_BITS].append(one)

    def definitions_of(self, file: int) -> Sequence[Known]:
        """The definitions of a file, by its number, in order."""
        if self._all_by_name is not None:
            return self._of_files.get(file, ())
        return self.definitions("d.id BETWEEN ? AND ?", *numbers_of(file))

    def definitions(self, where: str, *given: object) -> list[Known]:
        """The definitions ``d`` in files ``f`` that satisfy an SQL condition, in order."""
        return load_known(self.store.query(f"{_ALL} WHERE {where} ORDER BY d.id", given))

    def members(self, owner: Definition, name: str) -> Sequence[Known]:
        place = (name, owner.qualified, owner.location.path)
        return self.definitions("d.name=? AND d.scope=? AND f.path=?", *place)

    def is_type(self, name: str) -> bool:
        if any(one.definition.kind in ("class", "enum") for one in self.named(name)):
            return True
        return bool(self.store.query("SELECT 1 FROM aliases WHERE name=? LIMIT 1", (name,)))

    @cached_property
    def tensor_names(self) -> frozenset[str]:
        """The names that stand for a tensor in each file that gives them a meaning."""
        targets = defaultdict[str, set[str]](set)
        for name, target in self.store.query("SELECT name,target FROM aliases WHERE name!=''"):
            targets[name].add(target.rpartition("::")[2])
        return frozenset(name for name, found in targets.items() if found <= _TENSORS)

    def nominated(self, scope: str) -> Sequence[str]:
        return self._nominations.get(scope, ())

    @cached_property
    def _nominations(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        rows = self.store.query(
            "SELECT DISTINCT a.scope,a.target FROM aliases a JOIN files f ON f.id=a.file"
            " WHERE a.name='' AND a.inside=0 AND a.scope!='' AND f.path LIKE '%.h'"
            " ORDER BY a.scope,a.target"
        )
        for scope, target in rows:
            found.setdefault(scope, []).append(target.lstrip(":"))
        return found

    def _by_id(self, number: int) -> Known | None:
        return next(iter(self.definitions("d.id=?", number)), None)

    def known(self, wanted: Definition) -> Known | None:
        return next((one for one in self.named(wanted.name) if one.definition == wanted), None)

    # ----------------------------------------------------------------------- by place

    def definitions_in(self, path: str) -> list[Known]:
        """Every definition of a file, with the bodies behind macro uses."""
        return self.definitions("f.path=?", path)

    def definitions_at(self, path: str, line: int) -> list[Known]:
        """The definitions around a line, innermost first."""
        where = "f.path=? AND d.line<=? AND d.end_line>=? AND d.kind!='macro_use'"
        found = self.definitions(where, path, line, line)
        places = ((one, one.definition.location) for one in found)
        return [one for one, at in sorted(places, key=lambda p: p[1].end_line - p[1].line)]

    def definitions_named(self, names: Sequence[str], most: int) -> list[Known]:
        """The first definitions with some names, by place."""
        sql = (
            f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE d.kind!='macro_use'"
            f" AND d.name IN ({','.join('?' * len(names))})"
            " ORDER BY f.path,d.line,d.name,d.end_line,d.id LIMIT ?"
        )
        return load_known(self.store.query(sql, (*names, most)))

    def made_by(self, macro: Definition) -> list[Known]:
        """The definitions made by a macro's uses."""
        where = macro.location
        return self.definitions("d.macro_path=? AND d.macro_line=?", where.path, where.line)

    def methods(self, owner: Definition) -> list[Known]:
        """The methods of a class, also those defined outside it."""
        return self.definitions("d.scope=? AND d.kind='function'", owner.qualified)


# ------------------------------------------------------------------------- bodies

_IS_CALL = (
    f"(c.kind NOT IN ('{PASSED}','member')"
    f" OR c.kind='{PASSED}' AND c.name IN (SELECT stub FROM uses WHERE stub=c.name)"
    f" OR c.kind='member' AND c.name IN ({','.join(map(repr, sorted(LOOPS)))}))"
)
"""SQL for ``calls c``: a passed name counts if it is a stub's, a member if it runs a loop."""
_CALL = (
    f"c.name,c.qualifier,c.line,CASE c.kind WHEN '{PASSED}' THEN 'name' ELSE c.kind END,c.template,"
    "c.arguments,c.receiver,c.branch,c.given"
)
_USE_KIND = "macro_use"


class Bodies(Definitions):
    """The uses in bodies, and their meanings."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.calls = lru_cache(4096)(self._calls)
        self.sites = lru_cache(1024)(self._all_sites)
        self.edges = lru_cache(_MOST_ANSWERS)(self._edges)
        self.branches = lru_cache(1024)(self._branches)
        self.conditions_of = lru_cache(1024)(self._conditions_of)

    def _calls(self, known: Known) -> Sequence[Call]:
        return tuple(_spelled_once(self._sites(known, f" AND {_IS_CALL}")))

    def _all_sites(self, known: Known) -> Sequence[Call]:
        """Each call, launch or passed name in a body, in order."""
        return tuple(self._sites(known, ""))

    def _sites(self, known: Known, where: str) -> Iterator[Call]:
        sql = f"SELECT {_CALL} FROM calls c WHERE c.definition=?{where} ORDER BY c.number"
        first, bodies = 0, self._bodies_of(known)
        for number in bodies:
            calls = [Call(*row) for row in self.store.query(sql, (number,))]
            yield from _behind(calls, first)
            first += self._branch_count(number) if number != bodies[-1] else 0

    def _bodies_of(self, known: Known) -> Sequence[int]:
        """The number of a definition, and of what is written behind the macro that makes it."""
        written = self._written_bodies(known.definition) if known.definition.macro else ()
        return [known.id, *(number for number in written if number != known.id)]

    def _branch_count(self, definition: int) -> int:
        sql = "SELECT 1 FROM branches WHERE definition=?"
        return len(self.store.query(sql, (definition,)))

    def _branches(self, definition: int) -> Sequence[Branch]:
        """The branches of a body with calls; number n is at n-1."""
        columns = ",".join(Branch._fields)
        sql = f"SELECT {columns} FROM branches WHERE definition=? ORDER BY number"
        known, found = self.by_id(definition), list[Branch]()
        for number in self._bodies_of(known) if known else ():
            first = len(found)
            for row in self.store.query(sql, (number,)):
                one = Branch(*row)
                parent = one.parent and one.parent + first
                found.append(one._replace(number=one.number + first, parent=parent))
        return tuple(found)

    def conditions(self, edge: Edge) -> tuple[Choice, ...]:
        return self.conditions_of(edge.caller)[edge.branch] if edge.branch else ()

    def _conditions_of(self, definition: int) -> Sequence[tuple[Choice, ...]]:
        """The conditions of each branch of a body, outermost first; those of number n are at n."""
        known, found = self.by_id(definition), list[tuple[Choice, ...]]([()])
        path = known.definition.location.path if known else ""
        for one in self.branches(definition):
            choice = Choice(one.text, one.arm, Location(path, one.line), one.means)
            found.append((*found[one.parent], choice))
        return found

    def bodies(self, file: int) -> list[tuple[Known, list[Call]]]:
        """The definitions of a file whose bodies use something, with the uses."""
        calls: dict[int, list[Call]] = {}
        sql = f"SELECT c.definition,{_CALL} FROM calls c WHERE c.definition BETWEEN ? AND ?"
        rows = self.store.rows(f"{sql} ORDER BY c.definition,c.number", numbers_of(file))
        for number, listed in groupby(rows, itemgetter(0)):
            calls[number] = [Call(*row[1:]) for row in listed]
        if not calls:
            return []
        found = self.definitions_of(file)
        written = {
            k.definition.location.line: k.id for k in found if k.definition.kind == _USE_KIND
        }
        made = {k.definition.location.line for k in found if k.definition.macro_location}
        bodies = []
        for one in found:
            line, kind = one.definition.location.line, one.definition.kind
            if kind == "macro" or (kind == _USE_KIND and line in made):
                continue  # linked where they are used; as what they define
            behind = written.get(line, -1) if one.definition.macro else -1
            used = calls.get(one.id, [])
            if behind != one.id and behind in calls:
                used = [*used, *_behind(calls[behind], self._branch_count(one.id))]
            if used:
                bodies.append((one, used))
        return bodies

    def _written_bodies(self, made: Definition) -> Sequence[int]:
        """The body behind the macro use that begins a definition."""
        uses = f"SELECT d.id FROM {DEFINITION_FROM} WHERE f.path=? AND d.kind=? AND d.line=?"
        return self.store.column(uses, (made.location.path, _USE_KIND, made.location.line))

    # ------------------------------------------------------------------------- edges

    def _edges(self, caller: int) -> Sequence[Edge]:
        sql = f"SELECT {EDGE} FROM edges WHERE caller=? ORDER BY number"
        return tuple(Edge(*row) for row in self.store.query(sql, (caller,)))

    def edges_to(self, target: int | str) -> Sequence[Edge]:
        path = f"(SELECT path FROM files WHERE id=caller>>{FILE_BITS})"
        sql = f"SELECT {EDGE} FROM edges WHERE target=? ORDER BY {path},caller,number"
        return tuple(Edge(*row) for row in self.store.query(sql, (target,)))

    def files_using(self, target: int | str) -> int:
        """The number of files with an edge to a definition, or to an overload."""
        sql = f"SELECT count(DISTINCT caller>>{FILE_BITS}) FROM edges WHERE target=? AND caller>=0"
        return sum(self.store.column(sql, (target,)))

    # ----------------------------------------------------------------------- callers

    def callers(self, name: str) -> Sequence[tuple[Known, Call]]:
        """Every use of a name in a body, by place."""
        rows = self.store.query(
            f"SELECT {_CALL},{DEFINITION_COLUMNS} FROM calls c JOIN definitions d ON"
            f" d.id=c.definition JOIN files f ON f.id={FILE_OF} WHERE c.name=? AND {_IS_CALL}"
            " ORDER BY f.path,d.line,d.name,d.id,c.number",
            (name,),
        )
        size = len(Call._fields)
        found: dict[tuple[object, ...], tuple[Known, Call]] = {}
        for row in rows:
            one, call = known(row[size:]), Call(*row[:size])
            found.setdefault((one.id, *_spelling(call)), (one, call))
        return list(found.values())

    def callers_of_macros(self, wanted: Callable[[str], bool]) -> list[Known]:
        """The functions that use a macro which ``wanted`` accepts, by file and line."""
        names = filter(wanted, self.store.column("SELECT DISTINCT name FROM calls"))
        called = "SELECT definition FROM calls WHERE name IN (SELECT value FROM json_each(?))"
        return sorted(self.definitions(f"d.id IN ({called})", dumps(list(names))), key=_place)

    def popularity(self) -> dict[str, int]:
        """How often C++ calls something by each name."""
        sql = f"SELECT c.name,count(*) FROM calls c WHERE {_IS_CALL} GROUP BY c.name"
        return dict(self.store.query(sql))


def _spelling(call: Call) -> tuple[object, ...]:
    """What distinguishes calls: for operators also the place, because of their arguments."""
    each = call.kind == "member" or call.qualifier == "at"
    return call.name, call.qualifier, call.kind, call.template, call.line if each else 0


def _behind(calls: Sequence[Call], first: int) -> Sequence[Call]:
    """Calls of a body whose branches are numbered after those of another."""
    if not first:
        return calls
    return [call._replace(branch=call.branch and call.branch + first) for call in calls]


def _spelled_once(calls: Iterable[Call]) -> list[Call]:
    """The first call of each spelling, and all calls of operators."""
    found: dict[tuple[object, ...], Call] = {}
    for call in calls:
        found.setdefault(_spelling(call), call)
    return list(found.values())


def _place(known: Known) -> tuple[str, int, str]:
    definition = known.definition
    return definition.location.path, definition.location.line, definition.name
