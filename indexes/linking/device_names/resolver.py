"""From the name of a device kernel, as any profiler prints it, to its source.

The last component of the name is a ``__global__`` function. If the tree defines it and its template
arguments hold a lambda or functor of ATen's, it is a launcher and the answer is whose code it
launches; otherwise the answer is the function itself. Other names are assigned to libraries
(``libraries``). Nothing is guessed: an answer has one meaning, lists its candidates, or says why
there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from indexes.linking.device_names import libraries
from indexes.linking.device_names.demangle import (
    Readable,
    is_mangled,
    may_lack_namespaces,
    readable,
)
from indexes.linking.device_names.matching import (
    DefinitionsNamed,
    Finder,
    in_unit,
    is_unit,
    qualified,
    unit_name,
)
from indexes.linking.device_names.owner import Follower, Owner
from indexes.linking.device_names.parser import ANONYMOUS, KernelName, Type, parse
from indexes.linking.visible import vendored
from indexes.model.answers import DeviceKernelAnswer
from indexes.model.errors import NAME_CHARACTERS
from indexes.model.vocabulary import Confidence, Definition

_UFUNC_FUNCTORS = ("CUDAFunctor", "CUDAFunctorOnSelf", "CUDAFunctorOnOther")
_QUALIFIED = "the __global__ function of that qualified name"


@dataclass(frozen=True, slots=True)
class _Case:
    """A parsed name with what the tree knows about it."""

    name: str
    readable: Readable
    kernel: KernelName
    launchers: tuple[Definition, ...]
    """Definitions of the ``__global__`` function."""
    owners: tuple[Owner, ...]
    """The lambdas and functors that it runs; not its data types."""

    @property
    def symbol(self) -> str:
        return qualified(self.kernel.parts)

    @property
    def cut(self) -> bool:
        """Whether the name lacks template arguments."""
        return self.kernel.cut or not self.readable.whole

    @property
    def compiled_in(self) -> str:
        unit = self.readable.unit
        return f" (the name's tag: compiled in {unit})" if unit else ""


class Resolver:
    """Resolves many names over one table, each distinct name once."""

    def __init__(
        self, named: DefinitionsNamed, has_sources: bool = True, lacking: bool = False
    ) -> None:
        """``has_sources``: not just headers, as in a wheel; ``lacking``: namespaces may lack."""
        self._finder = Finder(named, lacking)
        self._lacking = None if lacking else Resolver(named, has_sources, lacking=True)
        self._headers_only = "" if has_sources else ": it holds headers, no kernel sources"
        self.resolve = cache(self._resolve)

    def _resolve(self, name: str) -> DeviceKernelAnswer:
        if len(name) > NAME_CHARACTERS:
            return _nothing(name, f"a name of more than {NAME_CHARACTERS:,} characters")
        operation = libraries.runtime_operation(name)
        if operation:
            rule = "a copy or fill as profilers list it"
            return _library(name, libraries.RUNTIME, rule, f"{operation} by the runtime, no kernel")
        text = readable(name)
        kernel = parse(text.text)
        if not kernel.parts:
            return _nothing(name, "not the name of a C++ function")
        answer = self._answer(self._case(name, text, kernel))
        if answer.source is None and self._lacking and may_lack_namespaces(text.text):
            return _with_namespaces(self._lacking.resolve(name)) or answer
        return answer

    def _case(self, name: str, text: Readable, kernel: KernelName) -> _Case:
        known = [] if kernel.function.cut else self._finder.kernels(kernel)
        case = self._seen_from(text.unit, _Case(name, text, kernel, tuple(known), ()))
        if text.unit is None and _several(case.launchers, case.owners):
            return self._seen_from(_common_unit(case.launchers, case.owners), case)
        return case

    def _seen_from(self, unit: str | None, case: _Case) -> _Case:
        """The case as code compiled in ``unit`` sees it."""
        launchers = tuple(d for d in case.launchers if in_unit(d, unit))
        follower = Follower(self._finder, unit, exact=not case.readable.demangled)
        owners = tuple(follower.owners(case.kernel, launchers))
        return replace(case, launchers=launchers, owners=owners)

    def _answer(self, case: _Case) -> DeviceKernelAnswer:
        owner = self._chosen(case)
        if owner is not None:
            return self._owned(case, owner)
        if case.launchers and not (case.kernel.bare and case.launchers[0].scope):
            return self._headless(case) or _kernel(case)
        return self._elsewhere(case)

    def _chosen(self, case: _Case) -> Owner | None:
        """The owner whose work the kernel does; None if that is the kernel's own body."""
        work = [o for o in case.owners if o.kind == "lambda" or o.launched]
        if work:
            return min(work, key=lambda o: (not o.definitions, not o.local))
        own = case.launchers[0].location.path if case.launchers else ""
        if is_unit(own):
            return None
        functors = [o for o in case.owners if all(d.location.path != own for d in o.definitions)]
        local = next((o for o in functors if o.local), None)
        if local is not None or not self._only_launches(case):
            return local
        return functors[0] if functors else None

    def _only_launches(self, case: _Case) -> bool:
        """Whether the kernel takes no data, by its source or else by its name."""
        if case.launchers:
            return self._finder.only_launches(case.launchers[0])
        return case.kernel.parts[0].name in libraries.ATEN and _takes_only_arguments(case.kernel)

    def _headless(self, case: _Case) -> DeviceKernelAnswer | None:
        """A shared launcher whose template arguments are cut off."""
        launcher = case.launchers[0]
        if not case.cut or is_unit(launcher.location.path):
            return None
        if not self._finder.only_launches(launcher):
            return None
        reason = f"the name is cut off before it says what {case.kernel.function.name} runs"
        rule = _QUALIFIED + case.compiled_in
        return DeviceKernelAnswer(case.name, launcher, None, None, "exact", rule, reason)

    def _owned(self, case: _Case, owner: Owner) -> DeviceKernelAnswer:
        """An answer for an owner's work, launched by the ``__global__`` function."""
        launcher = case.launchers[0] if case.launchers else None
        found = () if owner.cut else owner.definitions or self._generated(owner)
        if found:
            rule = _owner_rule(owner, found[0]) + case.compiled_in
            return _answered(case.name, launcher, found, _library_of(case), rule, "by rule")
        if owner.cut and launcher and is_unit(launcher.location.path):
            return _kernel(case)
        library = _library_of(case) or libraries.library_of_scope(_root(owner))
        rule = _owner_rule(owner, None)
        reason, same = self._missing(case, owner)
        return DeviceKernelAnswer(case.name, launcher, None, library, "by rule", rule, reason, same)

    def _missing(self, case: _Case, owner: Owner) -> tuple[str, tuple[Definition, ...]]:
        """Why there is no source, and namesakes in other namespaces."""
        if owner.cut:
            return "the name is cut off inside the functor or lambda", ()
        reason = f"{owner.name} is not defined in this tree{self._headers_only}{case.compiled_in}"
        kinds = ("function", "method", "macro") if owner.kind == "lambda" else ("class",)
        same = [d for d in self._finder.all(owner.parts[-1].name) if d.kind in kinds]
        reason += f"; {same[0].qualified} is another" if same else ""
        return reason, tuple(same)

    def _generated(self, owner: Owner) -> tuple[Definition, ...]:
        """The ufunc of torchgen's functors, ``CUDAFunctor[OnSelf|OnOther]_<ufunc>``."""
        head, _, ufunc = owner.parts[-1].name.partition("_")
        if head not in _UFUNC_FUNCTORS:
            return ()
        end = f"native/ufunc/{ufunc}.h"
        return tuple(d for d in self._finder.all(ufunc) if d.location.path.endswith(end))[:1]

    def _elsewhere(self, case: _Case) -> DeviceKernelAnswer:
        """An answer without a definition in the tree: a library, a compiler, or unknown."""
        if case.kernel.bare and (answer := self._bare(case)):
            return answer
        known = libraries.library_of(case.kernel)
        if known:
            why = libraries.reason(known.library, case.readable.text)
            return _library(case.name, known.library, known.rule, why)
        return self._unknown(case)

    def _bare(self, case: _Case) -> DeviceKernelAnswer | None:
        """An answer for a bare identifier, from tools that print base names."""
        if case.kernel.function.cut or is_mangled(case.name):
            return None
        if found := self._jiterated(case):
            return found
        same = self._namesakes(case)
        if not same:
            return self._of_metal(case)
        known = libraries.library_of(case.kernel)
        rule = "by identifier only: the tree has a __global__ function of that name"
        other = f"a kernel of {known.library}" if known else "another library's kernel"
        reason = f"the name has no scope or arguments, so {other} fits as well"
        source = None if self._finder.only_launches(same[0]) else same[0]
        launcher = None if source else same[0]
        if launcher:
            reason += ", and what this one runs is not in it"
        what = (case.name, launcher, source, None)
        return DeviceKernelAnswer(*what, "ambiguous", rule, reason, same)

    def _of_metal(self, case: _Case) -> DeviceKernelAnswer | None:
        """Metal kernels, by their name in a shader library or their function's."""
        found = tuple(self._finder.shaders(case.kernel.function.name))
        rule = "the Metal kernel of that name"
        return _answered(case.name, None, found, None, rule, "exact") if found else None

    def _jiterated(self, case: _Case) -> DeviceKernelAnswer | None:
        """Kernels of ATen's runtime compiler, named ``<name>_kernel`` and so on."""
        spelled = libraries.jiterated(case.kernel.function.name)
        base, certain = spelled or ("", False)
        made = tuple(d for d in self._finder.all(base) if d.kind == "global") if base else ()
        if not made:
            return None
        rule = f"jiterated: ATen compiles the source that it names {base} at run time"
        launcher = self._compiles(made[0])
        if certain:
            return _answered(case.name, launcher, made, None, rule, "by rule")
        reason = "the name is so common that another kernel, such as a Triton one, may have it"
        what = (case.name, launcher, made[0], None)
        return DeviceKernelAnswer(*what, "ambiguous", rule, reason, made)

    def _compiles(self, made: Definition) -> Definition | None:
        """The function that has a kernel compiled at run time."""
        scope, _, name = made.scope.rpartition("::")
        functions = (d for d in self._finder.all(name) if d.scope == scope)
        return next((d for d in functions if d.location.path == made.location.path), None)

    def _unknown(self, case: _Case) -> DeviceKernelAnswer:
        if case.kernel.function.cut:
            return _nothing(case.name, "the name is cut off before the kernel's own name ends")
        if not case.readable.whole:
            return _nothing(case.name, "the mangled name cannot be demangled: cut off or no C++")
        same = self._namesakes(case)
        reason = f"no __global__ function {case.symbol} in this tree"
        if same:
            reason += f"; {same[0].qualified} is another function, in another namespace"
        elif case.kernel.parts[0].name in libraries.ATEN:
            reason += self._headers_only
        elif case.kernel.bare:
            reason += ": Triton kernels, assembly and extern C functions have such bare names"
        return _nothing(case.name, reason + case.compiled_in, same)

    def _namesakes(self, case: _Case) -> tuple[Definition, ...]:
        return tuple(d for d in self._finder.all(case.kernel.function.name) if d.cuda_global)


