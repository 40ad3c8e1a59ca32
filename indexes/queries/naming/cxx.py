"""C++ names: functions, classes, macros and stubs, by name with the end of their scope; and device
kernels by the names that profilers print, with template arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from indexes.linking.device_names.demangle import is_mangled, readable
from indexes.linking.device_names.libraries import RUNTIME
from indexes.linking.visible import library_named, plain_scope
from indexes.model.answers import Hit, Member, NameMatch
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition, Location
from indexes.queries.cut_names import beginning_so
from indexes.queries.graph_places import callers_outside
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.cxx_scopes import CORE, find_alias, find_declared, find_namespace
from indexes.queries.naming.errors import hits_reaching
from indexes.queries.naming.query import NameQuery, match_of
from indexes.queries.naming.texts import code_lines
from indexes.readers.cxx.facts import read_cpp
from indexes.store.registrations import bound_functions
from indexes.store.scopes import ScopeFacts
from indexes.store.tables import FIELD

_TENSOR_IMPL = "c10::TensorImpl"


def find(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The definitions of a symbol whose scope ends as written."""
    for symbol in query.symbols:
        fitting = _best_fitting(_fitting(symbol, index), symbol, query.raw)
        bound = list(_bound(symbol, index))
        if fitting or bound:
            several = len({_outer(one) for one in fitting}) > 1
            return NameMatch(
                "symbol",
                symbol,
                hits=(*map(definition_hit, fitting), *bound),
                confidence="ambiguous" if several else "exact",
            )
    otherwise = (way(one, index) for one in query.symbols for way in _OTHERWISE)
    return next(filter(None, otherwise), None)


def _best_fitting(found: list[Definition], symbol: str, name: str) -> list[Definition]:
    """Definitions sorted by how many written parameters and template arguments match:
    ``torch::jit::load(std::string const&, c10::Device)``."""
    words = {one for one in _TYPE.findall(readable(name).text) if not one.islower()}
    words.difference_update(symbol.split("::"))
    if not words or len(found) < 2:
        return found
    return sorted(found, key=lambda one: -len(words.intersection(_TYPE.findall(one.parameters))))


_TYPE = regex(r"\w+\b(?!::)")


def _fitting(symbol: str, index: IndexedTree) -> list[Definition]:
    """The definitions of a symbol: a class first, in every build before in some, then its
    constructors."""
    named = (known.definition for known in index.facts.named(symbol.rpartition("::")[2]))
    fitting = [one for one in named if _ends_with(one, symbol)]
    return sorted(
        fitting,
        key=lambda one: (
            bool(one.guard) if one.kind == "class" else 2 * (_outer(one) != one.qualified)
        ),
    )


