"""How a version of PyTorch registers Python functions as Meta kernels.

Later versions do it in one place, ``activate_meta``, with a list of operators left to C++. Up to
1.13 ``register_meta`` and ``register_decomposition`` do it themselves, with a parameter to turn it
off.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator

from indexes.model.files import PythonFact, module_name, pack
from indexes.readers.python.blocks import Block, Text, parse, parsed

ACTIVATE = "activate_meta"
_NAMES = frozenset((ACTIVATE, "register_meta", "register_decomposition"))
_ASKS_CPP = "_dispatch_has_computed_kernel_for_dispatch_key"


def read_meta_rules(text: Text, path: str) -> Iterator[PythonFact]:
    """``meta_rule`` rows: functions that register for Meta, and operators left out."""
    for block in text.blocks:
        if block.head.name in _NAMES:
            data = text.data[block.head.start : block.end]
            if block.head.name == ACTIVATE:
                yield from _activate(_function(data), block, path, text.data)
            elif b".impl(" in data:
                yield from _decorator(_function(data), block, path)


def _function(data: bytes) -> ast.FunctionDef | None:
    try:
        statement = parse(textwrap.dedent(data.decode("utf-8", "replace"))).body[0]
    except (SyntaxError, IndexError):
        return None
    return statement if isinstance(statement, ast.FunctionDef) else None


def _rule(block: Block, path: str, target: str = "Meta", **detail: str) -> PythonFact:
    symbol = f"{module_name(path)}.{block.head.name}"
    return PythonFact("meta_rule", target, symbol, block.head.line, block.end_line, pack(**detail))


def _activate(
    function: ast.FunctionDef | None, block: Block, path: str, data: bytes
) -> Iterator[PythonFact]:
    if function is None:
        return
    yield _rule(block, path)
    for node in ast.walk(function):
        for element in node.elts if isinstance(node, (ast.Set, ast.List, ast.Tuple)) else ():
            if isinstance(element, ast.Constant) and "::" in str(element.value):
                name = str(element.value)
                yield _rule(block, path, name if "." in name else f"{name}.default")
        if isinstance(node, ast.If) and isinstance(node.body[-1], ast.Continue):
            for name in _listed(node.test, data):
                yield _rule(block, path, name)


def _listed(test: ast.expr, data: bytes) -> Iterator[str]:
    """The operators of a set of the module in a test: ``op in LEFT_TO_CPP``."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], ast.In):
        return
    container = test.comparators[0]
    name = re.escape(container.id).encode() if isinstance(container, ast.Name) else b"$^"
    found = re.search(rb"^%b\b[^=\n]*=[^=]*?^[})\]]+" % name, data, re.MULTILINE)
    listed = parsed(found[0], "") if found else None
    for node in ast.walk(listed) if isinstance(listed, ast.Module) else ():
        namespace, *rest = ast.unparse(node).removeprefix("torch.ops.").split(".")
        if isinstance(node, ast.Attribute) and len(rest) == 2:
            yield f"{namespace}::{'.'.join(rest)}"


def _decorator(function: ast.FunctionDef | None, block: Block, path: str) -> Iterator[PythonFact]:
    """The condition of its ``.impl(...)``: ``if register_dispatcher:``; empty if unknown."""
    tests = _tests_around_impl(function) if function else None
    if function is None or tests is None:
        return
    parameters = {a.arg for a in (*function.args.args, *function.args.kwonlyargs)}
    on = [t.id for t in tests if isinstance(t, ast.Name) and t.id in parameters]
    negated = [t.operand for t in tests if isinstance(t, ast.UnaryOp)]
    off = [t.id for t in negated if isinstance(t, ast.Name) and t.id in parameters]
    free = any(isinstance(t, ast.Call) and _ASKS_CPP in ast.unparse(t.func) for t in negated)
    if len(on) + len(off) == 1:
        where = "C++ has none" if free else ""
        yield _rule(block, path, on="".join(on), off="".join(off), where=where)


def _tests_around_impl(function: ast.FunctionDef) -> list[ast.expr] | None:
    """The conditions, split at ``and``, of the one call of ``.impl(...)``."""
    calls = [node for node in ast.walk(function) if _is_impl(node)]
    if len(calls) != 1:
        return None
    found: list[ast.expr] = []
    for node in ast.walk(function):
        if isinstance(node, ast.If) and any(calls[0] is n for s in node.body for n in ast.walk(s)):
            parts = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
            if isinstance(node.test, ast.BoolOp) and not isinstance(node.test.op, ast.And):
                return None
            found += parts
    return found


def _is_impl(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Attribute) and called.attr == "impl"
