"""The contents of a tree's YAML files, and what torchgen would refuse in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from indexes.build.torchgen_rules import KERNEL_RULES, read_lists
from indexes.codegen.registrations import Rules
from indexes.codegen.variants import with_generated
from indexes.model.errors import SourceError
from indexes.model.vocabulary import DerivativeEntry, NativeFunction, Problem
from indexes.readers.yaml.accepted import Accepted, read_tags
from indexes.readers.yaml.derivatives import read_deprecated, read_derivatives
from indexes.readers.yaml.native_functions import read_native_functions
from indexes.source.source import Source

_NATIVE = "native_functions.yaml"
_DERIVATIVES = "derivatives.yaml"
_DEPRECATED = "deprecated.yaml"
_TAGS = "tags.yaml"
OPERATOR_FILES = (_NATIVE, _DERIVATIVES, _DEPRECATED, _TAGS, *KERNEL_RULES)
"""The files that define operators."""

_Fact = TypeVar("_Fact")
_Facts = tuple[tuple[_Fact, ...], tuple[Problem, ...]]


class YamlFiles(NamedTuple):
    """The facts of all YAML files."""

    functions: tuple[NativeFunction, ...]
    """The declared overloads, each followed by those generated from it."""
    entries: tuple[DerivativeEntry, ...] | None
    """None without a derivatives.yaml."""
    rules: Rules
    problems: tuple[Problem, ...]
    """What is unreadable or refused by torchgen. A problem of the whole tree has line 0 and comes
    first."""


def read_yaml_files(source: Source) -> YamlFiles:
    """Reads them all. Raises SourceError if there is no operator at all."""
    path = source.locate(_NATIVE)
    if path is None:
        raise SourceError(f"{source.root} has no native_functions.yaml")
    lists, problems = read_lists(source, KERNEL_RULES)
    tags, more = _read(source, _TAGS, read_tags)
    accepted = Accepted.of(lists.names, lists.fields, tags)
    rules = Rules.of(lists)
    declared, wrong = read_native_functions(source.read(path), path, accepted)
    if not declared:
        first = f": {wrong[0].message}" if wrong else ""
        raise SourceError(f"no operator could be read from {path}{first}")
    functions = with_generated(declared, rules.keys.generation)
    entries, refused = _read(
        source, _DERIVATIVES, lambda data, path: read_derivatives(data, path, functions, accepted)
    )
    _, old = _read(source, _DEPRECATED, read_deprecated)
    unknown_version = _other_version(path, declared, wrong)
    known = entries if source.locate(_DERIVATIVES) else None
    return YamlFiles(
        functions, known, rules, (*unknown_version, *wrong, *refused, *more, *old, *problems)
    )


def _read(
    source: Source, name: str, reader: Callable[[bytes, str], _Facts[_Fact]]
) -> _Facts[_Fact]:
    """The contents of a file that a tree need not have."""
    path = source.locate(name)
    return reader(source.read(path), path) if path else ((), ())


def _other_version(
    path: str, functions: Sequence[NativeFunction], problems: Sequence[Problem]
) -> tuple[Problem, ...]:
    """One problem for the whole tree if most of its operators have problems."""
    lines = {problem.line for problem in problems}
    places = (function.location for function in functions)
    concerned = sum(not lines.isdisjoint(range(p.line, p.end_line + 1)) for p in places)
    if concerned * 2 <= len(functions):
        return ()
    few = f"{concerned:,} of {len(functions):,} entries have fields that it cannot read"
    return (Problem(path, 0, f"torchnav does not know this version of PyTorch: {few}"),)
