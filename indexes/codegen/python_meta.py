"""Meta kernels that PyTorch registers from Python as it is imported.

``activate_meta`` (torch/_meta_registrations.py) registers every meta function and every
decomposition of the global tables for the Meta key, with the exceptions that it lists.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from indexes.codegen.registration import Registration
from indexes.model import Location, NativeFunction
from indexes.readers.python_facts import PythonFact, unpack
from indexes.schema import parse_schema

FILE = "torch/_meta_registrations.py"
_HEAD = b"\ndef activate_meta("
_RULE = "activate_meta registers {} for the Meta key as torch is imported"


def left_to_cpp(data: bytes) -> frozenset[str] | None:
    """The operators that ``activate_meta`` leaves alone by name, such as ``clone``; None when
    the file has no such function."""
    start = data.find(_HEAD)
    if start < 0:
        return None
    end = data.find(b"\n\n\n", start + 1)
    try:
        tree = ast.parse(textwrap.dedent(data[start : end if end > 0 else None].decode()))
    except (SyntaxError, ValueError):
        return None
    names = [
        element.value
        for node in ast.walk(tree)
        if isinstance(node, (ast.Set, ast.List, ast.Tuple))
        for element in node.elts
        if isinstance(element, ast.Constant) and isinstance(element.value, str)
    ]
    return frozenset(n.removeprefix("aten::") for n in names if n.startswith("aten::"))


def python_meta(
    facts: Iterable[tuple[str, PythonFact]],
    natives: Mapping[str, NativeFunction],
    keys: Mapping[str, frozenset[str]],
    left: frozenset[str],
) -> Iterator[Registration]:
    """What ``activate_meta`` registers. ``keys``: those that each operator has kernels for."""
    overloads: dict[str, list[str]] = {}
    for full_name, native in natives.items():
        overloads.setdefault(native.name, []).append(full_name)
    chosen: dict[str, tuple[str, PythonFact]] = {}
    for path, fact in facts:
        for op in _operators(fact, overloads):
            known = chosen.get(op)
            if known is None or known[1].kind == "decomposition" != fact.kind:
                chosen[op] = (path, fact)
    for op, (path, fact) in chosen.items():
        own = keys.get(op, frozenset())
        if own and not (op in left or "CompositeImplicitAutograd" in own or _is_view(natives[op])):
            what = "a meta function" if fact.kind == "meta_registration" else "a decomposition"
            where = Location(path, fact.line, fact.end_line)
            yield Registration(op, "Meta", fact.symbol, FILE, _RULE.format(what), False, where)


def _operators(fact: PythonFact, overloads: Mapping[str, list[str]]) -> list[str]:
    """The overloads that a row of one of the global tables is for."""
    if fact.kind not in ("decomposition", "meta_registration") or not fact.target:
        return []
    detail = unpack(fact.detail)
    if "registry" in detail or "key" in detail or not fact.target.startswith("aten::"):
        return []
    name, _, overload = fact.target.removeprefix("aten::").partition(".")
    full_name = name if overload in ("", "default") else f"{name}.{overload}"
    return [o for o in overloads.get(name, []) if not overload or o == full_name]


def _is_view(native: NativeFunction) -> bool:
    """``OpOverload.is_view``: an argument is aliased, and none is written to."""
    annotated = [a for a in parse_schema(native.schema).arguments if a.annotation]
    return bool(annotated) and not any(a.mutable for a in annotated)
