"""Uses of names that the index lacks: of types, values and macros without parameters, and methods
of objects of unknown type. Files are read on demand."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache

from indexes.linking.facts import Known
from indexes.linking.visible import in_scope, is_header, linkable, plain_scope
from indexes.model.impact import Folded
from indexes.model.vocabulary import Confidence, Definition, Location
from indexes.queries.corpus import Corpus, Mention
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.graph import Edge, Node
from indexes.readers.cxx.facts import keeps_bodies
from indexes.readers.cxx.scopes import decode
from indexes.readers.python.blocks import parse

_METHOD = "calls a method of that name"
_NAMED = ("class", "enum", "global")


def names_outside_bodies(known: Known, facts: ImpactFacts, first: bool) -> Iterator[Edge]:
    """The functions that name a type, a value or a macro without parameters, that construct or
    destroy an object for a constructor or destructor, or may call a method."""
    if known.definition.kind in _NAMED:
        yield from _mentions(known, facts, first, "names it", _visible_type)
    elif known.definition.kind == "macro" and (known.id < 0 or first):
        yield from _mentions(known, facts, first, "uses the macro", _visible_macros)
    elif owner := _made_class(known, facts):
        rule = f"names {owner.definition.name}, which it makes or ends"
        yield from _mentions(owner, facts, first, rule, _visible_type)
    elif first and facts.class_of(known):
        yield from _mentions(known, facts, first, _METHOD, _visible_methods)


_Seen = Callable[[Mention, Known, ImpactFacts], Sequence[Known]]
"""Gives the possible meanings of a mention."""


def _mentions(
    known: Known, facts: ImpactFacts, first: bool, rule: str, seen: _Seen
) -> Iterator[Edge]:
    for mention in facts.corpus.mentions(known.definition.name, _where(known.definition, first)):
        caller = mention.caller
        if caller is None or caller.id == known.id or caller.definition == known.definition:
            continue
        meant = seen(mention, known, facts)
        if any(one.id == known.id for one in meant):
            rule_text, sure = _confidence(rule, meant)
            yield Edge(Node.of(caller), rule_text, mention.location, sure, len(meant))


def _confidence(rule: str, meant: Sequence[Known]) -> tuple[str, Confidence]:
    if rule == _METHOD:
        classes = {one.definition.scope for one in meant}
        return f"{rule}; {len(classes)} classes have one", "ambiguous"
    if len(meant) == 1:
        return rule, "exact"
    if len({one.definition.location.path for one in meant}) == 1:
        return f"{rule}, whose definition #if chooses", "by rule"
    return f"{rule}, or another of that name", "ambiguous"


def _visible_macros(mention: Mention, known: Known, facts: ImpactFacts) -> Sequence[Known]:
    call, path = mention.call, mention.location.path
    if call.kind == "member" or call.qualifier:
        return ()
    macros = [k for k in facts.named(call.name) if k.definition.kind == "macro"]
    here = [k for k in macros if k.definition.location.path == path]
    above = [k for k in here if k.definition.location.line <= call.line]
    if above:
        return [max(above, key=lambda k: k.definition.location.line)]
    return here or [k for k in macros if is_header(k.definition.location.path)]


def _visible_methods(mention: Mention, known: Known, facts: ImpactFacts) -> Sequence[Known]:
    """The methods of a name, if no edge says which is called there."""
    call, caller = mention.call, mention.caller
    assert caller
    if call.kind != "member" or not linkable(known, mention.location.path):
        return ()
    edges = (e for e in facts.edges(caller.id) if e.line == call.line)
    if any(edge.symbol == call.name for edge in edges):
        return ()
    named = [k for k in facts.named(call.name) if k.definition.kind == known.definition.kind]
    return [k for k in named if facts.class_of(k)]


def _visible_type(mention: Mention, known: Known, facts: ImpactFacts) -> Sequence[Known]:
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
    """Whether ``using namespace`` makes the name visible as written."""
    assert mention.caller
    call, scope = mention.call, plain_scope(mention.caller.definition.scope)
    inside = f"::{call.qualifier}" if call.qualifier else ""
    wanted = plain_scope(known.definition.scope)
    used = facts.used_namespaces(mention.location.path, scope)
    return any(wanted == f"{one}{inside}" for one in used)


def _made_class(known: Known, facts: ImpactFacts) -> Known | None:
    found = known.definition
    owner = plain_scope(found.scope).rpartition("::")[2]
    if found.name.lstrip("~") != owner:
        return None
    classes = (one for one in facts.named(owner) if one.definition.kind == "class")
    return next((one for one in classes if one.definition.qualified == found.scope), None)


def _where(found: Definition, first: bool) -> Callable[[str], bool]:
    """The files in which a use can be; after the first step, those with bodies in the index."""
    local = "(anonymous)" in found.scope or found.kind == "macro"
    if local and not is_header(found.location.path):
        return lambda path: path == found.location.path
    return (lambda path: True) if first else keeps_bodies


GENERATORS = ("torchgen/", "tools/autograd/", "tools/codegen/", "tools/pyi/")
_TEMPLATES = "/templates/"
_SHOWN = 3
_Registered = Callable[[], Mapping[str, set[str]]]


class GeneratedCallers:
    """What generated code calls, in one tree."""

    def __init__(self, corpus: Corpus, registered: _Registered) -> None:
        """``registered``: the operators for which each generator registers kernels."""
        self._corpus = corpus
        self._registered = registered
        self._strings = lru_cache(64)(self._strings_of)

    def of(self, known: Known) -> Iterator[Edge]:
        """A step for each generator that writes a call of a function."""
        found = known.definition
        local = "(anonymous)" in found.scope and not is_header(found.location.path)
        if local or found.kind != "function" or not found.name.isidentifier():
            return
        for path in self._files(found.name):
            if line := self._line(path, found.name):
                at = Location(path, line)
                node = Node("generated", f"{path}:{found.name}", path, at)
                rule = "the code that it generates calls it"
                yield Edge(node, rule, at, "by rule")

    def _files(self, name: str) -> list[str]:
        yes = [*self._corpus.files_with(name, "python", lambda p: p.startswith(GENERATORS))]
        return [*yes, *self._corpus.files_with(name, "cpp", lambda p: _TEMPLATES in f"/{p}")]

    def _line(self, path: str, name: str) -> int:
        called = re.compile(rf"(?<![\w.]){re.escape(name)}\s*(?:<[^;(){{}}]*>)?\(")
        for text, line in self._strings(path):
            if match := called.search(text):
                return line + text.count("\n", 0, match.start())
        return 0

    def _strings_of(self, path: str) -> list[tuple[str, int]]:
        """The strings of a generator that can be output, with lines: without docstrings; all of a
        template."""
        data = self._corpus.text(path)
        if not path.endswith(".py"):
            return [(decode(data), 1)]
        try:
            nodes = list(ast.walk(parse(data)))
        except (SyntaxError, ValueError, RecursionError):
            return []
        docstrings = {id(n.value) for n in nodes if isinstance(n, ast.Expr)}
        texts = (n for n in nodes if isinstance(n, ast.Constant) and id(n) not in docstrings)
        return [(n.value, n.lineno) for n in texts if isinstance(n.value, str)]

    def folded(self, path: str) -> Folded | None:
        """The number of operators with kernels by a generator."""
        last = path.rpartition("/")[2]
        found = {k: ops for k, ops in self._registered().items() if last in k}
        if not found:
            return None
        files = [origin.partition(", by ")[0].rpartition(" ")[2] for origin in found]
        named = ", ".join(files[:_SHOWN]) + " ..." * (len(files) > _SHOWN)
        what = f"operators at most whose generated kernels call it ({named})"
        how = "torchnav table OPERATOR says which kernels are generated"
        return Folded(what, len(set().union(*found.values())), how)
