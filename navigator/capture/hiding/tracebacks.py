"""Removes our frames from exceptions, stacks and warnings that the program sees."""

from __future__ import annotations

import dis
import functools
import inspect
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from itertools import zip_longest
from threading import local
from types import CodeType, FrameType, TracebackType
from typing import Any

_HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "")
_LAUNCHER = os.path.join(_HERE, "__main__.py")
_HANDLER = "__torch_function__"


def is_ours(code: CodeType) -> bool:
    return code.co_filename.startswith(_HERE)


# ------------------------------------------------------------------------- exceptions


def hide_from_uncaught() -> None:
    """Called while an exception leaves the program, for ``sys.excepthook``."""
    hook = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        shown = strip(_after_launch(trace))
        error.__traceback__ = shown
        _strip_chain(error)
        hook(kind, error, shown)

    sys.excepthook = show


def hide_from_formatted() -> None:
    """Also for ``traceback``, ``logging`` and exceptions of threads."""
    initialise = traceback.TracebackException.__init__

    def init(self: Any, kind: Any, error: Any, trace: TracebackType | None, **options: Any) -> None:
        initialise(self, kind, error, strip(trace), **options)

    traceback.TracebackException.__init__ = init  # type: ignore[method-assign,assignment]
    hook = threading.excepthook

    def of_thread(args: Any) -> None:
        if args.exc_value is not None:
            args.exc_value.__traceback__ = strip(args.exc_traceback)
            _strip_chain(args.exc_value)
        hook(args)

    threading.excepthook = of_thread


def strip(trace: TracebackType | None) -> TracebackType | None:
    """The traceback without entries of this package. Relinks entries without changing them."""
    entries = list(_without_hooks(list(_entries(trace))))
    hidden = set(_hidden([entry.tb_frame.f_code for entry in entries]))
    shown = [entry for at, entry in enumerate(entries) if at not in hidden]
    for at, entry in enumerate(shown):
        entry.tb_next = shown[at + 1] if at + 1 < len(shown) else None
    return shown[0] if shown else None


def _hidden(codes: list[CodeType]) -> Iterator[int]:
    """Our frames, the import machinery in front of them, how we were started, and torch's detour to
    a function mode."""
    for at, code in enumerate(codes):
        if not is_ours(code):
            continue
        yield at
        if code.co_filename == _LAUNCHER:
            yield from range(at)
        before = at - 1
        while before >= 0 and codes[before].co_filename.startswith("<frozen importlib"):
            yield before
            before -= 1
        if code.co_name == _HANDLER and before >= 1 and _is_override(codes[before]):
            yield from (before, before - 1)


def _without_hooks(entries: list[TracebackType]) -> Iterator[TracebackType]:
    """Removes the longer path by which torch calls modules that have hooks."""
    module = sys.modules.get("torch.nn.modules.module")
    call = getattr(getattr(module, "Module", None), "_call_impl", None)
    code = getattr(call, "__code__", None)
    within = getattr(code, "co_consts", ())
    skip = False
    for entry, inner in zip_longest(entries, entries[1:]):
        longer = entry.tb_frame.f_code is code and inner and inner.tb_frame.f_code in within
        if not skip:
            yield _direct(entry) if longer and not _hooked(entry.tb_frame, module) else entry
        skip = bool(longer and not _hooked(entry.tb_frame, module))


_HOOKS = ("backward_pre_hooks", "backward_hooks", "forward_hooks", "forward_pre_hooks")


def _hooked(frame: FrameType, module: Any) -> bool:
    """Whether the program itself has put hooks on this module or on all."""
    called = vars(frame.f_locals.get("self"))
    hooks = [called.get(f"_{kind}") for kind in _HOOKS]
    hooks += [getattr(module, f"_global_{kind}", None) for kind in _HOOKS]
    codes = (getattr(hook, "__code__", None) for some in hooks for hook in (some or {}).values())
    return any(code is None or not is_ours(code) for code in codes)


