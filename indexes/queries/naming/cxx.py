"""C++ names: functions, classes, macros, stubs, each by its name with the end of its scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from indexes.model.places import Hit, NameMatch
from indexes.model.vocabulary import Definition
from indexes.queries.naming.spelling import NameQuery

if TYPE_CHECKING:
    from indexes.queries.index import Index


def find(query: NameQuery, index: Index) -> NameMatch | None:
    """The definitions of a symbol whose scope ends as it was written."""
    for symbol in query.symbols:
        named = index.facts.named(symbol.rpartition("::")[2])
        fitting = [k.definition for k in named if _ends_with(k.definition, symbol)]
        if fitting:
            several = len({_outer(one) for one in fitting}) > 1
            return NameMatch(
                "symbol",
                symbol,
                hits=tuple(map(definition_hit, fitting)),
                confidence="ambiguous" if several else "exact",
            )
    return None


def definition_hit(definition: Definition) -> Hit:
    """A definition as a search result."""
    kind = "__global__" if definition.cuda_global else definition.kind
    return Hit(kind, definition.qualified, definition.location, definition.parameters)


def namesakes(name: str, index: Index, most: int = 5) -> tuple[Hit, ...]:
    """Definitions of a name, whatever scope they are in: one for each scope."""
    named: dict[str, Definition] = {}
    for known in index.facts.named(name):
        named.setdefault(known.definition.qualified, known.definition)
    return tuple(map(definition_hit, list(named.values())[:most]))


def _outer(definition: Definition) -> str:
    """The name of a definition; of a constructor, that of its class."""
    scope, _, name = definition.qualified.rpartition("::")
    return scope if scope.rpartition("::")[2] == name else definition.qualified


def _ends_with(definition: Definition, symbol: str) -> bool:
    plain = definition.qualified.replace("(anonymous)::", "")
    wanted = symbol.replace("(anonymous namespace)::", "")
    return plain == wanted or plain.endswith(f"::{wanted}")


def find_stub(query: NameQuery, index: Index) -> NameMatch | None:
    """The lines that define, declare and register a dispatch stub."""
    for symbol in query.symbols:
        simple = symbol.rpartition("::")[2]
        if uses := index.facts.stub_uses(simple):
            ordered = sorted(uses, key=lambda use: use.what != "defined")
            hits = tuple(
                Hit("stub", f"{u.macro}({u.arguments})", u.location, u.what) for u in ordered
            )
            return NameMatch("stub", simple, hits=hits)
    return None
