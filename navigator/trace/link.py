"""Links a trace with an index: the schema, formula and kernel of each operator."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache, cached_property
from itertools import chain

from indexes.model.answers import DeviceKernelAnswer
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import KernelRow, OperatorSummary
from indexes.queries.dispatch_path.recorded import DispatchPath, DispatchPaths
from indexes.queries.index import Index
from indexes.serialize.answers import Object
from navigator.trace.compiling.answers import compiler_places
from navigator.trace.evidence import (
    CallContext,
    Evidence,
    backend_keys,
    devices_needed,
    keys_of_call,
)
from navigator.trace.kernels import Kernels
from navigator.trace.links import (
    GENERATED,
    IN_PYTHON,
    NodeLink,
    OpLink,
    Possible,
    no_node,
    one_of_several,
)
from navigator.trace.model import DeviceKernel, TraceOp
from navigator.trace.overloads import Overloads
from navigator.trace.program_code import RULE, ProgramCode
from navigator.trace.table import OP
from navigator.trace.trace import Trace
from navigator.trace.versions import version_note

_ASSUMED = (
    "worked out for a thread without autocast, transforms and modes: torchnav trace --compiled "
    "records the keys"
)
_NO_KEYS = (
    "its key set was not recorded: torchnav trace --compiled records it, with the keys that the "
    "thread includes and excludes"
)
_LEVELS = 64
"""Maximum nesting of operators to follow; real ones have ten at most."""
_NONE_FITS = "all overloads: none takes these inputs"

Overload = tuple[tuple[str, ...], str]
"""The possible full names of an operator, and the rule."""


class Linker:
    """Links the rows of one trace.

    Parameters:
        trace: What ran.
        index: The tree whose kernels are shown.
        schemas: The index of the torch that recorded the trace, if available and different from the
            tree: names and formulas come from it. See ``schema_index``.
    """

    def __init__(self, trace: Trace, index: Index, schemas: Index | None = None) -> None:
        self._trace = trace
        self.index = index
        self.schemas = schemas or index
        self._links: dict[tuple[object, ...], OpLink] = {}
        self._narrowed: dict[int, Overload] = {}
        """By row, if the inputs fit several overloads."""
        self._node = cache(self._new_node)
        self._device_name = cache(index.kernel_name)
        self._compiler = cache(self._new_compiler_places)
        self.note = version_note(trace, index, self.schemas)
        """How the source differs from the torch that ran, or empty."""
        if trace.table.default_place and trace.meta.format != "torchnav":
            trace.learn_devices(devices_needed(self._keys_of_operators()))

    def link(self, op: TraceOp) -> OpLink:
        """The source of a call. Calls with the same inputs on the same device share a link."""
        node = op.node if not op.origin else f"{op.origin} {op.node}"
        overload = self._overload(op)
        ran = self._trace.answered_by(op)
        key = (op.label, node, overload, self._facts_of(op), ran and self._facts_of(ran))
        found = self._links.get(key)
        if found is None:
            found = self._links[key] = self._new_link(op, ran, *overload)
        return found

    def _facts_of(self, op: TraceOp) -> tuple[object, ...]:
        """The facts that decide a call's kernel."""
        table = self._trace.table
        return table.inputs[op.id], table.place[op.id], op.device, op.keys

    def _keys_of_operators(self) -> Iterator[Iterable[str]]:
        """For each operator that ran, the keys of all of its overloads' kernels."""
        table = self._trace.table
        ran = {table.name_of(row).removeprefix("aten::") for row in table.operators()}
        keys: defaultdict[str, set[str]] = defaultdict(set)
        for op, rows in self._kernels.rows.items():
            keys[op.partition(".")[0]].update(rows)
        return (keys[name] for name in ran & keys.keys())

    def kernel_name(self, kernel: DeviceKernel) -> DeviceKernelAnswer:
        """The source for a device kernel's name."""
        return self._device_name(kernel.name)

    def compiler_places(self, full_name: str) -> Object | None:
        """Inductor's lowering of an operator by the sources of the torch that compiled it, and its
        decompositions; None if no tree has it."""
        return self._compiler(full_name) if full_name else None

    def possible(self, link: OpLink) -> Possible:
        """The possible schemas and kernels of a call; one of each if it is resolved."""
        names = (link.full_name,) if link.full_name else link.candidates
        schemas = (self._summaries[name] for name in names if name in self._summaries)
        kernels = (self._kernels.possible(name, link.keys) for name in names)
        return Possible(tuple(schemas), tuple(chain.from_iterable(kernels)))

    def _new_compiler_places(self, full_name: str) -> Object | None:
        found = (compiler_places(one, full_name) for one in (self.schemas, self.index))
        return next(filter(None, found), None)

    def path(self, op: TraceOp) -> DispatchPath | None:
        """The dispatch keys that this call went through; None for rows that are not dispatched."""
        if op.kind != "op":
            return None
        return self._path(op, None if op.keys else self._is_below(op))

    def _path(self, op: TraceOp, below: bool | None) -> DispatchPath:
        link = self.link(op)
        if not link.full_name:
            return DispatchPath("", (), "the overload is not certain")
        backend = link.keys[0] if len(link.keys) == 1 else ""
        if op.keys:
            return self._paths.path(link.full_name, op.keys, backend)
        keys: tuple[str, ...] = ()
        if below is not None:
            tensors = self._trace.table.has_tensors(op.id)
            keys = self._paths.usual_keys(backend, tensors=tensors, below=below)
        if not keys:
            return DispatchPath(link.full_name, (), _NO_KEYS)
        return replace(self._paths.path(link.full_name, keys, backend), assumed=_ASSUMED)

    def _is_below(self, op: TraceOp, levels: int = _LEVELS) -> bool | None:
        """Whether a kernel below autograd made the call; None if unknown."""
        for row in self._trace.table.ancestors(op.id) if levels else ():
            above = self._trace.op(row)
            if above.kind == "op":
                return self._makes_below(above, op, levels - 1)
            if above.kind in ("node", "engine"):
                return False
            if above.kind == "call":
                return False if self._is_called_plainly(above, op) else None
        return None

    def _is_called_plainly(self, call: TraceOp, op: TraceOp) -> bool:
        """Whether Python's binding calls just this operator. Factory functions exclude autograd
        first (torch/csrc/autograd/generated/variable_factories.h)."""
        schema = self.link(op).schema
        makes = schema is None or "Layout? layout" in schema.schema
        return not makes and call.name.rpartition(".")[2] == op.name.removeprefix("aten::")

    def _makes_below(self, above: TraceOp, op: TraceOp, levels: int) -> bool | None:
        if above.thread != op.thread or not above.name.startswith("aten::"):
            return None
        below = self._is_below(above, levels)
        path = self._path(above, below)
        return path.ends_below_autograd or below if path.steps else None

    # ------------------------------------------------------------------------ one link

    def _new_link(
        self, op: TraceOp, ran: TraceOp | None, candidates: tuple[str, ...], rule: str
    ) -> OpLink:
        reasons: list[str] = []
        node = self._node_of(op)
        schema = self._schema(op, candidates, rule, reasons)
        rows = self._kernels.of(schema.full_name) if schema else {}
        devices = self._trace.device_types()
        has_device = ran is not None and self._trace.table.place[ran.id] >= 0
        keys = keys_of_call(ran, schema, rows, devices, has_device) if ran else ("Python",)
        kernel = self._forward(op, reasons)
        if schema is not None and ran is None:
            reasons.append(IN_PYTHON)
        elif schema is not None:
            kernel = self._kernels.that_ran(schema.full_name, keys, reasons)
        if node is not None and node.reason:
            reasons.append(node.reason)
        return OpLink(
            full_name=schema.full_name if schema else "",
            candidates=candidates if len(candidates) > 1 or rule == _NONE_FITS else (),
            overload_rule=rule,
            schema=schema,
            keys=keys,
            kernel=kernel,
            derivative=self.schemas.derivative(schema.full_name) if schema else None,
            node=node,
            reasons=tuple(reasons),
            note=self.note,
        )

    def _overload(self, op: TraceOp, levels: int = _LEVELS) -> Overload:
        """The possible full names of the operator, and the rule."""
        if op.id in self._narrowed:
            return self._narrowed[op.id]
        names, rule = self._fitting(op)
        if len(names) > 1 and rule != _NONE_FITS and op.name.startswith("aten::"):
            names, rules = self._evidence.narrowed(names, self._context(op, levels))
            rule = "; ".join(("the only overload left", *rules)) if len(names) == 1 else rule
            self._narrowed[op.id] = names, rule
        return names, rule

    def _context(self, op: TraceOp, levels: int) -> CallContext:
        """The context of a call in the trace."""
        table = self._trace.table
        made = self._trace.backward_of(op.id)
        below = (table.name_of(row) for row in table.descendants(op.id) if table.kind[row] == OP)
        return CallContext(
            table.name_of(made) if made is not None else "",
            frozenset(name.removeprefix("aten::") for name in below),
            backend_keys(op, self._trace.device_types()),
            not op.inputs,
            self._callers(op, levels),
            self._enclosing_formula(op),
        )

    def _enclosing_formula(self, op: TraceOp) -> str:
        """The Node whose formula makes the call directly."""
        above = self._trace.op(op.parent) if op.parent is not None else None
        return above.name if above and above.kind == "node" and not op.origin else ""

    def _callers(self, op: TraceOp, levels: int) -> tuple[str, ...]:
        """The possible overloads of the operator above; None if that re-dispatches to itself, as
        for autocast and transforms, whose calls are in no kernel."""
        above = self._trace.op(op.parent) if op.parent is not None else None
        if above is None or above.kind != "op" or above.thread != op.thread or not levels:
            return ()
        table = self._trace.table
        if any(table.name_of(row) == above.name for row in table.children(above.id)):
            return ()
        names, _ = self._overload(above, levels - 1)
        return names

    def _fitting(self, op: TraceOp) -> Overload:
        """Full names whose arguments fit, and the rule."""
        if op.kind != "op" or "::" not in op.name:
            return (), ""
        base = op.name.removeprefix("aten::")
        unnamed = op.id in self._trace.table.unnamed
        if op.overload is not None or (self._trace.meta.overloads and not unnamed):
            name = f"{base}.{op.overload}" if op.overload else base
            return (name,), "the profiler recorded the overload"
        fitting = self._overloads.fitting(base, op.inputs)
        rule = "the only overload that takes these inputs" if op.inputs else ""
        if not fitting:
            fitting, rule = self._overloads.fitting(base, ()), _NONE_FITS
        names = tuple(f"{base}.{overload}" if overload else base for overload in fitting)
        return names, rule

    def _schema(
        self, op: TraceOp, candidates: tuple[str, ...], rule: str, reasons: list[str]
    ) -> OperatorSummary | None:
        one = candidates[0] if len(candidates) == 1 and rule != _NONE_FITS else ""
        if one in self._summaries:
            return self._summaries[one]
        is_function = op.kind == "region" and self._code.methods("forward", op.name)
        if op.kind in ("op", "region") and not is_function:
            reasons.append(self._no_schema(op, candidates, rule))
        return None

    def _forward(self, op: TraceOp, reasons: list[str]) -> KernelRow | None:
        """The forward of an autograd.Function, which is recorded under its class's name."""
        found = self._code.methods("forward", op.name) if op.kind == "region" else ()
        if len(found) == 1:
            return KernelRow("", "", found[0].qualified, "plain", found, "exact", RULE)
        if found:
            reasons.append(one_of_several(op.name, found))
        return None

    def _no_schema(self, op: TraceOp, candidates: tuple[str, ...], rule: str) -> str:
        if op.kind != "op" and op.name.startswith(GENERATED):
            return "not an operator: torch.library's autograd.Function around a custom operator"
        if op.kind != "op":
            return "not an operator: a timed region of the program or of torch"
        version = self.schemas.info.version
        if candidates and rule == _NONE_FITS:
            place = "native_functions.yaml" if op.name.startswith("aten::") else "TORCH_LIBRARY"
            return f"its inputs fit no overload in the {place} of {version}"
        if len(candidates) > 1:
            why = "" if op.inputs else " (the trace has no inputs: record_shapes=True)"
            return f"ambiguous: one of {', '.join(candidates)}{why}"
        if not op.name.startswith("aten::"):
            return (
                f"{op.name} is registered elsewhere: it is in no TORCH_LIBRARY block and no "
                f"torch.library call of {self._trees}, and {self._not_recorded}"
            )
        if candidates:
            return f"{candidates[0]} is not in the native_functions.yaml of {version}"
        return (
            f"{op.name} is not in the native_functions.yaml of {version}: it is of another version "
            "of PyTorch, or registered elsewhere"
        )

    @property
    def _not_recorded(self) -> str:
        """Why the recording lacks a definition."""
        meta = self._trace.meta
        if not meta.definitions:
            return "this trace does not say what the program defines (torchnav trace records it)"
        if not meta.complete:
            return "the recording ended before its definition was written"
        return "no file here of the recorded program defines it"

    @property
    def _trees(self) -> str:
        """The versions in which operators were searched."""
        versions = (self.index.info.version, self.schemas.info.version)
        return " and ".join(dict.fromkeys(versions))

    # -------------------------------------------------------------------------- nodes

    def _node_of(self, op: TraceOp) -> NodeLink | None:
        """The Node whose formula contains this operator; None for work of the engine."""
        if op.node is None or op.origin:
            return None
        return self._node(op.node)

    def _new_node(self, name: str) -> NodeLink:
        for entry in self.schemas.node(name):
            formulas = tuple(
                formula
                for one in entry.sets
                if one.makes(name.rpartition("::")[2])
                for formula in one.formulas
                if formula.kind == "gradient"
            )
            return NodeLink(name, entry, formulas, None)
        methods = self._code.methods("backward", name)
        if len(methods) > 1:
            return NodeLink(name, None, (), None, one_of_several(name, methods))
        full = name if "::" in name else f"torch::autograd::{name}"
        definition = next(iter(methods or self.index.definitions(full)), None)
        if definition is not None:
            return NodeLink(name, None, (), definition)
        return NodeLink(name, None, (), None, no_node(name))

    # ------------------------------------------------------------------------- tables

    @cached_property
    def _paths(self) -> DispatchPaths:
        return DispatchPaths(self.index)

    @cached_property
    def _summaries(self) -> dict[str, OperatorSummary]:
        """Operators of the torch that ran, and the tree's without a YAML entry."""
        known = {op.full_name: op for op in self.schemas.operators()}
        entries = {str(op.full_name) for op in self.index.library_operators()}
        others = (op for op in self.index.operators() if op.full_name in entries)
        return {**self._code.operators(), **{op.full_name: op for op in others}, **known}

    @cached_property
    def _code(self) -> ProgramCode:
        return ProgramCode(self._trace.table.definitions)

    @cached_property
    def _overloads(self) -> Overloads:
        return Overloads(parse_schema(op.schema) for op in self._summaries.values())

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self.index)

    @cached_property
    def _kernels(self) -> Kernels:
        return Kernels(self.index, self.schemas, self._code)
