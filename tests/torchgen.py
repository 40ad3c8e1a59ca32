"""The torchgen of a version, as what torchnav makes is compared with it."""

from __future__ import annotations

from pathlib import Path

from indexes.build.torchgen_rules import KERNEL_RULES
from indexes.codegen.registrations import Rules
from indexes.readers.project.torchgen_lists import TorchgenLists, read_torchgen_lists


def rules_of(root: Path) -> Rules:
    """What the torchgen in ``root`` says of kernels and derivatives."""
    lists = TorchgenLists()
    for path in KERNEL_RULES:
        lists, problems = read_torchgen_lists((root / path).read_bytes(), path, lists)
        assert not problems
    return Rules.of(lists)
