"""The further questions of impact: classes, namespaces, kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from indexes.linking.facts import Call, Known
from indexes.linking.visible import linkable, plain_scope
from indexes.model.lines import grouped
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, Definition, DerivativeEntry, Location
from indexes.queries.corpus import Corpus
from indexes.queries.impact.graph import Edge, Node
from indexes.queries.impact.keys import KeySets
from indexes.readers.cxx.dispatch_keys import DispatchKeys
from indexes.readers.cxx.scopes import decode
from indexes.store.lookup import Lookup
from indexes.store.tables import load_all

_USING = regex(r"\busing\s+namespace\s+([\w:]+)\s*;")
_IN_NAMESPACE = regex(r"\bnamespace\s+([\w:]+)\s*\{\s*using\s+namespace\s+([\w:]+)\s*;")
_WORD = regex(r"[A-Za-z_]\w*")
_SIGN = regex(r"_\(([^\s\w,]+),[\s\\]*x\.(\w+)\(y\)")
_SIGN_METHOD = regex(r"\boperator([^\s\w()]+)\s*\([^()]*\)\s*(?:const\s*)?\{\s*return\s+(\w+)\(")
_MACROS = -1_000_000
"""Below all ids of removed definitions."""
_TENSORS = ("Tensor", "TensorBase")
_UNTOLD = """
SELECT DISTINCT c.definition,c.line,c.receiver FROM calls c JOIN definitions d ON d.id=c.definition
WHERE c.name=? AND c.kind%s'member' AND d.kind NOT IN ('macro','macro_use') AND NOT EXISTS
  (SELECT 1 FROM edges e WHERE e.caller=c.definition AND e.line=c.line
   AND (e.symbol=c.name OR e.symbol LIKE '%%::'||c.name))
