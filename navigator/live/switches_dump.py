"""The installed torch's key sets while a switch is on. Runs as a separate process: imports torch.

Reads a device from standard input. Writes one JSON object: for each switch a tensor's key set, the
keys that the thread includes and excludes, and a call's keys, highest priority first; or a text
that says why there is no answer.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from typing import Any


def _names(keys: Any) -> list[str]:
    inside = str(keys).partition("(")[2].rpartition(")")[0]
    return [name for name in inside.split(", ") if name][::-1]


def sets(torch: Any, tensor: Any) -> dict[str, list[str]]:
    """The key sets of a tensor and of the thread."""
    keys = torch._C._dispatch_keys(tensor)
    included = torch._C._dispatch_tls_local_include_set()
    excluded = torch._C._dispatch_tls_local_exclude_set()
    return {
        "tensor": _names(keys),
        "included": _names(included),
        "excluded": _names(excluded),
        "first": _names((keys | included) - excluded),
    }


class _Probes:
    """A function mode and a tensor subclass that do nothing."""

    def __init__(self, torch: Any) -> None:
        self.mode = torch.utils._python_dispatch.TorchDispatchMode

        class Subclass(torch.Tensor):  # type: ignore[misc]
            @classmethod
            def __torch_dispatch__(cls, func: Any, *given: Any) -> Any:
                raise NotImplementedError

        self.subclass = Subclass


def switches(torch: Any, device: str) -> dict[str, Callable[[], Any]]:
    """How to query each switch."""
    probes = _Probes(torch)

    def made() -> Any:
        return torch.ones(2, 2, device=device)

    def within(context: Callable[[], Any], tensor: Callable[[], Any] = made) -> Any:
        outside = tensor()
        with context():
            return sets(torch, outside)

    def inside() -> Any:
        with torch.inference_mode():
            return sets(torch, made())

    def transformed(transform: Callable[..., Any]) -> Any:
        found: list[Any] = []

        def read(x: Any) -> Any:
            found.append(sets(torch, x))
            return x

        transform(read)(made())
        return found[0]

    return {
        "plain": lambda: sets(torch, made()),
        "requires_grad": lambda: sets(torch, made().requires_grad_()),
        "autocast": lambda: within(lambda: torch.autocast(torch.device(device).type)),
        "inference": lambda: within(torch.inference_mode),
        "inference_tensor": inside,
        "no_grad": lambda: within(torch.no_grad),
        "vmap": lambda: transformed(torch.vmap),
        "functionalize": lambda: transformed(torch.func.functionalize),
        "subclass": lambda: sets(torch, torch.Tensor._make_subclass(probes.subclass, made())),
        "mode": lambda: within(probes.mode),
        "sparse": lambda: sets(torch, made().to_sparse()),
    }


def main() -> None:
    """Answers for the device on standard input."""
    import torch

    answers: dict[str, Any] = {}
    for name, ask in switches(torch, sys.stdin.read().strip()).items():
        try:
            answers[name] = ask()
        except Exception as error:  # noqa: BLE001
            answers[name] = str(error).strip().splitlines()[0] if str(error) else repr(error)
    with contextlib.suppress(BrokenPipeError):
        json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
