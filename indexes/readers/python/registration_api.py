"""PyTorch's registration API in Python: which calls enter a function in which table.

These few functions are the mechanism itself (dispatcher, decomposition tables, Inductor's
lowerings, ...). Helpers on top of them are not listed: their bodies are followed until one of these
is reached.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from indexes.readers.python.values import (
    UNKNOWN,
    Called,
    Closure,
    Library,
    Op,
    Opaque,
    Path,
    Pending,
    Unknown,
    identity,
    leaves,
)

Arguments = tuple[Sequence[object], Mapping[str, object]]
Texts = tuple[Sequence[ast.expr], Mapping[str, ast.expr]]
"""The arguments of a call as written."""
Slot = tuple[int, str]
"""Position and keyword of a parameter; position -1 for keyword only."""


@dataclass(frozen=True, slots=True)
class Root:
    """A function of the registration API."""

    kind: str
    op: Slot
    function: Slot | None = None
    """The parameter for the function, if it is passed instead of decorated."""
    extra: tuple[tuple[str, Slot], ...] = ()
    note: str = ""
    immediate: bool = False
    """The call itself registers; there may be no function."""


_DECOMPOSITION = (
    ("registry", (1, "registry")),
    ("type", (-1, "type")),
    ("disable_meta", (-1, "disable_meta")),
)
_META = (("register_dispatcher", (1, "register_dispatcher")),)
_CUSTOM: tuple[tuple[str, Slot], ...] = (("schema", (-1, "schema")), ("key", (2, "device_types")))
OPERATOR = "operator"
"""The kind of an operator's definition."""
OF_AN_OPERATOR = frozenset(
    ("register_fake", "register_kernel", "register_autograd", "register_vmap")
)
"""Methods of the result of ``custom_op``, which register for its operator."""
ROOTS: dict[str, Root] = {
    "register_decomposition": Root("decomposition", (0, "aten_op"), extra=_DECOMPOSITION),
    "register_meta": Root("meta_registration", (0, "op"), extra=_META),
    "register_op_impl": Root("fake_impl", (0, "run_impl_check")),
    "register_fast_op_impl": Root("fake_impl", (0, "func"), note="fast path"),
    "register_fake": Root("fake_impl", (0, "op"), function=(1, "func")),
    "impl_abstract": Root("fake_impl", (0, "qualname"), function=(1, "func")),
    "register_jagged_func": Root("jagged", (0, "aten_ops"), extra=(("schema", (1, "schema_str")),)),
    "register_lowering": Root("lowering", (0, "aten_fn")),
    "_register_lowering": Root("lowering", (0, "aten_fn"), (1, "decomp_fn"), immediate=True),
    "_register_foreach_lowering": Root("lowering", (0, "aten_fn"), (1, "decomp_fn"), (), "", True),
    "make_fallback": Root("lowering", (0, "op"), note="fallback to ATen", immediate=True),
    "onnx_symbolic": Root("onnx", (0, "name"), extra=(("opset", (1, "opset")),)),
    "custom_onnx_symbolic": Root("onnx", (0, "name"), extra=(("opset", (1, "opset")),)),
    "onnx_impl": Root("onnx", (0, "target")),
    "register_kernel": Root("py_impl", (0, "op"), (2, "func"), (("key", (1, "device_types")),)),
    "register_autograd": Root("autograd_impl", (0, "op"), (1, "backward"), immediate=True),
    "register_vmap": Root("vmap_impl", (0, "op"), (1, "func"), immediate=True),
    "custom_op": Root(OPERATOR, (0, "name"), (1, "fn"), extra=_CUSTOM),
    "triton_op": Root(OPERATOR, (0, "name"), (1, "fn"), extra=_CUSTOM, note="triton_op"),
    "register_op_strategy": Root("sharding", (0, "op")),
    "register_single_dim_strategy": Root("sharding", (0, "op")),
    "register_prop_rule": Root("sharding", (0, "op")),
}
"""By the function's name alone, since modules re-export and wrap them."""

