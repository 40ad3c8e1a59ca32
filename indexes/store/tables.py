"""The tables of an index file, and one mapper for the rows of each.

The number of a definition contains the number of its file, so that a file's definitions are
adjacent and need no index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from sys import intern
from typing import Any, TypeVar

import msgspec

from indexes.linking.facts import Edge, Known
from indexes.model.answers import EngineFunction, Member
from indexes.model.vocabulary import TEMPLATE, Definition, Location

FIELD = "\x1f"
"""Separates the parameters of a macro in one column."""

PASSED = "passed"
"""The kind of a name that a body passes on and the file does not define."""

EXACT = "exact"

FILE_BITS = 22
"""The bits of a definition's number for its place in the file, which has at most a million
bytes."""

_MADE = 1 << (FILE_BITS - 1)
"""The place of the first macro-made definition, which leaves the written ones' numbers alone."""

FILE_OF = f"(d.id>>{FILE_BITS})"
"""SQL for the file of a definition ``d``."""
IN_FILE = f"d.id BETWEEN (f.id<<{FILE_BITS}) AND ((f.id+1)<<{FILE_BITS})-1"
"""The same, so that the definitions of a known file ``f`` are found by number."""

PRAGMAS = """
PRAGMA page_size=8192;
PRAGMA journal_mode=OFF;
PRAGMA synchronous=OFF;
PRAGMA locking_mode=EXCLUSIVE;
PRAGMA cache_size=-16000;
PRAGMA temp_store=MEMORY;
"""
"""For a file that nobody else sees yet."""

TABLES = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
CREATE TABLE files(id INTEGER PRIMARY KEY, path TEXT, kind TEXT, hash BLOB);
CREATE TABLE definitions(id INTEGER PRIMARY KEY, name TEXT, scope TEXT,
  kind TEXT, line INTEGER, end_line INTEGER, parameters TEXT, guard TEXT, is_global INTEGER,
  base TEXT, macro TEXT, macro_path TEXT, macro_line INTEGER,
  returns TEXT, is_virtual INTEGER, bound TEXT);
CREATE TABLE calls(definition INTEGER, number INTEGER, name TEXT, qualifier TEXT, line INTEGER,
  kind TEXT, template TEXT, arguments TEXT, receiver TEXT, branch INTEGER, given TEXT,
  PRIMARY KEY(definition, number)) WITHOUT ROWID;
CREATE TABLE branches(definition INTEGER, number INTEGER, parent INTEGER, text TEXT, arm TEXT,
  line INTEGER, means TEXT, PRIMARY KEY(definition, number)) WITHOUT ROWID;
CREATE TABLE uses(file INTEGER, name TEXT, arguments TEXT, scope TEXT, line INTEGER, guard TEXT,
  offset INTEGER, parameters TEXT, end_line INTEGER, stub TEXT, made INTEGER);
CREATE TABLE macros(file INTEGER, name TEXT, parameters TEXT, body TEXT, line INTEGER,
  offset INTEGER, undefined_at INTEGER);
CREATE TABLE libraries(file INTEGER, macro TEXT, block TEXT, method TEXT, arguments TEXT,
  line INTEGER, block_line INTEGER, guard TEXT, offset INTEGER, macro_path TEXT,
  macro_line INTEGER, op TEXT, made INTEGER);
CREATE TABLE aliases(file INTEGER, name TEXT, target TEXT, scope TEXT, line INTEGER,
  inside INTEGER);
CREATE TABLE python(file INTEGER, kind TEXT, target TEXT, symbol TEXT, line INTEGER,
  end_line INTEGER, detail TEXT, made INTEGER);
CREATE TABLE tests(file INTEGER, kind TEXT, symbol TEXT, line INTEGER, end_line INTEGER);
CREATE TABLE suites(file INTEGER, data TEXT);
CREATE TABLE messages(file INTEGER, line INTEGER, end_line INTEGER, kind TEXT, text TEXT);
CREATE TABLE remarks(file INTEGER, kind TEXT, name TEXT, line INTEGER, detail TEXT);
CREATE TABLE includes(file INTEGER, names TEXT);
CREATE TABLE ops(position INTEGER PRIMARY KEY, full_name TEXT UNIQUE, base TEXT, data TEXT,
  derivative INTEGER, derivative_rule TEXT, grad_fns TEXT, summary TEXT, library INTEGER);
