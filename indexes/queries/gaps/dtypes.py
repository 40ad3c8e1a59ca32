"""Operators whose CPU kernel lacks a reduced floating dtype of their CUDA kernel."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from indexes.linking.python.paths import Found
from indexes.model.files import PythonFact, unpack
from indexes.model.regex import regex
from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.opinfo import DATABASE
from indexes.queries.gaps.tree import Tree

_SUPPORT = regex(r"(?<!\w)(dtypes|dtypesIfCUDA)\s*=\s*(\w+)\(([^()]*)\)", re.MULTILINE)
_BASE = regex(r"(?:all|floating|integral|complex|and|types|half|_)+")
_REDUCED = {"half": "Half", "float16": "Half", "bfloat16": "BFloat16"}
_WORD = regex(r"torch\.(\w+)")


@dataclass(frozen=True, slots=True)
class Support:
    """The reduced floating dtypes in one argument of an OpInfo."""

    dtypes: frozenset[str]
    line: int


def reduced(text: str, line: int) -> dict[str, Support]:
    """``dtypes=`` and ``dtypesIfCUDA=`` of an OpInfo; without those of unusual functions or given
    twice."""
    found: dict[str, Support] = {}
    twice = set()
    for match in _SUPPORT.finditer(re.sub(r"#[^\n]*", "", text)):
        twice |= {match[1]} & set(found)
        if _BASE.fullmatch(match[2]):
            named = {_REDUCED[w] for w in _WORD.findall(match[3]) if w in _REDUCED}
            named |= {"Half"} if "half" in match[2] else set()
            at = line + text.count("\n", 0, match.start())
            found[match[1]] = Support(frozenset(named), at)
    return {} if twice else found


def lacks(tree: Tree) -> str:
    return tree.lacks(DATABASE)


def find(tree: Tree) -> Iterator[Gap]:
    """Operators with an OpInfo that lists a dtype for CUDA and not for CPU."""
    seen: set[tuple[str, int]] = set()
    for op in tree.public:
        if not tree.is_dense(op):
            continue
        for path, fact in tree.opinfos(op):
            if (path, fact.line) not in seen and _is_plain(fact):
                seen.add((path, fact.line))
                yield from _compare(tree, op, (path, fact))


def _is_plain(fact: PythonFact) -> bool:
    """Whether an entry is for the operator itself, not a variant."""
    return "variant" not in unpack(fact.detail) and not fact.symbol.startswith("_refs.")


def _compare(tree: Tree, op: str, entry: Found) -> Iterator[Gap]:
    path, fact = entry
    support = reduced("\n".join(tree.lines(path, fact.line, fact.end_line)), fact.line)
    if len(support) < 2:
        return
    cpu, cuda = support["dtypes"], support["dtypesIfCUDA"]
    missing = sorted(cuda.dtypes - cpu.dtypes)
    if missing:
        yield _gap(tree, op, missing, Location(path, cpu.line), Location(path, cuda.line))


def _gap(tree: Tree, op: str, missing: list[str], cpu: Location, cuda: Location) -> Gap:
    kernels = tuple(one.location for one in tree.kernels[op]["CPU"].definitions)
    place = kernels[0] if kernels else tree.natives[op].location
    what = f"the CPU kernel of {op} does not take {' and '.join(missing)}"
    rule = "its OpInfo lists it for CUDA and not for CPU; test_dtypes asserts that these lists are"
    rule += " what the operator supports"
    return Gap(place, what, rule, (cpu, cuda, *kernels), op, keys=("CPU",), stated=True)


KINDS = (Kind("dtype", "medium", "dtypes that the CPU kernel lacks", find, lacks),)
