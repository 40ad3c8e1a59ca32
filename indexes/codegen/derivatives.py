"""Which entry of derivatives.yaml an overload uses, and why.

The rules of torchgen: ``match_differentiability_info`` (torchgen/api/autograd.py) and
``add_view_copy_derivatives`` (load_derivatives.py). An entry also serves the in-place overload, a
view's ``_copy``, and foreach operators, which apply its formulas to each tensor
(``gen_foreach_derivativeinfo``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from indexes.codegen.variants import (
    is_generated,
    is_view,
    signature_of,
    signature_of_text,
    with_generated,
)
from indexes.model.lines import grouped
from indexes.model.regex import regex
from indexes.model.schema import Argument, Schema, SchemaKind, Signature, parse_schema
from indexes.model.vocabulary import OUT_RAISES, DerivativeEntry, Formula, NativeFunction
from indexes.readers.project.torchgen_lists import ForeachRule


@dataclass(frozen=True, slots=True)
class DerivativeMatch:
    """How one overload is differentiated."""

    entry: DerivativeEntry | None
    rule: str
    """Which entry is used and what torchgen changes in it, or why there is none."""
    exact: bool = False
    """The entry is written for this very overload."""
    grad_fns: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Autograd key (``Default`` ...) -> Node class that this overload records."""


