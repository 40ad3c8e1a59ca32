"""Which function a line registers on a stub or for an operator, and where that is defined."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from indexes.codegen.registration import Registration, library_registration
from indexes.linking.facts import Facts, Known, LibraryUse, Link, StubUse
from indexes.linking.visible import can_mean, path_device
from indexes.model.files import PythonFact, module_name, unpack
from indexes.model.idioms import close, idiom_of, meaning_of, split_arguments
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, Definition, Location, Role, StubRow

_BATCHING = frozenset(
    "Batched BatchedNestedTensor VmapMode FuncTorchBatched FuncTorchVmapMode "
    "FuncTorchBatchedDecomposition".split()
)
_POLICY = regex(r"\bCastPolicy::(\w+)")
_PLUMBING = regex(r"\w+_generated_plumbing\s*<\s*decltype\s*\(")
_WRAPPERS = regex(r"\bSINGLE_ARG\s*\(|\bstatic_cast\s*<\s*decltype\s*\(.*?\)\s*>\s*\(")
_NAMES = regex(r"(?:::)?(?:[A-Za-z_]\w*::)*[A-Za-z_]\w*")
_SPECIALIZED = regex(r"<[^<>()]*(?:<[^<>()]*>[^<>()]*)*>(?=\s*::)")
_KINDS = frozenset(("function", "macro", "class", "method"))
BOXED = "OperatorHandle"
"""The type of a parameter by which boxed functions are known: they serve any operator."""
_NOT_BUILT = regex(r"/templates/|/tests?/|_test\.\w+$")
"""Folders that are not compiled into torch's own libraries."""


def is_built(path: str) -> bool:
    """Whether a build contains what a file registers."""
    return not _NOT_BUILT.search(path)


# ---------------------------------------------------------------------------------- stubs

_BY_SUFFIX = {".cu": "CUDA", ".cuh": "CUDA", ".mm": "MPS", ".hip": "CUDA"}
_TEMPLATE = regex(r"<.*>\s*$", re.DOTALL)


def device_of(use: StubUse) -> str:
    """The device of a registration, by its macro or by how its file is compiled."""
    row = idiom_of(use.macro)
    if row and row.device:
        return re.sub(row.names, row.device, use.macro)
    return _BY_SUFFIX.get(use.location.path[use.location.path.rfind(".") :], "CPU")


def registered_function(use: StubUse) -> str:
    """The registered function as written; ``nullptr`` for none."""
    row = idiom_of(use.macro)
    if row and "function" not in row.arguments:
        return "nullptr"
    return row.argument("function", split_arguments(use.arguments)) if row else ""


def architecture(use: StubUse) -> str:
    """``REGISTER_ARCH_DISPATCH:DEFAULT`` for a macro that takes the architecture; else its name."""
    row = idiom_of(use.macro)
    given = row.argument("architecture", split_arguments(use.arguments)) if row else ""
    return f"{use.macro}:{given}" if given else use.macro


def stub_row(use: StubUse, facts: Facts) -> StubRow:
    """A registration with the definition of its function."""
    function = registered_function(use)
    stub = use.stub.rpartition("::")[2]
    found, reason = _function(use, function, facts)
    definition = found[0].definition if found else None
    others = tuple(k.definition for k in found) if len(found) > 1 else ()
    what = (stub, device_of(use), architecture(use), function, use.location)
    return StubRow(*what, definition, reason, use.guard, others)


def _function(use: StubUse, function: str, facts: Facts) -> tuple[list[Known], str]:
    name = function_name(function)
    if name == "nullptr" or "nullptr" in function:
        return [], "registered as nullptr: no kernel for this capability"
    if function.startswith("["):
        return [], "registers a lambda: its body is on the registration line"
    if not name:
        return [], f"cannot read the registered function in {use.macro}({use.arguments})"
    known = registered(use, name, function, facts)
    return known, "" if known else f"no definition of {name} in {use.location.path}"


def function_name(function: str) -> str:
    """The bare name in ``&CPU_CAPABILITY::acos_kernel`` or ``&qadd_kernel<true>``."""
    return _TEMPLATE.sub("", function.lstrip("&( ").rstrip(") ")).strip().rpartition("::")[2]


def registered(use: StubUse, name: str, function: str, facts: Facts) -> list[Known]:
    """The functions of a name that a registration can mean: in its own file, or declared in a
    header and defined elsewhere.

    Several only if each stands under an ``#if`` of its own: first the one under the registration's
    own guard, or else the nearest above it.
    """
    here = [
        k
        for k in facts.named(name)
        if k.definition.location.path == use.location.path and k.definition.kind == "function"
    ]
    qualifier = _TEMPLATE.sub("", function.lstrip("&( ")).rpartition("::")[0]
    if qualifier:
        here = [k for k in here if qualifier.split("::")[-1] in k.definition.scope] or here
    return _ordered(here or _elsewhere(use, name, qualifier, facts), use)


