"""The vocabulary of files: paths, relative to the tree or with the name of an extension before
them, and facts of C++ and Python files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

MARK = "@"
"""Begins paths in extensions, ``@xpu/src/ATen/native/xpu/Activation.cpp``, and no path of a tree.
``PATH:LINE`` works as usual."""


def in_extension(path: str) -> bool:
    """Whether a path is in an extension beside the tree."""
    return path.startswith(MARK)


def root_of(path: str) -> str:
    """The name of a path's extension; empty for the tree's own."""
    return path.partition("/")[0][len(MARK) :] if in_extension(path) else ""


def inside(path: str) -> str:
    """A path within its extension, or within the tree."""
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
    """The path of a root's file as written; None for other files. The innermost root counts."""
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
    """With quotes, so that it is looked for beside the file first."""


PACK = "..."
"""Stands for any number of arguments: ``args...``."""
EMPTY_LIST = "{}"
"""An argument that is an empty list: ``IntArrayRef{}``."""
GIVEN_SEPARATOR = ","
"""Separates the arguments in ``Call.given``."""


class Call(NamedTuple):
    """A use of a name in a body."""

    name: str
    qualifier: str
    line: int
    kind: str
    """``call``, ``member``, ``launch`` or, if only passed on, ``name``."""
    template: str
    arguments: str = PACK
    """Their marks (``cxx.marks``) separated by spaces, ``dim=i`` with a name from a comment."""
    receiver: str = ""
    """The mark of a member call's object; for a launch, that it is through a pointer; for a call,
    that a ``switch`` uses its result."""
    branch: int = 0
    """The innermost ``Branch`` of the body around it; 0 for none."""
    given: str = ""
    """Its arguments separated by commas, if literals or names, else empty."""


class Branch(NamedTuple):
    """A part of a body under a condition; or a value that a function returns in one, which decides
    branches of others."""

    number: int
    """From 1, in the order of use by the body's calls."""
    parent: int
    """The branch around it; 0 for none."""
    text: str
    """``if (x.is_cuda())``, ``switch (kind) case K::one``, the condition of ``?:`` and ``#if``, or
    the returned value."""
    arm: str
    """``then``, ``else``, ``case``, ``otherwise`` (behind an ``if`` that leaves), ``#if`` or
    ``returns``."""
    line: int
    """Of the condition."""
    means: str = ""
    """The condition with the body's own names replaced; empty if it has none."""


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
    """A row read from a Python file, stored with the file's path."""

    kind: PythonKind
    target: str
    """What it is for, in normal form: an overload ``aten::add.Tensor`` (``aten::relu.default`` for
    a default overload), all overloads of a name ``aten::add``, a Python path ``torch.add`` or
    ``torch.Tensor.add_``, or empty."""
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
    | Literal["body", "names", "bases", "order", "public", "said", "imports", "note", "mention"]
)


class RemarkFact(NamedTuple):
    """A remark of a file about itself or a name."""

    kind: RemarkKind
    name: str
    """A function or class with documented ``arguments``; the target of a ``role`` or ``file link``;
    the comment that makes a file ``untyped``; the function of an ``internal call``. In C++ the
    names of all ``macros`` that a file uses, and the last ``words`` of its literals; what it
    throws; a ``deprecated macro``; the condition of a ``bare check`` or an ``assert``; the words of
    a ``todo``; the digest of a ``body``; the enumeration of an ``order``. In Python all ``names``
    that a file defines, and the ``bases`` of its classes. The title of a ``note`` or of a
    ``mention`` of one."""
    line: int
    """0 for the whole file."""
    detail: str = ""
    """For ``arguments`` the JSON of ``ArgumentDocs``; for a role its own name; for an untyped file
    the numbers of lines and functions; for a deprecated macro its replacement; the values of an
    order; the last line of a note, empty for a title alone."""


@dataclass(frozen=True, slots=True)
class ArgumentDocs:
    """A docstring's arguments compared with the signature."""

    parameters: tuple[str, ...]
    """Those that a caller may pass."""
    said: tuple[str, ...]
    """Those documented."""
    lines: dict[str, int]
    """The line of each documented one."""
    wrong: tuple[str, str] | None
    """A wrong statement and why it is wrong, or None."""


def pack(**pairs: str | int) -> str:
    """The ``detail`` of a fact, without pairs whose value is empty or 0."""
    return "; ".join(
        f"{key}={str(value).replace(';', ',')}" for key, value in pairs.items() if value
    )


def unpack(detail: str) -> dict[str, str]:
    """The pairs of a ``detail``."""
    pairs = (pair.partition("=") for pair in detail.split("; "))
    return {name: value for name, equals, value in pairs if equals}


SKIPPED = "binding:none"
"""The target of rows for operators without binding."""
_SAME_AS = (
    ("torch._C._VariableFunctions.", "torch."),
    ("torch._C._VariableFunctionsClass.", "torch."),
    ("torch._VF.", "torch."),
    ("torch._C.TensorBase.", "torch.Tensor."),
    ("torch._C._TensorBase.", "torch.Tensor."),
    ("torch._tensor.Tensor.", "torch.Tensor."),
    ("torch.functional.", "torch."),
)
"""Modules with the same generated bindings, and their usual name."""


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
    """Whether a path can be encoded as UTF-8, as indexes and answers require."""
    return path.isascii() or not any("\ud800" <= one <= "\udfff" for one in path)
