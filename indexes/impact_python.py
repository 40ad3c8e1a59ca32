from __future__ import annotations
from collections.abc import Iterator
from indexes.impact_graph import Edge, Node
class PythonEdges:
    def of_function(self, node: Node, first: bool) -> Iterator[Edge]:
        return iter(())
