"""Checks the index against the text of the tree: kernels, registrations, stubs, dtypes, derivative
entries, Node names and functions in formulas."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from indexes.linking.formulas import FormulaFunction, formula_calls, formula_functions
from indexes.linking.graph import Graph, Node
from indexes.model.idioms import meaning_of, names_of
from indexes.model.lines import grouped
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, DerivativeEntry, KernelRow, Location, StubRow
from indexes.queries.index import Index
from indexes.readers.cxx.lexer import strip_comments
from indexes.store.tables import DEFINITION_FROM

_WORD = regex(r"[A-Za-z_]\w*")
_ARGUMENTS = regex(r"\(([^()]*)\)")
_STRING = regex(r'"(?:[^"\\\n]|\\.)*"')
_ELSEWHERE = regex(r"(?:(?:\.|->|\bat::(?:\w+::)*|\bstd::)\s*)[A-Za-z_]\w*")
"""Names of operators, methods or the standard library rather than functions of the file."""
_CLOSURE = 3
"""Depth of calls within a file in which a stub is searched."""


class SourceLines:
    """Current lines of the tree's files."""

    def __init__(self, index: Index) -> None:
        self.of = lru_cache(512)(lambda path: index.source.text(path).split("\n"))

    def at(self, place: Location, more: int = 0) -> str:
        """The line, and ``more`` following ones; may be empty."""
        return "\n".join(self.of(place.path)[place.line - 1 : place.line + more])

    def span(self, place: Location) -> str:
        """The lines of a place, without comments and strings."""
        lines = self.of(place.path)[place.line - 1 : max(place.line, place.end_line)]
        return _STRING.sub('""', strip_comments("\n".join(lines)))


# ------------------------------------------------------------------------------ lines


def misplaced_kernels(rows: Iterable[KernelRow], lines: SourceLines) -> tuple[int, list[str]]:
    """The number of (row, definition) pairs, and those whose line disagrees."""
    total = 0
    wrong = []
    known: dict[Definition, str] = {}
    for row in rows:
        for definition in row.definitions:
            total += 1
            if definition not in known:
                known[definition] = _misplaced(definition, lines)
            if known[definition]:
                wrong.append(f"{row.op} {row.key}: {definition.location}: {known[definition]}")
    return total, wrong


def _misplaced(definition: Definition, lines: SourceLines) -> str:
    """What is wrong with a definition's place; empty if nothing."""
    if definition.macro:
        return _misplaced_use(definition, lines)
    text = strip_comments(lines.at(definition.location, 80))
    found = re.search(rf"(?<!\w){re.escape(definition.name)}\s*\(", text.split("\n", 1)[0] + "(")
    if found is None:
        return f"the line does not name {definition.name}"
    if _declares(text[found.start() :]):
        return f"{definition.name} is declared there, not defined"
    return ""


def _declares(text: str) -> bool:
    """Whether ``name(...)`` is followed by a semicolon, not a body."""
    depth = 0
    for char in text:
        depth += (char == "(") - (char == ")")
        if depth == 0 and char in ";{":
            return char == ";"
    return False


def _misplaced_use(definition: Definition, lines: SourceLines) -> str:
    text = lines.at(definition.location, 3)
    if not re.search(rf"(?<!\w){re.escape(definition.macro)}\s*\(", text.split("\n", 1)[0] + "("):
        return f"the line does not use {definition.macro}"
    where = definition.macro_location
    if where is None:
        arguments = _ARGUMENTS.search(text)
        words = _WORD.findall(arguments[1]) if arguments else []
        named = definition.name in (*words, "_".join(words))
        return "" if named else f"the line does not name {definition.name}"
    if not re.search(rf"#\s*define\s+\\?\s*{re.escape(definition.macro)}\b", lines.at(where, 1)):
        return f"{where} does not define {definition.macro}"
    return ""


def misplaced_registrations(rows: Iterable[StubRow], lines: SourceLines) -> Iterator[str]:
    """Registrations whose line, or whose function's line, disagrees."""
    for row in rows:
        use = lines.at(row.registration)
        if row.stub not in use and row.macro.partition(":")[0] not in use and "(" not in use:
            yield f"{row.registration}: the line registers nothing on {row.stub}"
        if row.definition and not row.definition.macro:
            problem = _misplaced(row.definition, lines)
            if problem:
                yield f"{row.registration}: {row.definition.location}: {problem}"


# ------------------------------------------------------------------------------ stubs