def find_core_class(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A class of PyTorch's core libraries: ``Dispatcher``."""
    found = [one for one in _fitting(query.base, index) if _is_core(one)]
    return match_of("symbol", query.base, map(definition_hit, found), sure="exact")


def _is_core(definition: Definition) -> bool:
    return definition.kind in ("class", "enum") and definition.scope in CORE


def _renamed(symbol: str, index: IndexedTree, depth: int = 3) -> NameMatch | None:
    """A symbol through a using-declaration, or in a namespace that another one includes:
    ``torch::TensorOptions`` is c10's."""
    scope, _, name = symbol.rpartition("::")
    sql = (
        "SELECT a.name,a.target,min(f.path),a.line FROM aliases a JOIN files f ON f.id=a.file"
        " WHERE a.name IN (?,'') AND a.scope=? AND a.inside=0 GROUP BY 1,2 ORDER BY a.name='',3"
    )
    for alias, target, path, line in index.facts.store.query(sql, (name, scope)) if scope else ():
        other = plain_scope(target.partition("<")[0].lstrip(":"))
        meant = other if alias else f"{other}::{name}"
        hits = _meant(meant, index) if meant != symbol else ()
        is_other = depth and not hits and meant != symbol
        further = _renamed(meant, index, depth - 1) if is_other else None
        if hits or further:
            note = f"{symbol} is {meant}: {path}:{line}"
            hits = hits or (further.hits if further else ())
            return NameMatch("symbol", symbol, hits=hits, note=note, confidence="by rule")
    is_class = scope.rpartition("::")[2][:1].isupper()
    owner = _renamed(scope, index, depth - 1) if depth and is_class else None
    hits = _meant(f"{owner.hits[0].name}::{name}", index) if owner else ()
    return match_of("symbol", symbol, hits, owner.note if owner else "", "by rule")


def _meant(symbol: str, index: IndexedTree) -> tuple[Hit, ...]:
    declared = None if (found := _fitting(symbol, index)) else find_declared(symbol, index)
    return declared.hits if declared else tuple(map(definition_hit, found))


def _made(symbol: str, index: IndexedTree) -> NameMatch | None:
    """The use of a macro that defines a class named by its argument: ``TORCH_MODULE(Linear)``."""
    scope, _, name = symbol.rpartition("::")
    sql = (
        "SELECT f.path,u.name,u.scope,u.line,u.arguments FROM uses u JOIN files f ON f.id=u.file"
        " WHERE u.arguments=? OR substr(u.arguments,1,?)=? ORDER BY f.path,u.line"
    )
    begin = f"{name},"
    used = index.facts.store.query(sql, (name, len(begin), begin)) if name.isidentifier() else ()
    hits = tuple(
        Hit("class", f"{inside}::{name}", Location(path, line), f"made by {macro}({arguments})")
        for path, macro, inside, line, arguments in used
        if f"::{inside}".endswith(f"::{scope}" if scope else "") and _makes_class(macro, index)
    )
    note = "a macro makes the class of its argument"
    return match_of("symbol", symbol, hits, note, "by rule")


def _makes_class(macro: str, index: IndexedTree, depth: int = 3) -> bool:
    """Whether a macro, possibly through another, defines a class named by its first argument."""
    sql = "SELECT parameters,body FROM macros WHERE name=?"
    for parameters, body in index.facts.store.query(sql, (macro,)):
        first = (parameters or "").split(FIELD)[0]
        if first and re.search(rf"\b(?:class|struct)\s+{re.escape(first)}\b", body):
            return True
        passed = re.findall(rf"\b(\w+)\(\s*{re.escape(first)}\b", body) if first and depth else ()
        if any(_makes_class(one, index, depth - 1) for one in passed if one != macro):
            return True
    return False


def find_cut(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The kernels, or else functions, of a truncated name: ``void at::native::(anonymous
    namespace)::conv_depthwi...``."""
    found = () if "<" in query.raw else beginning_so(query.raw, index.facts)
    best = [one for one in found if one.cuda_global] or found
    note = f"names that begin as the cut one does: {len(best)}"
    hits = map(definition_hit, best[:_BEGIN_SO])
    return match_of("symbol", query.raw.strip(" .…"), hits, note, "by rule")


_BEGIN_SO = 12


def find_first(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The symbol as pasted; other readings come after operators."""
    return find(replace(query, symbols=query.symbols[:1]), index)


def _inherited(symbol: str, index: IndexedTree) -> NameMatch | None:
    """A method inherited from a base class: ``TensorIterator::build``."""
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
    """The functions that pybind11 binds under a name, and those compiled by ``load_inline``."""
    if not name.isidentifier():
        return
    for place, function in bound_functions(index.facts, name):
        yield Hit("binding", name, place, f"pybind11 binds {function} by this name")
    for path, fact in index.facts.python.by_target(f"inline:{name}"):
        place = Location(path, fact.line, fact.end_line)
        yield Hit("function", name, place, "C++ in a text that load_inline compiles")


def definition_hit(definition: Definition) -> Hit:
    """A definition as a search result."""
    kind = "__global__" if definition.cuda_global else definition.kind
    return Hit(kind, definition.qualified, definition.location, definition.parameters)


def namesakes(name: str, index: IndexedTree, most: int = 5) -> tuple[Hit, ...]:
    """Definitions of a name in any scope, one for each."""
    named: dict[str, Definition] = {}
    for known in index.facts.named(name) if name.isidentifier() else ():
        named.setdefault(known.definition.qualified, known.definition)
    return tuple(map(definition_hit, list(named.values())[:most]))


def _outer(definition: Definition) -> str:
    """The name of a definition; for a constructor, of its class."""
    scope, _, name = definition.qualified.rpartition("::")
    return scope if scope.rpartition("::")[2] == name else definition.qualified


def _ends_with(definition: Definition, symbol: str) -> bool:
    """Whether a definition's scope ends as written, apart from inline and anonymous namespaces."""
    scope, _, name = symbol.replace("(anonymous namespace)", "(anonymous)").rpartition("::")
    wanted = f"::{plain_scope(scope)}" if plain_scope(scope) else ""
    return name == definition.name and f"::{plain_scope(definition.scope)}".endswith(wanted)


def find_member(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A data member of ``TensorImpl``, with its accessors."""
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


def _defined(symbol: str, data: bytes, path: str) -> Iterator[Hit]:
    """The definitions of a symbol in a file."""
    scope, _, name = symbol.rpartition("::")
    for one in read_cpp(data, path)[0].definitions:
        if (one.name, plain_scope(one.scope)) == (name, scope):
            yield Hit(one.kind, symbol, Location(path, one.line, one.end_line), one.parameters)


def _of_template(symbol: str, index: IndexedTree) -> NameMatch | None:
    """A definition in a header that torchgen generates from a template: ``torch::from_blob``."""
    name = symbol.rpartition("::")[2].encode()
    headers = ((path, index.source.read(path)) for path in index.facts.paths("other", "%.h"))
    hits = (hit for path, data in headers if name in data for hit in _defined(symbol, data, path))
    return match_of("symbol", symbol, hits, sure="exact")


_OTHERWISE = (_made, _of_template, find_namespace, _renamed, find_alias, _inherited, find_declared)
"""Further readings of a symbol without a definition."""


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
    """A library function that the tree calls but does not define: ``cudaMemcpyAsync``."""
    name = query.base
    called = callers_outside(index.facts, name) if name.isidentifier() else []
    if not called:
        return None
    hits = tuple(Hit("caller", k.definition.qualified, place, "calls it") for k, place in called)
    count = f"{len(hits):,} places" if len(hits) > 1 else "one place"
    note = f"no definition of it is indexed; it is called in {count}: torchnav uses {name}"
    return NameMatch("symbol", name, hits=hits[:_CALLERS], note=note)


_CALLERS = 5
"""Most callers listed."""

# --------------------------------------------------------------------- device kernels


def with_source(found: NameMatch, query: NameQuery, index: IndexedTree) -> NameMatch:
    """A ``__global__`` function, preceded by the functor or lambda that this name runs, with the
    operators that reach it. Host functions of the name come last, and only if not spelled as a
    kernel."""
    kernels = [hit for hit in found.hits if hit.kind == "__global__"]
    others = [hit for hit in found.hits if hit.kind != "__global__"]
    if not kernels:
        return found
    name = query.raw.strip()
    answer = index.kernel_name(name) if "<" in name or is_mangled(name) else None
    if answer is None or answer.source is None:
        places = {hit.location: None for hit in kernels}
        reached = hits_reaching(index, *places) if len(places) == 1 else []
        return replace(found, hits=(*kernels, *reached, *others))
    source = answer.source
    own = [hit for hit in kernels if hit.location != source.location]
    hits = (definition_hit(source), *own, *_running(source, index))
    return replace(found, hits=hits, note=answer.rule, confidence=answer.confidence)


def _running(source: Definition, index: IndexedTree) -> list[Hit]:
    """The operators that run what a kernel's name means: a function, or the methods of a functor,
    its own or those that it inherits."""
    inside = source.location
    methods = ScopeFacts(index.facts.store).methods_in(source) if source.kind == "class" else ()
    places = [one.definition.location for one in methods]
    own = [place for place in places if inside.covers(place.line)]
    return next(filter(None, (hits_reaching(index, place) for place in (*own, inside))), [])


def of_library(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A name that the tree does not define but that is spelled like a library's kernel."""
    answer = index.kernel_name(query.raw.strip(" .…\n"))
    if answer.source or answer.launcher or not answer.library:
        return None
    note = f"a device kernel of {answer.library}: {answer.rule}; {answer.reason}"
    if answer.library == RUNTIME:
        note = f"{answer.rule}: {answer.reason}"
    return NameMatch("symbol", query.raw.strip(), note=note, confidence=answer.confidence)


def of_vendor(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """A vendor library's function: ``cudaLaunchKernel``, which no line of the tree calls, or
    ``cublasSgemm_v2``, which cuBLAS's header calls ``cublasSgemm``."""
    name, runtime = query.base, _RUNTIMES.match(query.base)
    spelled = _OF_API.fullmatch(name) if query.kind == "bare" else None
    owner = (runtime and _OWNERS[runtime[1]]) or (spelled and library_named(name))
    if not owner or not spelled:
        return None
    note = f"a function of {owner}, not of PyTorch"
    if spelled[1] != name and (called := find_called(replace(query, base=spelled[1]), index)):
        return replace(called, note=f"{note}; {called.note}", confidence="by rule")
    lines = code_lines(index.facts.paths("cpp"), rf"\b{name}\s*\(", [name], index)
    if calls := tuple(Hit("caller", name, place, line) for place, _, line in lines):
        return NameMatch("symbol", name, hits=calls[:_CALLERS], note=note)
    note += "; no line of this source calls it"
    if "LaunchKernel" in name:
        note += " by name: KERNEL<<<...>>>(...) is compiled to such a call"
    return NameMatch("symbol", name, note=note, confidence="by rule")


_OF_API = regex(r"([a-z]+[A-Z][A-Za-z0-9]*?)(?:_v\d+|_64|_ptsz)*")
"""Vendors' spellings of host functions, with version suffixes; kernels have more parts."""
_OWNERS = {
    "cuda": "CUDA's runtime",
    "cu": "CUDA's driver",
    "hip": "HIP's runtime",
    "curand": "cuRAND",
}
_RUNTIMES = regex(r"(cuda|curand|cu|hip)[A-Z][a-z]\w+\Z")
"""Spellings of runtime functions, which compute nothing for an operator."""
