"""The overloads that torchgen adds to native_functions.yaml (``autogen:``).

An entry with ``autogen: abs.out`` gets that overload, and a generated kernel under
CompositeExplicitAutograd, unless all its variants are views, composite or bound by hand
(torchgen/native_function_generation.py, add_generated_native_functions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from indexes.model.schema import (
    Argument,
    Return,
    Schema,
    SchemaKind,
    Signature,
    parse_schema,
    tensor_options,
    written_first,
)
from indexes.model.vocabulary import Kernel, Location, NativeFunction


@dataclass(frozen=True, slots=True)
class Generation:
    """What differs between versions of torchgen that add overloads."""

    core: bool = True
    """Whether operators tagged core get them even if composite."""
    kept_tags: frozenset[str] = frozenset(
        {"nondeterministic_seeded", "view_copy", "pt2_compliant_tag"}
    )
    """Tags that the generated overload inherits."""


def with_generated(
    functions: Iterable[NativeFunction], rules: Generation | None = None
) -> tuple[NativeFunction, ...]:
    """The declared overloads, each followed by those generated from it (tag ``generated``)."""
    rules = rules or Generation()
    declared = tuple(functions)
    groups = group_variants(declared)
    taken = {function.full_name for function in declared}
    result: list[NativeFunction] = []

    for function in declared:
        result.append(function)
        for name in function.autogen:
            overloads = groups[signature_of(function)]
            is_new = name not in taken and _gets_variants(overloads, rules.core)
            made = generate(function, name, rules) if is_new else None
            if made is not None:
                taken.add(name)
                result.append(made)
    return tuple(result)


def group_variants(
    functions: Iterable[NativeFunction],
) -> dict[Signature, tuple[NativeFunction, ...]]:
    """The functional, in-place, out and mutable overloads of one operator, together."""
    groups: dict[Signature, list[NativeFunction]] = {}
    for function in functions:
        groups.setdefault(signature_of(function), []).append(function)
    return {signature: tuple(group) for signature, group in groups.items()}


@lru_cache(maxsize=16384)
def signature_of_text(schema: str) -> Signature:
    """``Schema.signature`` of a schema's text, cached."""
    return parse_schema(schema).signature()


def signature_of(function: NativeFunction) -> Signature:
    """``Schema.signature`` of the entry's schema."""
    return signature_of_text(function.schema)


Overloads = Callable[[str], Sequence[NativeFunction]]
"""The overloads of an operator by its name."""


def view_signature(copy: NativeFunction) -> Signature:
    """The signature of the view of a ``_copy`` operator."""
    base, arguments, returns = signature_of(copy)
    return base.removesuffix("_copy"), arguments, returns


def called_by_generated(made: NativeFunction, overloads: Overloads) -> NativeFunction | None:
    """The overload that a generated kernel calls: an out one the functional one, that one the
    in-place or mutable one with a kernel (native_function_generation.py), a ``_copy`` its view
    (gen_functionalization_type.py)."""
    schema = parse_schema(made.schema)
    if not is_generated(made):
        wanted = view_signature(made)
        views = (one for one in overloads(wanted[0]) if is_view(one))
        return next((one for one in views if signature_of(one) == wanted), None)
    group = list(_variants(made, overloads))
    if schema.out_arguments:
        return _of_kind(SchemaKind.FUNCTIONAL, group)
    written = [one for one in group if not is_generated(one)]
    return _of_kind(SchemaKind.INPLACE, written) or _of_kind(SchemaKind.MUTABLE, written)


def generated_callers(called: NativeFunction, overloads: Overloads) -> Iterator[NativeFunction]:
    """The inverse: the overloads whose generated kernel calls this one."""
    copies = overloads(f"{parse_schema(called.schema).base}_copy")
    for one in (*_variants(called, overloads), *copies):
        target = called_by_generated(one, overloads)
        if target and target.full_name == called.full_name:
            yield one


def _variants(function: NativeFunction, overloads: Overloads) -> Iterator[NativeFunction]:
    signature = signature_of(function)
    base = signature[0]
    others = (f"__i{base[2:]}",) if base.startswith("__") else (f"{base}_", f"{base}_functional")
    for name in (base, *others):
        yield from (one for one in overloads(name) if signature_of(one) == signature)


def _of_kind(kind: SchemaKind, group: Iterable[NativeFunction]) -> NativeFunction | None:
    return next((one for one in group if parse_schema(one.schema).kind is kind), None)


def is_view(function: NativeFunction) -> bool:
    """Whether the operator returns an alias of an argument, as torchgen's ``is_view_op``."""
    schema = parse_schema(function.schema)
    aliases = any(r.annotation is not None and not r.mutable for r in schema.returns)
    inplace = "inplace_view" in function.tags and schema.full_name not in ("resize_", "resize_as_")
    wildcard = any(a.annotation is not None and "*" in a.annotation for a in schema.arguments)
    return aliases or inplace or wildcard


