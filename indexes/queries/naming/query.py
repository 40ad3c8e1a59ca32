"""The possible meanings of a pasted name, and patterns for parts of spellings."""

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
    "local",
    "grad_fn",
    "stub",
    "symbol",
    "place",
    "statement",
    "text",
]
"""What a spelling shows: a name without qualifier, an operator of aten, one of another namespace
(or a C++ name with a single scope), a dotted Python path, a function in another one, a Node class,
a stub, a C++ symbol, a line of a file, a Python statement, or words, as of an error message."""


@dataclass(frozen=True, slots=True)
class NameQuery:
    """The possible meanings of a pasted name."""

    raw: str
    """As it was pasted."""
    kind: NameKind
    """The kind of spelling; the other fields hold further possible meanings."""
    base: str
    """The operator's name without overload, the Node class, or the last part of a symbol."""
    overload: str | None = None
    """``Tensor``; ``""`` for the default overload; None if not given."""
    namespace: str = ""
    """``aten``, ``prims``, as written; may be empty. ``operators`` is empty for namespaces other
    than aten."""
    variant: str = ""
    """The required variant: ``function`` for ``at::add``, ``method`` for ``at::Tensor::add``."""
    operators: tuple[str, ...] = ()
    """Operators of aten to try, best first: ``add.Tensor`` for an overload, ``add`` for all.
    Several if a name that torchgen derived can be split in several ways."""
    paths: tuple[str, ...] = ()
    """Python paths to try, best first: ``torch.nn.functional.relu`` for ``F.relu``."""
    called_on: str = ""
    """``x`` in ``x.add_(y)``, which may be a tensor."""
    note: str = ""
    """How it leads to its operators, if that needs explanation."""
    grad_fns: tuple[str, ...] = ()
    """Node classes to try, best first: ``AddmmBackward0``."""
    symbols: tuple[str, ...] = ()
    """C++ names to try, best first, with their written qualifiers."""
    line: int = 0
    """The line of a place, whose path is ``base``."""


QUOTES = "\"'`“”‘’ \t\r\n,;"
SENTENCE = regex(r"(?:\b[A-Za-z]+ ){4}|[\w)]: |[\"'?!]")
"""What no signature contains: consecutive words, or text between and around words."""


def without_call(name: str) -> str:
    """The callee in ``f(...)``, whose ``(`` follows a name, unlike ``(anonymous namespace)``."""
    found = re.search(r"(?<=[\w>])\s*\((?!anonymous namespace)", name) if "(" in name else None
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
    """A match with these hits, if any; several are ambiguous unless ``sure`` says otherwise."""
    found = tuple(hits)
    sure = sure or ("exact" if len(found) == 1 else "ambiguous")
    return NameMatch(kind, text, hits=found, note=note, confidence=sure) if found else None


def has_words(name: str) -> bool:
    return any(map(str.isspace, name))


def last_part(symbol: str) -> str:
    return symbol.rpartition("::")[2]


def unique(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))
