"""What Python's indexing of a tensor calls: ``a[0] = 1`` is no ``index_put_``.

By ``applySlicing`` and ``copy_to`` in ATen/TensorIndexing.h: integers, slices and None make views
one after the other; indices that are tensors, masks or lists need ``index`` or ``index_put_``.
"""

from __future__ import annotations

import ast
from typing import Literal, NamedTuple

from indexes.readers.python import blocks

Kind = Literal["select", "slice", "unsqueeze", "", "tensor", "unknown"]

_OF_ANY = {
    "__getitem__": "index is for tensors, masks and lists as indices; an integer calls select,"
    " a slice slice, None unsqueeze",
    "__setitem__": "index_put_ is for tensors, masks and lists as indices; after integers (select)"
    " and slices (slice) it is copy_, or fill_ of a number",
}


class Subscript(NamedTuple):
    """The operators that indexing can mean, best first, and what it calls in words."""

    operators: tuple[str, ...]
    note: str


def of_method(method: str) -> Subscript:
    """What ``__getitem__`` or ``__setitem__`` calls where the indices are not known."""
    return Subscript(("index_put_" if method == "__setitem__" else "index",), _OF_ANY[method])


def subscript_of(text: str) -> Subscript | None:
    """What ``a[0]`` or ``a[0] = 1`` calls if ``a`` is a tensor; None for what Python refuses."""
    try:
        (statement,) = blocks.parse(text).body
    except (SyntaxError, ValueError):
        return None
    if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        return _of(statement.targets[0], statement.value)
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Subscript):
        return _of(statement.value, None)
    return None


def _of(node: ast.Subscript, value: ast.expr | None) -> Subscript:
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    kinds = [_kind(one) for one in indices]
    if "unknown" in kinds:
        return of_method("__getitem__" if value is None else "__setitem__")
    views = [kind for kind in dict.fromkeys(kinds) if kind not in ("", "tensor")]
    if "tensor" in kinds:
        last = ["index" if value is None else "index_put_"]
    elif value is None:
        last = [] if views else ["alias"]
    else:
        last = ["fill_", "copy_"] if isinstance(value, ast.Constant) else ["copy_", "fill_"]
    calls = ", then ".join([*views, *last[:1]])
    other = f" ({last[1]} where {_OTHERWISE[last[1]]})" if len(last) > 1 else ""
    return Subscript((*last, *reversed(views)), f"indexing calls {calls}{other}")


_OTHERWISE = {"copy_": "the shapes agree", "fill_": "the value is a number"}


def _kind(node: ast.expr) -> Kind:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if isinstance(node, ast.Slice):
        return "slice"
    if isinstance(node, ast.List | ast.Compare):
        return "tensor"
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return "unknown"
    if isinstance(node.value, int):
        return "select"
    return "unsqueeze" if node.value is None else "" if node.value is ... else "unknown"
