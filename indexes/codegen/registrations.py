"""What torchgen registers with the dispatcher for each operator, and under which keys.

Beside the kernels of ``rows`` these are the layers around them: autograd, version counting,
functionalization, tracing, backend selection. Each rule follows the generator that it names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from indexes.codegen.derivatives import Derivatives
from indexes.codegen.registration import Registration
from indexes.codegen.rows import KeySets, Row, kernel_rows
from indexes.codegen.variants import (
    Generation,
    group_variants,
    is_composite_implicit,
    is_generated,
    is_view,
    with_generated,
)
from indexes.model.schema import Schema, SchemaKind, parse_schema, tensor_options
from indexes.model.vocabulary import DerivativeEntry, Location, NativeFunction
from indexes.readers.project.torchgen_lists import ForeachRule, Functionalized, TorchgenLists

_UNCHECKED = ("SAME_TENSOR_IMPL_OR_STORAGE", "STORAGE_IMPL_USE_COUNT", "TENSOR_IMPL_USE_COUNT")
_WHOLE_GROUP = "set_.source_Tensor"
_BY_HAND = frozenset((_WHOLE_GROUP, "lift", "lift_fresh", "resize_"))
"""Operators named in torchgen's function, for trees in which it could not be read."""


@dataclass(frozen=True, slots=True)
class Rules:
    """torchgen's exceptions by name, from its own source."""

    keys: KeySets = field(default_factory=KeySets)
    manual_autograd: frozenset[str] = frozenset()
    manual_tracer: frozenset[str] = frozenset()
    views: frozenset[str] | None = None
    """Base names of operators that return views; None to use their schemas."""
    no_derivative: frozenset[str] = frozenset()
    reset_accumulator: frozenset[str] = frozenset()
    unchecked: frozenset[str] = frozenset()
    not_functionalized: frozenset[str] = frozenset()
    foreach: ForeachRule = "all"
    functionalized: Functionalized = "views"
    functionalized_by_hand: frozenset[str] = _BY_HAND

    @classmethod
    def of(cls, lists: TorchgenLists) -> Rules:
        """The rules of the version whose source is ``lists``."""
        defaults = KeySets()
        names = lists.names
        structured = names.get("STRUCTURED_DISPATCH_KEYS", defaults.structured)
        ufunc = names.get("UFUNC_DISPATCH_KEYS", defaults.ufunc)
        views = names.get("RETURNS_VIEWS_OF_INPUT")
        by_hand = lists.functionalized_by_hand
        return cls(
            keys=KeySets(structured, ufunc, _generation(lists)),
            manual_autograd=frozenset(names.get("MANUAL_AUTOGRAD", ())),
            manual_tracer=frozenset(names.get("MANUAL_TRACER", ())),
            views=None if views is None else frozenset(views),
            no_derivative=frozenset(names.get("DONT_REQUIRE_DERIVATIVE", ())),
            reset_accumulator=frozenset(names.get("RESET_GRAD_ACCUMULATOR", ())),
            unchecked=frozenset(n for k in _UNCHECKED for n in names.get(f"DONT_ENFORCE_{k}", ())),
            not_functionalized=frozenset(names.get("MUTABLE_OPS_NOT_USING_FUNCTIONALIZATION", ())),
            foreach=lists.foreach or "all",
            functionalized=lists.functionalized or "views",
            functionalized_by_hand=_BY_HAND if by_hand is None else frozenset(by_hand),
        )


def _generation(lists: TorchgenLists) -> Generation:
    """The generation rules; today's if the function with them was not read."""
    default = Generation()
    core = default.core if lists.core is None else lists.core
    return Generation(core, frozenset(lists.kept_tags) if lists.kept_tags else default.kept_tags)


_VARIABLE_TYPE = "torchgen: VariableType*.cpp, by gen_variable_type.py"
_INPLACE_OR_VIEW = "torchgen: ADInplaceOrViewType*.cpp, by gen_inplace_or_view_type.py"
_TRACE_TYPE = "torchgen: TraceType*.cpp, by gen_trace_type.py"
_FUNCTIONALIZATION = "torchgen: RegisterFunctionalization*.cpp, by gen_functionalization_type.py"
_BACKEND_SELECT = "torchgen: RegisterBackendSelect.cpp, by gen.py"
_DISPATCH_KEY = "torchgen: Register{}*.cpp, by dest/register_dispatch_key.py"
_IMPLICIT = "CompositeImplicitAutograd"
_ABSTRACT_FREE = (
    {_IMPLICIT},
    {f"{_IMPLICIT}NestedTensor"},
    {_IMPLICIT, f"{_IMPLICIT}NestedTensor"},
)


def generated_registrations(
    functions: Iterable[NativeFunction],
    entries: Iterable[DerivativeEntry],
    rules: Rules | None = None,
) -> Iterator[Registration]:
    """Everything torchgen registers for the operators of native_functions.yaml."""
    declared = tuple(functions)
    maker = _Maker(declared, tuple(entries), rules or Rules())
    yield from maker.kernels()
    for function in maker.functions:
        yield from maker.around(function)
    yield from maker.functionalization()


