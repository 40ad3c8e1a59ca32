"""What needs an operator: composites made of it, operators whose gradient it is, and Python modules
that call it."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, cached_property
from typing import NamedTuple

from indexes.model.regex import regex
from indexes.queries.gaps.tree import Tree

_NEEDING = 2
"""Most operators listed."""
_CALL = regex(r"(?<![.\w>])(?:at::)?(\w+)(?=\()")


class Needs(NamedTuple):
    """What needs an operator, by name."""

    composites: tuple[str, ...]
    """Public operators made of it."""
    gradients: tuple[str, ...]
    """Operators whose formulas call it, or a composite of it."""
    library: tuple[str, ...]
    """Files of PyTorch's modules that call it although it is private."""

    def __bool__(self) -> bool:
        return any(self)


class Dependents:
    """Dependencies between a tree's operators."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._known = cache(self._of)

    def of(self, ops: Iterable[str]) -> Needs:
        """What needs some overloads, through any number of composite kernels; cached since keys ask
        for the same ones."""
        return self._known(tuple(ops))

    def above(self, needs: Needs) -> tuple[str, ...]:
        """The composites of operators whose gradient it is."""
        ops = (one for name in needs.gradients for one in self._tree.overloads.get(name, ()))
        return self.of(ops).composites

    def _of(self, ops: tuple[str, ...]) -> Needs:
        reached = set(ops)
        pending = list(reached)
        while pending:
            for caller in self._callers.get(pending.pop(), ()):
                if caller not in reached:
                    reached.add(caller)
                    pending.append(caller)
        natives = self._tree.natives
        public = {natives[one].name for one in reached if one in self._tree.public_set}
        names = {natives[one].name for one in reached if one in natives}
        gradients = {one for name in names for one in self._formulas.get(name, ())}
        library = {path for name in names for path in self._library.get(name, ())}
        return Needs(*map(_sorted, (public, gradients - names, library)))

    @cached_property
    def _callers(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for caller, called in dict(self._tree.index.facts.document("composites")).items():
            for one in called:
                found.setdefault(one, []).append(caller)
        return found

    @cached_property
    def _formulas(self) -> dict[str, set[str]]:
        natives = self._tree.natives
        names = self._tree.overloads
        found: dict[str, set[str]] = {}
        for entry in self._tree.index.derivative_rows():
            for one in entry.sets:
                for formula in one.formulas:
                    for called in map(_plain, _CALL.findall(formula.text)):
                        if called in names and entry.op in natives:
                            found.setdefault(called, set()).add(natives[entry.op].name)
        return found

    @cached_property
    def _library(self) -> dict[str, set[str]]:
        """The files that call ``torch._name(...)`` and are not internal themselves."""
        found: dict[str, set[str]] = {}
        for place, name, _ in self._tree.remarks("internal call"):
            found.setdefault(name, set()).add(place.path)
        return found


def needing(tree: Tree, op: str, most: int = _NEEDING) -> list[str]:
    """Operators with OpInfos that test one without: composites of it, those whose gradient it is,
    or composites of these."""
    if op not in tree.natives:
        return []
    known = Dependents(tree)
    found = known.of(tree.overloads[tree.natives[op].name])
    names = (*found.composites, *found.gradients, *known.above(found))
    ops = (one for name in dict.fromkeys(names) for one in tree.overloads.get(name, ())[:1])
    return [one for one in ops if one != op and tree.opinfos(one)][:most]


def _sorted(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _plain(name: str) -> str:
    """The operator of a C++ API name, without ``_symint``."""
    return name.removesuffix("_symint")
