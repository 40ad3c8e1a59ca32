"""The symbol table of an index, as the resolver of device kernel names asks for it."""

from __future__ import annotations

from collections.abc import Sequence

from indexes.model.vocabulary import Definition
from indexes.store.lookup import Lookup


class Symbols:
    """``indexes.linking.device_names.matching.SymbolTable`` over an index."""

    def __init__(self, facts: Lookup) -> None:
        self._facts = facts

    def definitions(self, simple_name: str) -> Sequence[Definition]:
        """Every definition whose last component is ``simple_name``."""
        return [
            k.definition
            for k in self._facts.named(simple_name)
            if k.definition.kind not in ("macro", "macro_use")
        ]
