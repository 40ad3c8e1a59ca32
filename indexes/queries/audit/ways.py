"""Checks of routes: of operators verified by hand, and of public names in the YAML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from indexes.model.answers import Route
from indexes.model.errors import NotFound
from indexes.model.lines import grouped
from indexes.model.regex import regex
from indexes.model.vocabulary import NativeFunction
from indexes.queries.index import Index
from indexes.source.files import read_text

_WORD = regex(r"[A-Za-z_]\w*")
_MODULES = ("linalg", "fft", "special")
_NO_WAY = "none"


# ------------------------------------------------------------------- verified by hand


@dataclass(frozen=True, slots=True)
class Computing:
    """The verified computing functions of an operator on a device."""

    op: str
    device: str
    functions: tuple[tuple[str, str, int], ...]
    """Symbol, path and line of each; none if the operator computes nothing."""

    @property
    def names(self) -> frozenset[str]:
        """The last parts of their symbols."""
        return frozenset(last_name(symbol) for symbol, _, _ in self.functions)

    @property
    def places(self) -> frozenset[str]:
        """As ``file.cu:7``."""
        return frozenset(f"{Path(path).name}:{line}" for _, path, line in self.functions if line)

    def is_meant(self, route: Route) -> bool:
        """Whether a route ends in one of them."""
        if not self.functions:
            return route.kind == _NO_WAY
        paths = {path for _, path, _ in self.functions}
        return last_name(route.symbol) in self.names and route.location.path in paths


def read_computing(path: Path) -> Iterator[Computing]:
    """The rows of a table of verified operators (``computing.jsonl``)."""
    for line in read_text(path).splitlines():
        row: dict[str, Any] = json.loads(line)
        functions = (one for one in row["computes"] if one["kind"] != _NO_WAY)
        what = tuple((one["symbol"], one["path"], one["line"]) for one in functions)
        yield Computing(row["op"], row["device"], what)


def last_name(symbol: str) -> str:
    """``gemm`` for ``at::cuda::blas::gemm``; for a functor's ``operator()`` the class."""
    scope, _, name = symbol.rpartition("::")
    return scope.rpartition("::")[2] if name in ("operator()", "apply") and scope else name


def routes_of(index: Index, op: str) -> tuple[Route, ...]:
    """The routes of an overload; none if the tree lacks it."""
    try:
        return index.routes(op)
    except NotFound:
        return ()


# ------------------------------------------------------------------------ public names


def public_names(natives: Iterable[NativeFunction]) -> Mapping[str, list[NativeFunction]]:
    """The public names in operators' entries, with overloads."""
    return grouped((name, native) for native in natives for name in _names(native))


def _names(native: NativeFunction) -> Iterator[str]:
    module = native.python_module
    if native.name.startswith("_") or "generated" in native.tags:
        return
    if "method" in native.variants:
        yield f"Tensor.{native.name}"
    if "function" not in native.variants:
        return
    if module is None:
        yield f"torch.{native.name}"
    elif module in _MODULES:
        yield f"torch.{module}.{native.name.removeprefix(f'{module}_')}"


@dataclass(slots=True)
class NamedWays:
    """Public names by their answer for a device."""

    computing: int = 0
    """With a route to what computes."""
    nothing: list[str] = field(default_factory=list)
    """Reported to compute nothing: views, queries, allocations."""
    silent: list[str] = field(default_factory=list)
    """Neither."""


def named_ways(index: Index, devices: Iterable[str]) -> Mapping[str, NamedWays]:
    """The routes of every public name with a kernel for a device."""
    done = {device: NamedWays() for device in devices}
    for name, natives in public_names(index.all_natives()).items():
        routes = [route for native in natives for route in routes_of(index, native.full_name)]
        rows = [row for native in natives for row in index.facts.kernels(native.full_name)]
        for device, ways in done.items():
            if any(row.key == device or row.key.startswith("Composite") for row in rows):
                _note(name, {one.kind for one in routes if one.device == device}, ways)
    return done


def _note(name: str, kinds: Set[str], ways: NamedWays) -> None:
    if kinds - {_NO_WAY}:
        ways.computing += 1
    else:
        (ways.nothing if kinds else ways.silent).append(name)


# ---------------------------------------------------------------------- first screens


_LABEL = regex(r" {0,2}(\S+)")
_NOTHING = regex(r"\bnothing\b")
SCREEN = 25
"""Lines of a first screen."""


def names_what_computes(lines: Sequence[str], wanted: Computing) -> bool:
    """Whether the device's lines name one of the functions, or say that nothing computes."""
    text = "\n".join(_about(lines[:SCREEN], wanted.device))
    if not wanted.functions:
        return bool(_NOTHING.search(text))
    words = {match[0] for match in _WORD.finditer(text)}
    own = wanted.op.partition(".")[0]
    return bool(words & (wanted.names - {own})) or any(place in text for place in wanted.places)


def _about(lines: Iterable[str], device: str) -> Iterator[str]:
    """The lines that begin with a device, with their continuation."""
    mine = False
    for line in lines:
        if label := _LABEL.match(line):
            mine = label[1] == device
        if mine:
            yield line
