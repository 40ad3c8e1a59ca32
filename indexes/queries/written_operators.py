"""Operators by name in texts: ``torch.ops.quantized.linear`` in Python, literals for the dispatcher
in C++, symbols of TorchScript. Files are read on demand, since the index has no such names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache, cached_property, partial
from typing import NamedTuple

from indexes.linking.facts import Known
from indexes.model.files import module_name
from indexes.model.vocabulary import Confidence, Location, NativeFunction
from indexes.queries.corpus import Corpus
from indexes.readers.cxx.operator_literals import (
    OperatorLiteral,
    operator_literals,
    operator_symbols,
)
from indexes.readers.python.blocks import Block, Text
from indexes.readers.python.references import (
    operator_spaces,
    operator_strings,
    operator_uses,
    read_imports,
    space_named,
    with_plain_attributes,
)
from indexes.store.lookup import Lookup

KINDS = ("python", "test")
"""The kinds of Python files that are searched."""
_FURTHEST = 3
"""Most modules followed from an import to the definition of a namespace."""
LIMIT = (
    "looked for in C++ as a literal or a symbol and in Python as torch.ops...: names that are put"
    " together while the program runs are not seen"
)


class WrittenUse(NamedTuple):
    """A line that names an operator."""

    location: Location
    rule: str
    overload: str | None
    """The overload; None if not given."""
    registers: bool
    """Whether it defines the operator or registers something for it."""
    around: Known | Block | None
    """The enclosing function; None at file scope."""
    confidence: Confidence = "exact"
    candidates: int = 1
    """The number of overloads that it can mean."""

    @property
    def name(self) -> str:
        """The enclosing function, or the file."""
        if self.around is None:
            return self.location.path
        if isinstance(self.around, Known):
            return self.around.definition.qualified
        return f"{module_name(self.location.path)}.{self.around.head.qualified}"


class WrittenOperators:
    """Finds names of operators in the files of one tree."""

    def __init__(self, facts: Lookup, corpus: Corpus) -> None:
        self._facts = facts
        self._corpus = corpus
        self._text = cache(lambda path: Text(with_plain_attributes(corpus.text(path))))
        self._imports = cache(lambda path: read_imports(corpus.text(path), path))
        self._spaces = cache(
            lambda path: operator_spaces(self._text(path).data, self._imports(path))
        )
        self._space = cache(self._space_of)
        self._lines = cache(lambda name: [*self._in_cpp(name), *self._in_python(name)])

    def of(self, native: NativeFunction) -> list[WrittenUse]:
        """The lines that name an overload, or its operator without an overload."""
        name = native.name if native.space else f"aten::{native.name}"
        others = [one.overload for one in self._facts.overloads(native.name)]
        uses = (_use_of(one, native.overload, others) for one in self._lines(name))
        return [one for one in uses if one]

    # ----------------------------------------------------------------------------- C++

    def _in_cpp(self, name: str) -> Iterator[WrittenUse]:
        named = re.compile(rb"(?<![:\w])%s(?!\w|::)" % name.encode())
        for path in self._corpus.files_with(name, "cpp"):
            if not named.search(self._corpus.text(path)):
                continue
            is_symbol = name.startswith("aten::")
            for line in operator_symbols(self._corpus.clean(path), name) if is_symbol else ():
                around = self._corpus.around(path, line)
                yield WrittenUse(Location(path, line), _SYMBOL, None, False, around)
            for one in operator_literals(self._corpus.lexed(path), name):
                where, around = Location(path, one.line), self._corpus.around(path, one.line)
                yield WrittenUse(where, _how(one), one.overload, one.registers, around)

    # -------------------------------------------------------------------------- Python

    def _in_python(self, name: str) -> Iterator[WrittenUse]:
        space, _, last = name.partition("::")
        dotted = f"ops.{space}.{last}".encode()
        member = re.compile(rb"\.%s\b" % re.escape(last.encode()))
        for path in (p for kind in KINDS for p in self._corpus.files_with(last, kind)):
            data = self._corpus.text(path)
            if b"getattr" in data or member.search(data):
                yield from self._read_names(path, name, last)
            if name.encode() in data or dotted in data:
                for one in operator_strings(self._text(path), name):
                    reason = "names it in a string", one.member
                    yield self._python_use(path, one.line, *reason, one.registers)

    def _read_names(self, path: str, name: str, last: str) -> Iterator[WrittenUse]:
        for use in operator_uses(self._text(path), last, partial(self._space, path)):
            if use.operator == name:
                how = "calls it" if use.called else "uses it"
                yield self._python_use(path, use.line, how, use.member, False)

    def _python_use(
        self, path: str, line: int, how: str, member: str, registers: bool
    ) -> WrittenUse:
        around = self._text(path).around(line)
        overload = "" if member == "default" else member or None
        return WrittenUse(Location(path, line), how, overload, registers, around)

    def _space_of(self, path: str, owner: str) -> str | None:
        """The namespace of ``torch.ops`` that a dotted name stands for in a file."""
        has_ops = b"ops" in self._text(path).data
        space = space_named(owner, self._spaces(path)) if has_ops else None
        if space or "." in owner:
            return space
        return self._imported(self._imports(path).get(owner, ""), _FURTHEST)

    def _imported(self, origin: str, further: int) -> str | None:
        """The namespace that an imported name stands for; None for anything else."""
        home, name = self._home(origin)
        if not (home and further):
            return None
        space = self._spaces(home).get(name)
        return space or self._imported(self._imports(home).get(name, ""), further - 1)

    def _home(self, origin: str) -> tuple[str, str]:
        """The file of a module that defines a name for ``torch.ops``, and the name; empty for
        others."""
        module, _, last = origin.rpartition(".")
        stem = module.replace(".", "/")
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            if path in self._paths and b"ops" in self._corpus.text(path):
                return path, last
        return "", last

    @cached_property
    def _paths(self) -> frozenset[str]:
        return frozenset(path for kind in KINDS for path in self._corpus.paths(kind))


def _use_of(use: WrittenUse, overload: str, others: list[str]) -> WrittenUse | None:
    """A line as a use of an overload; None if it names another one."""
    if use.overload in others:
        return use if use.overload == overload else None
    count = len(others)
    if count < 2:
        return use
    rule = f"{use.rule}, one of its {count} overloads"
    return use._replace(rule=rule, confidence="by rule", candidates=count)


_SYMBOL = "names its symbol, as graphs of TorchScript do"


def _how(one: OperatorLiteral) -> str:
    if one.given_to.startswith("find"):
        return f"asks the dispatcher for it: {one.given_to}"
    return f"names it, given to {one.given_to}" if one.given_to else "names it in a string"
