"""Plans of an operator's kernel for a missing dispatch key, after the most similar operator with
one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from heapq import heappop, heappush
from itertools import count, islice
from typing import NamedTuple

from indexes.linking.facts import Edge
from indexes.linking.graph import DEVICES, Graph, Node, Step, device_of_key
from indexes.linking.usual_conditions import condition_of, taken
from indexes.model.files import module_name
from indexes.model.vocabulary import Location
from indexes.queries.changes import entries, kernel_source, kernel_tests, outside
from indexes.queries.changes.kernel_files import KernelFiles, base_name
from indexes.queries.changes.model import Change, ChangeStep, Parts
from indexes.queries.changes.new_kernel import NewKernel
from indexes.queries.gaps.tree import Tree

_ALSO = 5
"""Most further operators named that lack the kernel."""


def plan(tree: Tree, change: Change) -> Parts:
    """The steps to add a kernel. For a composite operator without its own formula, that of the
    operator below it that lacks one."""
    homes = KernelFiles(tree)
    if change.op is None:
        return _of_library(homes, change)
    if steps := tuple(_existing_steps(homes, change.op, change.key)):
        tests = tuple(kernel_tests.own_runs(tree, change.op, change.key))
        title = f"{change.op} has a kernel for {change.key}"
        return Parts(steps, tests=tests, title=title, there=steps[0].location)
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


def _existing_steps(homes: KernelFiles, op: str, key: str) -> Iterator[ChangeStep]:
    tree = homes.tree
    if row := _kernel_row(tree, op, key):
        yield ChangeStep("read", row, f"this row names its {key} kernel")
        found = tree.kernels[op][key].definitions
    else:
        home = homes.registered(op, key)
        found = (home.kernel,) if home else ()
    for one in found:
        yield ChangeStep("read", one.location, f"{one.name} is that kernel")
    named = tree.natives.get(tree.natives[op].structured_delegate or op, tree.natives[op])
    for home in (one for one in homes.of_entry(named, key) if one.entry):
        what = f"{home.kernel.name} computes it for {key}: a stub that it calls runs that"
        yield ChangeStep("read", home.kernel.location, what)
    if row or found:
        yield from kernel_tests.cxx_tests(tree, base_name(tree.natives[op].name), key)


_REGISTERING = (
    "SELECT l.key,f.path,l.line FROM library_kernels l JOIN files f ON f.id=l.file"
    " WHERE l.op=? OR substr(l.op,1,?)=? ORDER BY l.key!=?,l.rowid"
)


def _of_library(homes: KernelFiles, change: Change) -> Parts:
    """The kernel of an operator that a TORCH_LIBRARY block defines, of any overload: a line of a
    block for the key."""
    op, wanted = change.name.partition(".")[0], change.key
    asked = (op, len(op) + 1, f"{op}.", wanted)
    rows = list(homes.tree.store.query(_REGISTERING, asked))
    places = [(key, Location(path, line)) for key, path, line in rows]
    steps = [ChangeStep("read", at, f"this line registers its {key} kernel") for key, at in places]
    library, _, name = op.partition("::")
    if not any(key == wanted for key, _ in places):
        block = (f"TORCH_LIBRARY_IMPL({library}, {wanted}, m) {{", f'  m.impl("{name}", ...);', "}")
        what = f"register its {wanted} kernel in a block for the key, as those for other keys are"
        steps += [ChangeStep("add", at, what, block, like=at) for _, at in places[:1]]
        return Parts((*steps,), missing=() if places else (f"no kernel of {op} is known here",))
    for home in homes.of_other_libraries(name, wanted):
        if home.op.partition(".")[0] == op:
            steps.append(
                ChangeStep("edit", home.kernel.location, f"{home.kernel.name} is that kernel")
            )
    tests = tuple(kernel_tests.library_runs(homes.tree, name, wanted))
    title = f"{op} has a kernel for {wanted}"
    return Parts((*steps,), tests=tests, title=title, there=places[0][1])


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
    yield from _of_libraries(new)
    yield from kernel_source.steps(new)
    yield from _checked(new)
    yield from kernel_tests.steps(new)


_GENERATORS = ("torchgen/gen.py", "tools/codegen/gen.py")
"""Where torchgen is, and where it was before 1.12."""


def _checked(new: NewKernel) -> Iterator[ChangeStep]:
    """What the tree's own torchgen says of a changed entry, without a build."""
    path = next((one for one in _GENERATORS if new.tree.text(one)), "")
    if new.rows and path:
        command = f'python -m {module_name(path)} -s aten/src/ATen -d "$(mktemp -d)" --dry-run'
        what, why = "see that torchgen takes the entry", "it reads every entry, without a build"
        yield ChangeStep("run", Location(path, 1), what, (), why, command=command)


