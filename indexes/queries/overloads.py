"""The overloads that a name means, most usual first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from indexes.linking.python.paths import bindings, skipping_rule
from indexes.model.files import canonical
from indexes.model.regex import regex
from indexes.model.schema import parse_schema
from indexes.model.vocabulary import NativeFunction
from indexes.queries.indexed_tree import IndexedTree
from indexes.store.lookup import Lookup

_PARAMETER = regex(r"\w+[^,=]*(=?)[^,]*")
"""Of a function as its documentation writes it, with the sign in front of a default."""


def in_order(functions: Iterable[NativeFunction]) -> tuple[str, ...]:
    """The default overload first, then that for tensors, out= last."""
    return tuple(one.full_name for one in sorted(functions, key=_commonness))


def _commonness(function: NativeFunction) -> tuple[int, int]:
    rank = {"": 0, "Tensor": 1}.get(function.overload, 2)
    return (int("generated" in function.tags) + int("out" in function.overload), rank)


def as_documented(names: Sequence[str], index: IndexedTree) -> tuple[str, ...]:
    """Overloads of a name, those first that take what its documentation says that it is given: of
    ``where`` the one that chooses between ``input`` and ``other``."""
    base = names[0].partition(".")[0]
    found = index.facts.python.by_target(f"torch.{base}") if len(names) > 1 else ()
    documented = next((one for one in found if one[1].kind == "docs"), None)
    if documented is None:
        return tuple(names)
    file, fact = documented
    text = "\n".join(index.lines(file)[fact.line - 1 : fact.end_line])
    signature = text.partition(f"{base}(")[2].partition(")")[0]
    named = _PARAMETER.findall(signature.partition("*,")[0])
    required = sum(not default for default in named)

    def is_another(name: str) -> bool:
        native = index.facts.native(name)
        arguments = parse_schema(native.schema).arguments if native else ()
        needed = sum(one.default is None and not one.is_out for one in arguments)
        return not needed <= required <= sum(not one.kwarg_only for one in arguments)

    return tuple(sorted(names, key=is_another)) if required else tuple(names)


def bound_to(path: str, facts: Lookup) -> tuple[str, ...]:
    """The overloads whose YAML entries declare a Python function or method."""
    return in_order(_asking_for(path, facts))


def generated_for(path: str, facts: Lookup) -> tuple[str, ...]:
    """Those of them with a generated binding: torchgen skips handwritten ones."""
    skipped = facts.python
    found = _asking_for(path, facts)
    return in_order(one for one in found if skipping_rule(one, skipped) is None)


def _asking_for(path: str, facts: Lookup) -> Iterator[NativeFunction]:
    wanted = canonical(path)
    for one in facts.overloads(wanted.rpartition(".")[2]):
        if any(binding.path == wanted for binding in bindings(one)):
            yield one
