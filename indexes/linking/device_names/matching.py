"""Finds the definitions that a qualified name from a profiler can mean.

Whole qualified names are compared, then parameter types: ``multi_tensor_apply_kernel`` at global
scope is another library's, not ``at::native``'s.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache

from indexes.linking.device_names.parser import (
    ANONYMOUS,
    LAMBDA,
    KernelName,
    Parameters,
    Part,
    Type,
    parse_type,
)
from indexes.linking.visible import is_metal_kernel
from indexes.model.idioms import split_outside
from indexes.model.regex import regex
from indexes.model.vocabulary import Definition

_UNIT_SUFFIXES = (".cu", ".hip")
_NAME_AT_END = regex(r"(?<=[\s*&>])(?!(?:char|short|int|long|float|double)$)[A-Za-z_]\w*$")
_CUDA_SUFFIXES = (".cu", ".cuh", ".hip")
_HOST_SUFFIXES = (".cpp", ".cc", ".cxx", ".c", ".mm", ".m", ".metal", ".py")
_FUNCTION_KINDS = frozenset(("function", "method", "impl_func", "meta_func", "macro"))
_SPELLINGS = {
    "signed char": "int8_t",
    "unsigned char": "uint8_t",
    "short": "int16_t",
    "unsigned short": "uint16_t",
    "int": "int32_t",
    "unsigned int": "uint32_t|unsigned",
    "long": "int64_t|ptrdiff_t|long long|__int64",
    "unsigned long": "uint64_t|size_t|unsigned long long",
}
_INTEGERS = {name: one for one, names in _SPELLINGS.items() for name in names.split("|")}
"""One spelling for integers of one size; those of 64 bits differ on Windows."""

_BUILTINS = frozenset(("bool", "char", "float", "double", "void", *_INTEGERS.values()))


DefinitionsNamed = Callable[[str], Iterable[Definition]]
"""Gives every definition with a last component: functions and methods (``operator()`` of functors
too), classes, macro-made definitions, and jiterated kernels (kind ``global``)."""


def _for_device(definition: Definition) -> bool:
    """Whether it can be device code: in ``.cu`` files and headers, not in host sources."""
    return not definition.location.path.endswith(_HOST_SUFFIXES)


def is_unit(path: str) -> bool:
    """Whether ``path`` is compiled by itself, so that local names exist nowhere else."""
    return path.endswith(_UNIT_SUFFIXES)


def qualified(parts: Iterable[Part]) -> str:
    """The parts as C++ text without template arguments and parameters."""
    return "::".join(part.name for part in parts)


def in_unit(definition: Definition, unit: str | None) -> bool:
    """Whether code compiled in ``unit`` (an nvcc tag) sees this definition."""
    path = definition.location.path
    if unit is None or not is_unit(path):
        return True
    return unit in (unit_name(path), unit_name(path.rsplit(".", 1)[0]))


def unit_name(path: str) -> str:
    """nvcc's spelling of a file's name in a tag: ``IndexKernel_cu``."""
    return "".join(c if c.isalnum() else "_" for c in path.rsplit("/", 1)[-1])


class Finder:
    """Looks up names in one table, with a cache."""

    def __init__(self, named: DefinitionsNamed, lacking: bool = False) -> None:
        """``lacking``: names may lack namespaces."""
        self._named, self._lacking = named, lacking
        self.all = cache(self._all)
        self._in_scope = cache(self._scan)

    def _all(self, name: str) -> tuple[Definition, ...]:
        """Every definition of a simple name that can be device code."""
        return tuple(d for d in self._named(name) if _for_device(d))

    def kernels(self, kernel: KernelName) -> list[Definition]:
        """``__global__`` functions of the qualified name with fitting parameters; functions in CUDA
        files if a macro hides ``__global__``."""
        named = [d for d in self._scoped(kernel.parts) if d.kind in _FUNCTION_KINDS]
        found = [d for d in named if d.cuda_global]
        found = found or [d for d in named if d.location.path.endswith(_CUDA_SUFFIXES)]
        if kernel.function.arguments:
            found = [d for d in found if d.template or d.macro]
        if len(found) < 2:
            return found
        return fitting(found, kernel.parameters(), kernel.function.arguments)

    def shaders(self, name: str) -> list[Definition]:
        """The kernels of a name in Metal shader libraries."""
        found = self._named(name)
        return [d for d in found if d.kind == "shader" or is_metal_kernel(d.parameters)]

    def functions(self, parts: Sequence[Part]) -> list[Definition]:
        """Functions of the qualified name; ``structured_X::impl`` is ``TORCH_IMPL_FUNC(X)``."""
        found = [d for d in self._scoped(parts) if d.kind in _FUNCTION_KINDS]
        given = parts[-1].parameters
        if len(found) > 1 and given is not None:
            whole = not parts[-1].open
            known = Parameters(given if whole else given[:-1], whole)
            found = fitting(found, known, parts[-1].arguments)
        return found or self._structured(parts)

    def classes(self, parts: Sequence[Part]) -> list[Definition]:
        """Classes of the qualified name."""
        return [d for d in self._scoped(parts) if d.kind in ("class", "alias")]

    def template_types(self, definition: Definition) -> tuple[str, ...]:
        """Types of parameters taken by value or reference that are no class of the tree."""
        given = [text for text in split_parameters(definition.parameters) if "<" not in text]
        names = [name for name, pointer in map(declared_type, given) if name and not pointer]
        types = ("class", "enum", "alias")
        own = [name for name in names if name not in _BUILTINS]
        return tuple(n for n in own if not any(d.kind in types for d in self.all(n)))

    def only_launches(self, definition: Definition) -> bool:
        """Whether it takes no data: only numbers and template parameters."""
        given = split_parameters(definition.parameters)
        data = any("<" in text or declared_type(text)[1] for text in given)
        return not data and bool(self.template_types(definition))

    def calls(self, parts: Sequence[Part]) -> bool:
        """Whether the class has a call operator."""
        inner = (*parts, Part("operator()"))
        return bool(self._scoped(inner))

    def _structured(self, parts: Sequence[Part]) -> list[Definition]:
        if len(parts) < 2 or not parts[-2].name.startswith("structured_"):
            return []
        kind = {"impl": "impl_func", "meta": "meta_func"}.get(parts[-1].name)
        name = parts[-2].name.removeprefix("structured_")
        return [d for d in self.all(name) if d.kind == kind]

    def _scoped(self, parts: Sequence[Part]) -> list[Definition]:
        """Definitions in the scope of ``parts``, the closest spelling only."""
        names = tuple(part.name for part in parts)
        return self._in_scope(names) if names and names[-1] != ANONYMOUS else []

    def _scan(self, names: tuple[str, ...]) -> list[Definition]:
        ranked = [(rank(names[:-1], d.scope), d) for d in self.all(names[-1])]
        best = min((r for r, _ in ranked if r is not None), default=None)
        if best is None and self._lacking:
            return [d for _, d in ranked if _is_part_of(names[:-1], d.scope)]
        return [d for r, d in ranked if r is not None and r == best]


@lru_cache(maxsize=65536)
def rank(scope: tuple[str, ...], defined: str) -> int | None:
    """How well a definition's scope matches: 0 equal, 1 up to anonymous namespaces, 2 up to a
    namespace named by a macro; None for another scope."""
    other = tuple(defined.split("::")) if defined else ()
    if other == scope:
        return 0
    plain = [n for n in scope if n != ANONYMOUS]
    found = [n for n in other if n != ANONYMOUS]
    if plain == found or _hipified(plain) == _hipified(found):
        return 1
    if len(plain) != len(found) or not plain:
        return None
    same = all(a == b or (b.isupper() and len(b) > 3) for a, b in zip(plain, found, strict=True))
    return 2 if same else None


def _is_part_of(scope: Sequence[str], defined: str) -> bool:
    """Whether the namespaces are all among the definition's, in order."""
    rest = iter(defined.split("::"))
    plain = [name for name in scope if name != ANONYMOUS]
    return bool(plain) and all(name in rest for name in plain)