class Derivatives:
    """All entries, with lookup for any overload."""

    def __init__(
        self,
        entries: Iterable[DerivativeEntry],
        functions: Iterable[NativeFunction],
        *,
        foreach: ForeachRule = "all",
        complete: bool = False,
    ) -> None:
        """``foreach``: the foreach operators with formulas in this version's torchgen;
        ``complete``: whether ``functions`` includes generated overloads."""
        everything = functions if complete else with_generated(functions)
        self._functions = {f.full_name: f for f in everything}
        self._foreach = foreach
        self._groups = grouped((signature_of(one), one) for one in self._functions.values())
        self._exact = self._by_schema(entries)
        self._copies = self._view_copies()
        self._functional: dict[Signature, _Info] = {}
        self._other: dict[Signature, _Info] = {}
        for schema, info in {**self._exact, **self._copies}.items():
            functional = parse_schema(schema).kind is SchemaKind.FUNCTIONAL
            (self._functional if functional else self._other)[signature_of_text(schema)] = info

    def find(self, op: str) -> DerivativeMatch:
        """The match of the overload ``op``, as ``add_.Tensor``."""
        function = self._functions.get(op)
        if function is None:
            return DerivativeMatch(None, "not an operator of native_functions.yaml")
        schema = parse_schema(function.schema)
        if schema.out_arguments and function.schema not in self._exact:
            has_formulas = self._match(function, schema).entry is not None
            return DerivativeMatch(None, OUT_RAISES if has_formulas else _NONE)
        return self._match(function, schema)

    def generated_for(self, op: str) -> Mapping[str, bool] | None:
        """The autograd keys with generated formulas for ``op``, each with whether any input is
        differentiable; None without an entry. An out= overload counts by the functional one's
        entry, since its code raises."""
        function = self._functions.get(op)
        found = self._match(function, parse_schema(function.schema)) if function else None
        if found is None or found.entry is None:
            return None
        return {each.key: each.grad_fn is not None for each in found.entry.sets}

    def _match(self, function: NativeFunction, schema: Schema) -> DerivativeMatch:
        info = self._exact.get(function.schema)
        if info is not None:
            return replace(info.match(_EXACT), exact=True)
        if schema.out_arguments and is_generated(function):
            return DerivativeMatch(None, _NONE)
        return self._of_another(function, schema) or DerivativeMatch(None, _NONE)

    def _of_another(self, function: NativeFunction, schema: Schema) -> DerivativeMatch | None:
        copied = self._copies.get(function.schema)
        if copied is not None:
            return copied.match(_COPY)
        if schema.base.startswith("_foreach_"):
            found = self._of_reference(schema) if self._is_repeated(schema) else None
            if found or self._foreach == "all":
                return found
        return self._by_signature(function, schema) or self._with_functional(schema)

    def _by_signature(self, function: NativeFunction, schema: Schema) -> DerivativeMatch | None:
        signature = signature_of(function)
        if info := self._functional.get(signature):
            return info.match(_INPLACE if schema.kind is SchemaKind.INPLACE else _MUTABLE)
        info = self._other.get(signature) if is_generated(function) else None
        return info.match(_GENERATED) if info else None

    def _with_functional(self, schema: Schema) -> DerivativeMatch | None:
        """The match of an in-place foreach operator by the schema of the functional one, in
        versions where only that has formulas."""
        functional = self._functions.get(schema.base) if schema.inplace else None
        if functional is None or self._foreach not in ("unary", "functional"):
            return None
        repeating = parse_schema(functional.schema)
        if schema.overload or any(a.default is not None for a in repeating.arguments):
            return None
        found = self._of_reference(repeating) if self._is_repeated(repeating) else None
        if found is None or found.entry is None:
            return None
        return replace(found, rule=_INPLACE.format(found.entry.op))

    def _is_repeated(self, schema: Schema) -> bool:
        """Whether torchgen gives it the formulas of the operator that it repeats."""
        if self._foreach in ("none", "all"):
            return self._foreach == "all"
        unary = len(schema.arguments) == 1
        return not schema.inplace and (unary or self._foreach == "functional")

    def _of_reference(self, schema: Schema) -> DerivativeMatch | None:
        """The match of a foreach operator by the operator that it repeats."""
        found = self._reference(schema, self._functional)
        if found is None and schema.kind is SchemaKind.INPLACE:
            found = self._reference(schema, self._other)
        if found is None:
            return None
        grad_fn = found.grad_fns.get("Default")
        if grad_fn is None:
            return None
        if schema.kind is not SchemaKind.INPLACE:
            grad_fn = f"Foreach{grad_fn}{schema.overload}"
        return replace(found.match(_FOREACH), grad_fns={"Default": grad_fn})

    def _reference(self, schema: Schema, infos: Mapping[Signature, _Info]) -> _Info | None:
        repeated = schema.base.rpartition("_foreach_")[2]
        named = (info for signature, info in infos.items() if signature[0] == repeated)
        for info in named:
            if _repeats(schema.arguments, parse_schema(info.schema).arguments):
                return info
        return None

    def _by_schema(self, entries: Iterable[DerivativeEntry]) -> dict[str, _Info]:
        """The entries by the schema of their canonical overload."""
        infos: dict[str, _Info] = {}
        for entry in entries:
            schema = self._canonical(entry)
            grad_fns = {s.key: s.grad_fn for s in entry.sets if s.grad_fn}
            infos[schema] = _Info(entry, schema, grad_fns)
        return infos

    def _canonical(self, entry: DerivativeEntry) -> str:
        """The overload of an entry: the first of its group with its name and not out."""
        name, _, _ = entry.op.partition(".")
        for function in self._groups.get(signature_of_text(entry.schema), ()):
            out = parse_schema(function.schema).out_arguments
            if function.name == name and not out and "functional" not in function.overload:
                return function.schema
        return entry.schema

    def _view_copies(self) -> dict[str, _Info]:
        """The entries of views by the schema of their ``{view}_copy``."""
        copies: dict[str, _Info] = {}
        for info in self._exact.values():
            copy = self._copy_of(info)
            if copy is not None and copy.schema not in self._exact:
                grad_fns = {key: f"{name}_copy" for key, name in info.grad_fns.items()}
                copies[copy.schema] = _Info(info.entry, copy.schema, grad_fns)
        return copies

    def _copy_of(self, info: _Info) -> NativeFunction | None:
        view = self._functions.get(parse_schema(info.schema).full_name)
        if view is None or not is_view(view) or parse_schema(view.schema).inplace:
            return None
        base, arguments, returns = signature_of(view)
        copy = (f"{base}_copy", arguments, returns)
        if base.endswith("_inverse"):
            copy = (f"{base.removesuffix('inverse')}scatter", arguments, returns)
        group = self._groups.get(copy, [])
        functional = [f for f in group if parse_schema(f.schema).kind is SchemaKind.FUNCTIONAL]
        return functional[0] if functional else None


