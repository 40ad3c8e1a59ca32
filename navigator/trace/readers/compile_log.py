"""Reads ``TORCH_TRACE`` logs: for each compilation its graph breaks, recompilations, guards,
graphs, and the nodes of each generated kernel, from comments in Inductor's generated module.

The entries are those of ``torch/_logging/structured.py``: depending on torch's version, a key of
its own or an ``artifact`` with a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import msgspec

from indexes.model.vocabulary import Location
from navigator.trace.compiling.model import Compilation, Graph, Kernel, Node, Note
from navigator.trace.model import StackFrame
from navigator.trace.readers.events import json_object

_LINE = re.compile(r"[VIWE]\d{4} [\d:.]+ \d+ \S+\] (?P<header>\{.*)")
_FILE = re.compile(r"# File: (?P<path>.+?):(?P<line>\d+) in (?P<function>[^,]+)")
_NO_LINE = "# No stacktrace found"
"""How torch/fx/graph.py marks nodes created by compiler passes."""
_CALL = re.compile(
    r"\b(?P<result>\w+)(?:: \"(?P<type>[^\"]*)\")? = torch\.ops\.(?P<space>\w+)\.(?P<name>\w+)"
    r"(?:\.(?P<overload>\w+))?\("
)
_FRAME = re.compile(r'File "(?P<path>[^"]+)", line (?P<line>\d+), in (?P<function>.+)')
_BREAK = re.compile(r"Graph break in user code at (?P<path>.+):(?P<line>\d+)")
_REASON = re.compile(r"(?:Graph Break )?Reason: (?P<text>.+)")
_GUARD = re.compile(r"[| ]*\+- (?P<text>[A-Z][A-Z_]+: .+)")
_AOT_GRAPHS = ("aot_forward_graph", "aot_backward_graph", "aot_inference_graph")


@dataclass(slots=True)
class CompileLog:
    """The contents of one program's logs."""

    torch: str = ""
    commit: str = ""
    compilations: dict[str, Compilation] = field(default_factory=dict)
    _texts: dict[int, str] = field(default_factory=dict)
    """File names by number."""

    def read(self, lines: Iterable[str]) -> None:
        """Add a log, line by line. Other lines are skipped."""
        for header, payload in _entries(lines):
            self.add(header, payload)

    def add(self, header: dict[str, Any], payload: list[str]) -> None:
        """Add an entry: its header, and the lines of its text."""
        if isinstance(interned := header.get("str"), list) and len(interned) == 2:
            self._texts[interned[1]] = str(interned[0])
        elif _name(header) == "torch_version":
            facts = json_object("\n".join(payload))
            self.torch = str(facts.get("pytorch_version", ""))
            self.commit = str(facts.get("commit") or "")
        elif "frame_id" in header:
            self._add(header, payload)

    def take(self, one: dict[str, Any]) -> None:
        """Add a compilation from ``torchnav export``. Raises ValueError for anything else."""
        compilation = msgspec.convert(one, Compilation)
        self.compilations[compilation.id] = compilation

    def _add(self, header: dict[str, Any], payload: list[str]) -> None:
        name = _name(header)
        key = f"{header['frame_id']}/{header.get('frame_compile_id', 0)}"
        if name == "dynamo_start":
            self._of(key).frame = _last_frame(header[name], self._texts)
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
        elif _NO_LINE in line:
            frame = None
        elif call := _CALL.search(line):
            overload = "" if call["overload"] in (None, "default") else call["overload"]
            operator = f"{call['space']}::{call['name']}"
            nodes.append(Node(call["result"], operator, overload, call["type"] or "", frame))
    return nodes


def _frame(match: re.Match[str]) -> StackFrame:
    return StackFrame(Location(match["path"], int(match["line"])), match["function"])


# ------------------------------------------------------------------------- entries by name


