"""Which call is running in each thread, told to a file that outlives a crash."""

from __future__ import annotations

import mmap
import os
import struct
import threading
from typing import Any

from .calls import function_name, stack_event
from .frames import Stack
from .tail import open_tail
from .writer import metadata

_SLOTS, _SLOTS_AT, _TEXT_AT, _TEXT = 64, 4096, 8192, 1 << 19
_SLOT, _RUNNING, _DEPTH = struct.Struct("=5qqii"), struct.Struct("=q24xqii"), struct.Struct("=q")
_TAIL_HEADER = struct.Struct("=8s12q")
_SIZE_AT = 8 * 8
"""Where the header has the size of the first part of the text."""
_STOPPED_AT = _TAIL_HEADER.size - 8


class RunningCalls:
    """Tells the tail of a recording which call is running in each thread, and which was the last.

    The same form as that of the compiled recorder, without rows. See ``docs/trace-format.md``.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._memory: Any = bytearray(_TEXT_AT + _TEXT)
        self._base_ns = 0
        self._numbers: dict[Any, int] = {}
        self._stacks: set[int] = set()
        self._last = self._used = 0
        self._free = list(range(_SLOTS, -1, -1))
        """Slots of no thread; the last one, which nobody reads, is for all that come too late."""
        self._lock = threading.Lock()

    def open(self, recording: str, base_ns: int) -> None:
        """Tell it to a file beside the recording from now on, where there can be one."""
        self._base_ns = base_ns
        descriptor = open_tail(recording, len(self._memory))
        if descriptor >= 0:
            self._memory = mmap.mmap(descriptor, len(self._memory))
            os.close(descriptor)
        sizes = (_SLOTS, _SLOTS_AT, _SLOT.size, 1, 48, _TEXT_AT, _TEXT)
        _TAIL_HEADER.pack_into(self._memory, 0, b"navtail1", *sizes, 0, 0, 0, 0, 0)

    def leave(self) -> None:
        """In a forked child: the file is the parent's."""
        self._memory = bytearray(len(self._memory))

    def stop(self) -> None:
        """The recording ends here, and the program may go on."""
        _DEPTH.pack_into(self._memory, _STOPPED_AT, 1)

    def take_slot(self, thread: int) -> int:
        """Where a function mode tells its calls."""
        with self._lock:
            slot = self._free.pop() if len(self._free) > 1 else self._free[0]
        place = _SLOTS_AT + slot * _SLOT.size
        _SLOT.pack_into(self._memory, place, thread, 0, 0, 0, 0, 0, 0, 0)
        return place

    def give_back(self, place: int) -> None:
        """The mode has ended."""
        slot = (place - _SLOTS_AT) // _SLOT.size
        with self._lock:
            if slot != self._free[0]:
                self._free.append(slot)

    def begin(self, place: int, call: Any, start_ns: int) -> None:
        """``call``: function, stack and module."""
        number = self._numbers.get(call) or self._new(*call)
        start = start_ns - self._base_ns
        _RUNNING.pack_into(self._memory, place + 8, 1, start, number, number)

    def end(self, place: int) -> None:
        """The call of this slot has ended."""
        _DEPTH.pack_into(self._memory, place + 8, 0)

    def _new(self, function: Any, stack: Stack, module: str) -> int:
        with self._lock:
            self._last += 1
            lines = self._lines(self._last, function, stack, module)
            if self._used + len(lines) > _TEXT:  # calls that were told before are told again
                self._numbers.clear()
                self._stacks.clear()
                self._used = 0
                lines = self._lines(self._last, function, stack, module)
            self._add(lines[:_TEXT])
            self._numbers[function, stack, module] = self._last
            return self._last

    def _lines(self, number: int, function: Any, stack: Stack, module: str) -> bytes:
        kind = {"kind": number, "name": function_name(function), "call": True}
        place = {"at": number, "stack": stack.number, "module": module}
        lines = [metadata("kind", kind, self._pid), metadata("at", place, self._pid)]
        if stack.number not in self._stacks:
            self._stacks.add(stack.number)
            lines.insert(0, stack_event(stack, self._pid))
        return b"".join(line + b",\n" for line in lines)

    def _add(self, lines: bytes) -> None:
        self._memory[_TEXT_AT + self._used : _TEXT_AT + self._used + len(lines)] = lines
        self._used += len(lines)
        _DEPTH.pack_into(self._memory, _SIZE_AT, self._used)
