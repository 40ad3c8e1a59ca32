"""The work of an operator from shapes and dtypes: floating point operations, and bytes moved.

The formulas are those of ``torch.utils.flop_counter``: a multiply-add counts as two operations;
biases and causal masks do not count. Grouped convolutions count their own channels only, in
backward too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from math import prod
from typing import NamedTuple

from navigator.trace.model import Input

Shape = tuple[int, ...]


class Work(NamedTuple):
    """The work of one call."""

    flops: int
    outputs: tuple[Shape, ...]
    """The shapes of its results."""


def work_of(name: str, inputs: Sequence[Input], outputs: Sequence[Shape] = ()) -> Work | None:
    """The work of a matrix product, a convolution or an attention, recognised by name; None for
    other operators, and if shapes or values are missing.

    Parameters:
        name: ``aten::addmm``, or of another namespace.
        inputs: Recorded inputs, by position in the schema.
        outputs: Shapes of the results, if recorded.
    """
    base = _base(name)
    for pattern, formula in _FORMULAS:
        if pattern.fullmatch(base):
            return formula(base, inputs, outputs)
    return None


def has_formula(name: str) -> bool:
    """Whether there is a formula for an operator's work."""
    return any(pattern.fullmatch(_base(name)) for pattern, _ in _FORMULAS)


def _base(name: str) -> str:
    return name.rpartition("::")[2].rstrip("_")


