"""What Python files and TORCH_LIBRARY blocks register, define and document, as stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from indexes.linking.facts import LibraryUse
from indexes.linking.python.paths import Found
from indexes.linking.registrations import Written, written_registrations
from indexes.model.files import PythonFact
from indexes.model.idioms import library_block
from indexes.model.vocabulary import Location
from indexes.store.index_file import Store

if TYPE_CHECKING:
    from indexes.store.lookup import Lookup

_FOUND = (
    "SELECT f.path,p.kind,p.target,p.symbol,p.line,p.end_line,p.detail"
    " FROM python p JOIN files f ON f.id=p.file WHERE "
)
_LISTS = "SELECT f.path,r.name FROM remarks r JOIN files f ON f.id=r.file"


class StoredPython:
    """``indexes.linking.python.paths.PythonIndex`` over an index file."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def by_target(self, target: str) -> Iterable[Found]:
        return self._found("p.target=? AND p.target!=''", target)

    def definitions(self, qualified: str) -> Iterable[Found]:
        rows = self._found("p.symbol=? AND p.kind IN ('def','class')", qualified)
        return rows or classes_named(self._store, qualified)

    def of_kinds(self, *kinds: str) -> list[Found]:
        """Every row of some kinds."""
        return self._found(f"p.kind IN ({_marks(kinds)})", *kinds)

    def in_file(self, path: str) -> list[PythonFact]:
        """The rows of a file, without its tests and their classes."""
        return [fact for _, fact in self._found("f.path=?", path)]

    def about(self, kinds: Sequence[str], symbol: str, where: Location) -> list[PythonFact]:
        """The rows of a file, of some kinds, with a symbol or a first line in its extent."""
        found = self._found(
            f"f.path=? AND p.kind IN ({_marks(kinds)}) AND (p.symbol=? OR p.line BETWEEN ? AND ?)",
            *(where.path, *kinds, symbol, where.line, max(where.line, where.end_line)),
        )
        return [fact for _, fact in found]

    def documented(self) -> Sequence[str]:
        """The Python names with a docstring or an entry in the docs, and bindings behind them."""
        return self._store.column(
            "WITH told AS (SELECT target FROM python WHERE kind IN ('docs','page'))"
            " SELECT target FROM told UNION SELECT replace(target,'torch._C._nn.','torch.nn.')"
            " FROM python WHERE kind='functional' AND symbol IN told AND target!=symbol"
        )

    def named(self, symbol: str, kinds: Sequence[str]) -> list[Found]:
        """The rows of some kinds with a symbol, in source order."""
        where = f"p.symbol=? AND p.kind IN ({_marks(kinds)}) ORDER BY p.rowid"
        return self._found(where, symbol, *kinds)

    def exported(self) -> dict[str, list[str]]:
        """The names that modules export, each with the files of those modules."""
        found: dict[str, list[str]] = {}
        for path, names in self._store.query(f"{_LISTS} WHERE r.kind='public'"):
            for name in names.split():
                found.setdefault(name, []).append(path)
        return found

    def naming(self, word: str) -> list[str]:
        """The files that define a function, a parameter, a class or an attribute of this name."""
        return self._listing(("names",), (word,))

    def saying(self, *words: str) -> list[str]:
        """The files in which a literal, variable or ``#if`` condition may begin with a word."""
        return self._listing(("said", "names"), words)

    def imported_as(self, name: str) -> str:
        """The module that most files import whole under a name; empty if none does."""
        where = "WHERE r.kind='imports' AND instr(' '||r.name,' '||?||'=')"
        rows = self._store.query(f"{_LISTS} {where}", (name,))
        listed = (one.partition("=") for _, imports in rows for one in imports.split())
        modules = Counter(module for given, _, module in listed if given == name)
        return max(modules, key=lambda module: modules[module], default="")

    def _listing(self, kinds: Sequence[str], words: Sequence[str]) -> list[str]:
        """The files of which a list of some kinds has one of some words, alone or before a dot."""
        words = [f" {word}{end}" for word in dict.fromkeys(words) for end in (" ", ".")]
        has = " OR ".join(["instr(' '||r.name||' ',?)"] * len(words))
        where = f"WHERE r.kind IN ({_marks(kinds)}) AND ({has}) ORDER BY f.path"
        return list(
            dict.fromkeys(p for p, _ in self._store.query(f"{_LISTS} {where}", (*kinds, *words)))
        )

    def bases(self) -> Iterator[str]:
        """The base classes, each as often as it is derived from."""
        for listed in self._store.column("SELECT name FROM remarks WHERE kind='bases'"):
            yield from listed.split()

    def _found(self, where: str, *given: object) -> list[Found]:
        rows = self._store.query(_FOUND + where, given)
        return [(path, PythonFact(*fact)) for path, *fact in rows]


