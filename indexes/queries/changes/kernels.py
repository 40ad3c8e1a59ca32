"""Plans of an operator's kernel for a missing dispatch key, after the most similar operator with
one."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace

from indexes.linking.graph import Graph, Node, device_of_key
from indexes.model.vocabulary import Location
from indexes.queries.changes import entries, kernel_source, kernel_tests, outside
from indexes.queries.changes.kernel_files import Home, KernelFiles, base_name
from indexes.queries.changes.model import Change, ChangeStep, Parts
from indexes.queries.changes.new_kernel import NewKernel
from indexes.queries.changes.test_runs import operator_runs
from indexes.queries.gaps.tree import Tree

_ALSO = 5
"""Most further operators named that lack the kernel."""


def plan(tree: Tree, change: Change) -> Parts:
    """The steps to add a kernel. For a composite operator without its own formula, that of the
    operator below it that lacks one."""
    if change.op is None:
        return Parts((), missing=("the change names no operator",))
    homes = KernelFiles(tree)
    if there := _kernel_row(tree, change.op, change.key):
        steps = tuple(_existing_steps(tree, change.op, change.key, there))
        tests = operator_runs(tree, change.op, device_of_key(change.key).lower() or "cpu")
        title = f"{change.op} has a kernel for {change.key}"
        return Parts(steps, tests=tests, title=title, there=there)
    if home := _registered(homes, change.op, change.key):
        where, title = home.kernel.location, f"{change.op} has a kernel for {change.key}"
        step = ChangeStep("read", where, f"{home.kernel.name} is that kernel")
        return Parts((step,), tests=operator_runs(tree, change.op), title=title, there=where)
    if tree.is_composite(change.op) and not tree.index.derivative(change.op):
        return _of_composite(homes, change, change.op)
    return _of_operator(homes, change.op, change.key)


def _kernel_row(tree: Tree, op: str, key: str) -> Location | None:
    native = tree.natives[op]
    if key not in tree.keys(op):
        return None
    named = tree.natives.get(native.structured_delegate or "", native)
    for one in (native, named):
        if row := entries.row_of(one, key):
            return entries.place_of_row(one, row)
    return native.location


def _registered(homes: KernelFiles, op: str, key: str) -> Home | None:
    """Its kernel for a key that only TORCH_LIBRARY blocks register."""
    of_base = homes.of_key(key).get(base_name(homes.tree.natives[op].name), ())
    return next((home for home in of_base if home.op == op), None)


def _existing_steps(tree: Tree, op: str, key: str, row: Location) -> Iterator[ChangeStep]:
    yield ChangeStep("read", row, f"this row names its {key} kernel")
    for one in tree.kernels[op][key].definitions:
        yield ChangeStep("read", one.location, f"{one.name} is that kernel")


def _of_operator(homes: KernelFiles, op: str, key: str) -> Parts:
    if outside.is_outside(homes, key):
        return outside.plan(homes, op, key)
    new = NewKernel(homes, op, key)
    if not new.votes:
        return Parts((), missing=(f"no operator of this tree has a kernel for {key}: no model",))
    missing: tuple[str, ...] = ()
    title, tests = f"{key} kernel of {op}", tuple(kernel_tests.runs(new))
    if new.model_key != key:
        text = f"no operator like it has a kernel for {key}, so that none shows in which file"
        missing = (f"{text} they belong: the model is for {new.model_key}",)
    elif new.is_guess and not new.is_for_any_device:
        text = f"no operator similar to {op} has a kernel for {key}"
        missing = (f"{text}: {new.near.base} is the nearest, and its file a guess",)
    return Parts(tuple(_steps(new)), tuple(new.neighbours()), tests, missing, title)


def _steps(new: NewKernel) -> Iterator[ChangeStep]:
    yield from kernel_source.steps(new)
    yield from kernel_tests.steps(new)


def _of_composite(homes: KernelFiles, change: Change, op: str) -> Parts:
    tree, key = homes.tree, change.key
    place = tree.natives[op].location
    below = missing_below(tree, op, key)
    if not below:
        text = f"{op} is composite, and all that it calls has a kernel for {key}"
        if device_of_key(key) == key:
            return Parts((), there=place, title=text)
        own = _of_operator(homes, op, key)
        note = ChangeStep("read", place, f"{text}: first find out what fails without a change")
        return replace(own, steps=(note, *own.steps))
    first, *rest = below
    parts = _of_operator(homes, first, key)
    text = f"{op} is composite: {first}, which it calls, has no {key} kernel"
    also = ", ".join(rest[:_ALSO])
    more = [f"{op} also reaches {also}, which have no {key} kernel either"] if rest else []
    return replace(
        parts,
        steps=(ChangeStep("read", place, text), *parts.steps),
        missing=(*parts.missing, *more),
        title=f"{key} kernel of {first}, which {base_name(tree.natives[op].name)} calls",
    )


_DEEPEST = 12
_MOST = 4000
"""Most places visited by a walk."""


def missing_below(tree: Tree, op: str, key: str) -> list[str]:
    """The operators with CPU kernels but none for a key that a composite reaches through composites
    only, nearest first."""
    graph = Graph(tree.index.facts)
    device = device_of_key(key)
    start = Node("operator", op, device if device == key else "")
    queue = deque([(start, 0)])
    seen = {start}
    found: dict[str, None] = {}
    while queue and len(seen) < _MOST:
        node, depth = queue.popleft()
        if node.kind == "operator" and node != start and not tree.is_composite(str(node.what)):
            if _lacks(tree, str(node.what), key):
                found.setdefault(str(node.what))
            continue
        for step in graph.down(node) if depth < _DEEPEST else ():
            if step.lower not in seen:
                seen.add(step.lower)
                queue.append((step.lower, depth + 1))
    return list(found)


def _lacks(tree: Tree, op: str, key: str) -> bool:
    keys = tree.keys(op)
    explicit = any(one.startswith("CompositeExplicit") for one in keys)
    return "CPU" in keys and key not in keys and not explicit
