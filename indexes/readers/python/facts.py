"""What is read from PyTorch's Python files: one flat row for everything "around" an operator."""

from __future__ import annotations

from typing import Literal, NamedTuple

from indexes.model.paths import inside, is_beside

PythonKind = (
    Literal["decomposition", "meta_registration", "ref", "prim", "fake_impl", "jagged", "lowering"]
    | Literal["onnx", "py_impl", "autograd_impl", "sharding", "functional", "method", "module"]
    | Literal["alias", "docs", "page", "override", "opinfo", "test", "def", "class", "owner"]
    | Literal["generated_file", "binding", "binding_skip", "helpers", "deferred", "unresolved"]
    | Literal["inline", "meta_rule", "imported", "table", "test_call", "public"]
    | Literal["operator", "vmap_impl"]
)


class PythonFact(NamedTuple):
    """One row read from one file; the file's path is kept by whoever stores the row."""

    kind: PythonKind
    target: str
    """What it is for, as written but in one spelling: an overload ``aten::add.Tensor``
    (``aten::relu.default`` for a default overload), all overloads of a name ``aten::add``,
    a Python path ``torch.add`` or ``torch.Tensor.add_``, or empty."""
    symbol: str
    """What stands there: ``torch._refs.abs``, ``TestTorch.test_add``, ``op_db`` entry's name."""
    line: int
    end_line: int
    """0 when not known."""
    detail: str = ""
    """``key=value`` pairs joined by ``; `` (see :func:`pack`)."""


def pack(**pairs: str | int) -> str:
    """The ``detail`` of a fact; pairs with an empty value or 0 are left out."""
    return "; ".join(
        f"{key}={str(value).replace(';', ',')}" for key, value in pairs.items() if value
    )


def unpack(detail: str) -> dict[str, str]:
    """The pairs of a ``detail``."""
    pairs = (pair.partition("=") for pair in detail.split("; "))
    return {name: value for name, equals, value in pairs if equals}


SKIPPED = "binding:none"
"""The target of every row that says which operators get no binding."""
_SAME_AS = (
    ("torch._C._VariableFunctions.", "torch."),
    ("torch._VF.", "torch."),
    ("torch._C.TensorBase.", "torch.Tensor."),
    ("torch._C._TensorBase.", "torch.Tensor."),
    ("torch._tensor.Tensor.", "torch.Tensor."),
    ("torch.functional.", "torch."),
)
"""Modules under which the same generated bindings are found, and their usual name."""


def canonical(dotted: str) -> str:
    """A Python path in one spelling: ``torch._VF.dropout`` is ``torch.dropout``."""
    for alias, usual in _SAME_AS:
        if dotted.startswith(alias):
            return usual + dotted[len(alias) :]
    return dotted


def module_name(path: str) -> str:
    """Dotted module of a path in the tree: ``torch/_refs/__init__.py`` -> ``torch._refs``."""
    stem = path[:-3] if path.endswith(".py") else path
    if is_beside(stem):
        stem = inside(stem)
        stem = stem.removeprefix("src/").removeprefix("python/")  # where packages often are
    return stem.removesuffix("/__init__").replace("/", ".")
