"""The Python names that lead to an operator, and the tests that name it.

Bindings follow from the YAML entry, as in ``gen_python_functions.py``: ``variants: function`` makes
``torch.x``, ``variants: method`` makes ``Tensor.x`` and ``python_module: m`` makes
``torch._C._m.x`` instead of both. Public names then follow from the Python files that pass them on.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from indexes.model.files import SKIPPED, PythonFact, unpack
from indexes.model.regex import regex
from indexes.model.vocabulary import Location, NativeFunction

Found = tuple[str, PythonFact]
"""A row with the path of its file."""


def place_of(found: Found) -> Location:
    path, fact = found
    return Location(path, fact.line, fact.end_line)


_PASSES_ON = {"alias", "functional", "method"}
_DEPTH = 5
"""``Tensor.unique`` -> ``torch.unique`` -> ``_return_output`` -> ``_unique_impl`` ->
``torch._unique2`` is one of the longest paths."""


class PythonIndex(Protocol):
    """Access to rows of Python files."""

    def by_target(self, target: str) -> Iterable[Found]:
        """The rows with this ``target``."""

    def definitions(self, qualified: str) -> Iterable[Found]:
        """The ``def`` and ``class`` rows with this symbol."""


class FactTable:
    """A ``PythonIndex`` over rows in memory."""

    def __init__(self, files: Mapping[str, Iterable[PythonFact]]) -> None:
        self._by_target: dict[str, list[Found]] = {}
        self._by_symbol: dict[str, list[Found]] = {}
        for path, facts in files.items():
            for fact in facts:
                self._add(path, fact)

    def _add(self, path: str, fact: PythonFact) -> None:
        if fact.target:
            self._by_target.setdefault(fact.target, []).append((path, fact))
        if fact.kind in {"def", "class"}:
            self._by_symbol.setdefault(fact.symbol, []).append((path, fact))

    def by_target(self, target: str) -> Iterable[Found]:
        return self._by_target.get(target, ())

    def definitions(self, qualified: str) -> Iterable[Found]:
        return self._by_symbol.get(qualified, ())


class Binding(NamedTuple):
    """A generated Python function or method."""

    path: str
    """``torch.add``, ``torch.Tensor.add`` or ``torch._C._nn.gelu``."""
    chosen_by: str
    """The generator's condition for it, as in ``binding`` rows."""


class Entry(NamedTuple):
    """A Python name that leads to an operator."""

    name: str
    found: Found
    through: str
    """The name one step closer to the operator."""


def operator_targets(op: NativeFunction) -> tuple[str, str]:
    """The targets of an overload's rows: itself, and all overloads of its name."""
    packet = op.name if "::" in op.name else f"aten::{op.name}"
    return f"{packet}.{op.overload or 'default'}", packet


def bindings(op: NativeFunction) -> tuple[Binding, ...]:
    """The bindings that its YAML entry declares (whether skipped or not)."""
    name = op.name.rpartition("::")[2]
    if op.python_module:
        module = op.python_module
        return (Binding(f"torch._C._{module}.{name}", f"python_module:{module}"),)
    roots = {"function": "torch", "method": "torch.Tensor"}
    return tuple(
        Binding(f"{roots[variant]}.{name}", f"variant:{variant}")
        for variant in op.variants
        if variant in roots
    )


def skipping_rule(op: NativeFunction, facts: PythonIndex) -> Found | None:
    """The entry of the generator's skip lists that applies to an operator."""
    name = op.name.rpartition("::")[2]
    for path, fact in facts.by_target(SKIPPED):
        if fact.symbol == op.schema or _matches(fact.symbol, name):
            return path, fact
    return None


def _matches(pattern: str, name: str) -> bool:
    """Whether a pattern matches the whole name; most patterns need not be compiled for this."""
    if pattern.isidentifier():
        return pattern == name
    if pattern.endswith(".*") and pattern[:-2].isidentifier():
        return name.startswith(pattern[:-2])
    if pattern.startswith(".*") and pattern[2:].isidentifier():
        return name.endswith(pattern[2:])
    if not name.startswith(_literal_beginning(pattern)):
        return False
    try:
        return bool(re.match(rf"^{pattern}$", name))
    except re.error:
        return False


def _literal_beginning(pattern: str) -> str:
    """The literal prefix of a pattern's matches."""
    if "|" in pattern:
        return ""
    end = next((at for at, char in enumerate(pattern) if not (char.isalnum() or char == "_")), 0)
    return pattern[: end - 1 if pattern[end] in "*?{" else end] if end else ""


def operator_named(target: str) -> str:
    """The operator in a row's target: ``add.Tensor``, or ``add`` for all; else empty."""
    if target.startswith("aten::"):
        return target.removeprefix("aten::").removesuffix(".default")
    match = _BINDING.match(target)
    return match[1] if match else ""


_BINDING = regex(r"torch(?:\.Tensor|\._C\._\w+)?\.(\w+)$")


