"""Registrations in Python files: decompositions, meta functions, lowerings, symbolics ...

Only statements that can register are parsed, in a skeleton of the file: functions that do not use
the registration API have empty bodies, on the same lines.
"""

from __future__ import annotations

import ast
import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from typing import cast

from indexes.model.files import PythonFact, PythonKind, module_name, pack, unpack
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.python import registration_api
from indexes.readers.python.blocks import Block, Text, occurrences, parsed, without_bodies
from indexes.readers.python.evaluation import Evaluator
from indexes.readers.python.scope import ends_of
from indexes.readers.python.values import (
    UNKNOWN,
    Called,
    Closure,
    Deferred,
    Function,
    Op,
    Opaque,
    Path,
    Registration,
)

_API = (
    *registration_api.NAMES,
    registration_api.OVERRIDE,
    "py_impl",
    "_make_prim",
    "HigherOrderOperator",
)
_MARKS = (
    *(b"register_", b"impl", b"make_fallback", b"onnx_symbolic", b"_make_prim"),
    *(b"custom_op", b"triton_op", b".define(", b"(HigherOrderOperator"),
)
_TOUCHES = regex(
    rb"(?<![\w])(?:%s)\b|\.impl\(|\.define\(|(?<=[(@ ])impl\("
    % b"|".join(name.encode() for name in _API)
)


REFS = "torch/_refs/"
"""The folder whose public functions count without registration."""


def touches_api(data: bytes) -> bool:
    """Whether a file can register anything."""
    return any(True for _ in _touches(data))


def _touches(data: bytes) -> Iterator[int]:
    """Offsets of API names. Searched only where a name may stand, since a plain regex over every
    file would be the most expensive part of reading."""
    for mark in _MARKS:
        for at in occurrences(data, mark):
            if _TOUCHES.search(data, max(at - 8, 0), at + 40):
                yield at


def read_registrations(text: Text, path: str) -> tuple[list[PythonFact], list[Problem]]:
    """The registrations of a file, and those that depend on other files."""
    tree, evaluator = _skeleton(text, path), _evaluator(path)
    if isinstance(tree, Problem):
        return [], [tree]
    try:
        evaluator.run(tree)
    except RecursionError:
        return [], [Problem(path, 0, "not read: expressions nested too deeply")]
    ends = ends_of(text.blocks)
    facts = [registration_fact(found, evaluator.module, ends) for found in evaluator.registrations]
    facts = list(_with_refusals(facts, text))
    facts = [_at_schema(fact, text) if fact.kind == "operator" else fact for fact in facts]
    facts += [_deferred_fact(found, ends) for found in evaluator.deferred if _promising(found)]
    facts += [PythonFact("imported", "", *at, 0) for at in evaluator.imported.items()]
    facts += _references(evaluator, ends)
    return list(dict.fromkeys(facts)), []


def read_again(text: Text, path: str, known: Mapping[str, object]) -> list[PythonFact]:
    """The registrations of a file with known values for names of other modules."""
    evaluator = run_module(text, path, known)
    found = evaluator.registrations if evaluator else ()
    return [registration_fact(one, module_name(path), ends_of(text.blocks)) for one in found]


def _with_refusals(facts: list[PythonFact], text: Text) -> Iterator[PythonFact]:
    """Notes for each decomposition whether it may return NotImplemented."""
    lines = _refusing(text)
    for fact in facts:
        if fact.kind == "decomposition" and fact.line in lines:
            fact = fact._replace(detail="; ".join(filter(None, (fact.detail, "declines=1"))))
        yield fact


def _refusing(text: Text) -> set[int]:
    found: set[int] = set()
    refusals = list(occurrences(text.data, b"return NotImplemented"))
    while refusals:
        fresh = [
            block.head
            for block in text.blocks
            if block.head.line not in found
            and bisect_right(refusals, block.head.start) < bisect_left(refusals, block.end)
        ]
        found.update(head.line for head in fresh)
        calls = (f"return {head.name}(".encode() for head in fresh)
        refusals = sorted(at for call in calls for at in occurrences(text.data, call))
    return found


def _at_schema(fact: PythonFact, text: Text) -> PythonFact:
    """A definition moved to the line of its schema in a list above."""
    schema = unpack(fact.detail).get("schema", "")
    at = text.data.find(schema.encode("utf-8", "replace")) if schema else -1
    line = text.data.count(b"\n", 0, at) + 1
    if at < 0 or line >= fact.line or "inferred" in fact.detail:
        return fact
    return fact._replace(line=line, detail=f"{fact.detail}; def={fact.line}")


