"""Searches operators, symbols, Node classes, stubs and files by part of their name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter

from indexes.model.answers import Hit, NameMatch
from indexes.model.vocabulary import Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.cxx import definition_hit
from indexes.queries.naming.resolve import resolve
from indexes.queries.naming.spelling import parse_name
from indexes.queries.search import Wanted
from indexes.store.lookup import Lookup
from indexes.store.names import Names

_KIND_RANK = {"operator": 0, "grad_fn": 1, "stub": 2, "impl_func": 3, "function": 3, "class": 4}
_OTHERS = 5
_DEFINITIONS = 400
"""Most definitions examined, by place."""

Score = tuple[int, int, int, int]
"""Smaller is better: how a name matches, its kind, then what distinguishes names of one kind."""
Scored = tuple[Score, Callable[[], Hit]]
"""A hit that is computed only if among the best."""


KINDS = (
    "operator grad_fn stub function class method member module attribute macro impl_func meta_func"
    " macro_use enum namespace global __global__ variable read write text error warning key file"
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
    if match.kind != "error":
        hits += _holding(word, index.facts, limit, kinds)
    wanted = (hit for hit in hits if not kinds or hit.kind in kinds)
    return tuple(dict.fromkeys(wanted))[:limit]


def _meant(match: NameMatch, facts: Lookup) -> Iterator[Hit]:
    """The hits of a meaning. Stubs, which have a hit per line, are found once by name."""
    if match.kind != "stub":
        yield from match.hits
        yield from (_operator(name, facts) for name in match.overloads if facts.native(name))


def _holding(word: str, facts: Lookup, limit: int, kinds: Sequence[str]) -> list[Hit]:
    simple = _searched(word)
    wanted = Wanted(simple)
    found = [
        *_operators(wanted, simple, facts),
        *_nodes(wanted, simple, facts),
        *_symbols(wanted, simple, facts, limit),
        *_stubs(wanted, simple, facts),
        *_files(wanted, word, facts, limit),
        *_variables(wanted, word, facts, limit),
        *_tests(wanted, simple, facts, limit),
    ]
    found.sort(key=itemgetter(0))
    hits = (hit() for _, hit in (found if kinds else found[: _most(word, limit)]))
    return [hit for hit in hits if _fits(hit, word)]


def _most(word: str, limit: int) -> int:
    """How many hits are examined: of a qualified name some do not match."""
    return _DEFINITIONS if "::" in word else limit


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


def _score(wanted: Wanted, kind: str, name: str) -> Score:
    # Without a rank the word stands in what is before the name.
    fit, first, second = wanted.rank(name) or (9, 0, len(name))
    return fit, _KIND_RANK.get(kind, _OTHERS), first, second


def _operators(wanted: Wanted, text: str, facts: Lookup) -> Iterator[Scored]:
    for name in Names(facts.store).operators(text, 200):
        yield _score(wanted, "operator", name), partial(_operator, name, facts)


def _operator(name: str, facts: Lookup) -> Hit:
    native = facts.native(name)
    assert native is not None
    where = Location(native.location.path, native.location.line)
    return Hit("operator", name, where, native.schema, name)


def _nodes(wanted: Wanted, text: str, facts: Lookup) -> Iterator[Scored]:
    for name, op, entry in Names(facts.store).nodes(text, 50):
        yield _score(wanted, "grad_fn", name), partial(_node, name, op, entry, facts)


def _node(name: str, op: str, entry: int, facts: Lookup) -> Hit:
    where = facts.entry(entry).location
    return Hit("grad_fn", name, Location(where.path, where.line), f"of {op}", op)


def _symbols(wanted: Wanted, text: str, facts: Lookup, limit: int) -> Iterator[Scored]:
    """Definitions; with a letter or two, only by their beginning."""
    names = Names(facts.store)
    short = len(text) < 3
    found = names.defined_beginning(text, limit) if short else names.defined(text, limit * 2)
    for known in facts.definitions_named(found, _DEFINITIONS):
        hit = definition_hit(known.definition)
        yield _score(wanted, hit.kind, known.definition.name), partial(_same, hit)


def _stubs(wanted: Wanted, text: str, facts: Lookup) -> Iterator[Scored]:
    for name, where, detail in Names(facts.store).stubs(text, 100):
        yield _score(wanted, "stub", name), partial(Hit, "stub", name, where, detail)


def _files(wanted: Wanted, text: str, facts: Lookup, limit: int) -> Iterator[Scored]:
    for path in Names(facts.store).files(text, limit):
        yield _score(wanted, "file", path), partial(Hit, "file", path, Location(path, 0))


def _variables(wanted: Wanted, text: str, facts: Lookup, limit: int) -> Iterator[Scored]:
    """Environment variables, flags and configuration entries, each at its first place."""
    seen = set()
    for kind, name, where in Names(facts.store).variables(text, limit):
        if (kind, name) not in seen:
            seen.add((kind, name))
            score = _score(wanted, "variable", name.rpartition(".")[2])
            yield score, partial(Hit, "variable", name, where, kind)


def _tests(wanted: Wanted, text: str, facts: Lookup, limit: int) -> Iterator[Scored]:
    for name, where in Names(facts.store).test_classes(text, limit):
        yield _score(wanted, "class", name), partial(Hit, "class", name, where, "tests")


def _same(hit: Hit) -> Hit:
    return hit
