"""The facts of a file as rows of tables, as sent between processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from indexes.codegen.registration import registered_operator
from indexes.model.idioms import stub_of
from indexes.store.tables import FIELD, PASSED, dump, first_number

if TYPE_CHECKING:
    from indexes.model.files import PythonFact, RemarkFact
    from indexes.readers.cxx.facts import CppFacts, DefinitionFact, LibraryFact, UseFact
    from indexes.readers.messages import MessageFact
    from indexes.readers.python.opinfo_tests import SuiteFacts

Row = tuple[Any, ...]
Rows = dict[str, list[Row]]
"""By table."""
_PASSED = "name"
"""The kind of a name that a body passes on."""


def cpp_rows(file: int, facts: CppFacts, made: int = 0) -> Rows:
    """The facts of a C++ file, or (``made`` 1) what macros make in it."""
    here = {one.name for one in facts.definitions}
    own = {one.name for one in facts.macros}
    numbered = list(enumerate(facts.definitions, first_number(file, made)))
    names = "\n".join(f"{'q' if one.quoted else 's'}{one.name}" for one in facts.includes)
    return {
        "definitions": [(number, *one[:-2]) for number, one in numbered],
        "calls": [row for number, one in numbered for row in _call_rows(number, one, here)],
        "branches": [(number, *branch) for number, one in numbered for branch in one.branches],
        "uses": [(file, *use, None if use.name in own else _stub(use), made) for use in facts.uses],
        "macros": [(file, m.name, _stored(m.parameters), *m[2:]) for m in facts.macros],
        "libraries": [(file, *one, _operator(one), made) for one in facts.libraries],
        "includes": [(file, names)] if names else [],
        "aliases": [(file, *alias) for alias in facts.aliases],
        **message_rows(file, facts.messages),
        **remark_rows(file, facts.remarks),
    }


def python_rows(file: int, facts: Iterable[PythonFact], made: int = 0) -> Rows:
    """Facts of a Python file; ``made`` 1 for those made by helpers of other files."""
    return {"python": [(file, *fact, made) for fact in facts]}


def message_rows(file: int, facts: Iterable[MessageFact]) -> Rows:
    return {"messages": [(file, *fact) for fact in facts]}


def remark_rows(file: int, facts: Iterable[RemarkFact]) -> Rows:
    return {"remarks": [(file, *fact) for fact in facts]}


def test_rows(file: int, facts: Iterable[PythonFact]) -> Rows:
    return {"tests": [(file, one.kind, one.symbol, one.line, one.end_line) for one in facts]}


def suite_rows(file: int, suite: SuiteFacts) -> Rows:
    return {"suites": [(file, dump(suite))]}


def _call_rows(number: int, one: DefinitionFact, here: set[str]) -> Iterator[Row]:
    """The calls of a definition; passed names that the file does not define are resolved later."""
    for at, call in enumerate(one.calls):
        if call.kind == _PASSED and (call.qualifier or call.name not in here):
            call = call._replace(kind=PASSED)
        yield number, at, *call


def _stored(parameters: Sequence[str] | None) -> str | None:
    """The parameters of a macro as one column; None for an object-like one."""
    return None if parameters is None else FIELD.join(parameters)


def _operator(one: LibraryFact) -> str | None:
    return registered_operator(one.block, one.method, one.arguments)


def _stub(use: UseFact) -> str | None:
    """The stub of a DECLARE, DEFINE or REGISTER line."""
    return stub_of(use.name, use.arguments).rpartition("::")[2] or None
