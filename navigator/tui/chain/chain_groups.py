"""Groups the steps of a chain: schema, derivative, meta, CPU, CUDA ..."""

from __future__ import annotations

from indexes.model.answers import Chain, Hop, Unresolved
from indexes.model.vocabulary import Role
from navigator.tui.processes.preview import REASON

Step = Hop | Unresolved

_GROUP_OF_ROLE: dict[Role, str] = {
    "python": "Python",
    "schema": "Schema",
    "delegate": "Schema",
    "derivative": "Derivative",
    "formula_function": "Derivative",
    "meta": "Meta",
    "decomposition": "Python implementations",
    "meta_registration": "Python implementations",
    "ref": "Python implementations",
    "batch_rule": "Batching",
    "autocast": "Autocast",
    "docs": "Documentation",
    "opinfo": "Tests",
    "test": "Tests",
    "owner": "Owners",
    "generated": "Generated",
}
_WITHOUT_DEVICE = "Elsewhere"
"""Roles of registrations and other steps for no single device."""
_ROOTS = ("Python", "Schema")
"""Groups whose children form groups of their own."""

MAIN = ("Schema", "CPU", "CUDA", "MPS", "Composite", "Derivative", "Meta")
_NOT_RESOLVED, _NOT_READ = "Not resolved", "Not read yet"
LAST = (
    "Python",
    "Generated",
    "Python implementations",
    "Batching",
    "Autocast",
    "Documentation",
    "Tests",
    "Owners",
    _WITHOUT_DEVICE,
    _NOT_RESOLVED,
    _NOT_READ,
)


def is_pending(step: Step) -> bool:
    """Whether a step is unresolved only because the source is still being read."""
    return isinstance(step, Unresolved) and step.reason == REASON


def groups(chain: Chain) -> dict[str, list[Step]]:
    """The steps of each group: groups in display order, steps in the chain's."""
    of_hop: dict[int, str] = {}
    found: dict[str, list[Step]] = {}
    steps: list[Step] = [*chain.hops, *chain.unresolved]
    for step in steps:
        name = _group(step, of_hop)
        if isinstance(step, Hop):
            of_hop[step.id] = name
        found.setdefault(name, []).append(step)
    return {name: found[name] for name in sorted(found, key=_order)}


def tier(name: str) -> int:
    """0 for the most useful groups, 1 for other devices, 2 for the rest."""
    if name.split(",", 1)[0] in MAIN:
        return 0
    return 2 if name in LAST else 1


def _group(step: Step, of_hop: dict[int, str]) -> str:
    """A step's group: its parent's, else by role if that suffices, else by device."""
    inherited = of_hop.get(step.parent) if step.parent is not None else None
    if inherited and inherited not in _ROOTS:
        return inherited
    if step.role in _GROUP_OF_ROLE:
        return _GROUP_OF_ROLE[step.role]
    device = step.device if isinstance(step, Hop) else None
    return _of_keys(step.keys) or device or _without_device(step)


def _without_device(step: Step) -> str:
    if isinstance(step, Hop):
        return _WITHOUT_DEVICE
    return _NOT_READ if is_pending(step) else _NOT_RESOLVED


def _of_keys(keys: tuple[str, ...]) -> str:
    """``Composite`` for the alias keys, else the keys themselves."""
    if keys and all(key.startswith("Composite") for key in keys):
        return "Composite"
    if len(keys) > 3:
        return f"{keys[0]}, {keys[1]} and {len(keys) - 2} more"
    return ", ".join(keys)


def _order(name: str) -> tuple[int, int, str]:
    first = name.split(",", 1)[0]
    if first in MAIN:
        return (0, MAIN.index(first), name)
    if name in LAST:
        return (2, LAST.index(name), "")
    return (1, 0, name)
