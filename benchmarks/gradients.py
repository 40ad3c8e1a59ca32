"""Whether the gradients of cards are what the installed torch does, on samples of its OpInfos.

    python -m benchmarks.gradients /path/to/pytorch

Each sample that calls one operator alone is run, and its ``out=`` form too. A card is right if it
says that the operator is differentiable where a result carries a gradient, and that it is not where
none does or where ``out=`` raises; its Node, if one that it names is in the graph of the result. A
Node that only raises in backward is no gradient. Needs expecttest, as torch's own tests do; the
tree should be about as old as torch.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

from indexes.queries.index import Index
from indexes.source.source import Source

_MOST_SAMPLES = 4
_REFUSED = "don't support automatic differentiation"
_NODE = re.compile(r"\w+Backward\d+\w*")
_RAISED = (RuntimeError, TypeError, ValueError, AttributeError, AssertionError, IndexError)
"""What samples and calls raise that torch does not support here."""


class Run(NamedTuple):
    """What happened to the one operator that a sample called."""

    operator: str
    nodes: frozenset[str]
    """Those of the graph of its results; empty if none requires grad."""
    is_refused: bool
    """Whether it refused arguments that require grad."""


def runs() -> Iterator[Run]:
    """The operators that samples call, with what became of the gradient."""
    from torch.testing._internal.common_methods_invocations import op_db

    for info in op_db:
        with suppress(*_RAISED):
            samples = info.sample_inputs("cpu", _float(), requires_grad=True)
            for sample in islice(samples, _MOST_SAMPLES):
                yield from _run(info, sample)


def _float() -> Any:
    import torch

    return torch.float32


def _run(info: Any, sample: Any) -> Iterator[Run]:
    from torch.utils._pytree import tree_leaves, tree_map

    given = (sample.input, *sample.args)
    if not any(getattr(one, "requires_grad", False) for one in tree_leaves(given)):
        return
    operator, result, error = _called(lambda: info.op(*given, **sample.kwargs))
    if not operator or error:
        return
    yield Run(operator, _nodes(result), False)
    if info.supports_out:
        out = tree_map(lambda one: one.detach().clone() if hasattr(one, "detach") else one, result)
        keywords = {**sample.kwargs, "out": out}
        operator, result, error = _called(lambda: info.op(*given, **keywords))
        if operator and (not error or _REFUSED in error):
            yield Run(operator, _nodes(result), bool(error))


def _called(call: Callable[[], object]) -> tuple[str, object, str]:
    """The one operator that a call ran, its result and its error; no operator if it ran several."""
    from torch.profiler import ProfilerActivity, _ExperimentalConfig, profile

    named = _ExperimentalConfig(capture_overload_names=True)
    result, error = None, ""
    with profile(activities=[ProfilerActivity.CPU], experimental_config=named) as profiled:
        try:
            result = call()
        except _RAISED as raised:
            error = str(raised) or "raised"
    ran = [one for one in profiled.events() if one.name.startswith("aten::")]
    names = [
        f"{one.name.removeprefix('aten::')}.{one.overload_name}".rstrip(".")
        for one in ran
        if not _is_within(one)
    ]
    return names[0] if len(names) == 1 else "", result, error


def _is_within(event: Any) -> bool:
    """Whether another operator called it."""
    while (event := event.cpu_parent) is not None:
        if event.name.startswith("aten::"):
            return True
    return False


def _nodes(result: object) -> frozenset[str]:
    """The Nodes that results can be differentiated by; ``leaf`` for an argument that is one."""
    from torch.utils._pytree import tree_leaves

    leaves = [one for one in tree_leaves(result) if getattr(one, "requires_grad", False)]
    pending = [one.grad_fn for one in leaves]
    found = {"leaf"} if None in pending else set[str]()
    while pending:
        node = pending.pop()
        if node is not None and "NotImplemented" not in node.name():
            found.add(node.name().rpartition("::")[2])
            pending += [one for one, _ in node.next_functions]
    return frozenset(found - {"AccumulateGrad"})


def verdicts(index: Index) -> Iterator[tuple[str, str, str]]:
    """For each operator that ran: its name, the verdict, and what the card says."""
    ran = defaultdict[str, list[Run]](list)
    for one in runs():
        ran[one.operator].append(one)
    known = {one.full_name for one in index.all_natives()}
    for name in sorted(known & ran.keys()):
        said = next(one.text for one in index.card(name).lines if one.label == "grad")
        yield name, _verdict(said, ran[name]), said


def _verdict(said: str, ran: list[Run]) -> str:
    carried = {bool(one.nodes) for one in ran}
    nodes = frozenset[str]().union(*(one.nodes for one in ran))
    if len(carried) > 1:
        return "depends on the arguments"
    if carried != {not said.startswith("not differentiable")}:
        return "wrong: it has a gradient" if nodes else "wrong: it has none"
    named = _NODE.findall(said)
    if not named or not nodes - {"leaf"}:
        return "right"
    return "right, with its Node" if nodes.intersection(named) else "another Node"


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("tree", help="a PyTorch checkout")
    index = Index.open(Source.find(parser.parse_args().tree))
    try:
        found = list(verdicts(index))
    except ModuleNotFoundError as error:
        parser.error(f"{error}: torch's samples need it")
    for verdict, count in Counter(verdict for _, verdict, _ in found).most_common():
        print(f"{count:5} of {len(found)}  {verdict}")
    for name, verdict, said in found:
        if not verdict.startswith("right"):
            print(f"{name}: {verdict}; the card says {said!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
