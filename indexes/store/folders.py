"""Counts of each kind of thing in each file of the index."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from indexes.store.index_file import Store
from indexes.store.tables import FILE_BITS

_BY_FILE = {
    "kernels": (
        "SELECT f.path,count(DISTINCT k.op) FROM kernels k JOIN files f"
        f" ON f.id=(CAST(k.definitions AS INTEGER)>>{FILE_BITS})"
        " WHERE k.definitions!='' GROUP BY f.path"
    ),
    "stubs": (
        "SELECT f.path,count(DISTINCT u.stub) FROM uses u JOIN files f ON f.id=u.file"
        " WHERE macro_meaning(u.name)='declared' AND u.stub NOT NULL GROUP BY f.path"
    ),
    "registrations": (
        "SELECT path,sum(n) FROM ("
        " SELECT f.path AS path,count(*) AS n FROM registrations r JOIN files f ON f.id=r.file"
        " GROUP BY f.path UNION ALL"
        " SELECT f.path,count(*) FROM libraries l JOIN files f ON f.id=l.file"
        " WHERE l.method IN ('impl','fallback') GROUP BY f.path) GROUP BY path"
    ),
    "dtype switches": (
        "SELECT f.path,count(*) FROM calls c JOIN files f"
        f" ON f.id=(c.definition>>{FILE_BITS})"
        " WHERE c.name>='AT_DISPATCH' AND c.name<'AT_DISPATCI' GROUP BY f.path"
    ),
    "C++ functions": (
        f"SELECT f.path,count(*) FROM definitions d JOIN files f ON f.id=(d.id>>{FILE_BITS})"
        " WHERE d.kind IN ('function','impl_func','meta_func') GROUP BY f.path"
    ),
    "public Python names": (
        "SELECT f.path,length(r.name)-length(replace(r.name,' ',''))+1 FROM remarks r"
        " JOIN files f ON f.id=r.file WHERE r.kind='public'"
    ),
    "tests": (
        "SELECT f.path,count(*) FROM tests t JOIN files f ON f.id=t.file"
        " WHERE t.kind='test' GROUP BY f.path"
    ),
}
ORDER = (
    "files",
    "operators",
    "kernels",
    "stubs",
    "registrations",
    "formulas",
    "dtype switches",
    "C++ functions",
    "public Python names",
    "tests",
)
"""The kinds, in the order of answers."""
_CALLED = (
    f"SELECT f.path,count(*) FROM edges e JOIN files f ON f.id=(e.target>>{FILE_BITS})"
    f" WHERE typeof(e.target)='integer' AND (e.caller>>{FILE_BITS})!=(e.target>>{FILE_BITS})"
    " GROUP BY f.path"
)


def counts_by_file(store: Store) -> dict[str, Counter[str]]:
    """The counts of every indexed file, by path."""
    found = {path: Counter(files=1) for path in store.column("SELECT path FROM files")}
    for what, sql in _BY_FILE.items():
        for path, count in store.query(sql):
            found.setdefault(path, Counter())[what] += count
    return found


def calls_into(store: Store) -> Mapping[str, int]:
    """The number of calls into each file from others."""
    return dict(store.query(_CALLED))
