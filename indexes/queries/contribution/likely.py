"""Which places of a contribution a change of its subject most likely edits: those that compute.

Of pull requests to PyTorch most edit the function that the YAML file names, what computes for CUDA,
or the Python function that stands under the operator's name; entries, registrations, docstrings and
what kernels use are edited seldom."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from indexes.model.regex import regex

if TYPE_CHECKING:
    from indexes.queries.contribution.steps import Step

_COMPUTING = ("kernel", "registration", "device_kernel")
_COMPUTED = regex(r"/native/(|cuda/)[^/]+\.(?:cpp|cu)$")
"""Of ordinary tensors: what begins, checks and allocates, and what computes on a GPU; loops for the
CPU change less often than either."""
_OTHERS = ("docs", "operator", "around", "sibling", "cpp_api", "types", "table", "expect")
"""Of a file or symbol: what leads to it, or is beside it."""
_WAYS_IN = ("function", "class", "python")
_LISTS = "overrides.py"


def will_change(steps: Sequence[Step], of_operator: bool) -> frozenset[str]:
    """The files that a change most likely edits; of a file or symbol its own."""
    if not of_operator:
        return frozenset(step.location.path for step in steps if step.role not in _OTHERS)
    devices: dict[str, str] = {}
    for match in filter(None, map(_COMPUTED.search, _files(steps, *_COMPUTING))):
        devices.setdefault(match[1], match.string)
    kernels = list(devices.values()) or islice(_files(steps, "kernel"), 1)
    defined = (path for path in _files(steps, *_WAYS_IN) if defines(path))
    found = {*kernels, *islice(defined, 1)}
    return frozenset(found or islice(_files(steps, "delegate", "derivative", "decomposition"), 1))


def defines(path: str) -> bool:
    """Whether a way in from Python is written there: not listed, and not filled in by code
    generation, nor what does that."""
    return "/torch/" in f"/{path}" and path.endswith(".py") and not path.endswith(_LISTS)


def _files(steps: Iterable[Step], *roles: str) -> Iterable[str]:
    return iter(dict.fromkeys(step.location.path for step in steps if step.role in roles))
