"""A new operator's plan, with its schema validated by torchgen where that is installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from indexes.queries.contribution.new_operator import Check, NewOperator
    from indexes.queries.index import Index

_CODE = """\
import sys
try:
    from torchgen.model import Location, NativeFunction
except ImportError as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(3)
try:
    NativeFunction.from_yaml({"func": sys.stdin.read()}, Location("new operator", 1), set())
except Exception as error:
    print(" ".join(str(error).split()) or type(error).__name__)
    sys.exit(1)
"""
"""Run in a process of its own: it takes a second, and its version is the installed torch's."""
_REFUSED, _ABSENT = 1, 3
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
    from indexes.source.source import installed_torch

    torch = installed_torch()
    version = torch.version if torch else ""
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CODE],
            input=schema,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check("torchgen", True, f"not asked: {error}; read by torchnav's own rules alone")
    said = done.stdout.strip()
    if done.returncode == _REFUSED:
        return Check("torchgen", False, said)
    if done.returncode:
        why = said or "it is not installed"
        return Check("torchgen", True, f"not asked ({why}): read by torchnav's own rules alone")
    return Check("torchgen", True, f"that of torch {version} takes it")
