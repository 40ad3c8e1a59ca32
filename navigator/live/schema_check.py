"""A new operator's plan, with its schema validated by torchgen where that is installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from indexes.model.errors import SourceError
from indexes.source.torch_install import installed_torch, target_python
from navigator.live.asking import ask

if TYPE_CHECKING:
    from indexes.queries.contribution.new_operator import Check, NewOperator
    from indexes.queries.index import Index

_SCRIPT = Path(__file__).with_name("torchgen_check.py")
_TIMEOUT = 60.0
"""Seconds."""


def plan_operator(index: Index, schema: str, formulas: Sequence[str] = ()) -> NewOperator:
    """The plan for an operator with this schema, as ``Planner`` makes it."""
    from indexes.queries.contribution.new_operator import Planner

    plan = Planner(index).plan(schema, formulas)
    return replace(plan, checks=(plan.checks[0], torchgen_check(schema), *plan.checks[1:]))


def torchgen_check(schema: str) -> Check:
    """What torchgen says of a schema; a note when there is no torchgen to ask."""
    from indexes.queries.contribution.new_operator import Check

    try:
        said = ask(target_python().path, str(_SCRIPT), words=schema, timeout=_TIMEOUT)
    except SourceError as error:
        return Check("torchgen", True, f"not asked: {error}; read by torchnav's own rules alone")
    if said["refused"]:
        return Check("torchgen", False, said["refused"])
    if said["absent"]:
        why = f"not asked ({said['absent']}): read by torchnav's own rules alone"
        return Check("torchgen", True, why)
    torch = installed_torch()
    return Check("torchgen", True, f"that of torch {torch.version if torch else ''} takes it")
