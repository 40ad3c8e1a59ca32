"""Operators of ordinary tensors without kernels for a layout (Sparse, NestedTensor ...) that
similar operators have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from indexes.queries.gaps.kernels.dependents import Dependents
from indexes.queries.gaps.kernels.keys import META, KernelKey
from indexes.queries.gaps.kernels.siblings import (
    dispatch_line,
    few,
    is_public,
    kernel_lines,
    level_of,
)
from indexes.queries.gaps.model import Confidence, Gap
from indexes.queries.gaps.tree import Tree

_FEWEST = 4
"""Fewest operators of a shape that make a rule."""
_DEVICES = frozenset({"CPU", "CUDA"})
_SHOWN = 3
_WORDS = 4
"""Fewest words of a name that differs from another in one of them alone."""


class Layouts:
    """The missing kernels of whole families."""

    def __init__(
        self, tree: Tree, subjects: Mapping[str, Sequence[str]], dependents: Dependents
    ) -> None:
        self._tree = tree
        self._subjects = subjects
        self._dependents = dependents
        self._keys = cache(self._keys_of)
        self._groups: dict[object, list[str]] = {}
        for name in subjects:
            self._groups.setdefault(self._shape(name), []).append(name)
        self._variants: dict[object, list[str]] = {}
        for name in subjects:
            for shape in _variant_shapes(name):
                self._variants.setdefault(shape, []).append(name)

    def _shape(self, name: str) -> object:
        """What similar operators have in common: being pointwise, or else the types."""
        op = self._first(name)
        schema = self._tree.schemas[op]
        if any("pointwise" in self._tree.natives[one].tags for one in self._subjects[name]):
            return ("that compute element by element",)
        returns = tuple(one.type for one in schema.returns)
        return "with the same types", tuple(one.type for one in schema.arguments), returns

    def _first(self, name: str) -> str:
        """The overload that users call, among those with kernels."""
        ops = self._subjects[name]
        return next((op for op in ops if op in self._tree.public_set), ops[0])

    def gaps(self, family: str, keys: Sequence[KernelKey]) -> Iterator[Gap]:
        """Operators without any kernel of a family that several of their shape have, and gradients
        of operators with one."""
        names = [key.name for key in keys if key.backend != META]
        used = [key for key in names if any(self._has(name, [key]) for name in self._subjects)]
        if len(used) < 2:
            return  # a format of one library's kernels, no layout for all operators
        is_differentiated = self._gradients_of(used) >= _FEWEST
        for group in self._groups.values():
            having = [name for name in group if self._has(name, used)]
            for name in group:
                if self._is_open(name, used):
                    yield from self._gap(name, used, having, group, is_differentiated)
        for key in (one for one in keys if one.backend in _DEVICES):
            yield from self._of_variants(key)

    def _of_variants(self, key: KernelKey) -> Iterator[Gap]:
        """Operators of one device alone of whose variants, as of another library, some have one:
        ``_scaled_dot_product_cudnn_attention``."""
        for name in self._subjects:
            if self._keys(name) & _DEVICES != {key.backend} or key.name in self._keys(name):
                continue
            shapes = _variant_shapes(name)
            others = {one for shape in shapes for one in self._variants[shape]} - {name}
            others = {one for one in others if key.backend in self._keys(one)}
            having = sorted(one for one in others if key.name in self._keys(one))
            if having and 2 * len(having) >= len(others):
                rule = f"{few(having)} {'has' if len(having) == 1 else 'have'} one"
                yield self._made(name, [key.name], rule, having, "possible")

    def _keys_of(self, name: str) -> frozenset[str]:
        return frozenset().union(*map(self._tree.keys, self._subjects[name]))

    def _has(self, name: str, keys: Sequence[str]) -> bool:
        return not self._keys(name).isdisjoint(keys)

    def _is_open(self, name: str, keys: Sequence[str]) -> bool:
        """Whether an operator has kernels for ordinary tensors on several devices, none of the
        family, and is not composite."""
        here = self._keys(name)
        is_made = self._tree.is_composite(self._first(name))
        return here >= _DEVICES and here.isdisjoint(keys) and not is_made

    def _gradients_of(self, keys: Sequence[str]) -> int:
        """The number of gradients in a family; none for quantized tensors."""
        having = (name for name in self._subjects if self._has(name, keys))
        return sum(1 for name in having if "backward" in name)

    def _gap(
        self,
        name: str,
        keys: Sequence[str],
        having: Sequence[str],
        group: Sequence[str],
        is_differentiated: bool,
    ) -> Iterator[Gap]:
        gradients = self._dependents.of(self._subjects[name]).gradients
        backward = [one for one in gradients if one in self._subjects and self._has(one, keys)]
        if backward and is_differentiated:
            rule = f"the gradient of {few(backward)}, which has one"
            yield self._made(name, keys, rule, backward, "likely")
        elif len(having) >= _FEWEST and (is_public(name) or gradients):
            shape = self._shape(name)
            alike = shape[0] if isinstance(shape, tuple) else ""
            rule = f"{len(having)} of {len(group)} operators {alike} have one"
            yield self._made(name, keys, rule, having, "possible")

    def _made(
        self,
        name: str,
        keys: Sequence[str],
        rule: str,
        having: Sequence[str],
        confidence: Confidence,
    ) -> Gap:
        op = self._first(name)
        shown = [self._tree.natives[self._first(one)].location for one in having[:_SHOWN]]
        return Gap(
            self._tree.natives[op].location,
            f"no {' or '.join(keys)} kernel for {op}",
            rule,
            (dispatch_line(self._tree, op), *shown),
            op,
            name,
            f"{keys[0]}/{name}",
            tuple(keys),
            difficulty=level_of(self._tree, op),
            size=kernel_lines(self._tree, op),
            confidence=confidence,
        )


def _variant_shapes(name: str) -> list[tuple[str, ...]]:
    """A name of several words with each inner one left out."""
    words = name.strip("_").split("_")
    inner = range(1, len(words) - 1) if len(words) >= _WORDS else ()
    return [(*words[:at], "", *words[at + 1 :]) for at in inner]
