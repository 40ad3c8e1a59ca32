"""Columns from the result of a profiler that the program ran; the result is not changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, NamedTuple

from ..writer import encode
from .rows import Columns, Kinds

_Inputs = Callable[[Any, bool, str], bytes]


class Seen(NamedTuple):
    """The result and which part of it to write."""

    result: Any
    since_ns: int
    """Events that began earlier are skipped."""
    places: dict[str, list[int]] | None
    """As ``Window.places``; None if all tensors are strided on the CPU: no inputs needed."""


def columns_seen(profile: Seen, kinds: Kinds, base_ns: int) -> list[Columns]:
    """Operators and ``record_function`` blocks, by thread.

    Raises:
        AttributeError: This torch lacks an attribute.
    """
    events = [one for one in profile.result.events() if not one.is_python_function()]
    if profile.places is not None and not any(one.dtypes() for one in events):
        return []
    named = any(_overload(one) for one in events)
    places = {one: place for place, ones in (profile.places or {}).items() for one in ones}
    threads: dict[int, Columns] = {}
    inputs = _inputs()
    events = [one for one in events if one.start_ns() >= profile.since_ns]
    for event in sorted(events, key=lambda one: one.start_ns()):
        thread = event.device_resource_id()
        columns = threads.setdefault(thread, Columns(thread, [], [], [], [], [], []))
        sequence = event.sequence_nr()
        columns.start.append(event.start_ns() - base_ns)
        columns.duration.append(event.duration_ns())
        text = inputs(event, named, places.get(event.correlation_id(), ""))
        columns.kind.extend(kinds.numbers([(*_name(event), text)]))
        columns.sequence.append(sequence)
        columns.forward.append(event.fwd_thread_id() if sequence >= 0 else 0)
    return [*threads.values()]


def _name(event: Any) -> tuple[bytes, bytes]:
    """The category, and the name with its overload, as torch saves them."""
    name, overload = event.name(), _overload(event)
    category = b"user_annotation" if event.is_user_annotation() else b"cpu_op"
    return category, json.dumps(f"{name}.{overload}" if overload else name).encode()[1:-1]


def _overload(event: Any) -> str:
    return str(getattr(event, "overload_name", str)())  # since 2.7


def _inputs() -> _Inputs:
    """A function that formats inputs as torch saves them, cached."""
    known: dict[str, bytes] = {}

    def write(event: Any, named: bool, place: str) -> bytes:
        sizes = getattr(event, "structured_input_shapes", event.shapes)()
        strides = getattr(event, "structured_input_strides", list[Any])()
        arguments = (event.dtypes(), sizes, strides, event.concrete_inputs())
        key = f"{place} {arguments}"
        if key not in known:
            known[key] = _written(*arguments, named, place)
        return known[key]

    return write


def _written(types: Any, sizes: Any, strides: Any, values: Any, named: bool, place: str) -> bytes:
    fields: dict[str, Any] = {} if named else {"overload": None}
    if place:
        fields["place"] = place
    if types:
        texts = ["" if value is None else str(value) for value in values]
        fields |= {"Concrete Inputs": texts, "Input type": types}
        fields |= {"Input Strides": strides, "Input Dims": sizes}
    return encode(fields)[1:-1]
