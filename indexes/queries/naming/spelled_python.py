"""Names as Python spells them: dotted paths, ``torch.ops``, methods of an operator sign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from indexes.model.regex import regex
from indexes.queries.naming.query import QUOTES, NameQuery, from_parts, unique, without_call

_PYTHON = regex(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_OPS = regex(
    r"(?:torch\.)?(?:_?ops\.)?(aten|prims)\.(\w+)(?:\.(\w+))?\Z|(?:torch\.)?ops\.(\w+)\.(\w+)(?:\.(\w+))?\Z"
)
_ALIASES = {"F": "nn.functional", "dist": "distributed"}
"""Names that people import parts of torch by, besides their own."""
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
    if not _PYTHON.match(path) or path.startswith("_Z"):  # a mangled name
        return None
    if found := _OPS.match(path):
        namespace, base, overload = found.group(1, 2, 3) if found[1] else found.group(4, 5, 6)
        return from_parts(raw, namespace, base, overload)
    return _dotted_path(raw, path, "(" in name) if "." in path else _bare(raw, path)


_PACKAGES = ("torch", "functorch", "torchgen")


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
    return NameQuery(
        raw, "python", base, operators=operators, paths=paths, called_on=called_on, note=note
    )


def _bare(raw: str, name: str) -> NameQuery:
    dunder = _DUNDER.match(name)
    operators, note = _dunder(name, dunder[1]) if dunder else ((), "")
    operators = unique((name, *operators))
    return NameQuery(raw, "bare", name, operators=operators, symbols=(name,), note=note)


def _dunder(method: str, name: str) -> tuple[tuple[str, ...], str]:
    """The operators that a method of Python's data model can mean, and a note on when."""
    if method in ("__getitem__", "__setitem__"):
        from indexes.queries.naming.subscripts import of_method

        return of_method(method)
    return unique(_dunder_operators(name)), ""


def subscript(raw: str, name: str) -> NameQuery | None:
    """``a[0] = 1`` and ``a[0]``: methods of the tensor, if ``a`` is one."""
    found = _SUBSCRIPT.match(name) if "[" in name else None
    if found is None:
        return None
    from indexes.queries.naming.subscripts import of_method, subscript_of

    method = "__setitem__" if found[2] else "__getitem__"
    means = subscript_of(name) or of_method(method)
    query = _dotted_path(raw, f"{found[1]}.{method}", True)
    return replace(query, operators=means.operators, note=means.note)


def _dunder_operators(name: str) -> Iterator[str]:
    """``add`` for ``__add__`` and ``__radd__``, ``add_`` for ``__iadd__``."""
    yield _DATA_MODEL.get(name, name)
    if name[:1] in ("i", "r") and len(name) > 2:
        plain = _DATA_MODEL.get(name[1:], name[1:])
        yield f"{plain}_" if name[0] == "i" else plain
