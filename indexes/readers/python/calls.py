"""Follows calls into the module's own helpers and to PyTorch's registration API.

Registrations are recorded; calls of other modules' functions are kept for later.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cache

from indexes.model.regex import regex
from indexes.readers.python import expressions, registration_api
from indexes.readers.python.expressions import Expressions
from indexes.readers.python.inferred_schema import inferred_schema
from indexes.readers.python.registration_api import Arguments, Texts
from indexes.readers.python.scope import last_name
from indexes.readers.python.values import (
    UNKNOWN,
    Called,
    Callee,
    Closure,
    Deferred,
    Function,
    Generator,
    Library,
    Op,
    Partial,
    Path,
    Pending,
    Registration,
    Returned,
    Scope,
    Wraps,
    identity,
    leaves,
    named_after,
)

_MAX_DEPTH = 12
_OF_A_MODULE = regex(r"torch\.(?!ops\.)\w+\.")


class Calls(Expressions):
    """Evaluates calls and collects ``registrations`` and ``deferred`` calls."""

    def __init__(self, module: str, known: Mapping[str, object]) -> None:
        super().__init__(module, known)
        self.registrations: list[Registration] = []
        self.deferred: list[Deferred] = []
        self.globals = Scope()
        self.followed: set[str] = set()
        self.at = 0
        self.site = 0
        self.stack: list[str] = []
        """The module's own functions that are being followed."""
        self.conditions: list[tuple[ast.expr | str, bool]] = []
        """The undecided tests of the ``if`` statements around, and which branch is taken."""
        self.operators: dict[Function | None, str] = {}
        """The operators that functions of the module were made."""
        self.imported: dict[str, int] = {}
        """Names of other modules that say what is registered, each with the first line."""
        self._yielded: list[list[object]] = []
        """What the generators that are being followed have given so far."""
        self._calls_name = cache(_calls_name)
        self._is_generator = cache(_is_generator)

    def execute(self, body: Sequence[ast.stmt], scope: Scope) -> Returned | None:
        """Evaluate the statements of a function."""
        raise NotImplementedError

    def value_call(self, node: ast.Call, scope: Scope) -> object:
        args = tuple(self.items(node.args, scope))
        kwargs: dict[str, object] = {}
        for keyword in node.keywords:
            value = self.value(keyword.value, scope)
            if keyword.arg:
                kwargs[keyword.arg] = value
            elif isinstance(value, dict):
                kwargs.update({key: one for key, one in value.items() if isinstance(key, str)})
        given = (args, kwargs)
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value, scope)
            found = self._method(owner, node.func.attr, given)
            if found is not None:
                return found
            callee = expressions.attribute(owner, node.func.attr)
        else:
            callee = self.value(node.func, scope)
        texts = (node.args, {one.arg: one.value for one in node.keywords if one.arg})
        return self.call(callee, given, last_name(node.func), texts)

    def _method(self, owner: object, name: str, given: Arguments) -> object | None:
        if isinstance(owner, Op) and name == "py_impl":
            return registration_api.py_impl(owner, given)
        if isinstance(owner, Library) and name == "define":
            schema = registration_api.argument(given, (0, "schema"))
            return self._defines(owner.namespace, schema, "Library.define")
        if registering := self._of_an_operator(owner, name):
            return self.call(registering, given)
        if isinstance(owner, Library) and name == "impl":
            found = registration_api.library_impl(owner, given)
            return self._register(found, registration_api.argument(given, (1, "fn")))
        return expressions.method(owner, name, given[0])

    def value_attribute(self, node: ast.Attribute, scope: Scope) -> object:
        owner = self.value(node.value, scope)
        registering = self._of_an_operator(owner, node.attr)
        return registering or self._outside(expressions.attribute(owner, node.attr))

    def _of_an_operator(self, owner: object, name: str) -> Partial | None:
        """``numpy_sin.register_fake``, for a function that ``custom_op`` made an operator."""
        function = identity(owner) if name in registration_api.OF_AN_OPERATOR else None
        if function not in self.operators:
            return None
        return Partial(Path(f"torch.library.{name}"), (self.operators[function],), {})

    def call(
        self, callee: object, given: Arguments, name: str = "", texts: Texts = ((), {})
    ) -> object:
        """The value of a call; records what it registers."""
        name = callee.last if isinstance(callee, Path) else name
        root = registration_api.ROOTS.get(name)
        if root and not self._wraps_namesake(callee, name):
            return self._root(root, given, texts, callee)
        if isinstance(callee, Partial):
            args, kwargs = given
            given = (*callee.args, *args), {**callee.kwargs, **kwargs}
            return self.call(callee.callee, given, name, texts)
        if isinstance(callee, Closure):
            return self._follow(callee, given)
        if isinstance(callee, Path):
            return self._path_call(callee, given)
        return self._apply(callee, given)

    def call_from_outside(self, name: str, given: Arguments, callee: object = None) -> object:
        """Calls a function of this module (or ``callee``, which it returned) for another module."""
        self._steps = 0
        self.stack.append(name)
        made = self.call(callee or self.globals.get(name), given)
        self.stack.pop()
        return made

    def _wraps_namesake(self, callee: object, name: str) -> bool:
        """Whether a module's own function wraps the API function of the same name."""
        return isinstance(callee, Closure) and self._calls_name(callee.node, name)

    def _apply(self, callee: object, given: Arguments) -> object:
        function = given[0][0] if given[0] else UNKNOWN
        if isinstance(callee, Pending):
            return self._register(callee, function)
        if isinstance(callee, Wraps):
            return named_after(function, callee.function)
        if isinstance(callee, Called):
            if not self.stack:
                self.deferred.append(Deferred(callee, identity(function), self.at, self.site))
            return function
        return expressions.call(callee, *given)

    def _root(
        self, root: registration_api.Root, arguments: Arguments, texts: Texts, callee: object
    ) -> object:
        helper = self.stack[0] if self.stack else ""
        for leaf in leaves(registration_api.argument(arguments, root.op)):
            self.needs(leaf)
        found = registration_api.pending(root, arguments, texts, helper)
        if root.kind == registration_api.OPERATOR:
            found = registration_api.with_mutated(found, arguments)
        if isinstance(callee, Closure) and "registry" in found.detail:
            found.detail["registry"] = found.detail["registry"] or registration_api.own_table(
                callee
            )
        passed = registration_api.argument(arguments, root.function) if root.function else UNKNOWN
        if root.immediate or identity(passed):
            return self._register(found, passed)
        return found

    def _path_call(self, callee: Path, given: Arguments) -> object:
        if callee.dotted in {"torch.library.impl", "torch._library.impl"}:
            return registration_api.impl_decorator(given)
        if callee.dotted == "torch.library.define":
            return self._define_by_name(given)
        if callee.last == registration_api.OVERRIDE:
            return self._override(callee, given)
        if callee.last == "_make_prim":
            self._prim(given[1])
        if callee.last in {"Library", "_scoped_library"}:
            return registration_api.library(given)
        known = expressions.path_call(callee, *given)
        if known is not UNKNOWN:
            return known
        args, kwargs = given
        return Called(callee.dotted, tuple(args), dict(kwargs))

    def _override(self, callee: Path, arguments: Arguments) -> object:
        found, function, when = registration_api.override(callee, arguments)
        if when:
            self.conditions.append((when, True))
        self._register(found, function)
        if when:
            self.conditions.pop()
        return None

    def _register(self, found: Pending, value: object) -> object:
        function = identity(value)
        helper = self.stack[0] if self.stack else found.helper
        place = (self.at, self.site, "", helper, self._condition())
        record = Registration(found.kind, "", function, found.detail, *place)
        if found.kind == registration_api.OPERATOR:
            record = self._as_operator(record, found, value)
        for target in dict.fromkeys(map(_target, found.ops)):
            if found.kind == registration_api.OPERATOR and not target:
                continue  # of a wrapper of torch.library itself, which defines what it is given
            text = "" if target else registration_api.text(found.written)
            self.registrations.append(record._replace(target=target, text=text))
        return value

    def _as_operator(self, record: Registration, found: Pending, value: object) -> Registration:
        detail = {**found.detail}
        if isinstance(value, Closure) and "schema" in detail and not detail["schema"]:
            node = value.node
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                detail["schema"] = inferred_schema(node, found.mutates)
                detail["inferred"] = "1"
        named = [target for target in map(_target, found.ops) if target]
        if record.function and named and "through" not in detail:
            self.operators[record.function] = named[0]
        return record._replace(detail=detail)

    def _condition(self) -> str:
        parts = []
        for test, holds in self.conditions:
            text = test if isinstance(test, str) else ast.unparse(test)
            parts.append(text if holds else f"not ({text})")
        return " and ".join(parts)

    def _define_by_name(self, arguments: Arguments) -> object:
        """``torch.library.define("mylib::sin", "(Tensor x) -> Tensor")``."""
        name = registration_api.argument(arguments, (0, "qualname"))
        schema = registration_api.argument(arguments, (1, "schema"))
        if isinstance(name, Library):
            return self._defines(name.namespace, schema, "torch.library.define")
        known = isinstance(name, str) and isinstance(schema, str)
        return self._defines("", f"{name}{schema}" if known else None, "torch.library.define")

    def _defines(self, namespace: str, schema: object, by: str) -> object:
        found = registration_api.defined(namespace, schema, by)
        if found:
            self._register(found, UNKNOWN)
        return UNKNOWN

    def _prim(self, kwargs: Mapping[str, object]) -> None:
        schema, aten = kwargs.get("schema"), kwargs.get("impl_aten")
        if isinstance(schema, str):
            name = schema.partition("(")[0]
            detail = {"impl": registration_api.label(aten)}
            self._register(Pending("prim", (f"prims::{name}",), detail), aten)
            if found := registration_api.defined("prims", schema, "_make_prim"):
                runs = _own_function(aten)
                found.detail["calls"] = "" if runs else detail["impl"]
                found.detail["runs"] = runs
                found.detail["fake"] = _own_function(kwargs.get("meta"))
                self._register(found, UNKNOWN)

    def _follow(self, callee: Closure, given: Arguments) -> object:
        name = callee.function.name
        if len(self.stack) >= _MAX_DEPTH:
            return UNKNOWN
        self.followed.add(name)
        if name == "_make_prim":
            self._prim(given[1])
            return UNKNOWN
        scope = self.scope_of(callee, given)
        if isinstance(callee.node, ast.Lambda):
            return self.value(callee.node.body, scope)
        if self._is_generator(callee.node):
            # Not followed here: what a context manager registers lasts no longer than it.
            return Generator(callee, given)
        if not self.stack and _is_procedure(callee.node):
            return _returned(self.execute(callee.node.body, scope))
        self.stack.append(callee.function.owner or name)
        returned = self.execute(callee.node.body, scope)
        self.stack.pop()
        return _returned(returned)

    def needs(self, value: object) -> None:
        """Notes that a registration needs a name of another module, other than a binding."""
        if isinstance(value, Path) and _OF_A_MODULE.match(value.dotted):
            self.imported.setdefault(value.dotted, self.site)

    def iterated(self, value: object) -> list[object]:
        self.needs(value)
        if isinstance(value, Generator):
            return self._follow_generator(value)
        return super().iterated(value)

    def _follow_generator(self, made: Generator) -> list[object]:
        if len(self.stack) >= _MAX_DEPTH:
            return [UNKNOWN]
        given: list[object] = []
        self._yielded.append(given)
        self.stack.append(made.callee.function.owner or made.callee.function.name)
        scope = self.scope_of(made.callee, made.given)
        if not isinstance(made.callee.node, ast.Lambda):
            self.execute(made.callee.node.body, scope)
        self.stack.pop()
        self._yielded.pop()
        return given[: expressions.LONGEST]

    def value_yield(self, node: ast.Yield, scope: Scope) -> object:
        value = self.value(node.value, scope) if node.value else None
        if self._yielded:
            self._yielded[-1].append(value)
        return UNKNOWN

    def value_yieldfrom(self, node: ast.YieldFrom, scope: Scope) -> object:
        given = self.iterated(self.value(node.value, scope))
        if self._yielded:
            self._yielded[-1].extend(given)
        return UNKNOWN

    def scope_of(self, callee: Closure, given: Arguments = ((), {})) -> Scope:
        """The scope of a function's body, with arguments or default values."""
        (args, kwargs), spec, scope = given, callee.node.args, Scope(callee.scope)
        named = [*spec.posonlyargs, *spec.args]
        missing = [None] * (len(named) - len(spec.defaults))
        defaults = [*missing, *spec.defaults, *spec.kw_defaults]
        rest = {**dict(zip((one.arg for one in named), args, strict=False)), **kwargs}
        for parameter, default in zip(parameters(callee.node), defaults, strict=True):
            name = parameter.arg
            scope.names[name] = (
                rest.pop(name) if name in rest else self.value(default, callee.scope)
            )
        if spec.vararg:
            scope.names[spec.vararg.arg] = list(args[len(named) :])
        if spec.kwarg:
            scope.names[spec.kwarg.arg] = rest
        return scope


def _calls_name(function: ast.AST, name: str) -> bool:
    walked = ast.walk(function)
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in walked)


def _is_generator(function: ast.AST) -> bool:
    return any(isinstance(one, (ast.Yield, ast.YieldFrom)) for one in ast.walk(function))


def _own_function(value: object) -> str:
    """A function of the module with its line, as ``_fma_aten@24``, or that of a ``partial``."""
    function = identity(value.callee if isinstance(value, Partial) else value)
    return f"{function.name}@{function.line}" if function and not function.inner else ""


def parameters(node: Callee) -> list[ast.arg]:
    """The named parameters."""
    return [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]


def _is_procedure(node: Callee) -> bool:
    """Whether a function takes no arguments, as part of the module that runs when it is called."""
    return not (parameters(node) or node.args.vararg or node.args.kwarg)


def _target(op: object) -> str:
    if isinstance(op, Op):
        return op.target
    return op if isinstance(op, str) else ""


def _returned(returned: Returned | None) -> object:
    return returned.value if returned else None
