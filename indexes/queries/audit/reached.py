"""Whether the device kernels of traces are reached from the operators around them."""

from __future__ import annotations

from functools import lru_cache

from indexes.linking.graph import Graph, Node
from indexes.model.answers import DeviceKernelAnswer
from indexes.model.vocabulary import Definition, Location
from indexes.queries.index import Index

_BUILT_ON = {
    "Tensile": ("cuBLAS", "hipBLAS"),
    "rocBLAS": ("cuBLAS", "hipBLAS"),
    "cuBLAS": ("cuDNN",),
}
"""Libraries whose kernels run behind another's functions: ROCm's behind those of CUDA, and cuBLAS,
which NVIDIA documents as a dependency of cuDNN, behind cuDNN."""


class Reached:
    """What operators reach on the ways for a device."""

    def __init__(self, index: Index, device: str = "CUDA") -> None:
        self._facts = index.facts
        self._graph = Graph(index.facts)
        self._works = index.facts.works
        self._device = device
        self.functions = lru_cache(None)(self._functions)
        self.libraries = lru_cache(None)(self._libraries)

    def _functions(self, op: str) -> frozenset[int]:
        """The numbers of all functions below an overload."""
        pending = [Node("operator", op, self._device)]
        seen = set(pending)
        while pending:
            for step in self._graph.down(pending.pop()):
                if step.lower not in seen and step.lower.device in ("", self._device):
                    seen.add(step.lower)
                    pending.append(step.lower)
        return frozenset(node.what for node in seen if isinstance(node.what, int))

    def _libraries(self, op: str) -> frozenset[str]:
        """The libraries that those functions call."""
        edges = (edge for one in self.functions(op) for edge in self._facts.edges(one))
        return frozenset(str(edge.target) for edge in edges if edge.kind == "library")

    def runs(self, base: str, kernel: DeviceKernelAnswer) -> bool | None:
        """Whether a device kernel is reached from an overload of an operator; None where no
        overload is known."""
        names = [native.full_name for native in self._facts.overloads(base)]
        return any(self._runs(name, kernel) for name in names) if names else None

    def is_by_rule(self, base: str, kernel: DeviceKernelAnswer) -> bool:
        """Whether a kernel of a library is reached by another's functions alone."""
        names = [native.full_name for native in self._facts.overloads(base)]
        return kernel.source is None and not any(kernel.library in self.libraries(n) for n in names)

    def moves(self, base: str) -> bool:
        """Whether an operator copies or fills, and computes nothing else."""
        names = [native.full_name for native in self._facts.overloads(base)]
        return any(self._works.of(Node("operator", name)) == "moves" for name in names)

    def _runs(self, op: str, kernel: DeviceKernelAnswer) -> bool:
        if kernel.source is None:
            library = kernel.library or ""
            return not self.libraries(op).isdisjoint((library, *_BUILT_ON.get(library, ())))
        known = filter(None, map(self._facts.by_id, self.functions(op)))
        return any(_is_of(one.definition, kernel.source) for one in known)


def _is_of(reached: Definition, source: Definition) -> bool:
    """Whether a function holds what a device kernel is from, or is a method of its functor."""
    inside = source.kind == "class" and _holds(source.location, reached.location)
    return inside or _holds(reached.location, source.location)


def _holds(outer: Location, inner: Location) -> bool:
    last = max(outer.line, outer.end_line)
    return outer.path == inner.path and outer.line <= inner.line <= last
