"""The dispatch path of a recorded call: its keys in order, each with its kernel, from the recorded
key set."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from indexes.model.dispatch import DispatchSlot
from indexes.model.errors import NotFound, SourceError
from indexes.model.vocabulary import Location
from indexes.queries.dispatch_path.continuations import BACKEND, Continuation, Continuations
from indexes.queries.dispatch_path.key_sources import KeySources
from indexes.queries.indexed_tree import IndexedTree
from indexes.readers.cxx.key_sets import UnknownSetError


@dataclass(frozen=True, slots=True)
class DispatchStep:
    """A key that the dispatcher examined."""

    key: str
    slot: DispatchSlot | None
    """The operator's slot for the key; None if the tree does not know it."""
    certain: bool = True
    """False if the continuation is assumed, or the kernel may be another."""

    @property
    def location(self) -> Location | None:
        """The kernel, or else the registering line."""
        return (self.slot.definition or self.slot.registration) if self.slot else None


@dataclass(frozen=True, slots=True)
class DispatchPath:
    """The keys that a call passed."""

    op: str
    steps: tuple[DispatchStep, ...]
    end: str
    """Why the path ends."""
    assumed: str = ""
    """The assumptions, if the keys were not recorded but derived."""

    @property
    def ends_below_autograd(self) -> bool:
        """Whether its last kernel runs with autograd's keys excluded."""
        through = any(step.key.startswith("Autograd") for step in self.steps[:-1])
        return through and self.end == BACKEND

    @property
    def is_certain(self) -> bool:
        """False if a step is uncertain, or the keys were derived."""
        return not self.assumed and all(step.certain for step in self.steps)


class DispatchPaths:
    """Answers for the operators of one tree."""

    def __init__(self, index: IndexedTree) -> None:
        self._dispatch = index.dispatch
        self._sources = KeySources(index.source, index.dispatch)
        self._continuations = Continuations(self._sources)
        self._paths, self._slots = cache(self._walk), cache(self._read_slots)

    def path(self, op: str, keys: tuple[str, ...], backend: str = "") -> DispatchPath:
        """The path of ``add.Tensor`` called with ``keys``, first one first. ``backend``: the device
        for the result of an operator without tensors, ``CPU``; may be empty."""
        return self._paths(op, keys, backend)

    def usual_keys(self, backend: str, *, tensors: bool, below: bool) -> tuple[str, ...]:
        """The keys of a call without modes, transforms or autocast. ``below``: called by a kernel
        below autograd (c10::AutoDispatchBelowADInplaceOrView). None for tensors not clearly of one
        backend."""
        runtime = self._dispatch.keys.runtime
        if not any(key.name == backend and key.functionality == "Dense" for key in runtime):
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
            slot, on = slots.get(key), self._goes_on(key, slots.get(key), backend)
            sure = slot is not None and slot.confidence != "ambiguous" and on.certain
            steps.append(DispatchStep(key, slot, sure))
            if on.kind not in ("next", "below", "backend") or not keys:
                return DispatchPath(op, tuple(steps), on.words)
            keys = self._left(keys[1:], on, backend)

    def _read_slots(self, op: str) -> dict[str, DispatchSlot]:
        return {slot.key: slot for slot in self._dispatch.table(op).slots}

    def _goes_on(self, key: str, slot: DispatchSlot | None, backend: str) -> Continuation:
        """How the kernel of a key continues; ``end`` if the recording does not show it."""
        if slot is None or slot.kind == "missing":
            return Continuation("end", _missing(key, backend))
        try:
            on = self._continuations.of(key, slot)
        except UnknownSetError as error:  # a tree without one of the keys that it goes by
            return Continuation("end", f"what its kernel calls is unknown: {error}", certain=False)
        if on.kind == "backend" and not backend:
            return Continuation("end", "the trace does not say on which device")
        return on

    def _left(self, rest: tuple[str, ...], on: Continuation, backend: str) -> tuple[str, ...]:
        if on.kind == "backend":
            return (backend,)
        if on.kind == "next":
            return rest
        return tuple(key for key in rest if self._is_left(key, on))

    def _is_left(self, key: str, on: Continuation) -> bool:
        """Whether a key remains. One unknown to the tree does, so that the path ends there and says
        so."""
        try:
            return self._sources.algebra.functionality(key) in on.keys
        except UnknownSetError:
            return True


def _missing(key: str, backend: str) -> str:
    if key == backend:  # chosen from dtype, layout and device that the call asks for
        return f"this tree registers no kernel for {key}; the call may ask for another layout"
    return f"this tree registers no kernel for {key}"
