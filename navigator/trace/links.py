"""Where one operator call of a trace leads: what ``Linker`` answers."""

from __future__ import annotations

from dataclasses import dataclass

from indexes.model.vocabulary import (
    Definition,
    DerivativeEntry,
    Formula,
    KernelRow,
    OperatorSummary,
)

GENERATED = "GeneratedBackwardFor_"
"""How the Nodes begin that torch.library makes for custom operators."""

IN_PYTHON = (
    "a __torch_dispatch__ answered it in Python: what that ran stands below, no kernel of its own"
)


@dataclass(frozen=True, slots=True)
class NodeLink:
    """The autograd Node an operator of a backward pass runs in, and where it is defined."""

    grad_fn: str
    entry: DerivativeEntry | None
    """Its entry in derivatives.yaml; None for a Node that is written by hand."""
    formulas: tuple[Formula, ...]
    definition: Definition | None
    """The class of a Node that is written by hand in C++, or the function of the program."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class OpLink:
    """Where one operator call leads."""

    full_name: str
    """``add.Tensor``; empty when the overload is not certain."""
    candidates: tuple[str, ...]
    """Full names it could be, when the trace does not decide."""
    overload_rule: str
    schema: OperatorSummary | None
    keys: tuple[str, ...]
    """The backend's dispatch key; several when the trace does not say on which device it ran."""
    kernel: KernelRow | None
    derivative: DerivativeEntry | None
    """Of the operator itself: how its gradient is computed."""
    node: NodeLink | None
    """In a backward pass: the Node it is part of."""
    reasons: tuple[str, ...]
    """Why something above is missing, one line each; empty when all is resolved."""
    note: str = ""

    @property
    def resolved(self) -> bool:
        return not self.reasons


@dataclass(frozen=True, slots=True)
class Possible:
    """What an operator call may be, by all that is known of it."""

    schemas: tuple[OperatorSummary, ...]
    kernels: tuple[KernelRow, ...]


def one_of_several(name: str, found: tuple[Definition, ...]) -> str:
    """Why it is not certain which class of a program a Node is."""
    places = ", ".join(str(one.location) for one in found)
    return f"the program has several classes of the name {name}: {places}"


def no_node(name: str) -> str:
    """Why a Node has no entry in derivatives.yaml."""
    if name.startswith(GENERATED):
        return (
            f"{name} is made by torch.library for a custom operator; this trace does not name "
            "the function that was registered"
        )
    if name.startswith("CompiledFunction"):
        return f"{name} runs a compiled graph: its formulas were compiled into it"
    return (
        f"{name} is not in derivatives.yaml: an autograd.Function of the program or of a library, "
        "or a Node of another version of PyTorch"
    )
