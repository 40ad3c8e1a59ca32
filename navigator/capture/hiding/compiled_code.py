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


class _Switch(NamedTuple):
    """A frame switched Dynamo on or off and will switch it back."""

    frame: int
    undo: Undo
    hooks_off: bool
    """Whether the hooks were taken off for it."""


class CompiledCode:
    """Notices when Dynamo is switched on and off in a thread.

    Parameters:
        leave: Takes the hooks off, given the frame that will run compiled code; returns what puts
            them back, or None if there were none.
        resume: Puts the hooks on within compiled code; returns what takes them off again.
    """

    def __init__(self, leave: Callable[[FrameType], Undo | None], resume: Callable[[], Undo]):
        self._leave, self._resume = leave, resume
        self._switches = threading.local()
        self._skipped = False

    @property
    def inside(self) -> bool:
        """Whether this thread runs or compiles code of torch.compile."""
        switches = self._open()
        return bool(switches) and switches[-1].hooks_off

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
                    self._switch(sys._getframe(1), callback is not None)
                finally:
                    original(callback)
            return prior

        _replace_everywhere(original, set_eval_frame)
        yield lambda: _replace_everywhere(set_eval_frame, original)

    def _open(self) -> list[_Switch]:
        if not hasattr(self._switches, "open"):
            self._switches.open = []
        found: list[_Switch] = self._switches.open
        return found

    def _is_by(self, frame: FrameType) -> bool:
        switches = self._open()
        return bool(switches) and switches[-1].frame == id(frame)

    def _switch(self, frame: FrameType, compiled: bool) -> None:
        switches, running = self._open(), _identities(frame)
        while switches and switches[-1].frame not in running:  # left by an exception
            switches.pop().undo()
        if self._is_by(frame):
            switches.pop().undo()
        elif compiled:
            self._skip_our_code()
            undo = self._leave(frame)
            switches.append(_Switch(id(frame), undo or _nothing, undo is not None))
        else:
            undo = self._resume() if self.inside else _nothing
            switches.append(_Switch(id(frame), undo, False))

    def _skip_our_code(self) -> None:
        if not self._skipped:
            self._skipped = True
            run_as_it_is()


def _replace_everywhere(old: Any, new: Any) -> None:
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
