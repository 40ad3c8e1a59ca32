"""Explains the error that ended a recorded program, from the recording alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from typing import NamedTuple

from indexes.model.errors import NotFound
from indexes.model.lines import grouped
from indexes.model.schema import Schema, parse_schema
from indexes.queries.pasted import ON_STACK, message_of
from navigator.explanation import (
    MODIFIED,
    Cause,
    Explanation,
    Place,
    Write,
    needing,
    no_line_note,
    said_by,
)
from navigator.trace.columns import NONE
from navigator.trace.link import Linker
from navigator.trace.model import Input, TensorState, TraceOp
from navigator.trace.storages.uses import Storages, Written
from navigator.trace.table import NODE, OP
from navigator.trace.trace import Trace

_SHAPE = re.compile(r"\[[\w.]+ (\[[\d, ]*\])\]")
"""In errors about a tensor that a node rejects: ``[torch.FloatTensor [3, 4]]``."""
_NO_STORAGES = (
    "the line that wrote to the value is unknown, as only the compiled recorder records storages; "
    "torchnav why SCRIPT runs the program again and finds it"
)


class Saved(NamedTuple):
    """A tensor that a node's forward operator took or made."""

    name: str
    """Its name in formulas: the argument's name, or ``result``."""
    state: TensorState
    shape: tuple[int, ...]


def explain_trace(trace: Trace, linker: Linker) -> Explanation:
    """The cause of the error that ended a recorded program.

    Raises:
        NotFound: The recording has no error.
    """
    error, index = trace.meta.error, linker.index
    if error is None:
        raise NotFound(_without_error(trace))
    place = error.frames[0].location if error.frames else None
    raised = (place.path, place.line) if place else None
    text = message_of(error.message)
    modified = MODIFIED.search(text)
    found = Explanation(text, raised, ())
    explainer = _Explainer(trace, linker)
    if modified is not None:
        return explainer.in_place(found, int(modified[1]), int(modified[2]))
    raising = said_by(f"{error}{explainer.stack(raised)}", index, error.raised_in)
    note = "" if any(one.kind != "operator" for one in raising) else no_line_note(str(error), index)
    running = (replace(one, detail=one.detail.replace(ON_STACK, "was running")) for one in raising)
    return explainer.of_call(replace(found, said_by=tuple(running), note=note))


def _without_error(trace: Trace) -> str:
    """Why there is no error to explain."""
    meta = trace.meta
    if meta.format != "torchnav":
        return "traces of this format have no error of the program: torchnav trace records it"
    if meta.complete:
        return "the program ended without an error"
    why = meta.problems[0] if meta.problems else "it ends before the program does"
    return f"no error of the program is in this recording: {why}"


