"""How a kernel continues, read from its source: it redispatches below its own key, calls the
operator again under a guard, or computes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from indexes.model.dispatch import DispatchSlot
from indexes.model.errors import SourceError
from indexes.model.idioms import first_argument
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.dispatch_path.key_sources import KeySources
from indexes.readers.cxx.key_sets import KeyNames, UnknownSetError
from indexes.readers.cxx.lexer import lex


@dataclass(frozen=True, slots=True)
class Continuation:
    """What follows a kernel."""

    kind: Literal["next", "below", "backend", "again", "transform", "next transform", "end"]
    """``next`` for a fallthrough; ``below``: a redispatch with ``keys``; ``again``: the operator is
    called anew with ``keys`` excluded."""
    words: str
    location: Location | None = None
    keys: KeyNames = frozenset()
    certain: bool = True


BACKEND = "the kernel of the backend"
_GENERATORS = {
    "VariableType": ("tools/autograd/gen_variable_type.py", "AutogradOther"),
    "ADInplaceOrViewType": ("tools/autograd/gen_inplace_or_view_type.py", "ADInplaceOrView"),
    "TraceType": ("tools/autograd/gen_trace_type.py", "Tracer"),
}
"""torchgen's generators, each with the key below which its kernels redispatch."""
_GENERATED = regex(r"torchgen: (\w+)\*?\.cpp")
_PASSED = r"""dispatch_key_set\s*=\s*\(?\s*["']([^"']+)["']"""
_REDISPATCH = regex(r"\b(?:redispatch|redispatchBoxed|redispatch::\w+)\s*\(")
_PARAMETER = regex(r"\bDispatchKeySet\s+(\w+)")
_POLICY = regex(r"WrapFunction<CastPolicy::(\w+)>")
_PYTHON_FALLBACK = "aten/src/ATen/core/PythonFallbackKernel.cpp"
_INTERPRETER = "aten/src/ATen/functorch/DynamicLayer.cpp"
_MATH_BITS = "aten/src/ATen/native/MathBitsFallback.h"
_BELOW_OWN = ("ADInplaceOrView", "ZeroTensor", "PythonTLSSnapshot", "PreDispatch")
_BATCHING = ("FuncTorchBatched", "BatchedNestedTensor", "Batched")


