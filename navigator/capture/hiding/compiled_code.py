"""Takes the recorder's hooks off while torch.compile compiles or compiled code runs.

Dynamo traces function modes and module hooks with the program and guards on them, which would
change graphs, graph breaks and operators. So they are off while a frame may be compiled or is
compiled code, and on in code that Dynamo skips.
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
    """A frame switched Dynamo on or off and will switch it back."""

    frame: int
    undo: Undo
    left: bool
    """Whether the hooks were taken off for it."""


class CompiledCode:
    """Notices when Dynamo is switched on and off in a thread.

    Parameters:
        leave: Takes the hooks off, given the frame that will run compiled code; returns what puts
            them back, or None if there were none.
        see_anew: Follows the program within that, and returns what ends it.
    """

    def __init__(self, leave: Callable[[FrameType], Undo | None], resume: Callable[[], Undo]):
        self._leave, self._resume = leave, resume
        self._turns = threading.local()
        self._passed_over = False

    @property
    def inside(self) -> bool:
        """Whether this thread runs or compiles code of torch.compile."""
        turns = self._open()
        return bool(turns) and turns[-1].left

    def follow(self) -> Iterator[Undo]:
        """Watch Dynamo from now on. Yields nothing if torch has no Dynamo."""
        home = getattr(getattr(torch._C, "_dynamo", None), "eval_frame", None)
        original: Callable[[Any], Any] | None = getattr(home, "set_eval_frame", None)
        if home is None or original is None:
            return

        def set_eval_frame(callback: Any) -> Any:
            prior = original(callback)
            fails = callback is None and self._is_by(sys._getframe(1))  # Dynamo switched it off
            if (prior is None) != (callback is None) or fails:
                original(None)  # else Dynamo would compile this code
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
        while turns and turns[-1].frame not in running:  # left by an exception
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
    """Replace a function where it is defined and where Dynamo has imported it."""
    for name in ("torch._C._dynamo.eval_frame", "torch._dynamo.eval_frame"):
        names = vars(sys.modules[name]) if name in sys.modules else {}
        for key in [key for key, value in names.items() if value is old]:
            names[key] = new


def _identities(frame: FrameType | None) -> set[int]:
    """Identities of a frame and of its callers."""
    found = set()
    while frame is not None:
        found.add(id(frame))
        frame = frame.f_back
    return found


def _nothing() -> None:
    """Nothing to undo."""
