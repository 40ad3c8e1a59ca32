"""The edges of the graph: what each function calls, launches, runs through a stub, dispatches to
and passes on, resolved once, when its file is linked."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from typing import NamedTuple, Protocol

from indexes.linking.arguments import able, chosen, fitting, mark_of_result, operator_base
from indexes.linking.classes import Classes, ClassQuestions
from indexes.linking.facts import Call, Edge, EdgeKind, Known, by_hand
from indexes.linking.functors import FunctionsRun, FunctorQuestions, named_in
from indexes.linking.kernels import are_twins
from indexes.linking.scopes import Scopes, enclosing
from indexes.linking.shaders import Shader, ShaderQuestions, Shaders
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
from indexes.readers.cxx.marks import LIST, SWITCHED
from indexes.readers.cxx.shaders import SHADER

_MOST_METHODS = 8
"""Methods of one name that a call can mean, of a class that is written anew for each architecture,
as ``Vectorized`` is; with more, nothing is told by them."""
_NESTED = 4
"""Macros in macros."""


class _Meant(NamedTuple):
    """An edge, but for where it stands."""

    kind: EdgeKind
    symbol: str
    target: int | str
    confidence: Confidence
    candidates: int
    macro: str = ""

    def at(self, caller: int, line: int, branch: int) -> Edge:
        """The edge at a place of a body."""
        kind, symbol, target, confidence, candidates, macro = self
        return Edge(caller, line, kind, symbol, target, confidence, candidates, branch, macro)


class EdgeFacts(ClassQuestions, FunctorQuestions, ShaderQuestions, Protocol):
    """What resolving calls asks."""

    def by_id(self, number: int) -> Known | None:
        """The definition of a number."""

    def folders_included(self, path: str) -> Collection[str]:
        """The first folders of what a file includes with ``<...>``."""

    def macros_in(self, path: str) -> Mapping[str, Sequence[Known]]:
        """The function-like macros that a file defines, by name."""

    def path_of(self, number: int) -> str:
        """The file in which the definition of a number stands."""

    def is_stub(self, name: str) -> bool:
        """Whether a stub bears this name."""

    def sites(self, known: Known) -> Sequence[Call]:
        """The uses of names in a body, place by place."""

    def is_method_name(self, name: str) -> bool:
        """Whether a class of the tree has a method of that name."""

    @property
    def key_namespaces(self) -> Collection[str]:
        """The namespaces in which torchgen makes functions that call the kernel of one key."""


class EdgeResolver:
    """Resolves the calls of functions. Answers are kept while it lives."""

    def __init__(self, facts: EdgeFacts) -> None:
        self.facts = facts
        self._scopes = Scopes(facts)
        self._returned = lru_cache(4096)(partial(mark_of_result, facts))
        self._functions_run = FunctionsRun(facts, self._scopes)
        self._classes = Classes(facts)
        self._shaders = Shaders(facts, self._functions_run)
        self._sites = lru_cache(1024)(facts.sites)
        self._path = ""
        self._macros: Mapping[str, Sequence[Known]] = {}
        """Those that the file at hand defines."""
        self._meanings: dict[tuple[object, ...], list[_Meant]] = {}
        """What calls in the file at hand mean, and those in macros that it uses."""
        self._methods_meant: dict[tuple[object, ...], list[_Meant]] = {}
        """What calls of methods mean, in all files."""

    def edges(self, caller: Known, calls: Sequence[Call]) -> list[Edge]:
        """What a body leads to, in order."""
        first = caller.definition.location.line
        found = (
            one.at(caller.id, call.line or first, call.branch)
            for call in calls
            for one in self._known(call, caller)
        )
        edges = list(dict.fromkeys(found))
        return self._through_pointers(edges) if any(map(_is_launch, edges)) else edges

    def _known(self, call: Call, caller: Known, macros: tuple[Known, ...] = ()) -> list[_Meant]:
        """What a call, in macros where there are any, means: the same for equal calls in one scope
        of one file."""
        place = caller.definition
        if place.location.path != self._path:
            self._path = place.location.path
            self._macros = self.facts.macros_in(self._path)
            self._meanings.clear()
        name, qualifier, line, *written, _ = call
        several = name in self._macros and len(self._macros[name]) > 1
        of_body = name == place.name or call.kind == SHADER or name == _RUNS
        itself = caller.id if of_body else 0
        around = (line if several else 0, place.scope, place.kind, itself)
        key = (name, qualifier, *written, *around, *[one.id for one in macros])
        found = self._meanings.get(key)
        if found is None:
            found = self._meanings[key] = self._edges(call, caller, macros)
        return found

    def _edges(self, call: Call, caller: Known, macros: tuple[Known, ...]) -> list[_Meant]:
        found = []
        for edge in self._meant(call, caller):
            found.append(edge)
            if edge.kind == "macro" and len(macros) < _NESTED:
                found += self._inside(edge, call, caller, macros)
        return found

    def _inside(
        self, edge: _Meant, call: Call, caller: Known, macros: tuple[Known, ...]
    ) -> Iterator[_Meant]:
        """What the body of a macro leads to where it is used: names are looked up there."""
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

    def _is_of_c10(self, edge: _Meant) -> bool:
        """Whether an edge leads to a function of a file that holds no operators."""
        target = edge.target if edge.kind in ("call", "chooser") else ""
        return isinstance(target, int) and not holds_operators(self.facts.path_of(target))

    def _meant(self, call: Call, caller: Known) -> list[_Meant]:
        if call.kind == SCHEMA:
            return [self._by_name(call)]
        if call.kind == SHADER:
            return [_shader_edge(call, one) for one in self._shaders.of(call, caller)]
        is_stub = self.facts.is_stub(call.name)
        if is_stub and (uses := visible_stub(call, caller, self.facts)):
            kind: EdgeKind = "passed stub" if call.kind == "name" else "stub"
            return [_edge(call, kind, stub_name(stub_scope(uses[0]), call.name))]
        if call.kind == "member":
            return self._member(call, caller)
        if call.name in LOOPS:
            return [_edge(call, "loop", call.name)]
        if call.kind == "launch":
            return self._launch(call, caller)
        return self._named(call, caller)

    def _by_name(self, call: Call) -> _Meant:
        """An operator that the dispatcher is asked for by its name."""
        name = call.name.removeprefix("aten::") + (f".{call.template}" if call.template else "")
        if self.facts.native(name):
            return _edge(call, "operator", name)
        return _edge(call, "unknown", f"no operator {name} is defined in this tree")

    # -------------------------------------------------------------------- functions

    def _named(self, call: Call, caller: Known) -> list[_Meant]:
        """What a name, with or without a qualifier, means: a function of the tree, of a library,
        or an operator, whose C++ function torchgen makes."""
        found = self._overloads_for(call, caller)
        edges = self._of_library(call, caller, found)
        if call.template or not found:
            edges += self._functors(call, caller)
        return edges + (self._functions(call, found) if found else self._operators(call, caller))

    def _of_library(self, call: Call, caller: Known, found: Sequence[Known]) -> list[_Meant]:
        """The library that a name is of, unless it is a class of the tree."""
        library = library_of(call) or self._included(call, caller, found)
        if library and self._is_own_class(call):
            library = ""
        if library and (library in APPLE or not is_plain(call) or _are_stand_ins(found)):
            sure: Confidence = "by rule" if library in APPLE else "exact"
            return [_edge(call, "library", library, sure)]
        copied = _copied_library(found, caller)
        return [_edge(call, "library", copied)] if copied else []

    def _included(self, call: Call, caller: Known, found: Sequence[Known]) -> str:
        """The library whose function a namespace that is none of the tree's names, and whose
        headers the file includes: ``fbgemm_gpu::f(x)`` with ``<fbgemm_gpu/torch_ops.h>``. Of
        such, those that are given a tensor, or the data of one, compute."""
        root = call.qualifier.lstrip(":").partition("::")[0]
        if found or not root or self.facts.is_scope(root):
            return ""
        if not (self._is_given_tensor(call) or _is_given_data(call)):
            return ""
        return root if root in self.facts.folders_included(caller.definition.location.path) else ""

    def _is_own_class(self, call: Call) -> bool:
        """Whether the tree has a class with a name like a vendor's, ``cublasCommonArgs``, or one
        that stands in the vendor's namespace."""
        if is_plain(call):
            return self.facts.is_type(call.name)
        scope, named = call.qualifier.lstrip(":"), self.facts.named(call.name)
        return any(k.definition.kind == "class" and k.definition.scope == scope for k in named)

    def _overloads_for(self, call: Call, caller: Known) -> list[Known]:
        """The functions and macros that a call can mean, those of its own file alone where any
        of them fits."""
        if call.name.startswith("operator") and not call.name.isidentifier():
            return self._signs(call, caller)
        seen = [k for k in self._scopes.candidates(call, caller) if k.id != caller.id]
        path = caller.definition.location.path
        here = [k for k in seen if k.definition.location.path == path]
        if here and here[0].definition.kind == "macro":
            return nearest_macro(here, call)
        if len(seen) < 2:  # the types of its arguments tell nothing more
            return chosen(call, seen, self._returned, by_types=False) if seen else []
        for by_types in (True, False):
            for among in (here, seen) if here else (seen,):
                if found := chosen(call, among, self._returned, by_types):
                    return found
        return []

    def _signs(self, call: Call, caller: Known) -> list[Known]:
        """Those of ``x * y`` with a tensor: found in its namespace, whatever stands nearer."""
        if not self._is_given_tensor(call):
            return []
        seen = self._scopes.candidates(call._replace(qualifier="::at"), caller)
        takes = [one for one in seen if "Tensor" in one.definition.parameters]
        return chosen(call, takes, self._returned)

    def _functions(self, call: Call, found: Sequence[Known]) -> list[_Meant]:
        macros = [one.id for one in found if one.definition.kind == "macro"]
        functions = [one.id for one in found if one.definition.kind != "macro"]
        kind: EdgeKind = "passed" if call.kind == "name" else "call"
        if call.receiver == SWITCHED:
            kind = "chooser"
        if self._stands_beside_others(call, found):
            count = len(functions) + 1
            meant = [_edge(call, kind, one, "ambiguous", count) for one in functions]
        else:
            meant = _each(call, kind, functions, twins=are_twins(found))
        return _each(call, "macro", macros) + meant

    def _stands_beside_others(self, call: Call, found: Sequence[Known]) -> bool:
        """Whether functions are seen in the global scope by ``using scope::name``, as those of
        complex numbers: there they stand beside C's of that name, which no tree defines."""
        if call.qualifier.strip(":") or call.name not in _OF_C:
            return False
        targets = {f"{plain_scope(one.definition.scope)}::{call.name}" for one in found}
        brought = self.facts.using_declarations(call.name)
        return any(not scope and target.lstrip(":") in targets for _, scope, target in brought)

    def _functors(self, call: Call, caller: Known) -> list[_Meant]:
        """What runs the objects and functions that a call constructs or is given by template."""
        found = []
        for one in named_in(call):
            run = self._functions_run.by(one, caller, call)
            if one is not call and len(run) > 1:  # the template passes on what it is given
                run = able(call, run, self._returned)
            found += [_edge(call, "functor", method.id, "by rule") for method in run]
            if one is not call:
                path = caller.definition.location.path
                seen = self._scopes.candidates(one, caller)
                here = [k.id for k in seen if k.definition.location.path == path]
                found += _each(call, "passed", here, "by rule")
        return found

    def _launch(self, call: Call, caller: Known) -> list[_Meant]:
        found = [] if call.receiver else self._overloads_for(call, caller)
        kernels = [one for one in found if one.definition.cuda_global]
        launched = _each(call, "launch", [one.id for one in kernels], twins=are_twins(kernels))
        return launched or [_edge(call, "unknown", f"{_LAUNCHED} through {call.name}")]

    def _through_pointers(self, edges: list[Edge]) -> list[Edge]:
        """Launches through a pointer are of the ``__global__`` functions that the body passes on;
        of those that it is given, where it is a parameter."""
        passed = [e for e in edges if e.kind in ("passed", "call") and self._is_global(e)]
        if not passed:
            return edges
        found = [e for e in edges if not _is_launch(e) and e not in passed]
        return found + [e._replace(kind="launch", confidence="by rule") for e in passed]

    def _is_global(self, edge: Edge) -> bool:
        known = self.facts.by_id(edge.target) if isinstance(edge.target, int) else None
        return known is not None and known.definition.cuda_global

    # ---------------------------------------------------------------------- members

    def _member(self, call: Call, caller: Known) -> list[_Meant]:
        """A method of a class of the tree, or of a tensor: then an operator."""
        if call.name in LOOPS and not library_of(call):
            return [_edge(call, "loop", call.name)]
        mark = call.receiver
        if mark[:1] == ".":  # what a call returns, or an object that is made there
            mark = mark[1:] if self.facts.classes_named(mark[1:]) else self._returned(mark[1:])
        if library := library_of(call) or self._front_end(call, mark, caller):
            return [_edge(call, "library", library, "by rule")]
        if mark == "T" or (mark == "?" and self.facts.overloads(operator_base(call))):
            written = self._takes_list(call, caller) if mark == "T" else []
            return written or self._method_operators(call, is_sure=mark == "T")
        if mark.isidentifier() and len(mark) > 1 and self._is_parameter(mark, caller):
            return self._of_file(call, caller)
        return self._of_class(call, caller, mark) if mark == "?" or len(mark) > 1 else []

    def _front_end(self, call: Call, mark: str, caller: Known) -> str:
        """The library whose object runs what it holds: that of the folder, or whose functions the
        body calls to make it; empty for another call."""
        if call.name != _RUNS or mark != "?":
            return ""
        path = caller.definition.location.path
        of_folder = (library for folder, library in _FRONT_ENDS if folder in path)
        called = (library_of(one) for one in self.facts.calls(caller) if one.qualifier)
        held = (one for one in called if any(one == library for _, library in _FRONT_ENDS))
        return next(chain(of_folder, held), "")

    def _is_parameter(self, mark: str, caller: Known) -> bool:
        """Whether a type is one that a template of a source file takes: nothing in the tree bears
        its name."""
        found, path = caller.definition, caller.definition.location.path
        if mark in ("this", "return") or is_header(path):
            return False
        if any(map(self.facts.named, (mark, self.facts.alias_of(mark, path).rpartition("::")[2]))):
            return False
        return found.template or bool(self.facts.classes_named(found.scope.rpartition("::")[2]))

    def _of_file(self, call: Call, caller: Known) -> list[_Meant]:
        """The methods of the classes in a source file: its templates are used there alone."""
        path = caller.definition.location.path
        others = self._classes.others(call, caller)
        here = [one for one in others if one.definition.location.path == path]
        found = chosen(call, here, self._returned) if len(here) == len(others) else []
        return _each(call, "call", [one.id for one in found], "by rule")

    def _of_class(self, call: Call, caller: Known, mark: str) -> list[_Meant]:
        """What a method of an object means: that does not depend on the file."""
        place = caller.definition
        itself = caller.id if call.name == place.name else 0
        is_near = mark == "this" or self.facts.is_standard(mark)
        around = plain_scope(place.scope) if is_near else ""
        key = (call.name, call.qualifier, call.arguments, bool(call.template), mark, itself, around)
        found = self._methods_meant.get(key)
        if found is None:
            read = self._overriders if mark == "?" else partial(self._methods, mark=mark)
            found = self._methods_meant[key] = read(call, caller)
        return found

    def _methods(self, call: Call, caller: Known, mark: str) -> list[_Meant]:
        found = chosen(call, self._classes.methods(call, caller, mark), self._returned)
        if len(found) > _MOST_METHODS:
            reason = f"{len(found)} classes named {mark} have a method of that name"
            return [_edge(call, "unknown", reason)]
        return _each(call, "call", [one.id for one in found], "by rule")

    def _overriders(self, call: Call, caller: Known) -> list[_Meant]:
        """The methods that an object of no known type runs, where one class tells which."""
        if not self.facts.is_method_name(call.name):
            return []
        found = chosen(call, self._classes.others(call, caller), self._returned)
        is_told = self._classes.are_of_one_family(found)
        return _each(call, "call", [one.id for one in found]) if is_told else []

    def _takes_list(self, call: Call, caller: Known) -> list[_Meant]:
        """The methods that are written for tensors and take ``{i, j}`` as an ``initializer_list``:
        C++ prefers them to what such a list would become (over.ics.rank)."""
        if LIST not in call.arguments:
            return []
        written = self._classes.methods(call, caller, "Tensor")
        taking = [one for one in written if "initializer_list" in one.definition.parameters]
        found = chosen(call, taking, self._returned)
        return _each(call, "call", [one.id for one in found], "by rule")

    def _method_operators(self, call: Call, is_sure: bool) -> list[_Meant]:
        overloads = self.facts.overloads(operator_base(call))
        if overloads and not is_sure and self.facts.is_method_name(call.name):
            return [_edge(call, "unknown", _TENSOR_OR_NOT)]
        found = fitting(call, overloads, self._returned)
        names = [one.full_name for one in found]
        if any(map(by_hand, found)):
            return _each(call, "accessor", names, "by rule")
        return _each(call, "operator", names, "exact" if is_sure else "by rule")

    # -------------------------------------------------------------------- operators

    def _operators(self, call: Call, caller: Known) -> list[_Meant]:
        """What torchgen makes functions for: ``at::add``, ``at::cpu::add``, ``at::_ops::add``;
        without a qualifier too, where a tensor among the arguments leads to ``at``."""
        overloads = self.facts.overloads(operator_base(call))
        if not overloads or caller.definition.location.path.endswith(_SHADERS):
            return []
        if exact := self._by_struct(call, overloads):
            return [_edge(call, "operator", exact.full_name)]
        within = self._namespace(call, caller)
        found = [one.full_name for one in fitting(call, overloads, self._returned)]
        if within == "at":
            kind: EdgeKind = "passed operator" if call.kind == "name" else "operator"
            sure: Confidence = "exact" if call.qualifier else "by rule"
            return _each(call, kind, found, sure)
        return _each(call, "static dispatch", found) if within else []

    def _by_struct(self, call: Call, overloads: Sequence[NativeFunction]) -> NativeFunction | None:
        """``at::_ops::add_Tensor::call`` names the overload."""
        if "_ops" not in call.qualifier.split("::"):
            return None
        named = call.qualifier.rpartition("::")[2]
        spelled = ((f"{o.name}_{o.overload}" if o.overload else o.name, o) for o in overloads)
        return next((one for name, one in spelled if name == named), None)

    def _namespace(self, call: Call, caller: Known) -> str:
        """``at`` for a function that dispatches, the namespace of a key for one that does not,
        nothing for another thing."""
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
        is_key = outer == ("" if is_near and not outer else "at")
        return key if is_key and key in self.facts.key_namespaces else ""

    def _is_given_tensor(self, call: Call) -> bool:
        marks = (mark.rpartition("=")[2] for mark in call.arguments.split())
        found = (self._returned(m[1:]) if m[:1] == "." else m for m in marks)
        return any(mark in ("T", "L") for mark in found)


