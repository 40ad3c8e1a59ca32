"""Warnings name the line, and count for the module, that they would without us.

A warning names a frame counted from where it is raised, and Python shows it once for each such
place. With our frames in between it would name those and be shown once for all of the program.
"""

from __future__ import annotations

import sys
import warnings
from threading import local
from types import FrameType
from typing import Any

from .tracebacks import shown_stack


class _Thread(local):
    """What is going on in this thread."""

    repeating = False
    """Whether a warning is given again, at its own place."""


_here = _Thread()


def hide_from_warnings() -> None:
    """Correct every warning on its way to whatever shows or collects it."""
    gate = "_showwarnmsg"  # the only one that warnings.catch_warnings does not go past
    original = getattr(warnings, gate)

    def show(warning: warnings.WarningMessage) -> None:
        frames = _frames(sys._getframe(1))
        at = _named(frames, warning) if not _here.repeating else None
        shown = shown_stack(frames[0]) if at is not None else []
        if at is None or at >= len(shown) or shown[at] == (frames[at], warning.lineno):
            original(warning)
        else:
            _forget(frames[at], warning)
            _repeat(warning, *shown[at])

    setattr(warnings, gate, show)


def _frames(frame: FrameType | None) -> list[FrameType]:
    """From the frame that warned outwards."""
    frames: list[FrameType] = []
    while frame is not None:
        if frames or frame.f_code.co_filename != warnings.__file__:
            frames.append(frame)
        frame = frame.f_back
    return frames


def _named(frames: list[FrameType], warning: warnings.WarningMessage) -> int | None:
    """The number of the frame that the warning names; None for one that was named explicitly."""
    place = (warning.filename, warning.lineno)
    places = ((frame.f_code.co_filename, frame.f_lineno) for frame in frames)
    return next((at for at, one in enumerate(places) if one == place), None)


def _forget(frame: FrameType, warning: warnings.WarningMessage) -> None:
    """As if the warning had never been shown for the frame, which is not the one meant."""
    registry: dict[Any, Any] = frame.f_globals.get("__warningregistry__", {})
    about = (str(warning.message), warning.category)
    for key in (about, (*about, 0), (*about, warning.lineno)):
        registry.pop(key, None)


def _repeat(warning: warnings.WarningMessage, frame: FrameType, line: int) -> None:
    """Warn of it at another place: filters and what was shown there before decide."""
    module, code = frame.f_globals, frame.f_code
    _here.repeating = True
    try:
        warnings.warn_explicit(
            warning.message,
            warning.category,
            code.co_filename,
            line,
            module.get("__name__", "<string>"),
            module.setdefault("__warningregistry__", {}),
            module,
            warning.source,
        )
    finally:
        _here.repeating = False
