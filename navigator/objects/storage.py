"""A tensor's storage: covered elements, memory formats, and other tensors that share it."""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product

import torch

from navigator.objects.members import REFUSALS
from navigator.strides import mismatch, orders

CELLS = 64
"""Maximum number of cells in a strip."""
_COUNTED = 1 << 20
"""Maximum number of runs that are placed individually."""


@dataclass(frozen=True, slots=True)
class Strip:
    """A storage as a row of cells, each for equally many elements."""

    elements: int
    """Number of elements of the tensor's type in the storage."""
    item_bytes: int
    per_cell: int
    """Elements per cell."""
    covered: tuple[float, ...]
    """The share of each cell that the tensor covers, 0 to 1."""
    first: int
    last: int
    """The lowest and highest covered element."""
    reached: int | None
    """Number of covered elements, which the tensor's elements may share; None if there are too many
    runs to count."""
    formula: str
    """The position of an element: ``12 + 4*i + 1*j``."""


@dataclass(frozen=True, slots=True)
class Format:
    """A memory format, and whether a tensor is contiguous in it."""

    name: str
    holds: bool
    why: str


@dataclass(frozen=True, slots=True)
class Sharer:
    """Another tensor of the program with the same storage."""

    address: int
    shape: tuple[int, ...]
    offset: int
    is_base: bool
    """Whether it is the inspected tensor's base."""
    same_version: bool | None
    """Whether it has the same version counter; None if unknown."""


def strip(tensor: torch.Tensor) -> Strip:
    """The elements of its storage that a tensor covers. Raises torch's errors if it has none."""
    sizes, strides = tuple(tensor.shape), tensor.stride()
    if not all(type(one) is int for one in (*sizes, *strides)):
        raise ValueError(f"sizes {sizes} and strides {strides} are symbolic")
    offset, item = tensor.storage_offset(), tensor.element_size()
    elements = tensor.untyped_storage().nbytes() // item
    length, starts, complete = _runs(sizes, strides, offset)
    per_cell = max(-(-elements // CELLS), 1)
    counts = [0] * -(-elements // per_cell)
    for start in starts:
        for cell in range(
            start // per_cell, min((start + length - 1) // per_cell + 1, len(counts))
        ):
            begin = cell * per_cell
            counts[cell] += min(start + length, begin + per_cell) - max(start, begin)
    widths = [min(per_cell, elements - cell * per_cell) for cell in range(len(counts))]
    covered = tuple(count / width for count, width in zip(counts, widths, strict=True))
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    ends = (offset, last) if starts else (0, -1)
    formula = _formula(offset, strides)
    reached = length * len(starts) if complete else None
    return Strip(elements, item, per_cell, covered, ends[0], ends[1], reached, formula)


def _runs(
    sizes: Sequence[int], strides: Sequence[int], offset: int
) -> tuple[int, Collection[int], bool]:
    """The runs of covered elements: their length, their starts, and whether these are complete.
    Expanded dimensions cover nothing new and do not count."""
    if 0 in sizes:
        return 0, (), True
    dims = sorted(
        (stride, size) for size, stride in zip(sizes, strides, strict=True) if stride and size > 1
    )
    length = 1
    while dims and dims[0][0] == length and not _overlap(dims):
        length *= dims.pop(0)[1]
    left, steps, complete = _COUNTED, [], True
    for stride, size in dims:
        take = min(size, max(left, 1))
        complete = complete and take == size
        steps.append(range(0, take * stride, stride))
        left //= take
    return length, {offset + sum(one) for one in product(*steps)}, complete


def _overlap(dims: Sequence[tuple[int, int]]) -> bool:
    """Whether two indices can refer to one element, as in sliding windows."""
    extent = 1
    for stride, size in dims:
        if stride < extent:
            return True
        extent += (size - 1) * stride
    return False


def _formula(offset: int, strides: Sequence[int]) -> str:
    letters = "ijklmn" if len(strides) <= 6 else ""
    names = letters or [f"i{at}" for at in range(len(strides))]
    steps = [f"{stride}*{name}" for stride, name in zip(strides, names, strict=False)]
    return " + ".join([str(offset), *steps])


def formats(tensor: torch.Tensor) -> tuple[Format, ...]:
    """The memory formats for its number of dimensions."""
    return tuple(_format(tensor, name, order) for name, order in orders(tensor.dim()).items())


def _format(tensor: torch.Tensor, name: str, order: tuple[int, ...]) -> Format:
    holds = tensor.is_contiguous(memory_format=getattr(torch, name))
    why = mismatch(tuple(tensor.shape), tensor.stride(), order)
    if holds and not why:
        return Format(name, True, "each stride is the product of the sizes inside of it")
    return Format(name, holds, why or "torch reports it so, although the strides would fit")


def sharers(
    tensor: torch.Tensor, version_of: Callable[[torch.Tensor], int | None]
) -> tuple[Sharer, ...]:
    """Other tensors known to Python with the same storage, the base first.

    Tensors held only by C++, such as saved ones, are missing.

    Parameters:
        version_of: Returns the identity of a tensor's version counter, or None.
    """
    address, version, base = tensor.untyped_storage()._cdata, version_of(tensor), tensor._base
    found = [base] if base is not None else []
    found += [one for one in gc.get_objects() if _shares_storage(one, tensor, base, address)]
    return tuple(
        Sharer(
            one._cdata,
            tuple(one.shape),
            one.storage_offset(),
            one is base,
            None if version is None else version_of(one) == version,
        )
        for one in found
    )


def _shares_storage(
    one: object, tensor: torch.Tensor, base: torch.Tensor | None, address: int
) -> bool:
    if not issubclass(type(one), torch.Tensor) or one is tensor or one is base:
        return False
    try:
        return bool(one.untyped_storage()._cdata == address)  # type: ignore[attr-defined]
    except REFUSALS:  # no storage: sparse, or a wrapper
        return False
