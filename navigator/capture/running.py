"""Writes the running call of each thread to a file that outlives a crash."""

from __future__ import annotations

import mmap
import os
import struct
import threading
from typing import Any

from .calls import function_name, stack_event
from .frames import Stack
from .writer import metadata, open_tail

_SLOTS, _SLOTS_AT, _TEXT_AT, _TEXT = 32, 4096, 8192, 1 << 19
_SLOT, _RUNNING, _DEPTH = struct.Struct("=5qqii"), struct.Struct("=5qii"), struct.Struct("=q")
_ENDED = struct.Struct("=2q")
_ROW, _RINGS_AT = struct.Struct("=qqqqiii4x"), _TEXT_AT + _TEXT
_FIRST_RING, _RING = 16_384, 2_048
"""Ring sizes of the first thread and of others: all calls since the last write."""
_SIZE = _RINGS_AT + (_FIRST_RING + _SLOTS * _RING) * _ROW.size
_TAIL_HEADER = struct.Struct("=8s12q")
_SIZE_AT = 8 * 8
"""Offset in the header of the size of the first part of the text."""
_STOPPED_AT = _TAIL_HEADER.size - 8


class RunningCalls:
    """Keeps the tail of a recording: the running call of each thread, and the last ones.

    Same format as the compiled recorder's; see ``docs/trace-format.md``.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.memory: Any = bytearray(_SIZE)
        self.base_ns = 0
        self._numbers: dict[Any, int] = {}
        self._stacks: set[int] = set()
        self._last = self._used = 0
        self._free = [Slot(self, index) for index in range(_SLOTS + 1)]
        """Free slots; the last one, which nobody reads, serves all further threads."""
        self._spare = self._free.pop()
        self._lock = threading.Lock()

    def open(self, recording: str, base_ns: int) -> None:
        """Map a file beside the recording from now on, if one can be made."""
        self.base_ns = base_ns
        descriptor = open_tail(recording, len(self.memory))
        if descriptor >= 0:
            self.memory = mmap.mmap(descriptor, len(self.memory))
            os.close(descriptor)
        sizes = (_SLOTS, _SLOTS_AT, _SLOT.size, 1, _ROW.size, _TEXT_AT, _TEXT)
        _TAIL_HEADER.pack_into(self.memory, 0, b"navtail1", *sizes, 0, 0, 0, 0, 0)

    def leave(self) -> None:
        """In a forked child: give up the parent's file."""
        self.memory = bytearray(len(self.memory))

    def stop(self) -> None:
        """End the recording while the program goes on."""
        _DEPTH.pack_into(self.memory, _STOPPED_AT, 1)

    def take_slot(self, thread: int) -> Slot:
        """The slot for a function mode; reuses the thread's earlier slot."""
        with self._lock:
            first = self._free[0] if self._free else self._spare
            slot = next((one for one in self._free if one.thread == thread), first)
            if slot in self._free:
                self._free.remove(slot)
            slot.begin_thread(thread)
        return slot

    def give_back(self, slot: Slot) -> None:
        """Release the slot of a mode that has ended."""
        with self._lock:
            if slot is not self._spare:
                self._free.append(slot)

    def number(self, call: Any) -> int:
        """The number of a function, stack and module."""
        return self._numbers.get(call) or self._new(*call)

    def _new(self, function: Any, stack: Stack, module: str) -> int:
        with self._lock:
            self._last += 1
            lines = self._lines(self._last, function, stack, module)
            if self._used + len(lines) > _TEXT:  # earlier calls are written again
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
        self.memory[_TEXT_AT + self._used : _TEXT_AT + self._used + len(lines)] = lines
        self._used += len(lines)
        _DEPTH.pack_into(self.memory, _SIZE_AT, self._used)


class Slot:
    """The part of the tail that belongs to one thread."""

    def __init__(self, running: RunningCalls, index: int) -> None:
        self._running, self.thread = running, 0
        self._at, self._made = _SLOTS_AT + index * _SLOT.size, 0
        before = _FIRST_RING + (index - 1) * _RING if index else 0
        self._ring, self._room = _RINGS_AT + before * _ROW.size, _RING if index else _FIRST_RING

    def begin_thread(self, thread: int) -> None:
        """Assign the slot to a thread."""
        if self.thread != thread:
            head = thread, 0, 0, self._ring, self._room, 0, 0, 0
            _SLOT.pack_into(self._running.memory, self._at, *head)
            self.thread, self._made = thread, 0

    def begin(self, call: Any, start_ns: int) -> int:
        """``call``: function, stack and module. Returns their number, for ``end``."""
        running = self._running
        kind = running.number(call)
        slot = 1, self._made, self._ring, self._room, start_ns - running.base_ns, kind, kind
        _RUNNING.pack_into(running.memory, self._at + 8, *slot)
        return kind

    def end(self, kind: int, number: int, start_ns: int, duration_ns: int) -> None:
        """Record the end of the call that was begun."""
        running = self._running
        row = self._ring + self._made % self._room * _ROW.size
        start = start_ns - running.base_ns
        _ROW.pack_into(running.memory, row, start, duration_ns, number, 0, kind, 0, kind)
        self._made += 1
        _ENDED.pack_into(running.memory, self._at + 8, 0, self._made)