def _hipified(names: list[str]) -> list[str]:
    """With ``hip`` namespaces of PyTorch's ROCm build renamed to ``cuda``."""
    return ["cuda" if n == "hip" else n for n in names]


def fitting(
    found: list[Definition], given: Parameters | None, arguments: tuple[Type, ...] = ()
) -> list[Definition]:
    """The definitions whose parameters match ``given`` best; all if nothing is known.

    ``arguments``: the template arguments, by which type parameters are counted.
    """
    if given is None or len(found) < 2:
        return found
    types = sum(1 for a in arguments if a.parts and not a.address)
    scored = [(_fit(d.parameters, given, types), d) for d in found]
    best = max((s for s, _ in scored if s is not None), default=None)
    return [d for s, d in scored if s == best]


def _fit(declared: str, given: Parameters, types: int) -> tuple[int, int] | None:
    """How well a declaration matches: parameters of equal type, then how close its number of type
    parameters is. None if it cannot be that function."""
    wanted = split_parameters(declared)
    actuals = given.types
    if len(actuals) == 1 and actuals[0].name == "void" and not actuals[0].pointer:
        actuals = ()
    if not _count_fits(wanted, len(actuals), given.whole):
        return None
    same, bound = 0, dict[str, Type]()
    for text, actual in zip(wanted, actuals):  # noqa: B905 (a parameter pack takes the rest)
        score = _fit_one(text, actual, bound)
        if score is None:
            return None
        same += score
    return same, -abs(len(bound) - types)