def itemsize(dtype: str) -> int | None:
    """Bytes per element: 2 for ``bfloat16``; None if the name does not say."""
    bits = re.search(r"\d+", dtype)
    if dtype == "bool":
        return 1
    return max(int(bits[0]) // 8, 1) if bits else None


def elements(value: Input) -> int:
    """The number of elements of a tensor in memory; an expanded dimension counts as one."""
    strides = value.strides or ()
    known = strides if len(strides) == len(value.shape) else (1,) * len(value.shape)
    return prod(size for size, stride in zip(value.shape, known, strict=True) if stride)


def bytes_of(inputs: Sequence[Input], outputs: Sequence[Shape], dtype: str) -> int | None:
    """Bytes of all input tensors, and of the outputs with a dtype; None if a type is unknown."""
    tensors = [one for one in inputs if one.kind == "tensor"]
    sizes = [itemsize(tensor.dtype) for tensor in tensors]
    result = itemsize(dtype)
    if not result or None in sizes or any(one.kind == "tensors" for one in inputs):
        return None
    read = sum(elements(one) * (size or 0) for one, size in zip(tensors, sizes, strict=True))
    return read + sum(map(prod, outputs)) * result


def broadcast(shapes: Sequence[Shape]) -> Shape | None:
    """The broadcast shape of an elementwise operation; None if shapes do not match."""
    found: list[int] = []
    for sizes in zip_longest(*(shape[::-1] for shape in shapes), fillvalue=1):
        larger = set(sizes) - {1}
        if len(larger) > 1:
            return None
        found.append(larger.pop() if larger else 1)
    return tuple(found[::-1])


# -------------------------------------------------------------------------- the formulas


def _shapes(inputs: Sequence[Input], *places: int) -> list[Shape] | None:
    """Shapes of the tensors at these positions; None if one is missing."""
    if max(places) >= len(inputs):
        return None
    found = [inputs[place] for place in places]
    return [one.shape for one in found] if all(one.kind == "tensor" for one in found) else None


def _product(name: str, inputs: Sequence[Input], _outputs: Sequence[Shape]) -> Work | None:
    """A matrix product; ``add...`` variants also add a matrix."""
    first = 1 if re.match(r"_?b?add", name) else 0
    shapes = _shapes(inputs, first, first + 1)
    if shapes is None or not all(shapes):
        return None
    return _matmul(shapes[0], shapes[1], "grouped" in name)


def _matmul(left: Shape, right: Shape, grouped: bool) -> Work | None:
    one = left if len(left) > 1 else (1, *left)
    two = right if len(right) > 1 else (*right, 1)
    batch = broadcast((one[:-2], two[:-2]))
    if one[-1] != two[-2] or batch is None:
        return None
    batch = one[:-2] if grouped else batch  # each row belongs to one of the right matrices
    out = (*batch, one[-2], two[-1])
    made = (*batch, *(one[-2:-1] if len(left) > 1 else ()), *(two[-1:] if len(right) > 1 else ()))
    return Work(2 * prod(out) * one[-1], (made,))


def _linear(_name: str, inputs: Sequence[Input], _outputs: Sequence[Shape]) -> Work | None:
    shapes = _shapes(inputs, 0, 1)
    if shapes is None or not all(shapes) or shapes[0][-1] != shapes[1][-1]:
        return None
    rows, weight = shapes
    made = (*rows[:-1], *weight[:-1])
    return Work(2 * prod(made) * weight[-1], (made,))


def _convolution(_name: str, inputs: Sequence[Input], outputs: Sequence[Shape]) -> Work | None:
    """``convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding,
    groups)``, or another convolution with a recorded result."""
    shapes = _shapes(inputs, 0, 1)
    if shapes is None or len(shapes[0]) < 3 or len(shapes[0]) != len(shapes[1]):
        return None
    image, weight = shapes
    transposed = _is_true(inputs, 6)
    made = outputs[0] if outputs else _convolved(image, weight, inputs)
    if made is None or transposed is None:
        return None
    return Work(_convolution_flops(image, weight, made, transposed), (made,))


def _convolution_flops(image: Shape, weight: Shape, made: Shape, transposed: bool) -> int:
    """Each output element, or for a transposed convolution each input element, costs one filter."""
    places = image[2:] if transposed else made[2:]
    return 2 * prod(places) * image[0] * prod(weight)


def _convolved(image: Shape, weight: Shape, inputs: Sequence[Input]) -> Shape | None:
    stride, padding, dilation, extra = (_numbers(inputs, place) for place in (3, 4, 5, 7))
    count, groups = len(image) - 2, _numbers(inputs, 8)
    if not all((stride, padding, dilation)):
        return None
    sizes = zip(
        image[2:],
        weight[2:],
        *(_each(one, count) for one in (stride, padding, dilation)),
        _each(extra or (0,), count),
        strict=True,
    )
    if _is_true(inputs, 6):
        channels = weight[1] * (groups[0] if groups else 1)
        places = [(n - 1) * s - 2 * p + d * (k - 1) + e + 1 for n, k, s, p, d, e in sizes]
    else:
        channels = weight[0]
        places = [(n + 2 * p - d * (k - 1) - 1) // s + 1 for n, k, s, p, d, _ in sizes]
    return (image[0], channels, *places)


def _each(values: Sequence[int], count: int) -> Sequence[int]:
    """A single number applies to all dimensions."""
    return values if len(values) == count else [values[0]] * count


def _convolution_backward(
    _name: str, inputs: Sequence[Input], _outputs: Sequence[Shape]
) -> Work | None:
    """``(grad_output, input, weight, bias_sizes, stride, padding, dilation, transposed,
    output_padding, groups, output_mask)``: each gradient costs what the forward does."""
    shapes, transposed = _shapes(inputs, 0, 1, 2), _is_true(inputs, 7)
    mask = re.findall(r"true|false", _value(inputs, 10).lower())
    if shapes is None or transposed is None or len(mask) < 2 or len(shapes[1]) < 3:
        return None
    gradient, image, weight = shapes
    wanted = [one == "true" for one in mask[:2]]
    made = [shape for shape, is_wanted in zip((image, weight), wanted, strict=True) if is_wanted]
    return Work(sum(wanted) * _convolution_flops(image, weight, gradient, transposed), tuple(made))


def _attention(_name: str, inputs: Sequence[Input], _outputs: Sequence[Shape]) -> Work | None:
    """Scores of all queries with all keys, times the values."""
    shapes = _shapes(inputs, 0, 1, 2)
    if shapes is None or not _are_attention(*shapes):
        return None
    query, key, value = shapes
    scores = prod(query[:-1]) * key[-2]
    return Work(2 * scores * (query[-1] + value[-1]), ((*query[:-1], value[-1]),))


def _attention_backward(
    _name: str, inputs: Sequence[Input], _outputs: Sequence[Shape]
) -> Work | None:
    """Recomputed scores, their gradient, and those of query, key and value."""
    shapes = _shapes(inputs, 1, 2, 3)
    if shapes is None or not _are_attention(*shapes):
        return None
    query, key, value = shapes
    scores = prod(query[:-1]) * key[-2]
    return Work(2 * scores * (3 * query[-1] + 2 * value[-1]), (query, key, value))


def _are_attention(query: Shape, key: Shape, value: Shape) -> bool:
    """Whether the shapes match: ``(..., length, width)`` each."""
    return (
        min(len(query), len(key), len(value)) > 2
        and query[-1] == key[-1]
        and key[:-1] == value[:-1]
    )


def _numbers(inputs: Sequence[Input], place: int) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"-?\d+", _value(inputs, place))))


def _is_true(inputs: Sequence[Input], place: int) -> bool | None:
    """None if not recorded; false for an operator without this argument."""
    if place >= len(inputs):
        return False
    return {"true": True, "false": False}.get(_value(inputs, place).lower())


def _value(inputs: Sequence[Input], place: int) -> str:
    return inputs[place].value if place < len(inputs) else ""


_FORMULAS: tuple[
    tuple[re.Pattern[str], Callable[[str, Sequence[Input], Sequence[Shape]], Work | None]], ...
] = (
    (re.compile(r"_?b?addb?m[mv](_\w+)?|(\w+_)?b?mm|mv|(v?dot)|(\w+_)?matmul"), _product),
    (re.compile(r"(\w+_)?linear(_pointwise)?"), _linear),
    (re.compile(r"_?convolution(_overrideable)?"), _convolution),
    (re.compile(r"convolution_backward(_overrideable)?"), _convolution_backward),
    (re.compile(r"_?scaled_dot_product_\w*attention\w*_backward"), _attention_backward),
    (re.compile(r"_?scaled_dot_product_(\w*_)?attention(?!\w*backward)\w*"), _attention),
)