def _elsewhere(use: StubUse, name: str, qualifier: str, facts: Facts) -> list[Known]:
    """The functions defined in other files, those for the device before those for any."""
    path = use.location.path
    seen = [
        k
        for k in facts.named(name)
        if k.definition.kind == "function" and can_mean(qualifier, k.definition, use.scope, path)
    ]
    devices = {device_of(use), path_device(path)}
    own = [k for k in seen if path_device(k.definition.location.path) in devices]
    return own or [k for k in seen if not path_device(k.definition.location.path)]


def _ordered(here: Sequence[Known], use: StubUse) -> list[Known]:
    if not here:
        return []
    same = [k for k in here if k.definition.guard == use.guard] or list(here)
    above = [k for k in same if k.definition.location.line <= use.location.line]
    best = (above or same)[-1]
    if len({k.definition.guard for k in here}) < len(here):
        return [best]  # overloads rather than alternatives
    return [best, *(k for k in here if k.id != best.id)]


# ------------------------------------------------------------------------------ libraries


@dataclass(frozen=True, slots=True)
class Written:
    """A registration in a TORCH_LIBRARY block."""

    registration: Registration
    use: LibraryUse


def written_registrations(
    uses: Iterable[LibraryUse], macros: Mapping[str, Mapping[str, str]]
) -> Iterator[Written]:
    """The registrations made by calls on libraries. ``macros``: the object-like macros by file."""
    for use in uses:
        path = use.location.path
        call = (use.block, use.method, use.arguments, use.location)
        made = library_registration(*call, macros.get(path, {}))
        if made is not None:
            shown = _shown(made.kernel)
            made = replace(made, kernel=shown, rule=_rule(use), condition=_condition(use))
            yield Written(made, use)


def _condition(use: LibraryUse) -> str:
    if not use.guard and use.location.path.endswith(".mm"):
        return "Objective-C++, for Apple's systems"
    return use.guard


def _rule(use: LibraryUse) -> str:
    block = f"{use.block_macro}({use.block.rpartition(',')[0].strip()})"
    how = f"m.{use.method} in {block} at line {use.block_line}"
    if use.macro:
        how += f", made by the macro defined at {use.macro}"
    condition = _condition(use)
    return f"{how}; only built under {condition}" if condition else how


def _shown(kernel: str) -> str:
    """The function to show: the batch rule inside generated plumbing."""
    if policy := "CastPolicy::" in kernel and _POLICY.search(kernel):
        return f"at::autocast::WrapFunction<CastPolicy::{policy[1]}>"
    plumbing = _PLUMBING.match(kernel) if "_generated_plumbing" in kernel else None
    if plumbing is None:
        return kernel
    end = close(kernel, plumbing.end() - 1)
    return kernel[plumbing.end() : end].lstrip("& ") if end >= 0 else kernel


def kernel_definition(kernel: str, path: str, facts: Facts) -> Definition | None:
    """The definition of the first name in a kernel's expression that has one visible from ``path``;
    None for a lambda or an overloaded name."""
    for name in _paths_in(kernel):
        found = visible(name, path, facts)
        if found:
            return found[0] if len(found) == 1 else _first(found, path)
    return None


def names_in_kernel(kernel: str) -> Iterator[str]:
    """The last components of the names in a kernel's expression."""
    return (path.rpartition("::")[2] for path in _paths_in(kernel))


def _paths_in(kernel: str) -> Iterable[str]:
    text = _WRAPPERS.sub("", kernel) if "(" in kernel else kernel
    # Class<2, false>::run names a method; where several specializations have it, the class tells.
    return dict.fromkeys((*_NAMES.findall(_SPECIALIZED.sub("", text)), *_NAMES.findall(text)))


def _first(found: Sequence[Definition], path: str) -> Definition | None:
    """The first of several if all are in one file, or in a header beside it: overloads."""
    here = [d for d in found if d.location.path == path]
    if not here:
        folder = path.rpartition("/")[0]
        here = [d for d in found if d.location.path.rpartition("/")[0] == folder]
    if len(here) == 1 or (here and len({d.guard for d in here}) == len(here)):
        return here[0]
    return None