CREATE TABLE derivatives(position INTEGER PRIMARY KEY, op TEXT, data TEXT, words TEXT);
CREATE TABLE nodes(id INTEGER PRIMARY KEY, grad_fn TEXT, op TEXT, position INTEGER);
CREATE TABLE kernels(id INTEGER PRIMARY KEY, op TEXT, key TEXT, symbol TEXT, hint TEXT,
  source_op TEXT, line INTEGER, rule TEXT, kind TEXT, confidence TEXT, link_rule TEXT, reason TEXT,
  definitions TEXT, path TEXT);
CREATE TABLE edges(caller INTEGER, number INTEGER, line INTEGER, kind TEXT, symbol TEXT, target,
  confidence TEXT, candidates INTEGER, branch INTEGER, macro TEXT,
  PRIMARY KEY(caller, number)) WITHOUT ROWID;
CREATE TABLE registrations(file INTEGER, stub TEXT, device TEXT, macro TEXT, function TEXT,
  line INTEGER, guard TEXT, target INTEGER, reason TEXT);
CREATE TABLE library_kernels(file INTEGER, op TEXT, key TEXT, line INTEGER, rule TEXT,
  target INTEGER);
CREATE TABLE linked(owner TEXT PRIMARY KEY, digest BLOB) WITHOUT ROWID;
CREATE TABLE documents(name TEXT PRIMARY KEY, data TEXT) WITHOUT ROWID;
CREATE TABLE problems(path TEXT, line INTEGER, message TEXT, stage TEXT);
"""
OF_A_FILE = (
    "uses",
    "macros",
    "libraries",
    "aliases",
    "python",
    "tests",
    "registrations",
    "suites",
    "includes",
    "messages",
    "remarks",
)
"""Tables whose rows name the file that they were read from."""
BY_YAML = 2
"""Values of ``ops.library``: 0 for native_functions.yaml, 1 for a library block or torch.library, 2
for the YAML of an extension."""
LISTED, REGISTERED = "listed beside", "registered beside"
"""The hints of kernels that extensions have: named by their YAML, or by their blocks."""
OPERATOR_TABLES = ("ops", "derivatives", "nodes", "kernels")

INDEXES = """
CREATE INDEX IF NOT EXISTS definitions_name ON definitions(name,kind,is_global);
CREATE INDEX IF NOT EXISTS calls_member ON calls(name) WHERE kind='member';
CREATE INDEX IF NOT EXISTS edges_target ON edges(target);
CREATE INDEX IF NOT EXISTS registrations_stub ON registrations(stub);
CREATE INDEX IF NOT EXISTS registrations_target ON registrations(target);
CREATE INDEX IF NOT EXISTS registrations_file ON registrations(file);
CREATE INDEX IF NOT EXISTS library_kernels_target ON library_kernels(target);
CREATE INDEX IF NOT EXISTS uses_file ON uses(file);
CREATE INDEX IF NOT EXISTS uses_stub ON uses(stub) WHERE stub IS NOT NULL;
CREATE INDEX IF NOT EXISTS macros_name ON macros(name);
CREATE INDEX IF NOT EXISTS macros_file ON macros(file);
CREATE INDEX IF NOT EXISTS libraries_file ON libraries(file);
CREATE INDEX IF NOT EXISTS libraries_op ON libraries(op);
CREATE INDEX IF NOT EXISTS aliases_name ON aliases(name);
CREATE INDEX IF NOT EXISTS aliases_file ON aliases(file);
CREATE UNIQUE INDEX IF NOT EXISTS files_path ON files(path);
CREATE INDEX IF NOT EXISTS python_target ON python(target) WHERE target!='';
CREATE INDEX IF NOT EXISTS python_symbol ON python(symbol) WHERE kind IN ('def','class');
CREATE INDEX IF NOT EXISTS python_file ON python(file);
CREATE INDEX IF NOT EXISTS suites_file ON suites(file);
CREATE INDEX IF NOT EXISTS includes_file ON includes(file);
CREATE INDEX IF NOT EXISTS messages_file ON messages(file);
CREATE INDEX IF NOT EXISTS remarks_file ON remarks(file);
CREATE INDEX IF NOT EXISTS tests_file ON tests(file);
CREATE INDEX IF NOT EXISTS ops_base ON ops(base);
CREATE INDEX IF NOT EXISTS nodes_name ON nodes(grad_fn);
CREATE INDEX IF NOT EXISTS kernels_op ON kernels(op);
CREATE INDEX IF NOT EXISTS kernels_symbol ON kernels(symbol);
CREATE INDEX IF NOT EXISTS kernels_python ON kernels(source_op) WHERE kind='python';
"""
"""Created after the files are read, which is faster."""


def numbers_of(file: int) -> tuple[int, int]:
    """The first and the last number of a file's definitions."""
    return file << FILE_BITS, ((file + 1) << FILE_BITS) - 1