def _edge(
    call: Call,
    kind: EdgeKind,
    target: int | str,
    confidence: Confidence = "exact",
    candidates: int = 1,
) -> _Meant:
    within = call.qualifier.removesuffix("::")
    symbol = f"{within}::{call.name}" if call.qualifier else call.name
    return _Meant(kind, symbol, target, confidence, candidates)


def _each(
    call: Call,
    kind: EdgeKind,
    targets: Sequence[int | str],
    confidence: Confidence = "exact",
    twins: bool = False,
) -> list[_Meant]:
    """An edge to each of the things that a call can mean; ``twins`` of which a build has one."""
    several: Confidence = "by rule" if twins else "ambiguous"
    sure: Confidence = confidence if len(targets) == 1 else several
    return [_edge(call, kind, target, sure, len(targets)) for target in targets]


def _is_given_data(call: Call) -> bool:
    """Whether a call is given a pointer to the data of a tensor: ``f(x.data_ptr<float>())``."""
    return any(mark.rpartition(".")[2].endswith("data_ptr") for mark in call.arguments.split())


_OF_C = frozenset(vars(math))
"""What Python's ``math`` wraps: functions of C's math.h."""
_SHADERS = ".metal"
"""Files of a language in which nothing of ATen can be called."""
_RUNS = "execute"
_FRONT_ENDS = (("/cudnn/", "cuDNN"), ("/mkldnn/", "oneDNN"))
"""The folders of a vendor's callers, whose objects run by ``execute`` what they built."""
_LAUNCHED = "launched with <<<>>>"
_TENSOR_OR_NOT = "it may be called on a tensor or on an object of a class"


def _is_launch(edge: Edge) -> bool:
    """Whether an edge is a launch of nobody knows what."""
    return edge.kind == "unknown" and str(edge.target).startswith(_LAUNCHED)


def _shader_edge(call: Call, shader: Shader) -> _Meant:
    """A string leads to a kernel: it says the name, as far as it is no type's."""
    said = call._replace(name=call.name.partition("{")[0])
    return _edge(said, "shader", shader.known.id, shader.confidence, shader.candidates)


def _copied_library(found: Sequence[Known], caller: Known) -> str:
    """The library in whose copy, in third_party, a function of PyTorch's finds what it calls."""
    of_copies = [k.definition.location.path.startswith("third_party/") for k in (*found, caller)]
    if not found or not all(of_copies[:-1]) or of_copies[-1]:
        return ""
    return vendored(found[0].definition.location.path) or ""


def _are_stand_ins(found: Sequence[Known]) -> bool:
    """Whether functions only take the place of a library's where the build lacks it: vendors
    define nothing in the tree's namespaces."""
    return all(one.definition.guard and not one.definition.scope for one in found)
