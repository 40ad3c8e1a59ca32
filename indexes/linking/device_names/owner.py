"""Finds the owner of the code that a kernel runs, in its template arguments.

``elementwise_kernel<128, 4, gpu_kernel_impl<MulFunctor<float>>(...)::{lambda(int)#1}>`` runs a
lambda of ``gpu_kernel_impl``, which got ``MulFunctor``: that is the owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from indexes.linking.device_names.matching import (
    Finder,
    in_unit,
    is_unit,
    owner_of_lambda,
    qualified,
)
from indexes.linking.device_names.parser import LAMBDA, KernelName, Part, Type, nested
from indexes.model.vocabulary import Definition

_FOREIGN = frozenset(
    "std c10 cub at_cuda_detail thrust cuda cutlass cute hipcub rocprim ck ck_tile".split()
)
"""Namespaces of data types and other libraries, which do no work of ATen's own."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A function whose lambda runs, or a functor class."""

    kind: Literal["lambda", "functor"]
    parts: tuple[Part, ...]
    definitions: tuple[Definition, ...]
    position: int = 0
    """The template argument of the kernel in which it was found, from 1."""
    within: tuple[str, ...] = ()
    """The wrappers around it, outermost first."""
    launched: bool = False
    """Called by a lambda of a function it was passed to: the kernel runs nothing else."""

    @property
    def name(self) -> str:
        return qualified(self.parts)

    @property
    def cut(self) -> bool:
        """Whether the text ends inside the owner's name or its template arguments."""
        if self.kind == "lambda" or not self.parts:
            return not self.parts or self.parts[-1].cut
        return self.parts[-1].cut or (self.parts[-1].open and not self.local)

    @property
    def local(self) -> bool:
        """Whether it is defined only in files that are compiled by themselves."""
        return bool(self.definitions) and all(is_unit(d.location.path) for d in self.definitions)


class Follower:
    """Finds owners; names are looked up with ``finder`` as visible in ``unit``."""

    def __init__(self, finder: Finder, unit: str | None, exact: bool = True) -> None:
        """``exact`` is False if parameters in the name may be misprinted."""
        self._finder = finder
        self._unit = unit
        self._exact = exact
        self._cut = False

    def owners(self, kernel: KernelName, launchers: Sequence[Definition]) -> list[Owner]:
        """The owner in each template argument of ``kernel`` that is work, not data."""
        self._cut = kernel.cut
        found = []
        for position, argument in enumerate(kernel.function.arguments, 1):
            owner = self.follow(argument)
            if owner is not None and (
                owner.kind == "lambda"
                or self._finder.calls(owner.parts)
                or self._is_handed(kernel, launchers, argument, position)
            ):
                found.append(replace(owner, position=position))
        return found

    def follow(self, argument: Type) -> Owner | None:
        """The owner inside one template argument; None for plain data."""
        parts = argument.parts
        if argument.pointer or not parts:
            return None
        if any(part.name == LAMBDA for part in parts):
            return self._lambda(parts)
        if self._cut and parts[-1].parameters is not None and not argument.address:
            return self._lambda((*parts, Part(LAMBDA)))
        return None if argument.address else self._class(parts)

    def _is_handed(
        self, kernel: KernelName, launchers: Sequence[Definition], argument: Type, position: int
    ) -> bool:
        """Whether the kernel takes the argument as a parameter, by its name or its source."""
        given = kernel.parameters()
        if given is not None and given.whole:
            return _takes(given.types, argument, position)
        return any(self._finder.only_launches(d) for d in launchers)

    def _lambda(self, parts: tuple[Part, ...]) -> Owner:
        function = next(i for i, part in enumerate(parts) if part.name == LAMBDA)
        handed = self._best([self.follow(a) for a in self._handed(parts[:function])])
        owner = owner_of_lambda(parts)
        if handed is not None and owner:
            return replace(_wrapped(handed, owner[-1]), launched=True)
        return Owner("lambda", owner, self._in_unit(self._lookup(owner)))

    def _handed(self, function: Sequence[Part]) -> list[Type]:
        """Template arguments that the function also takes as parameters, for its lambda to call."""
        found = []
        for part in function:
            given = part.parameters
            if given is None:
                continue
            work = [(a, i) for i, a in enumerate(part.arguments, 1) if a.parts and not a.pointer]
            taken = [a for a, i in work if _takes(given, a, i) and not self._is_data(a)]
            if not taken and (part.open or not self._exact) and self._hands_over(function):
                taken = [a for a, _ in work if self._is_work(a)]
            found += taken
        return found

    def _is_work(self, argument: Type) -> bool:
        """Whether it is a lambda, a class with a call operator, or an unknown class."""
        if any(part.name == LAMBDA for part in argument.parts):
            return True
        return any(
            self._finder.calls(a.parts) or not self._finder.classes(a.parts)
            for a in nested((argument,))
            if len(a.parts) > 1 and a.parts[0].name not in _FOREIGN
        )

    def _is_data(self, argument: Type) -> bool:
        """Whether nothing in it can be called: ``OpaqueType<4>``, a class of the tree."""
        return bool(self._finder.classes(argument.parts)) and not self._is_work(argument)

    def _hands_over(self, function: Sequence[Part]) -> bool:
        return any(self._finder.template_types(d) for d in self._finder.functions(function))

    def _lookup(self, owner: tuple[Part, ...]) -> Sequence[Definition]:
        if not owner:
            return ()
        functions, classes = self._finder.functions(owner), self._finder.classes(owner)
        if owner[-1].parameters is None:
            functions, classes = classes, functions
        return functions or classes or self._finder.classes(owner[:-1])

    def _class(self, parts: tuple[Part, ...]) -> Owner | None:
        if parts[-1].name.startswith("__nv_") and "tag" in parts[-1].name:
            return self._extended_lambda(parts[-1])
        inner = self._best([self.follow(a) for part in parts for a in part.arguments])
        if inner is not None and not self._carries(parts, inner):
            return _wrapped(inner, parts[-1])
        if parts[0].name in _FOREIGN:
            return None
        found = () if parts[-1].cut else self._in_unit(self._finder.classes(parts))
        return Owner("functor", parts, found) if found or len(parts) > 1 else None

    def _carries(self, parts: tuple[Part, ...], inner: Owner) -> bool:
        """Whether it is a functor with a known data type, not a wrapper of another functor."""
        if inner.kind == "lambda" or not inner.definitions or parts[0].name in _FOREIGN:
            return False
        return self._finder.calls(parts) and not self._finder.calls(inner.parts)

    def _extended_lambda(self, tag: Part) -> Owner | None:
        """nvcc's ``__nv_dl_tag<type, &function, n>`` means a lambda of ``function``."""
        for argument in tag.arguments:
            if argument.address and argument.parts:
                return self._lambda((*argument.parts, Part(LAMBDA)))
        return None

    def _in_unit(self, found: Sequence[Definition]) -> tuple[Definition, ...]:
        return tuple(d for d in found if in_unit(d, self._unit))

    @staticmethod
    def _best(owners: Sequence[Owner | None]) -> Owner | None:
        found = [o for o in owners if o is not None]
        return min(found, key=lambda o: (o.kind != "lambda", not o.local), default=None)


def _wrapped(owner: Owner, wrapper: Part) -> Owner:
    return replace(owner, within=(wrapper.name, *owner.within))


def _takes(parameters: Sequence[Type], argument: Type, index: int) -> bool:
    """By value or reference; NVIDIA's tools write ``T1`` for the first template argument."""
    placeholder = f"T{index}"
    return any(
        not p.pointer and (p.parts == argument.parts or p.name == placeholder) for p in parameters
    )
