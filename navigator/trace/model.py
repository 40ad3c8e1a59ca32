"""The vocabulary of traces: what an operator call, a device kernel and a run are.

Times are microseconds from the start of the trace. Ids count from 0 and are positions in
the trace's table; a parent always exists and its row is complete before its children's.
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
"""Why an operator runs in a backward pass: empty for the formula itself; ``engine`` for what
the engine adds (summing gradients, reducing them to an input's shape), ``hook`` for a hook
of the user, ``recompute`` for a forward that checkpointing runs again."""

DeviceWork = Literal["kernel", "memcpy", "memset"]


@dataclass(frozen=True, slots=True)
class Input:
    """One argument of an operator as the profiler saw it."""

    kind: Literal["tensor", "tensors", "scalar", "scalars", "list", "other"]
    """``list``: of what is not known. ``other``: None, or a value of a kind that the profiler does
    not record."""
    dtype: str = ""
    """Of a tensor, torch's name: ``float32``."""
    shape: tuple[int, ...] = ()
    strides: tuple[int, ...] | None = None
    """None when not recorded; empty for a tensor that has none, such as a sparse one."""
    value: str = ""
    """Of a scalar or a list of scalars, as text."""
    elements: tuple[tuple[int, ...], ...] = ()
    """Shapes of the members of a list of tensors."""

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
    """One row of a trace: a call, an operator, a Node ... with everything known about it."""

    id: int
    parent: int | None
    kind: OpKind
    name: str
    """``aten::add``, ``torch.nn.functional.linear``, ``AddmmBackward0``."""
    overload: str | None
    """``Tensor``; empty for the default overload; None when the trace does not say."""
    phase: Phase
    origin: Origin
    node: str | None
    """The autograd Node that ran it: ``AddmmBackward0``."""
    node_id: int | None
    """The row of that Node; of what the engine does around it, the engine's row."""
    forward_id: int | None
    """In a backward pass: the row of the operator whose gradient is computed. For
    AccumulateGrad one that has used the leaf."""
    sequence: int
    """The autograd sequence number; -1 for none."""
    thread: int
    """The operating system's thread id."""
    start_us: float
    duration_us: float
    inputs: tuple[Input, ...]
    output: str
    """Of a call that returned one tensor: ``float32[2, 8] cpu``."""
    user: Location | None
    """The user's line that led here: absolute path, line."""
    user_exact: bool
    """False when the trace knows only the first line of the function."""
    stack: tuple[StackFrame, ...]
    """A short Python stack, innermost first."""
    module: str
    """Path of the ``nn.Module``: ``Net.blocks.0.attn``."""
    device: str | None
    """``cpu``, ``cuda:0``; None when the trace does not say."""
    layout: str
    """``strided``, ``sparse_coo`` ..., of its inputs."""
    keys: tuple[str, ...] = ()
    """The dispatch keys that it was called with, the first one first, where they were
    recorded: of its tensors and of the thread, less those that the thread excludes."""
    unfinished: bool = False
    """Whether it was running when the program died."""

    @property
    def full_name(self) -> str:
        """``add.Tensor`` for ``aten::add`` with overload ``Tensor``; as it is for other kinds."""
        base = self.name.removeprefix("aten::")
        return f"{base}.{self.overload}" if self.overload else base

    @property
    def label(self) -> str:
        """``aten::add.Tensor``: the name with its overload."""
        return f"{self.name}.{self.overload}" if self.overload else self.name


@dataclass(frozen=True, slots=True)
class ProgramDefinition:
    """What a recorded program defines itself, in a file of its own."""

    kind: str
    """``operator``, ``kernel``, ``fake``; ``forward`` or ``backward`` of an autograd.Function."""
    name: str
    """``mylib::scale``; ``SquareBackward``, as the trace shows it."""
    location: Location
    function: str
    """``scale_cpu``, ``Square.backward``; empty where only the line that registers is known."""
    key: str
    """The dispatch key of a kernel."""
    schema: str


@dataclass(frozen=True, slots=True)
class DeviceKernel:
    """A kernel, copy or fill that ran on a device."""

    id: int
    op_id: int | None
    """The operator that launched it; None with the reason in ``reason``."""
    kind: DeviceWork
    name: str
    start_us: float
    duration_us: float
    device: str
    """``0``, as the trace numbers devices."""
    stream: str
    launch: str = ""
    """The runtime call that launched it: ``cudaLaunchKernel``."""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Allocation:
    """Memory that was taken or given back."""

    id: int
    op_id: int | None
    """The row that was running; None outside of any."""
    start_us: float
    bytes: int
    """Negative where it was given back."""
    device: str
    """``cpu``, ``cuda:0``"""
    address: int
    """Of the memory: what is given back has the address of what was taken."""
    total_bytes: int
    """What the allocator of the device holds from then on."""
    reserved_bytes: int = 0
    """What it has of the device from then on, in use or not; 0 where it was not recorded."""


class TensorState(NamedTuple):
    """A tensor that an operator took or made, as it was then."""

    storage: int
    """Its storage: a number that another one may get when this one is freed."""
    offset: int
    """Elements from the storage's begin to its first."""
    version: int
    """How often was written to it or to what shares its counter; -1 for none (inference mode)."""


@dataclass(frozen=True, slots=True)
class ProgramError:
    """The error with which a program ended."""

    type: str
    message: str
    frames: tuple[StackFrame, ...]
    """The program's own lines on the way, the innermost first."""
    raised_in: str = ""
    """The Python file that raised it, or that called the C++ which did."""

    def __str__(self) -> str:
        return f"{self.type}: {self.message}"


@dataclass(slots=True)
class TraceMeta:
    """What a trace says about its run."""

    path: str = ""
    format: str = ""
    """``torchnav``, ``kineto`` ..."""
    torch: str = ""
    torch_git: str = ""
    python: str = ""
    command: tuple[str, ...] = ()
    cwd: str = ""
    devices: tuple[str, ...] = ()
    """Names of the devices it ran on."""
    torch_root: str = ""
    """The folder that held the ``torch`` package of the run; empty where the trace doesn't say."""
    rank: int | None = None
    """Of a distributed run, where the trace says which."""
    base_ns: int = 0
    """Nanoseconds since the epoch from which the file counts times; 0 where it does not say."""
    overloads: bool = False
    """Whether operators carry their overload."""
    definitions: bool = False
    """Whether it says what the program defines itself."""
    error: ProgramError | None = None
    """What the program ended with, where it was recorded."""
    complete: bool = False
    """Whether the trace was written to its end."""
    lacks: list[str] = field(default_factory=list)
    """What is not in it, each with what would have recorded it."""
    problems: list[str] = field(default_factory=list)
    """What could not be read or was not seen."""


@dataclass(frozen=True, slots=True)
class NameTotal:
    """What one rank spent under one name."""

    kind: str
    """``operator``, ``kernel``, ``phase`` or ``device phase``."""
    name: str
    count: int
    own_us: float
    """Self time: without what they call."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """One collective of a rank. Times in microseconds since the epoch, where the trace says what
    its times count from."""

    name: str
    """The operator and what it moves, ``c10d::allreduce_ float32[212]``: the ranks that call the
    n-th of a name call it together."""
    number: int
    """Which of this name on this rank, from 0."""
    start_us: float
    """When the rank called it."""
    end_us: float
    """When its backend was done with it; of a backend without spans, when the call returned."""


@dataclass(frozen=True, slots=True)
class Rank:
    """One rank, reduced. Times in microseconds; of devices the union of all streams."""

    number: int | None
    """None where neither the trace nor its name tells."""
    path: str
    rows: int
    """Operators, calls and annotations, and kernels."""
    span_us: float
    compute_us: float = 0.0
    """Kernels other than collectives."""
    communication_us: float = 0.0
    """Collectives."""
    exposed_us: float = 0.0
    """Collectives during which nothing was computed."""
    busy_us: float = 0.0
    """Anything at all, copies and fills too."""
    on_device: bool = False
    """Whether the four above are of devices; else of operators on the CPU."""
    problems: tuple[str, ...] = ()
    totals: tuple[NameTotal, ...] = field(default=(), repr=False)
    arrivals: tuple[Arrival, ...] = field(default=(), repr=False)
    """Its collectives, by time."""

    @property
    def overlap(self) -> float | None:
        """Part of the communication that ran beside computation, 0 to 1; None without any."""
        if not self.communication_us:
            return None
        return 1 - self.exposed_us / self.communication_us

    @property
    def idle_us(self) -> float:
        """Time in which nothing ran."""
        return max(self.span_us - self.busy_us, 0.0)


@dataclass(frozen=True, slots=True)
class BadRank:
    """A file of the folder that could not be read, or is a rank that another one is too."""

    path: str
    reason: str
