"""Searches operators, symbols, Node classes, stubs and files by part of their name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexes.model.answers import Hit, NameMatch
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.cxx import definition_hit
from indexes.queries.naming.resolve import resolve
from indexes.queries.naming.spelling import parse_name
from indexes.queries.search import Wanted
from indexes.store.lookup import Lookup
from indexes.store.names import Names
from indexes.store.notes import StoredNotes

_KIND_RANK = {"operator": 0, "grad_fn": 1, "stub": 2, "impl_func": 3, "function": 3, "class": 4}
_OTHERS = 5
_DEFINITIONS = 400
"""Most definitions examined, by place."""


KINDS = (
    "operator grad_fn stub function class method member module attribute macro impl_func meta_func"
    " macro_use enum namespace global __global__ variable read write text error warning key note"
    " file"
).split()
"""The kinds of hits."""


def find(
    text: str,
    index: IndexedTree,
    limit: int,
    kinds: Sequence[str] = (),
    match: NameMatch | None = None,
) -> tuple[Hit, ...]:
    """The meaning of a text, then operators, Node classes, symbols, stubs and files whose name
    contains it, best first; for words of a message the lines with it. Only of ``kinds`` if given.
    ``match``: the meaning, if known."""
    word = text.strip()
    if not word or limit < 1:
        return ()
    match = match or resolve(word, index)
    hits = [*_meant(match, index.facts)]
    if match.kind == "error":
        hits[:0] = _notes(word, index.facts, limit)
    else:
        hits += _holding(word, index.facts, limit, kinds)
    wanted = (hit for hit in hits if not kinds or hit.kind in kinds)
    return tuple(dict.fromkeys(wanted))[:limit]


def _meant(match: NameMatch, facts: Lookup) -> Iterator[Hit]:
    """The hits of a meaning. Stubs, which have a hit per line, are found once by name."""
    if match.kind != "stub":
        yield from match.hits
        yield from (_operator(name, facts) for name in match.overloads if facts.native(name))


def _holding(word: str, facts: Lookup, limit: int, kinds: Sequence[str]) -> list[Hit]:
    wanted = Wanted(_searched(word))
    found = sorted(_named(word, facts, limit), key=lambda one: _score(wanted, *one))
    most = _DEFINITIONS if "::" in word else limit  # of a qualified name some do not match
    hits = (hit for _, hit in (found if kinds else found[:most]))
    return [hit for hit in hits if _fits(hit, word)]


def _fits(hit: Hit, word: str) -> bool:
    """Whether a hit has the written scope."""
    scope = word.partition("(")[0].rpartition("::")[0].replace("(anonymous namespace)", "")
    if not scope or hit.kind in ("stub", "file"):
        return True
    if hit.kind == "operator":
        return scope == "aten"
    return f"{scope.strip(':')}::".lower() in hit.name.replace("(anonymous)::", "").lower()


def _searched(word: str) -> str:
    """The name to search in a typed or pasted text."""
    if (query := parse_name(word)).kind in ("stub", "grad_fn"):
        return query.base
    return word.rpartition("::")[2].partition("(")[0].strip() or word


def _score(wanted: Wanted, name: str, hit: Hit) -> tuple[int, int, int, int]:
    """Sort key: how a name matches, its kind, then what distinguishes names of one kind."""
    # Without a rank the word stands in what is before the name.
    fit, first, second = wanted.rank(name) or (9, 0, len(name))
    return fit, _KIND_RANK.get(hit.kind, _OTHERS), first, second


def _named(word: str, facts: Lookup, limit: int) -> Iterator[tuple[str, Hit]]:
    """What has a word in its name, with the part of the name that is compared."""
    simple, names = _searched(word), Names(facts.store)
    for name in names.operators(simple, 200):
        yield name, _operator(name, facts)
    for name, op, entry in names.nodes(simple, 50):
        where = facts.entry(entry).location
        yield name, Hit("grad_fn", name, Location(where.path, where.line), f"of {op}", op)
    is_short = len(simple) < 3  # many names have a letter or two, fewer begin so
    found = names.defined_beginning(simple, limit) if is_short else names.defined(simple, limit * 2)
    for known in facts.definitions_named(found, _DEFINITIONS):
        yield known.definition.name, definition_hit(known.definition)
    for name, where, detail in names.stubs(simple, 100):
        yield name, Hit("stub", name, where, detail)
    for path in names.files(word, limit):
        yield path, Hit("file", path, Location(path, 0))
    for (kind, name), where in _variables(word, names, limit).items():
        yield name.rpartition(".")[2], Hit("variable", name, where, kind)
    yield from ((hit.name, hit) for hit in _notes(word, facts, limit))
    for name, where in names.test_classes(simple, limit):
        yield name, Hit("class", name, where, "tests")


def _notes(word: str, facts: Lookup, limit: int) -> list[Hit]:
    found = StoredNotes(facts.store).holding(word, limit)
    return [Hit("note", one.title, one.location) for one in found]


def _variables(word: str, names: Names, limit: int) -> dict[tuple[str, str], Location]:
    """Environment variables, flags and configuration entries, with the first place of each."""
    places: dict[tuple[str, str], Location] = {}
    for kind, name, where in names.variables(word, limit):
        places.setdefault((kind, name), where)
    return places


def _operator(name: str, facts: Lookup) -> Hit:
    native = facts.native(name)
    assert native is not None
    where = Location(native.location.path, native.location.line)
    return Hit("operator", name, where, native.schema, name)
