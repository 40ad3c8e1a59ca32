"""Every (overload, dispatch key) that native_functions.yaml declares or implies.

By the rules with which torchgen fills its backend indices (torchgen/model.py, gen.py,
native_function_generation.py). Generated kernels without a name of their own, such as the in-place
wrapper of a functional kernel, have no row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from indexes.codegen.variants import (
    Generation,
    is_composite_implicit,
    is_generated,
    is_view,
    signature_of,
    view_signature,
    with_generated,
)
from indexes.model.schema import SchemaKind, Signature, parse_schema
from indexes.model.vocabulary import Kernel, NativeFunction

KindHint = Literal["plain", "structured", "ufunc", "composite", "generated"]


@dataclass(frozen=True, slots=True)
class KeySets:
    """Which kernels a version's torchgen makes: sets of dispatch keys (torchgen/model.py), and the
    rules of native_function_generation.py."""

    structured: tuple[str, ...] = ("MPS", "CUDA", "CPU", "XPU", "MTIA")
    """Keys under which a structured kernel serves the whole group."""
    ufunc: tuple[str, ...] = ("CUDA", "CPU")
    """Keys for which ``ufunc_inner_loop`` makes a kernel."""
    generation: Generation = field(default_factory=Generation)


@dataclass(frozen=True, slots=True)
class Row:
    """A kernel that is registered for ``op`` under ``key``."""

    op: str
    key: str
    symbol: str
    """torchgen's name; ``structured_add_Tensor::meta`` for a meta function."""
    kind_hint: KindHint
    native: NativeFunction
    source_function: NativeFunction
    """The entry that names the kernel: the structured out overload for its delegates, the entry
    with ``autogen`` for a generated overload."""
    line: int
    """The line in native_functions.yaml that names or implies it."""
    rule: str


def kernel_rows(
    functions: Iterable[NativeFunction], keys: KeySets | None = None, *, complete: bool = False
) -> list[Row]:
    """All rows in YAML order, generated overloads after the entry that lists them. ``complete``:
    whether ``functions`` includes those."""
    keys = keys or KeySets()
    everything = tuple(functions) if complete else with_generated(functions, keys.generation)
    return list(_Rows(everything, keys).all())


class _Rows:
    def __init__(self, functions: tuple[NativeFunction, ...], keys: KeySets) -> None:
        self._functions = functions
        self._keys = keys
        self._by_name = {function.full_name: function for function in functions}
        self._meta_names = self._name_metas()
        self._views = _view_bases(functions)
        self._autogen = {name: f for f in functions for name in f.autogen}

    def all(self) -> Iterator[Row]:
        for function in self._functions:
            if is_generated(function):
                yield from self._generated(function)
                continue
            yield from self._declared(function)
            yield from self._ufunc(function, function)
            yield from self._delegated(function)
            yield from self._meta(function)

    def _declared(self, function: NativeFunction) -> Iterator[Row]:
        if function.dispatch is None:
            yield from self._implicit(function)
            return
        for kernel in function.dispatch:
            yield _named(function, function, kernel, *self._hint(function, kernel.key))

    def _hint(self, function: NativeFunction, key: str) -> tuple[KindHint, str]:
        if function.structured and key in self._keys.structured:
            return "structured", "named in dispatch of a structured entry: TORCH_IMPL_FUNC"
        if key.startswith("CompositeExplicit") and self._is_view_copy(function):
            return "generated", "torchgen makes the kernel of a view's _copy operator from the view"
        if key.startswith("Composite"):
            return "composite", "named in dispatch"
        return "plain", "named in dispatch"

    def _implicit(self, function: NativeFunction) -> Iterator[Row]:
        """Without ``dispatch``: CompositeImplicitAutograd with the operator's C++ name."""
        if not is_composite_implicit(function):
            return
        schema = parse_schema(function.schema)
        symbol = schema.name + ("_out" if schema.out_arguments else "")
        rule = "no dispatch: CompositeImplicitAutograd, named after the operator"
        kernel = Kernel("CompositeImplicitAutograd", symbol, function.location.line)
        yield _named(function, function, kernel, "composite", rule)

    def _ufunc(self, function: NativeFunction, source: NativeFunction) -> Iterator[Row]:
        if not source.ufunc_inner_loop:
            return
        line = source.field_lines.get("ufunc_inner_loop", source.location.line)
        rule = "ufunc_inner_loop: torchgen makes the kernel around the inner loop"
        for key in self._keys.ufunc:
            kernel = Kernel(key, f"ufunc_{source.name}_{key}", line)
            yield _named(function, source, kernel, "ufunc", rule)

    def _delegated(self, function: NativeFunction) -> Iterator[Row]:
        out = self._delegate(function)
        if out is None or out is function:
            return
        rule = f"structured_delegate: the kernel of {out.full_name}"
        for kernel in out.dispatch or ():
            if kernel.key in self._keys.structured:
                yield _named(function, out, kernel, "structured", rule)
        yield from self._ufunc(function, out)

    def _meta(self, function: NativeFunction) -> Iterator[Row]:
        out = self._delegate(function)
        name = self._meta_names.get(out.full_name) if out else None
        if out is None or name is None:
            return
        line = out.field_lines.get("structured", out.location.line)
        kernel = Kernel("Meta", f"structured_{name}::meta", line)
        rule = "a structured operator's TORCH_META_FUNC serves the Meta key"
        yield _named(function, out, kernel, "structured", rule)

    def _generated(self, function: NativeFunction) -> Iterator[Row]:
        source = self._autogen.get(function.full_name)
        if source is None:  # the tag was written by hand
            return
        rule = f"autogen of {source.full_name}: torchgen makes the overload and its kernel"
        for kernel in function.dispatch or ():
            yield _named(function, source, kernel, "generated", rule)

    def _delegate(self, function: NativeFunction) -> NativeFunction | None:
        """The structured out entry of the function's group: itself, or the one it names."""
        if function.structured:
            return function
        out = self._by_name.get(function.structured_delegate or "")
        return out if out is not None and out.structured else None

    def _name_metas(self) -> dict[str, str]:
        """The names of meta classes, after the functional overload, by structured out entry."""
        names: dict[str, str] = {}
        for function in self._functions:
            out = self._delegate(function)
            if out is not None and parse_schema(function.schema).kind is SchemaKind.FUNCTIONAL:
                names.setdefault(out.full_name, parse_schema(function.schema).unambiguous_name)
        return names

    def _is_view_copy(self, function: NativeFunction) -> bool:
        schema = parse_schema(function.schema)
        if schema.kind is not SchemaKind.FUNCTIONAL or not schema.name.endswith("_copy"):
            return False
        return schema.name in self._views.get(view_signature(function), ())


def _named(
    function: NativeFunction, source: NativeFunction, kernel: Kernel, hint: KindHint, rule: str
) -> Row:
    name = function.full_name
    return Row(name, kernel.key, kernel.symbol, hint, function, source, kernel.line, rule)


def _view_bases(functions: Iterable[NativeFunction]) -> dict[Signature, set[str]]:
    """The names of ``_copy`` operators by the signatures of out-of-place views."""
    views: dict[Signature, set[str]] = {}
    for function in functions:
        schema = parse_schema(function.schema)
        if is_view(function) and not schema.inplace:
            views.setdefault(signature_of(function), set()).add(f"{schema.name}_copy")
    return views
