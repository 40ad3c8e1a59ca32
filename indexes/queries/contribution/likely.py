"""Which places of a contribution its change most likely edits: those that compute.

Most pull requests to PyTorch edit what computes for CUDA, without it the function named in the
YAML, or the Python function itself; entries, registrations, docstrings and helpers are edited
seldom, other files in less than half of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from indexes.model.regex import regex

if TYPE_CHECKING:
    from indexes.queries.contribution.steps import Step

_COMPUTING = ("kernel", "registration", "device_kernel")
_COMPUTED = regex(r"/native/(|cuda/)[^/]+\.(?:cpp|cu)$")
"""Of ordinary tensors: what begins, checks and allocates, and what computes on a GPU."""
_OTHERS = frozenset(
    ("docs", "operator", "around", "caller", "sibling", "cpp_api", "types", "table", "expect")
)
"""Roles for a file or symbol: what leads to it, or is beside it."""
_SELDOM = ("docs", "formulas", "autocast", "compatibility", "expect", "table", "types")
"""Roles that a change of what an operator computes hardly ever edits."""
_ASKED = ("function", "class", "method")
"""Roles for a Python name, whose definition comes first."""
_OWN = regex(r"torch\.\w+$")
_LISTS = "overrides.py"


def will_change(steps: Sequence[Step], of_operator: bool) -> frozenset[str]:
    """The files that a change most likely edits; for a file or symbol its own."""
    if not of_operator:
        return frozenset(step.location.path for step in steps if step.role not in _OTHERS)
    if steps and steps[0].role in _ASKED and defines(steps[0].location.path):
        return frozenset({steps[0].location.path})
    steps = [step for step in steps if step.change != "seldom"]
    computed = filter(None, map(_COMPUTED.search, _files(steps, *_COMPUTING)))
    devices = sorted(computed, key=lambda match: match[1] == "")
    kernels = [*(match.string for match in devices), *_files(steps, "kernel")][:1]
    python = [s for s in steps if s.role == "python" and defines(s.location.path)]
    own = [step.location.path for step in python if not kernels or _OWN.match(step.symbol)]
    found = {*kernels, *own[:1]}
    return frozenset(found or islice(_files(steps, "delegate", "derivative", "decomposition"), 1))


def is_seldom(step: Step) -> bool:
    """Whether changes hardly ever edit it: lists, docs and what code generation fills in."""
    path, role = step.location.path, step.role
    if role == "registration":  # what exporters and compilers in Python register for it
        return path.endswith(".py")
    if role == "batch_rule":  # what stands in a header maps others too
        return path.endswith(".h")
    return role in _SELDOM or (role == "python" and not defines(path))


def defines(path: str) -> bool:
    """Whether a Python entry point is written in a file, which neither lists nor generates it."""
    return "/torch/" in f"/{path}" and path.endswith(".py") and not path.endswith(_LISTS)


def _files(steps: Iterable[Step], *roles: str) -> Iterable[str]:
    return iter(dict.fromkeys(step.location.path for step in steps if step.role in roles))