NAMES = tuple(ROOTS)


def argument(arguments: Arguments, slot: Slot) -> object:
    """The value of a parameter; UNKNOWN if not passed."""
    args, kwargs = arguments
    position, keyword = slot
    if keyword in kwargs:
        return kwargs[keyword]
    return args[position] if 0 <= position < len(args) else UNKNOWN


def pending(root: Root, arguments: Arguments, texts: Texts, helper: str) -> Pending:
    """The registration of an API call, made in ``helper``, before its function is known."""
    detail = {key: _described(slot, arguments, texts) for key, slot in root.extra}
    if root.note:
        detail["note"] = root.note
    ops = operators(argument(arguments, root.op))
    return Pending(root.kind, ops, detail, _written(root.op, texts), helper)


def with_mutated(found: Pending, arguments: Arguments) -> Pending:
    """An operator's definition with the arguments it is said to write to."""
    ops = tuple(_overload(op) if isinstance(op, str) else op for op in found.ops)
    mutated = argument(arguments, (-1, "mutates_args"))
    schema = argument(arguments, (-1, "schema"))
    detail = {**found.detail, "schema": schema if isinstance(schema, str) else ""}
    return replace(found, ops=ops, mutates=mutated, detail=detail)


def own_table(callee: Closure) -> str:
    """The default table of a module's own function with the API's name: ``if registry is None:
    registry = decomposition_table``."""
    for node in ast.walk(callee.node):
        if isinstance(node, ast.Assign) and "registry" in map(text, node.targets):
            return text(node.value)
    return callee.function.name


def _described(slot: Slot, arguments: Arguments, texts: Texts) -> str:
    value = argument(arguments, slot)
    return label(value) if value is None else label(value) or text(_written(slot, texts))


def _written(slot: Slot, texts: Texts) -> ast.expr | None:
    args, kwargs = texts
    position, keyword = slot
    return kwargs.get(keyword) or (args[position] if 0 <= position < len(args) else None)


def text(written: ast.expr | None) -> str:
    """An argument as written. The most expensive part of a registration."""
    return ast.unparse(written) if written else ""


def operators(value: object) -> tuple[object, ...]:
    """The operators in an argument: overloads, packets, or names such as ``"aten::add"``.

    Values known not to be operators (``torch.as_tensor``) are left out; unknown ones stay UNKNOWN.
    """
    return tuple(
        leaf
        for leaf in leaves(value)
        if isinstance(leaf, (Op, Unknown, Opaque)) or (isinstance(leaf, str) and "::" in leaf)
    )


def label(value: object) -> str:
    """A short text for a value in a ``detail``; may be empty."""
    if isinstance(value, Opaque):
        return value.label
    if isinstance(value, (Path, Called)):
        return value.dotted if isinstance(value, Path) else f"{value.callee}()"
    if isinstance(value, (list, tuple)):
        return ",".join(filter(None, map(label, value)))
    return str(value) if isinstance(value, (str, int)) else ""


# --------------------------------------------------------------------- torch.library


def dispatch_key(value: object) -> str:
    """``Autograd`` for ``DispatchKey.Autograd``; a string unchanged."""
    if isinstance(value, Path):
        return value.last
    return label(value)


def py_impl(op: Op, arguments: Arguments) -> Pending:
    """``aten.add.Tensor.py_impl(DispatchKey.Meta)``."""
    key = dispatch_key(argument(arguments, (0, "k")))
    return _implementation(key, (op,))


def library(arguments: Arguments) -> Library | object:
    """``torch.library.Library("aten", "IMPL", "Meta")``."""
    namespace = argument(arguments, (0, "ns"))
    key = argument(arguments, (2, "dispatch_key"))
    return Library(namespace, dispatch_key(key)) if isinstance(namespace, str) else UNKNOWN