@dataclass(slots=True)
class StubReach:
    """Operators whose kernel's text leads to a stub, by what linking found."""

    linked: set[str] = field(default_factory=set)
    unregistered: set[str] = field(default_factory=set)
    """The stub is linked but has no registration."""
    missed: dict[str, str] = field(default_factory=dict)


def stub_reach(rows: Iterable[KernelRow], index: Index) -> StubReach:
    """Follows the kernel of every operator with a stub in its text, or in that of a function of the
    same file."""
    expected = _Expected(index)
    walked: dict[Definition, tuple[frozenset[str], bool]] = {}
    reach = StubReach()
    reached: set[str] = set()
    walked_to: set[str] = set()
    for row in rows:
        for definition in row.definitions:
            stubs = expected.of(definition)
            if not stubs or row.kind == "ufunc":
                continue
            if definition not in walked:
                walked[definition] = _walk(definition, index)
            found, kernels = walked[definition]
            if not stubs <= found:
                names = ", ".join(sorted(stubs - found))
                place = f"{definition.qualified} at {definition.location}"
                reach.missed[row.op] = f"{place} leads to {names}"
            elif row.op not in reach.missed:
                (reached if kernels else walked_to).add(row.op)
    reach.linked, reach.unregistered = reached, walked_to - reached
    return reach


def _walk(definition: Definition, index: Index) -> tuple[frozenset[str], bool]:
    """The stubs that linking reaches, and whether one has a device kernel."""
    known = index.facts.known(definition)
    if known is None:
        return frozenset(), False
    steps = list(Graph(index.facts).without_dispatch(Node("definition", known.id)))
    stubs = {str(s.lower.what).rpartition("::")[2] for s in steps if s.lower.kind == "stub"}
    return frozenset(stubs), any(step.upper.kind == "stub" for step in steps)


def _names(text: str) -> list[str]:
    return _WORD.findall(_ELSEWHERE.sub(" ", text))


class _Expected:
    """The stubs in a kernel's text, found without the index's calls."""

    def __init__(self, index: Index) -> None:
        self._lines = SourceLines(index)
        self._store = index.facts.store
        uses = self._store.query("SELECT DISTINCT name,stub FROM uses WHERE stub NOT NULL")
        known = ("declared", "defined")
        self._stubs = frozenset(stub for name, stub in uses if meaning_of(name) in known)
        self._functions = lru_cache(256)(self._in_file)
        self.of = lru_cache(None)(self._of)

    def _of(self, definition: Definition) -> frozenset[str]:
        text = self._lines.span(definition.location)
        if definition.macro_location:
            text += self._macro(definition.macro_location)
        here = self._functions(definition.location.path)
        words = set(_names(text))
        found, seen = words & self._stubs, set(words)
        for _ in range(_CLOSURE):
            if found:
                break
            fresh = {w for name in words for span in here.get(name, ()) for w in self._words(span)}
            words = fresh - seen
            seen |= fresh
            found = words & self._stubs
        return frozenset(found - {definition.name})

    def _words(self, place: Location) -> list[str]:
        return _names(self._lines.span(place))

    def _macro(self, place: Location) -> str:
        """The text of a ``#define`` with continuation lines."""
        text = []
        for line in self._lines.of(place.path)[place.line - 1 :]:
            text.append(line)
            if not line.endswith("\\"):
                break
        return strip_comments("\n".join(text))

    def _in_file(self, path: str) -> Mapping[str, list[Location]]:
        """Functions of a file with a unique name there."""
        rows = self._store.query(
            f"SELECT d.name,d.line,d.end_line FROM {DEFINITION_FROM}"
            " WHERE f.path=? AND d.kind='function' AND d.macro=''",
            (path,),
        )
        found = grouped((name, Location(path, *lines)) for name, *lines in rows)
        return {name: places for name, places in found.items() if len(places) == 1}


# ------------------------------------------------------------------------------------------- dtypes

