"""Properties of operators, such as a decomposition, ref or lowering, each with its place."""

from __future__ import annotations

from functools import cache, cached_property

from indexes.linking.python.paths import Found, operator_named
from indexes.model.files import PythonFact, unpack
from indexes.model.vocabulary import Location
from indexes.queries.changes.python.lists import Lists
from indexes.queries.gaps.batching import batching_keys, ruled_names
from indexes.queries.gaps.python.references import refs
from indexes.queries.gaps.tree import Tree
from indexes.readers.python.operator_lists import bare_name

_FACTS = {
    "decomposition": "decomposition",
    "ref": "ref",
    "lowering": "lowering",
    "meta": "meta_registration",
    "opinfo": "opinfo",
    "onnx": "onnx",
    "sharding": "sharding",
}
"""The Python facts for each property."""


class Traits:
    """What each operator of one tree has."""

    def __init__(self, tree: Tree, lists: Lists) -> None:
        self._tree = tree
        self._lists = lists
        self.found = cache(self._read)

    def having(self, kind: str) -> frozenset[str]:
        return self.batched if kind == "batch-rule" else frozenset(self.found(kind))

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """What operators may have."""
        return (*_FACTS, "batch-rule")

    @cached_property
    def batched(self) -> frozenset[str]:
        """The operators with a batching rule."""
        natives = self._tree.natives
        ruled = self._tree.registered_for(*batching_keys(self._tree))
        return frozenset(natives[op].name for op in ruled if op in natives) | ruled_names(
            self._tree
        )

    @cached_property
    def traced(self) -> frozenset[str]:
        """The operators that work on meta tensors in any way."""
        tree = self._tree
        own = {
            native.name
            for op, native in tree.natives.items()
            if any(key == "Meta" or key.startswith("Composite") for key in tree.keys(op))
        }
        return frozenset(own | self.having("meta") | self.having("decomposition"))

    def _read(self, kind: str) -> dict[str, list[Found]]:
        """The operators with a Python property, by name, with places."""
        found: dict[str, list[Found]] = {}
        stored = self._tree.index.facts.python
        for path, fact in refs(self._tree) if kind == "ref" else stored.of_kinds(_FACTS[kind]):
            name = self._operator(fact)
            if name and not _is_another(fact):
                found.setdefault(name, []).append((path, fact))
        return found

    def _operator(self, fact: PythonFact) -> str:
        named = operator_named(fact.target).partition(".")[0]
        if named in self._tree.overloads:
            return named
        return self._lists.operator(bare_name(fact.symbol))


def _is_another(fact: PythonFact) -> bool:
    """Whether it is in another table than torch._decomp's, or a fallback instead of a lowering."""
    detail = unpack(fact.detail)
    return "registry" in detail or "fallback" in detail.get("note", "")


def place(found: Found) -> Location:
    """The lines of a registration, with decorators."""
    path, fact = found
    first = int(unpack(fact.detail).get("at", 0)) or fact.line
    return Location(path, min(first, fact.line), max(fact.end_line, fact.line))
