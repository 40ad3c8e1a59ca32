"""Resolves what each function calls, launches, runs through a stub, dispatches to and passes on:
the edges of the graph. A file's edges are resolved once, when it is linked."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial

from indexes.linking.arguments import able, chosen, fitting, mark_of_result, operator_base
from indexes.linking.facts import Call, Edge, EdgeKind, Known
from indexes.linking.functors import FunctionsRun, named_in, of_functors
from indexes.linking.kernels import are_twins
from indexes.linking.members import RUNS, Meaning, Members, each, edge_to
from indexes.linking.scopes import ResolverFacts, Scopes, enclosing
from indexes.linking.shaders import Shader, Shaders
from indexes.linking.visible import (
    APPLE,
    is_header,
    is_plain,
    library_of,
    nearest_macro,
    plain_scope,
    stub_name,
    stub_scope,
    vendored,
    visible_stub,
)
from indexes.model.idioms import LOOPS
from indexes.model.vocabulary import Confidence, NativeFunction
from indexes.readers.cxx.bodies import SCHEMA
from indexes.readers.cxx.facts import holds_operators
from indexes.readers.cxx.marks import ITERATOR, SWITCHED
from indexes.readers.cxx.shaders import SHADER
from indexes.readers.cxx.sites import CALLED, LOOP

_NESTED = 4
"""Depth of macros in macros that is followed."""


class EdgeResolver:
    """Resolves the calls of functions, with caches for the file at hand."""

    def __init__(self, facts: ResolverFacts) -> None:
        self.facts = facts
        self._scopes = Scopes(facts)
        self._returned = lru_cache(4096)(partial(mark_of_result, facts))
        self._functions_run = FunctionsRun(facts, self._scopes)
        self._members = Members(facts, self._returned)
        self._shaders = Shaders(facts, self._functions_run)
        self._sites = lru_cache(1024)(facts.sites)
        self._path = ""
        self._macros: Mapping[str, Sequence[Known]] = {}
        """Those that the file at hand defines."""
        self._meanings: dict[tuple[object, ...], list[Meaning]] = {}
        """What calls in the file at hand mean, and those in macros that it uses."""

    def edges(self, caller: Known, calls: Sequence[Call]) -> list[Edge]:
        """The edges of a body, in source order."""
        first = caller.definition.location.line
        found = (
            one.at(caller.id, call.line or first, call.branch)
            for call in calls
            for one in self._known(call, caller)
        )
        edges = list(dict.fromkeys(found))
        return self._through_pointers(edges) if any(map(_is_launch, edges)) else edges

    def _known(self, call: Call, caller: Known, macros: tuple[Known, ...] = ()) -> list[Meaning]:
        """What a call means, inside ``macros`` if any; the same for equal calls in one scope."""
        place = caller.definition
        if place.location.path != self._path:
            self._path = place.location.path
            self._macros = self.facts.macros_in(self._path)
            self._meanings.clear()
        name, qualifier, line, *written, _, _ = call
        several = name in self._macros and len(self._macros[name]) > 1
        of_body = name == place.name or call.kind == SHADER or name == RUNS
        itself = caller.id if of_body else 0
        around = (line if several else 0, place.scope, place.kind, itself)
        key = (name, qualifier, *written, *around, *[one.id for one in macros])
        found = self._meanings.get(key)
        if found is None:
            found = self._meanings[key] = self._edges(call, caller, macros)
        return found

    def _edges(self, call: Call, caller: Known, macros: tuple[Known, ...]) -> list[Meaning]:
        found = []
        for edge in self._meant(call, caller):
            found.append(edge)
            if edge.kind == "macro" and len(macros) < _NESTED:
                found += self._inside(edge, call, caller, macros)
        return found

    def _inside(
        self, edge: Meaning, call: Call, caller: Known, macros: tuple[Known, ...]
    ) -> Iterator[Meaning]:
        """What the body of a macro calls, with names looked up where the macro is used."""
        macro = next(k for k in self.facts.named(call.name) if k.id == edge.target)
        if macro in macros or not holds_operators(macro.definition.location.path):
            return  # what c10's macros do is to check, to warn and to log
        for inner in self._sites(macro):
            plain = "" if inner.receiver == SWITCHED else inner.receiver  # over dtypes, mostly
            inner = inner._replace(line=call.line, receiver=plain)
            found = self._known(inner, caller, (*macros, macro))
            of_c10 = {one.symbol for one in found if self._is_of_c10(one)}
            for one in found:
                if one.symbol not in of_c10:
                    yield one._replace(macro=one.macro or call.name)

    def _is_of_c10(self, edge: Meaning) -> bool:
        """Whether the target is a function of a file without operators."""
        target = edge.target if edge.kind in ("call", "chooser") else ""
        return isinstance(target, int) and not holds_operators(self.facts.path_of(target))

    def _meant(self, call: Call, caller: Known) -> list[Meaning]:
        if call.kind == SCHEMA:
            return [self._by_name(call)]
        if call.kind == SHADER:
            return [_shader_edge(call, one) for one in self._shaders.of(call, caller)]
        is_stub = self.facts.is_stub(call.name)
        if is_stub and (uses := visible_stub(call, caller, self.facts)):
            kind: EdgeKind = "passed stub" if call.kind == "name" else "stub"
            return [edge_to(call, kind, stub_name(stub_scope(uses[0]), call.name))]
        if call.kind == "member":
            return self._members.of(call, caller)
        if call.name in LOOPS or call.kind == LOOP:
            return [edge_to(call, "loop", call.name)]
        if call.kind == "launch":
            return self._launch(call, caller)
        return self._named(call, caller)

    def _by_name(self, call: Call) -> Meaning:
        """An operator that is looked up by name through the dispatcher."""
        name = call.name.removeprefix("aten::") + (f".{call.template}" if call.template else "")
        if self.facts.native(name):
            return edge_to(call, "operator", name)
        return edge_to(call, "unknown", f"no operator {name} is defined in this tree")

    # -------------------------------------------------------------------- functions

    def _named(self, call: Call, caller: Known) -> list[Meaning]:
        """What a free function's name means: a function of the tree, of a library, or an operator's
        C++ function, which torchgen generates."""
        found = self._overloads_for(call, caller)
        edges = self._of_library(call, caller, found)
        if call.template or not found:
            edges += self._functors(call, caller)
        if found and self._is_hidden(call, caller, found):
            found = []
        found = found or self._constructors(call, caller)
        return edges + (self._functions(call, found) if found else self._operators(call, caller))

    def _is_hidden(self, call: Call, caller: Known, found: Sequence[Known]) -> bool:
        """Whether a generated function of ``at`` hides what was found in ``c10``, which ``at`` only
        sees by ``using namespace`` (namespace.qual), or takes a tensor, which templates of ``at``
        would take as any type (over.match.best)."""
        scopes = {plain_scope(k.definition.scope) for k in found}
        added = call.qualifier and scopes == {"c10"}
        beaten = scopes == {"at"} and all(map(_takes_any, found)) and self._is_given_tensor(call)
        is_made = (added or beaten) and self.facts.overloads(operator_base(call))
        return bool(is_made) and self._namespace(call, caller) == "at"

    def _constructors(self, call: Call, caller: Known) -> list[Known]:
        """Constructors of a class of the same file, which may launch: ``Sorter sorter(x)``."""
        path = caller.definition.location.path
        if call.kind != "call" or is_header(path) or not self.facts.classes_named(call.name):
            return []
        inside = call._replace(qualifier=f"{call.qualifier}::{call.name}".removeprefix("::"))
        found = self._overloads_for(inside, caller)
        return [one for one in found if one.definition.location.path == path]

    def _of_library(self, call: Call, caller: Known, found: Sequence[Known]) -> list[Meaning]:
        library = library_of(call) or self._included(call, caller, found)
        if library and self._is_own_class(call):
            library = ""
        if library and (library in APPLE or not is_plain(call) or _are_fallbacks(found)):
            sure: Confidence = "by rule" if library in APPLE else "exact"
            return [edge_to(call, "library", library, sure)]
        if copied := _copied_library(found, caller):
            return [edge_to(call, "library", copied)]
        header = "" if found else self._missing_header(call, caller)
        return [edge_to(call, "library", header, "by rule")] if header else []

    def _missing_header(self, call: Call, caller: Known) -> str:
        """The first included header that the tree lacks, if the call is of a template that the tree
        does not define: it is in a submodule that is not checked out."""
        is_template = call.kind == "call" and call.template and call.name[0].islower()
        if not is_template or call.qualifier or self.facts.named(call.name):
            return ""
        return next(iter(self.facts.headers_missing(caller.definition.location.path)), "")

    def _included(self, call: Call, caller: Known, found: Sequence[Known]) -> str:
        """The library of a function in a namespace that only included library headers define:
        ``fbgemm_gpu::f(x)`` with ``<fbgemm_gpu/torch_ops.h>``. Only calls that take a tensor or its
        data count, since those compute."""
        root = call.qualifier.lstrip(":").partition("::")[0]
        if found or not root or self.facts.is_scope(root):
            return ""
        if not (self._is_given_tensor(call) or _is_given_data(call)):
            return ""
        return root if root in self.facts.folders_included(caller.definition.location.path) else ""

    def _is_own_class(self, call: Call) -> bool:
        """Whether the tree has a class named like a vendor's: ``cublasCommonArgs``."""
        if is_plain(call):
            return self.facts.is_type(call.name)
        scope, named = call.qualifier.lstrip(":"), self.facts.named(call.name)
        return any(k.definition.kind == "class" and k.definition.scope == scope for k in named)

    def _overloads_for(self, call: Call, caller: Known) -> list[Known]:
        """The functions and macros that a call can mean, its own file's if any of them fits."""
        if call.name.startswith("operator") and not call.name.isidentifier():
            return self._signs(call, caller)
        seen = [k for k in self._seen(call, caller) if k.id != caller.id]
        path = caller.definition.location.path
        here = [k for k in seen if k.definition.location.path == path]
        if here and here[0].definition.kind == "macro":
            return nearest_macro(here, call)
        if ITERATOR in call.arguments.split():  # an algorithm of std, unless one takes any type
            return chosen(call, seen, self._returned)
        if len(seen) < 2:  # the types of its arguments tell nothing more
            return chosen(call, seen, self._returned, by_types=False) if seen else []
        for by_types in (True, False):
            for among in (here, seen) if here else (seen,):
                if found := chosen(call, among, self._returned, by_types):
                    return found
        return []

    def _seen(self, call: Call, caller: Known) -> Sequence[Known]:
        """What the name of a call can mean by scopes, else by the types of its arguments."""
        found = self._scopes.candidates(call, caller)
        if found or call.qualifier or call.kind != "call":
            return found
        return self._scopes.of_arguments(call, caller, self._marks(call))

    def _signs(self, call: Call, caller: Known) -> list[Known]:
        """The functions behind ``x * y`` for a tensor, by argument-dependent lookup."""
        if not self._is_given_tensor(call):
            return []
        seen = self._scopes.candidates(call._replace(qualifier="::at"), caller)
        takes = [one for one in seen if "Tensor" in one.definition.parameters]
        return chosen(call, takes, self._returned)

    def _functions(self, call: Call, found: Sequence[Known]) -> list[Meaning]:
        macros = [one.id for one in found if one.definition.kind == "macro"]
        functions = [one.id for one in found if one.definition.kind != "macro"]
        kind: EdgeKind = "passed" if call.kind == "name" else "call"
        if call.receiver == SWITCHED:
            kind = "chooser"
        if self._is_imported_by_using(call, found):
            count = len(functions) + 1
            meant = [edge_to(call, kind, one, "ambiguous", count) for one in functions]
        else:
            meant = each(call, kind, functions, twins=are_twins(found))
        return each(call, "macro", macros) + meant

    def _is_imported_by_using(self, call: Call, found: Sequence[Known]) -> bool:
        """Whether ``using scope::name`` puts the functions beside C's of the same name in the
        global scope, as for complex numbers. The tree does not define C's."""
        if call.qualifier.strip(":") or call.name not in _OF_C:
            return False
        targets = {f"{plain_scope(one.definition.scope)}::{call.name}" for one in found}
        brought = self.facts.using_declarations(call.name)
        return any(not scope and target.lstrip(":") in targets for _, scope, target in brought)

    def _functors(self, call: Call, caller: Known) -> list[Meaning]:
        """The methods run on objects and functions that a call constructs or takes by template."""
        found = []
        for one in named_in(call):
            run = self._functions_run.by(one, caller, call)
            if len(run) > 1 and (one is not call or call.receiver == CALLED):
                # The object, or the template, passes on what it is given.
                run = of_functors(call, able(call, run, self._returned))
            found += [edge_to(call, "functor", method.id, "by rule") for method in run]
            if one is not call:
                path = caller.definition.location.path
                seen = self._scopes.candidates(one, caller)
                here = [k.id for k in seen if k.definition.location.path == path]
                found += each(call, "passed", here, "by rule")
        return found

    def _launch(self, call: Call, caller: Known) -> list[Meaning]:
        found = [] if call.receiver else self._overloads_for(call, caller)
        kernels = [one for one in found if one.definition.cuda_global]
        launched = each(call, "launch", [one.id for one in kernels], twins=are_twins(kernels))
        return launched or [edge_to(call, "unknown", f"{_LAUNCHED} through {call.name}")]

    def _through_pointers(self, edges: list[Edge]) -> list[Edge]:
        """Resolves launches through a pointer to the ``__global__`` functions that are named."""
        passed = [e for e in edges if e.kind in ("passed", "call") and self._is_global(e)]
        if not passed:
            return edges
        found = [e for e in edges if not _is_launch(e) and e not in passed]
        return found + [e._replace(kind="launch", confidence="by rule") for e in passed]

    def _is_global(self, edge: Edge) -> bool:
        known = self.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        return known is not None and known.definition.cuda_global

    # -------------------------------------------------------------------- operators

    def _operators(self, call: Call, caller: Known) -> list[Meaning]:
        """The operators behind functions that torchgen generates: ``at::add``, ``at::cpu::add``,
        ``at::_ops::add``; without a qualifier if an argument is a tensor."""
        overloads = self.facts.overloads(operator_base(call))
        is_shader = caller.definition.location.path.endswith(_SHADERS)
        if not overloads or is_shader or ITERATOR in call.arguments.split():
            return []
        if exact := self._by_struct(call, overloads):
            return [edge_to(call, "operator", exact.full_name)]
        within = self._namespace(call, caller)
        fit = fitting(_without_keys(call), overloads, self._returned)
        found = [one.full_name for one in fit]
        if within == "at":
            kind: EdgeKind = "passed operator" if call.kind == "name" else "operator"
            sure: Confidence = "exact" if call.qualifier else "by rule"
            return each(call, kind, found, sure)
        return each(call, "static dispatch", found) if within else []

    def _by_struct(self, call: Call, overloads: Sequence[NativeFunction]) -> NativeFunction | None:
        """The overload that ``at::_ops::add_Tensor::call`` names."""
        if "_ops" not in call.qualifier.split("::"):
            return None
        named = call.qualifier.rpartition("::")[2]
        spelled = ((f"{o.name}_{o.overload}" if o.overload else o.name, o) for o in overloads)
        return next((one for name, one in spelled if name == named), None)

    def _namespace(self, call: Call, caller: Known) -> str:
        """``at`` for a function that dispatches, ``cpu`` for one that skips it, else empty."""
        definition = caller.definition
        scope, path = plain_scope(definition.scope), definition.location.path
        if call.qualifier == "::":  # a function of C, but for what is declared a tensor
            return "at" if "T" in call.arguments.replace("=", " ").split() else ""
        if not call.qualifier:
            is_near = "at" in enclosing(scope) or self._is_given_tensor(call)
            return "at" if is_near and call.kind != "name" else ""
        levels = self._scopes.named_by(call.qualifier, scope, path)
        if any("at" in level for level in levels):
            return "at"
        outer, _, key = call.qualifier.removeprefix("::").rpartition("::")
        is_near = not call.qualifier.startswith("::") and "at" in enclosing(scope)
        if outer != ("" if is_near and not outer else "at"):
            return ""
        if key in (_REDISPATCH, _SYMINT):
            return "at"
        return key if key in self.facts.key_namespaces else ""

    def _is_given_tensor(self, call: Call) -> bool:
        return any(mark in ("T", "L") for mark in self._marks(call))

    def _marks(self, call: Call) -> list[str]:
        """The marks of the arguments, those of results by what is returned."""
        marks = (mark.rpartition("=")[2] for mark in call.arguments.split())
        return [self._returned(m[1:]) if m[:1] == "." else m for m in marks]


