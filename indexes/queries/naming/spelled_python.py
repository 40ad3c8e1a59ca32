"""Names as Python spells them: dotted paths, ``torch.ops``, methods of operator signs.

Indexing of tensors follows ``applySlicing`` and ``copy_to`` in ATen/TensorIndexing.h: integers,
slices and None make successive views; tensors, masks and lists need ``index`` or ``index_put_``, so
``a[0] = 1`` is no ``index_put_``.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, NamedTuple

from indexes.model.regex import regex
from indexes.queries.naming.query import (
    QUOTES,
    NameKind,
    NameQuery,
    from_parts,
    has_words,
    unique,
    without_call,
)
from indexes.readers.python import blocks

Kind = Literal["select", "slice", "unsqueeze", "", "tensor", "unknown"]

_OF_ANY = {
    "__getitem__": "index is for tensors, masks and lists as indices; an integer calls select,"
    " a slice slice, None unsqueeze",
    "__setitem__": "index_put_ is for tensors, masks and lists as indices; after integers (select)"
    " and slices (slice) it is copy_, or fill_ of a number",
}


class Subscript(NamedTuple):
    """The operators of an indexing expression, best first, and a description."""

    operators: tuple[str, ...]
    note: str


def of_method(method: str) -> Subscript:
    """What ``__getitem__`` or ``__setitem__`` calls for unknown indices."""
    return Subscript(("index_put_" if method == "__setitem__" else "index",), _OF_ANY[method])


def subscript_of(text: str) -> Subscript | None:
    """What ``a[0]`` or ``a[0] = 1`` calls for a tensor ``a``; None for invalid indices."""
    match _only_statement(text):
        case ast.Assign([ast.Subscript() as target], value):
            return _of(target, value)
        case ast.Expr(ast.Subscript() as value):
            return _of(value, None)
    return None


def _only_statement(text: str) -> ast.stmt | None:
    """The statement that a text is; None if it is several, or not Python."""
    try:
        (found,) = blocks.parse(text).body
    except (SyntaxError, ValueError):
        return None
    return found


def _of(node: ast.Subscript, value: ast.expr | None) -> Subscript:
    indices = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    kinds = [_kind(one) for one in indices]
    if "unknown" in kinds:
        return of_method("__getitem__" if value is None else "__setitem__")
    views = [kind for kind in dict.fromkeys(kinds) if kind not in ("", "tensor")]
    if "tensor" in kinds:
        last = ["index" if value is None else "index_put_"]
    elif value is None:
        last = [] if views else ["alias"]
    else:
        last = ["fill_", "copy_"] if isinstance(value, ast.Constant) else ["copy_", "fill_"]
    calls = ", then ".join([*views, *last[:1]])
    other = f" ({last[1]} where {_OTHERWISE[last[1]]})" if len(last) > 1 else ""
    return Subscript((*last, *reversed(views)), f"indexing calls {calls}{other}")


_OTHERWISE = {"copy_": "the shapes agree", "fill_": "the value is a number"}


def _kind(node: ast.expr) -> Kind:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    if isinstance(node, ast.Slice):
        return "slice"
    if isinstance(node, ast.List | ast.Compare):
        return "tensor"
    if not isinstance(node, ast.Constant) or isinstance(node.value, bool):
        return "unknown"
    if isinstance(node.value, int):
        return "select"
    return "unsqueeze" if node.value is None else "" if node.value is ... else "unknown"


_PYTHON = regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_OPS = regex(
    r"(?:torch\.)?(?:_?ops\.)?(aten|prims)\.(\w+)(?:\.(\w+))?\Z|(?:torch\.)?ops\.(\w+)\.(\w+)(?:\.(\w+))?\Z"
)
_ALIASES = {"F": "nn.functional", "dist": "distributed"}
"""Usual import aliases for parts of torch."""
_DUNDER = regex(r"__(\w+?)__\Z")
_SUBSCRIPT = regex(r"([A-Za-z_]\w*)\[.*\]\s*(=[^=].*)?\Z")
# Python's operators whose functions in PyTorch have another name than the method.
_DATA_MODEL = {
    "truediv": "div",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "invert": "bitwise_not",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "pos": "positive",
    "lshift": "bitwise_left_shift",
    "rshift": "bitwise_right_shift",
    "bool": "is_nonzero",
    "int": "item",
    "float": "item",
}


def python_name(raw: str, name: str) -> NameQuery | None:
    path = without_call(name).strip(QUOTES)
    is_cxx = path.startswith("_Z") or ("::" in name and raw.rstrip().endswith(";"))
    if is_cxx or not _PYTHON.match(path):
        return None
    if found := _OPS.match(path):
        namespace, base, overload = found.group(1, 2, 3) if found[1] else found.group(4, 5, 6)
        return from_parts(raw, namespace, base, overload)
    if path.startswith(_EXTERN):
        return replace(_bare(raw, path.removeprefix(_EXTERN)), note=_EXTERN_NOTE)
    if "." in path:
        return _dotted_path(raw, path, "(" in name)
    query = _bare(raw, path)
    return replace(query, kind="call") if "(" in name and _is_of_program(raw) else query


def _is_of_program(text: str) -> bool:
    """Whether a text is a statement of a Python program that calls a bare name: it assigns the
    result, or gives arguments as C++ has none."""
    match _only_statement(text.strip()):
        case ast.Assign(value=value):
            is_bare = isinstance(getattr(_first_call(value), "func", None), ast.Name)
            return is_bare and not text.rstrip().endswith(";")
        case ast.Expr(ast.Call(ast.Name(), arguments, keywords)):
            return bool(keywords) or any(isinstance(one, ast.Starred) for one in arguments)
    return False


def _first_call(value: ast.expr) -> ast.expr:
    """``model(x)`` of ``not model(x)[0].any()``; without a call, the expression itself."""
    match value:
        case ast.UnaryOp(_, part) | ast.Compare(ast.Call() | ast.Attribute() as part):
            value = part
    inner = first = value
    while isinstance(inner, ast.Call | ast.Attribute | ast.Subscript | ast.Await):
        first = inner if isinstance(inner, ast.Call) else first
        inner = inner.func if isinstance(inner, ast.Call) else inner.value
    return first


_PACKAGES = ("torch", "functorch", "torchgen")


_EXTERN = "extern_kernels."
_EXTERN_NOTE = "Inductor's extern_kernels call what ATen or Inductor has under this name"


def _dotted_path(raw: str, path: str, is_called: bool) -> NameQuery:
    """``torch.nn.functional.relu``, ``F.relu``, ``mode.values`` or ``x.add_(y)``."""
    head, _, rest = path.partition(".")
    owner, _, base = path.rpartition(".")
    is_whole = head in _PACKAGES
    paths = (path,) if is_whole else (f"torch.{_ALIASES.get(head, head)}.{rest}", path)
    # ``mode.values`` is an overload; ``linalg.norm`` looks just like it.
    operators: tuple[str, ...] = () if is_whole or "." in owner else (path,)
    called_on = owner if is_called and operators and owner != "Tensor" else ""
    dunder = _DUNDER.match(base)
    note = ""
    if dunder and (called_on or owner in ("Tensor", "torch.Tensor")):
        operators, note = _dunder(base, dunder[1])
    kind: NameKind = "local" if ".<locals>." in raw else "python"
    return NameQuery(
        raw, kind, base, operators=operators, paths=paths, called_on=called_on, note=note
    )


def _bare(raw: str, name: str) -> NameQuery:
    dunder = _DUNDER.match(name)
    operators, note = _dunder(name, dunder[1]) if dunder else ((), "")
    operators = unique((name, *operators))
    return NameQuery(raw, "bare", name, operators=operators, symbols=(name,), note=note)


def _dunder(method: str, name: str) -> tuple[tuple[str, ...], str]:
    """The operators of a special method, with a note on when."""
    if method in ("__getitem__", "__setitem__"):
        return of_method(method)
    return unique(_dunder_operators(name)), ""


def subscript(raw: str, name: str) -> NameQuery | None:
    """Methods for ``a[0] = 1`` and ``a[0]``, if ``a`` is a tensor."""
    found = _SUBSCRIPT.match(name) if "[" in name else None
    if found is None:
        return None
    method = "__setitem__" if found[2] else "__getitem__"
    means = subscript_of(name) or of_method(method)
    query = _dotted_path(raw, f"{found[1]}.{method}", True)
    return replace(query, operators=means.operators, note=means.note)


_SIGNS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
"""The special methods that signs call."""


_BUILTINS = {
    **{name: name for name in ("len", "bool", "int", "float", "complex", "hash", "repr", "format")},
    **{name: name for name in ("dir", "iter", "reversed")},
    "str": "repr",
    "print": "repr",
}
"""The special methods that Python's functions call; without ``__str__``, ``__repr__`` prints."""
_REFLECTED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
"""The methods of a comparison's right side if the left one is no tensor."""
_IN_NAMES = (ast.Sub, ast.Div, ast.FloorDiv)
"""Signs that also occur in names and paths: ``foo-bar``."""


