"""Records writes to storages, call by call, without anomaly mode."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.multiprocessing.reductions import StorageWeakRef

from navigator.explanation import Write
from navigator.objects.graph import Lines, program_frame, tensors_in
from navigator.objects.members import REFUSALS


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A call of torch that raised."""

    name: str
    """``torch.nn.functional.linear``."""
    given: tuple[torch.Tensor, ...]
    error: BaseException


class Writes(Lines):
    """Records writes, nodes' lines, the roots of backward passes, and the last failed call."""

    def __init__(self) -> None:
        super().__init__()
        self.writes: list[Write] = []
        self.roots: list[torch.Tensor] = []
        """The tensors whose backward pass was started, the last one last."""
        self.failed: FailedCall | None = None
        self._alive: dict[int, StorageWeakRef] = {}
        """Keeps addresses from being reused by other storages."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if func is torch.Tensor.backward:
            self.roots = [args[0]]
        inputs = [*tensors_in([args, [*(kwargs or {}).values()]])]
        before = [(one, version) for one in inputs if (version := _version(one)) is not None]
        try:
            made = super().__torch_function__(func, types, args, kwargs)
        except Exception as error:
            self.failed = FailedCall(_name(func), tuple(inputs), error)
            raise
        frame = program_frame(inspect.currentframe())
        line = (frame.f_code.co_filename, frame.f_lineno) if frame else None
        for one, version in before:
            self._note_write(one, version, func, line)
        return made

    def _note_write(
        self, tensor: torch.Tensor, before: int, func: Any, line: tuple[str, int] | None
    ) -> None:
        after, storage = _version(tensor), storage_of(tensor)
        if after is None or after == before or storage is None:
            return
        if storage not in self._alive:
            self._alive[storage] = StorageWeakRef(tensor.untyped_storage())
        shape = tuple(tensor.shape)
        through = f"a view of shape {shape}" if tensor._is_view() else f"shape {shape}"
        call = _name(func).removeprefix("torch.")
        enabled = torch.is_grad_enabled()
        self.writes.append(Write(storage, before, after, call, through, line, enabled))

    def to(self, storage: int | None, since: int) -> Iterator[Write]:
        """The writes to a storage since a version."""
        return (write for write in self.writes if write.storage == storage and write.after > since)


def _name(func: Any) -> str:
    """``torch.mm``; the function's own name if torch's differs, as for ``torch.spmm``."""
    name = getattr(func, "__name__", str(func))
    within, _, _ = (torch.overrides.resolve_name(func) or "").rpartition(".")
    return f"{within}.{name}" if within else name


def _version(tensor: torch.Tensor) -> int | None:
    try:
        return int(tensor._version)
    except REFUSALS:  # made in inference mode
        return None


def storage_of(tensor: torch.Tensor) -> int | None:
    """The identity of a tensor's storage, or None."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except REFUSALS:
        return None
