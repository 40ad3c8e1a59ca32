"""Links many rows of native_functions.yaml to their kernels, each from its candidates."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from indexes.codegen.cpp_types import (
    meta_parameters,
    native_parameters,
    normalize,
    split_parameters,
    structured_parameters,
)
from indexes.codegen.rows import Row
from indexes.linking.kernels import is_same_kernel, link_kernel, wanted_names
from indexes.model.vocabulary import Definition

KERNEL_KINDS = frozenset(("function", "impl_func", "meta_func"))
"""Kinds of definitions that can be kernels."""
ALIAS_SCOPES = ("at", "c10", "at::native", "at::sparse", "at::sparse_csr")
"""Where the type aliases are declared that parameters of kernels are written with."""

Linked = tuple[str, str, str, str, str]
"""Kind, confidence, rule, reason and the numbers of the definitions, as they are kept."""
Kernels = dict[str, list[tuple[str, list[str]]]]
"""Of each overload, its kernels: dispatch key and the files of the definitions."""


class Candidates:
    """The definitions that could be kernels by name, and their numbers."""

    def __init__(self, definitions: Iterable[tuple[int, Definition]]) -> None:
        self._named: dict[str, list[Definition]] = defaultdict(list)
        self._numbers: dict[int, int] = {}
        for number, definition in definitions:
            self._named[definition.name].append(definition)
            self._numbers[id(definition)] = number

    def of(self, row: Row) -> list[Definition]:
        """Those that bear a name which the row wants."""
        return [one for name in wanted_names(row) for one in self._named.get(name, ())]

    def numbers(self, definitions: Iterable[Definition]) -> str:
        """The numbers of some, as they are kept."""
        return ",".join([str(self._numbers[id(one)]) for one in definitions])


def link_rows(
    rows: Iterable[Row], candidates: Candidates, aliases: Mapping[str, str], has_sources: bool
) -> tuple[list[Linked], Kernels]:
    """What is kept of each row, in their order, and the kernels of the overloads."""
    matcher = _Matchers(dict(aliases))
    links: list[Linked] = []
    kernels: Kernels = {}
    last: Row | None = None
    for row in rows:
        if last is None or not is_same_kernel(row, last):
            link = link_kernel(row, candidates.of(row), matcher.of(row), has_sources)
            numbers = candidates.numbers(link.definitions)
        last = row
        links.append((link.kind, link.confidence, link.rule, link.reason, numbers))
        paths = [d.location.path for d in link.definitions]
        kernels.setdefault(row.op, []).append((row.key, paths))
    return links, kernels


class _Matchers:
    """Compares parameters as written with those that torchgen expects of a row's kernel."""

    def __init__(self, aliases: dict[str, str]) -> None:
        self._normal = cache(lambda type_: normalize(type_, aliases))

    def of(self, row: Row) -> Callable[[str], str]:
        """What ``cpp_types.match`` says against the parameters of one kernel; types that were
        brought to their one spelling before are not read again."""
        expected: list[tuple[str, ...]] = []  # most rows never ask

        def match(parameters: str) -> str:
            if not expected:
                expected.append(tuple(map(self._normal, _parameters(row))))
            return self._match(parameters, expected[0])

        return match

    def _match(self, parameters: str, expected: tuple[str, ...]) -> str:
        types = split_parameters(parameters)
        if len(types) != len(expected):
            return "no"
        return "same" if expected == tuple(map(self._normal, types)) else "arity"


def _parameters(row: Row) -> tuple[str, ...]:
    if row.symbol.endswith("::meta"):
        return meta_parameters(row.source_function)
    if row.kind_hint == "structured":
        return structured_parameters(row.source_function)
    return native_parameters(row.native, "_symint" in row.symbol)
