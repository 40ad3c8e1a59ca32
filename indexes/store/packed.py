"""The forms in which facts travel between processes and are kept: rows that bind as they are,
and texts where a file or a body is only asked for as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from indexes.store.definition_rows import CallRow
from indexes.store.tables import FIELD

if TYPE_CHECKING:
    from indexes.readers.cxx.facts import CallFact, DefinitionFact
    from indexes.readers.python.facts import PythonFact

_OUTLINED = ("test", "class")


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
        if not d[12]:
            continue
        kept = d[12]
        if kept[-1][3] == "name":  # these come last
            passed += [(at, c[0], c[1]) for c in kept if c[3] == "name" and c[0] not in here]
            kept = [c for c in kept if c[3] != "name" or c[0] in here]
        if kept:
            calls.append((at, [call[0] for call in kept], pack_calls(kept)))
    return Defined([d[:12] for d in definitions], calls, passed)


def pack_calls(calls: Iterable[CallFact | CallRow]) -> str:
    """Calls as one text, a line each. ``FIELD`` is spelled out, as part of a template it costs
    nothing."""
    return "\n".join(
        [
            f"{name}\x1f{qualifier}\x1f{line}\x1f{kind}\x1f{template and _inline(template)}"
            for name, qualifier, line, kind, template in calls
        ]
    )


def _inline(text: str) -> str:
    return " ".join(text.split()) if FIELD in text or "\n" in text else text


def pack_python(path: str, facts: Iterable[PythonFact]) -> tuple[list[tuple[Any, ...]], str]:
    """The rows of a Python file, and the outline of a test file: there are many tests, of which
    little is asked."""
    from indexes.readers.python.tests import is_test_file

    outlined = _OUTLINED if is_test_file(path) else ()
    rows: list[tuple[Any, ...]] = []
    outline = []
    for fact in facts:
        kind, target, symbol, line, end_line, detail = fact
        if kind in outlined and not (target or detail):
            outline.append(f"{symbol}\x1f{kind}\x1f{line}\x1f{end_line}")
        else:
            rows.append((*fact,))
    return rows, "\n".join(outline)
