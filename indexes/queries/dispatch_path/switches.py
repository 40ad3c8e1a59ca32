"""What a switch changes in the dispatcher's key sets, read from the source of its guard."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from indexes.model.dispatch import KeyCause
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.dispatch_path.key_sources import KEY_SETS, KeySources
from indexes.readers.cxx.key_sets import KeyNames, UnknownSetError

_INFERENCE = "c10/core/InferenceMode.h"
_MODES = "c10/core/impl/TorchDispatchModeTLS.cpp"
_TENSOR = "c10/core/TensorImpl.h"
_TENSOR_MADE = "c10/core/TensorImpl.cpp"
_AUTOCAST = "aten/src/ATen/autocast_mode.cpp"
_LAYERS = "aten/src/ATen/functorch/DynamicLayer.cpp"
_BATCHED = "aten/src/ATen/functorch/BatchedTensorImpl"
_FUNCTIONAL = "aten/src/ATen/FunctionalTensorWrapper.cpp"
_OPTIONS = "c10/core/TensorOptions.h"
_GUARDS = "aten/src/ATen/core/LegacyTypeDispatch.h"
_FACTORIES = (
    "tools/autograd/gen_variable_factories.py",
    "torch/csrc/autograd/generated/variable_factories.h",
)
_GUARD = r"\bat::(\w+) \w+;\s*return autograd::make_variable"
_INCLUDES = r"tls_set_dispatch_key_included\s*\(\s*(?:\w+::)*DispatchKey::(\w+)\s*,\s*(?!false)\w+"

Causes = Mapping[str, KeyCause]
MEANINGS = {
    "plain": "op(x): x is dense and strided",
    "binding": "torch.op(x), Python's function for what makes tensors",
    "requires_grad": "x.requires_grad_()",
    "autocast": "with torch.autocast(device):",
    "inference": "with torch.inference_mode(): x is made outside",
    "inference_tensor": "with torch.inference_mode(): x is made inside",
    "no_grad": "with torch.no_grad():",
    "vmap": "torch.vmap(op)(x)",
    "functionalize": "torch.func.functionalize(op)(x)",
    "subclass": "x of a class with __torch_dispatch__",
    "mode": "with a TorchDispatchMode:",
    "sparse": "x.to_sparse()",
}
"""Every switch, as written in Python."""
TRANSFORMS = {"vmap": "Vmap", "functionalize": "Functionalize"}
"""Switches that push a functorch transform, with its TransformType."""


@dataclass(frozen=True, slots=True)
class KeyState:
    """The sets from which a call chooses its keys."""

    tensor: Causes = field(default_factory=dict)
    """Functionalities in the key sets of its tensors."""
    included: Causes = field(default_factory=dict)
    excluded: Causes = field(default_factory=dict)

    def after(self, changes: Iterable[KeyCause]) -> KeyState:
        """The state with a switch's changes."""
        sets = {"tensor": dict(self.tensor), "included": dict(self.included)}
        sets["excluded"] = dict(self.excluded)
        for one in changes:
            if one.change.startswith("not "):
                sets[one.change.removeprefix("not ")].pop(one.key, None)
            else:
                sets[one.change][one.key] = one
        return KeyState(**sets)


@dataclass(frozen=True, slots=True)
class Switched:
    """A switch that is on."""

    state: KeyState
    changes: tuple[KeyCause, ...] = ()
    note: str = ""
    note_location: Location | None = None


