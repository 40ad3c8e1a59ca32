"""The schema that ``torch.library.custom_op`` infers from annotations
(torch/_library/infer_schema.py).

``def f(x: Tensor, n: int) -> Tensor`` is ``(Tensor x, SymInt n) -> Tensor``.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from indexes.readers.python.blocks import parse_expression
from indexes.readers.python.scope import last_name

_BASE = {
    "Tensor": "Tensor",
    "int": "SymInt",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "Number": "Scalar",
    "dtype": "ScalarType",
    "_dtype": "ScalarType",
    "device": "Device",
    "_device": "Device",
}
_LISTS = frozenset(("list", "List", "Sequence"))
_TUPLES = frozenset(("tuple", "Tuple"))


def inferred_schema(node: ast.FunctionDef | ast.AsyncFunctionDef, mutates: object) -> str:
    """The schema of a function's arguments and results; empty if PyTorch refuses an annotation.
    ``mutates``: the value of ``mutates_args``."""
    try:
        arguments = ", ".join(_arguments(node.args, mutates))
        return f"({arguments}) -> {_returned(node.returns)}"
    except (ValueError, SyntaxError, RecursionError):
        return ""


def _arguments(spec: ast.arguments, mutates: object) -> Iterator[str]:
    if spec.posonlyargs or spec.vararg or spec.kwarg:
        raise ValueError("neither positional-only nor variable arguments are supported")
    plain = [None] * (len(spec.args) - len(spec.defaults))
    defaults = [*plain, *spec.defaults, *spec.kw_defaults]
    first_keyword = len(spec.args)
    for at, argument in enumerate((*spec.args, *spec.kwonlyargs)):
        if at == first_keyword:
            yield "*"
        yield _argument(at, argument, defaults[at], mutates)


def _argument(at: int, argument: ast.arg, default: ast.expr | None, mutates: object) -> str:
    kind = _type(argument.annotation)
    if _is_mutated(argument.arg, mutates) and kind.startswith("Tensor"):
        kind = kind.replace("Tensor", f"Tensor(a{at}!)", 1)
    return f"{kind} {argument.arg}" + ("" if default is None else f"={_default(default)}")


def _is_mutated(name: str, mutates: object) -> bool:
    if isinstance(mutates, str):
        return mutates == "unknown"
    return isinstance(mutates, Collection) and name in mutates


def _default(node: ast.expr) -> str:
    if isinstance(node, ast.Constant):
        return f'"{node.value}"' if isinstance(node.value, str) else str(node.value)
    text = ast.unparse(node)
    return text.removeprefix("torch.")


def _type(node: ast.expr | None) -> str:
    """``Tensor?[]`` for ``list[Optional[Tensor]]``."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return _type(parse_expression(node.value))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        one, other = node.left, node.right
        return f"{_type(one if _is_none(other) else other)}?"
    if isinstance(node, ast.Subscript):
        owner = last_name(node.value)
        if owner == "Optional":
            return f"{_type(node.slice)}?"
        if owner in _LISTS:
            return f"{_type(node.slice)}[]"
    name = last_name(node)
    if name not in _BASE:
        raise ValueError(f"an annotation without a schema type: {name}")
    return _BASE[name]


def _returned(node: ast.expr | None) -> str:
    if node is None:
        raise ValueError("no annotation for the return type")
    if _is_none(node):
        return "()"
    if isinstance(node, ast.Subscript) and last_name(node.value) in _TUPLES:
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return f"({', '.join(map(_type, inner))})"
    return _type(node)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None
