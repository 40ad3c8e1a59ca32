"""What tests of registrations in Python share."""

from __future__ import annotations

import textwrap

from indexes.model.files import PythonFact
from indexes.readers.python.module import read_python

DECOMP = "torch/_decomp/decompositions.py"
REFS = "torch/_refs/__init__.py"


def read(source: str, path: str = DECOMP) -> tuple[PythonFact, ...]:
    facts, problems = read_python(textwrap.dedent(source).encode(), path)
    assert problems == ()
    return facts


def registered(source: str, path: str = DECOMP) -> list[tuple[str, str, str, int]]:
    """(kind, target, symbol without module, line) of the registrations."""
    plain = {"def", "class", "ref", "deferred", "public"}
    return [
        (fact.kind, fact.target, fact.symbol.rpartition(".")[2], fact.line)
        for fact in read(source, path)
        if fact.kind not in plain
    ]


HEAD = """\
import torch
from torch._decomp import register_decomposition
aten = torch.ops.aten
"""
