"""What a pasted name can mean, and the pieces that spellings are made of."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from indexes.model.answers import Hit, MatchKind, NameMatch
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence

NameKind = Literal[
    "bare",
    "call",
    "operator",
    "library",
    "python",
    "grad_fn",
    "stub",
    "symbol",
    "place",
    "statement",
    "text",
]
"""What a spelling says: a name without any qualifier, a statement of a program that calls one, an
operator of aten, one of another namespace (or a C++ name with a single scope), a dotted Python
path, a Node class, a stub, a C++ symbol, a line of a file, a statement of Python, or words, as of
an error message."""


@dataclass(frozen=True, slots=True)
class NameQuery:
    """What a pasted name can mean."""

    raw: str
    """As it was pasted."""
    kind: NameKind
    """What its spelling says it is; the other fields hold what else it can be."""
    base: str
    """The operator's name without overload, the Node class, or the last part of a symbol."""
    overload: str | None = None
    """``Tensor``; ``""`` when the default overload is asked for; None when not said."""
    namespace: str = ""
    """``aten``, ``prims``: as written, or empty. ``operators`` is empty for one but aten."""
    variant: str = ""
    """``function`` of ``at::add``, ``method`` of ``at::Tensor::add``: what the operator must be."""
    operators: tuple[str, ...] = ()
    """Operators of aten to try, best first: ``add.Tensor`` for an overload, ``add`` for all of
    them. Several where torchgen made the name of an operator's, and it can be taken apart again
    in several ways."""
    paths: tuple[str, ...] = ()
    """Python paths to try, best first: ``torch.nn.functional.relu`` for ``F.relu``."""
    called_on: str = ""
    """``x`` of ``x.add_(y)``, which may be a tensor."""
    note: str = ""
    """How it leads to its operators, where that takes words."""
    grad_fns: tuple[str, ...] = ()
    """Node classes to try, best first: ``AddmmBackward0``."""
    symbols: tuple[str, ...] = ()
    """C++ names to try, best first, as qualified as they were written."""
    line: int = 0
    """Of a place, whose path is ``base``."""


QUOTES = "\"'`“”‘’ \t\r\n,;"
SENTENCE = regex(r"(?:\b[A-Za-z]+ ){4}|[\w)]: |[\"'?!]")
"""No signature has it: words in a row, or what stands between and around words."""


def without_call(name: str) -> str:
    """The callee of ``f(...)``; unlike ``(anonymous namespace)``, its ``(`` follows a name."""
    found = re.search(r"(?<=[\w>])\s*\(", name) if "(" in name else None
    return name[: found.start()] if found else name


def from_parts(raw: str, namespace: str, base: str, overload: str | None) -> NameQuery:
    if overload == "default":
        overload = ""
    full = f"{base}.{overload}" if overload else base
    if namespace in ("", "aten"):
        return NameQuery(raw, "operator", base, overload, namespace, operators=(full,))
    symbols = (f"{namespace}::{full}",)
    return NameQuery(raw, "library", base, overload, namespace, symbols=symbols)


def from_full_name(raw: str, name: str) -> NameQuery:
    namespace, _, rest = name.rpartition("::")
    base, _, overload = rest.partition(".")
    return from_parts(raw, namespace, base, overload or None)


def match_of(
    kind: MatchKind, text: str, hits: Iterable[Hit], note: str = "", sure: Confidence | None = None
) -> NameMatch | None:
    """What hits mean, where there are any: several are ambiguous, if nothing else is said."""
    found = tuple(hits)
    sure = sure or ("exact" if len(found) == 1 else "ambiguous")
    return NameMatch(kind, text, hits=found, note=note, confidence=sure) if found else None


def has_words(name: str) -> bool:
    return any(map(str.isspace, name))


def last_part(symbol: str) -> str:
    return symbol.rpartition("::")[2]


def unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
