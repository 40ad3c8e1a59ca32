"""The modules of references, each of which mirrors a public module: ``torch._refs.special``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.schema import Schema
from indexes.model.vocabulary import Location, NativeFunction
from indexes.queries.changes.model import ChangeStep
from indexes.queries.gaps.tree import Tree

_REFS = "torch._refs"


def mirrored(tree: Tree, native: NativeFunction, written: str) -> Iterator[ChangeStep]:
    """The modules of references, other than the one that is written to, in which an operator's
    public names are missing."""
    for module, last in dict.fromkeys(_public(tree, native)):
        path = tree.modules.get(f"{_REFS}.{module}", "")
        if path not in ("", written) and not _defines(tree.text(path), last):
            place = tree.place_of("__all__", path) or Location(path, 0)
            what = f"Add {last} here too, for torch.{module}.{last}."
            yield ChangeStep("add", place, what, why=f"{_REFS}.{module} mirrors torch.{module}")


def _public(tree: Tree, native: NativeFunction) -> Iterator[tuple[str, str]]:
    """(module, name) of an operator, and of one of the same arguments in a module, which is another
    name of it: ``special_softmax``."""
    for name in tree.names(native.full_name):
        module, _, last = name.removeprefix("torch.").rpartition(".")
        if native.name.endswith(last):
            yield module, last
    own = _arguments(tree.schemas[native.full_name])
    for module in {one.python_module or "" for one in tree.natives.values()} - {""}:
        alike = tree.overloads.get(f"{module}_{native.name}", ())
        if any(_arguments(tree.schemas[one]) == own for one in alike):
            yield module, native.name


def _arguments(schema: Schema) -> list[tuple[str, str, bool]]:
    return [(one.name, one.type, one.kwarg_only) for one in schema.arguments]


def _defines(text: str, name: str) -> bool:
    return re.search(rf"(?m)^(?:def )?{name}(?=\(| = )", text) is not None