def _is_given_data(call: Call) -> bool:
    """Whether an argument is a pointer to a tensor's data: ``f(x.data_ptr<float>())``."""
    return any(mark.rpartition(".")[2].endswith("data_ptr") for mark in call.arguments.split())


def _takes_any(known: Known) -> bool:
    """Whether a function is a template that names no tensor among its parameters."""
    return known.definition.template and "Tensor" not in known.definition.parameters


def _without_keys(call: Call) -> Call:
    """A call without the key set that each function of ``at::redispatch`` takes first."""
    if not call.qualifier.endswith(_REDISPATCH):
        return call
    return call._replace(arguments=call.arguments.partition(" ")[2])


_REDISPATCH, _SYMINT = "redispatch", "symint"
"""The namespaces in ``at`` in which torchgen declares each operator once more: below a key, and as
a template of the integer's type."""
_OF_C = frozenset(vars(math))
"""The functions of C's math.h, which Python's ``math`` wraps."""
_SHADERS = ".metal"
"""The extension of Metal files, which cannot call ATen."""
_LAUNCHED = "launched with <<<>>>"


def _is_launch(edge: Edge) -> bool:
    """Whether an edge is a launch with an unknown target."""
    return edge.kind == "unknown" and str(edge.target).startswith(_LAUNCHED)


def _shader_edge(call: Call, shader: Shader) -> Meaning:
    """The edge of a string to a Metal kernel. The symbol ends where a type is put in."""
    named = call._replace(name=call.name.partition("{")[0])
    return edge_to(named, "shader", shader.known.id, shader.confidence, shader.candidates)


def _copied_library(found: Sequence[Known], caller: Known) -> str:
    """The library in third_party in which PyTorch's own code finds what it calls."""
    of_copies = [k.definition.location.path.startswith("third_party/") for k in (*found, caller)]
    if not found or not all(of_copies[:-1]) or of_copies[-1]:
        return ""
    return vendored(found[0].definition.location.path) or ""


def _are_fallbacks(found: Sequence[Known]) -> bool:
    """Whether they replace a library's in builds without it: under ``#if``, in no namespace."""
    return all(one.definition.guard and not one.definition.scope for one in found)
