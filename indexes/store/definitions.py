"""Definitions by name, number and place, from the index file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from json import dumps
from typing import TypeVar

from indexes.linking.facts import Known
from indexes.model.vocabulary import Definition
from indexes.store.index_file import Store
from indexes.store.tables import DEFINITION_COLUMNS, DEFINITION_FROM, FILE_OF, IN_FILE, load_known

_MOST_ANSWERS = 16384
"""Answers that are held; with more, all are let go."""
_MOST_NAMES = 8192
"""Names whose definitions are held; with more, all are let go."""
_NAMED = f"definitions d ON d.name=w.value JOIN files f ON f.id={FILE_OF} AND {IN_FILE}"


_K = TypeVar("_K")
_V = TypeVar("_V")


class ReadOnce(dict[_K, _V]):
    """Answers by their questions, read when they are first asked for, or ahead of that."""

    def __init__(self, read: Callable[[_K], _V]) -> None:
        self._read = read

    def __missing__(self, question: _K) -> _V:
        if len(self) > _MOST_ANSWERS:
            self.clear()
        answer = self[question] = self._read(question)
        return answer


class Definitions:
    """What is defined where; answers are kept while it lives."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._by_name: dict[str, list[Known]] = {}
        self.nominated = lru_cache(256)(self._nominated)
        self._numbered = ReadOnce(self._by_id)
        self.by_id = self._numbered.__getitem__

    def named(self, name: str) -> Sequence[Known]:
        """Every definition of a name, in the order of their numbers."""
        found = self._by_name.get(name)
        return self._read([name])[name] if found is None else found

    def expect(self, names: Iterable[str]) -> None:
        """Reads the definitions of names, that will be asked for one by one, at once."""
        new = [name for name in dict.fromkeys(names) if name not in self._by_name]
        if new:
            self._read(new)

    def _read(self, names: list[str]) -> dict[str, list[Known]]:
        found: dict[str, list[Known]] = {name: [] for name in names}
        source = f"json_each(?) w CROSS JOIN {_NAMED} ORDER BY d.id"
        sql = f"SELECT {DEFINITION_COLUMNS} FROM {source}"
        for one in load_known(self.store.query(sql, (dumps(names),))):
            found[one.definition.name].append(one)
        if len(self._by_name) > _MOST_NAMES:
            self._by_name.clear()
        self._by_name.update(found)
        return found

    def definitions(self, where: str, *given: object) -> list[Known]:
        """The definitions ``d`` in files ``f`` of which a condition holds, by their numbers."""
        sql = f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE {where} ORDER BY d.id"
        return load_known(self.store.query(sql, given))

    def members(self, owner: Definition, name: str) -> Sequence[Known]:
        """The methods of that name which a class defines."""
        place = (name, owner.qualified, owner.location.path)
        return self.definitions("d.name=? AND d.scope=? AND f.path=?", *place)

    def is_type(self, name: str) -> bool:
        """Whether a class or an alias of a type bears this name."""
        if any(one.definition.kind in ("class", "enum") for one in self.named(name)):
            return True
        return bool(self.store.query("SELECT 1 FROM aliases WHERE name=? LIMIT 1", (name,)))

    def _nominated(self, scope: str) -> Sequence[str]:
        targets = self.store.column(
            "SELECT DISTINCT a.target FROM aliases a JOIN files f ON f.id=a.file"
            " WHERE a.name='' AND a.inside=0 AND a.scope=? AND f.path LIKE '%.h' ORDER BY a.target",
            (scope,),
        )
        return tuple(target.lstrip(":") for target in targets if scope)

    def _by_id(self, number: int) -> Known | None:
        return next(iter(self.definitions("d.id=?", number)), None)

    def expect_numbers(self, wanted: Iterable[int]) -> None:
        """Reads definitions, that will be asked for one by one, at once."""
        new = [number for number in dict.fromkeys(wanted) if number not in self._numbered]
        if new:
            numbers = "d.id IN (SELECT value FROM json_each(?))"
            self._numbered.update((one.id, one) for one in self.definitions(numbers, dumps(new)))

    def known(self, wanted: Definition) -> Known | None:
        """The definition with its number."""
        return next((one for one in self.named(wanted.name) if one.definition == wanted), None)

    # ----------------------------------------------------------------------- by place

    def definitions_in(self, path: str) -> list[Known]:
        """Every definition of a file, with the bodies behind macro uses."""
        return self.definitions("f.path=?", path)

    def functions_under(self, folder: str) -> list[Known]:
        """Every function of the files in a folder, by line."""
        kinds = "d.kind IN ('function','impl_func','meta_func')"
        found = self.definitions(f"{kinds} AND f.path LIKE ?", f"{folder}/%")
        return sorted(found, key=lambda one: one.definition.location.line)

    def definitions_at(self, path: str, line: int) -> list[Known]:
        """The definitions over a line, innermost first."""
        where = "f.path=? AND d.line<=? AND d.end_line>=? AND d.kind!='macro_use'"
        found = self.definitions(where, path, line, line)
        places = ((one, one.definition.location) for one in found)
        return [one for one, at in sorted(places, key=lambda p: p[1].end_line - p[1].line)]

    def definitions_named(self, names: Sequence[str], most: int) -> list[Known]:
        """The first definitions with some names, by their place."""
        sql = (
            f"SELECT {DEFINITION_COLUMNS} FROM {DEFINITION_FROM} WHERE d.kind!='macro_use'"
            f" AND d.name IN ({','.join('?' * len(names))})"
            " ORDER BY f.path,d.line,d.name,d.end_line,d.id LIMIT ?"
        )
        return load_known(self.store.query(sql, (*names, most)))

    def made_by(self, macro: Definition) -> list[Known]:
        """What the uses of a macro define."""
        where = macro.location
        return self.definitions("d.macro_path=? AND d.macro_line=?", where.path, where.line)

    def methods(self, owner: Definition) -> list[Known]:
        """The functions of a class, those written outside of it too."""
        return self.definitions("d.scope=? AND d.kind='function'", owner.qualified)
