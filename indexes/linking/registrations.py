"""Registrations written by hand: which kernel they name, and where that is defined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from indexes.codegen.library_calls import library_registration
from indexes.codegen.registration import Registration
from indexes.linking.facts import Facts, LibraryUse
from indexes.linking.hops import Link
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, Definition, Role

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


@dataclass(frozen=True, slots=True)
class Written:
    """A registration in a TORCH_LIBRARY block."""

    registration: Registration
    use: LibraryUse


def written_registrations(
    uses: Iterable[LibraryUse], macros: Mapping[str, Mapping[str, str]]
) -> Iterator[Written]:
    """What calls on libraries register. ``macros`` are the object-like macros by file."""
    for use in uses:
        path = use.location.path
        made = library_registration(
            use.block, use.method, use.arguments, use.location, macros.get(path, {})
        )
        if made is not None:
            shown = _shown(made.kernel)
            made = replace(made, kernel=shown, rule=_rule(use), condition=_condition(use))
            yield Written(made, use)


def _condition(use: LibraryUse) -> str:
    if not use.guard and use.location.path.endswith(".mm"):
        return "Objective-C++, for Apple's systems"
    return use.guard


def _rule(use: LibraryUse) -> str:
    block = use.block.rpartition(",")[0].strip()
    head = "TORCH_LIBRARY_IMPL" if "," in block else "TORCH_LIBRARY"
    how = f"m.{use.method} in {head}({block}) at line {use.block_line}"
    if use.macro:
        how += f", made by the macro defined at {use.macro}"
    condition = _condition(use)
    return f"{how}; only built under {condition}" if condition else how


def _shown(kernel: str) -> str:
    """The function that matters: the batch rule that plumbing, made by torchgen, calls."""
    if policy := "CastPolicy::" in kernel and _POLICY.search(kernel):
        return f"at::autocast::WrapFunction<CastPolicy::{policy[1]}>"
    plumbing = _PLUMBING.match(kernel) if "_generated_plumbing" in kernel else None
    if plumbing is None:
        return kernel
    inner = kernel[plumbing.end() :]
    depth = 1
    for at, char in enumerate(inner):
        depth += (char == "(") - (char == ")")
        if depth == 0:
            return inner[:at].lstrip("& ")
    return kernel


def kernel_definition(kernel: str, path: str, facts: Facts) -> Definition | None:
    """The definition of the first name in a kernel's expression that has one which a
    registration in ``path`` can mean; None for a lambda or an overloaded name."""
    text = _WRAPPERS.sub("", kernel) if "(" in kernel else kernel
    # Class<2, false>::run names a method; where several specializations have it, the class tells.
    names = dict.fromkeys((*_NAMES.findall(_SPECIALIZED.sub("", text)), *_NAMES.findall(text)))
    for name in names:
        found = _visible(name, path, facts)
        if found:
            return found[0] if len(found) == 1 else _first(found, path)
    return None


def _first(found: Sequence[Definition], path: str) -> Definition | None:
    """Of several only those of one file can be told: alternatives, or overloads side by side."""
    here = [d for d in found if d.location.path == path]
    if len(here) == 1 or (here and len({d.guard for d in here}) == len(here)):
        return here[0]
    return None


def _visible(name: str, path: str, facts: Facts) -> list[Definition]:
    scope, _, simple = name.lstrip(":").rpartition("::")
    if scope in ("at", "std", "torch", "c10") or simple.startswith("ATEN_FN"):
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
    """The batch rules and autocast policies of an operator, as links with their reasons."""
    links: list[Link] = []
    for one in written:
        role = _role(one.registration.key)
        if role and one.registration.op == op:
            links += _links(role, one, facts)
    return tuple(sorted(links, key=lambda link: (link.role, link.keys, str(link.location))))


def _role(key: str) -> Role | None:
    if key.startswith("Autocast"):
        return "autocast"
    return "batch_rule" if key in _BATCHING else None


def _links(role: Role, one: Written, facts: Facts) -> list[Link]:
    """The registration, and the function it names."""
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
    links = [
        Link(role, registration.kernel, use.location, rule, confidence, note, tuple(evidence), key)
    ]
    if definition and definition.kind == "function" and not policy:
        rule = f"{registration.key}: the function registered at {use.location}"
        links.append(
            Link(
                role,
                definition.qualified,
                definition.location,
                rule,
                confidence,
                "",
                (use.location,),
                key,
            )
        )
    return links


def registered_definition(one: Written, facts: Facts) -> Definition | None:
    """Where the kernel of a registration is defined; None when that can't be told."""
    registration = one.registration
    if registration.fallthrough or registration.kernel == "lambda":
        return None
    for row in facts.kernels(registration.op):
        # A decomposition that is the operator's own composite kernel: native::dropout.
        if row.definitions and registration.kernel.rstrip(")").endswith(f"native::{row.symbol}"):
            return row.definitions[0]
    return kernel_definition(registration.kernel, one.use.location.path, facts)
