"""The lines of a compiled graph are those of the program, not of the function mode around it.

torch.compile traces the function mode too, and would have each node of a graph come from there; so
would what Inductor keeps in its cache.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from torch.fx import Node

_OWN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_FRAMES = re.compile(r'^(?=  File ")', re.MULTILINE)


def without_own_frames(stack: str | None) -> str | None:
    """The text of a stack without the frames of the recorder."""
    if not stack or _OWN not in stack:
        return stack
    frames = _FRAMES.split(stack)
    return "".join(one for one in frames if not one.startswith(f'  File "{_OWN}'))


def hide_from_graphs() -> Callable[[], None]:
    """Keep our frames out of graphs that are traced from now on; returns what ends that."""
    original: property = Node.stack_trace

    def set_trace(node: Node, trace: str | None) -> None:
        node.meta["stack_trace"] = without_own_frames(trace)

    Node.stack_trace = original.setter(set_trace)

    def undo() -> None:
        Node.stack_trace = original

    return undo
