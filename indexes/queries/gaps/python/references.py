"""Operators without a Python reference, in a family that has them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from indexes.linking.python.paths import Found, place_of
from indexes.model.files import unpack
from indexes.queries.gaps.model import Confidence, Gap, Kind
from indexes.queries.gaps.tree import Tree

_FOLDER = "torch/_refs/"
REFS = f"{_FOLDER}__init__.py"
_HALF = 0.5


def lacks(tree: Tree) -> str:
    return tree.lacks(REFS)


def refs(tree: Tree) -> list[Found]:
    """The functions that torch._refs lists, then unlisted registered ones."""
    stored = tree.index.facts.python
    listed = list(stored.of_kinds("ref"))
    known = {(path, fact.symbol.rpartition(".")[2]) for path, fact in listed}
    return listed + [
        (path, fact)
        for path, fact in stored.of_kinds("decomposition")
        if path.startswith(_FOLDER) and (path, fact.symbol.rpartition(".")[2]) not in known
    ]


def find(tree: Tree) -> Iterator[Gap]:
    """Public operators for ordinary tensors with an OpInfo but no function in torch._refs. Likely
    wanted if half of the same kind of OpInfo have one."""
    there = {one[1].symbol.rpartition(".")[2]: one for one in refs(tree)}
    families: dict[str, list[list[str]]] = {}
    for ops in tree.by_name(op for op in tree.public if _is_wanted(tree, op)):
        families.setdefault(_family(tree, ops[0]), []).append(ops)
    for family, members in families.items():
        having = [ops for ops in members if _own(tree, ops[0], there)]
        likely = len(having) >= _HALF * len(members)
        like = [one for ops in having[:2] if (one := _own(tree, ops[0], there))]
        for ops in members:
            if not _own(tree, ops[0], there):
                share = f"{len(having)} of {len(members)} operators tested by an {family} have one"
                yield _gap(tree, ops, share, like, "likely" if likely else "possible")


def _is_wanted(tree: Tree, op: str) -> bool:
    """Whether it has kernels and is not random or sparse."""
    return (
        tree.is_dense(op)
        and tree.returns_tensor(op)
        and not tree.is_random_or_dynamic(op)
        and bool(tree.opinfos(op))
    )


def _family(tree: Tree, op: str) -> str:
    """The most frequent class of its OpInfos."""
    classes = Counter(unpack(fact.detail).get("cls", "") for _, fact in tree.opinfos(op))
    return classes.most_common(1)[0][0]


def _own(tree: Tree, op: str, there: dict[str, Found]) -> Found | None:
    """Its ref in any module: ``torch._refs.special.logit`` for ``logit``."""
    names = (name.rpartition(".")[2] for name in tree.names(op))
    found = (there.get(name) for name in (*names, tree.natives[op].name))
    return next((one for one in found if one), None)


def _gap(tree: Tree, ops: list[str], share: str, like: list[Found], confidence: Confidence) -> Gap:
    place = tree.natives[ops[0]].location
    tested = [place_of(found) for found in tree.opinfos(ops[0])[:1]]
    evidence = (place, *tested, *map(place_of, like))
    rule = f"no function of torch._refs has one of its names; {share}"
    what = f"no reference implementation of {tree.natives[ops[0]].name}"
    return Gap(place, what, rule, evidence, ops[0], confidence=confidence)


KINDS = (
    Kind("ref", "medium", "operators without a reference in Python", find, lacks, python=True),
)
