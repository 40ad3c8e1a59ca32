"""The Python module that Inductor generates for a graph: which kernels it calls, in order.

Comments tell the nodes of a Triton kernel where it is defined (``Graph fragment``), those of a
library's call where it is called; of C++ kernels none. Versions that track where kernels come from
number the calls (``[Provenance debug handles]``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from navigator.trace.compiling.model import Kernel

_AOT_ID = re.compile(r"# AOT ID: \['(?P<id>[^']+)'\]")
_HANDLE = re.compile(r"# \[Provenance debug handles\] (?P<name>\S+)")
_FRAGMENT = re.compile(r"#\s+%(?P<node>\w+) : .*= call_function")
_DEFINITION = re.compile(r"(?P<name>\w+) = async_compile\.\w+\(")
_CALL = re.compile(r"^\s+(?:\w+ = )?(?P<name>extern_kernels\.\w+|\w+)(?:\.run)?\(")
_BUFFER = re.compile(r"\bbuf\d+\b")
_LIBRARY = "extern_kernels."


def graph_name(lines: Sequence[str]) -> str:
    """``0_forward``; empty where the module does not say."""
    return next((match["id"] for line in lines if (match := _AOT_ID.search(line))), "")


def kernels_of_code(lines: Sequence[str]) -> dict[str, Kernel]:
    """The calls of kernels by their handles, ``cpp_fused_add_0:1``; where the module numbers none,
    by numbers of ours."""
    numbered = {
        handle: replace(kernel, name=handle.rpartition(":")[0])
        for handle, kernel in _kernels(lines, _HANDLE, lambda _handle: True)
    }
    names = {match["name"] for line in lines if (match := _DEFINITION.match(line))}

    def is_kernel(name: str) -> bool:
        return name in names or name.startswith(_LIBRARY)

    calls = _kernels(lines, _CALL, is_kernel)
    found = numbered or {f"{name}:{at}": kernel for at, (name, kernel) in enumerate(calls, 1)}
    called = ((line, _CALL.match(line)) for line in lines)
    _join(found, [line for line, call in called if call and is_kernel(call["name"])])
    return found


def _join(kernels: Mapping[str, Kernel], calls: Sequence[str]) -> None:
    """Tells of each kernel the next that is given a buffer that it is the first to be given, and
    so writes."""
    given = [frozenset(_BUFFER.findall(line)) for line in calls]
    handles = list(kernels)
    if len(calls) != len(handles):  # what is called in a loop or in another way
        return
    for at, handle in enumerate(handles):
        written = given[at].difference(*given[:at])
        later = (other for other in range(at + 1, len(given)) if written & given[other])
        kernels[handle].feeds = next((handles[other] for other in later), "")


def _kernels(
    lines: Sequence[str], pattern: re.Pattern[str], is_kernel: Callable[[str], bool]
) -> Iterator[tuple[str, Kernel]]:
    """What a pattern finds in the lines, with the nodes that comments before it or before its
    definition tell."""
    defined: dict[str, tuple[str, ...]] = {}
    fragment: list[str] = []
    for line in lines:
        if match := _FRAGMENT.search(line):
            fragment.append(match["node"])
        elif match := _DEFINITION.match(line):
            defined[match["name"]], fragment = tuple(fragment), []
        elif (match := pattern.search(line)) and is_kernel(match["name"]):
            # A kernel that is called again computes other nodes then: its comment has the first.
            nodes = defined.pop(match["name"].partition(":")[0], ())
            nodes = tuple(fragment) or nodes
            yield match["name"], Kernel(match["name"], nodes=nodes or None)
            fragment = []