def expression(raw: str, name: str) -> NameQuery | None:
    """Methods for ``x @ y``, ``-x``, ``x += 1`` and ``len(x)``; ``--all`` is a command's option."""
    statement = None if name.startswith("--") else _only_statement(name)
    if statement is None:
        return None
    node = statement.value if isinstance(statement, ast.Expr) else statement
    if isinstance(node, ast.BinOp) and isinstance(node.op, _IN_NAMES) and not has_words(name):
        return None
    methods = _methods_of(node)
    if not methods:
        return None
    operators = unique(name for one in methods for name in _dunder_operators(one))
    paths = tuple(f"torch.Tensor.__{one}__" for one in methods)
    return NameQuery(raw, "python", f"__{methods[0]}__", operators=operators, paths=paths)


_KEYWORD = regex(
    r"\s*(?:@\w|(?:import|from|with|return|raise|assert|if|while|for|def|class|del|async|except)\s)"
)


def statement(raw: str, name: str) -> NameQuery | None:
    """A Python statement, which is no message; its subject is the base."""
    text = raw.strip()
    text = text.partition("\n")[0] if text.startswith("@") else text
    lines = () if "\n" in text else (_completed(f"{text}{end}") for end in _ENDS)
    found = next(filter(None, map(_only_statement, lines)), None)
    if found is None or not (_KEYWORD.match(text) or _is_line(found)):
        return None
    subject = _subject(found)
    return NameQuery(raw, "statement", subject.partition("(")[0] if subject == text else subject)


