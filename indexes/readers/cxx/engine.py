"""Reads the functions of a backward pass from torch/csrc/autograd/engine.cpp.

The phases of a function follow from the calls: it belongs to those whose entry points reach it
without passing another's entry point. A guard object calls its constructor and destructor.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from indexes.model.answers import EngineFunction
from indexes.model.regex import regex
from indexes.model.vocabulary import Location, Problem
from indexes.readers.cxx.bodies import Site, call_sites
from indexes.readers.cxx.lexer import Lines
from indexes.readers.cxx.members import class_body, comment_above, is_function, is_type, statements
from indexes.readers.cxx.scopes import Found, Scan, scan_text

_HANDED_ON = regex(r"&\s*((?:[A-Za-z_]\w*::)+[A-Za-z_]\w*)\s*[,)]|[,(]\s*([A-Za-z_]\w*)\s*(?=[,)])")
_MAKES = regex(r"\bmake_(?:shared|unique|intrusive)<([A-Za-z_]\w*)>|\b([A-Z]\w*)\s+\w+\s*[({;]")


class Phase(NamedTuple):
    """A phase of a backward pass with its entry points."""

    name: str
    entry_points: tuple[str, ...]
    meaning: str
    classes: tuple[str, ...] = ()
    """Classes whose functions all belong to it."""


_THREADS = ("thread_init", "reentrant_thread_init", "add_thread_pool_task")

PHASES = (
    Phase(
        "setup",
        (
            "get_default_engine",
            "get_base_engine",
            "set_default_engine_stub",
            "set_compiled_autograd",
            "Engine",
        ),
        "makes the one engine of the process, once, and lets Python put its own in front of it",
    ),
    Phase(
        "start",
        ("execute", "execute_with_graph_task"),
        "Engine::execute checks the roots, makes the GraphTask and queues the first node",
    ),
    Phase(
        "dependencies",
        ("compute_dependencies", "init_to_execute"),
        "counts how many gradients each node waits for, and which nodes must run at all",
    ),
    Phase(
        "threads",
        ("initialize_device_threads_pool", "start_device_threads", *_THREADS),
        "hands the task to its threads: the caller's for the CPU, one for each device, a pool "
        "for re-entrant calls",
    ),
    Phase(
        "queue",
        ("push", "pop", "ready_queue", "ready_queue_by_index", "init_local_ready_queue"),
        "a ReadyQueue orders the nodes whose gradients are complete",
        ("ReadyQueue", "NodeTask"),
    ),
    Phase("loop", ("thread_main",), "takes node after node off the queue until the task is done"),
    Phase(
        "evaluate",
        ("evaluate_function",),
        "runs one node, adds its gradients to the next nodes' inputs, queues those that are ready",
    ),
    Phase("call", ("call_function",), "calls the node itself between its hooks"),
    Phase(
        "finish",
        ("mark_as_completed_and_run_post_processing", "exec_post_processing"),
        "runs the final callbacks, waits for device streams, completes the future",
    ),
    Phase(
        "error",
        ("thread_on_exception", "set_exception", "set_exception_without_signal"),
        "ends the task after a throw",
    ),
    Phase(
        "shutdown",
        ("~Engine", "stop", "release_workers", "pushShutdownTask"),
        "tells the device threads to end, and waits for them",
    ),
)
"""In order. An entry point is a member or free function of that name."""
OUTSIDE = "outside"
"""The phase of functions that no phase reaches."""
MEANINGS = {
    **{phase.name: phase.meaning for phase in PHASES},
    OUTSIDE: "called from hooks, nodes and Python, to ask about the pass that runs or to add to it",
}
"""What happens in each phase, in order."""

_NAMESPACE = "torch::autograd"
_CLASSES = ("Engine", "GraphTask", "ReadyQueue", "NodeTask")
_CONTAINER = frozenset(
    {"at", "back", "begin", "clear", "count", "empty", "end", "erase", "find", "front", "get"}
    | {"insert", "lock", "pop", "push", "release", "reset", "size", "swap", "top", "unlock"}
)
"""Methods that standard containers, pointers and locks have too, so that the receiver decides."""


def read_engine(data: bytes, path: str) -> tuple[tuple[EngineFunction, ...], tuple[Problem, ...]]:
    """The functions in file order. For a header, its declarations without calls."""
    text = data.decode("utf-8", "replace")
    scan = scan_text(text)
    lines = text.split("\n")
    functions = [f for f in scan.found if f.kind in ("function", "method") and f.end > f.body > 0]
    numbers = Lines(scan.plain)
    graph = _Graph(scan, functions, numbers)
    calls = [graph.calls(function) for function in functions]
    overloads: dict[str, list[tuple[str, int]]] = {}
    for function, called in zip(functions, calls, strict=True):
        overloads.setdefault(_name(function), []).extend(called)
    phases = _phases(overloads)
    found = []
    for function, called in zip(functions, calls, strict=True):
        name = _name(function)
        place = Location(path, numbers.at(function.start), numbers.at(function.end))
        above = comment_above(lines, numbers.at(_head(scan, function)))
        found.append(EngineFunction(name, place, tuple(called), phases[name], above))
    found += _declared(scan, numbers, lines, path, {function.name for function in found})
    found.sort(key=lambda f: f.location.line)
    problems = () if found else (Problem(path, 1, "no functions of the autograd engine"),)
    return tuple(found), problems


def _name(function: Found) -> str:
    """``Engine::execute``, qualified inside torch::autograd."""
    scope = [part for part in function.scope.split("::") if part and not part.startswith("(")]
    inner = "::".join(scope).removeprefix(_NAMESPACE).removeprefix("::")
    return f"{inner}::{function.name}" if inner else function.name


def _head(scan: Scan, function: Found) -> int:
    text = scan.plain[function.head : function.start]
    return function.head + len(text) - len(text.lstrip())


class _Graph:
    """The calls between functions of the file."""

    def __init__(self, scan: Scan, functions: list[Found], numbers: Lines) -> None:
        self._plain = scan.plain
        self._numbers = numbers
        self._named: dict[str, set[str]] = {}
        for function in functions:
            self._named.setdefault(function.name, set()).add(_name(function))

    def calls(self, caller: Found) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for call in call_sites(self._plain, caller.body, caller.end):
            callee = self._callee(call, caller)
            if callee is not None:
                found.append((callee, self._numbers.at(call.start)))
        found += [*self._passed(caller), *self._made(caller)]
        return sorted(set(found), key=lambda call: (call[1], call[0]))

    def _passed(self, caller: Found) -> Iterator[tuple[str, int]]:
        """Functions passed as arguments: ``std::thread t(&Engine::thread_init, this)``."""
        for match in _HANDED_ON.finditer(self._plain, caller.body, caller.end):
            name = (match[1] or match[2]).removeprefix(_NAMESPACE).removeprefix("::")
            if name in self._named.get(name.rpartition("::")[2], ()):
                yield name, self._numbers.at(match.start())

    def _made(self, caller: Found) -> Iterator[tuple[str, int]]:
        """Constructors, and destructors of local objects: ``GraphTaskGuard guard(graph_task);``."""
        for match in _MAKES.finditer(self._plain, caller.body, caller.end):
            made, line = match[1] or match[2], self._numbers.at(match.start())
            for name in (made, f"~{made}")[: 1 if match[1] else 2]:
                if f"{made}::{name}" in self._named.get(name, ()):
                    yield f"{made}::{name}", line

    def _callee(self, call: Site, caller: Found) -> str | None:
        """The function of this file that is called; None if it is another or unclear."""
        candidates = self._named.get(call.name, set())
        methods = {name for name in candidates if "::" in name}
        own = f"{_name(caller).rpartition('::')[0]}::{call.name}"
        if call.qualifier:
            suffix = f"{call.qualifier.removeprefix(_NAMESPACE).removeprefix('::')}::{call.name}"
            return _only({name for name in candidates if name == suffix.removeprefix("::")})
        if call.kind == "member":
            receiver = self._receiver(call)
            if receiver == "this" and own in methods:
                return own
            within = self._plain[caller.start : caller.end]
            return _only({name for name in methods if self._fits(call, receiver, name, within)})
        if own in methods:
            return own
        return _only(candidates - methods)

    def _fits(self, call: Site, receiver: str, method: str, within: str) -> bool:
        """Whether the receiver of a member call is of the method's class: by its declared type,
        else by a name such as ``cpu_ready_queue`` or its initializer."""
        class_name = method.split("::")[-2]
        declared = _declaration(receiver, within) or _declaration(receiver, self._plain)
        type_, value = declared or ("", "")
        if type_ not in ("", "auto"):
            return re.search(rf"\b{class_name}\b", type_) is not None
        snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", class_name).lower()
        by_name = re.search(rf"{snake}(?![a-z])", receiver) is not None or snake in value
        return by_name or (call.name not in _CONTAINER and not declared)

    def _receiver(self, call: Site) -> str:
        """``graph_task`` for ``graph_task->f()``; empty for ``queues.at(0)->f()``."""
        before = self._plain[max(call.start - 120, 0) : call.start]
        match = re.search(r"([A-Za-z_]\w*)\s*(?:\.|->)\s*$", before)
        return match[1] if match else ""


_DECLARES = regex(r"\s*(?:[;,)({]|[=:]([^;]*))")
_DECLARED_TYPE = regex(r"([A-Za-z_][\w:]*(?:<[^;{}()]*>)?)(?:\s*[&*]+\s*|\s+)\Z")


def _declaration(name: str, within: str) -> tuple[str, str] | None:
    at = within.find(name) if name else -1
    while at >= 0:
        use = _DECLARES.match(within, at + len(name))
        if use is None or (at and (within[at - 1].isalnum() or within[at - 1] == "_")):
            at = within.find(name, at + 1)
            continue
        type_ = _DECLARED_TYPE.search(within, max(at - 160, 0), at)
        if type_ is not None and type_[1] not in _NOT_TYPES:
            return type_[1], use[1] or ""
        at = within.find(name, use.end())
    return None


_NOT_TYPES = frozenset({"return", "else", "new", "delete", "throw", "case", "not", "and", "or"})


def _only(names: set[str]) -> str | None:
    return next(iter(names)) if len(names) == 1 else None


def _phases(calls: Mapping[str, list[tuple[str, int]]]) -> dict[str, tuple[str, ...]]:
    entries = {name: phase for phase in reversed(PHASES) for name in calls if _begins(phase, name)}
    found: dict[str, list[str]] = {name: [] for name in calls}
    for phase in PHASES:
        reached = _reached(calls, entries, phase)
        for name in calls:
            if name in reached or _class_of(name) in phase.classes:
                found[name].append(phase.name)
    return {name: tuple(phases) or (OUTSIDE,) for name, phases in found.items()}


def _begins(phase: Phase, name: str) -> bool:
    last = name.rpartition("::")[2]
    return last in phase.entry_points and _class_of(name) in ("", *_CLASSES)


def _reached(
    calls: Mapping[str, list[tuple[str, int]]], entries: Mapping[str, Phase], phase: Phase
) -> set[str]:
    """The functions reached from entry points up to the entry points of other phases."""
    found = {name for name, of in entries.items() if of is phase}
    queue = deque(found)
    while queue:
        for callee, _ in calls.get(queue.popleft(), ()):
            if callee in calls and callee not in found and callee not in entries:
                found.add(callee)
                queue.append(callee)
    return found


def _class_of(name: str) -> str:
    """``ReadyQueue`` for ``ReadyQueue::push``; empty for a free function."""
    return name.rpartition("::")[0].rpartition("::")[2]


_DECLARED = regex(r"(~?[A-Za-z_]\w*)\s*\(")


def _declared(
    scan: Scan, numbers: Lines, lines: list[str], path: str, defined: set[str]
) -> list[EngineFunction]:
    """Member functions that a header declares without defining them."""
    found: list[EngineFunction] = []
    for class_name in _CLASSES:
        for statement in statements(scan.plain, *(class_body(scan, class_name) or (0, 0))):
            match = _DECLARED.search(statement.text) if _declares(statement.text) else None
            name = f"{class_name}::{match[1]}" if match else ""
            if match is None or name in defined:
                continue
            where = Location(path, numbers.at(statement.offset + match.start()))
            above = comment_above(lines, numbers.at(statement.offset))
            found.append(EngineFunction(name, where, (), _phases({name: []})[name], above))
    return found


def _declares(text: str) -> bool:
    made = re.search(r"=\s*(?:delete|default)\s*$", text) is not None or "}" in text
    return is_function(text) and not is_type(text) and not made
