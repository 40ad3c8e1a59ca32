"""``navigator.graph(loss)``: reads the graph of a backward pass from torch."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from navigator.objects.members import REFUSALS, describe, first_line

_SAVED = "_saved_"
_LAST = 2**64 - 1
"""The sequence number of AccumulateGrad, which runs as soon as possible."""
_TRACEBACK = "traceback_"


@dataclass(frozen=True, slots=True)
class Saved:
    """A value that a node keeps from the forward pass."""

    name: str
    value: str
    is_variable: str
    """The program's variable with this value; empty if unknown."""


@dataclass(frozen=True, slots=True)
class Edge:
    """The destination of a gradient that a node computes."""

    number: int | None
    """The receiving node; None if the input needs no gradient."""
    input_nr: int
    """The index among the receiver's incoming gradients."""


@dataclass(slots=True)
class GraphNode:
    """A node of the backward graph."""

    number: int
    """Its number; the loss's node is 0, others follow in the order of the walk."""
    name: str
    sequence: int | None
    """Its sequence number; None for nodes without one, such as AccumulateGrad."""
    gradients: tuple[str, ...]
    """Shape and type of each incoming gradient."""
    saved: tuple[Saved, ...] = ()
    edges: tuple[Edge, ...] = ()
    variable: str = ""
    """For AccumulateGrad: the variable, or its shape if it has no name."""
    code: tuple[str, int] | None = None
    """For a Function of the program: file and line of its ``backward``."""
    called_at: tuple[str, int] | None = None
    """The line of the program whose call made it, if recorded."""
    hooks: tuple[str, ...] = ()
    """For AccumulateGrad: the hooks of the variable."""


@dataclass(frozen=True, slots=True)
class Graph:
    """All nodes reachable from a tensor."""

    nodes: tuple[GraphNode, ...]
    live: Mapping[int, Any] = field(repr=False, default_factory=dict)
    """torch's node objects, by number."""


class Backward(BaseException):
    """Ends a program at the start of its first backward pass."""

    def __init__(self, tensor: torch.Tensor, names: Mapping[str, Any]) -> None:
        super().__init__()
        self.tensor = tensor
        self.names = names
        """The variables at the call of ``backward``."""


class Lines(TorchFunctionMode):  # type: ignore[misc]
    """While entered, records the program's line whose call made each node.

    Parameters:
        ends: Raise ``Backward`` at the first ``tensor.backward()``.
    """

    def __init__(self, *, ends: bool = False) -> None:
        super().__init__()
        self._ends = ends
        self.of: dict[Any, tuple[str, int]] = {}
        """By node; this keeps nodes alive."""

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        if self._ends and func is torch.Tensor.backward:
            frame = program_frame(inspect.currentframe())
            names = {**frame.f_globals, **frame.f_locals} if frame else {}
            raise Backward(args[0], names)
        inputs = [*tensors_in([args, [*(kwargs or {}).values()]])]
        before = {one.grad_fn for one in inputs}
        made = func(*args, **(kwargs or {}))
        frame = program_frame(inspect.currentframe())
        for tensor in (*tensors_in(made), *inputs):  # inputs that are written to get new nodes
            if frame is not None:
                self._note(tensor.grad_fn, (frame.f_code.co_filename, frame.f_lineno), before)
        return made

    def _note(self, node: Any, line: tuple[str, int], before: set[Any]) -> None:
        """Records a call's line for all nodes that it made, up to those of its inputs."""
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if one is None or one in before or one in self.of or _is_leaf(one):
                continue
            self.of[one] = line
            waiting += [following for following, _ in one.next_functions]


def read_graph(
    tensor: torch.Tensor,
    names: Mapping[str, torch.Tensor] | None = None,
    lines: Mapping[Any, tuple[str, int]] | None = None,
) -> Graph:
    """The graph behind a tensor; read before its backward pass, which frees saved values.

    Parameters:
        names: Variables of the program by name, for leaves and saved tensors.
        lines: The line that made each node, from ``Lines``; lines from anomaly mode are added.

    Raises:
        ValueError: The tensor has no ``grad_fn``.
    """
    if tensor.grad_fn is None:
        raise ValueError("no grad_fn: none of the inputs that made it requires grad")
    named = {id(one): name for name, one in (names or {}).items()}
    order = _ordered(tensor.grad_fn)
    numbers = {node: number for number, node in enumerate(order)}
    nodes = tuple(_node(node, numbers, named, lines or {}) for node in order)
    return Graph(nodes, dict(enumerate(order)))


def _ordered(root: Any) -> list[Any]:
    """All nodes in depth-first order: parents before the nodes they lead to first."""
    found: dict[Any, None] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in found:
            found[node] = None
            waiting += [following for following, _ in reversed(node.next_functions)]
    return list(found)


