"""The dispatch path of a call: the keys it went through, in order, with the kernel of each.

The dispatcher calls the kernel of the highest key in the set that it chooses from. What comes
next follows from how that kernel goes on: a fallthrough leaves its key out, the kernels that
torchgen writes for autograd, views and tracing call again with the keys below theirs, the
kernel of a backend or of a composite operator is the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

from indexes.model.dispatch import DispatchSlot
from indexes.model.errors import NotFound, SourceError
from indexes.model.vocabulary import Location
from indexes.queries.dispatch_table import Dispatch
from indexes.readers.cxx.dispatch_keys import RuntimeKey

_REDISPATCH = ("ADInplaceOrView", "Tracer")
"""torchgen writes their kernels: each calls again with the keys below its own."""
_FALLBACKS = ("Conjugate", "Negative", "ZeroTensor", "PythonTLSSnapshot", "PreDispatch")
"""Their backend fallbacks do the same (MathBitsFallback.h, PythonFallbackKernel.cpp)."""
_BACKEND = "the kernel of the backend"
_AUTOCAST = "casts the inputs and calls the operator again, without autocast: a row below"
_CALLS_AGAIN = {
    "FuncTorchDynamicLayerFrontMode": "the innermost transform takes over and calls again: the "
    "rows below, one for each level",
    "FuncTorchDynamicLayerBackMode": "hands the call to the next transform outwards, or to none: "
    "a row below",
    "Python": "a __torch_dispatch__ in Python decides what comes next",
    "PythonDispatcher": "torch's dispatcher in Python decides what comes next",
}


@dataclass(frozen=True, slots=True)
class DispatchStep:
    """One key that the dispatcher looked at."""

    key: str
    slot: DispatchSlot | None
    """What the operator's table holds for the key; None where the tree does not know it."""

    @property
    def location(self) -> Location | None:
        """The kernel, or else the line that registers it or makes torchgen do so."""
        return (self.slot.definition or self.slot.registration) if self.slot else None


@dataclass(frozen=True, slots=True)
class DispatchPath:
    """The keys that a call went through."""

    op: str
    steps: tuple[DispatchStep, ...]
    end: str
    """Why the last step is the last."""
    assumed: str = ""
    """What the path rests on, where its keys were not recorded but worked out."""

    @property
    def ends_below_autograd(self) -> bool:
        """Whether its last kernel calls others with the keys of autograd excluded."""
        through = any(step.key.startswith("Autograd") for step in self.steps[:-1])
        return through and self.end == _BACKEND

    @property
    def is_certain(self) -> bool:
        """False where a kernel may be registered in source that is not at hand, or where the
        keys were worked out."""
        return not self.assumed and all(
            s.slot is not None and s.slot.confidence != "ambiguous" for s in self.steps
        )


class DispatchPaths:
    """Answers for the operators of one tree."""

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch
        self._paths, self._slots = cache(self._walk), cache(self._read_slots)

    def path(self, op: str, keys: tuple[str, ...], backend: str = "") -> DispatchPath:
        """The path of ``add.Tensor`` called with ``keys``, the first one first. ``backend`` is
        where an operator without tensors makes its result: ``CPU``; empty when not known."""
        return self._paths(op, keys, backend)

    def usual_keys(self, backend: str, *, tensors: bool, below: bool) -> tuple[str, ...]:
        """The keys of a call where no mode, transform or autocast is on. ``below``: a kernel
        below autograd makes it (c10::AutoDispatchBelowADInplaceOrView). None for tensors that
        are not plainly of one backend."""
        if not any(k.name == backend and k.functionality == "Dense" for k in self._runtime):
            return ()
        above = () if below else ("ADInplaceOrView",)
        if not tensors:
            return (*above, "BackendSelect")
        autograd = () if below else (f"Autograd{backend}",)
        return (*autograd, *above, "BackendSelect", backend)

    def _walk(self, op: str, keys: tuple[str, ...], backend: str) -> DispatchPath:
        try:
            slots = self._slots(op)
        except (NotFound, SourceError) as error:
            return DispatchPath(op, (), str(error))
        steps: list[DispatchStep] = []
        while True:
            key = keys[0] if keys else "Undefined"
            steps.append(DispatchStep(key, slots.get(key)))
            keys, end = self._after(steps[-1], keys, backend)
            if end:
                return DispatchPath(op, tuple(steps), end)

    def _read_slots(self, op: str) -> dict[str, DispatchSlot]:
        return {slot.key: slot for slot in self._dispatch.table(op).slots}

    def _after(
        self, step: DispatchStep, keys: tuple[str, ...], backend: str
    ) -> tuple[tuple[str, ...], str]:
        """The keys that are left after a step, or why it is the last one."""
        key, slot = step.key, step.slot
        if slot is None or slot.kind == "missing":
            return (), _missing(key, backend)
        if slot.fallthrough and keys:
            return keys[1:], ""
        if slot.kind == "math kernel":
            return (), "composite: its kernel calls other operators, the rows below"
        if self._is_backend(key):
            return (), _BACKEND
        if key == "BackendSelect":
            return ((backend,), "") if backend else ((), "the trace does not say on which device")
        below = self._goes_below(key, slot)
        if below:
            return tuple(one for one in keys[1:] if self._rank(one) < self._rank(below)), ""
        words = _AUTOCAST if key.startswith("Autocast") else _CALLS_AGAIN.get(key)
        return (), words or "what its kernel calls stands in the rows below"

    def _goes_below(self, key: str, slot: DispatchSlot) -> str:
        """The key below which the kernel calls again; empty when it does something else."""
        if key.startswith("Autograd"):
            return "AutogradOther"  # c10::after_autograd_keyset
        plain = key in _REDISPATCH or (key in _FALLBACKS and slot.kind == "backend fallback")
        return key if plain else ""

    def _is_backend(self, key: str) -> bool:
        """Keys below BackendSelect are backends (c10/core/DispatchKey.h)."""
        return self._rank(key) < self._rank("BackendSelect")

    def _rank(self, key: str) -> int:
        """Its priority; a key that the tree does not know has the highest."""
        return self._ranks.get(key, len(self._ranks))

    @cached_property
    def _ranks(self) -> dict[str, int]:
        return {key.name: rank for rank, key in enumerate(self._runtime)}

    @property
    def _runtime(self) -> Sequence[RuntimeKey]:
        return self._dispatch.keys.runtime


def _missing(key: str, backend: str) -> str:
    if key == backend:  # chosen from dtype, layout and device that the call asks for
        return f"this tree registers no kernel for {key}; the call may ask for another layout"
    return f"this tree registers no kernel for {key}"
