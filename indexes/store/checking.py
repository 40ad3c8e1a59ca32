"""Checks that an index file is one that our code could have written: complete, with valid
values."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

from indexes.model.errors import DamagedIndex
from indexes.model.vocabulary import DerivativeEntry, NativeFunction, OperatorSummary
from indexes.store.index_file import Store, expected_schema
from indexes.store.tables import DOCUMENTS, load, numbers


def check_index(database: str | Path, named: str | Path) -> None:
    """Raises DamagedIndex for a file that our code could not have written, OtherIndex for another
    version's. ``named``: the file's name for the user."""
    try:
        with contextlib.closing(Store(database)) as store:
            store.db.executescript("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON;")
            if store.schema() != expected_schema():
                raise DamagedIndex(f"{named} is not an index of torchnav: it has other tables")
            if store.query("PRAGMA quick_check(1)") != [("ok",)]:
                raise DamagedIndex(f"{named} is damaged")
            _check_values(store)
    except (
        sqlite3.Error,
        ValueError,
        TypeError,
        KeyError,
        AttributeError,
        RecursionError,
    ) as error:
        raise DamagedIndex(f"{named} is not an index: {type(error).__name__}") from error


_TYPES = {"TEXT": "'text'", "INTEGER": "'integer'", "BLOB": "'blob'", "": "'integer','text'"}


def _check_values(store: Store) -> None:
    """Raises ValueError, TypeError or KeyError for values that our readers do not produce."""
    for table in store.tables():
        columns = store.query(f"SELECT name,type FROM pragma_table_info('{table}')")
        wrong = " OR ".join(f"typeof({n}) NOT IN ({_TYPES[t]},'null')" for n, t in columns)
        if store.query(f"SELECT 1 FROM {table} WHERE {wrong} LIMIT 1"):
            raise ValueError(f"a value of the wrong type in {table}")
    _check_operators(store)


def _check_operators(store: Store) -> None:
    for data, grad_fns, summary in store.query("SELECT data,grad_fns,summary FROM ops"):
        load(data, NativeFunction)
        load(summary, OperatorSummary)
        json.loads(grad_fns or "{}")
    for data in store.column("SELECT data FROM derivatives"):
        load(data, DerivativeEntry)
    for name, data in store.query("SELECT name,data FROM documents"):
        load(data, DOCUMENTS[name])
    for listed in store.column("SELECT definitions FROM kernels"):
        numbers(listed)
