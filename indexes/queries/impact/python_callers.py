"""The callers of a Python name, as steps of an answer."""

from __future__ import annotations

from indexes.model.files import MARK
from indexes.model.impact import Step
from indexes.model.vocabulary import Location
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.graph import Edge, Node
from indexes.queries.index import Index
from indexes.queries.python_names.callers import PythonUse, PythonUses
from indexes.queries.python_names.finding import Finder


def add_callers(
    index: Index, facts: ImpactFacts, name: str, steps: list[Step], untold: list[str]
) -> tuple[str, ...] | None:
    """Adds a definition and its uses, one for each function; what could not be told goes to
    ``untold``.

    Returns:
        The operators that the name is the binding of; None where it is no Python name.
    """
    finder = Finder(index)
    answer = finder.find(name)
    found = finder.names.find(answer.name) if answer else None
    if answer is None or found is None:
        return None
    uses = PythonUses(finder, facts.corpus).of(found, answer.name)
    where = answer.location or _entry(index, answer.operators)
    start = Node("python", found.name, answer.name, where)
    steps.append(Edge(start, "", None).step(len(steps), None, "exact", 0))
    parent = steps[-1].id
    seen: dict[tuple[str, str], PythonUse] = {}
    for use in uses.found:
        seen.setdefault((use.location.path, use.around[0]), use)
    for use in sorted(seen.values(), key=_place_in_list):
        edge = Edge(_node(use), use.rule, use.location, use.confidence)
        steps.append(edge.step(len(steps), parent, use.confidence, 0))
    if uses.unknown:
        last = found.name.rpartition(".")[2]
        said = "1 call" if uses.unknown == 1 else f"{uses.unknown} calls"
        untold.append(f"not counted: {said} of .{last}() on values whose class is not known")
    if facts.corpus.paths("test"):
        untold.append("test/: only files named test_* were searched")
    return answer.operators


def _entry(index: Index, operators: tuple[str, ...]) -> Location | None:
    """The entry of the operator that a name is the generated binding of."""
    native = index.native(operators[0]) if operators else None
    return native.location if native else None


def _place_in_list(use: PythonUse) -> tuple[bool, bool, bool, int]:
    """Public modules of PyTorch first, the outer before the inner, then private ones, then docs,
    examples and tools; tests last: they say little of who else uses something."""
    path = use.location.path
    is_private = "/_" in path.replace("/__init__.py", "") or path.startswith("torch/testing/")
    is_around = not path.startswith(("torch/", MARK))
    return path.startswith("test/"), is_around, is_private, path.count("/")


def _node(use: PythonUse) -> Node:
    name, line = use.around
    path = use.location.path
    is_test = name.rpartition(".")[2].startswith("test") and "/test_" in f"/{path}"
    return Node("test" if is_test else "python", f"{path}:{name}", name, Location(path, line))