class Continuations:
    """Answers for one tree."""

    def __init__(self, sources: KeySources) -> None:
        self._sources = sources

    def of(self, key: str, slot: DispatchSlot | None) -> Continuation:
        """What follows the kernel of a slot."""
        if slot is None or slot.kind == "missing":
            return Continuation(
                "end", f"no kernel for {key} and no fallback: the dispatcher raises"
            )
        if slot.fallthrough:
            return Continuation("next", "falls through to the next key", slot.registration)
        if slot.kind == "math kernel":
            return Continuation("end", "composite: its kernel calls other operators")
        if self._is_backend(key):
            return Continuation("end", BACKEND, slot.definition or slot.registration)
        if key == "BackendSelect":
            where = self._sources.where_written("torchgen/gen.py", r"DispatchKeySet _dk = ")
            return Continuation(
                "backend", "calls again with the backend of the device asked for", where
            )
        return self._of_kernel(key, slot)

    def _is_backend(self, key: str) -> bool:
        algebra = self._sources.algebra
        return algebra.functionality(key) in algebra.after("BackendSelect")

    def _of_kernel(self, key: str, slot: DispatchSlot) -> Continuation:
        if slot.origin.endswith(".py") and not slot.origin.startswith("torchgen"):
            return Continuation(
                "end", "a Python function, which decides what it calls", slot.definition
            )
        by_key = self._of_mode(key, slot)
        if by_key is not None:
            return by_key
        generated = _GENERATED.match(slot.origin)
        if generated and generated[1] in _GENERATORS:
            return self._generated(generated[1])
        try:
            return self._written(slot)
        except UnknownSetError as error:
            return self._assumed(key, slot, str(error))

    def _of_mode(self, key: str, slot: DispatchSlot) -> Continuation | None:
        """What follows kernels that do not redispatch below their key."""
        policy = _POLICY.search(slot.kernel)
        if policy and key.startswith("Autocast"):
            return self._autocast(key, policy[1])
        if key == "Python":
            return self._python(slot)
        if key == "PythonDispatcher":
            return Continuation("end", "torch's dispatcher in Python decides what comes next")
        if key in _BATCHING:
            words = "the batch rule calls operators on the unwrapped tensors: separate calls"
            return Continuation("end", words, slot.definition or slot.registration)
        if key == "Functionalize":
            words = "calls the functional operator on the unwrapped tensors: a separate call"
            return Continuation("end", words, slot.definition or slot.registration)
        return self._of_fallback(key) if slot.kind == "backend fallback" else None

    def _of_fallback(self, key: str) -> Continuation | None:
        """What follows fallbacks whose source does not show it."""
        if key in ("Conjugate", "Negative"):
            words = "unwraps its arguments and calls again with the keys below its own"
            where = self._sources.where(_MATH_BITS, r"redispatchBoxed\s*\(")
            return Continuation("below", words, where, self._sources.algebra.after(key))
        if key == "FuncTorchDynamicLayerFrontMode":
            words = "the innermost transform sets its keys and calls the operator again"
            where = self._sources.where(_INTERPRETER, r"\binterpreter\(\)\.process\s*\(")
            return Continuation("transform", words, where)
        if key == "FuncTorchDynamicLayerBackMode":
            return Continuation(
                "next transform", "the call goes to the next outer transform, if any"
            )
        return None

    def _autocast(self, key: str, policy: str) -> Continuation:
        head = rf"struct\s+WrapFunction_<\s*CastPolicy::{policy}\s*,[\s\S]*?"
        where = None
        for logical in ("aten/src/ATen/autocast_mode.h", "aten/src/ATen/autocast_mode.cpp"):
            try:
                found, _ = self._sources.match(logical, rf"{head}(ExcludeDispatchKeyGuard)")
                where = where or self._sources.location(logical, found.start(1))
            except UnknownSetError:
                continue
        words = f"casts its inputs ({policy}) and calls the operator again, without {key}"
        functionality = self._sources.algebra.functionality(key)
        return Continuation("again", words, where, frozenset({functionality}))

    def _python(self, slot: DispatchSlot) -> Continuation:
        """``__torch_dispatch__`` runs with the keys above Python excluded."""
        words = "__torch_dispatch__ decides; if it calls the operator on what is inside:"
        try:
            algebra = self._sources.with_constants_of(_PYTHON_FALLBACK)
            pattern = r"ExcludeDispatchKeyGuard\s+\w+\s*\(\s*(\w+)\s*\)"
            guard, where = self._sources.match(_PYTHON_FALLBACK, pattern)
            keys = algebra.value(guard[1])
        except UnknownSetError:
            return Continuation(
                "end", "__torch_dispatch__ decides what comes next", slot.registration
            )
        return Continuation("again", words, where, keys | {"Python"})

    def _generated(self, what: str) -> Continuation:
        logical, highest = _GENERATORS[what]
        algebra = self._sources.algebra
        where = self._sources.where_written(logical, _PASSED)
        if where is not None:
            found = regex(_PASSED).search(self._sources.raw(logical))
            assert found is not None
            keys = algebra.value(found[1], {"ks": algebra.all()})
            return Continuation("below", f"calls again with {found[1]}", where, keys)
        words = f"calls again with the keys below {highest}, as torchgen writes it"
        return Continuation("below", words, None, algebra.after(highest))

    def _written(self, slot: DispatchSlot) -> Continuation:
        """The only set with which a kernel's source redispatches."""
        body, first = self._body(slot)
        known = {name: self._sources.algebra.all() for name in _PARAMETER.findall(body)}
        found: dict[KeyNames, Continuation] = {}
        for call in _REDISPATCH.finditer(body):
            text = first_argument(body, call.end())
            keys = self._sources.algebra.value(text, known)
            where = Location(first.path, first.line + body.count("\n", 0, call.start()))
            words = f"calls again with {' '.join(text.split())}"
            found.setdefault(keys, Continuation("below", words, where, keys))
        if len(found) == 1:
            return next(iter(found.values()))
        why = "its source redispatches with several key sets" if found else ""
        raise UnknownSetError(why or "its source shows no redispatch")

    def _body(self, slot: DispatchSlot) -> tuple[str, Location]:
        where = slot.definition
        if where is None or not where.end_line:
            raise UnknownSetError("its source is not in this tree")
        try:
            text = self._sources.source.read(where.path).decode("utf-8", "replace")
        except SourceError as error:
            raise UnknownSetError(str(error)) from error
        lines = lex(text).clean.split("\n")[where.line - 1 : where.end_line]
        return "\n".join(lines), where

    def _assumed(self, key: str, slot: DispatchSlot, why: str) -> Continuation:
        """What follows kernels of autograd whose source does not show it."""
        algebra = self._sources.algebra
        if key.startswith("Autograd") and not slot.definition:
            words = f"calls again below autograd (assumed: {why})"
            return Continuation("below", words, None, algebra.after("AutogradOther"), certain=False)
        if key in _BELOW_OWN and not slot.definition:
            words = f"calls again with the keys below its own (assumed: {why})"
            return Continuation("below", words, None, algebra.after(key), certain=False)
        where = slot.definition or slot.registration
        return Continuation("end", f"what its kernel calls is unknown: {why}", where, certain=False)
