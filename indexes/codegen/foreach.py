"""The formulas of foreach operators: torchgen applies those of the operator that one repeats to
each tensor of its lists (``gen_foreach_derivativeinfo`` in torchgen/api/autograd.py)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from indexes.model.regex import regex
from indexes.model.schema import Argument, parse_schema
from indexes.model.vocabulary import DerivativeEntry, Formula, NativeFunction

PREFIX = "_foreach_"
_NAME = regex(r"(?<![\w.])[A-Za-z_]\w*")
_ONES_OWN = {"grad": "grads[i]", "result": "result[i]"}


def is_repeated(entry: DerivativeEntry, native: NativeFunction) -> bool:
    """Whether an operator repeats the one that an entry is written for."""
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
    """What each name of a gradient formula is for one tensor of the lists."""
    return {**_ONES_OWN, **{name: _element(own) for name, own in pairs.items()}}


def _forward_names(pairs: Mapping[str, Argument]) -> dict[str, str]:
    """A forward formula has primals (``self_p``) and tangents (``self_t``) of single tensors."""
    names = {"result": _ONES_OWN["result"]}
    for name, own in pairs.items():
        if own.type.startswith("Tensor"):
            names |= {name + ending: own.name + ending for ending in ("_p", "_t")}
        else:
            names[name] = _element(own)
    return names


def _element(own: Argument) -> str:
    return f"{own.name}[i]" if re.search(r"\]\??$", own.type) else own.name
