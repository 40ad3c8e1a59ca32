"""Checks the graph's gradient for a variable against the program, which runs twice more with the
variable moved along a random direction."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from navigator.objects.graph import tensors_in, variables

Run = Callable[[TorchFunctionMode], tuple[Any, Mapping[str, Any]]]
"""Runs the program within a mode; returns its loss and variables."""
_Place = tuple[int, int]
"""The number of a call, from 1, and the index of a tensor in it."""
_TOLERANCE = {torch.float64: 1e-6, torch.complex128: 1e-6}
_PLAIN_TOLERANCE = 1e-2
"""Relative tolerance: few of a float32 loss's seven digits survive the difference."""
_SEED = 0


@dataclass(frozen=True, slots=True)
class NumericCheck:
    """A directional derivative of the loss, computed in two ways."""

    variable: str
    by_graph: float
    by_difference: float
    """(L(v + h d) - L(v - h d)) / 2h."""
    step: float
    """h; d has length 1."""
    tolerance: float
    """Relative to the larger value."""

    @property
    def agrees(self) -> bool:
        """Whether the two values differ by less than the tolerance."""
        largest = max(abs(self.by_graph), abs(self.by_difference))
        return abs(self.by_graph - self.by_difference) <= self.tolerance * largest


def check(run: Run, variable: str) -> NumericCheck:
    """Compares a variable's gradient with a central difference.

    Raises:
        ValueError: The loss is not a single number, the program is not deterministic, or the
            variable is not a leaf of its graph.
    """
    uses = _LeafUses()
    loss, names = _seeded(run, uses)
    tensor = variables(names).get(variable)
    if tensor is None or id(tensor) not in uses.first:
        raise ValueError(f"{variable} is not a leaf that the program uses")
    if loss.numel() != 1:
        raise ValueError(f"the loss has {loss.numel()} elements: only a single number is checked")
    place = uses.first[id(tensor)]
    again = _moved(run, place, torch.zeros_like(tensor))
    if again != loss.item():
        raise ValueError(f"the program gives another loss each time: {loss.item()}, then {again}")
    (gradient,) = torch.autograd.grad(loss, tensor)
    direction = _direction(tensor)
    step = _step(tensor)
    ahead, behind = (_moved(run, place, sign * step * direction) for sign in (1, -1))
    by_graph = torch.sum(gradient * direction).item()
    tolerance = _TOLERANCE.get(tensor.dtype, _PLAIN_TOLERANCE)
    return NumericCheck(variable, by_graph, (ahead - behind) / (2 * step), step, tolerance)


def _direction(tensor: torch.Tensor) -> torch.Tensor:
    generator = torch.Generator().manual_seed(_SEED)
    drawn = torch.randn(tensor.shape, generator=generator, dtype=torch.float64)
    return (drawn / drawn.norm()).to(tensor.dtype).to(tensor.device)


def _step(tensor: torch.Tensor) -> float:
    """The cube root of the precision, scaled: it balances truncation and rounding."""
    size: float = max(1.0, tensor.detach().norm().item())
    precision: float = torch.finfo(tensor.dtype).eps
    step: float = precision ** (1 / 3) * size
    return step


def _moved(run: Run, place: _Place, by: torch.Tensor) -> float:
    loss, _ = _seeded(run, _MoveVariable(place, by))
    return float(loss.item())


def _seeded(run: Run, mode: TorchFunctionMode) -> tuple[Any, Mapping[str, Any]]:
    random.seed(_SEED)
    torch.manual_seed(_SEED)
    return run(mode)


class _CallCounter(TorchFunctionMode):  # type: ignore[misc]
    """Counts calls."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def before(self, tensors: list[torch.Tensor]) -> None:
        """Called with the tensors of a call."""

    def after(self, tensors: list[torch.Tensor]) -> None:
        """Called with them when it has ended."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        self.count += 1
        tensors = [*tensors_in([args, [*(kwargs or {}).values()]])]
        self.before(tensors)
        made = func(*args, **(kwargs or {}))
        self.after(tensors)
        return made


class _LeafUses(_CallCounter):
    """Records each leaf's first call after its last write, which may initialise it."""

    def __init__(self) -> None:
        super().__init__()
        self.first: dict[int, _Place] = {}
        self._versions: list[int] = []
        self._alive: list[torch.Tensor] = []

    def before(self, tensors: list[torch.Tensor]) -> None:
        self._versions = [_version(tensor) for tensor in tensors]

    def after(self, tensors: list[torch.Tensor]) -> None:
        for at, (one, version) in enumerate(zip(tensors, self._versions, strict=True)):
            if _version(one) != version:
                self.first.pop(id(one), None)
            elif one.is_leaf and one.requires_grad and id(one) not in self.first:
                self.first[id(one)] = (self.count, at)
                self._alive.append(one)  # keep its id from being reused


def _version(tensor: torch.Tensor) -> int:
    return 0 if tensor.is_inference() else int(tensor._version)


class _MoveVariable(_CallCounter):
    """Adds to one tensor right before a given call."""

    def __init__(self, place: _Place, by: torch.Tensor) -> None:
        super().__init__()
        self._place = place
        self._by = by

    def before(self, tensors: list[torch.Tensor]) -> None:
        number, at = self._place
        if self.count == number and at < len(tensors) and tensors[at].shape == self._by.shape:
            tensors[at].data.add_(self._by)