def _with_namespaces(answer: DeviceKernelAnswer) -> DeviceKernelAnswer | None:
    if answer.source is None:
        return None
    rule = f"{answer.rule}; NVIDIA's demangler leaves out inner namespaces"
    confidence = "by rule" if answer.confidence == "exact" else answer.confidence
    return replace(answer, rule=rule, confidence=confidence)


def _several(launchers: Sequence[Definition], owners: Sequence[Owner]) -> bool:
    return len(launchers) > 1 or any(len(o.definitions) > 1 for o in owners)


def _common_unit(launchers: Sequence[Definition], owners: Sequence[Owner]) -> str | None:
    """The only file that everything local in a name can be compiled in."""
    groups = [o.definitions for o in owners if o.local]
    if launchers and all(is_unit(d.location.path) for d in launchers):
        groups.append(tuple(launchers))
    files = [{d.location.path for d in group} for group in groups]
    common = set.intersection(*files) if files else set()
    return unit_name(common.pop()) if len(common) == 1 else None


def _takes_only_arguments(kernel: KernelName) -> bool:
    """Whether every parameter is a number or has the type of a template argument."""
    given = kernel.parameters()
    if given is None or not given.whole:
        return False
    arguments = {a.parts for a in kernel.function.arguments}
    return all(_is_number(p) or (p.parts in arguments and not p.pointer) for p in given.types)


