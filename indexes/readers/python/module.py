"""Reads one Python file of a PyTorch tree: definitions, public names by their last part, for people
who write ``DataLoader``, and everything "around" operators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from indexes.model.files import MARK, PythonFact, module_name
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.python import api as python_api
from indexes.readers.python import decomposition_tables as tables
from indexes.readers.python import docs, generated, opinfo
from indexes.readers.python import tests as python_tests
from indexes.readers.python.blocks import Text
from indexes.readers.python.inline import has_inline, read_inline
from indexes.readers.python.meta_rules import read_meta_rules
from indexes.readers.python.registrations import (
    read_registrations,
    read_symbolics,
    registers_by_name,
    touches_api,
)

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
    facts: list[PythonFact] = list(read_public(data, path))
    problems: list[Problem] = []
    if "/testing/" not in path and touches_api(data):
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
    """Every ``def`` and ``class``. Where they end is found when a file is looked at."""
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
"""Which files have what else, by path and bytes, and what reads it."""


_ALL = regex(rb"(?m)^__all__\s*(?::[^=\n]+)?\+?=\s*[\[(]([^\])]*)[\])]")
_LISTED = regex(rb"[\"'](\w+)[\"']")
_DEFINED = regex(rb"(?m)^(?:async def|def|class)[ \t]+([A-Za-z]\w*)")
_IMPORTED = regex(rb"(?m)^ {0,4}from[ \t]+\.?[\w.]*[ \t]+import[ \t]+(\([^)]*\)|[^\n#]+)")
_NAMED = regex(rb"(?:\w+[ \t]+as[ \t]+)?([A-Za-z]\w*)[ \t]*(?:#[^\n]*)?(?:[,)\n]|$)")
_FUNCTION = regex(rb"(?m)^class[ \t]+([A-Za-z]\w*)\([^)]*\bFunction[ \t]*[,)]")
"""A subclass of ``torch.autograd.Function``: its ``grad_fn`` is called after it."""
_ROOTS = ("torch/", "functorch/", MARK)


def read_public(data: bytes, path: str) -> Iterator[PythonFact]:
    """The names in ``__all__``; without it, what a module defines, and what a package imports.

    By text, since this is done to every file: who follows such a name finds out if it is none."""
    if not path.startswith(_ROOTS) or "/testing/" in path:
        return
    module = module_name(path)
    listed = [one for found in _ALL.finditer(data) for one in _LISTED.findall(found[1])]
    names = listed if b"__all__" in data else _DEFINED.findall(data)
    if path.endswith("/__init__.py") and b"__all__" not in data:
        names += [one for found in _IMPORTED.finditer(data) for one in _NAMED.findall(found[1])]
    for name in dict.fromkeys(names):
        text = name.decode()
        yield PythonFact("public", f"name:{text}", f"{module}.{text}", 1, 1)
    for found in _FUNCTION.finditer(data) if b"Function" in data else ():
        text = found[1].decode()
        yield PythonFact("public", f"name:{text}Backward", f"{module}.{text}", 1, 1)
