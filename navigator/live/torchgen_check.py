"""What the installed torchgen says of a schema. Run in a process of its own: it takes a second.

Reads a schema; writes one JSON object: the reason why torchgen refuses it, or why there is no
torchgen to ask; both empty when it takes it.
"""

from __future__ import annotations

import json
import sys


def check(schema: str) -> dict[str, str]:
    """Whether torchgen takes a schema."""
    try:
        from torchgen.model import Location, NativeFunction
    except ImportError as error:
        return {"refused": "", "absent": f"{type(error).__name__}: {error}"}
    try:
        NativeFunction.from_yaml({"func": schema}, Location("new operator", 1), set())
    except Exception as error:  # noqa: BLE001 torchgen refuses by assertions and errors of all kinds
        return {"refused": " ".join(str(error).split()) or type(error).__name__, "absent": ""}
    return {"refused": "", "absent": ""}


if __name__ == "__main__":
    json.dump(check(sys.stdin.read()), sys.stdout)
