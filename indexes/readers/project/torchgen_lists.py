"""Reads lists of names from torchgen's source: the operators that its rules except.

``MANUAL_AUTOGRAD``, ``VIEW_FUNCTIONS``, ``STRUCTURED_DISPATCH_KEYS`` and others decide what is
generated, and differ between versions. They are evaluated without running anything: string literals
and a few operations on them.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

from indexes.model.vocabulary import Problem
from indexes.readers.python.blocks import parse
from indexes.readers.python.scope import assigned_names, texts

Names = tuple[str, ...]
ForeachRule = Literal["none", "unary", "functional", "all"]
"""Which foreach operators use the formulas of the operator they repeat: none, those of one
argument, those not in place, or all."""

_READS = "from_yaml"
_GENERATES = "add_generated_native_functions"
_GENERATED = "generate_function"
_MATCHES = "match_differentiability_info"
_REPEATS = "gen_foreach_derivativeinfo"
_CHOOSES = "is_foreach_func"
_FUNCTIONALIZES = "gen_functionalization_registration"
_IS_COMPOSITE = "has_composite_implicit_autograd_kernel"

Functionalized = Literal["none", "views", "all"]
"""Which composite operators are registered under Functionalize with their own kernels, so that they
decompose first: none, views, or all."""


@dataclass(frozen=True, slots=True)
class TorchgenLists:
    """The lists defined in one or several files of torchgen."""

    names: Mapping[str, Names] = field(default_factory=dict)
    """Lists, sets and dict keys of strings by variable, and members of enumerations."""
    fields: Names = ()
    """The accepted fields of an entry in native_functions.yaml."""
    core: bool | None = None
    """Whether operators tagged core are an exception for variants; None if unknown."""
    kept_tags: Names = ()
    """The tags that a generated variant inherits."""
    foreach: ForeachRule | None = None
    """None if the function that matches formulas was not read."""
    functionalized: Functionalized | None = None
    """None if the function that registers for functionalization was not read."""
    functionalized_by_hand: Names | None = None
    """The operators named in this function; others follow its rules."""


def read_torchgen_lists(
    data: bytes, path: str, known: TorchgenLists | None = None
) -> tuple[TorchgenLists, tuple[Problem, ...]]:
    """The lists of one file, added to those of the files it imports from."""
    known = known or TorchgenLists()
    try:
        module = parse(data)
    except SyntaxError as error:
        line = getattr(error, "lineno", None) or 1
        return known, (Problem(path, line, f"not Python: {error.__class__.__name__}"),)
    names = dict(known.names)
    for statement in module.body:
        if isinstance(statement, ast.ClassDef):
            names[statement.name] = _members(statement)
        elif not isinstance(statement, ast.FunctionDef):
            _assign(statement, names)
    pops = (_popped(one) for one in reversed(module.body) if isinstance(one, ast.ClassDef))
    functions = {one.name: one for one in module.body if isinstance(one, ast.FunctionDef)}
    generates, generated = functions.get(_GENERATES), functions.get(_GENERATED)
    registers = functions.get(_FUNCTIONALIZES)
    read = replace(
        known,
        names=names,
        fields=next(filter(None, pops), known.fields),
        core="core" in texts(generates) if generates else known.core,
        kept_tags=_kept_tags(generated) if generated else known.kept_tags,
        foreach=_foreach(functions) or known.foreach,
        functionalized=_functionalized(registers) if registers else known.functionalized,
        functionalized_by_hand=_excepted(registers) if registers else known.functionalized_by_hand,
    )
    return read, ()


def _members(cls: ast.ClassDef) -> Names:
    return tuple(name for s in cls.body if isinstance(s, ast.Assign) for name in assigned_names(s))


def _popped(cls: ast.ClassDef) -> Names:
    """The fields that ``from_yaml`` pops from an entry, none of which may be left over."""
    reads = (s for s in cls.body if isinstance(s, ast.FunctionDef) and s.name == _READS)
    calls = (n for function in reads for n in ast.walk(function) if isinstance(n, ast.Call))
    pops = (c for c in calls if isinstance(c.func, ast.Attribute) and c.func.attr == "pop")
    return tuple(text for call in pops for text in texts(call)[:1])


def _functionalized(registers: ast.FunctionDef) -> Functionalized:
    """The rule, by whether the helper that writes a registration has a branch for composite
    kernels, and whether that is one of several conditions."""
    nodes = list(ast.walk(registers))
    if any(isinstance(n, ast.BoolOp) and isinstance(n.op, ast.Or) and _asks(n) for n in nodes):
        return "all"
    helpers = [n for n in nodes if isinstance(n, ast.FunctionDef) and n is not registers]
    branches = (n for helper in helpers for n in ast.walk(helper) if isinstance(n, ast.If))
    return "views" if any(_asks(branch.test) for branch in branches) else "none"


def _excepted(registers: ast.FunctionDef) -> Names:
    """Operator names in comparisons: ``str(f.func.name) == "lift"``."""
    compared = [n for n in ast.walk(registers) if isinstance(n, ast.Compare)]
    equal = [n for n in compared if isinstance(n.ops[0], ast.Eq)]
    return tuple(dict.fromkeys(text for node in equal for text in texts(node)))


def _asks(node: ast.AST) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == _IS_COMPOSITE for n in ast.walk(node))


def _foreach(functions: Mapping[str, ast.FunctionDef]) -> ForeachRule | None:
    """The rule: versions matched none, then those of one argument, then all not in place."""
    matching = functions.get(_MATCHES)
    if matching is None:
        return None
    if _REPEATS not in functions:
        knows = any(text.startswith("_foreach") for text in texts(matching))
        return "unary" if knows else "none"
    chosen = ast.walk(functions[_CHOOSES]) if _CHOOSES in functions else ()
    excepts = any(isinstance(node, ast.Attribute) and node.attr == "inplace" for node in chosen)
    return "functional" if excepts else "all"


def _kept_tags(function: ast.FunctionDef) -> Names:
    """The tags in ``{"generated"} | (f.tags & {"view_copy"})``."""
    named = [text for node in ast.walk(function) if _sets_tags(node) for text in texts(node)]
    return tuple(dict.fromkeys(text for text in named if text != "generated"))


def _sets_tags(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return any(isinstance(t, ast.Name) and t.id == "tags" for t in node.targets)
    return isinstance(node, ast.keyword) and node.arg == "tags"


def _assign(statement: ast.stmt, names: dict[str, Names]) -> None:
    if isinstance(statement, ast.For):
        _extend(statement, names)
        return
    if not isinstance(statement, (ast.Assign, ast.AnnAssign)) or statement.value is None:
        return
    if (found := _names(statement.value, names)) is not None:
        names.update(dict.fromkeys(assigned_names(statement), found))


def _extend(loop: ast.For, names: dict[str, Names]) -> None:
    """``for key in A: B[key] = ...`` adds the names of A to B."""
    added = _names(loop.iter, names)
    for statement in loop.body:
        if added is None or not isinstance(statement, ast.Assign):
            continue
        target = statement.targets[0]
        if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            before = names.get(target.value.id, ())
            names[target.value.id] = tuple(dict.fromkeys((*before, *added)))


def _names(node: ast.expr, names: Mapping[str, Names]) -> Names | None:
    if isinstance(node, (ast.List, ast.Set, ast.Tuple)):
        return _all([_element(element, names) for element in node.elts])
    if isinstance(node, ast.Dict):
        keys = zip(node.keys, node.values, strict=True)
        return _all([_element(k, names) if k else _names(v, names) for k, v in keys])
    if isinstance(node, ast.Name):
        return names.get(node.id)
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.BitOr)):
        return _all([_names(node.left, names), _names(node.right, names)])
    if isinstance(node, ast.Call):
        return _called(node, names)
    return None


def _called(node: ast.Call, names: Mapping[str, Names]) -> Names | None:
    """``set(A.keys()).union({...})``."""
    arguments = [_names(argument, names) for argument in node.args]
    if isinstance(node.func, ast.Name):
        made = node.func.id in ("set", "frozenset", "list", "tuple", "OrderedSet")
        return _all(arguments) if made else None
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("keys", "union", "copy"):
        return _all([_names(node.func.value, names), *arguments])
    return None


def _element(node: ast.expr, names: Mapping[str, Names]) -> Names | None:
    if isinstance(node, ast.Starred):
        return _names(node.value, names)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return (node.value,)
    if isinstance(node, ast.Attribute):
        return (node.attr,)
    return None


def _all(parts: list[Names | None]) -> Names | None:
    found = [part for part in parts if part is not None]
    return tuple(dict.fromkeys(chain(*found))) if len(found) == len(parts) else None