def _direct(entry: TracebackType) -> TracebackType:
    """The entry at the first line of its function that passes all arguments on, where torch calls
    ``forward`` of a module without hooks."""
    code = entry.tb_frame.f_code
    calls = (i.offset for i in dis.get_instructions(code) if i.opname == "CALL_FUNCTION_EX")
    at = next(calls, None)
    if at is None:
        return entry
    line = max((start, line) for start, line in dis.findlinestarts(code) if start <= at and line)[1]
    return TracebackType(None, entry.tb_frame, at, line)


def _after_launch(trace: TracebackType | None) -> TracebackType | None:
    """What follows the first run of our entries, which started the program."""
    while trace is not None and not is_ours(trace.tb_frame.f_code):
        trace = trace.tb_next
    while trace is not None and is_ours(trace.tb_frame.f_code):
        trace = trace.tb_next
    return trace


def _strip_chain(error: BaseException) -> None:
    seen = {id(error)}
    waiting = [error.__cause__, error.__context__]
    while waiting:
        other = waiting.pop()
        if other is not None and id(other) not in seen:
            seen.add(id(other))
            other.__traceback__ = strip(other.__traceback__)
            waiting += [other.__cause__, other.__context__]


def _entries(trace: TracebackType | None) -> Iterator[TracebackType]:
    while trace is not None:
        yield trace
        trace = trace.tb_next


# ----------------------------------------------------------------------------- stacks


def hide_from_stacks() -> None:
    """From stacks that ``traceback``, ``logging``, anomaly mode and ``inspect`` read."""
    walk, outer = traceback.walk_stack, inspect.getouterframes

    @functools.wraps(walk)
    def walk_stack(f: FrameType | None = None) -> Iterator[tuple[FrameType, int]]:
        return walk(f) if f is None else iter(shown_stack(f))

    @functools.wraps(outer)
    def getouterframes(frame: FrameType, context: int = 1) -> list[inspect.FrameInfo]:
        shown = {id(one) for one, _ in shown_stack(frame)}
        return [found for found in outer(frame, context) if id(found.frame) in shown]

    traceback.walk_stack = walk_stack
    inspect.getouterframes = getouterframes


def shown_stack(frame: FrameType | None) -> list[tuple[FrameType, int]]:
    """The frames from ``frame`` outwards with their lines, innermost first, without ours."""
    trace = None
    while frame is not None:
        trace = TracebackType(trace, frame, frame.f_lasti, frame.f_lineno or 0)
        frame = frame.f_back
    shown = [(entry.tb_frame, entry.tb_lineno) for entry in _entries(strip(trace))]
    return shown[::-1]


def _is_override(code: CodeType) -> bool:
    return code.co_name == "handle_torch_function"


class _Thread(local):
    """State of the current thread."""

    repeating = False
    """Whether a warning is being repeated with its own location."""


_here = _Thread()


def hide_from_warnings() -> None:
    """Correct the location of each warning on its way to whatever shows or collects it."""
    gate = "_showwarnmsg"  # the only hook that warnings.catch_warnings keeps
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
    """The frame that warned and its callers."""
    frames: list[FrameType] = []
    while frame is not None:
        if frames or frame.f_code.co_filename != warnings.__file__:
            frames.append(frame)
        frame = frame.f_back
    return frames


def _named(frames: list[FrameType], warning: warnings.WarningMessage) -> int | None:
    """Index of the frame that the warning names; None if it was named explicitly."""
    place = (warning.filename, warning.lineno)
    places = ((frame.f_code.co_filename, frame.f_lineno) for frame in frames)
    return next((at for at, one in enumerate(places) if one == place), None)


def _forget(frame: FrameType, warning: warnings.WarningMessage) -> None:
    """Undo the registry entry of a warning for the wrong frame."""
    registry: dict[Any, Any] = frame.f_globals.get("__warningregistry__", {})
    about = (str(warning.message), warning.category)
    for key in (about, (*about, 0), (*about, warning.lineno)):
        registry.pop(key, None)


def _repeat(warning: warnings.WarningMessage, frame: FrameType, line: int) -> None:
    """Warn at another location, subject to the filters and registry there."""
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
