"""What stands at a line of a Python file, or of a ``.pyi`` that a generator makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.linking.python.stub_files import stub_line
from indexes.model.answers import Place
from indexes.model.errors import SourceError
from indexes.model.files import PythonFact, module_name
from indexes.model.vocabulary import Location
from indexes.readers.python.blocks import blocks, innermost
from indexes.source.files import read_file
from indexes.store.lookup import Lookup
from indexes.store.registrations import StoredPython, outline_of

if TYPE_CHECKING:
    from indexes.queries.index import Index

_HIDDEN = ("def", "class", "deferred", "helpers", "binding_skip", "test_call", "public")
"""Rows that serve the joining, or whose extent is read from the file when asked."""


def python_places(index: Index, facts: Lookup, path: str, line: int) -> list[Place]:
    """Registrations, docs, OpInfo entries and tests at a line, then the block around it."""
    outline = outline_of(facts.store, path)
    rows = StoredPython(facts.store).in_file(path)
    found = [
        fact
        for fact in rows
        if fact.kind not in _HIDDEN and fact.line <= line <= max(fact.line, fact.end_line)
    ]
    found += [fact for fact in outline if fact.kind == "test" and fact.line == line]
    found.sort(key=lambda fact: fact.end_line - fact.line)
    places = [_place(facts, path, fact) for fact in found]
    return places + _block(index, [*outline, *rows], path, line)


def _place(facts: Lookup, path: str, fact: PythonFact) -> Place:
    where = Location(path, fact.line, fact.end_line)
    operators = operators_of_target(facts, fact.target)
    return Place(fact.kind, fact.symbol or fact.target, where, fact.detail, operators)


def _block(index: Index, outline: list[PythonFact], path: str, line: int) -> list[Place]:
    found = innermost(blocks(index.source.read(path)), line)
    if found is None:
        return []
    at = found.head.line
    where = Location(path, at, found.end_line)
    for fact in outline:
        if fact.line == at and fact.kind in ("def", "class"):
            return [Place(fact.kind, fact.symbol, where)]
    kind = "class" if found.head.is_class else "def"
    return [Place(kind, f"{module_name(path)}.{found.head.qualified}", where)]


def operators_of_target(facts: Lookup, target: str) -> tuple[str, ...]:
    """The overloads that a row of a Python file is for: see ``PythonFact.target``."""
    name = target.removeprefix("aten::")
    if not name:
        return ()
    if name == target and "::" not in name:
        return _leads_to(target, facts) if target.startswith("torch.") else ()
    name = name.removesuffix(".default")
    if facts.native(name):
        return (name,)
    return tuple(f.full_name for f in facts.overloads(name))


def _leads_to(path: str, facts: Lookup) -> tuple[str, ...]:
    from indexes.queries.naming.operators import leads_to

    return leads_to(path, facts)


def stub_places(index: Index, facts: Lookup, path: str, line: int) -> tuple[Place, ...]:
    """The template and the generator behind a line of a generated ``.pyi``; else nothing."""
    found = stub_line(path, line, _text(index, path), StoredPython(facts.store))
    if found is None:
        return ()
    operators = _leads_to(found.python_path, facts) if found.python_path else ()
    name = found.python_path or path
    return (
        Place("generated", name, found.template, found.rule, operators, "its template"),
        Place("generator", name, found.generator, "", operators, "the generator that writes it"),
    )


def _text(index: Index, path: str) -> bytes | None:
    """The generated file itself, where there is one: in the tree, or as named."""
    try:
        return index.source.read(path.replace("\\", "/").removeprefix("./"))
    except SourceError:
        pass
    try:
        return read_file(path)
    except OSError:
        return None
