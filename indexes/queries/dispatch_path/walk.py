"""Walks the dispatch path of an operator: the keys that a call meets while a switch is on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from indexes.model.dispatch import DispatchSlot, KeyCause, PathStep, SwitchPath, SwitchPaths
from indexes.model.errors import SourceError, UsageError
from indexes.model.schema import parse_schema, tensor_options
from indexes.model.vocabulary import NativeFunction
from indexes.queries.dispatch_path.continuations import Continuation, Continuations
from indexes.queries.dispatch_path.key_sources import KeySources
from indexes.queries.dispatch_path.switches import (
    MEANINGS,
    TRANSFORMS,
    KeyState,
    Switched,
    Switches,
)
from indexes.queries.indexed_tree import IndexedTree
from indexes.readers.cxx.key_sets import KeyNames, UnknownSetError

_INTERPRETER = "aten/src/ATen/functorch/Interpreter.cpp"
_OWN_KEYS = r"TransformType::{}\b[^{{}};]*\{{[^{{}}]*?return\s+([^;]+);"
_MOST_CALLS = 6


class SwitchedPaths:
    """Answers for the operators of one tree."""

    def __init__(self, index: IndexedTree) -> None:
        self._index, self._dispatch = index, index.dispatch
        self.sources = KeySources(index.source, index.dispatch)
        self._continuations = Continuations(self.sources)

    def paths(self, op: str, switches: Sequence[str] = (), device: str = "cpu") -> SwitchPaths:
        """The paths of ``add.Tensor`` for tensors on ``cpu``, the plain one first; for a factory
        such as ``zeros`` also that of its Python function.

        Raises:
            NotFound: Nothing is registered for the operator.
            UsageError: The tree has no backend of that device.
            SourceError: The tree has no header with sets of dispatch keys, or keys without backends
            (before PyTorch 1.12).
        """
        backend = self._backend(device)
        native = self._index.native(op)
        table = self._dispatch.table(op)
        slots = {slot.key: slot for slot in table.slots}
        call = _Call(slots, backend, _takes_tensors(native))
        always = ("plain", "binding") if makes_tensors(native) else ("plain",)
        wanted = dict.fromkeys((*always, *(one for one in switches if one != "binding")))
        try:
            found = tuple(self._path(call, switch) for switch in wanted)
        except UnknownSetError as error:
            raise SourceError(str(error)) from error
        order = tuple(key.name for key in reversed(self._dispatch.keys.runtime))
        return SwitchPaths(table.source, table.op, backend, found, order)

    def _backend(self, device: str) -> str:
        for backend in self._dispatch.keys.backends:
            if backend.lower() == device.lower():
                return backend
        if not self._dispatch.keys.backends:
            raise SourceError("this version of PyTorch has no dispatch keys for each backend")
        near = tuple(one.lower() for one in self._dispatch.keys.backends)
        raise UsageError(f"no dispatch key for the device {device!r}", near)

    def _path(self, call: _Call, switch: str) -> SwitchPath:
        made = Switches(self.sources, call.backend)
        plain = made.plain()
        try:
            on = made.on(switch)
            steps, end = _Walk(self, call, plain, on.state, switch).whole()
        except UnknownSetError as error:
            return SwitchPath(switch, MEANINGS[switch], (), (), "", unknown=str(error))
        return self._answer(switch, on, steps, end)

    def _answer(self, switch: str, on: Switched, steps: list[PathStep], end: str) -> SwitchPath:
        what = (switch, MEANINGS[switch], on.changes, tuple(steps), end)
        return SwitchPath(*what, on.note, on.note_location)

    def goes_on(self, key: str, slot: DispatchSlot | None) -> Continuation:
        """How the kernel of a slot continues."""
        return self._continuations.of(key, slot)

    def entering(self, transform: str, state: KeyState) -> KeyState:
        """The state in which a functorch transform calls the operator again
        (``setup_dispatch_key_tls`` in Interpreter.cpp). Raises UnknownSetError."""
        algebra, sources = self.sources.algebra, self.sources
        where = sources.match(_INTERPRETER, _OWN_KEYS.format(transform))[1]
        kept = self.entered_by(transform)
        every = algebra.returned(sources.body(_INTERPRETER, "get_all_dynlayer_keyset"))
        excluded = every - kept - {"FuncTorchDynamicLayerBackMode"}
        words = f"only the keys of {transform} stay active"
        out = [KeyCause(key, "excluded", words, where) for key in excluded]
        back = [KeyCause(key, "not excluded", words, where) for key in kept]
        more = self._also_included(transform)
        return state.after((*out, *back, *more))

    def entered_by(self, transform: str) -> KeyNames:
        """The keys that remain for a transform, by Interpreter.cpp."""
        found, _ = self.sources.match(_INTERPRETER, _OWN_KEYS.format(transform))
        return self.sources.algebra.value(found[1])

    def _also_included(self, transform: str) -> list[KeyCause]:
        logical = f"aten/src/ATen/functorch/{transform}Interpreter.cpp"
        given = rf"(?:TransformType::{transform}|\w+\(\))"
        pattern = rf"setup_dispatch_key_tls\s*\(\s*{given}\s*,([^;]*)\)\s*;"
        found, where = self.sources.match(logical, pattern)
        keys = self.sources.algebra.value(found[1])
        words = f"the interpreter of {transform} includes it"
        return [KeyCause(key, "included", words, where) for key in keys]


@dataclass(frozen=True, slots=True)
class _Call:
    """The parts of a call that do not depend on switches."""

    slots: dict[str, DispatchSlot]
    backend: str
    takes_tensors: bool


def _takes_tensors(native: NativeFunction | None) -> bool:
    """Whether an operator takes tensors; without a schema it counts as one."""
    if native is None:
        return True
    return any(one.base_type == "Tensor" for one in parse_schema(native.schema).arguments)


def makes_tensors(native: NativeFunction | None) -> bool:
    """Whether it has a generated ``torch::`` factory (``is_factory_function`` in
    gen_variable_factories.py)."""
    if native is None or "function" not in native.variants:
        return False
    schema = parse_schema(native.schema)
    return bool(tensor_options(schema)) or (
        schema.name.endswith("_like") and not schema.out_arguments
    )


class _Walk:
    """One path."""

    def __init__(
        self, owner: SwitchedPaths, call: _Call, plain: KeyState, state: KeyState, switch: str
    ) -> None:
        self._owner, self._call, self._plain = owner, call, plain
        self._transform = TRANSFORMS.get(switch, "")
        self._state, self._steps, self._number = state, list[PathStep](), 0

    def whole(self) -> tuple[list[PathStep], str]:
        """The steps, and why the path ends. Raises UnknownSetError."""
        rest = self._fresh()
        while True:
            key = rest[0] if rest else "Undefined"
            on = self._meet(key)
            if on.kind == "end":
                return self._steps, on.words + self._outwards(key)
            if key == "Undefined":
                return self._steps, "no key is left"
            rest = self._left(rest, on)
            if self._number > _MOST_CALLS:
                return self._steps, "redispatches to itself without end"

    def _outwards(self, key: str) -> str:
        """The path of the calls by a transform's kernel."""
        if self._transform and key in self._owner.entered_by(self._transform):
            return "; each passes FuncTorchDynamicLayerBackMode and goes on as without it"
        return ""

    def _left(self, rest: tuple[str, ...], on: Continuation) -> tuple[str, ...]:
        if on.kind == "next":
            return rest[1:]
        if on.kind == "below":
            functionality = self._owner.sources.algebra.functionality
            return tuple(key for key in rest[1:] if functionality(key) in on.keys)
        if on.kind == "backend":
            return rest[1:] or (self._call.backend,)  # the keys of the tensors below its own
        if on.kind == "transform":
            self._state = self._owner.entering(self._transform, self._state)
        elif on.kind == "next transform":
            self._state = self._plain
        else:
            self._state = self._inside(on)
        return self._fresh()

    def _inside(self, on: Continuation) -> KeyState:
        """The state of a call that a kernel makes anew."""
        causes = [KeyCause(key, "excluded", on.words, on.location) for key in on.keys]
        if "Python" not in on.keys:
            return self._state.after(causes)
        causes += [KeyCause(key, "not included", "", None) for key in on.keys]
        return replace(self._state.after(causes), tensor=self._plain.tensor)

    def _fresh(self) -> tuple[str, ...]:
        """The keys of a new call; excluded ones are steps too."""
        self._number += 1
        in_play = dict(self._state.included)
        if self._call.takes_tensors:
            in_play |= self._state.tensor
        order = self._owner.sources.algebra.order()
        ranked = sorted(in_play, key=order.index, reverse=True)
        self._causes = {self._runtime(key): in_play[key] for key in ranked}
        out = [key for key in ranked if key in self._state.excluded]
        for key in out:
            cause = self._state.excluded[key]
            self._steps.append(PathStep(self._runtime(key), self._number, "excluded", cause))
        return tuple(self._runtime(key) for key in ranked if key not in out)

    def _meet(self, key: str) -> Continuation:
        slot = self._call.slots.get(key)
        on = self._owner.goes_on(key, slot)
        held = slot is not None and slot.kind != "missing"
        action = "falls through" if on.kind == "next" else "runs" if held else "raises"
        what = (key, self._number, action, self._causes.get(key), slot)
        self._steps.append(PathStep(*what, on.words, on.location, on.certain))  # type: ignore[arg-type]
        return on

    def _runtime(self, functionality: str) -> str:
        return self._owner.sources.runtime_key(functionality, self._call.backend)
