"""Searches names in the index that contain a text, ignoring case, shortest first."""

from __future__ import annotations

from typing import Any

from indexes.model.vocabulary import Location
from indexes.readers.messages import VARIABLES
from indexes.store.index_file import Store
from indexes.store.lookup import like


class Names:
    """Names that contain a text, by kind."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def operators(self, text: str, most: int) -> list[str]:
        sql = "SELECT full_name FROM ops WHERE {} ORDER BY length(full_name),position"
        return [name for (name,) in self._holding("full_name", sql, text, most)]

    def nodes(self, text: str, most: int) -> list[tuple[str, str, int]]:
        """Node classes, each with an operator that records it and its derivative entry."""
        sql = (
            "SELECT grad_fn,op,position FROM nodes WHERE {} AND position IS NOT NULL"
            " GROUP BY grad_fn ORDER BY length(grad_fn),grad_fn"
        )
        return [(name, op, entry) for name, op, entry in self._holding("grad_fn", sql, text, most)]

    def stubs(self, text: str, most: int) -> list[tuple[str, Location, str]]:
        """Stubs, each with the line that defines or declares it, and the macro of that line."""
        sql = (
            "SELECT u.stub,f.path,u.line,u.name,u.arguments,min(u.name NOT LIKE 'DEFINE%')"
            " FROM uses u JOIN files f ON f.id=u.file"
            " WHERE {} AND u.stub IS NOT NULL AND u.name NOT LIKE '%REGISTER%'"
            " GROUP BY u.stub ORDER BY length(u.stub),u.stub"
        )
        rows = self._holding("u.stub", sql, text, most)
        return [
            (stub, Location(path, line), f"{macro}({arguments})")
            for stub, path, line, macro, arguments, _ in rows
        ]

    def variables(self, text: str, most: int) -> list[tuple[str, str, Location]]:
        """Environment variables, flags and configuration entries: kind, name and place."""
        marks = ",".join("?" * len(VARIABLES))
        sql = (
            "SELECT m.text,m.kind,f.path,m.line,m.end_line FROM messages m"
            " JOIN files f ON f.id=m.file WHERE {} AND m.kind IN ({})"
            " ORDER BY length(m.text),m.text,f.path,m.line LIMIT ?"
        ).format("m.text LIKE ? ESCAPE '\\'", marks)
        rows = self._store.query(sql, (like(text), *VARIABLES, most))
        return [(kind, name, Location(*where)) for name, kind, *where in rows]

    def test_classes(self, text: str, most: int) -> list[tuple[str, Location]]:
        """Classes of tests with places."""
        sql = (
            "SELECT t.symbol,f.path,t.line FROM tests t JOIN files f ON f.id=t.file"
            " WHERE {} AND t.kind='class' ORDER BY length(t.symbol),t.symbol,f.path"
        )
        rows = self._holding("t.symbol", sql, text, most)
        return [(name, Location(path, line)) for name, path, line in rows]

    def files(self, text: str, most: int) -> list[str]:
        sql = "SELECT path FROM files WHERE {} ORDER BY length(path),path"
        return [path for (path,) in self._holding("path", sql, text, most)]

    def defined(self, text: str, most: int) -> list[str]:
        """C++ definitions."""
        sql = "SELECT DISTINCT name FROM definitions WHERE {} ORDER BY length(name),name"
        return [name for (name,) in self._holding("name", sql, text, most)]

    def defined_beginning(self, text: str, most: int) -> list[str]:
        """C++ definitions whose names begin with a text, in this case."""
        return self._store.column(
            "SELECT DISTINCT name FROM definitions WHERE name>=?1 AND substr(name,1,length(?1))=?1"
            " ORDER BY length(name),name LIMIT ?2",
            (text, most),
        )

    def _holding(self, name: str, sql: str, text: str, most: int) -> list[tuple[Any, ...]]:
        if text.isascii():
            condition = f"{name} LIKE ? ESCAPE '\\'"
            return self._store.query(f"{sql.format(condition)} LIMIT ?", (like(text), most))
        rows, lowered = self._store.query(sql.format(1)), text.lower()  # LIKE knows ASCII alone
        return [(found, *rest) for found, *rest in rows if lowered in found.lower()][:most]