def run_module(
    text: Text, path: str, known: Mapping[str, object] | None = None
) -> Evaluator | None:
    """A file with the values of its names; None if unreadable."""
    tree, evaluator = _skeleton(text, path), _evaluator(path, known)
    try:
        if not isinstance(tree, Problem):
            evaluator.run(tree)
    except RecursionError:
        return None
    return evaluator


def _evaluator(path: str, known: Mapping[str, object] | None = None) -> Evaluator:
    return Evaluator(module_name(path), path.endswith("/__init__.py"), known)


# ------------------------------------------------------------------------------ skeleton


def _skeleton(text: Text, path: str) -> ast.Module | Problem:
    """The statements of a file, with functions emptied that register nothing."""
    data, extents = text.data, text.blocks
    relevant = _relevant_functions(data, extents)
    outer = [one for one in extents if one.head.parent < 0 and one.head.start not in relevant]
    return parsed(without_bodies(data, outer), path)


def _relevant_functions(data: bytes, extents: list[Block]) -> set[int]:
    """Offsets of the functions that use the API, directly or through another one."""
    relevant = _makers(data, extents)
    outer = [block for block in extents if block.head.parent < 0 and not block.head.is_class]
    starts = [block.head.start for block in outer]
    relevant.update(_made_operators(data, starts))
    relevant.update(_higher_order(data, extents))
    fresh = list(_touches(data))
    while fresh:
        around = {(bisect_right(starts, at) - 1, at) for at in fresh}
        inside = {i for i, at in around if i >= 0 and at < outer[i].end}
        new = [outer[i] for i in inside if starts[i] not in relevant]
        relevant.update(block.head.start for block in new)
        names = {block.head.name.encode() for block in new}
        fresh = [at for name in names for at in occurrences(data, name + b"(")]
    return relevant


_MAKES_OPERATOR = regex(rb"\n[ \t]*@(?:[\w.]+\.)?(?:custom_op|triton_op)\(")


def _made_operators(data: bytes, starts: list[int]) -> Iterator[int]:
    for found in _MAKES_OPERATOR.finditer(data):
        at = bisect_right(starts, found.start())
        if at < len(starts):
            yield starts[at]


_DERIVES = regex(rb"[ \t]*class[^\n]*\bHigherOrderOperator\)")


def _higher_order(data: bytes, extents: list[Block]) -> Iterator[int]:
    for block in extents:
        if block.head.is_class and _DERIVES.match(data, block.head.start):
            yield block.head.start


_MADE = regex(rb"\n(?:\w+(?:(?:, ?\w+)+|: [^\n=]+)? =|[ \t]*for [^\n]* in) (\w+)\(")
_CALLED = regex(rb"(?<![\w.])(\w+)\(")
_SMALL = 1500


def _makers(data: bytes, extents: list[Block]) -> set[int]:
    """Offsets of small functions whose result the module assigns or iterates over, such as sets of
    operators, and of those that they call."""
    small = {
        block.head.name: block
        for block in extents
        if not block.head.is_class
        and block.head.parent < 0
        and block.end - block.head.start < _SMALL
    }
    found: set[str] = set()
    pending = {match.decode() for match in _MADE.findall(data)} & small.keys()
    while pending:
        found |= pending
        texts = (data[small[name].head.start : small[name].end] for name in pending)
        called = {name.decode() for text in texts for name in _CALLED.findall(text)}
        pending = called & small.keys() - found
    return {small[name].head.start for name in found}


# --------------------------------------------------------------------------------- facts


def registration_fact(found: Registration, module: str, ends: dict[int, int]) -> PythonFact:
    """The row of a registration, at the function itself if it is one of the file."""
    function = found.function
    own = function is not None and not function.inner and not function.model
    own = own and function is not None and function.module == module
    line = function.line if own and function else found.site
    kind = found.kind if found.target else "unresolved"
    detail = pack(
        at=found.at if found.at != line else 0,
        by=found.helper,
        when=found.condition,
        of=_model(function) if not own else "",
        table=found.kind if not found.target else "",
        expression=found.text,
        **found.detail,
    )
    symbol = f"{module}.{_name(found)}" if _name(found) else module
    return PythonFact(
        cast("PythonKind", kind), found.target, symbol, line, ends.get(line, 0), detail
    )


