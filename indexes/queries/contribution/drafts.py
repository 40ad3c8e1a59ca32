"""Drafts the entries in native_functions.yaml for a new operator after similar ones: the functional
entry with in-place and out variants, and the operator for its gradient."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from string import ascii_lowercase

from indexes.model.schema import Argument, Return, Schema, SchemaKind, parse_schema, tensor_options
from indexes.model.vocabulary import Location, NativeFunction
from indexes.queries.contribution.neighbours import Namespaces, base_of

_TENSOR = "Tensor"
_ALWAYS = ("CPU", "CUDA")
_ORDER = (SchemaKind.FUNCTIONAL, SchemaKind.INPLACE, SchemaKind.OUT)
_NOT_TAKEN_OVER = frozenset({"core", "generated"})
"""Tags that are assigned by decision, not by similarity."""


@dataclass(frozen=True, slots=True)
class DraftEntry:
    """An entry to append to native_functions.yaml."""

    name: str
    lines: tuple[str, ...]
    like: Location
    """The entry it is modelled on."""


Draft = tuple[DraftEntry, ...]
"""A group of entries."""


class Drafts:
    """Drafts entries for one tree."""

    def __init__(self, natives: Iterable[NativeFunction]) -> None:
        self._natives = tuple(natives)
        self._namespaces = Namespaces(self._natives)
        self._names = {one.full_name for one in self._natives}

    def group(self, schema: Schema, models: Sequence[NativeFunction]) -> tuple[DraftEntry, ...]:
        """The entries for a schema, modelled on the first model's group. The other models determine
        the usual dispatch keys."""
        models = [*self._overloads(schema), *models]
        if not models:
            return (DraftEntry(schema.full_name, (f"- func: {schema}",), Location("", 0)),)
        group = _Group(schema, models[0], self)
        keys = self._usual_keys(models)
        found = [*self._entries(group, keys), *self._copy(schema, models[0], keys)]
        found += self._backward(schema, models[0], keys)
        return tuple(one for one in found if one.name not in self._names)

    def holds(self, schema: Schema) -> bool:
        return schema.full_name in self._names

    def beside(self, schema: Schema) -> list[NativeFunction]:
        """The tree's entries of the same name."""
        return [one for one in self._natives if base_of(one.name) == base_of(schema.name)]

    def choices(self, schema: Schema, models: Sequence[NativeFunction]) -> tuple[Draft, ...]:
        """Drafts of a group, fullest first, since torchgen may refuse some."""
        full = self.group(schema, models)
        names = (schema.base, f"{schema.base}_copy")
        own = tuple(one for one in full if base_of(one.name.partition(".")[0]) in names)
        bare = [f"- func: {schema}"]
        if models and (module := self.module(schema.name, models[0])):
            bare.append(f"  python_module: {module}")
        where = models[0].location if models else Location("", 0)
        simple = (DraftEntry(schema.full_name, tuple(bare), where),)
        plain = tuple(replace(one, lines=_without_autogen(one.lines)) for one in own)
        return tuple(dict.fromkeys(one for one in (full, own, plain, simple) if one))

    def variants_of(self, model: NativeFunction) -> dict[SchemaKind, NativeFunction]:
        """The entries that torchgen groups with this one."""
        signature = parse_schema(model.schema).signature()
        found: dict[SchemaKind, NativeFunction] = {}
        for one in self._natives:
            schema = parse_schema(one.schema)
            if base_of(one.name) == base_of(model.name) and schema.signature() == signature:
                found.setdefault(schema.kind, one)
        return found

    def module(self, name: str, model: NativeFunction) -> str:
        """The ``python_module`` of a new operator."""
        return self._namespaces.module(name) or (
            "nn" if model.python_module == "nn" and not self._namespaces.of(name) else ""
        )

    def has_inplace(self, module: str) -> bool:
        """Whether operators of a ``python_module`` have in-place variants; torch.special's have
        none."""
        named = (one.name for one in self._natives if one.python_module == module)
        return not module or any(name.endswith("_") for name in named)

    def _entries(self, group: _Group, keys: frozenset[str]) -> Iterator[DraftEntry]:
        for kind, schema in group.schemas.items():
            model = group.models.get(kind, group.model)
            lines = tuple(_lines(schema, model, group, keys))
            yield DraftEntry(schema.full_name, lines, model.location)

    def _copy(
        self, schema: Schema, model: NativeFunction, keys: frozenset[str]
    ) -> Iterator[DraftEntry]:
        """The ``_copy`` variant of a view, if the model has one."""
        wanted = f"{base_of(model.name)}_copy"
        first = next((one for one in self._natives if one.name == wanted), None)
        if first is None or not any(one.annotation for one in schema.returns) or schema.inplace:
            return
        copying = replace(
            schema,
            name=f"{schema.base}_copy",
            arguments=tuple(replace(one, annotation=None) for one in schema.arguments),
            returns=tuple(replace(one, annotation=None) for one in schema.returns),
        )
        yield from self._entries(_Group(copying, first, self), keys)

    def _backward(
        self, schema: Schema, model: NativeFunction, keys: frozenset[str]
    ) -> Iterator[DraftEntry]:
        """The entries of the operator in the model's formula, renamed."""
        old, new = base_of(model.name), schema.base
        wanted = f"{old.removeprefix('_')}_backward"
        theirs = [one for one in self._natives if one.name.removeprefix("_") == wanted]
        first = next((one for one in theirs if not one.name.endswith("_")), None)
        if first is None or f"{new}_backward" in self._names:
            return
        renamed = parse_schema(first.schema)
        renamed = replace(renamed, name=renamed.name.replace(old.strip("_"), new.strip("_")))
        yield from self._entries(_Group(renamed, first, self), keys)

    def _overloads(self, schema: Schema) -> list[NativeFunction]:
        """The existing overload of the same kind: the best model."""
        same = [one for one in self.beside(schema) if "generated" not in one.tags]
        kind = [one for one in same if parse_schema(one.schema).kind is schema.kind]
        return (kind or same)[:1]

    def _usual_keys(self, models: Sequence[NativeFunction]) -> frozenset[str]:
        """The dispatch keys of at least half of the models' groups."""
        groups = [
            {k.key for one in self.variants_of(model).values() for k in one.dispatch or ()}
            for model in models
        ]
        known = [keys for keys in groups if keys]
        every = {key for keys in known for key in keys}
        return frozenset(
            key for key in every if 2 * sum(key in keys for keys in known) >= len(known)
        ) | frozenset(_ALWAYS)


