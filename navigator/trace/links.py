"""The link of an operator call: the answer of ``Linker``."""

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
"""Prefix of the Nodes that torch.library makes for custom operators."""

IN_PYTHON = (
    "a __torch_dispatch__ answered it in Python: what that ran stands below, no kernel of its own"
)


@dataclass(frozen=True, slots=True)
class NodeLink:
    """The autograd Node of an operator in a backward pass, and its definition."""

    grad_fn: str
    entry: DerivativeEntry | None
    """Its entry in derivatives.yaml; None for a hand-written Node."""
    formulas: tuple[Formula, ...]
    definition: Definition | None
    """The C++ class of a hand-written Node, or the program's function."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class OpLink:
    """The link of one operator call."""

    full_name: str
    """``add.Tensor``; empty if the overload is uncertain."""
    candidates: tuple[str, ...]
    """Possible full names, if the trace does not decide."""
    overload_rule: str
    schema: OperatorSummary | None
    keys: tuple[str, ...]
    """The backend's dispatch key; several if the device is unknown."""
    kernel: KernelRow | None
    derivative: DerivativeEntry | None
    """For the operator itself: how its gradient is computed."""
    node: NodeLink | None
    """In a backward pass: the Node that it belongs to."""
    reasons: tuple[str, ...]
    """Why a field above is empty, one line each; empty if everything is resolved."""
    note: str = ""

    @property
    def resolved(self) -> bool:
        return not self.reasons


@dataclass(frozen=True, slots=True)
class Possible:
    """The possible links of an operator call."""

    schemas: tuple[OperatorSummary, ...]
    kernels: tuple[KernelRow, ...]


def one_of_several(name: str, found: tuple[Definition, ...]) -> str:
    """Why it is uncertain which of the program's classes a Node belongs to."""
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
