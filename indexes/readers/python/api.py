"""Python entry points: which operator a function, Tensor method or Module of the API calls.

Read in the files of the public API. A function leads to the calls whose results it returns, and to
every call of a generated binding (``torch._C._nn.x``, ``_VF.x``).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from typing import NamedTuple

from indexes.model.files import PythonFact, PythonKind, canonical, module_name, pack
from indexes.model.regex import regex
from indexes.model.vocabulary import Problem
from indexes.readers.python.blocks import (
    Block,
    Text,
    blocks,
    parsed,
    without_bodies,
    without_strings,
)
from indexes.readers.python.references import read_imports
from indexes.readers.python.scope import assigned_names, ends_of

_API_FILES = regex(
    r"(?:^|/)torch/(?:nn/functional|functional|_tensor|tensor|nn/modules/\w+"
    r"|(?:special|linalg|fft|sparse|nested)/__init__|signal/windows/windows)\.py$"
)
_CALLABLE = regex(
    r"torch\.(?:(?:nn\.functional|linalg|special|fft|sparse|nested|Tensor|_VF|_C\._\w+"
    r"|_C\.\w*TensorBase|ops\.\w+)\.)?[a-z_]\w*$|torch\.ops(?:\.\w+){3}$"
)
"""Patterns of names that may be operators."""
_MODULES = "torch/nn/modules/"
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_BINDINGS = regex(r"torch\.(?:_VF|_C\._\w+)\.\w+$")
"""Modules with nothing but generated bindings."""


def is_api_file(path: str) -> bool:
    """Whether a file is part of the public Python API."""
    return bool(_API_FILES.search(path))


class _Call(NamedTuple):
    target: str
    line: int
    returned: bool

    def detail(self, **more: int) -> str:
        binding = int(bool(_BINDINGS.match(self.target)))
        return pack(**more, call=self.line, returned=int(self.returned), binding=binding)


def read_api(text: Text, path: str) -> tuple[list[PythonFact], list[Problem]]:
    """The functions, methods, modules and plain aliases of a file, each with its calls."""
    source = without_strings(text.data, text.strings)
    if _MODULES in path:
        source = without_bodies(source, _other_methods(source))
    tree = parsed(source, path)
    if isinstance(tree, Problem):
        return [], [tree]
    reader = _Reader(path, tree, ends_of(text.blocks), read_imports(text.data, path))
    return list(reader.facts()), []


def _other_methods(data: bytes) -> list[Block]:
    """Methods of ``nn.Module`` classes for set-up, state and printing, not for ``forward``."""
    return [
        block
        for block in blocks(data)
        if not block.head.is_class
        and block.head.name != "forward"
        and (
            block.head.name.startswith("__")
            or not _FUNCTIONAL.search(data, block.head.start, block.end)
        )
    ]


_FUNCTIONAL = regex(rb"(?<![\w.])(?:F|_VF|torch\._C\._nn)\.")


class _Body:
    """The calls, returned values and assignments of a function, from one walk."""

    def __init__(self, node: _Function) -> None:
        self.calls: list[ast.Call] = []
        self._returned: list[ast.expr | None] = []
        self._assigned: dict[str, list[ast.expr]] = {}
        for one in (part for statement in node.body for part in ast.walk(statement)):
            if isinstance(one, ast.Call):
                self.calls.append(one)
            elif isinstance(one, ast.Return):
                self._returned.append(one.value)
            elif isinstance(one, ast.Assign):
                self._assign(one)
        self.calls.sort(key=lambda call: (call.lineno, call.col_offset))

    def _assign(self, node: ast.Assign) -> None:
        for target in node.targets:
            for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                if isinstance(name, ast.Name):
                    self._assigned.setdefault(name.id, []).append(node.value)

    def tails(self) -> set[int]:
        """Identities of the calls whose results are returned."""
        return {
            id(call)
            for value in self._returned
            for call in _tail_calls(value, self._assigned, set())
        }


class _Reader:
    def __init__(
        self, path: str, tree: ast.Module, ends: dict[int, int], imports: dict[str, str]
    ) -> None:
        self._tree = tree
        self._ends = ends
        self._module = module_name(path)
        self._body = cache(_Body)
        self._scope = imports
        self._public = _PUBLIC.get(self._module, self._module)
        names = (node.name for node in tree.body if isinstance(node, _Function))
        self._scope.update({name: f"{self._public}.{name}" for name in names})
        assigned = (name for node in tree.body for name in assigned_names(node))
        self._scope.update({name: f"{self._public}.{name}" for name in assigned})

    def facts(self) -> Iterator[PythonFact]:
        for node in self._tree.body:
            if self._module.startswith("torch.nn.modules"):
                if isinstance(node, ast.ClassDef):
                    yield from self._nn_module(node)
            elif isinstance(node, _Function):
                yield from self._callable("functional", f"{self._public}.{node.name}", node)
            elif isinstance(node, ast.ClassDef) and node.name in {"Tensor", "_TensorBase"}:
                yield from self._tensor(node)
            else:
                yield from self._alias(node, self._public)

    def _callable(self, kind: PythonKind, symbol: str, node: _Function) -> Iterator[PythonFact]:
        end = self._ends.get(node.lineno, 0)
        calls = {call.target: call for call in reversed(list(self._calls(node)))}
        for call in reversed(calls.values()):
            target = _operator(call.target)
            yield PythonFact(kind, target, symbol, node.lineno, end, call.detail())
        yield PythonFact(kind, symbol, symbol, node.lineno, end, "")

    # ------------------------------------------------------------------------ classes

    def _tensor(self, node: ast.ClassDef) -> Iterator[PythonFact]:
        for item in node.body:
            if isinstance(item, _Function):
                yield from self._callable("method", f"torch.Tensor.{item.name}", item)
            else:
                yield from self._alias(item, "torch.Tensor")

    def _nn_module(self, node: ast.ClassDef) -> Iterator[PythonFact]:
        methods = self._methods(node)
        forward = methods.get("forward")
        if forward is None:
            return
        calls = {
            call.target: call
            for method in self._reached(methods)
            for call in self._calls(method, every_functional=True)
        }
        for call in calls.values():
            detail = call.detail(forward=forward.lineno)
            symbol = f"torch.nn.{node.name}"
            target = _operator(call.target)
            end = self._ends.get(node.lineno, 0)
            yield PythonFact("module", target, symbol, node.lineno, end, detail)

    def _methods(self, node: ast.ClassDef) -> dict[str, ast.FunctionDef]:
        classes = {one.name: one for one in self._tree.body if isinstance(one, ast.ClassDef)}
        found: dict[str, ast.FunctionDef] = {}
        for name in (base.id for base in reversed(node.bases) if isinstance(base, ast.Name)):
            if name in classes and name != node.name:
                found.update(self._methods(classes[name]))
        found.update({one.name: one for one in node.body if isinstance(one, ast.FunctionDef)})
        return found

    # -------------------------------------------------------------------------- calls

    def _alias(self, node: ast.stmt, prefix: str) -> Iterator[PythonFact]:
        """``gelu = _add_docstr(torch._C._nn.gelu, ...)``, ``max_pool2d = boolean_dispatch(...)``"""
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            return
        symbol = f"{prefix}.{node.targets[0].id}"
        named = [node.value]
        if isinstance(node.value, ast.Call):
            named = [*node.value.args, *(keyword.value for keyword in node.value.keywords)]
        for value in named:
            target = self._resolve(_dotted(value), {})
            if target != symbol and _CALLABLE.match(target):
                target = _operator(target)
                yield PythonFact("alias", target, symbol, node.lineno, node.end_lineno or 0, "")

    def _calls(self, node: _Function, every_functional: bool = False) -> Iterator[_Call]:
        body = self._body(node)
        tensors = _tensor_parameters(node)
        tails = body.tails()
        for call in body.calls:
            target = self._resolve(_dotted(call.func), tensors)
            always = bool(_BINDINGS.match(target)) or (
                every_functional and target.startswith("torch.nn.functional.")
            )
            if (id(call) in tails or always) and _CALLABLE.match(target):
                yield _Call(target, call.lineno, id(call) in tails)

    def _reached(self, methods: dict[str, ast.FunctionDef]) -> list[ast.FunctionDef]:
        """``forward`` and the methods it calls on ``self``."""
        reached = {"forward": methods["forward"]}
        open_ = [methods["forward"]]
        while open_:
            for call in self._body(open_.pop()).calls:
                head, _, name = _dotted(call.func).partition(".")
                if head == "self" and name in methods and name not in reached:
                    reached[name] = methods[name]
                    open_.append(methods[name])
        return list(reached.values())

    def _resolve(self, dotted: str, tensors: dict[str, str]) -> str:
        """The full path of a name in this file; empty if it is not PyTorch's."""
        head, _, rest = dotted.partition(".")
        base = tensors.get(head) or self._scope.get(head, "")
        return f"{base}.{rest}" if base and rest else base