def _name(found: Registration) -> str:
    if found.function and not found.function.inner and found.function.name != "<lambda>":
        return found.function.name
    return found.helper


def _model(function: Function | None) -> str:
    if function is None or function.inner:
        return ""
    return f"{function.module}.{function.model or function.name}@{function.line}"


_REFS = "torch._refs"


def _references(evaluator: Evaluator, ends: dict[int, int]) -> Iterator[PythonFact]:
    """The public functions of ``torch._refs.x``, the references of ``torch.x``."""
    if not evaluator.module.startswith(_REFS):
        return
    base = "torch" + evaluator.module.removeprefix(_REFS).removesuffix("._conversions")
    public = evaluator.globals.get("__all__")
    for name, value in evaluator.globals.names.items():
        listed = not isinstance(public, list) or name in public or name.rstrip("_") in public
        line = evaluator.lines.get(name, 0)
        if line and listed and not name.startswith("_") and not isinstance(value, Path):
            symbol = f"{evaluator.module}.{name}"
            yield PythonFact("ref", f"{base}.{name}", symbol, line, ends.get(line, 0))


# ------------------------------------------------------------------- across two modules


def _promising(found: Deferred) -> bool:
    """Whether another module's function may register: PyTorch's helpers, not library wrappers."""
    return found.call.callee.startswith("torch.") and "wrapper" not in found.call.callee


def _deferred_fact(found: Deferred, ends: dict[int, int]) -> PythonFact:
    function = found.applied_to
    line = function.line if function else found.site
    call = {
        "args": [encode(value) for value in found.call.args],
        "kwargs": {key: encode(value) for key, value in found.call.kwargs.items()},
        "function": encode(function) if function else None,
        "at": found.at,
        "site": found.site,
    }
    detail = json.dumps(call, separators=(",", ":"))
    return PythonFact("deferred", "", found.call.callee, line, ends.get(line, 0), detail)


def encode(value: object) -> object:
    """A value as JSON; None if unknown."""
    if isinstance(value, Op):
        return {"op": [value.namespace, value.name, value.overload]}
    if isinstance(value, Path):
        return {"path": value.dotted}
    if isinstance(value, Closure):
        value = value.function
    if isinstance(value, Function):
        return {"function": [value.name, value.module, value.line]}
    if isinstance(value, (list, tuple)):
        return {"list": [encode(one) for one in value]}
    return {"constant": value} if isinstance(value, (str, int)) or value is None else None


def decode(value: object) -> object:
    """The inverse of :func:`encode`."""
    if not isinstance(value, dict):
        return Opaque()
    kind, held = next(iter(value.items()))
    if kind == "op":
        return Op(*held)
    if kind == "path":
        return Path(held)
    if kind == "function":
        return Function(*held)
    if kind == "list":
        return [decode(one) for one in held]
    return held if kind == "constant" else UNKNOWN


# ------------------------------------------------------------------ registered by name


_SYMBOLICS = regex(r"onnx/symbolic_opset(\d+)\.py$")
_TAKES_GRAPH = regex(rb"def\s+\w+\(\s*g\s*[,:)]")


def registers_by_name(path: str, data: bytes) -> bool:
    """Whether a file's functions are ONNX symbolics by name alone, as in versions that register
    whole modules: ``symbolic_opset9.add``."""
    return bool(_SYMBOLICS.search(path)) and b"onnx_symbolic" not in data


def read_symbolics(text: Text, path: str) -> Iterator[PythonFact]:
    """The symbolics of such a file: public functions with ``g``, the graph, as first parameter."""
    opset = _SYMBOLICS.search(path)
    for block in text.blocks:
        head = block.head
        if head.parent >= 0 or head.indent or head.name.startswith(("_", "prim_")):
            continue
        if _TAKES_GRAPH.match(text.data, head.start):
            detail = pack(opset=opset[1] if opset else "")
            symbol = f"{module_name(path)}.{head.name}"
            target = f"aten::{head.name}"
            yield PythonFact("onnx", target, symbol, head.line, block.end_line, detail)


def called(fact: PythonFact) -> tuple[Called, Function | None, int, int]:
    """The call in a ``deferred`` fact, with the function it was applied to."""
    held = json.loads(fact.detail)
    kwargs = {key: decode(value) for key, value in held["kwargs"].items()}
    call = Called(fact.symbol, tuple(decode(one) for one in held["args"]), kwargs)
    function = decode(held["function"]) if held["function"] else None
    return call, cast("Function | None", function), held["at"], held["site"]
