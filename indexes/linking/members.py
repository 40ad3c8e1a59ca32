"""What a call of a member means: a method of a class of the tree, an operator if it is called on a
tensor, a loop, or a library's execution of an object."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from indexes.linking.arguments import Returned, chosen, fitting, operator_base
from indexes.linking.facts import Call, Edge, EdgeKind, Known, by_hand
from indexes.linking.scopes import ResolverFacts, enclosing, nearest
from indexes.linking.visible import is_header, library_of, plain_scope
from indexes.model.idioms import LOOPS
from indexes.model.lines import grouped
from indexes.model.vocabulary import Confidence
from indexes.readers.cxx.marks import LIST

RUNS = "execute"
_FRONT_ENDS = (("/cudnn/", "cuDNN"), ("/mkldnn/", "oneDNN"))
"""Folders of library callers whose objects run by ``execute``, and the library."""
_TENSOR_OR_NOT = "it may be called on a tensor or on an object of a class"
_MOST_METHODS = 8
"""With more methods of one name, as of ``Vectorized``, a call is left unresolved."""

_UNARY = {"operator-": "neg", "operator~": "bitwise_not"}
"""The methods behind the unary operators of a tensor (ATen/templates/TensorBody.h)."""
_PTR = "Ptr"
"""The ending of PyTorch's pointer types: ``using QuantizerPtr = c10::intrusive_ptr<Quantizer>``."""
_COUNTED = {"c10::intrusive_ptr_target"}
"""The base of all reference-counted classes, which makes them no family."""


class Meaning(NamedTuple):
    """An edge without its place."""

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


def edge_to(
    call: Call,
    kind: EdgeKind,
    target: int | str,
    confidence: Confidence = "exact",
    candidates: int = 1,
) -> Meaning:
    """The edge of a call to one target."""
    within = call.qualifier.removesuffix("::")
    symbol = f"{within}::{call.name}" if call.qualifier else call.name
    return Meaning(kind, symbol, target, confidence, candidates)


def each(
    call: Call,
    kind: EdgeKind,
    targets: Sequence[int | str],
    confidence: Confidence = "exact",
    twins: bool = False,
) -> list[Meaning]:
    """An edge to each target that a call can mean. ``twins``: a build has one of them."""
    several: Confidence = "by rule" if twins else "ambiguous"
    sure: Confidence = confidence if len(targets) == 1 else several
    return [edge_to(call, kind, target, sure, len(targets)) for target in targets]


class Classes:
    """The classes of a tree, and their methods."""

    def __init__(self, facts: ResolverFacts) -> None:
        self.facts = facts

    def methods(self, call: Call, caller: Known, mark: str) -> list[Known]:
        """The methods of a call's name in the class that ``mark`` names."""
        scope = plain_scope(caller.definition.scope)
        classes = (scope,) if mark == "this" else self._classes_named(mark, caller)
        wanted = {base for one in classes for base in (one, *self.facts.all_bases(one))}
        scopes = self._by_scope(call.name)
        found = _others(scopes, wanted & scopes.keys(), caller)
        if found and not any(one.definition.virtual for one in found):
            return found
        # It is virtual, or only declared in the class: those that derive from it define it.
        deriving = (one for one in scopes if one not in wanted and self._derives(one, classes))
        return [*found, *_others(scopes, deriving, caller)]

    def others(self, call: Call, caller: Known) -> list[Known]:
        """The functions with a call's name, without its caller."""
        scopes = self._by_scope(call.name)
        return _others(scopes, scopes, caller)

    def _by_scope(self, name: str) -> dict[str, list[Known]]:
        functions = (one for one in self.facts.named(name) if one.definition.kind == "function")
        return grouped((plain_scope(one.definition.scope), one) for one in functions)

    def are_of_one_family(self, methods: Iterable[Known]) -> bool:
        """Whether the classes of the methods all derive from one of them."""
        owners = dict.fromkeys(plain_scope(one.definition.scope) for one in methods)
        families = [{one, *self.facts.all_bases(one)} - _COUNTED for one in owners]
        if len(families) < 2:
            return False
        return any(map(self.facts.is_scope, set.intersection(*families)))

    def _classes_named(self, name: str, caller: Known) -> Sequence[str]:
        """The classes that a type's name can mean: those of the nearest scope around the caller;
        else all, unless it also names a vector, as ``Stack`` does."""
        classes = self.facts.classes_named(name)
        if not classes:
            return self._pointed_to(name)
        scope = plain_scope(caller.definition.scope)
        if self.facts.is_standard(name):
            around = set(enclosing(scope))
            classes = tuple(one for one in classes if one.rpartition("::")[0] in around)
        return nearest(classes, scope)

    def _pointed_to(self, name: str) -> Sequence[str]:
        """The classes that a pointer's name can mean: those beside the pointer, else all, wherever
        it is used."""
        classes = self.facts.classes_named(name.removesuffix(_PTR))
        scopes = self.facts.scopes_of_alias(name) if len(classes) > 1 else ()
        return [one for one in classes if one.rpartition("::")[0] in scopes] or classes

    def _derives(self, scope: str, classes: Collection[str]) -> bool:
        return not set(classes).isdisjoint(self.facts.all_bases(scope))


def _others(
    functions: Mapping[str, Sequence[Known]], scopes: Iterable[str], caller: Known
) -> list[Known]:
    found = (one for scope in scopes for one in functions[scope] if one.id != caller.id)
    return sorted(found, key=itemgetter(0))