class _Group:
    """A new operator's variants beside the model's."""

    def __init__(self, schema: Schema, model: NativeFunction, drafts: Drafts) -> None:
        self.model = model
        self.base = schema.base
        self.models = drafts.variants_of(model)
        self.module = drafts.module(schema.name, model)
        if not drafts.has_inplace(self.module):
            self.models.pop(SchemaKind.INPLACE, None)
        self.schemas = self._schemas(schema)
        out = self.schemas.get(SchemaKind.OUT)
        mine = self.models.get(SchemaKind.OUT)
        is_new = not any(drafts.holds(one) for one in self.schemas.values())
        self.structured = out.full_name if out and mine and mine.structured and is_new else ""
        """The out variant that the others delegate to; empty when they are not structured."""

    def _schemas(self, schema: Schema) -> dict[SchemaKind, Schema]:
        kind = schema.kind
        if kind not in (SchemaKind.FUNCTIONAL, SchemaKind.INPLACE, SchemaKind.OUT):
            return {kind: schema}
        has_functional = SchemaKind.FUNCTIONAL in self.models
        found: dict[SchemaKind, Schema] = {kind: schema}
        functional = schema if kind is SchemaKind.FUNCTIONAL else _functional(schema)
        if has_functional and functional:
            found = {SchemaKind.FUNCTIONAL: functional, **found}
        if functional is None or not has_functional:
            return found
        for other, make in ((SchemaKind.INPLACE, _inplace), (SchemaKind.OUT, self._out)):
            if other in self.models and other not in found and (made := make(functional)):
                found[other] = made
        return {kind: found[kind] for kind in _ORDER if kind in found}

    def _out(self, schema: Schema) -> Schema | None:
        """The out variant of a functional schema; None if impossible."""
        model = parse_schema(self.models[SchemaKind.OUT].schema)
        if not schema.returns or any(one.type != _TENSOR for one in schema.returns):
            return None
        if any(one.annotation for one in (*schema.arguments, *schema.returns)):
            return None
        outs = tuple(_outs(schema.returns, [one.name for one in model.out_arguments]))
        options = tensor_options(schema)
        kept = tuple(one for one in schema.arguments if one not in options)
        returns = tuple(
            replace(one, annotation=out.annotation)
            for one, out in zip(schema.returns, outs, strict=True)
        )
        overload = f"{schema.overload}_out" if schema.overload else "out"
        return replace(schema, overload=overload, arguments=(*kept, *outs), returns=returns)


