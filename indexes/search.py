"""Finding operators and symbols by what a person types."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

from indexes.model import OperatorSummary

_TERM = re.compile(r"(no|has|key|file|tag|kind|module|name|schema):(\S*)")


def filter_operators(
    text: str, operators: Sequence[OperatorSummary]
) -> tuple[OperatorSummary, ...]:
    """Operators that fit every term of ``text``, best first.

    A plain word matches the name, letters in order; ``key:CUDA``, ``file:SoftMax``,
    ``tag:core``, ``kind:structured``, ``module:nn``, ``schema:SymInt``, ``has:derivative``
    and ``no:derivative`` (or ``no:CUDA``) narrow the list.
    """
    words = [w for w in text.split() if not _TERM.fullmatch(w)]
    kept: Iterable[OperatorSummary] = operators
    for word in text.split():
        if found := _TERM.fullmatch(word):
            kept = _narrow(kept, found.group(1), found.group(2))
    chosen = list(kept)
    for word in words:
        chosen = _ranked(chosen, word)
    return tuple(chosen)


def _narrow(
    operators: Iterable[OperatorSummary], term: str, value: str
) -> Iterable[OperatorSummary]:
    if not value:
        return operators
    test = _TESTS[term]
    return [op for op in operators if test(op, value.lower())]


def _has(op: OperatorSummary, value: str) -> bool:
    if "derivative".startswith(value):
        return op.has_derivative
    if "kernel".startswith(value):
        return bool(op.files)
    return any(value == k.lower() for k in op.keys)


_TESTS: dict[str, Callable[[OperatorSummary, str], bool]] = {
    "key": lambda op, v: any(v in k.lower() for k in op.keys),
    "file": lambda op, v: any(v in f.lower() for f in op.files),
    "tag": lambda op, v: any(v in t.lower() for t in op.tags),
    "kind": lambda op, v: v in op.kind,
    "module": lambda op, v: v in (op.python_module or ""),
    "name": lambda op, v: v in op.full_name.lower(),
    "schema": lambda op, v: v in op.schema.lower(),
    "has": _has,
    "no": lambda op, v: not _has(op, v),
}


_lowered = lru_cache(16384)(str.lower)


def _ranked(operators: list[OperatorSummary], word: str) -> list[OperatorSummary]:
    wanted = word.lower()
    bare, subsequence = wanted.strip("_"), _subsequence(wanted).search
    scored = []
    for at, op in enumerate(operators):
        name = _lowered(op.full_name)
        found = name.find(wanted)
        if found >= 0:
            scored.append((_rank_of(name, found, wanted, bare), at))
        elif match := subsequence(name):
            scored.append(((5, match.end() - match.start(), len(name)), at))
    scored.sort()
    return [operators[at] for _, at in scored]


@lru_cache(256)
def _subsequence(word: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(c) for c in word))


def _commonness(overload: str) -> int:
    """Overloads that people mean by a bare name come first, out= last."""
    return {"": 0, "tensor": 1}.get(overload, 3 if "out" in overload else 2)


def rank(word: str, name: str) -> tuple[int, int, int] | None:
    """How well ``name`` fits ``word``, smaller is better; None when its letters are not there."""
    lowered, wanted = name.lower(), word.lower()
    at = lowered.find(wanted)
    if at >= 0:
        return _rank_of(lowered, at, wanted, wanted.strip("_"))
    if lowered.partition(".")[0].strip("_") == wanted.strip("_"):
        return _rank_of(lowered, at, wanted, wanted.strip("_"))
    found = _subsequence(wanted).search(lowered)
    if not found:
        return None
    return (5, found.end() - found.start(), len(lowered))


def _rank_of(lowered: str, at: int, wanted: str, bare: str) -> tuple[int, int, int]:
    """The rank of a name that holds what is wanted at an offset."""
    base, _, overload = lowered.partition(".")
    if lowered == wanted or base == wanted:
        return (0, _commonness(overload), len(lowered))
    if base.strip("_") == bare:
        return (1, _commonness(overload), len(lowered))
    if at == 0:
        return (2, len(lowered), 0)
    return (4 if lowered[at - 1].isalnum() else 3, len(lowered), at)