ORDER BY c.definition,c.line
"""
"""Calls without an edge in the graph: ``=`` for those of members, ``!=`` for all others."""


@dataclass(frozen=True, slots=True)
class KernelUse:
    """A dispatch row of native_functions.yaml with a definition as its kernel."""

    op: str
    key: str
    line: int
    rule: str
    confidence: Confidence


class ImpactFacts(Lookup):
    """A Lookup that also reads texts. ``removed``: definitions of an earlier state, which callers
    may still name."""

    def __init__(
        self,
        facts: Lookup,
        read: Callable[[str], bytes],
        removed: Sequence[Known] = (),
        keys: Callable[[], DispatchKeys | None] = lambda: None,
        generated: Callable[[], Mapping[str, set[str]]] = dict,
    ) -> None:
        super().__init__(facts.store)
        self._dispatch_keys = keys
        self.generated_registrations = lru_cache(1)(generated)
        """The operators for which each generator registers kernels, by what it writes."""
        self.corpus = Corpus(self, read)
        self._all_named = lru_cache(8192)(self._find_named)
        self.class_of = lru_cache(8192)(self._find_class_of)
        self._used = lru_cache(2048)(lambda path: _USING.findall(self.corpus.clean(path)))
        self._removed = grouped((known.definition.name, known) for known in removed)

    def named(self, name: str) -> Sequence[Known]:
        """Every definition of a name, including removed ones and object-like macros."""
        return self._all_named(name)

    def _find_named(self, name: str) -> Sequence[Known]:
        found = (*super().named(name), *self._removed.get(name, ()))
        return found or self._object_macros(name)

    def _object_macros(self, name: str) -> Sequence[Known]:
        """Macros without parameters, which are no definitions in the index."""
        if not name.isidentifier():
            return ()
        found = [
            Definition(name, "", "macro", Location(path, macro.line, macro.line))
            for path, macro in self.store.macros(name)
            if macro.parameters is None
        ]
        return [Known(_MACROS - number, one) for number, one in enumerate(found)]

    def _calls(self, known: Known) -> Sequence[Call]:
        return () if known.id < 0 else super()._calls(known)

    @cached_property
    def keys(self) -> KeySets:
        """The dispatch keys with which kernels run."""
        return KeySets(self.store, self._dispatch_keys())

    @cached_property
    def signs(self) -> dict[str, tuple[str, Location]]:
        """The C++ signs for operators on tensors, by name: ``*`` for ``mul``."""
        found: dict[str, tuple[str, Location]] = {}
        for path in self.corpus.paths("cpp"):
            if path.endswith(("/ATen/TensorOperators.h", "/TensorBody.h")):
                text = decode(self.corpus.text(path))
                for match in (*_SIGN.finditer(text), *_SIGN_METHOD.finditer(text)):
                    line = text.count("\n", 0, match.start()) + 1
                    found.setdefault(match[2], (match[1], Location(path, line)))
        return found

    # ------------------------------------------------------------------------ namespaces

    @cached_property
    def _in_namespaces(self) -> dict[str, set[str]]:
        """``namespace at { using namespace c10; }`` in headers."""
        found: dict[str, set[str]] = {}
        for path in self.corpus.files_with("using namespace ", "cpp", _is_c10):
            for scope, used in _IN_NAMESPACE.findall(self.corpus.clean(path)):
                found.setdefault(scope, set()).add(used)
        return found

    def used_namespaces(self, path: str, scope: str) -> frozenset[str]:
        """Namespaces visible through ``using namespace``."""
        used = set(self._used(path))
        around = {scope[:at] for at, char in enumerate(scope) if char == ":"} | {scope}
        for one in {*around, *used}:
            used |= self._in_namespaces.get(one, set())
        return frozenset(used)

    def operator(self, name: str, aspect: str) -> Node:
        """The node of an overload, reached by one of its aspects."""
        native = self.native(name)
        place = native.location if native else None
        return Node("operator", f"{name} {aspect}", name, place, None, aspect)

    # ------------------------------------------------------------------------- kernels

    @cached_property
    def _kernel_uses(self) -> dict[int, list[KernelUse]]:
        found: dict[int, list[KernelUse]] = {}
        for op, key, line, rule, confidence, numbers in self.store.query(
            "SELECT op,key,line,link_rule,confidence,definitions FROM kernels"
        ):
            for number in filter(None, (numbers or "").split(",")):
                use = KernelUse(op, key, line, rule or "", confidence or "exact")
                found.setdefault(int(number), []).append(use)
        return found

    def kernel_uses(self, known: Known) -> Sequence[KernelUse]:
        """The rows with a definition as kernel; for a removed one, those with its name."""
        if known.id >= 0:
            return self._kernel_uses.get(known.id) or self._unlinked_uses(known)
        name = known.definition.name
        rows = self.store.query(
            "SELECT op,key,line,symbol FROM kernels WHERE symbol=? OR symbol LIKE ?",
            (name, f"%::{name}"),
        )
        rule = f"native_functions.yaml names {name}, which is gone"
        return [KernelUse(op, key, line, rule, "by rule") for op, key, line, _ in rows]

    def _unlinked_uses(self, known: Known) -> Sequence[KernelUse]:
        """The rows that name a function of at::native but are not linked to it, since torchgen
        expects other parameters."""
        found = known.definition
        if found.kind != "function" or plain_scope(found.scope) != "at::native":
            return ()
        return self._unlinked.get(found.name, ())

    @cached_property
    def _unlinked(self) -> dict[str, list[KernelUse]]:
        found: dict[str, list[KernelUse]] = {}
        rule = "named in dispatch, and no function of that name has the parameters that it expects"
        for op, key, line, symbol in self.store.query(
            "SELECT op,key,line,symbol FROM kernels WHERE definitions='' OR definitions IS NULL"
        ):
            use = KernelUse(op, key, line, rule, "by rule")
            found.setdefault((symbol or "").rpartition("::")[2], []).append(use)
        for use in self._without_rows():
            name, _, overload = use.op.partition(".")
            symbol = f"{name}_out" if overload.endswith("out") else name
            found.setdefault(symbol, []).append(use)
        return found

    def _without_rows(self) -> Iterator[KernelUse]:
        """Entries whose kernels could not be read because of unknown fields: the function of their
        name."""
        known = set(self.store.column("SELECT DISTINCT op FROM kernels"))
        rule = "the function of its name; its entry has fields that are not known here"
        for op in self.operator_names:
            native = None if op in known or "::" in op else self.native(op)
            if native and not native.defined_by:
                yield KernelUse(
                    op, "CompositeImplicitAutograd", native.location.line, rule, "by rule"
                )

    def entries_with(self, text: str) -> list[DerivativeEntry]:
        """The derivative entries with a word."""
        rows = self.store.query(
            "SELECT data,words FROM derivatives WHERE instr(words,?) ORDER BY position", (text,)
        )
        named = [data for data, words in rows if text in _WORD.findall(words)]
        return list(load_all(named, DerivativeEntry))

    # ------------------------------------------------------------------------------ uses

    def untold_uses(self, known: Known) -> Iterator[Edge]:
        """Bodies that call a method of the name on an object of unknown class; for a removed
        definition, bodies that still name it."""
        found = known.definition
        owner = self.class_of(known)
        if found.name == "operator()" or (known.id >= 0 and not owner):
            return
        classes = {one.definition.scope for one in self.named(found.name)}
        rule = f"calls a method of that name; {len(classes)} classes have one"
        sql = _UNTOLD % ("=" if owner else "!=")
        for number, line, receiver in self.store.query(sql, (found.name,)):
            caller = self.by_id(number)
            if caller and linkable(known, caller.definition.location.path):
                at, node = Location(caller.definition.location.path, line), Node.of(caller)
                if known.id < 0:
                    yield Edge(node, "names it, which is gone", at, "by rule")
                elif receiver == "T" and owner in _TENSORS:
                    yield Edge(node, "calls it on a tensor", at, "by rule")
                elif self._is_untold(receiver):
                    yield Edge(node, rule, at, "ambiguous", len(classes))

    def _is_untold(self, receiver: str) -> bool:
        if receiver == "?" or receiver.startswith("."):
            return True
        classes = (one for one in self.named(receiver) if one.definition.kind == "class")
        return len(receiver) > 1 and receiver != "this" and not any(classes)

    def _find_class_of(self, known: Known) -> str:
        outer, _, owner = plain_scope(known.definition.scope).rpartition("::")
        for one in self.named(owner) if owner else ():
            if one.definition.kind == "class" and plain_scope(one.definition.scope) == outer:
                return owner
        return ""

    # ----------------------------------------------------------------------- definitions

    def same_place(self, known: Known) -> list[Known]:
        """The definitions by a macro use behind which ``known`` is the body."""
        place = known.definition.location
        return [
            one
            for one in self.definitions_at(place.path, place.line)
            if one.definition.macro and one.definition.location.line == place.line
        ]

    def in_file(self, path: str) -> list[Known]:
        """Every definition of a file."""
        return [one for one in self.definitions_in(path) if one.definition.kind != "macro_use"]


def _is_c10(path: str) -> bool:
    return path.startswith(("c10/", "torch/include/c10/"))
