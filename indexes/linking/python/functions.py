"""What the source of a Python function says about its arguments, result and wrapping."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from indexes.linking.python.modules import Found, Module
from indexes.readers.python.scope import Function, dotted

STANDING_IN = ("classmethod", "staticmethod", "property")
"""Decorators that change how a function is called."""


def inside(node: ast.AST | None) -> ast.AST | None:
    """``f`` for ``classmethod(f)``."""
    if isinstance(node, ast.Call) and dotted(node.func) in STANDING_IN and node.args:
        return node.args[0]
    return node


def is_property(node: Function) -> bool:
    """Whether a decorator makes it an attribute: ``@property``, ``@cached_property``."""
    named = {dotted(one).rpartition(".")[2] for one in node.decorator_list}
    return any(name.endswith("property") for name in named)


def metaclass(node: ast.AST | None) -> ast.expr | None:
    """``Meta`` for ``class A(metaclass=Meta)``."""
    keywords = node.keywords if isinstance(node, ast.ClassDef) else ()
    return next((one.value for one in keywords if one.arg == "metaclass"), None)


def taken(head: Function, call: ast.Call) -> dict[str, ast.expr]:
    """The arguments of a call by parameter."""
    named = {one.arg: one.value for one in call.keywords if one.arg}
    places = [one.arg for one in (*head.args.posonlyargs, *head.args.args)]
    return {**dict(zip(places, call.args, strict=False)), **named}


def returned(head: Function) -> Iterator[str]:
    """The names that a function returns."""
    for node in ast.walk(head):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Name):
            yield node.value.id


def _wrapped(made: Function) -> Iterator[str]:
    """The names in ``@functools.wraps(x)``."""
    for one in made.decorator_list:
        if isinstance(one, ast.Call) and dotted(one.func).endswith("wraps"):
            yield from filter(None, map(dotted, one.args[:1]))


def closure(home: Module, made: ast.FunctionDef, name: str, given: dict[str, Found]) -> Found:
    """The function that another returns; one that wraps another counts as that one."""
    if around := next((given[one] for one in _wrapped(made) if one in given), None):
        return around
    end = home.ends.get(made.lineno, made.lineno)
    functions = tuple(one for one in given.values() if one.kind == "function")
    return Found("function", name, home.path, made.lineno, end, made, made_from=functions)
