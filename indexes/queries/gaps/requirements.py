"""What closing a gap requires, and what a user has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from indexes.linking.graph import device_of_key
from indexes.model.regex import regex
from indexes.queries.gaps.model import Gap

BUILD = "build"
"""Compiling C++; for Python and docs a nightly binary is enough."""
MEANS = {
    "no-gpu": "no device but the CPU",
    "mac": "a Mac, and no other device",
    "hour": "an hour: easy, and nothing to compile",
    "python-only": "Python only: nothing to compile",
}
"""The words for what a user has, with their meanings."""

_WITHOUT_BACKEND = ("Metal", "HPU", "Vulkan", "XLA")
"""Devices whose kernel files are not distinguished."""
_CALLED = {"HIP": "rocm", "MPS": "mac", "Metal": "mac"}
_OF_FILES = (
    (regex(r"/(?:cuda|cudnn|nccl)/|\.cuh?$"), "cuda"),
    (regex(r"/(?:hip|miopen)/|\.hip$"), "rocm"),
    (regex(r"/(?:mps|metal)/|\.mm$|\.metal$"), "mac"),
    (regex(r"/xpu/"), "xpu"),
    (regex(r"/vulkan/"), "vulkan"),
)
_COMPILED = regex(r"\.(?:c|cc|cpp|h|hpp|cu|cuh|hip|mm|m|metal|yaml|in)$")


def needs(gap: Gap, python: bool) -> tuple[str, ...]:
    """What closing a gap requires: ``build`` and devices, by its keys and file. ``python``: it is
    closed without C++, so that its file tells nothing."""
    return _needs(gap.location.path, gap.keys, python)


@cache
def _needs(path: str, keys: tuple[str, ...], python: bool) -> tuple[str, ...]:
    builds = not python and _COMPILED.search(path)
    devices = _of_keys(keys) if keys or python else _of_file(path)
    return (*((BUILD,) if builds else ()), *dict.fromkeys(devices))


def _of_keys(keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        device = device_of_key(key) or next(filter(key.endswith, _WITHOUT_BACKEND), "")
        if device not in ("", "CPU"):
            yield _CALLED.get(device, device.lower())


def _of_file(path: str) -> Iterator[str]:
    return (device for pattern, device in _OF_FILES if pattern.search(path))


def is_for(gap: Gap, has: str) -> bool:
    """Whether somebody who ``has`` some of ``MEANS`` can close a gap."""
    devices = {one for one in gap.needs if one != BUILD}
    if has == "no-gpu":
        return not devices
    if has == "mac":
        return devices <= {"mac"}
    return BUILD not in gap.needs and (has == "python-only" or gap.difficulty == "easy")