class Switches:
    """Answers for tensors of one backend of one tree."""

    def __init__(self, sources: KeySources, backend: str) -> None:
        self._sources, self._backend = sources, backend

    def on(self, switch: str) -> Switched:
        """The state while a switch is on. Raises UnknownSetError if unknown."""
        plain = self.plain()
        made: dict[str, Callable[[KeyState], Switched]] = {
            "plain": Switched,
            "binding": self._binding,
            "requires_grad": self._requires_grad,
            "autocast": self._autocast,
            "inference": self._inference,
            "inference_tensor": self._inference_tensor,
            "no_grad": self._no_grad,
            "vmap": partial(self._transform, wrap=self._batched),
            "functionalize": partial(self._transform, wrap=self._functional),
            "subclass": self._subclass,
            "mode": self._mode,
            "sparse": self._sparse,
        }
        return made[switch](plain)

    def plain(self) -> KeyState:
        """The state of a dense tensor of the backend, with nothing on."""
        algebra, made = self._sources.algebra, {}
        for function in _RELATED:
            try:
                found = self._sources.of_backend(function, self._backend)
            except UnknownSetError:
                continue  # older headers have no set of autocast keys
            for key, where in found.items():
                words = f"TensorImpl's constructor adds {function}({self._backend}Bit)"
                made[key] = KeyCause(key, "tensor", words, where)
        dense = algebra.functionality(self._backend)
        made[dense] = KeyCause(dense, "tensor", f"the backend of a tensor on {self._backend}")
        sets = {}
        for name in ("included", "excluded"):
            keys, where = self._sources.constant(f"default_{name}_set")
            sets[name] = self._causes(keys, name, f"default_{name}_set of every thread", where)
        return KeyState(made, **sets)

    def _causes(
        self, keys: KeyNames, change: str, words: str, where: Location | None
    ) -> dict[str, KeyCause]:
        order = self._sources.algebra.order()
        ranked = sorted(keys, key=order.index, reverse=True)
        return {key: KeyCause(key, change, words, where) for key in ranked}  # type: ignore[arg-type]

    def _switched(self, state: KeyState, *changes: Causes, note: str = "") -> Switched:
        flat = [one for causes in changes for one in causes.values()]
        return Switched(state.after(flat), tuple(flat), note)

    # ------------------------------------------------------- switches that change no key

    def _requires_grad(self, state: KeyState) -> Switched:
        note = (
            "no key changes: a tensor has the Autograd key since it was made, whether or not it "
            "requires grad; the Autograd kernel asks for that"
        )
        pattern = r"key_set_\s*=\s*key_set\s*\|\s*getAutogradRelatedKeySetFromBackend"
        return Switched(state, note=note, note_location=self._sources.where(_TENSOR_MADE, pattern))

    def _no_grad(self, state: KeyState) -> Switched:
        note = "no key changes: the thread's grad mode is off, which the Autograd kernel checks"
        where = self._sources.where("c10/core/GradMode.cpp", r"\bset_enabled\s*\(")
        where = where or self._sources.where("c10/core/AutogradState.h", r"\bset_grad_mode\s*\(")
        return Switched(state, note=note, note_location=where)

    # ---------------------------------------------------- switches that change the thread

    def _binding(self, state: KeyState) -> Switched:
        """The guard in ``torch::zeros`` of variable_factories.h, which the binding calls."""
        name, where = self._factory_guard()
        pattern = rf"\b{name}\s*\(\)\s*:\s*\w+\s*\(([^{{}}]*)\)\s*\{{"
        keys = self._sources.algebra.value(self._sources.match(_GUARDS, pattern)[0][1])
        words = f"torch::op, which the binding calls, has {name}"
        return self._switched(state, self._causes(keys, "excluded", words, where))

    def _factory_guard(self) -> tuple[str, Location]:
        """The guard that torchgen writes into factory functions."""
        for logical in _FACTORIES:
            if where := self._sources.where_written(logical, _GUARD):
                found = regex(_GUARD).search(self._sources.raw(logical))
                assert found is not None
                return found[1], where
        raise UnknownSetError(f"{_FACTORIES[0]} is not in this tree")

    def _autocast(self, state: KeyState) -> Switched:
        pattern = r"tls_set_dispatch_key_excluded\s*\(\s*((?:\w+::)*\w+)\s*,\s*!\w+\s*\)"
        keys = self._sources.of_backend(_RELATED[1], self._backend)
        if not keys:
            raise UnknownSetError(f"{KEY_SETS} names no autocast key of {self._backend}")
        found = list(self._sources.matches(_AUTOCAST, pattern))
        named = [where for one, where in found if one[1].rpartition("::")[2] in keys]
        if not found:
            raise UnknownSetError(f"{_AUTOCAST} has an unexpected form")
        words = "autocast keeps its key of the device active"
        where = (named or [found[0][1]])[0]
        return self._switched(state, self._causes(frozenset(keys), "not excluded", words, where))

    def _inference(self, state: KeyState) -> Switched:
        changes: list[Causes] = []
        for name, now in (("included", state.included), ("excluded", state.excluded)):
            pattern = rf"\b{name}\s*=\s*enabled\s*\?\s*([^:;]*(?:::[^:;]*)*?)\s:\s"
            found, where = self._sources.match(_INFERENCE, pattern)
            value = self._sources.algebra.value(found[1], {f"{name}_": frozenset(now)})
            more, gone = value - frozenset(now), frozenset(now) - value
            changes.append(self._causes(more, name, "InferenceMode", where))
            changes.append(self._causes(gone, f"not {name}", "InferenceMode", where))
        return self._switched(state, *changes)

    def _inference_tensor(self, state: KeyState) -> Switched:
        outside = self._inference(state)
        pattern = r"key_set_\s*=\s*key_set\s*-\s*([^;]+);"
        found, where = self._sources.match(_TENSOR_MADE, pattern)
        gone = self._sources.algebra.value(found[1]) & frozenset(state.tensor)
        lost = self._causes(gone, "not tensor", "a tensor made in inference mode", where)
        made = self._switched(outside.state, lost)
        return replace(made, changes=(*outside.changes, *made.changes))

    def _mode(self, state: KeyState) -> Switched:
        return self._switched(state, self._included(_MODES, "a mode is on the stack"))

    def _included(self, logical: str, words: str) -> Causes:
        """The keys that a file adds to the thread's included set."""
        found: dict[str, KeyCause] = {}
        for one, where in self._sources.matches(logical, _INCLUDES):
            key = self._sources.algebra.functionality(one[1])
            found.setdefault(key, KeyCause(key, "included", words, where))
        if not found:
            raise UnknownSetError(f"{logical} has an unexpected form")
        return found

    def _transform(
        self, state: KeyState, wrap: Callable[[KeyState], tuple[Causes, ...]]
    ) -> Switched:
        layers = self._included(_LAYERS, "a transform is on functorch's stack")
        return self._switched(state, layers, *wrap(state))

    # ---------------------------------------------------- switches that change the tensor

    def _batched(self, state: KeyState) -> tuple[Causes, ...]:
        """A BatchedTensorImpl has its own key, and few of those of the tensor in it."""
        kept, where = self._propagated()
        key_set, made = self._sources.match(
            f"{_BATCHED}.cpp", r"key_set\.add\s*\(([^{}]*?)\)\s*,\s*value"
        )
        text = key_set[1].rpartition(":")[2] if "?" in key_set[1] else key_set[1]
        own = self._sources.algebra.value(f"DispatchKey::{text.rpartition('::')[2]}")
        inner = {self._sources.algebra.functionality(self._backend)} & kept
        gone = frozenset(state.tensor) - inner - self._added()
        return (
            self._causes(gone, "not tensor", "not among the keys that wrappers keep", where),
            self._causes(own, "tensor", "BatchedTensorImpl's constructor", made),
        )

    def _propagated(self) -> tuple[KeyNames, Location]:
        header = f"{_BATCHED}.h"
        algebra = self._sources.with_constants_of(header)
        where = self._sources.match(header, r"\bkKeysToPropagateToWrapper\b")[1]
        return algebra.value("kKeysToPropagateToWrapper"), where

    def _added(self) -> KeyNames:
        """The keys that TensorImpl's constructor adds to any tensor of the backend."""
        found = [self._sources.of_backend(name, self._backend) for name in _RELATED]
        return frozenset(key for keys in found for key in keys)

    def _functional(self, state: KeyState) -> tuple[Causes, ...]:
        pattern = r"((?:\w+::)*DispatchKeySet\s*\([^()]*\))\s*\|\s*value_?\.key_set\s*\(\s*\)"
        found, where = self._sources.match(_FUNCTIONAL, pattern)
        own = self._sources.algebra.value(found[1])
        return (self._causes(own, "tensor", "FunctionalTensorWrapper's constructor", where),)

    def _subclass(self, state: KeyState) -> Switched:
        pattern = r"\bset_python_dispatch\s*\([^{}]*\{[^{}]*\{\s*key_set_\s*=\s*(key_set_[^;]+);"
        found, _ = self._sources.match(_TENSOR, pattern)
        value = self._sources.algebra.value(found[1], {"key_set_": frozenset(state.tensor)})
        where = self._sources.location(_TENSOR, found.start(1))
        words = "TensorImpl::set_python_dispatch, as the tensor is made"
        new = value - frozenset(state.tensor)
        return self._switched(state, self._causes(new, "tensor", words, where))

    def _sparse(self, state: KeyState) -> Switched:
        key = self._sources.algebra.functionality(f"Sparse{self._backend}")
        dense = self._sources.algebra.functionality(self._backend)
        where = self._sources.where_written(
            _OPTIONS, rf"DispatchKey::Sparse(?:##|{self._backend}\b)"
        )
        words = "the layout is sparse"
        return self._switched(
            state,
            self._causes(frozenset({dense}), "not tensor", words, where),
            self._causes(frozenset({key}), "tensor", words, where),
        )


_RELATED = ("getAutogradRelatedKeySetFromBackend", "getAutocastRelatedKeySetFromBackend")
"""The functions by which TensorImpl's constructor adds keys for the backend."""
