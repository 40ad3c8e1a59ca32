"""The log of outermost calls: kept in memory, announced soon, written with their window.

A call is five integers. What repeats (which function, from which line, in which module) is
a *kind*, kept once: the program's own garbage collector must not find a growing heap.
"""

from __future__ import annotations

import threading
from array import array
from collections.abc import Iterator
from types import ModuleType
from typing import Any, NamedTuple

from .frames import Stack
from .kineto import Arrows, is_bookkeeping, marker_number, metadata_key
from .profiler import Window
from .writer import encode, metadata

_FIELDS = 5


class Kind(NamedTuple):
    """What calls have in common."""

    function: Any
    stack: Stack
    module: str
    """Path of the ``nn.Module`` being called: ``Net.blocks.0.attn``; empty outside of any."""
    output: tuple[Any, Any, Any] | None
    """(dtype, shape, device) of a result that is one plain tensor."""


class CallLog:
    """``add`` is called from every thread for every call."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._calls = array("q")
        self._kinds: list[Kind] = []
        self._texts: list[bytes] = []
        """By kind: its fields as JSON, without braces."""
        self._numbers: dict[Any, int] = {}
        self._announced = 0
        """How many integers of ``_calls`` were announced while their window was open."""
        self._lock = threading.Lock()
        self._stacks: set[int] = set()
        self._metadata: set[str] = set()
        self._arrows = Arrows()

    def __len__(self) -> int:
        return len(self._calls) // _FIELDS

    def add(self, number: int, kind: Any, thread: int, start_ns: int, duration_ns: int) -> None:
        """``kind`` holds the fields of a ``Kind``. Nothing here may switch threads midway."""
        index = self._numbers.get(kind)
        if index is None:
            index = self._new_kind(kind)
        self._calls.extend((number, index, thread, start_ns, duration_ns))

    def _new_kind(self, fields: Any) -> int:
        with self._lock:
            kind = Kind(*fields)
            self._kinds.append(kind)
            self._texts.append(b"")
            index = self._numbers[fields] = len(self._kinds) - 1
        return index

    # ----------------------------------------------------------------------- writing

    def announce(self) -> list[bytes]:
        """Lines for the calls made since the last time, for who follows the file.

        Reading an attribute is left out. With its window a call is written only if it ran an
        operator: ``x.dim()`` ran none.
        """
        with self._lock:
            fresh = self._calls[self._announced :]
            self._announced += len(fresh)
            lines: list[bytes] = []
            for number, index, thread, start, duration in _fives(fresh):
                if not is_attribute(self._kinds[index].function):
                    lines += self._stack(self._kinds[index].stack)
                    lines.append(self._announcement(number, index, thread, start, duration))
            return lines

    def _announcement(self, number: int, kind: int, thread: int, start: int, length: int) -> bytes:
        times = f'"start_ns":{start},"duration_ns":{length},"call":{number},'.encode()
        head = f'{{"ph":"M","name":"torchnav_call","pid":{self._pid},"tid":{thread},"args":{{'
        return head.encode() + times + self._text(kind) + b"}}"

    def window(self, window: Window) -> list[bytes]:
        """Lines for what a window saw and for the calls made in it, which are then forgotten."""
        with self._lock:
            count = len(self._calls)
            numbers, kinds = self._calls[:count:_FIELDS], self._calls[1:count:_FIELDS]
            del self._calls[:count]
            self._announced = 0
            calls = dict(zip(numbers, kinds, strict=True))
            lines: list[bytes] = []
            self._arrows.next_window()
            for event in window.saved.events:
                number = marker_number(event)
                if number < 0:
                    if not self._is_needless(event):
                        lines.append(self._arrows.renumbered(event))
                elif number in calls and number in window.calls_with_operators:
                    lines += self._stack(self._kinds[calls[number]].stack)
                    lines.append(self._call_event(event, number, calls[number]))
            return lines

    def _is_needless(self, event: bytes) -> bool:
        if is_bookkeeping(event):
            return True
        key = metadata_key(event)
        if key is None or key not in self._metadata:
            if key is not None:
                self._metadata.add(key)
            return False
        return True

    def _call_event(self, marker: bytes, number: int, kind: int) -> bytes:
        """The profiler's own event of the marker, under the name of the call it stands for."""
        start, end = marker.index(b'"cat"'), marker.index(b'"pid"')
        label = encode({"cat": "torchnav_call", "name": function_name(self._kinds[kind].function)})
        text = marker[:start] + label[1:-1] + b", " + marker[end:]
        fields = b'"args": {"call":%d,%b, ' % (number, self._text(kind))
        return text.replace(b'"args": {', fields, 1)

    def _stack(self, stack: Stack) -> list[bytes]:
        if stack.number in self._stacks:
            return []
        self._stacks.add(stack.number)
        frames = [[frame.path, frame.line, frame.function] for frame in stack.frames]
        args = {"stack": stack.number, "user": stack.user, "frames": frames}
        return [metadata("stack", args, self._pid)]

    def _text(self, index: int) -> bytes:
        text = self._texts[index]
        if not text:
            text = self._texts[index] = encode(_kind_args(self._kinds[index]))[1:-1]
        return text