def _functional(schema: Schema) -> Schema | None:
    """The functional schema of an in-place or out one."""
    if schema.kind is SchemaKind.OUT:
        kept = tuple(one for one in schema.arguments if not one.is_out)
        returns = tuple(replace(one, annotation=None) for one in schema.returns)
        ending = "_out" if schema.overload.endswith("_out") else schema.overload
        overload = schema.overload.removesuffix(ending)
        if not returns:
            returns = tuple(Return(one.type) for one in schema.out_arguments)
        return replace(schema, overload=overload, arguments=kept, returns=returns)
    if schema.dunder or not schema.arguments or schema.arguments[0].name != "self":
        return None
    arguments = tuple(replace(one, annotation=None) for one in schema.arguments)
    returns = (Return(arguments[0].type),)
    return replace(schema, name=base_of(schema.name), arguments=arguments, returns=returns)


def _inplace(schema: Schema) -> Schema | None:
    """The in-place variant of a functional schema; None if impossible."""
    first = schema.arguments[0] if schema.arguments else None
    if first is None or first.name != "self" or schema.dunder or len(schema.returns) != 1:
        return None
    if schema.returns[0].type != first.type or first.base_type != _TENSOR:
        return None
    written = replace(first, annotation="a!")
    arguments = (written, *(replace(one, annotation=None) for one in schema.arguments[1:]))
    returns = () if first.type.endswith("[]") else (Return(first.type, None, "a!"),)
    return replace(schema, name=f"{schema.name}_", arguments=arguments, returns=returns)


def _outs(returns: Sequence[Return], names: Sequence[str]) -> Iterator[Argument]:
    """An out argument for each return, named as the model's if there are as many."""
    for at, one in enumerate(returns):
        own = "out" if len(returns) == 1 else one.name or f"out{at}"
        name = names[at] if len(names) == len(returns) and not one.name else own
        yield Argument(name, one.type, None, f"{ascii_lowercase[at]}!", True, True)


def _lines(
    schema: Schema, model: NativeFunction, group: _Group, keys: frozenset[str]
) -> Iterator[str]:
    """An entry of native_functions.yaml."""
    yield f"- func: {schema}"
    names = {one.name for one in schema.arguments}
    variants = [one for one in model.variants if one != "method" or "self" in names]
    if variants and tuple(variants) != ("function",):
        yield f"  variants: {', '.join(variants)}"
    for key in ("device_check", "device_guard", "category_override"):
        if key in model.flags:
            yield f"  {key}: {model.flags[key]}"
    yield from _structure(schema, model, group)
    if group.module:
        yield f"  python_module: {group.module}"
    yield from _dispatch(schema, model, group, keys)
    yield from _autogen(schema, model, group)
    tags = [one for one in model.tags if one not in _NOT_TAKEN_OVER]
    if tags:
        yield f"  tags: {tags[0] if len(tags) == 1 else '[' + ', '.join(tags) + ']'}"


