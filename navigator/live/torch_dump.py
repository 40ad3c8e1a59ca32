"""What the installed torch says of itself. Run in a process of its own: imports torch.

Reads operator names, one a line; writes one JSON object: torch's version and commit, the
dispatch table of each operator, and the names of the autograd Node classes.
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any

_ROW = re.compile(r"^(\w+): (fallthrough )?registered at (\S+?)(?::(\d+))? \[([^\]]*)\]", re.M)


Slots = dict[tuple[str, ...], int]


def tables(torch: Any, operators: list[str], slots: Slots) -> dict[str, dict[str, int]]:
    """Operator -> key -> number of its slot in ``slots``, where equal ones stand once."""
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