_ENDS = ("", ")", "))", ")))", "]", "])", "}", "})")
"""The brackets that later lines may close."""


def _completed(text: str) -> str:
    """A line with the rest of its block."""
    text = f"{text} pass" if text.endswith(":") else text
    before, after = "try: pass\n" * text.startswith("except "), "\ndef f(): pass"
    return f"{before}{text}{after * text.startswith('@')}"


def _is_line(node: ast.stmt) -> bool:
    """Whether a statement without a keyword is a line of some method, or assigns what no name
    says."""
    match node:
        case ast.Assign([ast.Name()], value):
            if isinstance(first := _first_call(value), ast.Call):
                return not isinstance(first.func, ast.Name | ast.Attribute)
            return not isinstance(first, _NAMED)
        case ast.Assign([target]):
            return not (isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name))
    return isinstance(node, ast.Expr) and bool(_OF_METHOD.match(ast.unparse(node)))


_NAMED = (ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare)
_OF_METHOD = regex(r"(?:self\.|super\b).*\(")


def _subject(node: ast.stmt) -> str:
    """``torch.no_grad()`` for ``with torch.no_grad():``; empty for a statement about the user's
    variables or Python's names."""
    match node:
        case ast.Import([alias, *_]):
            return alias.name
        case ast.ImportFrom(str(module), [alias, *others], 0):
            return module if others or alias.name == "*" else f"{module}.{alias.name}"
        case (
            ast.Return(value)
            | ast.Assert(value)
            | ast.If(value)
            | ast.While(value)
            | (ast.Assign(value=value) | ast.For(iter=value) | ast.Expr(value))
        ):
            return "" if isinstance(value, ast.Name) else _unless_builtin(value)
        case ast.With([ast.withitem(value)]) | ast.Raise(value) | ast.ClassDef(bases=[value, *_]):
            return _unless_builtin(value)
        case ast.Try(handlers=[ast.ExceptHandler(value)]) | ast.FunctionDef(decorator_list=[value]):
            return _unless_builtin(value)
    return ""


def _unless_builtin(value: ast.expr | None) -> str:
    """The text of an expression, unless one of Python's own functions and classes."""
    text = ast.unparse(_first_call(value)) if value else ""
    return "" if hasattr(builtins, text.partition("(")[0]) else text


def _methods_of(node: ast.AST) -> tuple[str, ...]:
    """``add`` or ``radd`` for an expression with one sign, ``len`` for a call of that; ``iadd``, or
    else ``add``, for a statement; empty for others, or only numbers."""
    match node:
        case ast.UnaryOp(op, operand):
            sides = [operand]
        case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]):
            sides = [left, right]
        case ast.AugAssign(_, op, _):
            method = _SIGNS.get(type(op), "")
            return (f"i{method}", method) if method else ()
        case ast.Call(ast.Name(function), [one], []) if function in _BUILTINS:
            return () if isinstance(one, ast.Constant) else (_BUILTINS[function],)
        case _:
            return ()
    method, numbers = _SIGNS.get(type(op), ""), [isinstance(one, ast.Constant) for one in sides]
    if not method or all(numbers):
        return ()
    return (_REFLECTED.get(method, f"r{method}") if numbers[0] else method,)


def _dunder_operators(name: str) -> Iterator[str]:
    """``add`` for ``__add__`` and ``__radd__``, ``add_`` for ``__iadd__``."""
    yield _DATA_MODEL.get(name, name)
    if name[:1] in ("i", "r") and len(name) > 2:
        plain = _DATA_MODEL.get(name[1:], name[1:])
        yield f"{plain}_" if name[0] == "i" else plain