def _structure(schema: Schema, model: NativeFunction, group: _Group) -> Iterator[str]:
    if not group.structured:
        return
    if schema.full_name != group.structured:
        yield f"  structured_delegate: {group.structured}"
        return
    yield "  structured: True"
    if model.structured_inherits:
        yield f"  structured_inherits: {model.structured_inherits}"


def _dispatch(
    schema: Schema, model: NativeFunction, group: _Group, keys: frozenset[str]
) -> Iterator[str]:
    """The kernels, keys of one kernel on one line."""
    kernels: dict[str, list[str]] = {}
    for one in model.dispatch or ():
        if one.key in keys or one.key.startswith("Composite"):
            symbol = _symbol(one.symbol, base_of(model.name), group.base, one.key)
            if not schema.has_symint:  # torchgen takes the ending for such schemas alone
                symbol = symbol.removesuffix("_symint")
            kernels.setdefault(symbol, []).append(one.key)
    if schema.full_name == group.structured:
        missing = [key for key in _ALWAYS if not any(key in one for one in kernels.values())]
        if missing and not kernels:
            kernels[f"{group.base}_out"] = missing
    elif group.structured:  # its kernel for these is that of the out variant
        kernels = {symbol: [k for k in ks if k not in _ALWAYS] for symbol, ks in kernels.items()}
    if not kernels and model.dispatch and not group.structured:
        symbol = _symbol(model.dispatch[0].symbol, base_of(model.name), group.base, "")
        kernels[symbol] = [model.dispatch[0].key]
    rows = [f"    {', '.join(ks)}: {symbol}" for symbol, ks in kernels.items() if ks]
    every = [key for keys in kernels.values() for key in keys]
    is_plain = every == ["CompositeImplicitAutograd"] and not schema.has_symint
    if rows and not is_plain:  # such a table says what its absence says, which torchgen refuses
        yield "  dispatch:"
        yield from rows


def _symbol(symbol: str, old: str, new: str, key: str) -> str:
    """The name of a kernel: the model's with the operator's name replaced."""
    olds, news = old.strip("_").split("_"), new.strip("_").split("_")
    shared = olds[0] == news[0] and len(olds) > 1 and len(news) > 1
    for at in (0, 1) if shared else (0,):  # foreach_tensor_sin_cuda has no foreach_sin
        renamed = _renamed(symbol, "_".join(olds[at:]), "_".join(news[at:]))
        if renamed != symbol:
            return renamed
    ending = "_out" if symbol.endswith("_out") else "_" if symbol.endswith("_") else ""
    return f"{new}_{key.lower()}{ending}" if key else f"{new}{ending}"


def _renamed(text: str, old: str, new: str) -> str:
    """Replaces an operator's name as a word, between underscores or at an end."""
    return re.sub(rf"(?<![A-Za-z0-9]){re.escape(old)}(?![A-Za-z0-9])", new, text)


def _autogen(schema: Schema, model: NativeFunction, group: _Group) -> Iterator[str]:
    """The variants to generate, if the model has any generated."""
    is_view = any(one.annotation for one in schema.returns)
    has_out = any(one.base_type == _TENSOR for one in schema.returns) and not is_view
    if schema.kind is SchemaKind.OUT or (schema.kind is SchemaKind.FUNCTIONAL and not has_out):
        return
    out = f"{schema.overload}_out" if schema.overload else "out"
    plain = f".{schema.overload}" if schema.overload else ""
    names: list[str] = []
    for one in model.autogen:
        name, _, overload = one.partition(".")
        ending = "_functional" if name.endswith("_functional") else ""
        is_out = overload == "out" or overload.endswith("_out")
        names.append(f"{schema.base}{ending}.{out}" if is_out else f"{schema.base}{ending}{plain}")
    drafted = {one.full_name for one in group.schemas.values()}
    if names := [one for one in dict.fromkeys(names) if one not in drafted]:
        yield f"  autogen: {', '.join(names)}"


def _without_autogen(lines: Iterable[str]) -> tuple[str, ...]:
    return tuple(one for one in lines if not one.lstrip().startswith("autogen:"))