def visible(name: str, path: str, facts: Facts) -> list[Definition]:
    """The definitions that a name can mean in a file."""
    scope, _, simple = name.lstrip(":").rpartition("::")
    if scope in ("at", "std", "torch", "c10") or meaning_of(simple) == "operator":
        return []
    known = [k.definition for k in facts.named(simple) if k.definition.kind in _KINDS]
    wanted = f"{scope}::{simple}" if scope else simple
    fitting = [d for d in known if not scope or f"::{_named(d)}".endswith(f"::{wanted}")]
    here = [d for d in fitting if d.location.path == path]
    headers = [d for d in fitting if d.location.path.endswith((".h", ".cuh"))]
    # What another source file defines is declared in a header: then it is the only one.
    return here or headers or (fitting if scope or len(fitting) == 1 else [])


def _named(definition: Definition) -> str:
    return definition.qualified.replace("(anonymous)::", "")


def around_dispatch(op: str, written: Iterable[Written], facts: Facts) -> tuple[Link, ...]:
    """The batch rules, autocast policies and autograd kernels of an operator, as links."""
    links: list[Link] = []
    for one in written:
        role = _role(one.registration)
        if role and one.registration.op == op:
            links += _links(role, one, facts)
    return tuple(sorted(links, key=lambda link: (link.role, link.keys, str(link.location))))


def _role(registration: Registration) -> Role | None:
    key = registration.key
    if key.startswith("Autocast"):
        return "autocast"
    if key.startswith("Autograd"):
        return None if registration.fallthrough else "derivative"
    return "batch_rule" if key in _BATCHING else None


def _links(role: Role, one: Written, facts: Facts) -> list[Link]:
    registration, use = one.registration, one.use
    policy = _POLICY.search(use.arguments)
    note = f"policy {policy[1]}" if policy else ""
    definition = registered_definition(one, facts)
    evidence = [definition.location] if definition else []
    if use.macro:
        evidence.append(use.macro)
    confidence: Confidence = "by rule" if use.macro else "exact"
    key = (registration.key,)
    rule = f"{registration.key}: {registration.rule}"
    shown = (registration.kernel, use.location, rule, confidence, note, tuple(evidence), key)
    links = [Link(role, *shown)]
    if definition and definition.kind == "function" and not policy:
        rule = f"{registration.key}: the function registered at {use.location}"
        place = (definition.qualified, definition.location)
        links.append(Link(role, *place, rule, confidence, "", (use.location,), key))
    return links


def registered_definition(one: Written, facts: Facts) -> Definition | None:
    """Where the kernel of a registration is defined; None if unknown."""
    registration = one.registration
    if registration.fallthrough or registration.kernel == "lambda":
        return None
    for row in facts.kernels(registration.op) if "native::" in registration.kernel else ():
        # A decomposition that is the operator's own composite kernel: native::dropout.
        if row.definitions and registration.kernel.rstrip(")").endswith(f"native::{row.symbol}"):
            return row.definitions[0]
    return kernel_definition(registration.kernel, one.use.location.path, facts)


# ----------------------------------------------------------------------------- from Python

EXPLICIT = "CompositeExplicitAutograd"
_KEYS = {
    "meta_registration": "Meta",
    "fake_impl": "Meta",
    "autograd_impl": "Autograd",
    "vmap_impl": "FuncTorchBatched",
}
"""The default key of functions that register without one."""
_DEVICES = {"cpu": "CPU", "cuda": "CUDA", "mps": "MPS", "xpu": "XPU", "meta": "Meta"}


REFUSES = "_make_prim: its kernel for Autograd refuses to compute a gradient"


def full_name(target: str) -> str:
    """``prims::add`` for ``prims::add.default``; operators of aten without a namespace."""
    return target.removeprefix("aten::").removesuffix(".default")


def python_keys(fact: PythonFact, detail: Mapping[str, str]) -> Iterator[str]:
    """The dispatch keys that Python registers a function for."""
    given = detail.get("key", "") or _KEYS.get(fact.kind, EXPLICIT)
    for key in given.split(","):
        yield EXPLICIT if key == "None" else _DEVICES.get(key, key)


def kernels_over_cpp(rows: Iterable[tuple[str, PythonFact]]) -> Iterator[Registration]:
    """Python kernels that replace C++ kernels for YAML operators once their module is imported."""
    for path, fact in rows:
        detail = unpack(fact.detail)
        if fact.kind != "py_impl" or "through" not in detail:
            continue
        when = " and ".join(filter(None, (f"{module_name(path)} is imported", detail.get("when"))))
        by = " for ".join(filter(None, (detail["through"], detail.get("note"))))
        where = Location(path, fact.line, fact.end_line)
        for key in python_keys(fact, detail):
            op = full_name(fact.target)
            yield Registration(op, key, fact.symbol, path, f"{by}, if {when}", False, where, when)