def is_composite_implicit(function: NativeFunction) -> bool:
    """Whether it has a CompositeImplicitAutograd kernel, named or implied."""
    if function.dispatch is None:
        delegates = function.structured or function.structured_delegate
        return not delegates and not function.not_understood
    return any(kernel.key == "CompositeImplicitAutograd" for kernel in function.dispatch)


def _gets_variants(group: tuple[NativeFunction, ...], core: bool) -> bool:
    """torchgen's conditions on a group for adding overloads."""
    if all(f.flags.get("manual_cpp_binding", "").lower() == "true" for f in group):
        return False
    if any(is_view(f) and f.name != "set_" for f in group):
        return False
    is_core = core and any("core" in f.tags for f in group)
    return is_core or not all(map(is_composite_implicit, group))


def generate(
    function: NativeFunction, name: str, rules: Generation | None = None
) -> NativeFunction | None:
    """The overload ``name`` that torchgen derives from ``function``; None if it cannot."""
    source = parse_schema(function.schema)
    base, _, overload = name.partition(".")
    wants_out = overload == (f"{source.overload}_out" if source.overload else "out")
    made = _out(source, overload) if wants_out else _functional(source)
    if made is None or made.full_name != name:
        return None
    kept = (rules or Generation()).kept_tags
    line = function.field_lines.get("autogen", function.location.line)
    symbol = made.unambiguous_name if wants_out else base
    symbol += "_symint" if source.has_symint else ""
    return NativeFunction(
        name=base,
        overload=overload,
        schema=str(made),
        location=Location(function.location.path, line, line),
        field_lines={"autogen": line},
        dispatch=(Kernel("CompositeExplicitAutograd", symbol, line),),
        tags=("generated", *(tag for tag in function.tags if tag in kept)),
    )


def is_generated(function: NativeFunction) -> bool:
    """Whether torchgen declares the overload itself."""
    return "generated" in function.tags


def _functional(source: Schema) -> Schema | None:
    """Written arguments become returns: ``add_(Tensor(a!) self)`` -> ``add(Tensor self)``."""
    if source.kind is SchemaKind.FUNCTIONAL:
        return None
    name = f"__{source.base}__" if source.dunder else source.base
    name += "_functional" if source.kind is SchemaKind.MUTABLE else ""
    returned = {r.annotation for r in source.returns}
    written = [a for a in written_first(source.arguments) if a.annotation not in returned]
    returns = [replace(r, annotation=None) for r in source.returns]
    returns += [Return(a.type, f"{a.name}_out") for a in written]
    return replace(source, name=name, arguments=_signature(source), returns=tuple(returns))


def _out(source: Schema, overload: str) -> Schema | None:
    if source.out_arguments:
        return None
    if source.kind is SchemaKind.INPLACE:
        return _out_of_inplace(source, overload)
    outs, returns = _outs(source)
    if not outs:
        return None
    is_functional = source.kind is SchemaKind.FUNCTIONAL
    arguments = _signature(source) if is_functional else source.arguments
    return replace(source, overload=overload, arguments=(*arguments, *outs), returns=tuple(returns))


def _out_of_inplace(source: Schema, overload: str) -> Schema | None:
    self = next((a for a in source.arguments if a.name == "self"), None)
    if self is None:
        return None
    out = replace(self, name="out", default=None, kwarg_only=True, is_out=True)
    arguments = tuple(replace(a, annotation=None) if a is self else a for a in source.arguments)
    name = f"__{source.base}__" if source.dunder else source.base
    return replace(source, name=name, overload=overload, arguments=(*arguments, out))


def _outs(source: Schema) -> tuple[list[Argument], list[Return]]:
    """An out argument for each returned tensor, and the other returns."""
    used = {c for a in source.arguments if a.annotation for c in a.annotation}
    letters = [c for c in "abcdefghijklmnopqrstuvwxyz" if c not in used]
    letters += [f"a{at}" for at in range(len(source.returns) - len(letters))]  # as no schema has
    all_tensors = all(r.type == "Tensor" for r in source.returns)
    outs: list[Argument] = []
    returns: list[Return] = []
    for i, returned in enumerate(source.returns):
        if returned.base_type != "Tensor":
            returns.append(returned)
            continue
        name = "out" if len(source.returns) == 1 else f"out{i}"
        outs.append(Argument(name, returned.type, None, f"{letters[i]}!", True, True))
        if all_tensors:
            returns.append(Return(returned.type, None, f"{letters[i]}!"))
    return outs, returns


def _signature(source: Schema) -> tuple[Argument, ...]:
    """Arguments without annotations, out arguments and TensorOptions."""
    dropped = (*source.out_arguments, *tensor_options(source))
    return tuple(replace(a, annotation=None) for a in source.arguments if a not in dropped)
