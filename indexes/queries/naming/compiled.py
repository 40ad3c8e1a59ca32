"""Names that torch.compile generates: Dynamo's guards, calls and kernels in Inductor's code."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.answers import Hit, NameMatch
from indexes.model.regex import regex
from indexes.model.vocabulary import NativeFunction
from indexes.queries import python_names
from indexes.queries.indexed_tree import IndexedTree
from indexes.queries.naming.query import NameQuery, match_of
from indexes.queries.naming.texts import code_lines
from indexes.readers.python.blocks import Text, innermost

_GUARD = regex(r"(?s)(?=.*(?:\b[LG]\[['\"]|\b___\w+\()).*\S")
_GUARDS = "torch._dynamo.guards"
_WRITTEN = r"\bf(\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*')"
_VALUE = regex(r"\{[^{}]*\}")
_SILENT = regex(r"[\s.,()\[\]'\"]")
_MOST = 6


def find_guard(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The lines of Dynamo that write guards such as ``L['x'].y == 3`` and
    ``___check_obj_id(L['self'], 94)``, where ``L`` and ``G`` are the local and global variables."""
    guard = query.raw.partition("  #")[0].strip()
    module = python_names.find(_GUARDS, index) if _GUARD.fullmatch(guard) else None
    if module is None or module.location is None:
        return None
    found = sorted(_writing(guard, module.location.path, index), key=_is_helper)
    note = "a guard of Dynamo; these lines write guards of this form"
    return match_of("error", guard, found[:_MOST], note, "by rule")


_KERNEL = regex(r"(?:cpp|triton_[a-z]+(?:_[a-z]+)?)_fused_(\w+?)(?:_\d+)?")


def find_kernel(query: NameQuery, index: IndexedTree) -> NameMatch | None:
    """The operators fused in ``triton_poi_fused_add_relu_0``."""
    found = _KERNEL.fullmatch(name := query.raw.strip("\"'` "))
    answer = index.kernel_name(name) if found else None
    if found is None or answer is None:
        return None
    hits = tuple(_fused(found[1], index))
    note = f"a device kernel, {answer.reason}"
    return NameMatch("symbol", name, hits=hits, note=note, confidence="by rule")


def _fused(words: str, index: IndexedTree) -> Iterator[Hit]:
    """The operators in a fused name, each as long as possible."""
    parts = words.split("_")
    while parts:
        names = ("_".join(parts[:end]) for end in range(len(parts), 0, -1))
        found = next(((name, op) for name in names if (op := _operator(name, index))), None)
        if found:
            name, op = found
            yield Hit("operator", op.full_name, op.location, "fused in it", op.full_name)
            parts = parts[name.count("_") :]
        parts = parts[1:]


def _operator(name: str, index: IndexedTree) -> NativeFunction | None:
    spelled = (name, f"prims::{name}") if name.strip("_") else ()
    return next((one for name in spelled for one in index.facts.overloads(name)), None)


def _writing(guard: str, path: str, index: IndexedTree) -> Iterator[Hit]:
    """The lines that match most of a guard."""
    blocks = Text(index.source.content(path)).blocks
    written = code_lines([path], _WRITTEN, ["f"], index)
    fitting = [(_said(one[1][1:-1], guard), place, one[0]) for place, one, _ in written]
    most = max((weight for weight, *_ in fitting), default=0)
    for weight, place, text in fitting:
        if weight == most > 0:
            block = innermost(blocks, place.line)
            name = block.head.qualified if block else path
            yield Hit("text", f"{_GUARDS}.{name}", place, text)


def _is_helper(hit: Hit) -> bool:
    """Whether a line is outside the methods for kinds of guards, as ``EQUALS_MATCH``."""
    return not hit.name.rpartition(".")[2].isupper()


def _said(written: str, guard: str) -> int:
    """The number of letters of a guard in an f-string that matches it."""
    literals = _VALUE.split(written)
    if len(literals) < 2 or not re.search(r"[=!<>]=|\(| is ", "".join(literals)):
        return 0
    if not re.fullmatch(".+".join(map(re.escape, literals)), guard):
        is_cut = literals[0].endswith("(") and guard.startswith(literals[0])
        literals = literals[: 1 if is_cut else 0]
    return len(_SILENT.sub("", "".join(literals)))