class Members:
    """Resolves calls of members, with a cache."""

    def __init__(self, facts: ResolverFacts, returned: Returned) -> None:
        self.facts = facts
        self._returned = returned
        self._classes = Classes(facts)
        self._methods_meant: dict[tuple[object, ...], list[Meaning]] = {}
        """What calls of methods mean, in all files."""

    def of(self, call: Call, caller: Known) -> list[Meaning]:
        """The meanings of a call of a member."""
        if method := _UNARY.get(call.name):
            meant = self.of(call._replace(name=method), caller)
            return [one._replace(symbol=call.name) for one in meant]
        if call.name in LOOPS and not library_of(call):
            return [edge_to(call, "loop", call.name)]
        mark = call.receiver
        if mark[:1] == ".":  # what a call returns, or an object that is made there
            mark = mark[1:] if self.facts.classes_named(mark[1:]) else self._returned(mark[1:])
        if mark in self.facts.tensor_names:
            mark = "T"
        if library := library_of(call) or self._front_end(call, mark, caller):
            return [edge_to(call, "library", library, "by rule")]
        if mark == "T" or (mark == "?" and self.facts.overloads(operator_base(call))):
            written = self._takes_list(call, caller) if mark == "T" else []
            return written or self._method_operators(call, is_sure=mark == "T")
        if mark.isidentifier() and len(mark) > 1 and self._is_parameter(mark, caller):
            return self._of_file(call, caller)
        return self._of_class(call, caller, mark) if mark == "?" or len(mark) > 1 else []

    def _front_end(self, call: Call, mark: str, caller: Known) -> str:
        """The library whose object is executed, by the folder or by the functions that the body
        calls to make it; else empty."""
        if call.name != RUNS or not (mark == "?" or self._is_foreign(call, caller, mark)):
            return ""
        path = caller.definition.location.path
        of_folder = (library for folder, library in _FRONT_ENDS if folder in path)
        called = (library_of(one) for one in self.facts.calls(caller) if one.qualifier)
        held = (one for one in called if any(one == library for _, library in _FRONT_ENDS))
        return next(chain(of_folder, held), "")

    def _is_foreign(self, call: Call, caller: Known, mark: str) -> bool:
        """Whether the object's class is named and no class of that name in the tree has the method:
        ``const fe::graph::Graph& graph``."""
        return len(mark) > 1 and not self._classes.methods(call, caller, mark)

    def _is_parameter(self, mark: str, caller: Known) -> bool:
        """Whether a type is a template's parameter: the tree defines nothing of its name."""
        found, path = caller.definition, caller.definition.location.path
        if mark in ("this", "return") or is_header(path):
            return False
        if any(map(self.facts.named, (mark, self.facts.alias_of(mark, path).rpartition("::")[2]))):
            return False
        return found.template or bool(self.facts.classes_named(found.scope.rpartition("::")[2]))

    def _of_file(self, call: Call, caller: Known) -> list[Meaning]:
        """The methods of the file's own classes, the only ones its templates are used with."""
        path = caller.definition.location.path
        others = self._classes.others(call, caller)
        here = [one for one in others if one.definition.location.path == path]
        found = chosen(call, here, self._returned) if len(here) == len(others) else []
        return each(call, "call", [one.id for one in found], "by rule")

    def _of_class(self, call: Call, caller: Known, mark: str) -> list[Meaning]:
        """The methods of an object's class. The result does not depend on the file."""
        place = caller.definition
        itself = caller.id if call.name == place.name else 0
        is_near = mark == "this" or len(self.facts.classes_named(mark)) > 1
        is_near = is_near or self.facts.is_standard(mark)
        around = plain_scope(place.scope) if is_near else ""
        key = (call.name, call.qualifier, call.arguments, bool(call.template), mark, itself, around)
        found = self._methods_meant.get(key)
        if found is None:
            read = self._overriders if mark == "?" else partial(self._methods, mark=mark)
            found = self._methods_meant[key] = read(call, caller)
        return found

    def _methods(self, call: Call, caller: Known, mark: str) -> list[Meaning]:
        found = chosen(call, self._classes.methods(call, caller, mark), self._returned)
        if len(found) > _MOST_METHODS:
            reason = f"{len(found)} classes named {mark} have a method of that name"
            return [edge_to(call, "unknown", reason)]
        return each(call, "call", [one.id for one in found], "by rule")

    def _overriders(self, call: Call, caller: Known) -> list[Meaning]:
        """The methods that an object of unknown type can run, if all are of one family."""
        if not self.facts.is_method_name(call.name):
            return []
        found = chosen(call, self._classes.others(call, caller), self._returned)
        are_family = self._classes.are_of_one_family(found)
        return each(call, "call", [one.id for one in found]) if are_family else []

    def _takes_list(self, call: Call, caller: Known) -> list[Meaning]:
        """The methods that take ``{i, j}`` as an ``initializer_list``, which C++ prefers."""
        if LIST not in call.arguments:
            return []
        written = self._classes.methods(call, caller, "Tensor")
        taking = [one for one in written if "initializer_list" in one.definition.parameters]
        found = chosen(call, taking, self._returned)
        return each(call, "call", [one.id for one in found], "by rule")

    def _method_operators(self, call: Call, is_sure: bool) -> list[Meaning]:
        overloads = self.facts.overloads(operator_base(call))
        if overloads and not is_sure and self.facts.is_method_name(call.name):
            return [edge_to(call, "unknown", _TENSOR_OR_NOT)]
        found = fitting(call, overloads, self._returned)
        names = [one.full_name for one in found]
        if any(map(by_hand, found)):
            return each(call, "accessor", names, "by rule")
        return each(call, "operator", names, "exact" if is_sure else "by rule")
