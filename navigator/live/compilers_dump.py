"""What the installed torch's compilers know of operators. Runs as a separate process: imports torch
and its compiler.

Writes one JSON object: Inductor's lowerings, and whether each is a fallback; the operators in
decomposition tables; OpInfos with the operators that they test, or null if torch's test
dependencies are missing.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Any

_TESTED_AS = ("aten_name", "aten_backward_name", "decomp_aten_name")


def named(operators: Iterable[Any]) -> dict[str, Any]:
    """Names of the overloads among some keys: ``aten::add.Tensor``, ``aten::relu.default``."""
    return {
        f"{operator.namespace}::{operator.__name__}": operator
        for operator in operators
        if hasattr(operator, "_overloadname") and hasattr(operator, "namespace")
    }


def opinfos() -> list[list[str]] | None:
    """Name, variant and one operator's name for each entry of ``op_db``."""
    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except ImportError:
        return None
    return [
        [one.name, one.variant_test_name, tested]
        for one in op_db
        for tested in {getattr(one, key, None) for key in _TESTED_AS}
        if tested
    ]


def main() -> None:
    """Answers on standard output."""
    from torch._decomp import core_aten_decompositions
    from torch._inductor.decomposition import decompositions
    from torch._inductor.lowering import lowerings

    fallback = "_is_fallback_handler"
    answer = {
        "lowerings": {
            name: bool(getattr(lowerings[key], fallback, False))
            for name, key in named(lowerings).items()
        },
        "core": sorted(named(core_aten_decompositions())),
        "inductor": sorted(named(decompositions)),
        "opinfos": opinfos(),
    }
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