def entries(starts: Sequence[str], facts: PythonIndex) -> Iterator[Entry]:
    """The functions, methods and aliases that pass calls on to the given names, nearest first."""
    seen = set(starts)
    level = list(starts)
    for _ in range(_DEPTH):
        found = [entry for name in level for entry in _passing_on(name, facts)]
        found = [entry for entry in found if entry.name not in seen]
        for entry in found:
            if entry.name not in seen:
                yield entry
            seen.add(entry.name)
        level = list(dict.fromkeys(entry.name for entry in found))


def _passing_on(name: str, facts: PythonIndex) -> Iterator[Entry]:
    for path, fact in facts.by_target(name):
        if fact.kind not in _PASSES_ON or fact.symbol == name:
            continue
        if fact.kind == "alias" or _is_main(name, fact):
            yield Entry(fact.symbol, (path, fact), name)


def _is_main(name: str, fact: PythonFact) -> bool:
    """Whether a function is an entry point of what it calls, not just a user.

    It is if it returns the result under the same name, or calls something private to it: a binding
    in its own module (``torch._C._nn.x``, ``_VF.x``), a private name (``torch._unique2``).
    """
    detail = unpack(fact.detail)
    if detail.get("returned") != "1":
        return False
    is_private = name.rpartition(".")[2].startswith("_")
    return "binding" in detail or is_private or _begins(fact.symbol, name)


def same_name(symbol: str, name: str) -> bool:
    """Whether two paths end in the same word, decorations aside: ``F.relu``, ``torch.relu_``."""
    return _word(symbol) == _word(name)


def _begins(symbol: str, name: str) -> bool:
    """Whether one path's word begins the other's: ``F.grid_sample``, ``grid_sampler``."""
    shorter, longer = sorted((_word(symbol), _word(name)), key=len)
    return shorter == longer or (len(shorter) >= _TELLING_WORD and longer.startswith(shorter))


def _word(path: str) -> str:
    last = path.rpartition(".")[2].strip("_")
    for module in ("linalg_", "special_", "fft_", "nested_", "sparse_"):
        last = last.removeprefix(module)
    return re.sub(r"(_with_indices|_nd|\dd)+$", "", last)


_TELLING_WORD = 8
"""Fewest letters of a word that begins few others."""


# ---------------------------------------------------------------------------- tests

MAX_TESTS = 40
"""Most tests listed."""


@dataclass(frozen=True, slots=True)
class NamedTest:
    """A test function named after an operator that it calls."""

    path: str
    symbol: str
    line: int
    end_line: int
    word: str
    call: str
    """The call in its body: ``torch.add``, or ``.add`` on an object."""
    qualified: bool
    """Whether the call names the function in PyTorch's namespace."""
    called_at: Location


def named_tests(
    words: Iterable[str], facts: PythonIndex, most: int | None = None
) -> tuple[NamedTest, ...]:
    """Tests with one of the words in their name and a call of it, full names first."""
    found: dict[tuple[str, str], NamedTest] = {}
    for word in words:
        rows = [one for one in facts.by_target(word) if one[1].kind == "test_call"]
        for path, fact in sorted(rows, key=lambda one: (one[0], one[1].line)):
            found.setdefault((path, fact.symbol), _named_test(path, fact))
    ordered = sorted(found.values(), key=lambda test: not test.qualified)
    return tuple(ordered[:most])


def ranked_tests(tests: Sequence[NamedTest], names: Iterable[str]) -> list[NamedTest]:
    """Tests of an operator by rank: those that call a public name, in the file named after it or
    with most tests, near the top of the tree."""
    known = tuple(names)
    parts = {part for name in known for part in name.split(".")}
    count = Counter(test.path for test in tests)

    def rank(test: NamedTest) -> tuple[bool, bool, int, int, str, bool, int]:
        stem = test.path.rpartition("/")[2].removesuffix(".py").removeprefix("test_")
        called = f".{test.word}" in test.call
        foreign = test.qualified and not any(_is_call_of(test.call, name) for name in known)
        starts = f"{test.symbol.rpartition('.')[2]}_".startswith(f"test_{test.word}_")
        place = (stem not in parts, test.path.count("/"), -count[test.path], test.path)
        return foreign or not called, *place, not starts, len(test.symbol)

    return sorted(tests, key=rank)


def _is_call_of(call: str, name: str) -> bool:
    """Whether a call spells a public name, as ``F.relu`` or ``torch.relu_``."""
    for short, whole in (("F.", "torch.nn.functional."), ("nn.", "torch.nn.")):
        if call.startswith(short):
            call = whole + call.removeprefix(short)
    return call.rstrip("_") == name.rstrip("_") or call.partition(".")[0] != "torch"


def _named_test(path: str, fact: PythonFact) -> NamedTest:
    detail, line = unpack(fact.detail), fact.line
    at = Location(path, int(detail["at"]), int(detail["at"]))
    called = detail["calls"], "qualified" in detail, at
    return NamedTest(path, fact.symbol, line, fact.end_line, fact.target, *called)
