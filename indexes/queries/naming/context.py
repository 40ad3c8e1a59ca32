"""From a flag of Python to the C++ that asks it: ``torch._C._get_cudnn_allow_tf32``, the function
that is bound under that name, the method of ``at::Context`` that it calls, and who else does."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import TYPE_CHECKING

from indexes.model.answers import Hit
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location

if TYPE_CHECKING:
    from indexes.queries.index import Index

_BOUND_NAME = regex(r"torch\._C\.(_\w+)")
_CONTEXT = regex(r"\bglobalContext\(\)\s*\.\s*(\w+)\(")
_PROPERTY = "ContextProp("
_BELOW = 6
"""Lines behind a comparison with a name in which what is asked for stands."""


def context_reads(flags: Iterable[Hit], index: Index) -> Iterator[Hit]:
    """The methods of ``at::Context`` that say how flags are set, then the lines that ask them."""
    names = dict.fromkeys(name for flag in flags for name in _getters(flag, index))
    functions = _bound_to(names, index) if names else ()
    called = (method for one in functions for method in _CONTEXT.findall(_body(one, index)))
    methods = [method for method in dict.fromkeys(called) if not method.startswith("set")]
    for method in methods:
        for known in index.facts.named(method):
            if known.definition.scope.endswith("Context"):
                yield _hit(known.definition)
    if methods:
        yield from _calls(methods, index)


def _hit(definition: Definition) -> Hit:
    return Hit("read", definition.qualified, definition.location, "what C++ asks for the flag")


def _getters(flag: Hit, index: Index) -> list[str]:
    """The names in ``torch._C`` under which a flag is read and set."""
    lines = index.read(flag.location.path).split("\n")[flag.location.line - 1 :]
    own = flag.location.end_line - flag.location.line
    first, *below = lines[: 1 + max(_BELOW, own)]
    if _PROPERTY in first:
        below = below[:own]
    said = " ".join((first, *takewhile(lambda line: " == " not in line, below)))
    return _BOUND_NAME.findall(said)


def _bound_to(names: Iterable[str], index: Index) -> Iterator[Definition]:
    """The C functions in tables of methods under some names."""
    listed = "|".join(names)
    entry = re.compile(rf'"(?:{listed})",\s*(?:castPyCFunctionWithKeywords\()?(\w+)'.encode())
    for path in index.facts.paths("cpp", "torch/csrc/%"):
        data = index.source.read(path)
        if b"PyMethodDef" in data:
            for found in entry.finditer(data):
                named = index.facts.named(found[1].decode())
                yield from (known.definition for known in named)


def _body(definition: Definition, index: Index) -> str:
    where = definition.location
    return "\n".join(index.read(where.path).split("\n")[where.line - 1 : where.end_line])


def _calls(methods: Sequence[str], index: Index) -> Iterator[Hit]:
    """The lines of kernels that call methods; the index does not keep calls of so plain ones."""
    word = re.compile(rf"({'|'.join(methods)})\(".encode())
    for path in index.facts.paths("cpp", "aten/%"):
        data = index.source.read(path)
        for found in word.finditer(data):
            if data[found.start() - 1 : found.start()] in (b".", b">"):
                line = data.count(b"\n", 0, found.start()) + 1
                yield Hit("read", f"{found[1].decode()}()", Location(path, line))