def _of_libraries(new: NewKernel) -> Iterator[ChangeStep]:
    """The kernels for the key of operators of such a name in other libraries, which may be what is
    looked for: ``quantized::conv2d``. Of each file the first."""
    found = {one.path: one for one in reversed(new.homes.of_other_libraries(new.base, new.key))}
    for home in islice(reversed(found.values()), _ALSO):
        what = f"{home.op} has its {new.key} kernel here: see whether it is what is wanted"
        yield ChangeStep("read", home.kernel.location, what)


class _Lacking(NamedTuple):
    """What a composite operator reaches that has no kernel for a key."""

    usual: list[str]
    notes: tuple[str, ...]
    """Of others, in which case they are called."""


def _of_composite(homes: KernelFiles, change: Change, op: str) -> Parts:
    tree, key = homes.tree, change.key
    place, where = tree.natives[op].location, " in this tree" * outside.is_outside(homes, key)
    below = list(operators_below(tree, op, key))
    lacking = _lacking(tree, below, key, where)
    if not lacking.usual:
        return _without_lacking(homes, op, key, below, where, lacking.notes)
    first, *rest = lacking.usual
    parts = _of_operator(homes, first, key)
    text = f"{op} is composite: {first}, which it calls, has no {key} kernel{where}"
    also = ", ".join(rest[:_ALSO])
    more = [f"{op} also reaches {also}, which have no {key} kernel either"] if rest else []
    return replace(
        parts,
        steps=(ChangeStep("read", place, text), *parts.steps),
        missing=(*parts.missing, *more, *lacking.notes),
        title=f"{key} kernel of {first}, which {base_name(tree.natives[op].name)} calls",
    )


def _lacking(tree: Tree, below: Sequence[Below], key: str, where: str) -> _Lacking:
    conditions: dict[str, str] = {}
    own = next((one.op for one in below if _devices(tree, one.op) == {key}), "")
    for one in below:
        if _lacks(tree, one, key):
            only = own and _devices(tree, one.op) == {"CPU"}
            apart = f"tensors are on the CPU ({own} is for {key} alone)" if only else ""
            conditions.setdefault(one.op, one.condition or apart)
    left = [one.op for one in below if where and _is_refused(tree, one.op)]
    usual = [name for name, condition in conditions.items() if not condition] + left
    rare = [(name, condition) for name, condition in conditions.items() if condition][:_ALSO]
    return _Lacking(
        usual, tuple(f"where {when}: {n} has no {key} kernel{where}" for n, when in rare)
    )


def _without_lacking(
    homes: KernelFiles,
    op: str,
    key: str,
    below: Sequence[Below],
    where: str,
    notes: tuple[str, ...],
) -> Parts:
    """The plan where all that it usually calls has a kernel."""
    place = homes.tree.natives[op].location
    text = f"{op} is composite, and all that it {'usually ' * bool(notes)}calls has a kernel"
    text += f" for {key} or for every back end{where}"
    if device_of_key(key) == key:
        return Parts((), missing=notes, there=place, title=text)
    parts = _of_operator(homes, op, key)
    note = ChangeStep("read", place, f"{text}: first find out what fails without a change")
    new, own = NewKernel(homes, op, key), parts.steps
    if not outside.is_outside(homes, key) and new.votes and new.is_guess:  # of what may not be due
        own, parts = tuple(_of_libraries(new)), replace(parts, neighbours=())
    steps = (note, *_overrides(homes, below, key), *own)
    return replace(parts, steps=steps, missing=(*parts.missing, *notes))