def _marks(values: Sequence[str]) -> str:
    return ",".join("?" * len(values))


# ------------------------------------------------------------------------------- tests

_TEST_COLUMNS = "t.kind,t.symbol,t.line,t.end_line"


def classes_named(store: Store, symbol: str) -> list[Found]:
    """The classes of test files with this symbol, with paths."""
    return _tests(store, "t.kind='class' AND t.symbol=?", symbol)


def outline_of(store: Store, path: str) -> list[PythonFact]:
    """The tests of a file, and their classes."""
    return [fact for _, fact in _tests(store, "f.path=?", path)]


def tests_in(store: Store, path: str) -> list[PythonFact]:
    """The tests of a file."""
    return [fact for fact in outline_of(store, path) if fact.kind == "test"]


def tests_starting(store: Store, name: str) -> list[Found]:
    """The tests whose names begin with the first two words of a name."""
    begin = "_".join(name.split("_")[:2])
    return _tests(store, "t.kind='test' AND instr(t.symbol,?)", begin)


def _tests(store: Store, where: str, value: str) -> list[Found]:
    sql = f"SELECT f.path,{_TEST_COLUMNS} FROM tests t JOIN files f ON f.id=t.file WHERE {where}"
    rows = store.query(f"{sql} ORDER BY f.path,t.rowid", (value,))
    return [
        (path, PythonFact(kind, "", symbol, line, end)) for path, kind, symbol, line, end in rows
    ]


UNSEEN = (
    "what C++ registers by hand (batch rules, autocast policies, TORCH_LIBRARY_IMPL) is not in"
    " the installed wheel; `torchnav clone` adds it"
)
_LIBRARY_COLUMNS = (
    "l.op,l.block,l.method,l.arguments,f.path,l.line,l.block_line,l.guard,l.macro_path,l.macro_line,"
    "l.macro"
)


def library_uses(
    facts: Lookup, *, op: str | None = None, path: str | None = None
) -> list[LibraryUse]:
    """Registering calls on libraries: all, or those for an operator or in a file."""
    given = {"l.op=?": op, "f.path=?": path}
    wanted = {condition: value for condition, value in given.items() if value is not None}
    where = " AND ".join(["l.op IS NOT NULL", *wanted])
    rows = facts.store.query(
        f"SELECT {_LIBRARY_COLUMNS} FROM libraries l JOIN files f ON f.id=l.file"
        f" WHERE {where} ORDER BY f.path,l.line",
        tuple(wanted.values()),
    )
    uses = []
    for name, block, method, arguments, file, line, block_line, guard, macro, at, begins in rows:
        place, made_by = Location(file, line), Location(macro, at) if macro else None
        what = (name, block, method, arguments, place)
        uses.append(LibraryUse(*what, block_line, guard, made_by, begins))
    return uses


def bound_functions(facts: Lookup, name: str) -> list[tuple[Location, str]]:
    """Where pybind11 modules bind a function to a name, and the function."""
    rows = facts.store.query(
        "SELECT f.path,l.line,l.arguments FROM libraries l JOIN files f ON f.id=l.file"
        " WHERE l.method='bind' AND l.op IS NULL AND substr(l.arguments,1,?)=? ORDER BY f.path",
        (len(name) + 2, f'"{name}"'),
    )
    return [
        (Location(path, line), given.split(",")[1].strip() if "," in given else "a function")
        for path, line, given in rows
    ]


def written_for(facts: Lookup, op: str) -> tuple[Written, ...]:
    """The registrations of TORCH_LIBRARY blocks for one operator."""
    uses = library_uses(facts, op=op)
    return tuple(written_registrations(uses, named_macros(facts, uses)))


def named_macros(facts: Lookup, uses: Iterable[LibraryUse]) -> Mapping[str, Mapping[str, str]]:
    """The object-like macros that calls name as function or blocks as key, by file."""
    found: dict[str, dict[str, str]] = {}
    known = cache(lambda name: [(p, m) for p, m in facts.store.macros(name) if not m.parameters])
    for use in uses:
        function = use.arguments.rpartition(",")[2].strip()
        key = library_block(use.block).key
        for name in filter(str.isidentifier, (function, key)):
            for path, macro in known(name):
                here = path == use.location.path
                if here or (name == key and macro.body.isidentifier()):
                    found.setdefault(use.location.path, {})[name] = macro.body
    return found
