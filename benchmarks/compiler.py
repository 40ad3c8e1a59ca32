"""Edges of the graph against what clang says of the same calls: which are wrong, which operators
are lost.

    python -m benchmarks.compiler TREE INCLUDE [--files 40] [--seed S] [--library libclang.so]

INCLUDE: ``torch/include`` of a wheel of the tree's version, for what torchgen generates. Needs
``pip install libclang`` and clang's own headers, beside its library. Reads C++ files of ATen and of
autograd; a call in a template, or behind a macro, has no meaning that clang would tell alone.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from indexes.linking.facts import Edge, Known
from indexes.linking.visible import plain_scope
from indexes.queries.index import Index
from indexes.source.source import Source

_FOLDERS = ("aten/src/ATen", "torch/csrc/autograd")
_UNTRIED = ("/test/", "/cuda/", "/cudnn/", "/mps/", "/vulkan/", "/xnnpack/", "/hip/", "/miopen/")
_FLAGS = ("-std=c++17", "-w", "-DCPU_CAPABILITY=DEFAULT", "-DAT_PER_OPERATOR_HEADERS")
_KEEP_GOING = 0x200
_RUNS = re.compile(r"\b_ops::(\w+)::(?:call|redispatch)\b")


class Meant(NamedTuple):
    """What clang says of a call."""

    name: str
    """With its scopes, but for unnamed ones."""
    places: tuple[tuple[str, int], ...]
    """Where it is declared, and defined if that can be seen."""

    @property
    def operator(self) -> str:
        """The operator that a generated function calls, as C++ spells it; else empty."""
        for path, line in reversed(self.places):
            for text in _lines(path)[line - 1 : line + 6]:
                if found := _RUNS.search(text):
                    return found[1]
                if text.startswith("}"):
                    break
        return ""


@cache
def _lines(path: str) -> list[str]:
    return Path(path).read_text(errors="replace").split("\n") if Path(path).is_file() else []


def _meant(cursor: Any) -> Meant:
    scopes, one = list[str](), cursor
    while one is not None and one.kind.name != "TRANSLATION_UNIT":
        scopes.append(one.spelling)
        one = one.semantic_parent
    seen = (cursor, cursor.get_definition())
    places = ((c.location.file.name, c.location.line) for c in seen if c and c.location.file)
    return Meant(plain_scope("::".join(filter(None, reversed(scopes)))), tuple(places))


def _calls(node: Any) -> Iterator[tuple[range, str, Meant]]:
    """The lines, the name and the meaning of each call below a node."""
    for one in node.get_children():
        called = one.referenced if one.kind.name == "CALL_EXPR" else None
        if called is not None and called.spelling:
            lines = range(one.extent.start.line, one.extent.end.line + 1)
            yield lines, called.spelling, _meant(called)
        yield from _calls(one)


def _functions(node: Any, path: str) -> Iterator[Any]:
    """The functions that a file defines."""
    for one in node.get_children():
        if one.location.file is None or one.location.file.name != path:
            continue
        if one.is_definition() and one.kind.name in ("FUNCTION_DECL", "CXX_METHOD"):
            yield one
        else:
            yield from _functions(one, path)


class Comparison:
    """Counts of what was compared, and lines on what differs."""

    def __init__(self, index: Index, root: Path) -> None:
        self.index, self.root = index, root
        self.counts: Counter[str] = Counter()
        self.findings: list[str] = []

    def add(self, path: str, unit: Any) -> None:
        """Compares the bodies of a file."""
        by_line = {k.definition.location.line: k for k in self.index.facts.definitions_in(path)}
        for function in _functions(unit.cursor, str(self.root / path)):
            extent = function.extent
            lines = range(extent.start.line, extent.end.line + 1)
            here = (by_line[line] for line in lines if line in by_line)
            if known := next((k for k in here if k.definition.name == function.spelling), None):
                self._compare(path, known, list(_calls(function)))

    def _compare(self, path: str, known: Known, calls: list[tuple[range, str, Meant]]) -> None:
        edges = [one for one in self.index.facts.edges(known.id) if not one.macro]
        groups: dict[tuple[int, str], list[Edge]] = defaultdict(list)
        for edge in edges:
            groups[edge.line, _simple(edge)].append(edge)
        for (line, name), group in groups.items():
            meant = [m for lines, called, m in calls if line in lines and called == name]
            if meant and group[0].kind in ("call", "operator"):
                self._hold(f"{path}:{line} {name}", group, meant)
        named = {_simple(edge) for edge in edges}
        lost = {name: one.operator for _, name, one in calls if name not in named and one.operator}
        self.counts["operators lost"] += len(lost)
        where = f"{path}:{known.definition.location.line}"
        self.findings += [f"lost   {where} {name}: {operator}" for name, operator in lost.items()]

    def _hold(self, where: str, group: list[Edge], meant: list[Meant]) -> None:
        kind = "sure" if len(group) == 1 and group[0].confidence == "exact" else "several"
        is_right = any(self._is(edge, one) for edge in group for one in meant)
        self.counts[f"{kind}, {'right' if is_right else 'wrong'}"] += 1
        if not is_right:
            self.findings.append(f"{kind:6} {where} -> {group[0].target}, clang: {meant[0]}")

    def _is(self, edge: Edge, meant: Meant) -> bool:
        if isinstance(edge.target, str):  # TensorBase declares some methods of operators itself
            return (meant.operator or meant.name.rpartition("::")[2]) in (
                edge.target.replace(".", "_"),
                edge.target.partition(".")[0],
            )
        target = self.index.facts.by_id(edge.target)
        if target is None:
            return False
        place = target.definition.location
        if any(at.endswith(place.path) and abs(line - place.line) < 4 for at, line in meant.places):
            return True
        scope = plain_scope(target.definition.qualified)
        return meant.name == scope and all(not at.endswith(place.path) for at, _ in meant.places)


def _simple(edge: Edge) -> str:
    return edge.symbol.rpartition("::")[2].partition("<")[0]


def main() -> None:
    """Prints the counts and what differs."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("include", type=Path)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--library", default="")
    given = parser.parse_args()
    from clang import cindex  # an extra package, only for this

    if given.library:
        cindex.Config.set_library_file(given.library)
    root = given.tree.resolve()
    found = Comparison(Index.open(Source.find(str(root))), root)
    every = [p for p in found.index.facts.paths("cpp", "%.cpp") if p.startswith(_FOLDERS)]
    tried = [path for path in every if not any(folder in path for folder in _UNTRIED)]
    include = [f"-I{root / 'aten/src'}", f"-I{root}", f"-I{given.include.resolve()}"]
    for path in random.Random(given.seed).sample(tried, min(given.files, len(tried))):
        arguments = ["-x", "c++", *_FLAGS, *include]
        unit = cindex.Index.create().parse(str(root / path), arguments, options=_KEEP_GOING)
        found.counts["files"] += 1
        found.add(path, unit)
    for one in found.findings:
        print(one)
    for name, count in sorted(found.counts.items()):
        print(f"{count:>9,} {name}")


if __name__ == "__main__":
    main()