def _overrides(homes: KernelFiles, below: Iterable[Below], key: str) -> Iterator[ChangeStep]:
    """What a composite reaches that back ends are to register, with the key's kernel if any."""
    for name in dict.fromkeys(one.op for one in below if _is_refused(homes.tree, one.op)):
        home = homes.registered(name, key)
        where = home.kernel.location if home else homes.tree.natives[name].location
        what = f"has its {key} kernel here" if home else "is for back ends to register"
        yield ChangeStep("read", where, f"{name}, which it reaches, {what}")


_MOST = 4000
"""Most places visited by a walk."""


class Below(NamedTuple):
    """An operator with kernels that a composite one reaches."""

    op: str
    condition: str
    """What leads to it; empty in the usual case."""
    behind: bool
    """Whether it is reached through a kernel for every back end."""


def operators_below(tree: Tree, op: str, key: str) -> Iterator[Below]:
    """The operators with kernels that run for a key where a composite does, through composites
    only: in the usual case first, then those under other conditions, then those behind kernels for
    every back end; of each the nearest first."""
    graph, order = Graph(tree.index.facts), count()
    device = device_of_key(key)
    start = Node("operator", op, device if device == key else "")
    pending: list[_Visit] = [(0, 0, start, "")]
    seen: set[Node] = set()
    while pending and len(seen) < _MOST:
        rank, _, node, condition = heappop(pending)
        if node in seen:
            continue
        seen.add(node)
        if node.kind == "operator" and node != start and not tree.is_composite(str(node.what)):
            yield Below(str(node.what), condition, rank >= _BEHIND)
            if condition or not _serves_all(tree, str(node.what), key):
                continue
            rank = max(rank, _BEHIND)
        for step in graph.down(node):
            under = condition or _unusual(graph, step, key)
            if not (under and rank >= _BEHIND):
                heappush(pending, (rank or len(under[:1]), next(order), step.lower, under))


_BEHIND = 2
_Visit = tuple[int, int, Node, str]
"""Its turn: 0, 1 under a condition, or behind a kernel for every back end; the order in it."""


def _serves_all(tree: Tree, op: str, key: str) -> bool:
    """Whether a key runs the kernel of an operator for every back end."""
    keys = tree.keys(op) | tree.library_keys(op)
    return key not in keys and any(one.startswith("CompositeExplicit") for one in keys)


def _unusual(graph: Graph, step: Step, key: str) -> str:
    """The condition of a call that does not hold for usual tensors; empty if it asks for the key's
    own."""
    device = device_of_key(key)
    own = (key.removesuffix(device) or device).lower()
    choices = graph.facts.conditions(step.why) if isinstance(step.why, Edge) else ()
    others = (one for one in choices if own not in f"{one.text} {one.means}".lower())
    unusual = next((one for one in others if taken(one, device) is False), None)
    if unusual is None:
        return ""
    text = condition_of(unusual)
    return f"not ({text})" if unusual.arm in ("else", "otherwise") else text


_REFUSES = "NOT_IMPLEMENTED"
"""In the macro by which a kernel for every back end leaves the work to the back ends."""


def _lacks(tree: Tree, one: Below, key: str) -> bool:
    """Whether an operator has no kernel for a key. A kernel for every back end chooses among
    several: what is behind it is not all called."""
    keys = tree.keys(one.op) | tree.library_keys(one.op)
    has = key in keys or _serves_all(tree, one.op, key)
    return "CPU" in keys and not has and not one.behind


def _devices(tree: Tree, op: str) -> set[str]:
    """The devices for which an operator has kernels; those of one alone are written for it."""
    keys = tree.keys(op) | tree.library_keys(op)
    return set() if any(one.startswith("Composite") for one in keys) else {*keys} & {*DEVICES}


def _is_refused(tree: Tree, op: str) -> bool:
    """Whether an operator's kernel for every back end says alone that it is not implemented."""
    facts, rows = tree.index.facts, tree.kernels.get(op, {}).items()
    shared = (row for key, row in rows if key.startswith("CompositeExplicit"))
    known = (facts.known(one) for row in shared for one in row.definitions)
    called = [[edge.symbol for edge in facts.edges(one.id)] for one in known if one]
    return any(len(names) == 1 and _REFUSES in names[0] for names in called)
