"""Documented operators that no OpInfo tests."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.linking.python.paths import Found, place_of
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.tree import Tree

_STRIDED = ("CPU", "CompositeImplicitAutograd", "CompositeExplicitAutograd")
_APART = regex(r"/(?:quantized|sparse|mkldnn|nested)/")
DATABASE = "torch/testing/_internal/common_methods_invocations.py"


def lacks(tree: Tree) -> str:
    """Kernel files are needed to tell operators for quantized or sparse tensors, which have other
    tests."""
    return tree.lacks(DATABASE) or tree.lacks_kernels()


def find(tree: Tree) -> Iterator[Gap]:
    """Public, documented operators on tensors without an OpInfo."""
    wanted = [op for op in tree.public if _is_wanted(tree, op) and not _is_tested(tree, op)]
    for ops in tree.by_name(wanted):
        documented = next(found for op in ops for found in tree.documentation(op))
        yield _gap(tree, ops, documented)


def _is_wanted(tree: Tree, op: str) -> bool:
    if not tree.returns_tensor(op) or not tree.documentation(op):
        return False
    if not any(name.startswith("torch.") for name in _functions(tree, op)):
        return False  # methods alone: of named tensors, pinned memory, layouts
    rows = tree.kernels.get(op, {})
    paths = [d.location.path for key in _STRIDED if key in rows for d in rows[key].definitions]
    return bool(paths) and not any(_APART.search(path) for path in paths)


def _functions(tree: Tree, op: str) -> list[str]:
    return [name for name in tree.names(op) if not name.startswith("torch.Tensor.")]


def _is_tested(tree: Tree, op: str) -> bool:
    """By an entry for one of its overloads, or one that calls one of its names."""
    return bool(tree.opinfos(op)) or bool(tree.opinfo_calls & set(tree.names(op)))


def _gap(tree: Tree, ops: list[str], documented: Found) -> Gap:
    place, name = tree.natives[ops[0]].location, documented[1].target
    rule = f"documented as {name}, and no OpInfo has its name or aten_name"
    rule += ": test_ops, test_ops_gradients, functorch's tests and others skip it"
    places = (place, place_of(documented), Location(DATABASE, 0))
    return Gap(place, f"no OpInfo for {name}", rule, places, ops[0])


KINDS = (
    Kind("opinfo", "medium", "documented operators without an OpInfo", find, lacks, python=True),
)