def _node(
    node: Any,
    numbers: Mapping[Any, int],
    named: Mapping[int, str],
    lines: Mapping[Any, tuple[str, int]],
) -> GraphNode:
    sequence = node._sequence_nr() if hasattr(node, "_sequence_nr") else _LAST
    variable = getattr(node, "variable", None) if _is_leaf(node) else None
    return GraphNode(
        numbers[node],
        node.name().rpartition("::")[2],
        None if sequence == _LAST else sequence,
        tuple(map(_gradient, getattr(node, "_input_metadata", ()))),
        tuple(_saved(node, named)),
        tuple(Edge(numbers.get(following), at) for following, at in node.next_functions),
        "" if variable is None else named.get(id(variable), describe(variable)),
        _code(node),
        lines.get(node) or _from_anomaly(node),
        () if variable is None else tuple(_hooks(variable)),
    )


def _is_leaf(node: Any) -> bool:
    return bool(node.name().endswith("AccumulateGrad"))


def _gradient(metadata: Any) -> str:
    return f"{tuple(metadata.shape)} {str(metadata.dtype).removeprefix('torch.')}"


def _saved(node: Any, named: Mapping[int, str]) -> Iterator[Saved]:
    """The values that torch's own nodes keep, and the saved tensors of the program's Functions."""
    for attribute in dir(node):
        if attribute.startswith(_SAVED):
            yield from _read(node, attribute, named)
    if hasattr(type(node), "saved_tensors"):
        yield from _read(node, "saved_tensors", named)


def _read(node: Any, attribute: str, named: Mapping[int, str]) -> Iterator[Saved]:
    name = attribute.removeprefix(_SAVED)
    raw = packed(node, f"_raw{attribute}")
    if not all(hasattr(one, "unpack_hook") for one in raw):  # torch 2.7 and before
        yield Saved(name, "unknown: this torch does not tell whether a hook packed it", "")
        return
    if any(one.unpack_hook for one in raw):  # hooks would run
        yield Saved(name, "packed by a hook, such as a checkpoint's", "")
        return
    try:
        value = getattr(node, attribute)
    except REFUSALS as error:
        yield Saved(name, f"unknown: {first_line(error)}", "")
        return
    several = isinstance(value, tuple) and any(isinstance(one, torch.Tensor) for one in value)
    for at, one in enumerate(value if several else (value,)):
        label = f"{name}[{at}]" if several else name
        yield Saved(label, describe(one), named.get(id(one), ""))


def packed(node: Any, attribute: str) -> tuple[Any, ...]:
    """The saved tensors of a node, not unpacked; none if they were freed."""
    try:
        raw = getattr(node, attribute, ())
    except REFUSALS:
        return ()
    return raw if isinstance(raw, tuple) else (raw,)


def _code(node: Any) -> tuple[str, int] | None:
    """The place of ``backward`` of one of the program's ``autograd.Function``s."""
    written = getattr(type(node), "_forward_cls", None)
    backward = getattr(written, "backward", None)
    code = getattr(inspect.unwrap(backward), "__code__", None) if backward else None
    return (code.co_filename, code.co_firstlineno) if code else None


def _from_anomaly(node: Any) -> tuple[str, int] | None:
    """The innermost line of the program recorded by anomaly mode."""
    for text in reversed(getattr(node, "metadata", {}).get(_TRACEBACK, ())):
        file, _, rest = text.strip().removeprefix('File "').partition('", line ')
        number = rest.partition(",")[0]
        if number.isdecimal() and not file.startswith(_TORCH):
            return file, int(number)
    return None


def _hooks(variable: torch.Tensor) -> Iterator[str]:
    tables = (variable._backward_hooks, getattr(variable, "_post_accumulate_grad_hooks", None))
    for hooks in tables:
        for hook in (hooks or {}).values():
            code = getattr(hook, "__code__", None)
            place = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
            yield f"{getattr(hook, '__qualname__', type(hook).__name__)}{place}"


def tensors_in(value: Any) -> Iterator[torch.Tensor]:
    """The tensors in a value, including nested lists."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for one in value:
            yield from tensors_in(one)


def program_frame(frame: FrameType | None) -> FrameType | None:
    """The innermost frame outside of torch and of this folder."""
    while frame is not None and frame.f_code.co_filename.startswith((_TORCH, _OWN)):
        frame = frame.f_back
    return frame


_TORCH = (torch.__file__ or "").rpartition("/")[0] + "/"
_OWN = __file__.rpartition("/")[0] + "/"


def variables(names: Mapping[str, Any]) -> dict[str, torch.Tensor]:
    """The tensors among variables, and modules' parameters: ``model.0.weight``."""
    found: dict[str, torch.Tensor] = {}
    for name, value in names.items():
        if isinstance(value, torch.nn.Module):
            found |= {f"{name}.{inner}": one for inner, one in value.named_parameters()}
        elif isinstance(value, torch.Tensor):
            found.setdefault(name, value)
    return found
