"""Siblings of an operator: those with the same types and a CPU kernel in the same file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from indexes.model.lines import listed
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Difficulty
from indexes.queries.gaps.tree import Tree

_SHARE = 0.75
_FEWEST = 4
"""Fewest siblings for conclusions."""
_SHOWN = 3
_LONG = 100
"""Lines of a kernel that is not for beginners."""


def near(tree: Tree, outs: Mapping[str, str] | None = None) -> dict[str, list[str]]:
    """For each public operator with a CPU kernel, those with the same signature and file. ``outs``:
    out overloads whose kernel counts for the operator."""
    groups: dict[object, list[str]] = {}
    for op in tree.public:
        rows = tree.kernels.get(op, {})
        row = rows.get("CPU") or tree.kernels.get((outs or {}).get(op, ""), {}).get("CPU")
        paths = {d.location.path for d in row.definitions} if row else set()
        if len(paths) == 1:
            types = tuple(a.type for a in tree.schemas[op].arguments)
            groups.setdefault((paths.pop(), types), []).append(op)
    return {op: [other for other in ops if other != op] for ops in groups.values() for op in ops}


def most(tree: Tree, siblings: Sequence[str], key: str) -> bool:
    """Whether there are several siblings and all but a few have a kernel for a key."""
    having = sum(key in tree.keys(one) for one in siblings)
    return len(siblings) >= _FEWEST and having >= _SHARE * len(siblings)


def dispatch_line(tree: Tree, op: str) -> Location:
    """The line that names its kernels, or its delegate."""
    native = tree.natives[op]
    for field in ("dispatch", "structured_delegate"):
        if field in native.field_lines:
            return Location(native.location.path, native.field_lines[field])
    return native.location


def subjects(tree: Tree) -> dict[str, list[str]]:
    """The overloads of each operator with kernels, including in-place ones."""
    found: dict[str, list[str]] = {}
    for op, native in tree.natives.items():
        if op in tree.kernels and not {"generated", "view_copy"} & set(native.tags):
            base = native.name.removesuffix("_")
            found.setdefault(base if base in tree.overloads else native.name, []).append(op)
    return found


def is_public(name: str) -> bool:
    """Whether a name is public; Python's own operators have underscores too."""
    return name.startswith("__") or not (name.startswith("_") or "backward" in name)


def few(names: Sequence[str]) -> str:
    """The first of some names, and the number of others."""
    return listed(names, _SHOWN)


def kernel_lines(tree: Tree, op: str) -> int:
    """The length of an operator's shortest computing kernel; 0 if unknown."""
    rows = tree.kernels.get(op, {})
    lengths = (
        sum(one.location.end_line - one.location.line + 1 for one in row.definitions)
        for key, row in rows.items()
        if key != "Meta" and row.definitions
    )
    return min(lengths, default=0)


def level_of(tree: Tree, op: str) -> Difficulty:
    """The difficulty of another kernel, by the length of existing ones."""
    return "hard" if kernel_lines(tree, op) > _LONG else "medium"
