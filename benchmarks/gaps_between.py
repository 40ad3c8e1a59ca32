"""Gaps of one version of PyTorch held against what a later version has.

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

from indexes.queries.gaps.find import find_gaps
from indexes.queries.gaps.model import Gap, GapFilter
from indexes.queries.gaps.tree import Tree
from indexes.queries.index import Index
from indexes.source.source import Source


class Version:
    """What one version of PyTorch has, by the names of operators."""

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
        """The operators whose functional overload one kernel serves on every back end."""
        return {
            _base(self.tree.natives[op].name)
            for op in self.tree.public
            if any(map(self.tree.is_alias, self.tree.keys(op)))
        }

    def registered(self, kind: str) -> set[str]:
        """The operators for which Python registers something of a kind."""
        rows = self.tree.store.query("SELECT DISTINCT target FROM python WHERE kind=?", (kind,))
        targets = (str(target).removeprefix("aten::") for (target,) in rows)
        return {_base(target.partition(".")[0]) for target in targets}


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


def _key_rows(old: Version, new: Version, last: Version, gaps: Sequence[Gap]) -> Iterator[str]:
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
        if missed := sorted(added - {*every}):
            yield f"    not listed: {', '.join(missed)}"


_KINDS = {
    "decomposition": ("decomposition",),
    "meta": ("meta_registration",),
    "lowering": ("lowering",),
    "ref": ("ref",),
}
"""Kinds of gaps, and the rows of Python that close them."""


def _kind_rows(old: Version, new: Version, last: Version, gaps: Sequence[Gap]) -> Iterator[str]:
    for kind, rows in _KINDS.items():
        had, has, later = (
            set().union(*(one.registered(row) for row in rows)) for one in (old, new, last)
        )
        added = (has - had) & old.names
        listed = [_base(gap.name) for gap in gaps if gap.kind == kind]
        yield _row(kind, added, listed, later - had, last.names - later)
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
        gaps = find_gaps(old.index, GapFilter()).gaps
        if not wanted.kinds:
            print(*_key_rows(old, new, last, gaps), sep="\n")
        print(*_kind_rows(old, new, last, gaps), sep="\n")


if __name__ == "__main__":
    main()