def _is_number(found: Type) -> bool:
    return len(found.parts) == 1 and not found.pointer and not found.parts[0].arguments


def _kernel(case: _Case) -> DeviceKernelAnswer:
    """An answer for work in the kernel's own body."""
    found = case.launchers
    same = found[0].qualified == case.symbol and found[0].cuda_global and not found[0].macro
    rule = _QUALIFIED
    if not found[0].cuda_global:
        rule = "the function of that qualified name, though nothing marks it __global__"
    if found[0].macro:
        rule += f", made by the macro {found[0].macro}"
    if case.cut:
        rule += "; the name is cut off behind it"
    library = vendored(found[0].location.path)
    confidence: Confidence = "exact" if same else "by rule"
    return _answered(case.name, None, found, library, rule + case.compiled_in, confidence)


def _answered(
    name: str,
    launcher: Definition | None,
    found: tuple[Definition, ...],
    library: str | None,
    rule: str,
    confidence: Confidence,
) -> DeviceKernelAnswer:
    """An answer from ``found``: several in one file are overloads or specialisations; in several
    files the answer is ambiguous."""
    if len(found) == 1:
        return DeviceKernelAnswer(name, launcher, found[0], library, confidence, rule)
    if len({d.location.path for d in found}) == 1:
        rule += f"; the first of {len(found)} overloads or specialisations in the file"
        confidence, reason = "by rule", ""
    else:
        confidence, reason = "ambiguous", f"{len(found)} definitions fit this name"
    return DeviceKernelAnswer(name, launcher, found[0], library, confidence, rule, reason, found)


def _owner_rule(owner: Owner, found: Definition | None) -> str:
    what = "owner of the lambda" if owner.kind == "lambda" else "functor"
    rule = f"{what} in the launcher's template argument {owner.position}"
    if owner.within:
        rule += f", handed through {', '.join(owner.within)}"
    if found and not owner.definitions:
        rule += f"; torchgen makes {owner.parts[-1].name} from this ufunc"
    if found and found.macro:
        rule += f"; made by the macro {found.macro}"
    return rule


def _root(owner: Owner) -> str:
    return next((part.name for part in owner.parts if part.name != ANONYMOUS), "")


def _library_of(case: _Case) -> str | None:
    """The library of a kernel that the tree does not define."""
    known = None if case.launchers else libraries.library_of(case.kernel)
    return known.library if known else None


def _library(name: str, library: str, rule: str, reason: str) -> DeviceKernelAnswer:
    return DeviceKernelAnswer(name, None, None, library, "by rule", rule, reason)


def _nothing(name: str, reason: str, candidates: tuple[Definition, ...] = ()) -> DeviceKernelAnswer:
    rule = "no rule applies"
    return DeviceKernelAnswer(name, None, None, None, "by rule", rule, reason, candidates)
