"""From Python frames to the user's line: cheap keys while running, text when written."""

from __future__ import annotations

import os
import sysconfig
from dataclasses import dataclass
from types import CodeType, FrameType

USER_FRAMES = 3
"""Maximum number of user frames in a stack, innermost first."""
FRAME_LIMIT = 40
"""Maximum number of frames in a stack. If none of them is the user's, as in code that torch.compile
runs to compile, the innermost user frame further out is added."""

_HIDDEN, _TORCH, _LIBRARY, _USER = range(4)


@dataclass(frozen=True, slots=True)
class Frame:
    """One line of a stack: the line that makes the call, not the function's first."""

    path: str
    line: int
    function: str


@dataclass(frozen=True, slots=True, eq=False)
class Stack:
    """A short Python stack, innermost first. ``user`` is the index of the user's frame."""

    number: int
    frames: tuple[Frame, ...]
    user: int

    @property
    def user_frame(self) -> Frame | None:
        return self.frames[self.user] if self.frames else None


class Stacks:
    """Interns stacks. ``of`` costs about a microsecond when the stack was seen before."""

    def __init__(self, torch_folder: str) -> None:
        self._torch = os.path.join(torch_folder, "")
        self._mode_files = (
            os.path.join(torch_folder, "nn", "modules", ""),
            os.path.join(torch_folder, "_dynamo", "eval_frame.py"),
        )
        self._our_folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
        self._stdlib = _stdlib_folders()
        self._kinds: dict[int, int] = {}
        self._codes: list[CodeType] = []  # kept alive so that ids are not reused
        self._stacks: dict[tuple[int, ...], Stack] = {}

    def of(self, frame: FrameType | None) -> Stack:
        """The stack whose innermost frame is ``frame``."""
        kinds = self._kinds
        key: list[int] = []
        room = USER_FRAMES
        current = frame
        while current is not None and (len(key) < 2 * FRAME_LIMIT or room == USER_FRAMES):
            code = current.f_code
            ident = id(code)
            kind = kinds.get(ident)
            if kind is None:
                kind = self._learn(code)
            if kind == _USER or (kind and len(key) < 2 * FRAME_LIMIT):
                key += (ident, current.f_lasti)
                if kind == _USER:
                    room -= 1
                    if not room:
                        break
            current = current.f_back
        found = self._stacks.get(tuple(key))
        return found if found is not None else self._add(tuple(key), frame)

    def has_foreign(self, frame: FrameType | None) -> bool:
        """Whether torch itself called the code in ``frame``. Frames that call modules, compiled
        code, and modes such as ``torch.device``, which only pass a call on, do not count."""
        while frame is not None:
            if self._is_foreign(frame.f_code):
                return True
            frame = frame.f_back
        return False

    def _is_foreign(self, code: CodeType) -> bool:
        kind = self._kinds.get(id(code))
        is_torch = (kind if kind is not None else self._learn(code)) == _TORCH
        hands_on = code.co_name == "__torch_function__"
        return is_torch and not hands_on and not code.co_filename.startswith(self._mode_files)

    def _learn(self, code: CodeType) -> int:
        kind = self.classify(code.co_filename)
        self._codes.append(code)
        self._kinds[id(code)] = kind
        return kind

    @staticmethod
    def user_index(kinds: list[int]) -> int:
        """Index of the innermost frame of the user, else of a library, else the outermost."""
        for kind in (_USER, _LIBRARY):
            if kind in kinds:
                return kinds.index(kind)
        return max(len(kinds) - 1, 0)

    def classify(self, path: str) -> int:
        """0 for hidden, 1 for torch and what it generates, 2 for the standard library, 3 for
        user."""
        if path.startswith((self._our_folder, "<frozen")):
            return _HIDDEN
        generated = os.environ.get("TORCHINDUCTOR_CACHE_DIR", "")  # Inductor sets it
        if path.startswith("<eval_with_key>") or (generated and path.startswith(generated)):
            return _TORCH
        if path.startswith(self._torch):
            inner = path[len(self._torch) :].replace(os.sep, "/")
            return _HIDDEN if inner in ("overrides.py", "nn/modules/module.py") else _TORCH
        if path.startswith(self._stdlib) and "site-packages" not in path:
            return _LIBRARY
        return _USER

    def is_user(self, path: str) -> bool:
        """Whether a file belongs to the program."""
        return self.classify(path) == _USER

    def _add(self, key: tuple[int, ...], frame: FrameType | None) -> Stack:
        frames: list[Frame] = []
        kinds: list[int] = []
        while frame is not None and 2 * len(frames) < len(key):
            kind = self._kinds[id(frame.f_code)]
            if kind == _USER or (kind and len(frames) < FRAME_LIMIT):
                kinds.append(kind)
                frames.append(_frame(frame))
            frame = frame.f_back
        stack = Stack(len(self._stacks) + 1, tuple(frames), self.user_index(kinds))
        self._stacks[key] = stack
        return stack


def _frame(frame: FrameType) -> Frame:
    code = frame.f_code
    return Frame(absolute(code.co_filename), frame.f_lineno or code.co_firstlineno, code.co_name)


def _stdlib_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths["stdlib"], paths["platstdlib"], os.path.dirname(os.__file__)}
    frozen = {f"<frozen {name}" for name in ("importlib", "runpy")}
    return tuple(os.path.join(folder, "") for folder in folders if folder) + tuple(frozen)


def absolute(path: str) -> str:
    """The absolute path of a file; other text is returned unchanged."""
    return path if path.startswith("<") else os.path.abspath(path)
