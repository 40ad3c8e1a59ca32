"""What communicates with other ranks, by the names in a trace."""

from __future__ import annotations

import re

_COLLECTIVE = re.compile(
    r"(?:void )?(?:nccl|rccl|oneccl|hccl)"
    r"|(?:c10d::|_c10d_functional::|gloo:|nccl:|mpi:|ucc:)",
    re.IGNORECASE,
)
"""Kernels of the collective libraries; on the CPU the operators and spans around them."""


def is_collective(name: str) -> bool:
    """Whether a kernel, an operator or a span communicates with other ranks."""
    return _COLLECTIVE.match(name) is not None
