"""The tensors that a recorded call took and made, with the members that TensorImpl.h declares."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from indexes.model.answers import Member
from indexes.model.schema import parse_schema
from navigator.strides import mismatch, orders
from navigator.trace.columns import NONE
from navigator.trace.link import Linker
from navigator.trace.model import Input, TensorState, TraceOp
from navigator.trace.storages.uses import Storages, Use
from navigator.trace.trace import Trace

_FLAGS = {
    "is_contiguous_": "contiguous_format",
    "is_channels_last_contiguous_": "channels_last",
    "is_channels_last_3d_contiguous_": "channels_last_3d",
}
_OUTPUT = re.compile(r"([\w.]+)\[([\d, ]*)\]")
_LIVE = "not recorded: navigator.inspect(t) reads it in the program"


@dataclass(frozen=True, slots=True)
class RecordedMember:
    """A data member with its value at the start of the call, or the reason why there is none."""

    member: Member
    value: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RecordedTensor:
    """A tensor that a call took or made."""

    name: str
    """The argument's name, or ``result``."""
    form: Input
    state: TensorState | None
    """At the start of the call; for results, at its end. None if no storage was recorded."""
    members: tuple[RecordedMember, ...]
    uses: tuple[Use, ...]
    """The outermost operators that took or made the same storage, by time."""


def recorded_tensors(trace: Trace, linker: Linker, row: int) -> tuple[RecordedTensor, ...]:
    """The tensors of a row; empty if it took and made none."""
    return tuple(_Reader(trace, linker, trace.op(row)).all())


class _Reader:
    def __init__(self, trace: Trace, linker: Linker, op: TraceOp) -> None:
        self._trace, self._op = trace, op
        self._begun = trace.table.start[op.id]
        self._storages = Storages(trace, linker)
        self._declared = linker.index.tensorimpl()
        schema = linker.link(op).schema
        self._schema = parse_schema(schema.schema) if schema else None

    def all(self) -> Iterator[RecordedTensor]:
        taken, made = self._trace.table.states_of(self._op.id)
        names = [argument.name for argument in self._schema.arguments] if self._schema else []
        for at, value in enumerate(self._op.inputs):
            name = names[at] if at < len(names) else f"argument {at}"
            states = taken[at] if at < len(taken) else ()
            yield from self._of_input(name, value, states)
        ended = self._begun + self._trace.table.duration[self._op.id]
        forms = [_made(*one) for one in _OUTPUT.findall(self._op.output)]
        for at, form in enumerate(forms):
            state = made[at][0] if at < len(made) else None
            name = "result" if len(forms) == 1 else f"result {at}"
            yield self._tensor(name, form, state, ended)

    def _of_input(
        self, name: str, value: Input, states: Sequence[TensorState | None]
    ) -> Iterator[RecordedTensor]:
        if value.kind == "tensor":
            yield self._tensor(name, value, states[0] if states else None, self._begun)
        for at, shape in enumerate(value.elements):
            state = states[at] if at < len(states) else None
            yield self._tensor(f"{name}[{at}]", Input("tensor", shape=shape), state, self._begun)

    def _tensor(
        self, name: str, form: Input, state: TensorState | None, moment: float
    ) -> RecordedTensor:
        uses = tuple(self._storages.life(state.storage, moment)) if state else ()
        members = (self._member(one, form, state, uses) for one in self._declared)
        return RecordedTensor(name, form, state, tuple(members), uses)

    def _member(
        self, member: Member, form: Input, state: TensorState | None, uses: Sequence[Use]
    ) -> RecordedMember:
        if member.name in _FLAGS:
            return self._flag(member, form)
        if member.name in ("storage_", "storage_offset_", "version_counter_"):
            return self._of_storage(member, state, uses)
        values = {
            "sizes_and_strides_": f"sizes {form.shape}, {_strides(form)}",
            "numel_": f"{math.prod(form.shape):,}",
            "data_type_": f"torch.{form.dtype}" if form.dtype else "",
            "device_opt_": "cpu" if self._op.device == "cpu" else "",
        }
        value = values.get(member.name, "")
        reasons = {
            "device_opt_": f"the call ran on {self._op.device}, which tensors are there is not "
            "recorded",
            "key_set_": f"recorded of the call, not of each tensor: {', '.join(self._op.keys)}",
        }
        return RecordedMember(member, value, "" if value else reasons.get(member.name, _LIVE))

    def _of_storage(
        self, member: Member, state: TensorState | None, uses: Sequence[Use]
    ) -> RecordedMember:
        if state is None:
            return RecordedMember(
                member, "", "no storage was recorded: the compiled recorder records it"
            )
        if member.name == "storage_offset_":
            return RecordedMember(member, f"{state.offset:,}")
        if member.name == "version_counter_":
            if state.version < 0:
                return RecordedMember(member, "", "it has none: made in inference mode")
            return RecordedMember(member, str(state.version))
        made = ""
        if uses and uses[0].argument == NONE:
            made = f", made by {self._trace.op(uses[0].row).label}"
        return RecordedMember(member, f"#{state.storage}{made}")

    def _flag(self, member: Member, form: Input) -> RecordedMember:
        order = orders(len(form.shape)).get(_FLAGS[member.name])
        if form.strides is None or len(form.strides) != len(form.shape):
            return RecordedMember(member, "", "its strides are not recorded")
        if order is None:
            return RecordedMember(member, "False: it has another number of dimensions")
        why = mismatch(form.shape, form.strides, order)
        return RecordedMember(member, f"False: {why}" if why else "True, by its strides")


def _strides(form: Input) -> str:
    return "strides not recorded" if form.strides is None else f"strides {form.strides}"


def _made(dtype: str, shape: str) -> Input:
    return Input("tensor", dtype, tuple(map(int, re.findall(r"\d+", shape))))
