"""The vocabulary of files: their paths, relative to the tree or with the name of an extension
before them, and what is read of each, in C++ and in Python."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

MARK = "@"
"""What paths in extensions begin with, ``@xpu/src/ATen/native/xpu/Activation.cpp``, and no path of
a tree. ``PATH:LINE`` stays what it is."""


def in_extension(path: str) -> bool:
    """Whether a path is in an extension beside the tree."""
    return path.startswith(MARK)


def root_of(path: str) -> str:
    """The name of the extension that a path is in; empty for one of the tree's own."""
    return path.partition("/")[0][len(MARK) :] if in_extension(path) else ""


def inside(path: str) -> str:
    """A path as it is within its extension, or within the tree."""
    return path.partition("/")[2] if in_extension(path) else path


class Root(NamedTuple):
    """A folder that is indexed beside the tree."""

    name: str
    top: str
    """Absolute."""

    @property
    def prefix(self) -> str:
        """What its paths begin with."""
        return f"{MARK}{self.name}/"


Roots = tuple[Root, ...]


def placed(path: str, tree: str, roots: Iterable[Root]) -> tuple[str, str]:
    """The folder that a path is relative to, and the path within it."""
    if in_extension(path):
        for one in roots:
            if path.startswith(one.prefix):
                return one.top, path[len(one.prefix) :]
    return tree, path


def written(full: str, roots: Iterable[Root]) -> str | None:
    """How a file of a root is written; None for a file of none. The innermost root counts."""
    held = [one for one in roots if full.startswith(f"{one.top}/")]
    if not held:
        return None
    nearest = max(held, key=lambda one: len(one.top))
    return nearest.prefix + full[len(nearest.top) + 1 :]


# ------------------------------------------------------------------------- C++


class MacroFact(NamedTuple):
    """A ``#define``."""

    name: str
    parameters: list[str] | None
    body: str
    line: int
    offset: int
    undefined_at: int


class Include(NamedTuple):
    """An ``#include`` line; one under ``#if`` counts too."""

    name: str
    """``ATen/core/Tensor.h``."""
    quoted: bool
    """Written with quotes, so that it is looked for beside the file first."""


PACK = "..."
"""Stands for any number of arguments: ``args...``."""
EMPTY_LIST = "{}"
"""What an argument is that is a list of nothing: ``IntArrayRef{}``."""
GIVEN_SEPARATOR = ","
"""Stands between what the arguments of a call are."""


class Call(NamedTuple):
    """A use of a name in a body."""

    name: str
    qualifier: str
    line: int
    kind: str
    """``call``, ``member``, ``launch`` or, of what is passed on by name, ``name``."""
    template: str
    arguments: str = PACK
    """Their marks (``cxx.marks``) with spaces between, ``dim=i`` where a comment names one."""
    receiver: str = ""
    """The mark of what a member is called on; of a launch, that it is through a pointer; of a call,
    that a ``switch`` picks by what it returns."""
    branch: int = 0
    """The innermost ``Branch`` of the body around it; 0 for none."""
    given: str = ""
    """What its arguments are, with commas between: a literal, a name, or nothing."""


class Branch(NamedTuple):
    """A part of a body that runs, or is compiled, only under a condition; or what a function
    answers in one, which decides the branches of others."""

    number: int
    """From 1, in the order in which a body's calls need them."""
    parent: int
    """The branch around it; 0 for none."""
    text: str
    """``if (x.is_cuda())``, ``switch (kind) case K::one``, of ``?:`` and ``#if`` the condition, of
    an answer what stands behind ``return``."""
    arm: str
    """``then``, ``else``, ``case``, ``otherwise`` (behind an ``if`` that leaves), ``#if`` or
    ``returns``."""
    line: int
    """Of the condition."""
    means: str = ""
    """The condition with what the body's names stand for; empty where it has none of them."""


# --------------------------------------------------- around operators, in Python

PythonKind = (
    Literal["decomposition", "meta_registration", "ref", "prim", "fake_impl", "jagged", "lowering"]
    | Literal["onnx", "py_impl", "autograd_impl", "sharding", "functional", "method", "module"]
    | Literal["alias", "docs", "page", "override", "opinfo", "test", "def", "class", "owner"]
    | Literal["generated_file", "binding", "binding_skip", "deferred", "unresolved"]
    | Literal["inline", "meta_rule", "imported", "table", "test_call"]
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


RemarkKind = (
    Literal["arguments", "role", "file link", "untyped", "internal call"]
    | Literal["macros", "words", "throw", "deprecated macro", "bare check", "assert", "todo"]
    | Literal["body", "names", "bases", "order", "public", "said", "imports"]
)


class RemarkFact(NamedTuple):
    """What a file says of itself or of a name."""

    kind: RemarkKind
    name: str
    """Of a function or class with documented ``arguments``; what a ``role`` or a ``file link``
    leads to; the comment that leaves a file ``untyped``; of the function of an ``internal call``.
    In C++ the names of all ``macros`` that a file uses, and the ``words`` that its literals end
    with; what it throws; of a ``deprecated macro``;
    the condition of a ``bare check`` or an ``assert``; the words of a ``todo``; the digest of a
    ``body``; the enumeration whose values a list has in an ``order``. In Python all ``names`` that
    a file defines, and the ``bases`` of its classes."""
    line: int
    """0 for what is said of the whole file."""
    detail: str = ""
    """Of ``arguments`` the JSON of ``ArgumentDocs``; of a role its own name; of an untyped file
    how many lines and functions it has; of a deprecated macro what to use instead; the values of
    an order."""


@dataclass(frozen=True, slots=True)
class ArgumentDocs:
    """What a docstring says of arguments, held against the signature."""

    parameters: tuple[str, ...]
    """Those that a caller may give."""
    said: tuple[str, ...]
    """Those that the docstring documents."""
    lines: dict[str, int]
    """The line on which each of these is documented."""
    wrong: tuple[str, str] | None
    """What it says wrong, and why that is wrong; None where nothing is."""


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
    if in_extension(stem):
        stem = inside(stem)
        stem = stem.removeprefix("src/").removeprefix("python/")  # where packages often are
    return stem.removesuffix("/__init__").replace("/", ".")


def is_text(path: str) -> bool:
    """Whether a path can be written as UTF-8: no index and no answer can hold another."""
    return path.isascii() or not any("\ud800" <= one <= "\udfff" for one in path)