_COMMENT = regex(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_DEFINE = regex(r"^[ \t]*#[ \t]*define(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
_USE = regex(rf"\b({names_of('dtypes')})\s*\(")


@dataclass(slots=True)
class Dispatches:
    """Uses of dispatch macros, counted."""

    expanded: int = 0
    other: int = 0
    """Switches over something else: layouts, reductions."""
    unread: list[str] = field(default_factory=list)


def dispatches_of(index: Index) -> Dispatches:
    """Compares the uses in the text with those expanded to dtypes."""
    found = Dispatches()
    rows = [dispatch for _, dispatch in index.dtype_rows()]
    places = {(one.location.path, one.location.line) for one in rows if one.dtypes}
    macros = {one.macro for one in rows}
    for path, name, line in _uses(index):
        if (path, line) in places:
            found.expanded += 1
        elif name not in macros and index.dtypes.switches(name):
            found.other += 1
        else:
            found.unread.append(f"{path}:{line}: {name}")
    return found


def _uses(index: Index) -> Iterator[tuple[str, str, int]]:
    """(path, macro, line) of each use in kernel files."""
    for path in index.kernel_files():
        text = index.read(path)
        plain = _DEFINE.sub(_blank, _COMMENT.sub(_blank, text)) if _USE.search(text) else ""
        for use in _USE.finditer(plain):
            if meaning_of(use[1]) == "dtypes":
                yield path, use[1], plain.count("\n", 0, use.start()) + 1


def _blank(found: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", found[0])


# ----------------------------------------------------------------------------------------- formulas

_ENTRY = regex(r"^- name:\s*(.+?)\s*$")
_CALLED = regex(r"(\w+)\s*\(")
_NODE = regex(r"\w+Backward\d+(?:_copy)?$")


def misplaced_formulas(entries: Iterable[DerivativeEntry], index: Index) -> tuple[int, list[str]]:
    """The numbers of entries and formulas, and those whose line disagrees or that the index
    lacks."""
    path = index.source.locate("derivatives.yaml")
    if path is None:
        return 0, []
    lines = index.read(path).split("\n")
    total = 0
    wrong = []
    seen = set()
    for entry in entries:
        seen.add(entry.location.line)
        named = _ENTRY.match(lines[entry.location.line - 1])
        if named is None or named[1].partition("(")[0] != entry.op:
            wrong.append(f"{entry.location}: the entry of {entry.op} is not on this line")
        formulas = [formula for one in entry.sets for formula in one.formulas]
        total += 1 + len(formulas)
        for formula in formulas:
            text = lines[formula.location.line - 1]
            if not any(name in text for name in formula.inputs):
                where = f"{formula.location}: {', '.join(formula.inputs)}"
                wrong.append(f"{where} of {entry.op} is not on this line")
    for number, line in enumerate(lines, 1):
        if (named := _ENTRY.match(line)) and number not in seen:
            wrong.append(f"{path}:{number}: the entry of {named[1].partition('(')[0]} is not read")
    return total, wrong


def nodes_of(index: Index, live: frozenset[str]) -> tuple[list[str], list[str]]:
    """Our names that the running torch lacks, and its generated classes that we lack."""
    rows = index.facts.store.query("SELECT DISTINCT grad_fn,op FROM nodes")
    ours = {name for name, _ in rows}
    # torchgen makes no Python classes for the Nodes of foreach operators.
    unknown = sorted({name for name, op in rows if not op.startswith("_foreach_")} - live)
    unexplained = sorted(name for name in live - ours if _NODE.match(name))
    return unknown, unexplained


@dataclass(slots=True)
class Functions:
    """The links of names in formulas, counted by (formula, name)."""

    defined: int = 0
    operators: int = 0
    other: int = 0
    """The standard library, and constructors."""
    absent: list[str] = field(default_factory=list)
    """Nothing of the name is declared in the tree."""
    unresolved: list[str] = field(default_factory=list)


def _declared(index: Index) -> frozenset[str]:
    """Names declared in FunctionsManual.h."""
    path = index.source.locate("torch/csrc/autograd/FunctionsManual.h")
    return frozenset(_CALLED.findall(index.read(path))) if path else frozenset()


def functions_of(index: Index, entries: Iterable[DerivativeEntry]) -> Functions:
    found = Functions()
    declared = _declared(index)
    for entry in entries:
        linked = formula_functions(entry, index.facts)
        formulas = [formula for one in entry.sets for formula in one.formulas]
        called = {(name, f.location.line) for f in formulas for name in formula_calls(f.text)}
        found.other += len(called - {(one.name, one.formula.location.line) for one in linked})
        for one in linked:
            if one.definition:
                found.defined += 1
            elif one.operator:
                found.operators += 1
            else:
                _not_linked(one, entry.op, index, declared, found)
    return found


def _not_linked(
    one: FormulaFunction, op: str, index: Index, declared: frozenset[str], found: Functions
) -> None:
    simple = one.name.rpartition("::")[2]
    kinds = {known.definition.kind for known in index.facts.named(simple)}
    known = simple in declared or "function" in kinds
    why = "there is one of this name" if known else "not in this tree"
    line = f"{one.formula.location}: {one.name} in {op}: {why}"
    (found.unresolved if known else found.absent).append(line)
