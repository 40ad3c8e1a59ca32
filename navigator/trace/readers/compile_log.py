"""What a log of ``TORCH_TRACE`` tells of each compilation: why it broke off or was made anew,
its guards, its graphs, and which nodes of a graph each generated kernel computes.

The entries are those of ``torch/_logging/structured.py``; torch's versions name them as a key of
their own or as an ``artifact`` with that name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from indexes.model.vocabulary import Location
from navigator.trace.model import StackFrame
from navigator.trace.readers.events import json_object

_LINE = re.compile(r"[VIWE]\d{4} [\d:.]+ \d+ \S+\] (?P<header>\{.*)")
_FILE = re.compile(r"# File: (?P<path>.+?):(?P<line>\d+) in (?P<function>[^,]+)")
_CALL = re.compile(
    r"(?P<result>\w+)(?:: \"(?P<type>[^\"]*)\")? = torch\.ops\.(?P<space>\w+)\.(?P<name>\w+)"
    r"(?:\.(?P<overload>\w+))?\("
)
_AOT_ID = re.compile(r"# AOT ID: \['(?P<id>[^']+)'\]")
_HANDLE = re.compile(r"# \[Provenance debug handles\] (?P<handle>\S+)")
_FRAGMENT = re.compile(r"#\s+%(?P<node>\w+) : .*= call_function")
_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<function>.+)')
_BREAK = re.compile(r"Graph break in user code at (?P<path>.+):(?P<line>\d+)")
_REASON = re.compile(r"(?:Graph Break )?Reason: (?P<text>.+)")
_GUARD = re.compile(r"[| ]*\+- (?P<text>[A-Z][A-Z_]+: .+)")
_AOT_GRAPHS = ("aot_forward_graph", "aot_backward_graph", "aot_inference_graph")


@dataclass(frozen=True, slots=True)
class Node:
    """An operator of a graph."""

    name: str
    """Of its result in the graph: ``mul_1``."""
    operator: str
    """``aten::mul``"""
    overload: str
    type: str
    """``f32[2, 4][4, 1]cuda:0``"""
    frame: StackFrame | None
    """The user's line that it comes from."""


@dataclass(slots=True)
class Kernel:
    """A generated kernel, or a call of a library's, of one graph."""

    name: str
    frames: tuple[StackFrame, ...] = ()
    """The user's lines."""
    nodes: tuple[str, ...] | None = None
    """The nodes it computes; None where the log does not tell."""


@dataclass(slots=True)
class Graph:
    """A graph of operators, as the compiler left it."""

    name: str
    """``0_forward``, as the generated code calls it, or the kind of the entry."""
    nodes: list[Node] = field(default_factory=list)
    kernels: dict[str, Kernel] = field(default_factory=dict)
    """By their handles, ``cpp_fused_add_0:1``, in the order in which they run."""
    is_lowered: bool = False
    """Whether it is Inductor's, after its last passes."""
    has_code: bool = False

    @property
    def is_backward(self) -> bool:
        return "backward" in self.name


@dataclass(frozen=True, slots=True)
class Note:
    """Something that the compiler says, and the line that it says it of."""

    text: str
    frame: StackFrame | None = None


@dataclass(slots=True)
class Compilation:
    """One compilation of a function or of a part of it."""

    id: str
    """``0/1``: the second compilation of the first function."""
    function: str = ""
    frame: StackFrame | None = None
    notes: list[Note] = field(default_factory=list)
    """Graph breaks, reasons to compile anew, failures."""
    guards: list[Note] = field(default_factory=list)
    graphs: list[Graph] = field(default_factory=list)

    def kept_graphs(self) -> Iterator[Graph]:
        """All but those before Inductor where the same is there after its passes."""
        lowered = {graph.is_backward for graph in self.graphs if graph.is_lowered}
        for graph in self.graphs:
            if graph.is_lowered or graph.is_backward not in lowered:
                yield graph


@dataclass(slots=True)
class CompileLog:
    """All that the logs of one program tell."""

    torch: str = ""
    commit: str = ""
    compilations: dict[str, Compilation] = field(default_factory=dict)

    def read(self, lines: Iterable[str]) -> None:
        """Add a log, line by line. Lines that are none of its entries are passed over."""
        texts: dict[int, str] = {}
        for header, payload in _entries(lines):
            if isinstance(interned := header.get("str"), list) and len(interned) == 2:
                texts[interned[1]] = str(interned[0])
            elif _name(header) == "torch_version":
                facts = json_object("\n".join(payload))
                self.torch = str(facts.get("pytorch_version", ""))
                self.commit = str(facts.get("commit") or "")
            elif "frame_id" in header:
                self._add(header, payload, texts)

    def _add(self, header: dict[str, Any], payload: list[str], texts: dict[int, str]) -> None:
        name = _name(header)
        key = f"{header['frame_id']}/{header.get('frame_compile_id', 0)}"
        if name == "dynamo_start":
            self._of(key).frame = _last_frame(header[name], texts)
        elif name in _READERS:
            _READERS[name](self._of(key), header, payload)
        elif name in _AOT_GRAPHS:
            self._of(key).graphs.append(Graph(name, _nodes(payload)))

    def _of(self, key: str) -> Compilation:
        return self.compilations.setdefault(key, Compilation(key))


def _entries(lines: Iterable[str]) -> Iterator[tuple[dict[str, Any], list[str]]]:
    header: dict[str, Any] = {}
    payload: list[str] = []
    for line in lines:
        if line.startswith("\t"):
            payload.append(line[1:].rstrip("\n"))
        else:
            yield header, payload
            match = _LINE.match(line)
            header, payload = json_object(match["header"]) if match else {}, []
    yield header, payload


