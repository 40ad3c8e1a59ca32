"""Operators outside aten in the installed torch's dispatcher. Runs as a separate process: imports
torch and those of its modules that define operators.

Writes one JSON object: torch's version and commit, and for each operator its schema, the place of
its registration, and that of each kernel by dispatch key.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import re
import sys

_SCHEMA = re.compile(r"^schema: (.*)$", re.M)
_PLACE = re.compile(r"^debug: registered at (\S+)", re.M)
_KERNEL = re.compile(r"^(\w+)(?:\[alias\])?: (?:fallthrough )?registered at (\S+) ::", re.M)
_MODULES = (
    "torch.distributed",
    "torch._dynamo",
    "torch._inductor.inductor_prims",
    "torch.ao.quantization.fx._decomposed",
)


def described(dump: str) -> dict[str, object]:
    """The facts in ``_dispatch_dump`` of one operator."""
    schema, place = _SCHEMA.search(dump), _PLACE.search(dump)
    kernels = dict(_KERNEL.findall(dump))
    return {
        "schema": schema[1] if schema else "",
        "place": place[1] if place else "",
        "kernels": kernels,
    }


def main() -> None:
    """Answers on standard output."""
    import torch

    for name in _MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    names = (one for one in torch._C._dispatch_get_all_op_names() if not one.startswith("aten::"))
    answer = {
        "version": torch.__version__,
        "commit": torch.version.git_version,
        "operators": {name: described(torch._C._dispatch_dump(name)) for name in names},
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
