"""Variables that users set: entries of configuration modules, flags of backends."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from indexes.model.files import module_name
from indexes.readers.messages import CONFIG, FLAG, MessageFact
from indexes.readers.python.blocks import parsed

_INSTALLED = b"install_config_module("
_DEFINED = b"def install_config_module("
_PROPERTY = b"ContextProp("
_BY_NAME = (b"def __setattr__(", b'name == "')
_GETTERS = ("__getattr__", "__setattr__", "__getattribute__")


def read_variables(data: bytes, path: str) -> list[MessageFact]:
    """Where the variables of a file are defined, each under its dotted name."""
    is_config = _INSTALLED in data and _DEFINED not in data
    has_flags = _PROPERTY in data or all(mark in data for mark in _BY_NAME)
    if not (is_config or has_flags):
        return []
    tree = parsed(data, path)
    if not isinstance(tree, ast.Module):
        return []
    prefix = f"{module_name(path)}."
    found = _entries(tree, prefix) if is_config else _flags(tree, prefix)
    return list({fact.text: fact for fact in reversed(list(found))}.values())[::-1]


def _entries(block: ast.Module | ast.ClassDef, prefix: str) -> Iterator[MessageFact]:
    """The names that a configuration module, or a class in it, gives values."""
    for statement in block.body:
        if isinstance(statement, ast.ClassDef):
            yield from _entries(statement, f"{prefix}{statement.name}.")
        for name in _assigned(statement):
            if not name.startswith("_"):
                yield _fact(CONFIG, f"{prefix}{name}", statement)


def _assigned(statement: ast.stmt) -> list[str]:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign) and statement.value:
        targets = [statement.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _flags(tree: ast.Module, prefix: str) -> Iterator[MessageFact]:
    """What classes that stand for modules read and set in C++."""
    instances = dict(_instances(tree))
    for one in tree.body:
        if isinstance(one, ast.ClassDef):
            name = instances.get(one.name, "")
            yield from _of_class(one, f"{prefix}{name}.".replace("..", "."))


def _instances(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """``matmul = cuBLASModule()``: the class, and the name under which people meet it."""
    for one in tree.body:
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
            called = one.value.func
            for name in _assigned(one):
                if isinstance(called, ast.Name):
                    yield called.id, name


def _of_class(block: ast.ClassDef, prefix: str) -> Iterator[MessageFact]:
    for node in ast.walk(block):
        if isinstance(node, ast.Assign) and _makes_property(node.value):
            for name in _assigned(node):
                yield _fact(FLAG, f"{prefix}{name}", node)
        elif isinstance(node, ast.FunctionDef) and node.name in _GETTERS:
            for name, where in _compared(node):
                yield _fact(FLAG, f"{prefix}{name}", where)


def _makes_property(value: ast.expr) -> bool:
    called = value.func if isinstance(value, ast.Call) else None
    return isinstance(called, ast.Name) and called.id == "ContextProp"


def _compared(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    """``if name == "allow_tf32"``."""
    for node in ast.walk(function):
        if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq):
            other = node.comparators[0]
            if isinstance(other, ast.Constant) and isinstance(other.value, str):
                yield other.value, node


def _fact(kind: str, name: str, node: ast.stmt | ast.expr) -> MessageFact:
    return MessageFact(node.lineno, node.end_lineno or node.lineno, kind, name)