def first_number(file: int, made: int) -> int:
    """The first number of a file's macro-made (``made`` 1) or written (0) definitions."""
    return numbers_of(file)[0] + made * _MADE


_T = TypeVar("_T")

# ------------------------------------------------------------------------- definitions

DEFINITION_COLUMNS = (
    "d.id,d.name,d.scope,f.path,d.kind,d.line,d.end_line,d.parameters,d.guard,d.is_global,"
    "d.macro,d.macro_path,d.macro_line,d.base,d.returns,d.is_virtual,d.bound"
)
"""Columns of ``definitions d`` and its ``files f``."""
DEFINITION_FROM = f"definitions d JOIN files f ON f.id={FILE_OF} AND {IN_FILE}"


def known(row: tuple[Any, ...]) -> Known:
    """A definition with its number, from ``DEFINITION_COLUMNS``."""
    (number, name, scope, path, kind, line, end_line, parameters, guard, *rest) = row
    is_global, macro, macro_path, macro_line, base, returns, is_virtual, bound = rest
    placed = Location(macro_path, macro_line) if macro_path else None
    is_template = base == TEMPLATE and kind == "function"
    place = Location(intern(path), line, end_line)  # one text for all that stand there
    made = Definition(
        name,
        intern(scope),
        kind,
        place,
        parameters,
        guard,
        macro,
        placed,
        bool(is_global),
        is_template,
        returns,
        bool(is_virtual),
        intern(bound),
    )
    return Known(number, made)


def load_known(rows: Iterable[tuple[Any, ...]]) -> list[Known]:
    """Definitions with their numbers."""
    return list(map(known, rows))


# ------------------------------------------------------------------------------- edges

EDGE = (
    f"caller,line,kind,symbol,target,CASE confidence WHEN '' THEN '{EXACT}' ELSE confidence END,"
    "candidates,branch,macro"
)
"""The columns of ``edges``; most share one confidence."""


def edge_rows(edges: Iterable[Edge]) -> Iterator[tuple[Any, ...]]:
    """The edges of one caller as stored."""
    for number, edge in enumerate(edges):
        sure = "" if edge.confidence == EXACT else edge.confidence
        yield edge.caller, number, *edge[1:5], sure, *edge[6:]


# ----------------------------------------------------------------------------- kernels


def numbers(listed: str) -> list[int]:
    """The numbers of a kernel's definitions as stored in one column."""
    return [int(number) for number in listed.split(",") if number]


# ------------------------------------------------------------------------------- JSON


DOCUMENTS: dict[str, Any] = {
    "tensorimpl": tuple[Member, ...],
    "engine": tuple[EngineFunction, ...],
    "composites": dict[str, tuple[str, ...]],
    "reach": dict[str, tuple[tuple[str, ...], bool, bool]],
}
"""The types of ``documents``; ``composites`` has the operators that each one's composite kernels
call, ``reach`` the devices of each, whether it is differentiable, and called."""


def dump(entity: object) -> str:
    """An entity of the model as JSON text."""
    return msgspec.json.encode(entity).decode()


def load(text: str, kind: type[_T]) -> _T:
    """The inverse of ``dump``. Raises ValueError on anything else."""
    made: _T = _decoder(kind).decode(text)  # type: ignore[arg-type]
    return made


def load_all(texts: Iterable[str], kind: type[_T]) -> tuple[_T, ...]:
    """Entities of one kind, parsed together in half the time."""
    return load(f"[{','.join(texts)}]", tuple[kind, ...])  # type: ignore[valid-type]


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)
