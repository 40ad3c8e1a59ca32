"""The few operations of Python that registering code uses, on values known from the source."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from indexes.readers.python.values import (
    UNKNOWN,
    Builtin,
    Closure,
    Function,
    Op,
    Opaque,
    Partial,
    Path,
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
"""Items or characters: what grows beyond it is no list of operators."""


def joined(left: object, right: object) -> object:
    """``left + right`` for texts and lists."""
    if isinstance(left, str) and isinstance(right, str):
        return left + right if len(left) + len(right) <= LONGEST else UNKNOWN
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return [*left, *right] if len(left) + len(right) <= LONGEST else UNKNOWN
    return UNKNOWN


def attribute(value: object, name: str) -> object:
    """``value.name``."""
    if isinstance(value, (Op, Path)):
        return value.attribute(name)
    function = identity(value)
    if function and name == "__name__":
        return function.name
    if function and name == "__module__":
        return function.module
    return UNKNOWN


def truth(value: object) -> bool | None:
    """Whether a value is true; None when that is not known."""
    if value is None or isinstance(value, (bool, int, str, list, tuple, dict)):
        return bool(value)
    return True if isinstance(value, (Op, Function, Closure)) else None


def compare(operator: ast.cmpop, left: object, right: object) -> object:
    """``left is right``, ``==``, ``in`` and their opposites, for values that are known."""
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
    """``value[index]``."""
    if isinstance(value, (list, tuple, str)) and isinstance(index, int):
        return value[index] if -len(value) <= index < len(value) else UNKNOWN
    if isinstance(value, dict) and isinstance(index, (str, int, Op)):
        return value.get(index, UNKNOWN)
    return UNKNOWN


# ----------------------------------------------------------------------------- methods

_STRING_METHODS = {
    "replace",
    "startswith",
    "endswith",
    "split",
    "rsplit",
    "partition",
    "rpartition",
    "strip",
    "lstrip",
    "rstrip",
    "removeprefix",
    "removesuffix",
    "upper",
    "lower",
    "title",
}


def method(owner: object, name: str, args: Sequence[object]) -> object | None:
    """``owner.name(*args)``; None when it is not a method known here."""
    if isinstance(owner, str) and name in _STRING_METHODS:
        return _string_method(owner, name, args)
    if isinstance(owner, list) and name in {"append", "extend"} and args:
        return _grow(owner, name, args[0])
    if isinstance(owner, dict) and name in {"items", "keys", "values"}:
        pairs = {"items": owner.items(), "keys": owner.keys(), "values": owner.values()}[name]
        return [tuple(pair) if isinstance(pair, tuple) else pair for pair in pairs]
    if isinstance(owner, Builtin) and name == "fromkeys":
        return _as_list(args)
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


def call(callee: object, args: Sequence[object]) -> object:
    """A call of a built-in."""
    if not isinstance(callee, Builtin):
        return UNKNOWN
    function = _CALLS.get(callee.name)
    return function(args) if function and args else Opaque()


def _getattr(args: Sequence[object]) -> object:
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


def _unknown(args: Sequence[object]) -> object:
    return UNKNOWN


_CALLS: dict[str, Callable[[Sequence[object]], object]] = {
    "getattr": _getattr,
    "hasattr": _unknown,
    "isinstance": _isinstance,
    "callable": _callable,
    "list": _as_list,
    "tuple": _as_list,
    "set": _as_list,
    "frozenset": _as_list,
    "sorted": _as_list,
    "zip": _zip,
    "enumerate": _enumerate,
    "dict": _unknown,
    "str": lambda args: args[0] if isinstance(args[0], str) else UNKNOWN,
    "len": lambda args: len(args[0]) if isinstance(args[0], (list, tuple)) else UNKNOWN,
}


def path_call(callee: Path, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
    """A call of a library function whose meaning registering code relies on."""
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
    """``torch._prims_common.get_aten_op``: ``torch._refs.special.zeta`` is ``special_zeta``."""
    function = identity(reference)
    if function is None or not isinstance(name, str) or not function.module.startswith(_REFS):
        return UNKNOWN
    module = function.module.removeprefix(_REFS).removeprefix(".").replace(".", "_")
    return Op("aten", f"{module}_{name}" if module else name)
