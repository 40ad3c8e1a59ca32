"""What torch.compile makes runs without what follows the program, as it does untraced.

Dynamo traces a function mode and hooks of modules with the program and guards on them: other
graphs, other breaks and other operators would come of it. So they are taken off for as long as a
frame may be compiled or may be compiled code. For what Dynamo is told to leave alone they are on
again.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from ..compat import run_as_it_is

if TYPE_CHECKING:
    from types import FrameType

    from ..follow import Undo


class _Turn(NamedTuple):
    """Dynamo was switched on or off by a frame, which will switch it back."""

    frame: int
    undo: Undo
    left: bool
    """Whether what follows the program was taken off for it."""


class CompiledCode:
    """Notices when Dynamo is switched on and off in a thread.

    Parameters:
        leave: Takes off what follows the program, seen from the frame that is about to run what is
            compiled; returns what puts it on again, None where there was nothing to take off.
        see_anew: Follows the program within that, and returns what ends it.
    """

    def __init__(self, leave: Callable[[FrameType], Undo | None], resume: Callable[[], Undo]):
        self._leave, self._resume = leave, resume
        self._turns = threading.local()
        self._passed_over = False

    @property
    def inside(self) -> bool:
        """Whether this thread runs what was compiled, or compiles it."""
        turns = self._open()
        return bool(turns) and turns[-1].left

    def follow(self) -> Iterator[Undo]:
        """Be told of it from now on. Yields nothing where torch has no Dynamo."""
        home = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
        original: Callable[[Any], Any] | None = getattr(home, "set_eval_frame", None)
        if home is None or original is None:
            return

        def set_eval_frame(callback: Any) -> Any:
            prior = original(callback)
            fails = callback is None and self._is_by(sys._getframe(1))  # Dynamo switched it off
            if (prior is None) != (callback is None) or fails:
                original(None)  # else Dynamo would compile what we do here
                try:
                    self._turn(sys._getframe(1), callback is not None)
                finally:
                    original(callback)
            return prior

        _put(original, set_eval_frame)
        yield lambda: _put(set_eval_frame, original)

    def _open(self) -> list[_Turn]:
        if not hasattr(self._turns, "open"):
            self._turns.open = []
        found: list[_Turn] = self._turns.open
        return found

    def _is_by(self, frame: FrameType) -> bool:
        turns = self._open()
        return bool(turns) and turns[-1].frame == id(frame)

    def _turn(self, frame: FrameType, compiled: bool) -> None:
        turns, running = self._open(), _identities(frame)
        while turns and turns[-1].frame not in running:  # a frame that ended otherwise
            turns.pop().undo()
        if self._is_by(frame):
            turns.pop().undo()
        elif compiled:
            self._pass_over_us()
            undo = self._leave(frame)
            turns.append(_Turn(id(frame), undo or _nothing, undo is not None))
        else:
            undo = self._resume() if self.inside else _nothing
            turns.append(_Turn(id(frame), undo, False))

    def _pass_over_us(self) -> None:
        if not self._passed_over:
            self._passed_over = True
            run_as_it_is()


def _put(old: Any, new: Any) -> None:
    """Where it was defined, and where Dynamo has taken it from there."""
    for name in ("torch._C._dynamo.eval_frame", "torch._dynamo.eval_frame"):
        names = vars(sys.modules[name]) if name in sys.modules else {}
        for key in [key for key, value in names.items() if value is old]:
            names[key] = new


def _identities(frame: FrameType | None) -> set[int]:
    """Of a frame and of all that wait for it."""
    found = set()
    while frame is not None:
        found.add(id(frame))
        frame = frame.f_back
    return found


def _nothing() -> None:
    """Nothing was done that is to be undone."""