def library_impl(lib: Library, arguments: Arguments) -> Pending:
    """``lib.impl("add.Tensor", fn, "Meta")``; the name may be an operator itself."""
    key = dispatch_key(argument(arguments, (2, "dispatch_key"))) or lib.key
    return _dispatched(key, _named(lib, argument(arguments, (0, "op_name"))), "Library.impl")


OVERRIDE = "register_op_override"
"""Registers a kernel that replaces C++'s where its condition holds (torch/_native)."""


def override(callee: Path, arguments: Arguments) -> tuple[Pending, object, str]:
    """``triton_utils.register_op_override("aten", "bmm", "CUDA", cond, impl)`` with its condition.
    The registry's own function takes the compiler's name first."""
    args, kwargs = arguments
    module = callee.dotted.rpartition(".")[0].rpartition(".")[2]
    if module == "registry":
        made_by, args = label(argument(arguments, (0, "backend"))), args[1:]
    else:
        made_by = module.removesuffix("_utils")
    given = args, kwargs
    space, name, key, cond, impl = (
        argument(given, slot)
        for slot in enumerate(("lib_symbol", "op_symbol", "dispatch_key", "cond", "impl"))
    )
    known = isinstance(space, str) and isinstance(name, str)
    ops = _named(Library(str(space)), name) if known else (UNKNOWN,)
    found = _dispatched(dispatch_key(key), ops, OVERRIDE)
    condition = identity(cond)
    when = f"{condition.name}() holds" if condition else "its condition holds"
    when *= argument(given, (-1, "unconditional_override")) is not True
    return replace(found, detail={**found.detail, "note": made_by}), impl, when


def defined(namespace: str, schema: object, function: str = "") -> Pending | None:
    """``lib.define("add(Tensor self) -> Tensor")``; None if the schema is unknown."""
    if not isinstance(schema, str) or "(" not in schema:
        return None
    text = " ".join(schema.split())
    name = text.partition("(")[0].strip()
    target = name if "::" in name else f"{namespace}::{name}"
    return Pending(OPERATOR, (_overload(target),), {"schema": text, "through": function})


HIGHER_ORDER = "higher_order"
"""The namespace of operators that take functions: ``torch.ops.higher_order.cond``."""


def higher_order(made: Op) -> Pending:
    """A class that derives from HigherOrderOperator."""
    return Pending(OPERATOR, (f"{made.target}.default",), {"through": "HigherOrderOperator"})


def impl_decorator(arguments: Arguments) -> Pending:
    """``@torch.library.impl(lib, "add", "Meta")`` or ``@impl("aten::add", "Meta")``."""
    first, second = argument(arguments, (0, "qualname")), argument(arguments, (1, "types"))
    if isinstance(first, Library):
        key = dispatch_key(argument(arguments, (2, "dispatch_key"))) or first.key
        return _dispatched(key, _named(first, second), "torch.library.impl")
    ops = tuple(_overload(op) if isinstance(op, str) else op for op in operators(first))
    return _dispatched(dispatch_key(second), ops, "torch.library.impl")


def _named(lib: Library, name: object) -> tuple[object, ...]:
    if isinstance(name, str):
        return (_overload(name if "::" in name else f"{lib.namespace}::{name}"),)
    return (name,) if isinstance(name, Op) else (UNKNOWN,)


def _overload(name: str) -> str:
    """A name without overload means the default overload here, not all of them."""
    return name if "." in name else f"{name}.default"


def _dispatched(key: str, ops: tuple[object, ...], through: str) -> Pending:
    """Whether it enters the dispatcher's own table, which ``py_impl`` does not."""
    found = _implementation(key, ops)
    return replace(found, detail={**found.detail, "through": through})


def _implementation(key: str, ops: tuple[object, ...]) -> Pending:
    return Pending("meta_registration" if key == "Meta" else "py_impl", ops, {"key": key})
