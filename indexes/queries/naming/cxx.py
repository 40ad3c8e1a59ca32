"""C++ names: functions, classes, macros, stubs, each by its name with the end of its scope.

Of device kernels also the names that profilers print, where what a launcher runs stands in its
template arguments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from indexes.linking.visible import plain_scope
from indexes.model.answers import Hit, Member, NameMatch
from indexes.model.vocabulary import Definition, Location
from indexes.queries.graph_places import callers_outside
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.errors import hits_reaching
from indexes.queries.naming.query import NameQuery
from indexes.store.registrations import StoredPython, bound_functions
from indexes.store.scopes import ScopeFacts

_TENSOR_IMPL = "c10::TensorImpl"


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The definitions of a symbol whose scope ends as it was written."""
    for symbol in query.symbols:
        named = index.facts.named(symbol.rpartition("::")[2])
        fitting = [k.definition for k in named if _ends_with(k.definition, symbol)]
        bound = list(_bound(symbol, index))
        if fitting or bound:
            several = len({_outer(one) for one in fitting}) > 1
            return NameMatch(
                "symbol",
                symbol,
                hits=(*map(definition_hit, fitting), *bound),
                confidence="ambiguous" if several else "exact",
            )
    return next(filter(None, (_inherited(one, index) for one in query.symbols)), None)


def find_first(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The symbol as it was pasted; looser readings come after operators."""
    return find(replace(query, symbols=query.symbols[:1]), index)


def _inherited(symbol: str, index: IndexedTree) -> NameMatch | None:
    """A method that a class has from one that it derives from: ``TensorIterator::build``."""
    owner, _, method = symbol.rpartition("::")
    named = index.facts.named(method) if owner else ()
    if not named:
        return None
    classes = ScopeFacts(index.facts.store)
    for one in classes.classes_named(owner.rpartition("::")[2]):
        bases = classes.all_bases(one) if f"::{one}".endswith(f"::{owner}") else ()
        for base in bases:
            found = [k.definition for k in named if plain_scope(k.definition.scope) == base]
            if found:
                note = f"{one} derives from {base}, which defines it"
                hits = tuple(map(definition_hit, found))
                return NameMatch("symbol", symbol, hits=hits, note=note, confidence="by rule")
    return None


def _bound(name: str, index: IndexedTree) -> Iterator[Hit]:
    """The functions that modules of pybind11 give Python under a name, and those in texts that
    ``load_inline`` compiles."""
    if not name.isidentifier():
        return
    for place, function in bound_functions(index.facts, name):
        yield Hit("binding", name, place, f"pybind11 binds {function} by this name")
    for path, fact in StoredPython(index.facts.store).by_target(f"inline:{name}"):
        place = Location(path, fact.line, fact.end_line)
        yield Hit("function", name, place, "C++ in a text that load_inline compiles")


def definition_hit(definition: Definition) -> Hit:
    """A definition as a search result."""
    kind = "__global__" if definition.cuda_global else definition.kind
    return Hit(kind, definition.qualified, definition.location, definition.parameters)


def namesakes(name: str, index: IndexedTree, most: int = 5) -> tuple[Hit, ...]:
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


def find_member(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A data member of ``TensorImpl``, and what reads or sets it."""
    for symbol in query.symbols:
        owner, _, name = symbol.rpartition("::")
        if name.endswith("_") and f"::{_TENSOR_IMPL}".endswith(f"::{owner}" if owner else ""):
            found = (one for one in index.tensorimpl() if one.name == name)
            if member := next(found, None):
                own = f"{_TENSOR_IMPL}::{name}"
                hits = Hit("member", own, member.location, member.type), *_accessors(member)
                return NameMatch("symbol", own, hits=hits)
    return None


def _accessors(member: Member) -> Iterator[Hit]:
    for name, place in zip(member.accessor_names, member.accessors, strict=True):
        yield Hit("function", f"{_TENSOR_IMPL}::{name}", place, f"reads or sets {member.name}")


def find_stub(query: NameQuery, index: IndexedTree) -> NameMatch | None:
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


def find_called(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A function of a library that the tree calls and does not define: ``cudaMemcpyAsync``."""
    name = query.base
    called = callers_outside(index.facts, name) if name.isidentifier() else []
    if not called:
        return None
    hits = tuple(Hit("caller", k.definition.qualified, place, "calls it") for k, place in called)
    count = f"{len(hits):,} places" if len(hits) > 1 else "one place"
    note = f"no definition of it is indexed; it is called in {count}: torchnav uses {name}"
    return NameMatch("symbol", name, hits=hits[:_CALLERS], note=note)


_CALLERS = 5
"""Callers that are told of a function that the tree does not define."""

# --------------------------------------------------------------------- device kernels


def with_source(found: NameMatch, query: NameQuery, index: IndexedTree) -> NameMatch:
    """A ``__global__`` function, behind the functor or lambda that this name of it runs, and the
    operators that reach it. Functions of the host that are called alike stand below the kernel,
    and are left out where only a kernel is spelled so."""
    kernels = [hit for hit in found.hits if hit.kind == "__global__"]
    others = [hit for hit in found.hits if hit.kind != "__global__"]
    if not kernels:
        return found
    answer = index.kernel_name(query.raw.strip()) if "<" in query.raw else None
    if answer is None or answer.source is None:
        places = {hit.location: None for hit in kernels}
        reached = hits_reaching(index, *places) if len(places) == 1 else []
        return replace(found, hits=(*kernels, *reached, *others))
    source = answer.source
    own = [hit for hit in kernels if hit.location != source.location]
    hits = (definition_hit(source), *own, *hits_reaching(index, source.location))
    return replace(found, hits=hits, note=answer.rule, confidence=answer.confidence)


def of_library(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A name that no source of the tree defines, but that is spelled as a library's kernels are."""
    answer = index.kernel_name(query.raw.strip())
    if answer.source or answer.launcher or not answer.library:
        return None
    note = f"a device kernel of {answer.library}: {answer.rule}; {answer.reason}"
    return NameMatch("symbol", query.raw.strip(), note=note, confidence=answer.confidence)
