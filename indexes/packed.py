"""The forms in which facts travel between processes and are kept: rows that bind as they are,
and texts where a file or a body is only asked for as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from indexes.readers.cpp_facts import CallFact, DefinitionFact
    from indexes.readers.python_facts import PythonFact

FIELD = "\x1f"
"""Between the fields of a line, and between the parameters of a macro."""
_OUTLINED = ("test", "def", "class")

CallRow = tuple[str, str, int, str, str]
"""Name, qualifier, line, kind and template arguments."""


class Defined(NamedTuple):
    """The definitions of one file; the first number of a row is its place among them."""

    rows: Sequence[tuple[Any, ...]] = ()
    """The fields of ``DefinitionFact`` without its calls."""
    calls: Sequence[tuple[int, list[str], str]] = ()
    """The names that a body calls, and the calls as one text."""
    passed: Sequence[tuple[int, str, str]] = ()
    """Name and qualifier of what a body passes on by name, not defined in the file."""

    def names(self) -> set[str]:
        """The names that are defined."""
        return {row[0] for row in self.rows}


def pack_definitions(definitions: Sequence[DefinitionFact]) -> Defined:
    """Definitions as they are kept."""
    here = {d[0] for d in definitions}
    calls, passed = [], []
    for at, d in enumerate(definitions):
        kept = []
        for call in d[12]:
            if call[3] == "name":
                if call[0] not in here:
                    passed.append((at, call[0], call[1]))
                    continue
            elif call[1].startswith("std"):
                continue
            kept.append(call)
        if kept:
            calls.append((at, [call[0] for call in kept], pack_calls(kept)))
    # sqlite3 binds an int several times faster than a bool.
    return Defined([(*d[:7], int(d[7]), *d[8:12]) for d in definitions], calls, passed)


def pack_calls(calls: Iterable[CallFact | CallRow]) -> str:
    """Calls as one text, a line each."""
    return "\n".join(
        [
            f"{name}\x1f{qualifier}\x1f{line}\x1f{kind}\x1f{_inline(template)}"
            for name, qualifier, line, kind, template in calls
        ]
    )


def _inline(text: str) -> str:
    return " ".join(text.split()) if FIELD in text or "\n" in text else text


def unpack_calls(text: str) -> Iterator[CallRow]:
    """The inverse of ``pack_calls``; raises ValueError on anything else."""
    for packed in text.split("\n") if text else ():
        name, qualifier, line, kind, template = packed.split(FIELD)
        yield name, qualifier, int(line), kind, template


class Outline(NamedTuple):
    """Where the tests, functions and classes of a Python file begin, as texts."""

    tests: str = ""
    definitions: str = ""


def pack_python(facts: Iterable[PythonFact]) -> tuple[list[tuple[Any, ...]], Outline]:
    """The rows of a Python file, and its outline, of which there is much and little is asked."""
    rows: list[tuple[Any, ...]] = []
    tests, definitions = [""], [""]
    for fact in facts:
        kind, target, symbol, line, end_line, detail = fact
        if kind not in _OUTLINED or target or detail:
            rows.append((*fact,))
        else:
            into = tests if kind == "test" else definitions
            into.append(f"{symbol}\x1f{kind}\x1f{line}\x1f{end_line}")
    return rows, Outline("\n".join(tests), "\n".join(definitions))


def unpack_outline(text: str) -> Iterator[PythonFact]:
    """The facts in one text of an outline; raises ValueError on anything else."""
    from indexes.readers.python_facts import PythonFact

    for packed in text.split("\n")[1:]:
        symbol, kind, line, end_line = packed.split(FIELD)
        yield PythonFact(kind, "", symbol, int(line), int(end_line))  # type: ignore[arg-type]


def symbol_line(symbol: str) -> str:
    """What an outline holds where it holds a symbol."""
    return f"\n{symbol}{FIELD}"
