"""The most similar operators among those with a property in Python or YAML.

By name, module and schema; kernels are compared by code (``changes/nearest.py``).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from indexes.model.schema import SchemaKind
from indexes.model.vocabulary import NativeFunction
from indexes.queries.contribution.neighbours import neighbours
from indexes.queries.gaps.tree import Tree

_CANDIDATES = 40
_SAME_FILE = 0.25
_SAME_TESTS = 0.2
_BOTH_STRUCTURED = 0.05
_BOTH_POINTWISE = 0.3
_OTHER_CHANCE = 0.6
"""The cost of a random result for one that is not, or the reverse: they share hardly a line."""
_OTHER_MODULE = 0.5
"""The factor for another module, as ``torch.linalg`` has files of its own."""
_LITTLE = 0.6
"""Similarity below which a model says little."""


@dataclass(frozen=True, slots=True)
class Near:
    """An operator, and its common features."""

    op: str
    """The overload."""
    name: str
    why: str
    is_like: bool = True
    """Whether it is similar enough to be a model for place and form."""


def nearest(tree: Tree, op: str, having: Collection[str], limit: int = 5) -> tuple[Near, ...]:
    """The operators of ``having`` most similar to an overload: by name, module and schema, then by
    file of the kernel and kind of OpInfo."""
    own = tree.natives[op].name
    others = sorted(name for name in having if name in tree.overloads and name != own)
    every = [tree.overloads[name][0] for name in others]  # in an order: those alike stay in it
    # what is registered in place is made of the functional one: a model for others in place alone
    known = [one for one in every if _is_in_place(tree, one) == _is_in_place(tree, op)] or every
    found = neighbours(tree.schemas[op], [tree.natives[one] for one in known], _CANDIDATES)
    scored = [(one.likeness + _bonus(tree, op, one.native.full_name), one.native) for one in found]
    scored.sort(key=lambda pair: -pair[0])
    return tuple(
        Near(n.full_name, n.name, _why(tree, op, n.full_name), _is_like(tree, op, likeness, n))
        for likeness, n in scored[:limit]
    )


def _is_like(tree: Tree, op: str, likeness: float, other: NativeFunction) -> bool:
    kinds = (_is_pointwise, _is_random)
    same = all(kind(tree, op) == kind(tree, other.full_name) for kind in kinds)
    return same and likeness - _BOTH_POINTWISE >= _LITTLE


def _is_in_place(tree: Tree, op: str) -> bool:
    return tree.schemas[op].kind is SchemaKind.INPLACE


def _is_pointwise(tree: Tree, op: str) -> bool:
    """Whether it is tagged as pointwise."""
    return "pointwise" in tree.natives[op].tags


def _is_random(tree: Tree, op: str) -> bool:
    """Whether it takes a generator of random numbers, or is tagged as seeded."""
    types = (one.base_type for one in tree.schemas[op].arguments)
    return "nondeterministic_seeded" in tree.natives[op].tags or "Generator" in types


def _bonus(tree: Tree, op: str, other: str) -> float:
    structured = tree.natives[op].structured_delegate, tree.natives[other].structured_delegate
    modules = tree.natives[op].python_module, tree.natives[other].python_module
    return (
        _SAME_FILE * bool(_files(tree, op) & _files(tree, other))
        + _SAME_TESTS * bool(_tests(tree, op) & _tests(tree, other))
        + _BOTH_STRUCTURED * (bool(structured[0]) == bool(structured[1]))
        + _BOTH_POINTWISE * (_is_pointwise(tree, op) == _is_pointwise(tree, other))
        - _OTHER_MODULE * (modules[0] != modules[1])
        - _OTHER_CHANCE * (_is_random(tree, op) != _is_random(tree, other))
    )


def _files(tree: Tree, op: str) -> set[str]:
    rows = tree.kernels.get(op, {})
    return {
        d.location.path for key in ("CPU", "CUDA") if key in rows for d in rows[key].definitions
    }


def _tests(tree: Tree, op: str) -> set[str]:
    """The classes of its OpInfos, except the plain one."""
    details = (fact.detail for _, fact in tree.opinfos(op))
    return {part for text in details for part in text.split("; ") if part.startswith("cls=")} - {
        "cls=OpInfo"
    }


def _why(tree: Tree, op: str, other: str) -> str:
    same = sorted(_files(tree, op) & _files(tree, other))
    tests = sorted(one.partition("=")[2] for one in _tests(tree, op) & _tests(tree, other))
    words = ["the nearest by name and types that has it"]
    words += [f"with its kernel in {same[0]} too"] if same else []
    words += [f"tested by {tests[0]} too"] if tests else []
    return ", ".join(words)