def _name(header: dict[str, Any]) -> str:
    artifact = header.get("artifact")
    if isinstance(artifact, dict):
        return str(artifact.get("name", ""))
    return next(iter(header), "")


def _last_frame(start: object, texts: dict[int, str]) -> StackFrame | None:
    stack = start.get("stack") if isinstance(start, dict) else None
    if not isinstance(stack, list) or not stack or not isinstance(stack[-1], dict):
        return None
    last = stack[-1]
    path = texts.get(last.get("filename", -1), "")
    line = last.get("line")
    if not path or not isinstance(line, int):
        return None
    return StackFrame(Location(path, line), str(last.get("name", "")))


def _nodes(lines: Sequence[str]) -> list[Node]:
    nodes, frame = [], None
    for line in lines:
        if place := _FILE.search(line):
            frame = _frame(place)
        elif call := _CALL.search(line):
            overload = "" if call["overload"] in (None, "default") else call["overload"]
            operator = f"{call['space']}::{call['name']}"
            nodes.append(Node(call["result"], operator, overload, call["type"] or "", frame))
    return nodes


def _frame(match: re.Match[str]) -> StackFrame:
    return StackFrame(Location(match["path"], int(match["line"])), match["function"])


# ------------------------------------------------------------------------- entries by name


def _break(one: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    text = "\n".join(payload)
    place, reason = _BREAK.search(text), _REASON.search(text)
    frame = StackFrame(Location(place["path"], int(place["line"])), "") if place else None
    words = reason["text"] if reason else next(filter(str.strip, payload), "no reason is given")
    one.notes.append(Note(f"graph break: {words.strip()}", frame))


def _recompile(one: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    one.notes += [Note(f"compiled anew, guard of {line.strip()}") for line in payload if line]


def _guards(one: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    found = (_GUARD.match(line) for line in payload)
    one.guards = [Note(" ".join(match["text"].split())) for match in found if match]


def _metrics(one: Compilation, header: dict[str, Any], _payload: list[str]) -> None:
    facts = header["compilation_metrics"]
    if isinstance(facts, dict):
        one.function = str(facts.get("co_name") or "")
        if reason := facts.get("fail_reason"):
            one.notes.append(Note(f"failed: {str(reason).strip().splitlines()[0]}"))


def _post_grad(one: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    one.graphs.append(Graph("", _nodes(payload), is_lowered=True))


def _code(one: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    """The generated code: which graph it is of, and its kernels in the order of the calls."""
    graph = one.graphs[-1] if one.graphs else None
    if graph is None or not graph.is_lowered or graph.has_code:
        graph = Graph("", is_lowered=True)  # taken from a cache: its graph is not logged again
        one.graphs.append(graph)
    graph.has_code = True
    fragment: list[str] = []
    for line in payload:
        if match := _AOT_ID.search(line):
            graph.name = match["id"]
        elif match := _FRAGMENT.search(line):
            fragment.append(match["node"])
        elif match := _HANDLE.search(line):
            name = match["handle"].rpartition(":")[0]
            graph.kernels[match["handle"]] = Kernel(name, nodes=tuple(fragment) or None)
            fragment = []


def _mappings(one: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    computed = json_object("\n".join(payload)).get("cppCodeToPost")
    for handle, nodes in computed.items() if isinstance(computed, dict) else ():
        kernel = one.graphs[-1].kernels.get(handle) if one.graphs else None
        if kernel is not None and isinstance(nodes, list):
            kernel.nodes = tuple(map(str, nodes))


def _stacks(one: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    """The user's lines. The table grows from graph to graph: only this graph's are taken."""
    for handle, stacks in json_object("\n".join(payload)).items():
        kernel = one.graphs[-1].kernels.get(handle) if one.graphs else None
        if kernel is not None and isinstance(stacks, list):
            ends = (list(_FRAME.finditer(str(stack)))[-1:] for stack in stacks)
            kernel.frames = tuple(_frame(match) for end in ends for match in end)


_READERS = {
    "dynamo_graph_break_reason": _break,
    "recompile_reasons": _recompile,
    "dynamo_cpp_guards_str": _guards,
    "compilation_metrics": _metrics,
    "inductor_post_grad_graph": _post_grad,
    "inductor_output_code": _code,
    "inductor_provenance_tracking_node_mappings": _mappings,
    "inductor_provenance_tracking_kernel_stack_traces": _stacks,
}


# ------------------------------------------------------------ which kernel computes a node


def kernels_of_nodes(graph: Graph) -> dict[str, tuple[str, ...]]:
    """The handles of the kernels that may compute each node of a graph: one where the log tells,
    or where only one is of that user's line; none for what needs no kernel, as views.

    A call of a library's function (``extern_kernels.mm``) computes the only node of that name.
    """
    told: dict[str, tuple[str, ...]] = {}
    for handle, kernel in graph.kernels.items():
        told |= dict.fromkeys(kernel.nodes or _of_library(kernel, graph), (handle,))
    silent = {
        handle: one for handle, one in graph.kernels.items() if (handle,) not in told.values()
    }
    for node in graph.nodes:
        of_line = tuple(handle for handle, one in silent.items() if node.frame in one.frames)
        if of_line:
            told.setdefault(node.name, of_line)
    return told


def _of_library(kernel: Kernel, graph: Graph) -> Sequence[str]:
    """The one node of the name of a library's function, if there is just one."""
    space, _, name = kernel.name.rpartition(".")
    same = [node.name for node in graph.nodes if node.operator.rpartition("::")[2] == name]
    return same if space and len(same) == 1 else ()