class _Explainer:
    def __init__(self, trace: Trace, linker: Linker) -> None:
        self._trace, self._linker = trace, linker
        self._storages = Storages(trace, linker)

    # ------------------------------------------------------------------ in-place writes

    def in_place(self, found: Explanation, current: int, expected: int) -> Explanation:
        """For a node that rejected a value because its version is not the saved one."""
        node = self._last(NODE)
        forward = self._trace.table.forward.get(node) if node is not None else None
        if node is None or forward is None:
            return replace(
                found, note="this recording does not have the node that refused its value"
            )
        if not self._trace.table.states_of(forward)[0]:
            made = self._made_by(node, forward)
            return replace(found, made=made, note=_NO_STORAGES)
        shape = _SHAPE.search(found.error)
        sizes = tuple(map(int, re.findall(r"\d+", shape[1]))) if shape else None
        causes = tuple(self._causes(node, forward, current, expected, sizes))
        if not causes:
            note = "no write was seen: a thread, an extension or a call below Python wrote to it,"
            note += " or the operator that saved the value neither took nor made it"
            return replace(found, made=self._made_by(node, forward), note=note)
        return replace(found, causes=causes)

    def _made_by(self, node: int, forward: int) -> tuple[tuple[str, Place], ...]:
        line = self._line(forward)
        what = f"{self._trace.table.name_of(node)}, which saved the value,"
        return ((what, line),) if line else ()

    def _causes(
        self, node: int, forward: int, current: int, expected: int, shape: tuple[int, ...] | None
    ) -> Iterator[Cause]:
        """One for each storage written to until the rejected version."""
        saved = (one for one in self._saved(forward) if one.state.version == expected)
        alike = ((one.state.storage, one) for one in saved if shape in (None, one.shape))
        by_storage = grouped(alike)
        for storage, some in by_storage.items():
            every = self._storages.writes(storage, forward)
            writes = [one for one in every if one.after > expected]
            if any(write.after == current for write in writes):
                yield self._cause(node, forward, some, writes)

    def _cause(self, node: int, forward: int, some: list[Saved], writes: list[Written]) -> Cause:
        link = self._linker.link(self._trace.op(node)).node
        names = tuple(dict.fromkeys(one.name for one in some if one.name))
        formulas = link.formulas if link else ()
        used = {name for name in names if [*needing(formulas, [name])]}
        saved = tuple(name for name in names if name in used) or names
        code = link.definition.location if link and link.definition and not link.entry else None
        return Cause(
            self._trace.table.name_of(node),
            self._line(forward),
            (code.path, code.line) if code else None,
            saved,
            some[0].shape,
            link.entry if link else None,
            tuple(needing(formulas, saved)),
            tuple(map(self._write, writes)),
        )

    def _saved(self, forward: int) -> Iterator[Saved]:
        """The tensors that a node may have saved, with their names in its formulas."""
        op = self._trace.op(forward)
        taken, made = self._trace.table.states_of(forward)
        schema = self._schema(op)
        for at, some in enumerate(taken):
            name = schema.arguments[at].name if schema and at < len(schema.arguments) else ""
            for one, shape in zip(some, _shapes(op, at), strict=False):
                if one:
                    yield Saved(name, one, shape)
        shapes = [tuple(map(int, re.findall(r"\d+", one))) for one in _SHAPES.findall(op.output)]
        for at, (some, shape) in enumerate(zip(made, shapes, strict=False)):
            known = schema.returns[at].name if schema and at < len(schema.returns) else None
            name = known or f"result{at if len(made) > 1 else ''}"
            yield from (Saved(name, one, shape) for one in some if one)

    def _schema(self, op: TraceOp) -> Schema | None:
        schema = self._linker.link(op).schema
        return parse_schema(schema.schema) if schema else None

    def _write(self, written: Written) -> Write:
        op, state = self._trace.op(written.use.row), written.use.state
        shape = next(iter(_shapes(op, written.use.argument)), ())
        offset = f", {state.offset} elements into the storage" if state.offset else ""
        through = f"shape {shape}{offset}"
        line = self._line(op.id)
        return Write(state.storage, written.before, written.after, op.label, through, line, None)

    # -------------------------------------------------------------------- other errors

    def stack(self, raised: Place | None) -> str:
        """The operators that were running when the line raised, named as in a C++ stack."""
        rows = self._running()
        if not rows or self._line(rows[-1]) != raised:
            return ""
        names = (self._trace.op(row).full_name.replace(".", "_") for row in rows)
        frames = "".join(f"\nat::_ops::{name}::call(" for name in names)
        return f"\nC++ CapturedTraceback:{frames}"

    def of_call(self, found: Explanation) -> Explanation:
        """Adds the operator that ran last, if the failing line called it."""
        rows = self._running()
        if not rows or self._line(rows[-1]) != found.raised_at:
            return found
        op = self._trace.op(rows[-1])
        where = f" on {op.device}" if op.device else ""
        inputs = tuple(
            f"{self._name(op, at)}{one}{where}"
            for at, one in enumerate(op.inputs)
            if one.kind in ("tensor", "tensors")
        )
        made = tuple(self._makers(op))
        return replace(found, call=op.label, given=inputs, made=made)

    def _name(self, op: TraceOp, argument: int) -> str:
        schema = self._schema(op)
        known = schema is not None and argument < len(schema.arguments)
        return f"{schema.arguments[argument].name}: " if schema and known else ""

    def _makers(self, op: TraceOp) -> Iterator[tuple[str, Place]]:
        """The lines that made an operator's inputs."""
        taken, _ = self._trace.table.states_of(op.id)
        begun = self._trace.table.start[op.id]
        for at, some in enumerate(taken):
            lives = (self._storages.life(one.storage, begun) for one in some if one)
            makers = (uses[0].row for uses in lives if uses and uses[0].argument == NONE)
            for line in dict.fromkeys(map(self._line, makers)):
                if line:
                    yield f"the storage of {self._name(op, at).rstrip(': ') or 'an input'}", line

    # ------------------------------------------------------------------------ the table

    def _last(self, kind: int) -> int | None:
        """The last row of a kind to begin."""
        table = self._trace.table
        rows = (row for row in range(len(table)) if table.kind[row] == kind)
        return max(rows, key=lambda row: (table.start[row], -table.duration[row]), default=None)

    def _running(self) -> list[int]:
        """The last operator to begin and those around it, up to the one called by the program."""
        table, row = self._trace.table, self._last(OP)
        if row is None:
            return []
        return [row, *takewhile(lambda one: table.kind[one] == OP, table.ancestors(row))]

    def _line(self, row: int) -> Place | None:
        place = self._trace.op(row).user
        return (place.path, place.line) if place else None


_SHAPES = re.compile(r"\[[\d, ]*\]")


def _shapes(op: TraceOp, argument: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of the recorded tensors of an argument."""
    one = op.inputs[argument] if NONE < argument < len(op.inputs) else Input("other")
    return (one.shape,) if one.kind == "tensor" else one.elements
