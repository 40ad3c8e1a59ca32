"""Gaps of one version of PyTorch, compared with the contents of a later version.

    python benchmarks/gaps_between.py OLD NEW [LATEST] [--cache FOLDER]

OLD is a checkout, NEW and LATEST are checkouts or the folder of an installed wheel. Printed for
each dispatch key and for each kind that a later version can answer:

- recall: of what NEW has and OLD had not (operators that OLD has, whatever their overloads), the
  share that ``gaps`` of OLD lists;
- strict precision: of what ``gaps`` of OLD lists, the share that LATEST (or NEW) has;
- open: the share of the list that LATEST has, or that LATEST still lacks without a composite
  kernel in its stead;
- first N: strict precision among the first N of the list, N the number that was added.
"""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

from indexes.queries.gaps.batching import named_by_macros, named_in_python
from indexes.queries.gaps.find import find_gaps
from indexes.queries.gaps.kernels.keys import kernel_keys
from indexes.queries.gaps.model import Gap, GapFilter, GapList
from indexes.queries.gaps.tree import Tree
from indexes.queries.index import Index
from indexes.source.source import Source


class Version:
    """The contents of a version of PyTorch, by names of operators."""

    def __init__(self, index: Index) -> None:
        self.index = index
        self.tree = Tree(index)
        self.names = {_base(native.name) for native in self.tree.natives.values()}

    def with_kernel(self, key: str) -> set[str]:
        """The operators with a kernel for a key."""
        return {
            _base(self.tree.natives[op].name)
            for op, rows in self.tree.kernels.items()
            if key in rows
        }

    def composite(self) -> set[str]:
        """Operators whose functional overload has one kernel for every backend."""
        return {
            _base(self.tree.natives[op].name)
            for op, native in self.tree.natives.items()
            if "generated" not in native.tags and any(map(self.tree.is_alias, self.tree.keys(op)))
        }

    def registered(self, *kinds: str) -> set[str]:
        """Operators with Python registrations of some kinds, without those that return to eager
        mode."""
        marks = ",".join("?" * len(kinds))
        sql = f"SELECT DISTINCT target,detail FROM python WHERE kind IN ({marks})"
        rows = self.tree.store.query(sql, kinds)
        targets = (str(t).removeprefix("aten::") for t, detail in rows if "fallback" not in detail)
        return {_base(target.partition(".")[0]) for target in targets}

    def of_kind(self, kind: str) -> set[str]:
        """Operators that have what gaps of a kind lack."""
        if kind == "batch-rule":
            return self._batched() | self.composite()
        if kind == "meta":
            return self.registered(*_METAS) | self.with_kernel("Meta") | self.composite()
        if kind == "lowering":
            return self.registered("lowering", "decomposition") | self.composite()
        return self.registered(kind)

    def _batched(self) -> set[str]:
        """Operators with a batch rule; for an installed wheel, from the running dispatcher."""
        if self.index.source.kind != "wheel":
            ops = self.tree.registered_for(*_BATCHED)
            named = named_by_macros(self.tree) | named_in_python(self.tree)
            return {_base(op.partition(".")[0]) for op in (*ops, *named)}
        import torch

        has = torch._C._dispatch_has_kernel_for_dispatch_key
        return {
            _base(self.tree.natives[op].name)
            for op in self.tree.natives
            if _exists(torch, op) and has(f"aten::{op}", _BATCHED[0])
        }


def _exists(torch: ModuleType, op: str) -> bool:
    name, _, overload = op.partition(".")
    return bool(torch._C._dispatch_has_kernel(f"aten::{name}.{overload}".rstrip(".")))


_METAS = ("meta_registration", "fake_impl", "py_impl", "decomposition")
_BATCHED = ("FuncTorchBatched", "FuncTorchBatchedDecomposition")


def _base(name: str) -> str:
    return name if name.startswith("__") else name.removesuffix("_")


def _share(part: int, whole: int) -> str:
    return f"{part:>4}/{whole:<4} {part / whole:>4.0%}" if whole else f"{part:>4}/{whole:<4}    -"


def _row(
    what: str, added: set[str], listed: Sequence[str], later: set[str], still: set[str]
) -> str:
    names = list(dict.fromkeys(listed))
    first = names[: len(added)]
    return "  ".join(
        (
            f"{what:<28}",
            f"recall {_share(len(added & {*names}), len(added))}",
            f"strict {_share(len(later & {*names}), len(names))}",
            f"open {_share(len((later | still) & {*names}), len(names))}",
            f"first {_share(len(later & {*first}), len(first))}",
        )
    )


def _of_key(gaps: Iterable[Gap], key: str) -> list[str]:
    return [_base(gap.name) for gap in gaps if gap.kind == "kernel" and key in gap.keys]


def _key_rows(old: Version, new: Version, last: Version, answer: GapList) -> Iterator[str]:
    gaps, unknown = answer.gaps, kernel_keys(old.tree).unknown
    keys = sorted(
        {key for version in (old, new) for row in version.tree.kernels.values() for key in row}
    )
    for key in keys:
        had, has, later = (one.with_kernel(key) for one in (old, new, last))
        added = (has - had) & old.names
        every = _of_key(gaps, key)
        if not (added or every) or any(map(old.tree.is_alias, [key])):
            continue
        likely = _of_key([gap for gap in gaps if gap.confidence == "likely"], key)
        still = last.names - later - last.composite()
        yield _row(f"{key} likely", added, likely, later - had, still)
        if len(every) > len(likely):
            yield _row(f"{key} all", added, every, later - had, still)
        if key in unknown:
            yield f"    unknown: {unknown[key]}"
        elif missed := sorted(added - {*every}):
            yield f"    not listed: {', '.join(missed)}"


_KINDS = ("batch-rule", "decomposition", "meta", "lowering")


def _kind_rows(old: Version, new: Version, last: Version, answer: GapList) -> Iterator[str]:
    lacks = {one.kind: one.lacks for one in answer.counts}
    for kind in _KINDS:
        had, has, later = (one.of_kind(kind) for one in (old, new, last))
        added = (has - had) & old.names
        for sure in (("likely",), ("likely", "possible")):
            gaps = [one for one in answer.gaps if one.kind == kind and one.confidence in sure]
            listed = [_base(gap.name) for gap in gaps]
            yield _row(f"{kind} {sure[-1]}", added, listed, later - had, last.names - later)
        if lacks[kind]:
            yield f"    unknown: {lacks[kind]}"
        if missed := sorted(added - {*listed}):
            yield f"    not listed: {', '.join(missed)}"


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trees", nargs="+")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--kinds", action="store_true", help="only kinds that are no kernels")
    wanted = parser.parse_args()
    with contextlib.ExitStack() as stack:
        versions = [
            Version(
                stack.enter_context(contextlib.closing(Index.open(Source.find(one), wanted.cache)))
            )
            for one in wanted.trees
        ]
        old, new, last = versions[0], versions[1], versions[-1]
        answer = find_gaps(old.index, GapFilter(("kernel", *_KINDS)), owners=False)
        if not wanted.kinds:
            print(*_key_rows(old, new, last, answer), sep="\n")
        print(*_kind_rows(old, new, last, answer), sep="\n")


if __name__ == "__main__":
    main()
