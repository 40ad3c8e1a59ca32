"""Uses of names that the index does not keep: of types, values and macros without parameters, and
of methods of objects whose type is not known. Texts are read for them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from indexes.linking.facts import Known
from indexes.linking.visible import in_scope, is_header, linkable, plain_scope
from indexes.model.vocabulary import Confidence, Definition
from indexes.queries.corpus import Mention
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.graph import Edge, Node
from indexes.readers.cxx.facts import keeps_bodies

_METHOD = "calls a method of that name"
_NAMED = ("class", "enum", "global")


def names_outside_bodies(known: Known, facts: ImpactFacts, first: bool) -> Iterator[Edge]:
    """The functions that name a type, a value or a macro without parameters, that make or end an
    object of the class whose constructor or destructor ``known`` is, or that may call a method."""
    if known.definition.kind in _NAMED:
        yield from _mentions(known, facts, first, "names it", _seen_type)
    elif known.definition.kind == "macro" and (known.id < 0 or first):
        yield from _mentions(known, facts, first, "uses the macro", _seen_macros)
    elif owner := _made_class(known, facts):
        rule = f"names {owner.definition.name}, which it makes or ends"
        yield from _mentions(owner, facts, first, rule, _seen_type)
    elif first and facts.class_of(known):
        yield from _mentions(known, facts, first, _METHOD, _seen_methods)


_Seen = Callable[[Mention, Known, ImpactFacts], Sequence[Known]]
"""What a mention of the name of a definition can mean."""


def _mentions(
    known: Known, facts: ImpactFacts, first: bool, rule: str, seen: _Seen
) -> Iterator[Edge]:
    for mention in facts.corpus.mentions(known.definition.name, _where(known.definition, first)):
        caller = mention.caller
        if caller is None or caller.id == known.id or caller.definition == known.definition:
            continue
        meant = seen(mention, known, facts)
        if any(one.id == known.id for one in meant):
            said, sure = _confidence(rule, meant)
            yield Edge(Node.of(caller), said, mention.location, sure, len(meant))


def _confidence(rule: str, meant: Sequence[Known]) -> tuple[str, Confidence]:
    if rule == _METHOD:
        classes = {one.definition.scope for one in meant}
        return f"{rule}; {len(classes)} classes have one", "ambiguous"
    if len(meant) == 1:
        return rule, "exact"
    if len({one.definition.location.path for one in meant}) == 1:
        return f"{rule}, whose definition #if chooses", "by rule"
    return f"{rule}, or another of that name", "ambiguous"


def _seen_macros(mention: Mention, known: Known, facts: ImpactFacts) -> Sequence[Known]:
    call, path = mention.call, mention.location.path
    if call.kind == "member" or call.qualifier:
        return ()
    macros = [k for k in facts.named(call.name) if k.definition.kind == "macro"]
    here = [k for k in macros if k.definition.location.path == path]
    above = [k for k in here if k.definition.location.line <= call.line]
    if above:
        return [max(above, key=lambda k: k.definition.location.line)]
    return here or [k for k in macros if is_header(k.definition.location.path)]


def _seen_methods(mention: Mention, known: Known, facts: ImpactFacts) -> Sequence[Known]:
    """The methods of a name, where no edge tells which of them is called there."""
    call, caller = mention.call, mention.caller
    assert caller
    if call.kind != "member" or not linkable(known, mention.location.path):
        return ()
    told = (e for e in facts.edges(caller.id) if e.line == call.line)
    if any(edge.symbol == call.name for edge in told):
        return ()
    named = [k for k in facts.named(call.name) if k.definition.kind == known.definition.kind]
    return [k for k in named if facts.class_of(k)]


def _seen_type(mention: Mention, known: Known, facts: ImpactFacts) -> Sequence[Known]:
    call, path, found = mention.call, mention.location.path, known.definition
    elsewhere = found.location.path != path
    if call.kind == "member" or (elsewhere and not is_header(found.location.path)):
        return ()
    assert mention.caller
    scope = plain_scope(mention.caller.definition.scope)
    if not (in_scope(call, known, scope) or _through_using(mention, known, facts)):
        return ()
    same = [k for k in facts.named(call.name) if k.definition.kind == found.kind]
    return [k for k in same if k.definition.location.path == path] or same


def _through_using(mention: Mention, known: Known, facts: ImpactFacts) -> bool:
    """Whether a ``using namespace`` lets the name be written as it is."""
    assert mention.caller
    call, scope = mention.call, plain_scope(mention.caller.definition.scope)
    inside = f"::{call.qualifier}" if call.qualifier else ""
    wanted = plain_scope(known.definition.scope)
    used = facts.used_namespaces(mention.location.path, scope)
    return any(wanted == f"{one}{inside}" for one in used)


def _made_class(known: Known, facts: ImpactFacts) -> Known | None:
    """The class of which a function is the constructor or destructor."""
    found = known.definition
    owner = plain_scope(found.scope).rpartition("::")[2]
    if found.name.lstrip("~") != owner:
        return None
    classes = (one for one in facts.named(owner) if one.definition.kind == "class")
    return next((one for one in classes if one.definition.qualified == found.scope), None)


def _where(found: Definition, first: bool) -> Callable[[str], bool]:
    """The files in which a use can stand; further on, those whose bodies lead to operators."""
    local = "(anonymous)" in found.scope or found.kind == "macro"
    if local and not is_header(found.location.path):
        return lambda path: path == found.location.path
    return (lambda path: True) if first else keeps_bodies
