"""The installed torch's dispatch tables. Runs as a separate process: imports torch.

Reads operator names, one a line. Writes one JSON object: torch's version and commit, each
operator's dispatch table, and the names of autograd's Node classes.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

_ROW = re.compile(r"^(\w+): (fallthrough )?registered at (\S+?)(?::(\d+))? \[([^\]]*)\]", re.M)


Slots = dict[tuple[str, ...], int]


def tables(torch: Any, operators: list[str], slots: Slots) -> dict[str, dict[str, int]]:
    """Operator -> key -> index of its slot in ``slots``, which has equal slots once."""
    found = {}
    for op in operators:
        dump = torch._C._dispatch_dump_table(op if "::" in op else f"aten::{op}")
        found[op] = {row[0]: slots.setdefault(row[1:], len(slots)) for row in _ROW.findall(dump)}
    return found


def main() -> None:
    """Answers for the operators on standard input."""
    import torch

    operators = sys.stdin.read().split()
    slots: Slots = {}
    nodes = [name for name in dir(torch._C._functions) if name[:1].isalpha()]
    answer = {
        "version": torch.__version__,
        "commit": torch.version.git_version,
        "tables": tables(torch, operators, slots),
        "slots": [[kind, bool(t), path, int(line or 0)] for t, path, line, kind in slots],
        "nodes": nodes,
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