def _operator(dotted: str) -> str:
    """The normal form of a target: ``aten::add.Tensor`` for ``torch.ops.aten.add.Tensor``."""
    if dotted.startswith("torch.ops."):
        return dotted.removeprefix("torch.ops.").replace(".", "::", 1)
    return canonical(dotted)


_PUBLIC = {
    "torch.functional": "torch",
    "torch.tensor": "torch",
    "torch._tensor": "torch",
    "torch.signal.windows.windows": "torch.signal.windows",
}


def _dotted(node: ast.expr) -> str:
    """``a.b.c``; only the name for a method of ``-a`` or ``a[...]``; else empty."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if parts and isinstance(node, ast.UnaryOp):
        node = node.operand
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _tail_calls(
    node: ast.expr | None, assigned: dict[str, list[ast.expr]], seen: set[str]
) -> Iterator[ast.Call]:
    if isinstance(node, ast.Call):
        yield node
        if isinstance(node.func, ast.Attribute):
            yield from _tail_calls(node.func.value, {}, seen)
    elif isinstance(node, ast.Name) and node.id not in seen:
        seen.add(node.id)
        for value in assigned.get(node.id, ()):
            yield from _tail_calls(value, assigned, seen)
    else:
        for part in _parts(node):
            yield from _tail_calls(part, assigned, seen)


def _parts(node: ast.expr | None) -> Iterable[ast.expr]:
    if isinstance(node, ast.IfExp):
        return (node.body, node.orelse)
    if isinstance(node, (ast.Tuple, ast.List)):
        return node.elts
    return (node.value,) if isinstance(node, (ast.Subscript, ast.Starred)) else ()


def _tensor_parameters(node: _Function) -> dict[str, str]:
    """Parameters annotated as tensors, or named ``input`` without annotation."""
    return {
        one.arg: "torch.Tensor"
        for one in [*node.args.args, *node.args.kwonlyargs]
        if (one.annotation is None and one.arg == "input")
        or (one.annotation is not None and _dotted(one.annotation) in _TENSOR)
    }


_TENSOR = {"Tensor", "torch.Tensor"}