def _kind_args(kind: Kind) -> dict[str, Any]:
    args: dict[str, Any] = {"function": function_name(kind.function), "stack": kind.stack.number}
    user = kind.stack.user_frame
    if user is not None:
        args["user"] = f"{user.path}:{user.line}"
    if kind.module:
        args["module"] = kind.module
    if kind.output is not None:
        args["output"] = _tensor_text(*kind.output)
    return args


def _tensor_text(dtype: Any, shape: tuple[Any, ...], device: Any) -> str:
    """``float32[2, 8] cpu``"""
    sizes = ", ".join(str(size) for size in shape)
    return f"{str(dtype).removeprefix('torch.')}[{sizes}] {device}"


def _fives(calls: array[int]) -> Iterator[tuple[int, ...]]:
    return zip(*(calls[at::_FIELDS] for at in range(_FIELDS)), strict=True)


# ------------------------------------------------------------------------------ names


def function_name(function: Any) -> str:
    """``torch.Tensor.add``, ``torch.nn.functional.relu``, ``torch.ops.aten.add.Tensor``."""
    owner = getattr(function, "__self__", None)
    if getattr(function, "__name__", "") in ("__get__", "__set__", "__delete__"):
        return f"torch.Tensor.{getattr(owner, '__name__', '?')}.{function.__name__}"
    holder = getattr(function, "__objclass__", None)
    if holder is not None:
        return f"{_class_name(holder)}.{function.__name__}"
    operator = _operator_name(function)
    if operator:
        return operator
    module = owner.__name__ if isinstance(owner, ModuleType) else _module(function)
    name = str(getattr(function, "__qualname__", None) or getattr(function, "__name__", "?"))
    name = name.removeprefix("_VariableFunctionsClass.")
    return f"{module}.{name}" if module else name


def is_attribute(function: Any) -> bool:
    """Whether the call only reads or sets an attribute: ``x.shape``, ``x.grad = None``."""
    return getattr(function, "__name__", "") in ("__get__", "__set__", "__delete__")


def _class_name(holder: type) -> str:
    if holder.__name__ in ("TensorBase", "_TensorBase"):
        return "torch.Tensor"
    return f"{holder.__module__}.{holder.__qualname__}"


def _operator_name(function: Any) -> str:
    """``torch.ops.aten.add.Tensor`` for an ``OpOverload`` or its packet, else empty."""
    qualified = getattr(function, "_qualified_op_name", None)
    if qualified is None:
        name = getattr(function, "_name", None)
        qualified = name() if callable(name) else name
    if not isinstance(qualified, str) or "::" not in qualified:
        return ""
    return "torch.ops." + qualified.replace("::", ".")


def _module(function: Any) -> str:
    return str(getattr(function, "__module__", None) or "")
