"""The vocabulary of traces: operator calls, device kernels, runs.

Times are microseconds from the start of the trace. Ids are positions in the trace's table, from 0.
A parent always exists and is complete before its children.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from indexes.model.vocabulary import Location

OpKind = Literal["call", "op", "node", "engine", "annotation", "region"]
"""``call``: an outermost torch call of the user's Python. ``op``: an operator, ``aten::add``.
``node``: an autograd Node running its formula. ``engine``: the autograd engine around one
Node. ``annotation``: a ``record_function`` block. ``region``: anything else that was timed,
such as a compiled graph."""

Phase = Literal["forward", "backward", "optimizer", "compile"]
"""``compile``: run by torch.compile while it compiles, on tensors without data."""

Origin = Literal["", "engine", "hook", "recompute"]
"""Why an operator runs in a backward pass: empty for the formula itself; ``engine`` for the
engine's own work (summing gradients, reducing them to an input's shape), ``hook`` for a user's
hook, ``recompute`` for a forward that checkpointing repeats."""

DeviceWork = Literal["kernel", "memcpy", "memset"]


@dataclass(frozen=True, slots=True)
class Input:
    """An argument of an operator as recorded by the profiler."""

    kind: Literal["tensor", "tensors", "scalar", "scalars", "list", "other", "any"]
    """``list``: of unknown content. ``other``: None, or a value that the profiler does not
    record. ``any``: of unknown type, and without sizes."""
    dtype: str = ""
    """A tensor's dtype: ``float32``."""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] | None = None
    """None if not recorded; empty for a tensor without strides, such as a sparse one."""
    value: str = ""
    """The text of a scalar or a list of scalars."""
    elements: tuple[tuple[int, ...], ...] = ()
    """Shapes of a list of tensors."""

    def __str__(self) -> str:
        if self.kind == "tensor":
            return f"{self.dtype}[{', '.join(map(str, self.shape))}]"
        if self.kind == "tensors":
            return "(" + ", ".join(str(list(shape)) for shape in self.elements) + ")"
        return self.value or ("[...]" if self.kind == "list" else "-")


@dataclass(frozen=True, slots=True)
class StackFrame:
    """A Python frame: the line that makes the call, or a ``def`` line where ``exact`` is False."""

    location: Location
    function: str


@dataclass(frozen=True, slots=True)
class TraceOp:
    """A row of a trace (call, operator, Node ...) with everything known about it."""

    id: int
    parent: int | None
    kind: OpKind
    name: str
    """``aten::add``, ``torch.nn.functional.linear``, ``AddmmBackward0``."""
    overload: str | None
    """``Tensor``; empty for the default overload; None if not recorded."""
    phase: Phase
    origin: Origin
    node: str | None
    """The autograd Node that ran it: ``AddmmBackward0``."""
    node_id: int | None
    """The row of that Node; for the engine's work, the engine's row."""
    forward_id: int | None
    """In a backward pass: the row of the operator whose gradient is computed; for AccumulateGrad,
    one that used the leaf."""
    sequence: int
    """The autograd sequence number, or -1."""
    thread: int
    """The operating system's thread id."""
    start_us: float
    duration_us: float
    inputs: tuple[Input, ...]
    output: str
    """Result of a call that returned one tensor: ``float32[2, 8] cpu``."""
    user: Location | None
    """The user's line that led here: absolute path, line."""
    user_exact: bool
    """False if only the first line of the function is known."""
    stack: tuple[StackFrame, ...]
    """A short Python stack, innermost first."""
    module: str
    """Path of the ``nn.Module``: ``Net.blocks.0.attn``."""
    device: str | None
    """``cpu``, ``cuda:0``; None if not recorded."""
    layout: str
    """Layout of its inputs: ``strided``, ``sparse_coo`` ..."""
    keys: tuple[str, ...] = ()
    """The dispatch keys of the call, highest priority first, if recorded: those of its tensors and
    of the thread, without excluded ones."""
    unfinished: bool = False
    """Whether it was running when the program died."""

    @property
    def full_name(self) -> str:
        """``add.Tensor`` for ``aten::add`` with overload ``Tensor``; the name for other kinds."""
        base = self.name.removeprefix("aten::")
        return f"{base}.{self.overload}" if self.overload else base

    @property
    def label(self) -> str:
        """``aten::add.Tensor``: the name with its overload."""
        return f"{self.name}.{self.overload}" if self.overload else self.name


@dataclass(frozen=True, slots=True)
class ProgramDefinition:
    """A definition of the recorded program itself."""

    kind: str
    """``operator``, ``kernel``, ``fake``; ``forward`` or ``backward`` of an autograd.Function."""
    name: str
    """``mylib::scale``; ``SquareBackward``, as the trace shows it."""
    location: Location
    function: str
    """``scale_cpu``, ``Square.backward``; empty if only the registering line is known."""
    key: str
    """The dispatch key of a kernel."""
    schema: str


