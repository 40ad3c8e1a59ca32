"""Public variables: flags, environment variables, configuration entries; and the C++ code behind a
Python flag: ``torch._C._get_cudnn_allow_tf32``, the bound function, the method of ``at::Context``
it calls, and its other callers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from indexes.model.answers import Hit, NameMatch
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.query import NameQuery, match_of
from indexes.queries.naming.texts import code_lines
from indexes.readers.messages import CONFIG, ENVIRONMENT, FLAG
from indexes.store.lookup import Lookup
from indexes.store.names import Names

_ASSIGNED = regex(r"\s*=(?!=)")
_BOUND_NAME = regex(r"torch\._C\.(_\w+)")
_CONTEXT = regex(r"\bglobalContext\(\)\s*\.\s*(\w+)\(")
_PROPERTY = "ContextProp("
_BELOW = 6
"""Lines behind a comparison with a name that may hold the access."""


def context_reads(flags: Iterable[Hit], index: IndexedTree) -> Iterator[Hit]:
    """The methods of ``at::Context`` that get flags, then the lines that call them."""
    names = dict.fromkeys(name for flag in flags for name in _getters(flag, index))
    functions = _bound_to(names, index) if names else ()
    called = (method for one in functions for method in _CONTEXT.findall(_body(one, index)))
    methods = [method for method in dict.fromkeys(called) if not method.startswith("set")]
    for method in methods:
        for known in index.facts.named(method):
            if known.definition.scope.endswith("Context"):
                one = known.definition
                yield Hit("read", one.qualified, one.location, "what C++ asks for the flag")
    if methods:
        yield from _calls(methods, index)


def _getters(flag: Hit, index: IndexedTree) -> list[str]:
    """The names in ``torch._C`` that read and set a flag."""
    lines = index.read(flag.location.path).split("\n")[flag.location.line - 1 :]
    own = flag.location.end_line - flag.location.line
    first, *below = lines[: 1 + max(_BELOW, own)]
    if _PROPERTY in first:
        below = below[:own]
    text = " ".join((first, *takewhile(lambda line: " == " not in line, below)))
    return _BOUND_NAME.findall(text)


def _bound_to(names: Iterable[str], index: IndexedTree) -> Iterator[Definition]:
    """The C functions of some names in method tables."""
    listed = "|".join(names)
    entry = rf'"(?:{listed})",\s*(?:castPyCFunctionWithKeywords\()?(\w+)'
    paths = index.facts.paths("cpp", "torch/csrc/%")
    for _, found, _ in code_lines(paths, entry, ["PyMethodDef"], index):
        yield from (known.definition for known in index.facts.named(found[1]))


def _body(definition: Definition, index: IndexedTree) -> str:
    where = definition.location
    return "\n".join(index.read(where.path).split("\n")[where.line - 1 : where.end_line])


def _calls(methods: Sequence[str], index: IndexedTree) -> Iterator[Hit]:
    """The lines of kernels that call methods; the index lacks calls of such common names."""
    word = rf"(?<=[.>])({'|'.join(methods)})\("
    for place, found, _ in code_lines(index.facts.paths("cpp", "aten/%"), word, methods, index):
        yield Hit("read", f"{found[1]}()", place)


_MOST = 200
_READS = 40
"""Most lines listed."""


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """Where a variable is defined, then where it is read, C++ first for a flag, and where it is
    set."""
    wanted = query.paths or (query.base,)
    named = Names(index.facts.store).variables(query.base, _MOST)
    found = [
        Hit("variable", name, where, kind)
        for kind, name, where in named
        if any(name == one or ("." not in one and name.endswith(f".{one}")) for one in wanted)
    ]
    found += _c10_flags(query.base, index)
    if not found:
        return None
    context = context_reads([hit for hit in found if hit.detail == FLAG], index)
    python = _reads(found, index)
    reads = (hit for hit in python if hit.kind != "write")
    hits = tuple(dict.fromkeys((*found, *context, *reads, *python)))
    several = len({hit.name for hit in found})
    note = f"{several} variables have this name" if several > 1 else ""
    return match_of("variable", found[0].name, hits, note, "ambiguous" if note else "exact")


def environment(facts: Lookup) -> list[str]:
    """The names of all environment variables."""
    return facts.store.column("SELECT DISTINCT text FROM messages WHERE kind=?", (ENVIRONMENT,))


def _c10_flags(name: str, index: IndexedTree) -> Iterator[Hit]:
    """``C10_DEFINE_bool(name, false, "...")``."""
    bare = name.removeprefix("FLAGS_")
    sql = (
        "SELECT f.path,u.line,u.name,u.arguments FROM uses u JOIN files f ON f.id=u.file"
        " WHERE u.name GLOB 'C10_DEFINE_*' AND substr(u.arguments,1,?)=?"
    )
    begin = f"{bare},"
    for path, line, macro, arguments in index.facts.store.query(sql, (len(begin), begin)):
        yield Hit("variable", bare, Location(path, line), f"{macro}({arguments})")


def _reads(found: Iterable[Hit], index: IndexedTree) -> list[Hit]:
    """Lines of Python, and of C++ for definitions there, that name a variable; an environment
    variable's own lines read it."""
    own = {(hit.location.path, hit.location.line) for hit in found}
    hits: list[Hit] = []
    for kind in ("python", "cpp"):
        named = [
            hit for hit in found if hit.detail != ENVIRONMENT and _is_c10(hit) == (kind == "cpp")
        ]
        if named:
            word = "|".join(sorted(set(map(_expression, named))))
            last = {hit.name.rpartition(".")[2] for hit in named}
            for place, one, line in code_lines(index.facts.paths(kind), word, last, index, False):
                is_set = _ASSIGNED.match(one.string, one.end())
                if (place.path, place.line) not in own:
                    own.add((place.path, place.line))
                    hits.append(Hit("write" if is_set else "read", one[0], place, line))
                if len(hits) >= _READS:
                    return hits
    return hits


def _is_c10(hit: Hit) -> bool:
    return hit.detail.startswith("C10_DEFINE_")


def _expression(hit: Hit) -> str:
    """The expression that reads a variable: ``config.debug``, ``cudnn.allow_tf32``."""
    if _is_c10(hit):
        return rf"\bFLAGS_{hit.name}\b"
    owner, _, name = hit.name.rpartition(".")
    last = owner.rpartition(".")[2]
    if hit.detail == CONFIG:
        last = rf"\w*{last}"  # imported as inductor_config
    return rf"\b{last}\.{name}\b"
