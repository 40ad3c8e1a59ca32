"""Reads one Python file of a PyTorch tree: definitions, and everything related to operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from indexes.model.files import PythonFact
from indexes.model.vocabulary import Problem
from indexes.readers.python import api as python_api
from indexes.readers.python import decomposition_tables as tables
from indexes.readers.python import docs, generated, opinfo
from indexes.readers.python import tests as python_tests
from indexes.readers.python.blocks import Text
from indexes.readers.python.inline import has_inline, read_inline
from indexes.readers.python.meta_rules import read_meta_rules
from indexes.readers.python.registrations import (
    REFS,
    read_registrations,
    read_symbolics,
    registers_by_name,
    touches_api,
)

PythonFacts = tuple[PythonFact, ...]


def read_python(data: bytes, path: str) -> tuple[PythonFacts, tuple[Problem, ...]]:
    """The facts of a Python file, whatever its role, or of a page of the docs.

    ``path`` is relative to the tree. Nothing is imported or run. An unreadable file gives a problem
    with what could be read.
    """
    if docs.is_page(path):
        return tuple(docs.read_page(data, path)), ()
    text = Text(data)
    if python_tests.is_test_file(path):
        return tuple(python_tests.read_tests(text)), ()
    facts: list[PythonFact] = []
    problems: list[Problem] = []
    if "/testing/" not in path and (touches_api(data) or path.startswith(REFS)):
        # Definitions matter where registrations name them; elsewhere they are read from the
        # file when it is looked at.
        facts += _definitions(text)
        found, failed = read_registrations(text, path)
        facts += found
        problems += failed
        facts += read_meta_rules(text, path)
    for reads, reader in _READERS:
        if reads(path, data):
            more, wrong = reader(text, path)
            facts += more
            problems += wrong
    return tuple(facts), tuple(problems)


def _definitions(text: Text) -> list[PythonFact]:
    """Every ``def`` and ``class``, without ends: those are found when a file is shown."""
    return [
        PythonFact("class" if one.is_class else "def", "", one.qualified, one.line, 0)
        for one in text.heads
    ]


_Reader = Callable[[Text, str], tuple[Iterable[PythonFact], Iterable[Problem]]]
_READERS: tuple[tuple[Callable[[str, bytes], bool], _Reader], ...] = (
    (lambda path, data: python_api.is_api_file(path), python_api.read_api),
    (opinfo.is_opinfo_file, opinfo.read_opinfo),
    (lambda path, data: b"add_docstr" in data, docs.read_docstrings),
    (
        lambda path, data: b"def get_testing_overrides(" in data,
        lambda text, path: (docs.read_overrides(text.data), ()),
    ),
    (tables.makes_tables, tables.read_tables),
    (has_inline, read_inline),
    (registers_by_name, lambda text, path: (read_symbolics(text, path), ())),
    (
        lambda path, data: generated.is_generator(path),
        lambda text, path: (generated.read_generator(text.data), ()),
    ),
)
"""Further readers, each with a test of path and bytes."""