def _count_fits(wanted: tuple[str, ...], count: int, whole: bool) -> bool:
    if any("..." in text for text in wanted):
        return True
    return len(wanted) == count if whole else len(wanted) > count


def _fit_one(declared: str, actual: Type, bound: dict[str, Type]) -> int | None:
    """1 for equal types, 0 for possible ones, with type parameters noted in ``bound``."""
    name, pointer = declared_type(declared)
    if "..." in declared:
        return 0
    builtin = name in _BUILTINS
    if pointer != actual.pointer and (pointer or builtin):
        return None
    given = _INTEGERS.get(actual.name, actual.name)
    if name == given:
        return 1
    if builtin and not is_placeholder(given):
        return None
    if "<" not in declared:
        value = Type(actual.parts, actual.pointer and not pointer)
        if bound.setdefault(name, value) != value:
            return None
    return 0


def is_placeholder(name: str) -> bool:
    """``T1``, which NVIDIA's tools print for a template parameter."""
    return name[:1] == "T" and name[1:].isdecimal()


def split_parameters(text: str) -> tuple[str, ...]:
    """Top-level parameters of a parameter list."""
    parts = (part.strip() for part in split_outside(text, angles=True))
    return tuple(part for part in parts if part and part != "void")


def declared_type(declared: str) -> tuple[str, bool]:
    """The last identifier of a parameter's type, and whether it is a pointer or array."""
    text = _NAME_AT_END.sub("", declared.split("=", 1)[0].split("[", 1)[0].rstrip())
    found = parse_type(text)
    name = _INTEGERS.get(found.name, found.name)
    return name, found.pointer or "[" in declared


def owner_of_lambda(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The function or functor class that contains a lambda: what precedes the first one.

    A lambda inside ``X::operator()`` belongs to the class ``X``.
    """
    at = next(i for i, part in enumerate(parts) if part.name == LAMBDA)
    owner = tuple(parts[:at])
    if owner and owner[-1].name == "operator()":
        return owner[:-1]
    return owner
