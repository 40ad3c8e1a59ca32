"""A recorded program's own operators, kernels and ``autograd.Function``s.

The recorder took them from the running process, so no source is read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from indexes.model.vocabulary import Definition, KernelRow, OperatorSummary
from navigator.trace.model import ProgramDefinition

RULE = "recorded from the running program"


class ProgramCode:
    """Looks up the definitions of one recording; the last one of a name counts."""

    def __init__(self, definitions: Iterable[ProgramDefinition]) -> None:
        self.kernels: defaultdict[str, dict[str, KernelRow]] = defaultdict(dict)
        """By the name without ``aten::``, and dispatch key."""
        self._operators: dict[str, ProgramDefinition] = {}
        self._methods: defaultdict[tuple[str, str], list[ProgramDefinition]] = defaultdict(list)
        for definition in definitions:
            name = definition.name.removeprefix("aten::")
            if definition.kind == "operator":
                self._operators[name] = definition
            elif definition.kind == "kernel":
                self.kernels[name][definition.key] = _kernel_row(definition, name)
            elif definition.kind in ("forward", "backward"):
                self._methods[definition.kind, definition.name].append(definition)

    def operators(self) -> dict[str, OperatorSummary]:
        """The program's operators by full name: ``mylib::scale``."""
        return {
            name: OperatorSummary(
                full_name=name,
                schema=one.schema,
                location=one.location,
                keys=tuple(self.kernels.get(name, ())),
                tags=(),
                python_module=None,
                has_derivative=False,
                kind="plain",
            )
            for name, one in self._operators.items()
        }

    def methods(self, kind: str, name: str) -> tuple[Definition, ...]:
        """``forward`` of ``Square`` or ``backward`` of ``SquareBackward``; several if classes share
        a name. Also for ``SquareGenerated``, made by torch.func for each transform
        (torch/_functorch/autograd_function.py)."""
        found = self._methods.get((kind, name)) or self._methods.get((kind, _written(name)), [])
        return tuple(map(_definition, found))


def _written(name: str) -> str:
    backward = "Backward" * name.endswith("GeneratedBackward")
    return name.removesuffix(backward).removesuffix("Generated") + backward


def _kernel_row(one: ProgramDefinition, op: str) -> KernelRow:
    definitions = (_definition(one),) if one.function else ()
    reason = "" if definitions else f"registered at {one.location}; its function was not recorded"
    symbol = one.function or "function not recorded"
    return KernelRow(op, one.key, symbol, "plain", definitions, "exact", RULE, reason, one.location)


def _definition(definition: ProgramDefinition) -> Definition:
    return Definition(definition.function, "", "function", definition.location)
