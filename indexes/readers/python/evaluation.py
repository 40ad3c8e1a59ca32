"""Follows the registering statements of a Python module without running it.

Calls of the module's own helpers are followed into their bodies until a function of the
registration API is reached; values that only a run would tell are UNKNOWN.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from indexes.readers.python import expressions, registration_api
from indexes.readers.python.calls import Calls, parameters
from indexes.readers.python.values import (
    UNKNOWN,
    Called,
    Class,
    Closure,
    Deferred,
    Function,
    FunctionNode,
    Op,
    Opaque,
    Path,
    Record,
    Returned,
    Scope,
    identity,
    path,
)


class Evaluator(Calls):
    """Evaluates one module."""

    def __init__(
        self, module: str, is_package: bool = False, known: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(module, known or {})
        self.lines: dict[str, int] = {}
        """Line of the statement that bound each name of the module."""
        self._package = module if is_package else module.rpartition(".")[0]

    def run(self, tree: ast.Module) -> None:
        """Evaluates the statements of a module."""
        self.execute(tree.body, self.globals)
        self.run_procedures()

    def run_procedures(self) -> None:
        """Follows functions without parameters that this module does not call: others do."""
        for value in list(self.globals.names.values()):
            if isinstance(value, Closure) and value.function.name not in self.followed:
                self._run_procedure(value)

    def _run_procedure(self, callee: Closure) -> None:
        node = callee.node
        if isinstance(node, ast.Lambda) or _is_given_something(node) or node.decorator_list:
            return
        name = callee.function.name
        self.followed.add(name)
        self.conditions.append((f"{name}() is called", True))
        self.execute(node.body, self.scope_of(callee))
        self.conditions.pop()

    def execute(self, body: Sequence[ast.stmt], scope: Scope) -> Returned | None:
        """Evaluates statements up to the first certain ``return``."""
        maybe: Returned | None = None
        for statement in body:
            if self.exhausted():
                break
            if not self.stack:
                self.at = self.site = statement.lineno
            method = getattr(self, f"execute_{type(statement).__name__.lower()}", None)
            returned = method(statement, scope) if method else None
            if returned and returned.certain:
                return maybe or returned
            maybe = maybe or returned
        return maybe

    def execute_assign(self, node: ast.Assign, scope: Scope) -> None:
        value = self.value(node.value, scope)
        for target in node.targets:
            if isinstance(target, ast.Name) and (value is UNKNOWN or _unlabelled(value)):
                label = f"{self.module}.{target.id}" if scope is self.globals else target.id
                value = replace(value, label=label) if isinstance(value, Record) else Opaque(label)
            if isinstance(target, ast.Attribute) and target.attr == "__name__":
                self._rename(target, value, scope)
            if scope is self.globals and isinstance(target, ast.Name):
                self.lines[target.id] = self.site
            self._defer(value)
            self.bind(target, value, scope)

    def _rename(self, target: ast.Attribute, value: object, scope: Scope) -> None:
        closure = self.value(target.value, scope)
        if not isinstance(closure, Closure) or not isinstance(value, str):
            return
        if closure.function.name != value:
            model = closure.function.model or closure.function.name
            closure.function = replace(closure.function, name=value, model=model)

    def execute_annassign(self, node: ast.AnnAssign, scope: Scope) -> None:
        if node.value is not None:
            self.execute_assign(ast.Assign([node.target], node.value), scope)

    def execute_augassign(self, node: ast.AugAssign, scope: Scope) -> None:
        held = self.value(node.target, scope)
        if isinstance(held, list):
            expressions.method(held, "extend", [self.value(node.value, scope)])

    def execute_expr(self, node: ast.Expr, scope: Scope) -> None:
        self._defer(self.value(node.value, scope))

    def _defer(self, value: object) -> None:
        """Keeps a call of another module's function with an operator or function of this one."""
        if isinstance(value, Called) and not self.stack:
            passed = [*value.args, *value.kwargs.values()]
            if any(isinstance(one, (Op, Function, Closure)) for one in passed):
                self.deferred.append(Deferred(value, None, self.at, self.site))

    def execute_functiondef(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope
    ) -> None:
        owner = self.stack[0] if self.stack else ""
        function = Function(node.name, self.module, node.lineno, bool(owner), owner)
        value: object = Closure(node, scope, function)
        for decorator in reversed(node.decorator_list):
            if not self.stack:
                self.at, self.site = decorator.lineno, node.lineno
            applied = self.call(self.value(decorator, scope), ((value,), {}))
            value = applied if identity(applied) else value
        scope.names[node.name] = value
        if scope is self.globals:
            self.lines[node.name] = node.lineno

    execute_asyncfunctiondef = execute_functiondef

    def execute_classdef(self, node: ast.ClassDef, scope: Scope) -> None:
        made = Class(node.name)
        scope.names[node.name] = made
        if any(self._is_higher_order(base, scope) for base in node.bases):
            name = _given_to_super(node)
            made.makes = Op(registration_api.HIGHER_ORDER, name) if name else None
            self._define_higher_order(node, made.makes)

    def _is_higher_order(self, base: ast.expr, scope: Scope) -> bool:
        value = self.value(base, scope)
        if isinstance(value, Class):
            return value.makes is not None
        return isinstance(value, Path) and value.last == "HigherOrderOperator"

    def _define_higher_order(self, node: ast.ClassDef, made: Op | None) -> None:
        if made is not None:
            around, self.site = self.site, node.lineno
            self._register(registration_api.higher_order(made), UNKNOWN)
            self.site = around

    def execute_if(self, node: ast.If, scope: Scope) -> Returned | None:
        truth = expressions.truth(self.value(node.test, scope))
        if truth is not None:
            return self.execute(node.body if truth else node.orelse, scope)
        self.conditions.append((node.test, True))
        first = self.execute(node.body, scope)
        self.conditions[-1] = (node.test, False)
        second = self.execute(node.orelse, scope)
        self.conditions.pop()
        returned = first or second
        return Returned(returned.value, bool(first and second)) if returned else None

    def execute_for(self, node: ast.For, scope: Scope) -> Returned | None:
        for item in self.iterated(self.value(node.iter, scope)):
            self.bind(node.target, item, scope)
            returned = self.execute(node.body, scope)
            if returned is not None:
                return returned
            if self.exhausted():
                break
        return None

    def execute_with(self, node: ast.With, scope: Scope) -> Returned | None:
        for item in node.items:
            value = self.value(item.context_expr, scope)
            if item.optional_vars is not None:
                self.bind(item.optional_vars, value, scope)
        return self.execute(node.body, scope)

    def execute_try(self, node: ast.Try, scope: Scope) -> Returned | None:
        body = [*node.body, *node.orelse, *node.finalbody]
        if not self.stack or not any(map(_swallows, node.handlers)):
            return self.execute(body, scope)
        self.conditions.append(("it raises nothing", True))
        returned = self.execute(body, scope)
        self.conditions.pop()
        return returned

    def execute_return(self, node: ast.Return, scope: Scope) -> Returned:
        return Returned(self.value(node.value, scope) if node.value else None)

    def execute_import(self, node: ast.Import, scope: Scope) -> None:
        for alias in node.names:
            top = alias.name.partition(".")[0]
            scope.names[alias.asname or top] = path(alias.name if alias.asname else top)

    def execute_importfrom(self, node: ast.ImportFrom, scope: Scope) -> None:
        parents = self._package.split(".")
        base = ".".join(parents[: len(parents) - node.level + 1]) if node.level else ""
        module = ".".join(filter(None, (base, node.module or "")))
        for alias in node.names:
            scope.names[alias.asname or alias.name] = path(f"{module}.{alias.name}")


def _given_to_super(node: ast.ClassDef) -> str:
    """The operator's name in ``super().__init__("cond")``."""
    for call in (one for one in ast.walk(node) if isinstance(one, ast.Call) and one.args):
        is_init = isinstance(call.func, ast.Attribute) and call.func.attr == "__init__"
        given = call.args[0]
        if is_init and isinstance(given, ast.Constant) and isinstance(given.value, str):
            return given.value
    return ""


def _is_given_something(node: FunctionNode) -> bool:
    optional = len(node.args.defaults) + sum(one is not None for one in node.args.kw_defaults)
    return len(parameters(node)) > optional


_BROAD = frozenset(("BaseException", "Exception", "RuntimeError"))


def _swallows(handler: ast.ExceptHandler) -> bool:
    kind = handler.type
    broad = kind is None or (isinstance(kind, ast.Name) and kind.id in _BROAD)
    return broad and not any(isinstance(one, ast.Raise) for one in handler.body)


def _unlabelled(value: object) -> bool:
    """Whether a table has no name yet: it gets that of the variable."""
    if isinstance(value, Called):
        return value.callee.endswith(".get_decompositions")
    return isinstance(value, Opaque) and not value.label
