"""Exceptions and warnings look as they would without us: our frames are taken out."""

from __future__ import annotations

import dis
import os
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator
from itertools import zip_longest
from types import CodeType, FrameType, TracebackType
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_HANDLER = "__torch_function__"


def is_ours(code: CodeType) -> bool:
    return os.path.dirname(code.co_filename) == _HERE


# ------------------------------------------------------------------------- exceptions


def hide_from_uncaught() -> None:
    """Called while an exception leaves the program: ``sys.excepthook`` will show it."""
    hook = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        shown = strip(_after_launch(trace))
        error.__traceback__ = shown
        _strip_chain(error)
        hook(kind, error, shown)

    sys.excepthook = show


def hide_from_formatted() -> None:
    """Also from what ``traceback`` and ``logging`` print, and from exceptions of threads."""
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
    """The traceback without entries of this package. Changes the links, not the entries."""
    entries = list(_without_hooks(list(_entries(trace))))
    hidden = set(_hidden([entry.tb_frame.f_code for entry in entries]))
    shown = [entry for at, entry in enumerate(entries) if at not in hidden]
    for at, entry in enumerate(shown):
        entry.tb_next = shown[at + 1] if at + 1 < len(shown) else None
    return shown[0] if shown else None


def _hidden(codes: list[CodeType]) -> Iterator[int]:
    """Ours, the import machinery in front of ours, and torch's detour to a function mode."""
    for at, code in enumerate(codes):
        if not is_ours(code):
            continue
        yield at
        before = at - 1
        while before >= 0 and codes[before].co_filename.startswith("<frozen importlib"):
            yield before
            before -= 1
        if code.co_name == _HANDLER and before >= 1 and _is_override(codes[before]):
            yield from (before, before - 1)


def _without_hooks(entries: list[TracebackType]) -> Iterator[TracebackType]:
    """As if our hooks were not there, for which torch calls modules in a longer way."""
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
    """Whether the program itself has put hooks on the module that is called, or on all."""
    called = vars(frame.f_locals.get("self"))
    hooks = [called.get(f"_{kind}") for kind in _HOOKS]
    hooks += [getattr(module, f"_global_{kind}", None) for kind in _HOOKS]
    codes = (getattr(hook, "__code__", None) for some in hooks for hook in (some or {}).values())
    return any(code is None or not is_ours(code) for code in codes)


def _direct(entry: TracebackType) -> TracebackType:
    """The entry at the first place where its function hands all of its arguments on: there torch
    calls ``forward`` of a module that has no hooks."""
    code = entry.tb_frame.f_code
    calls = (i.offset for i in dis.get_instructions(code) if i.opname == "CALL_FUNCTION_EX")
    at = next(calls, None)
    if at is None:
        return entry
    line = max((start, line) for start, line in dis.findlinestarts(code) if start <= at and line)[1]
    return TracebackType(None, entry.tb_frame, at, line)


def _after_launch(trace: TracebackType | None) -> TracebackType | None:
    """What follows the first run of our entries: above it is how we were started."""
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


# --------------------------------------------------------------------------- warnings


def hide_from_warnings() -> None:
    """A warning names a frame counted from where it is raised: do not count ours."""
    original = warnings.showwarning

    def show(message: Any, category: Any, filename: str, lineno: int, *rest: Any) -> None:
        frame = _meant(sys._getframe(1), filename, lineno)
        if frame is not None:
            filename, lineno = frame.f_code.co_filename, frame.f_lineno
        original(message, category, filename, lineno, *rest)

    warnings.showwarning = show  # type: ignore[assignment]


def _meant(frame: FrameType | None, filename: str, lineno: int) -> FrameType | None:
    """The frame that the warning would name if no function mode stood in between."""
    frames = [f for f in _outwards(frame) if f.f_code.co_filename != warnings.__file__]
    places = [(f.f_code.co_filename, f.f_lineno) for f in frames]
    if (filename, lineno) not in places:
        return None
    native = list(_native(frames))
    at = places.index((filename, lineno))
    return native[at] if at < len(native) else None


def _native(frames: list[FrameType]) -> Iterator[FrameType]:
    """Without our handler, torch's ``handle_torch_function`` and who asked for it."""
    skip = 0
    for at, frame in enumerate(frames):
        if skip:
            skip -= 1
        elif is_ours(frame.f_code):
            asked = at + 1 < len(frames) and _is_override(frames[at + 1].f_code)
            skip = 2 if asked and frame.f_code.co_name == _HANDLER else 0
        else:
            yield frame


def _is_override(code: CodeType) -> bool:
    return code.co_name == "handle_torch_function"


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back
