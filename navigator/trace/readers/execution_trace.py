"""Reads ExecutionTrace (Chakra) files of both generations: with fields, or ``attrs``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from indexes.model.schema import parse_schema
from navigator.trace.columns import NONE
from navigator.trace.readers.chunks import Surroundings, event_chunks
from navigator.trace.readers.events import whole_objects
from navigator.trace.readers.ranked import Item, build, raw_inputs
from navigator.trace.table import ANNOTATION, OP, RawInputs
from navigator.trace.trace import BadTrace, Trace, Watch

_HEAD = re.compile(rb'\s*\{\s*"schema"\s*:\s*"1\.')
_USER_SCOPE = 7
_TENSOR = re.compile(r"Tensor\((?P<type>[^()]*)\)")
_UNDEFINED = "Tensor(nullptr"
_NEXT_NODE = re.compile(
    rb'\}\s*,\s*(?=\{\s*(?:"id"\s*:|"name"\s*:\s*"(?:[^"\\]|\\.)*"\s*,\s*"id"\s*:))'
)
"""Separator of nodes: in the first generation, nodes start with their name. Attributes of a node
have names too, but no id."""
_ARRAY = re.compile(rb'"nodes"\s*:\s*\[')

Node = dict[str, Any]


def recognises(_path: Path, head: bytes) -> bool:
    return _HEAD.match(head) is not None


def read(path: Path, _watch: Watch) -> Trace:
    """Read an ExecutionTrace. Raises BadTrace if it has no nodes."""
    around = Surroundings()
    nodes: list[Node] = []
    bad = 0
    for chunk in event_chunks(path, around, _ARRAY, _NEXT_NODE):
        objects, damaged = whole_objects(chunk)
        nodes += [_flat(node) for node in objects if isinstance(node.get("id"), int)]
        bad += damaged
    trace = Trace()
    trace.meta.path, trace.meta.format = str(path), "execution trace"
    trace.meta.complete, trace.meta.overloads = not around.truncated, True
    trace.meta.lacks.append(
        "times, lines of the user's program and device kernels: an ExecutionTrace holds none, "
        "torchnav trace records them"
    )
    if bad:
        trace.meta.problems.append(f"{bad} nodes could not be read")
    trace.meta.problems += around.left_out
    if around.truncated:
        trace.meta.problems.append(f"the file ends in the middle of a node: {len(nodes)} nodes")
    if not nodes:
        raise BadTrace(f"{path} holds no node of an ExecutionTrace")
    build(trace, list(_items(nodes)))
    return trace


def _flat(node: Node) -> Node:
    """The fields of either generation under the first generation's names."""
    attributes = node.get("attrs")
    if not isinstance(attributes, list):
        return node
    named = {
        str(attribute.get("name")): attribute.get("value")
        for attribute in attributes
        if isinstance(attribute, dict)
    }
    return {
        "name": node.get("name"),
        "parent": node.get("ctrl_deps"),
        **named,
        "id": node.get("id"),
        **_columns("input", node.get("inputs")),
        **_columns("output", node.get("outputs")),
    }


def _columns(prefix: str, part: object) -> Node:
    """``inputs``, ``input_shapes`` ... in the part that has all of them."""
    if not isinstance(part, dict):
        return {}
    return {
        f"{prefix}s" if key == "values" else f"{prefix}_{key}": part.get(key)
        for key in ("values", "shapes", "types", "strides")
    }


def _items(nodes: list[Node]) -> Iterator[Item]:
    """Nodes are written at their end; ids are in order of start."""
    ordered = sorted(nodes, key=lambda node: int(node["id"]))
    operators = [node for node in ordered if not str(node.get("name", "")).startswith("[pytorch|")]
    rank = {node["id"]: position for position, node in enumerate(operators)}
    for node in operators:
        name, schema = str(node.get("name", "")), node.get("op_schema")
        yield Item(
            kind=ANNOTATION if node.get("scope") == _USER_SCOPE else OP,
            name=name,
            overload=_overload(schema),
            parent=rank.get(_id(node.get("parent")), NONE),
            thread=str(node.get("tid", 0)),
            inputs=_inputs(node),
            output=_outputs(node),
            sequence=_number(node.get("seq_id"), NONE),
            forward_thread=_number(node.get("fw_tid"), 0),
            place=_place(node),
        )


def _id(value: object) -> int:
    """A parent is a number, in some files a list of them."""
    if isinstance(value, list):
        value = value[0] if value else NONE
    return _number(value, NONE)


def _number(value: object, otherwise: int) -> int:
    return value if isinstance(value, int) and abs(value) < 2**63 else otherwise


def _overload(schema: object) -> str | None:
    try:
        return parse_schema(str(schema)).overload if schema else None
    except ValueError:
        return None


def _list(node: Node, key: str) -> list[Any]:
    value = node.get(key)
    return value if isinstance(value, list) else []


def _inputs(node: Node) -> RawInputs | None:
    types = [str(one) for one in _list(node, "input_types")]
    if not types:
        return None
    values = _list(node, "inputs")
    shown = [
        "" if "Tensor" in kind else _text(value) for kind, value in zip(types, values, strict=False)
    ]
    kinds = [_kind(kind) for kind in types]
    strides = _list(node, "input_strides")
    return raw_inputs(kinds, _list(node, "input_shapes"), strides, shown)


def _kind(kind: str) -> str:
    """``float`` for ``Tensor(float)``, as in profiles; a list by its element type."""
    tensor = _TENSOR.fullmatch(kind)
    if tensor:
        return tensor["type"]
    if kind.startswith(("GenericList", "Tuple")):
        return "TensorList" if "Tensor" in kind else "ScalarList"
    return "None" if kind.startswith(_UNDEFINED) else kind


def _text(value: object) -> str:
    """A scalar in the profiles' format, in which floats have a point."""
    if isinstance(value, float):
        return f"{value:g}" if value % 1 else f"{value:g}."
    return "" if value is None or value == "<None>" else str(value).replace("'", "")


def _outputs(node: Node) -> str:
    shapes, types = _list(node, "output_shapes"), _list(node, "output_types")
    parts = [f"{_kind(str(kind))}{shape}" for kind, shape in zip(types, shapes, strict=False)]
    return ", ".join(parts)


def _place(node: Node) -> str:
    """The device of the first tensor that is not on the CPU."""
    for value in _list(node, "inputs"):
        if isinstance(value, list) and len(value) == 6 and isinstance(value[5], str):
            device = value[5].lower()
            if device not in ("", "cpu"):
                return device
    return ""
