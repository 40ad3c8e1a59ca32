"""What a composite operator lacks for a key: the operators below it that have no kernel for it."""

from __future__ import annotations

from collections import deque

from indexes.linking.graph import Graph, Node, device_of_key
from indexes.queries.gaps.tree import Tree

_DEEPEST = 12
_MOST = 4000
"""Places that a walk looks at."""


def missing_below(tree: Tree, op: str, key: str) -> list[str]:
    """The operators that a composite one reaches through composites alone and that have kernels
    for the CPU and none for a key, the nearest first."""
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