@dataclass(frozen=True, slots=True)
class _Info:
    entry: DerivativeEntry
    schema: str
    """Of the overload that the entry stands for here."""
    grad_fns: Mapping[str, str]

    def match(self, rule: str) -> DerivativeMatch:
        """The match by a rule, which names the entry."""
        return DerivativeMatch(self.entry, rule.format(self.entry.op), False, self.grad_fns)


_EXACT = "derivatives.yaml has an entry for this overload"
_NONE = "no entry in derivatives.yaml"
_INPLACE = (
    "no entry of its own: in-place overloads use the entry of the out-of-place one, {}; its "
    "forward formula reads the overwritten self as original_self, and result as self"
)
_MUTABLE = "no entry of its own: uses the entry of the functional overload, {}"
_GENERATED = "generated functional overload: uses the entry of the mutable one, {}"
_COPY = "a view's _copy operator uses the entry of the view, {}, with a Node class of its own"
_FOREACH = "foreach: torchgen applies the formulas of {} to each tensor of the lists"


def _repeats(foreach: tuple[Argument, ...], single: tuple[Argument, ...]) -> bool:
    """Whether a foreach schema takes lists of what the single one takes.

    torchgen lists the foreach overloads that may omit trailing arguments; those are the ones whose
    missing arguments all have defaults.
    """
    ours = [a for a in foreach if not a.is_out]
    theirs = [a for a in single if not a.is_out]
    if any(a.default is None for a in theirs[len(ours) :]) or len(ours) > len(theirs):
        return False
    return all(r.type in (a.type, _element(a.type)) for a, r in zip(ours, theirs, strict=False))


def _element(type_: str) -> str | None:
    return type_.rpartition("[")[0] if type_.endswith("]") else None


PREFIX = "_foreach_"
_NAME = regex(r"(?<![\w.])[A-Za-z_]\w*")
_ONES_OWN = {"grad": "grads[i]", "result": "result[i]"}


def is_repeated(entry: DerivativeEntry, native: NativeFunction) -> bool:
    """Whether an operator repeats the one of an entry."""
    return native.name.startswith(PREFIX) and entry.op != native.full_name


def repeated(entry: DerivativeEntry, native: NativeFunction) -> DerivativeEntry:
    """An entry with its formulas in the argument names of a foreach operator."""
    if not is_repeated(entry, native):
        return entry
    ours = [one for one in parse_schema(native.schema).arguments if not one.is_out]
    theirs = [one for one in parse_schema(entry.schema).arguments if not one.is_out]
    pairs = {one.name: own for one, own in zip(theirs, ours, strict=False)}
    sets = [one for one in entry.sets if one.key == "Default"]
    return replace(
        entry,
        sets=tuple(
            replace(one, formulas=tuple(_formula(formula, pairs) for formula in one.formulas))
            for one in sets
        ),
    )


def _formula(formula: Formula, pairs: Mapping[str, Argument]) -> Formula:
    inputs = tuple(pairs[name].name if name in pairs else name for name in formula.inputs)
    if formula.kind == "non_differentiable":
        return replace(formula, inputs=inputs)
    is_forward = formula.kind == "forward"
    names = _forward_names(pairs) if is_forward else _names(pairs)
    text = _NAME.sub(lambda found: names.get(found[0], found[0]), formula.text)
    return replace(formula, inputs=inputs, text=text)


def _names(pairs: Mapping[str, Argument]) -> dict[str, str]:
    """What each name in a gradient formula stands for, for one tensor of the lists."""
    return {**_ONES_OWN, **{name: _one_of(own) for name, own in pairs.items()}}


def _forward_names(pairs: Mapping[str, Argument]) -> dict[str, str]:
    """The same for forward formulas, with primals (``self_p``) and tangents (``self_t``)."""
    names = {"result": _ONES_OWN["result"]}
    for name, own in pairs.items():
        if own.type.startswith("Tensor"):
            names |= {name + ending: own.name + ending for ending in ("_p", "_t")}
        else:
            names[name] = _one_of(own)
    return names


def _one_of(own: Argument) -> str:
    return f"{own.name}[i]" if re.search(r"\]\??$", own.type) else own.name
