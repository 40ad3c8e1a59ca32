"""Reads one Python file of a PyTorch tree: definitions, and everything "around" operators."""

from __future__ import annotations

from collections.abc import Callable

from indexes.model.vocabulary import Problem
from indexes.readers.python import api as python_api
from indexes.readers.python import docs, opinfo
from indexes.readers.python import generated as python_generated
from indexes.readers.python import symbolics as python_symbolics
from indexes.readers.python import tests as python_tests
from indexes.readers.python.blocks import Text
from indexes.readers.python.facts import PythonFact
from indexes.readers.python.meta_rules import read_meta_rules
from indexes.readers.python.registrations import read_registrations, touches_api

PythonFacts = tuple[PythonFact, ...]


def read_python(data: bytes, path: str) -> tuple[PythonFacts, tuple[Problem, ...]]:
    """The facts of a Python file, whatever its role in the tree, or of a page of the docs.

    ``path`` is relative to the tree. Nothing is imported or run; a file that cannot be read
    gives what is known of it and a problem."""
    if docs.is_page(path):
        return tuple(docs.read_page(data, path)), ()
    text = Text(data)
    if python_tests.is_test_file(path):
        return tuple(python_tests.read_tests(text)), ()
    facts: list[PythonFact] = []
    problems: list[Problem] = []
    if _registers(path, data):
        # Definitions matter where registrations name them; elsewhere they are read from the
        # file when it is looked at.
        facts += _definitions(text)
        found, failed = read_registrations(text, path)
        facts += found
        problems += failed
        facts += read_meta_rules(text, path)
    for reads, reader in _READERS:
        if reads(path, data):
            found, failed = reader(text, path)
            facts += found
            problems += failed
    return tuple(facts), tuple(problems)


def _definitions(text: Text) -> list[PythonFact]:
    """Every ``def`` and ``class``. Where they end is found when a file is looked at."""
    return [
        PythonFact("class" if one.is_class else "def", "", one.qualified, one.line, 0)
        for one in text.heads
    ]


_Read = tuple[list[PythonFact], list[Problem]]


def _read_opinfo(text: Text, path: str) -> _Read:
    return opinfo.read_opinfo(text), []


def _read_docstrings(text: Text, path: str) -> _Read:
    return docs.read_docstrings(text, path), []


def _read_overrides(text: Text, path: str) -> _Read:
    return docs.read_overrides(text.data), []


def _read_generator(text: Text, path: str) -> _Read:
    return python_generated.read_generator(text.data), []


def _read_symbolics(text: Text, path: str) -> _Read:
    return list(python_symbolics.read_symbolics(text, path)), []


def _registers(path: str, data: bytes) -> bool:
    return "/testing/" not in path and touches_api(data)


_READERS: tuple[tuple[Callable[[str, bytes], bool], Callable[[Text, str], _Read]], ...] = (
    (lambda path, data: python_api.is_api_file(path), python_api.read_api),
    (opinfo.is_opinfo_file, _read_opinfo),
    (lambda path, data: b"add_docstr" in data, _read_docstrings),
    (lambda path, data: path.endswith("torch/overrides.py"), _read_overrides),
    (python_symbolics.registers_by_name, _read_symbolics),
    (lambda path, data: python_generated.is_generator(path), _read_generator),
)
