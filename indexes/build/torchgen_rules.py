"""torchgen's exceptions by name, read from the torchgen of the tree itself."""

from __future__ import annotations

from collections.abc import Sequence

from indexes.codegen.registrations import Rules
from indexes.model.vocabulary import Problem
from indexes.readers.project.torchgen_lists import TorchgenLists, read_torchgen_lists
from indexes.source.source import Source

KERNEL_RULES = (
    "torchgen/model.py",
    "torchgen/native_function_generation.py",
    "torchgen/api/autograd.py",
)
"""torchgen's files that decide about kernels and derivatives."""
TABLE_RULES = (
    "torchgen/model.py",
    "torchgen/native_function_generation.py",
    "torchgen/gen_functionalization_type.py",
    "torchgen/api/autograd.py",
    "tools/autograd/gen_trace_type.py",
    "tools/autograd/gen_inplace_or_view_type.py",
    "tools/autograd/gen_variable_type.py",
)
"""Its files that decide about other registrations, in the order of imports."""


def read_rules(source: Source, files: Sequence[str]) -> tuple[Rules, list[Problem]]:
    """The rules of the version in ``source``, as far as ``files`` say."""
    lists, problems = read_lists(source, files)
    return Rules.of(lists), problems


def read_lists(source: Source, files: Sequence[str]) -> tuple[TorchgenLists, list[Problem]]:
    """The lists that ``files`` of torchgen define."""
    lists = TorchgenLists()
    problems: list[Problem] = []
    for name in files:
        if path := source.locate(name):
            lists, found = read_torchgen_lists(source.read(path), path, lists)
            problems += found
    return lists, problems
