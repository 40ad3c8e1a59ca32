"""Determines the overload of a recorded operator from its inputs, if it was not recorded.

The profiler records every argument in schema order, so an overload fits if it has as many arguments
and each recorded input can have the argument's type.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import takewhile

from indexes.model.schema import Argument, Schema, parse_schema
from navigator.trace.model import Input

_WHOLE = frozenset("int SymInt ScalarType Layout MemoryFormat QScheme DeviceIndex".split())
"""Types whose values the dispatcher boxes as integers (ATen/core/ivalue.h)."""
_NUMBER = frozenset({"float", "double", "Scalar", "complex"})
_UNRECORDED = frozenset(
    ("str Device Dimname Generator Storage Stream ConstQuantizerPtr DimnameList Quantizer").split()
)
"""Types whose values the profiler does not record."""
_LISTS = frozenset({"int", "SymInt", "float", "bool", "Scalar", "double"})


class Overloads:
    """Schemas by operator name."""

    def __init__(self, schemas: Iterable[Schema]) -> None:
        self._schemas: defaultdict[str, list[Schema]] = defaultdict(list)
        for schema in schemas:
            space = f"{schema.namespace}::" if schema.namespace not in ("", "aten") else ""
            self._schemas[f"{space}{schema.name}"].append(schema)
        self._names = cache(self._fitting_names)

    def __contains__(self, name: object) -> bool:
        return name in self._schemas

    def fitting(self, name: str, inputs: Sequence[Input]) -> tuple[str, ...]:
        """Overload names (empty for the default one) of ``add`` that fit, best first. Names outside
        aten include the namespace: ``quantized::add``.

        Without recorded inputs, all overloads.
        """
        return self._names(name, tuple(inputs))

    def _fitting_names(self, name: str, inputs: tuple[Input, ...]) -> tuple[str, ...]:
        fits = self._fitting(self._schemas.get(name, []), inputs)
        return tuple(dict.fromkeys(schema.overload for schema in fits))

    def _fitting(self, schemas: list[Schema], inputs: Sequence[Input]) -> list[Schema]:
        if not inputs:
            return schemas
        half = len(inputs) // 2
        fits = _closest([s for s in schemas if _fits(s, inputs)], inputs)
        if inputs[:half] == inputs[half:]:  # functorch records every argument twice
            fits += _closest([s for s in schemas if _fits(s, inputs[:half])], inputs[:half])
        fits = fits or [s for s in schemas if _fitted_once(s, inputs)]
        return fits or [s for s in schemas if _fits_the_end(s, inputs)]


def common_form(schemas: Sequence[Schema]) -> str | None:
    """What several overloads of an operator have in common: the name, first arguments and returns,
    ``mul(Tensor self, ...) -> Tensor``; None without schemas."""
    if not schemas:
        return None
    shared = takewhile(_are_alike, zip(*(schema.arguments for schema in schemas), strict=False))
    first = [f"{_written(one.type)} {one.name}" for one, *_ in shared]
    returns = {tuple(one.type for one in schema.returns) for schema in schemas}
    made = f" -> {_listed(*returns)}" if len(returns) == 1 else ""
    return f"{schemas[0].name}({', '.join([*first, '...'])}){made}"


def takes_tensor(schema: str) -> bool:
    """Whether it has a mandatory tensor argument."""
    return any(argument.type == "Tensor" for argument in parse_schema(schema).arguments)


def _listed(types: Sequence[str]) -> str:
    return types[0] if len(types) == 1 else f"({', '.join(types)})"


def _are_alike(arguments: Sequence[Argument]) -> bool:
    return len({(_written(argument.type), argument.name) for argument in arguments}) == 1


def _written(type_: str) -> str:
    """A type in C++ callers' terms: int for SymInt."""
    return type_.replace("SymInt", "int")


def _fits(schema: Schema, inputs: Sequence[Input]) -> bool:
    arguments = schema.arguments
    return len(arguments) == len(inputs) and all(map(_accepts, arguments, inputs))


def _fitted_once(schema: Schema, inputs: Sequence[Input]) -> bool:
    """Whether it fits apart from trailing arguments that an older torch did not have."""
    new = schema.arguments[len(inputs) :]
    return (
        bool(new)
        and all(a.default is not None for a in new)
        and all(map(_accepts, schema.arguments, inputs))
    )


def _fits_the_end(schema: Schema, inputs: Sequence[Input]) -> bool:
    """Whether it fits the last inputs: older versions recorded TorchScript's whole stack, which
    ends with the operator's arguments."""
    count = len(schema.arguments)
    return 0 < count < len(inputs) and _fits(schema, inputs[-count:])


def _closest(schemas: list[Schema], inputs: Sequence[Input]) -> list[Schema]:
    """Only those that leave fewest inputs unexplained: a missing value is explained for an optional
    argument, but not for a required one."""
    if len(schemas) < 2:
        return schemas
    cost = {id(s): sum(map(_unexplained, s.arguments, inputs)) for s in schemas}
    least = min(cost.values())
    return [s for s in schemas if cost[id(s)] == least]


def _unexplained(argument: Argument, value: Input) -> int:
    return int(value.kind == "other" and not _may_be_none(argument))


def _accepts(argument: Argument, value: Input) -> bool:
    if value.kind == "other":
        # None, an undefined tensor, or a value that the profiler does not record.
        return _may_be_none(argument) or argument.base_type == "Tensor"
    kind = argument.type.rstrip("?")
    base = argument.base_type
    is_list = "[" in kind
    if value.kind == "any":
        return True
    if value.kind == "list":
        return is_list
    if value.kind == "tensor":
        return base == "Tensor" and not is_list
    if value.kind == "tensors":
        return base == "Tensor" and is_list
    if value.kind == "scalars":
        return is_list and base in _LISTS and _list_fits(base, value.value)
    return not is_list and _scalar_fits(base, value.value)


def _may_be_none(argument: Argument) -> bool:
    """Profiles before 2023 record no lists of numbers, later ones no long lists."""
    optional = argument.type.endswith("?") or "?[" in argument.type
    numbers = "[" in argument.type and argument.base_type in _LISTS
    return optional or numbers or argument.base_type in _UNRECORDED


def _scalar_fits(base: str, text: str) -> bool:
    if base == "bool":
        return text in ("True", "False", "")
    if text in ("True", "False"):
        return base == "Scalar"
    if base in _WHOLE:
        return _is_whole(text)
    return base in _NUMBER


def _list_fits(base: str, text: str) -> bool:
    items = [item.strip() for item in text.strip("[]").split(",") if item.strip()]
    if base == "bool":
        return all(item in ("True", "False") for item in items)
    if base in ("int", "SymInt"):
        return all(_is_whole(item) for item in items)
    return True


def _is_whole(text: str) -> bool:
    """Floats are printed with a point or an exponent, even whole ones: ``1.``"""
    return not text or text.lstrip("-").isdecimal()