def cpp_name(schema: Schema) -> str:
    """The name of the operator's C++ function: ``add_out`` for ``add.out``."""
    return schema.name + ("_out" if schema.out_arguments else "")


class _Maker:
    def __init__(
        self, declared: Sequence[NativeFunction], entries: Sequence[DerivativeEntry], rules: Rules
    ) -> None:
        self._rules = rules
        self.functions = with_generated(declared, rules.keys.generation)
        self._rows = kernel_rows(declared, rules.keys)
        self._keys: dict[str, set[str]] = {f.full_name: set() for f in self.functions}
        for row in self._rows:
            self._keys[row.op].add(row.key)
        self._groups = group_variants(self.functions)
        self._sources = {name: f for f in declared for name in f.autogen}
        self._derivatives = Derivatives(entries, declared, foreach=rules.foreach)

    # ------------------------------------------------------------------ kernels

    def kernels(self) -> Iterator[Registration]:
        for row in self._rows:
            if row.native.flags.get("manual_kernel_registration", "").lower() != "true":
                yield self._of_row(row)
        for function in self.functions:
            yield from self._default_backend(function)
            yield from self._inplace_meta(function)

    def _of_row(self, row: Row) -> Registration:
        origin = _DISPATCH_KEY.format(row.key)
        return _at(row.native, row.key, row.symbol, origin, row.rule, row.line)

    def _default_backend(self, function: NativeFunction) -> Iterator[Registration]:
        """A structured group's functional and in-place overloads, per backend of the out one."""
        schema = parse_schema(function.schema)
        key = "CompositeExplicitAutogradNonFunctional"
        if not function.structured_delegate or key in self._keys[function.full_name]:
            return
        kernel = f"wrapper_{key}_{schema.unambiguous_name}"
        rule = f"structured_delegate: torchgen calls {function.structured_delegate} on new outputs"
        line = function.field_lines.get("structured_delegate", function.location.line)
        yield _at(function, key, kernel, _DISPATCH_KEY.format(key), rule, line)

    def _inplace_meta(self, function: NativeFunction) -> Iterator[Registration]:
        schema = parse_schema(function.schema)
        keys = self._keys[function.full_name]
        composite = any(k.startswith("Composite") and not k.endswith("NestedTensor") for k in keys)
        structured = function.structured or function.structured_delegate
        if schema.kind is not SchemaKind.INPLACE or structured or composite or "Meta" in keys:
            return
        if len(schema.returns) == 1:
            rule = "in-place without a composite or Meta kernel: checks the device, returns self"
            kernel = f"wrapper_Meta_{schema.overload}_{schema.name}"
            origin = _DISPATCH_KEY.format("Meta")
            yield _at(function, "Meta", kernel, origin, rule, function.location.line)

    # ----------------------------------------------------------- layers around them

    def around(self, function: NativeFunction) -> Iterator[Registration]:
        schema = parse_schema(function.schema)
        name = cpp_name(schema)
        if name not in self._rules.manual_autograd and self._uses_derived(function):
            yield from self._autograd(function, schema)
            yield from self._inplace_or_view(function, schema)
        if name not in self._rules.manual_tracer:
            rule = "every operator is traced, unless it is in MANUAL_TRACER"
            kernel = f"TraceType::{_wrapper(schema)}"
            yield Registration(function.full_name, "Tracer", kernel, _TRACE_TYPE, rule)
        if self._selects_backend(schema):
            rule = "takes TensorOptions: the device argument selects the backend"
            name = schema.unambiguous_name
            yield Registration(function.full_name, "BackendSelect", name, _BACKEND_SELECT, rule)

    def _uses_derived(self, function: NativeFunction) -> bool:
        """``dispatch_strategy``: abstract operators and those with a formula get wrappers."""
        formulas = self._derivatives.generated_for(function.full_name) or {}
        return self._is_abstract(function) or any(formulas.values())

    def _is_abstract(self, function: NativeFunction) -> bool:
        source = self._sources.get(function.full_name, function)
        if not is_generated(function):
            source = function
        if source.structured_delegate:
            return True
        keys = {kernel.key for kernel in source.dispatch or ()}
        if source.dispatch is None and is_composite_implicit(source):
            keys = {_IMPLICIT}
        return source.structured or keys not in _ABSTRACT_FREE

    def _autograd(self, function: NativeFunction, schema: Schema) -> Iterator[Registration]:
        formulas = self._derivatives.generated_for(function.full_name)
        if formulas is None and self._is_not_implemented(schema):
            rule = "no entry in derivatives.yaml: runs, and raises in backward"
            kernel = "autogradNotImplementedFallback"
            yield Registration(function.full_name, "Autograd", kernel, _VARIABLE_TYPE, rule)
            return
        rule = "no entry in derivatives.yaml, and nothing to differentiate"
        if formulas is not None:
            rule = "has an entry in derivatives.yaml"
        for key in formulas or ("Default",):
            kernel = f"VariableType::{_wrapper(schema)}" + ("" if key == "Default" else f"_{key}")
            runtime = "Autograd" if key == "Default" else key
            yield Registration(function.full_name, runtime, kernel, _VARIABLE_TYPE, rule)

    def _is_not_implemented(self, schema: Schema) -> bool:
        rules = self._rules
        name, wrapper = cpp_name(schema), _wrapper(schema)
        return (
            schema.name not in rules.reset_accumulator
            and schema.base not in rules.no_derivative
            and any(r.base_type == "Tensor" for r in schema.returns)
            and name not in rules.unchecked
            and wrapper not in rules.unchecked
        )

    def _inplace_or_view(self, function: NativeFunction, schema: Schema) -> Iterator[Registration]:
        modifies = schema.kind in (SchemaKind.INPLACE, SchemaKind.OUT) and schema.returns
        views = self._rules.views
        view = is_view(function) if views is None else schema.base in views
        if modifies or view:
            rule = "returns a view" if view else "writes to an argument it returns"
            key, kernel = "ADInplaceOrView", f"ADInplaceOrView::{_wrapper(schema)}"
            yield Registration(function.full_name, key, kernel, _INPLACE_OR_VIEW, rule)

    def _selects_backend(self, schema: Schema) -> bool:
        if schema.name.endswith("_like") or schema.name.startswith("new_"):
            return False
        return bool(tensor_options(schema))

    # ------------------------------------------------------------- functionalization

    def functionalization(self) -> Iterator[Registration]:
        views = self._view_groups()
        grouped = {f.full_name for group in views for f in group}
        for viewing in views:
            if self._rules.functionalized_by_hand.isdisjoint(f.full_name for f in viewing):
                yield from (self._functionalize(f) for f in viewing if self._has_kernel(f))
        for group in self._groups.values():
            kinds = {parse_schema(f.schema).kind for f in group}
            if {SchemaKind.FUNCTIONAL, SchemaKind.OUT} <= kinds:
                yield from self._functionalize_group(group)
                continue
            for function in group:
                if function.full_name not in grouped | self._rules.not_functionalized:
                    yield from self._functionalize_group((function,))

    def _view_groups(self) -> list[list[NativeFunction]]:
        """Each out-of-place view with its in-place overload."""
        groups: list[list[NativeFunction]] = []
        for group in self._groups.values():
            views = [f for f in group if is_view(f)]
            if any(not parse_schema(f.schema).inplace for f in views):
                groups.append(views)
        return groups

    def _functionalize_group(self, group: tuple[NativeFunction, ...]) -> Iterator[Registration]:
        """Operators that write are replaced by their functional overload and a copy. One
        handwritten member excludes the whole group."""
        by_hand = self._rules.functionalized_by_hand
        if len(group) > 1 and _WHOLE_GROUP in by_hand & {f.full_name for f in group}:
            return
        decomposes = self._rules.functionalized == "all"
        members = [f for f in group if decomposes or not is_composite_implicit(f)]
        if not (by_hand - {_WHOLE_GROUP}).isdisjoint(f.full_name for f in members):
            return
        kinds = (SchemaKind.INPLACE, SchemaKind.OUT, SchemaKind.MUTABLE)
        for function in members:
            if is_composite_implicit(function) or parse_schema(function.schema).kind in kinds:
                yield self._functionalize(function)

    def _has_kernel(self, view: NativeFunction) -> bool:
        return self._rules.functionalized != "none" or not is_composite_implicit(view)

    def _functionalize(self, function: NativeFunction) -> Registration:
        schema = parse_schema(function.schema)
        name = function.full_name
        if is_composite_implicit(function):
            row = next(r for r in self._rows if r.op == name and r.key.endswith("Autograd"))
            rule = "a composite operator decomposes before functionalization"
            return Registration(name, "Functionalize", row.symbol, _FUNCTIONALIZATION, rule)
        rule = "a view becomes its _copy operator"
        if not is_view(function):
            rule = "an operator that writes becomes its functional overload and a copy back"
        kernel = f"functionalization::{_wrapper(schema)}"
        return Registration(name, "Functionalize", kernel, _FUNCTIONALIZATION, rule)


def _at(
    function: NativeFunction, key: str, kernel: str, origin: str, rule: str, line: int
) -> Registration:
    where = Location(function.location.path, line)
    return Registration(function.full_name, key, kernel, origin, rule, False, where)


def _wrapper(schema: Schema) -> str:
    """``type_wrapper_name``: ``add_out_out`` for ``add.out``."""
    return f"{cpp_name(schema)}_{schema.overload}" if schema.overload else cpp_name(schema)
