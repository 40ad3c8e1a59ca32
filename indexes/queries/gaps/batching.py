"""Operators without a batching rule, which vmap runs in a loop."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.statements import Statement, about, expected_failures
from indexes.queries.gaps.tree import Tree

_FOLDER = "%functorch/%.cpp"
"""ATen's, and functorch's while it had a folder of its own."""
_FALLBACK = "aten/src/ATen/functorch/BatchedFallback.cpp"
_WARNING = "we have not yet implemented"
_TESTS = ("test/functorch/test_vmap.py", "functorch/test/test_vmap.py")
_TEST = "test_op_has_batch_rule"
_PYTHON = (
    "torch/_functorch/vmap.py",
    "functorch/_src/vmap.py",
    "functorch/_src/eager_transforms.py",
)
"""Where Python registers decompositions as batch rules."""
_NAMED = regex(r"\baten\.(\w+)")
KEYS = ("FuncTorchBatched", "FuncTorchBatchedDecomposition")
"""The dispatch keys of batching rules."""
_RANDOM = "FuncTorchVmapMode"
"""The key of those of random operators: vmap adds it to run them once for all, or for each."""
_EARLIER = ("Batched",)
"""The key of versions before functorch."""


def batching_keys(tree: Tree) -> tuple[str, ...]:
    """The dispatch keys under which a tree registers batching rules."""
    return (*KEYS, _RANDOM) if tree.registered_for(*KEYS) else _EARLIER


def lacks(tree: Tree) -> str:
    if not tree.paths(_FOLDER):
        return "aten/src/ATen/functorch is not in this source"
    return tree.lacks_keys()


def find(tree: Tree) -> Iterator[Gap]:
    """One gap per operator, with all overloads without a rule."""
    named = ruled_names(tree)
    statements = _statements(tree)
    fallback = tree.place_of(_WARNING, _FALLBACK)
    wanted = [op for op in tree.public if _may_have_a_rule(tree, op)]
    ruled = named | tree.registered_for(*KEYS, _RANDOM)
    listed = tree.by_name(op for op in wanted if not _has_rule(tree, op, ruled))
    for ops in listed:
        stated = tuple(about(statements, tree.opinfo_names(ops[0])))
        yield _gap(tree, ops, stated, fallback)
    taken = {tree.natives[ops[0]].name for ops in listed}
    for ops in tree.others(taken):
        if not any(_has_rule(tree, op, ruled) for op in ops):
            yield replace(_gap(tree, ops, (), fallback), confidence="possible")


def _may_have_a_rule(tree: Tree, op: str) -> bool:
    return (
        tree.is_dense(op)
        and not tree.is_composite(op)
        and bool(tree.opinfos(op))
        and tree.returns_tensor(op)
        and not tree.is_random_or_dynamic(op)
    )


def _has_rule(tree: Tree, op: str, ruled: frozenset[str]) -> bool:
    """Whether a rule is registered, or may be by a macro. Operators served by alias keys are
    composite and left out."""
    return tree.natives[op].name in ruled or op in ruled


def ruled_names(tree: Tree) -> frozenset[str]:
    """The operators with a batching rule by macros or Python."""
    return named_by_macros(tree) | named_in_python(tree)


def named_by_macros(tree: Tree) -> frozenset[str]:
    """First arguments of macros in files with batch rules, which may register in a
    TORCH_LIBRARY_IMPL block of their own."""
    rows = tree.store.query(
        "SELECT DISTINCT u.arguments FROM uses u JOIN files f ON f.id=u.file WHERE f.path LIKE ?",
        (_FOLDER,),
    )
    words = [part.strip(' "') for (arguments,) in rows for part in arguments.split(",")[:2]]
    return frozenset(words)


def named_in_python(tree: Tree) -> frozenset[str]:
    texts = [tree.text(path) for path in _PYTHON]
    return frozenset(name for t in texts if "FuncTorchBatched" in t for name in _NAMED.findall(t))


def _statements(tree: Tree) -> list[Statement]:
    return [
        one
        for path in _TESTS
        for one in expected_failures(tree.text(path), path)
        if one.group == _TEST
    ]


def _gap(
    tree: Tree, ops: list[str], stated: tuple[Statement, ...], fallback: Location | None
) -> Gap:
    place = tree.natives[ops[0]].location
    what = f"no batching rule for {', '.join(ops)}"
    rule = "nothing is registered for FuncTorchBatched: vmap falls back to a loop"
    rule += " and warns of a rule not yet implemented" if fallback else ""
    rule += f"; {_TEST} expects it to fail" if stated else ""
    warned = (fallback,) if fallback else ()
    evidence = (place, *(one.location for one in stated), *warned)
    keys = ("FuncTorchBatched",)
    return Gap(place, what, rule, evidence, ops[0], keys=keys, stated=bool(stated))


KINDS = (Kind("batch-rule", "medium", "operators that vmap runs in a loop", find, lacks),)
