"""Evaluates expressions as far as the source tells. Nothing is executed.

Only those of Python's own functions are known that registering code uses.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence

from indexes.readers.python.values import (
    EVERY,
    UNKNOWN,
    Builtin,
    Class,
    Closure,
    Function,
    Op,
    Opaque,
    Partial,
    Path,
    Record,
    Scope,
    Wraps,
    identity,
)

_BUILTINS = (
    "getattr hasattr isinstance callable list tuple set frozenset sorted zip enumerate dict "
    "str object len"
)
NAMES: dict[str, object] = {name: Builtin(name) for name in _BUILTINS.split()}

_REFS = "torch._refs"
LONGEST = 20_000
"""Items or characters: a longer value is no list of operators."""
_MAX_STEPS = 400_000
"""Nodes visited in one module: about ten times what PyTorch's largest needs."""


class Expressions:
    """Evaluates the expressions of one module; a subclass evaluates calls."""

    def __init__(self, module: str, known: Mapping[str, object]) -> None:
        self.module = module
        self._known = known
        """What names of other modules stand for."""
        self._steps = 0

    def value(self, node: ast.AST | None, scope: Scope) -> object:
        """The value of an expression; UNKNOWN if only a run would tell."""
        self._steps += 1
        if self._steps > _MAX_STEPS:
            return UNKNOWN
        method = getattr(self, f"value_{type(node).__name__.lower()}", None)
        return method(node, scope) if method else UNKNOWN

    def exhausted(self) -> bool:
        """Counts one step; whether there are too many for a module of PyTorch."""
        self._steps += 1
        return self._steps > _MAX_STEPS

    def bind(self, target: ast.expr, value: object, scope: Scope) -> None:
        """Assigns to a name, or to the names of a tuple."""
        if isinstance(target, ast.Name):
            scope.names[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            known = isinstance(value, (list, tuple)) and len(value) == len(target.elts)
            for index, element in enumerate(target.elts):
                self.bind(element, value[index] if known else UNKNOWN, scope)  # type: ignore[index]

    def items(self, nodes: Iterable[ast.expr], scope: Scope) -> list[object]:
        """The values of a list display or of positional arguments, with ``*x`` unpacked."""
        found: list[object] = []
        for node in nodes:
            if isinstance(node, ast.Starred):
                value = self.value(node.value, scope)
                found.extend(value if isinstance(value, (list, tuple, dict)) else [])
            else:
                found.append(self.value(node, scope))
        return found if len(found) <= LONGEST else []

    def value_constant(self, node: ast.Constant, scope: Scope) -> object:
        return node.value

    def value_name(self, node: ast.Name, scope: Scope) -> object:
        found = scope.get(node.id)
        return NAMES.get(node.id, UNKNOWN) if found is UNKNOWN else self._outside(found)

    def value_attribute(self, node: ast.Attribute, scope: Scope) -> object:
        return self._outside(attribute(self.value(node.value, scope), node.attr))

    def _outside(self, value: object) -> object:
        return self._known.get(value.dotted, value) if isinstance(value, Path) else value

    def iterated(self, value: object) -> list[object]:
        """The values of a loop variable; one UNKNOWN if the iterable is UNKNOWN."""
        return list(value) if isinstance(value, (list, tuple, dict)) else [UNKNOWN]

    def value_list(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> object:
        return self.items(node.elts, scope)

    value_tuple = value_set = value_list

    def value_dict(self, node: ast.Dict, scope: Scope) -> object:
        if not node.keys:
            return Opaque()
        found: dict[object, object] = {}
        for key, item in zip(node.keys, node.values, strict=True):
            name = self.value(key, scope) if key else UNKNOWN
            if isinstance(name, (str, int, Op, Path)):
                found[name] = self.value(item, scope)
        return found

    def value_joinedstr(self, node: ast.JoinedStr, scope: Scope) -> object:
        parts = [
            self.value(part.value if isinstance(part, ast.FormattedValue) else part, scope)
            for part in node.values
        ]
        known = all(isinstance(part, (str, int)) for part in parts)
        return joined("", "".join(map(str, parts))) if known else UNKNOWN

    def value_binop(self, node: ast.BinOp, scope: Scope) -> object:
        left, right = self.value(node.left, scope), self.value(node.right, scope)
        if isinstance(node.op, ast.Add):
            return joined(left, right)
        return UNKNOWN

    def value_compare(self, node: ast.Compare, scope: Scope) -> object:
        if len(node.ops) > 1:
            return UNKNOWN
        left, right = self.value(node.left, scope), self.value(node.comparators[0], scope)
        return compare(node.ops[0], left, right)

    def value_boolop(self, node: ast.BoolOp, scope: Scope) -> object:
        decisive = isinstance(node.op, ast.Or)
        for item in node.values:
            value = self.value(item, scope)
            holds = truth(value)
            if holds is None:
                return UNKNOWN
            if holds is decisive:
                return value
        return value

    def value_unaryop(self, node: ast.UnaryOp, scope: Scope) -> object:
        value = self.value(node.operand, scope)
        if isinstance(node.op, ast.USub) and isinstance(value, int):
            return -value
        holds = truth(value)
        return UNKNOWN if holds is None or not isinstance(node.op, ast.Not) else not holds

    def value_ifexp(self, node: ast.IfExp, scope: Scope) -> object:
        holds = truth(self.value(node.test, scope))
        if holds is None:
            return UNKNOWN
        return self.value(node.body if holds else node.orelse, scope)

    def value_lambda(self, node: ast.Lambda, scope: Scope) -> object:
        return Closure(node, scope, Function("<lambda>", self.module, node.lineno, inner=True))

    def value_subscript(self, node: ast.Subscript, scope: Scope) -> object:
        value = self.value(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            return self._slice(value, node.slice, scope)
        if isinstance(value, Path):  # OrderedSet[OpOverload](...)
            return value
        return item(value, self.value(node.slice, scope))

    def _slice(self, value: object, node: ast.Slice, scope: Scope) -> object:
        bounds: list[int | None] = []
        for one in (node.lower, node.upper, node.step):
            bound = self.value(one, scope) if one else None
            if bound is not None and not isinstance(bound, int):
                return UNKNOWN
            bounds.append(bound)
        if not isinstance(value, (str, list, tuple)) or bounds[2] == 0:
            return UNKNOWN
        return value[slice(*bounds)]

    def value_listcomp(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> object:
        loop = node.generators[0]
        items = self.value(loop.iter, scope)
        if len(node.generators) > 1 or not isinstance(items, (list, tuple)):
            return UNKNOWN
        found = []
        for item in items:
            inner = Scope(scope)
            self.bind(loop.target, item, inner)
            tests = [truth(self.value(test, inner)) for test in loop.ifs]
            if False not in tests:
                found.append(self.value(node.elt, inner))
        return found

    value_generatorexp = value_setcomp = value_listcomp

    def value_namedexpr(self, node: ast.NamedExpr, scope: Scope) -> object:
        value = self.value(node.value, scope)
        self.bind(node.target, value, scope)
        return value


# ----------------------------------------------------------- operations on known values


def joined(left: object, right: object) -> object:
    """``left + right`` for strings and lists."""
    if isinstance(left, str) and isinstance(right, str):
        return left + right if len(left) + len(right) <= LONGEST else UNKNOWN
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return [*left, *right] if len(left) + len(right) <= LONGEST else UNKNOWN
    return UNKNOWN


def attribute(value: object, name: str) -> object:
    if isinstance(value, (Op, Path)):
        return value.attribute(name)
    if isinstance(value, Record):
        return value.fields.get(name, UNKNOWN)
    function = identity(value)
    if function and name == "__name__":
        return function.name
    if function and name == "__module__":
        return function.module
    return UNKNOWN


def truth(value: object) -> bool | None:
    """Whether a value is true; None if unknown."""
    if value is None or isinstance(value, (bool, int, str, list, tuple, dict)):
        return bool(value)
    return True if isinstance(value, (Op, Function, Closure)) else None


def compare(operator: ast.cmpop, left: object, right: object) -> object:
    """The result of ``is``, ``==``, ``in`` or their opposites for known values."""
    if left is UNKNOWN or right is UNKNOWN or isinstance(left, Path) or isinstance(right, Path):
        return UNKNOWN
    if isinstance(operator, (ast.Is, ast.Eq)):
        return _same(left, right)
    if isinstance(operator, (ast.IsNot, ast.NotEq)):
        return not _same(left, right)
    if isinstance(right, (list, tuple, dict, str)) and isinstance(left, (str, int, Op)):
        if isinstance(operator, ast.In):
            return left in right
        if isinstance(operator, ast.NotIn):
            return left not in right
    return UNKNOWN


def _same(left: object, right: object) -> bool:
    return left is right or (type(left) is type(right) and left == right)


def item(value: object, index: object) -> object:
    if isinstance(value, (list, tuple, str)) and isinstance(index, int):
        return value[index] if -len(value) <= index < len(value) else UNKNOWN
    if isinstance(value, dict) and isinstance(index, (str, int, Op)):
        return value.get(index, UNKNOWN)
    return UNKNOWN


# ----------------------------------------------------------------------------- methods

_STRING_METHODS = frozenset(
    "replace startswith endswith split rsplit partition rpartition strip lstrip rstrip "
    "removeprefix removesuffix upper lower title index find".split()
)


def method(owner: object, name: str, args: Sequence[object]) -> object | None:
    """``owner.name(*args)``; None for a method that is not known here."""
    if isinstance(owner, str) and name in _STRING_METHODS:
        return _string_method(owner, name, args)
    if isinstance(owner, list) and name in {"append", "extend"} and args:
        return _grow(owner, name, args[0])
    if isinstance(owner, dict) and name in {"items", "keys", "values"}:
        return list(getattr(owner, name)())
    if isinstance(owner, Builtin) and name == "fromkeys":
        return _as_list(args)
    if isinstance(owner, Op) and name == "op_overloads" and not owner.overload:
        return [owner]  # the name without an overload stands for all of them
    if isinstance(owner, Op) and name == "overloads" and not owner.overload:
        return [EVERY]
    return None


def _string_method(owner: str, name: str, args: Sequence[object]) -> object:
    if len(args) > 2 or not all(isinstance(arg, (str, int)) for arg in args):
        return UNKNOWN
    try:
        found: object = getattr(owner, name)(*args)
    except (TypeError, ValueError):
        return UNKNOWN
    return joined("", found) if isinstance(found, str) else found


def _grow(owner: list[object], name: str, value: object) -> object:
    added = [value] if name == "append" else value
    if isinstance(added, (list, tuple)) and len(owner) + len(added) <= LONGEST:
        owner.extend(added)
    return UNKNOWN


# ------------------------------------------------------------------------------- calls


def call(callee: object, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
    """A call of a built-in, or of a class."""
    if isinstance(callee, Class) and callee.makes:
        return callee.makes
    if isinstance(callee, Class) and kwargs:
        return Record(fields=dict(kwargs))
    if not isinstance(callee, Builtin):
        return UNKNOWN
    if callee.name == "dict" and kwargs and not args:
        return dict(kwargs)
    function = _CALLS.get(callee.name)
    return function(args) if function and args else Opaque()


def _getattr(args: Sequence[object]) -> object:
    if len(args) > 1 and args[1] is EVERY:
        return args[0] if isinstance(args[0], Op) else UNKNOWN
    if len(args) < 2 or not isinstance(args[1], str) or not args[1].isidentifier():
        return UNKNOWN
    found = attribute(args[0], args[1])
    return args[2] if found is UNKNOWN and len(args) > 2 else found


def _isinstance(args: Sequence[object]) -> object:
    if len(args) < 2 or args[0] is UNKNOWN:
        return UNKNOWN
    kinds = args[1] if isinstance(args[1], (list, tuple)) else [args[1]]
    names = {kind.name for kind in kinds if isinstance(kind, Builtin)}
    if isinstance(args[0], (list, tuple)):
        return bool(names & {"list", "tuple"})
    paths = {kind.last for kind in kinds if isinstance(kind, Path)}
    if isinstance(args[0], Op):
        wanted = "OpOverload" if args[0].overload else "OpOverloadPacket"
        return wanted in paths or "OperatorBase" in paths
    return UNKNOWN


def _callable(args: Sequence[object]) -> object:
    if isinstance(args[0], (list, tuple, str)):
        return False
    return True if isinstance(args[0], (Op, Function, Closure)) else UNKNOWN


def _as_list(args: Sequence[object]) -> object:
    return list(args[0]) if isinstance(args[0], (list, tuple, dict)) else UNKNOWN


def _zip(args: Sequence[object]) -> object:
    lists = [arg for arg in args if isinstance(arg, (list, tuple))]
    return list(zip(*lists, strict=False)) if len(lists) == len(args) else UNKNOWN


def _enumerate(args: Sequence[object]) -> object:
    return list(enumerate(args[0])) if isinstance(args[0], (list, tuple)) else UNKNOWN


_CALLS: dict[str, Callable[[Sequence[object]], object]] = {
    **dict.fromkeys(("list", "tuple", "set", "frozenset", "sorted"), _as_list),
    **dict.fromkeys(("hasattr", "dict"), lambda args: UNKNOWN),
    "getattr": _getattr,
    "isinstance": _isinstance,
    "callable": _callable,
    "zip": _zip,
    "enumerate": _enumerate,
    "str": lambda args: args[0] if isinstance(args[0], str) else UNKNOWN,
    "len": lambda args: len(args[0]) if isinstance(args[0], (list, tuple)) else UNKNOWN,
}


def path_call(callee: Path, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
    """A call of a library function that registering code relies on."""
    if callee.dotted in {"functools.partial", "partial"} and args:
        return Partial(args[0], tuple(args[1:]), dict(kwargs))
    if callee.last in {"wraps", "update_wrapper"} and args:
        return Wraps(args[0])
    if callee.last in {"OrderedSet", "chain"} and args:
        lists = [arg for arg in args if isinstance(arg, (list, tuple))]
        return [one for found in lists for one in found] if lists else UNKNOWN
    if callee.last == "get_aten_op" and len(args) == 2:
        return aten_op_of_ref(*args)
    return UNKNOWN


def aten_op_of_ref(reference: object, name: object) -> object:
    """``torch._prims_common.get_aten_op``: ``special_zeta`` for ``torch._refs.special.zeta``."""
    function = identity(reference)
    if function is None or not isinstance(name, str) or not function.module.startswith(_REFS):
        return UNKNOWN
    module = function.module.removeprefix(_REFS).removeprefix(".").replace(".", "_")
    return Op("aten", f"{module}_{name}" if module else name)
