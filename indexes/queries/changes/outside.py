"""Plans of kernels for a backend outside of PyTorch's tree, as one on PrivateUse1."""

from __future__ import annotations

from collections.abc import Iterator

from indexes.linking.graph import device_of_key
from indexes.model.vocabulary import Location
from indexes.queries.changes.kernel_files import KernelFiles, base_name
from indexes.queries.changes.model import ChangeStep, Parts
from indexes.queries.gaps.kernels.keys import REFUSED
from indexes.queries.gaps.tree import Tree

_EXAMPLES = "test/cpp_extensions"
"""PyTorch's own examples of code outside of its tree."""
_FALLBACK = "cpu_fallback"


def is_outside(homes: KernelFiles, key: str) -> bool:
    """Whether torchgen takes no kernels for a key and its device, and the tree registers none."""
    taken, device = homes.tree.accepted_keys, device_of_key(key) or key
    return bool(taken) and not {key, device} & {*taken} and not homes.of_key(key)


def plan(homes: KernelFiles, op: str, key: str) -> Parts:
    """The lines that register a kernel from the backend's own library; none for what is composed
    of other operators."""
    native = homes.tree.natives[op]
    if homes.tree.is_composite(op):
        what = f"{op} is composite: on {key} it runs what it calls, which may need kernels"
        title = f"{op} needs no kernel of its own for {key}"
        return Parts((ChangeStep("read", native.location, what),), title=title)
    steps = tuple(_steps(homes, op, key))
    return Parts(steps, title=f"{key} kernel of {op}, in the library of the backend")


def _steps(homes: KernelFiles, op: str, key: str) -> Iterator[ChangeStep]:
    tree = homes.tree
    native = tree.natives[op]
    target = native.structured_delegate or op
    like = _registering("aten", key, tree)
    name = f"{base_name(native.name)}{'_out' * (target != op)}_{key.lower()}"
    code = (f"TORCH_LIBRARY_IMPL(aten, {key}, m) {{", f'  m.impl("{target}", {name});', "}")
    what = f"register the kernel of {target} in the library of the backend, outside of this tree"
    yield ChangeStep("add", like or native.location, what, code, REFUSED, like)
    if target != op:
        what = f"{op} needs none: torchgen's own calls {target} on new outputs"
        yield ChangeStep("read", native.location, what, why=f"structured_delegate: {target}")
    for one in homes.kernels(base_name(native.name), ("CPU", "CompositeImplicitAutograd"))[:1]:
        what = f"see what {one.name} checks and computes for the CPU: the new one does the same"
        yield ChangeStep("read", one.location, what)
    yield from _fallback(key, tree)


def _fallback(key: str, tree: Tree) -> Iterator[ChangeStep]:
    """What computes on the CPU for the operators that the backend lacks."""
    like = _registering("_", key, tree)
    for known in tree.index.facts.named(_FALLBACK)[:1]:
        place, why = known.definition.location, "it runs for every operator without a kernel"
        what = f"or compute on the CPU: register a fallback for {key} that calls {_FALLBACK}"
        yield ChangeStep("read", place, what, (), why, like)


def _registering(library: str, key: str, tree: Tree) -> Location | None:
    """The first block for a key in the tree's own examples of backends."""
    block = f"TORCH_LIBRARY_IMPL({library}, {key},"
    places = (tree.place_of(block, path) for path in _examples(_EXAMPLES, tree))
    return next(filter(None, places), None)


def _examples(folder: str, tree: Tree) -> Iterator[str]:
    for name in tree.source.listed(folder):
        if name.endswith(".cpp"):
            yield f"{folder}/{name}"
        elif "." not in name:
            yield from _examples(f"{folder}/{name}", tree)
