"""How the arguments of a call meet the parameters of a function, as Python binds them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

Callee = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Default(NamedTuple):
    """A parameter that was not passed: the expression of its default, if it has one."""

    node: ast.expr | None


def parameters(node: Callee) -> list[ast.arg]:
    """The named parameters."""
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def is_procedure(node: Callee) -> bool:
    """A function without parameters: a part of the module that is run when it is called."""
    return not (parameters(node) or node.args.vararg or node.args.kwarg)


def required(node: Callee) -> int:
    """How many parameters have no default."""
    optional = len(node.args.defaults) + sum(one is not None for one in node.args.kw_defaults)
    return len(parameters(node)) - optional


def bind(
    node: Callee, args: Sequence[object], kwargs: Mapping[str, object]
) -> dict[str, object | Default]:
    """Each parameter's value; a :class:`Default` where none was passed."""
    spec = node.args
    named = [*spec.posonlyargs, *spec.args]
    missing = [None] * (len(named) - len(spec.defaults))
    defaults = [*missing, *spec.defaults, *spec.kw_defaults]
    rest = {**dict(zip((one.arg for one in named), args, strict=False)), **kwargs}
    bound: dict[str, object | Default] = {}
    for parameter, default in zip(parameters(node), defaults, strict=True):
        given = parameter.arg in rest
        passed = rest.pop(parameter.arg, None)
        bound[parameter.arg] = passed if given else Default(default)
    if spec.vararg:
        bound[spec.vararg.arg] = list(args[len(named) :])
    if spec.kwarg:
        bound[spec.kwarg.arg] = rest
    return bound