@dataclass(frozen=True, slots=True)
class DeviceKernel:
    """A kernel, copy or fill that ran on a device."""

    id: int
    op_id: int | None
    """The operator that launched it; if None, ``reason`` says why."""
    kind: DeviceWork
    name: str
    start_us: float
    duration_us: float
    device: str
    """The trace's number of the device."""
    stream: str
    launch: str = ""
    """The runtime call that launched it: ``cudaLaunchKernel``."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Allocation:
    """A memory event: allocation or release."""

    id: int
    op_id: int | None
    """The running row, or None."""
    start_us: float
    bytes: int
    """Negative for a release."""
    device: str
    """``cpu``, ``cuda:0``"""
    address: int
    """The address, the same at allocation and release."""
    total_bytes: int
    """Bytes that the device's allocator has allocated afterwards."""
    reserved_bytes: int = 0
    """Bytes that it has reserved afterwards, used or not; 0 if not recorded."""


class TensorState(NamedTuple):
    """The state of a tensor when an operator took or made it."""

    storage: int
    """Number of its storage, which can be reused when this one is freed."""
    offset: int
    """Storage offset in elements."""
    version: int
    """Version counter, shared with views; -1 for none (inference mode)."""


@dataclass(frozen=True, slots=True)
class ProgramError:
    """The error that ended a program."""

    type: str
    message: str
    frames: tuple[StackFrame, ...]
    """The program's own lines in the traceback, innermost first."""
    raised_in: str = ""
    """The Python file that raised it, or that called the C++ code that did."""

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


@dataclass(slots=True)
class TraceMeta:
    """Facts about the run of a trace."""

    path: str = ""
    format: str = ""
    """``torchnav``, ``kineto`` ..."""
    torch: str = ""
    torch_git: str = ""
    python: str = ""
    command: tuple[str, ...] = ()
    cwd: str = ""
    devices: tuple[str, ...] = ()
    """Names of the devices."""
    torch_root: str = ""
    """The folder that contained the ``torch`` package; empty if unknown."""
    rank: int | None = None
    """The rank in a distributed run, if known."""
    base_ns: int = 0
    """Zero of the file's times in nanoseconds since the epoch; 0 if unknown."""
    overloads: bool = False
    """Whether overloads were recorded."""
    definitions: bool = False
    """Whether the program's own definitions were recorded."""
    error: ProgramError | None = None
    """The error that ended the program, if recorded."""
    complete: bool = False
    """Whether the trace is complete."""
    lacks: list[str] = field(default_factory=list)
    """What the trace lacks, and what would record it."""
    problems: list[str] = field(default_factory=list)
    """Problems while recording or reading."""


@dataclass(frozen=True, slots=True)
class NameTotal:
    """The time of one rank under one name."""

    kind: str
    """``operator``, ``kernel``, ``phase`` or ``device phase``."""
    name: str
    count: int
    own_us: float
    """Self time, without calls."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A collective of a rank. Times in microseconds since the epoch, if the trace has its zero."""

    name: str
    """The operator and its data, ``c10d::allreduce_ float32[212]``: the n-th call of this name is
    one collective on all ranks."""
    number: int
    """Index among this rank's collectives of this name, from 0."""
    start_us: float
    """When the rank called it."""
    end_us: float
    """When its backend had finished; without spans of the backend, when the call returned."""


@dataclass(frozen=True, slots=True)
class Rank:
    """The summary of a rank. Times in microseconds; device times are unions of all streams."""

    number: int | None
    """None if neither the trace nor its file name says."""
    path: str
    rows: int
    """Totals of operators, calls, annotations and kernels."""
    span_us: float
    compute_us: float = 0.0
    """Time in kernels other than collectives."""
    communication_us: float = 0.0
    """Time in collectives."""
    exposed_us: float = 0.0
    """Time in collectives without simultaneous computation."""
    busy_us: float = 0.0
    """Time in device work of any kind."""
    on_device: bool = False
    """Whether the four times above are of devices; else of operators on the CPU."""
    problems: tuple[str, ...] = ()
    totals: tuple[NameTotal, ...] = field(default=(), repr=False)
    arrivals: tuple[Arrival, ...] = field(default=(), repr=False)
    """Its collectives, by time."""

    @property
    def overlap(self) -> float | None:
        """The part of communication that overlaps computation, 0 to 1; None without any."""
        if not self.communication_us:
            return None
        return 1 - self.exposed_us / self.communication_us

    @property
    def idle_us(self) -> float:
        """Time in which nothing ran."""
        return max(self.span_us - self.busy_us, 0.0)


@dataclass(frozen=True, slots=True)
class BadRank:
    """A file that could not be read, or that has the same rank as another one."""

    path: str
    reason: str