def _break(compilation: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    text = "\n".join(payload)
    place, reason = _BREAK.search(text), _REASON.search(text)
    frame = StackFrame(Location(place["path"], int(place["line"])), "") if place else None
    words = reason["text"] if reason else next(filter(str.strip, payload), "no reason is given")
    compilation.notes.append(Note(f"graph break: {words.strip()}", frame, "break"))


def _recompile(compilation: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    for reason in _reasons("\n".join(payload).strip()):
        guard = reason.partition("\n")[0].partition("  #")[0].rstrip()
        stack = list(_FRAME.finditer(reason))
        frame = _frame(stack[-1]) if stack else compilation.frame
        compilation.notes.append(Note(f"recompiled, guard of {guard}", frame, "recompile"))


def _reasons(text: str) -> list[str]:
    """One reason is logged as it is, several as a list. Further lines are the user's stack."""
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(text, type=list[str])
    return [text] if text else []


def _guards(compilation: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    found = (_GUARD.match(line) for line in payload)
    compilation.guards = [Note(" ".join(match["text"].split())) for match in found if match]


def _metrics(compilation: Compilation, header: dict[str, Any], _payload: list[str]) -> None:
    facts = header["compilation_metrics"]
    if isinstance(facts, dict):
        compilation.function = str(facts.get("co_name") or "")
        path, line = facts.get("co_filename"), facts.get("co_firstlineno")
        if compilation.frame is None and path and isinstance(line, int):
            compilation.frame = StackFrame(Location(str(path), line), compilation.function)
        if reason := facts.get("fail_reason"):
            text = f"failed: {str(reason).strip().splitlines()[0]}"
            compilation.notes.append(Note(text, compilation.frame, "failure"))


def _post_grad(compilation: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    compilation.graphs.append(Graph("", _nodes(payload), is_lowered=True))


def _code(compilation: Compilation, header: dict[str, Any], payload: list[str]) -> None:
    """The generated code: its graph, and its kernels in the order of the calls."""
    graph = compilation.graphs[-1] if compilation.graphs else None
    if graph is None or not graph.is_lowered or graph.has_code:
        graph = Graph("", is_lowered=True)  # from a cache, whose graphs are not logged
        compilation.graphs.append(graph)
    graph.has_code = True
    graph.path = _generated(header)
    graph.name = graph_name(payload) or graph.name
    graph.kernels = kernels_of_code(payload)


def _generated(header: dict[str, Any]) -> str:
    """The path of the generated module; older versions have only the file name."""
    facts = header.get("inductor_output_code")
    facts = facts if isinstance(facts, dict) else {}
    return str(facts.get("file_path") or facts.get("filename") or "")


def _mappings(compilation: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    computed = json_object("\n".join(payload)).get("cppCodeToPost")
    for handle, nodes in computed.items() if isinstance(computed, dict) else ():
        kernel = compilation.graphs[-1].kernels.get(handle) if compilation.graphs else None
        if kernel is not None and isinstance(nodes, list):
            kernel.nodes = tuple(map(str, nodes))


def _stacks(compilation: Compilation, _header: dict[str, Any], payload: list[str]) -> None:
    """The user's lines. The table accumulates graphs; only this graph's lines are used."""
    for handle, stacks in json_object("\n".join(payload)).items():
        kernel = compilation.graphs[-1].kernels.get(handle) if compilation.graphs else None
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


_AOT_ID = re.compile(r"# AOT ID: \['(?P<id>[^']+)'\]")
_HANDLE = re.compile(r"# \[Provenance debug handles\] (?P<name>\S+)")
_FRAGMENT = re.compile(r"#\s+%(?P<node>\w+) : .*= call_function")
_DEFINITION = re.compile(r"(?P<name>\w+) = async_compile\.\w+\(")
_KERNEL_CALL = re.compile(r"^\s+(?:\w+ = )?(?P<name>extern_kernels\.\w+|\w+)(?:\.run)?\(")
_BUFFER = re.compile(r"\bbuf\d+\b")
_LIBRARY = "extern_kernels."


def graph_name(lines: Sequence[str]) -> str:
    """``0_forward``, or empty if the module does not say."""
    return next((match["id"] for line in lines if (match := _AOT_ID.search(line))), "")


def kernels_of_code(lines: Sequence[str]) -> dict[str, Kernel]:
    """Kernel calls by handle, ``cpp_fused_add_0:1``; numbered here if need be."""
    numbered = {
        handle: replace(kernel, name=handle.rpartition(":")[0])
        for handle, kernel in _kernels(lines, _HANDLE, lambda _handle: True)
    }
    names = {match["name"] for line in lines if (match := _DEFINITION.match(line))}

    def is_kernel(name: str) -> bool:
        return name in names or name.startswith(_LIBRARY)

    calls = _kernels(lines, _KERNEL_CALL, is_kernel)
    found = numbered or {f"{name}:{at}": kernel for at, (name, kernel) in enumerate(calls, 1)}
    called = ((line, _KERNEL_CALL.match(line)) for line in lines)
    _join(found, [line for line, call in called if call and is_kernel(call["name"])])
    return found


def _join(kernels: Mapping[str, Kernel], calls: Sequence[str]) -> None:
    """Sets for each kernel the next one that takes a buffer which this kernel is the first to take,
    and so writes."""
    buffers = [frozenset(_BUFFER.findall(line)) for line in calls]
    handles = list(kernels)
    if len(calls) != len(handles):  # called in a loop, or in another form
        return
    for at, handle in enumerate(handles):
        written = buffers[at].difference(*buffers[:at])
        later = (other for other in range(at + 1, len(buffers)) if written & buffers[other])
        kernels[handle].feeds = next((handles[other] for other in later), "")


def _kernels(
    lines: Sequence[str], pattern: re.Pattern[str], is_kernel: Callable[[str], bool]
) -> Iterator[tuple[str, Kernel]]:
    """Matches of a pattern, with the nodes in comments before each or its definition."""
    defined: dict[str, tuple[str, ...]] = {}
    fragment: list[str] = []
    for line in lines:
        if match := _FRAGMENT.search(line):
            fragment.append(match["node"])
        elif match := _DEFINITION.match(line):
            defined[match["name"]], fragment = tuple(fragment), []
        elif (match := pattern.search(line)) and is_kernel(match["name"]):
            # A kernel's comment lists the nodes of its first call only.
            nodes = defined.pop(match["name"].partition(":")[0], ())
            nodes = tuple(fragment) or nodes
            yield match["name"], Kernel(match["name"], nodes=nodes or None)
            fragment = []
