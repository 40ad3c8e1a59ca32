"""The vocabulary of gaps: what is missing, why that is a gap, and where to start."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from shlex import quote
from typing import Literal

from indexes.model.vocabulary import Definition, Location, SourceInfo
from indexes.queries.gaps.tree import Tree

Difficulty = Literal["easy", "medium", "hard"]
Confidence = Literal["likely", "possible"]
CONFIDENCES: tuple[Confidence, ...] = ("likely", "possible")
DIFFICULTIES: tuple[Difficulty, ...] = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class Gap:
    """An opportunity to contribute. Its first evidence is the line that makes it a gap."""

    location: Location
    what: str
    """What is missing, in one line."""
    rule: str
    """The rule of PyTorch by which it is a gap, in one line."""
    evidence: tuple[Location, ...] = ()
    op: str | None = None
    """The overload whose chain includes it."""
    name: str = ""
    """The operator or function; else a path. By default the operator's."""
    subject: str = ""
    """Distinguishes it within its kind: ``MPS/gcd``, ``Tensor.matmul``, ``at::native::foo``. By
    default the name."""
    keys: tuple[str, ...] = ()
    """Dispatch keys or devices."""
    stated: bool = False
    """Stated by PyTorch's own files, in an expected failure, a ``not_implemented`` formula or an
    error message, not only by a rule."""
    difficulty: Difficulty = "medium"
    """By default that of its kind."""
    size: int = 0
    """The amount of change, in lines or names; small ones come first."""
    confidence: Confidence = "likely"
    """Whether there is evidence that somebody wants it."""

    # What follows is the same for every kind: ``find_gaps`` fills it in.
    kind: str = ""
    """A name of ``indexes.queries.gaps.kinds.KINDS``: ``batch-rule``, ``todo`` ..."""
    module: str = ""
    """``python_module`` of the operator: ``linalg``, ``nn``."""
    uses: int = 0
    """The number of calls by that name in the indexed C++."""
    needs: tuple[str, ...] = ()
    """``build`` for compiling C++, and devices: ``cuda``, ``mac``."""
    effort: str = ""
    """In words: ``3 places, needs a build``."""
    number: int = 1
    """Its number, by place, among those of its kind and subject: ``:2`` at the end of an id."""
    owners: tuple[str, ...] = ()
    age_days: int | None = None
    """Days since the line last changed; None if unknown."""

    @property
    def id(self) -> str:
        """Its id in a tree: ``kernel/MPS/gcd``."""
        number = f":{self.number}" if self.number > 1 else ""
        return f"{self.kind}/{self.subject or self.name}{number}"

    @property
    def contribute(self) -> str:
        return f"torchnav contribute {quote(self.id)}"


def subject_of(function: Definition) -> str:
    """The qualified name of a C++ function, without anonymous namespaces."""
    return function.qualified.replace("(anonymous)::", "")


def _nothing(_tree: Tree) -> str:
    return ""


def _no_keys(_tree: Tree) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of gap with its finder."""

    name: str
    difficulty: Difficulty
    title: str
    find: Callable[[Tree], Iterable[Gap]]
    lacks: Callable[[Tree], str] = _nothing
    """Why this tree cannot tell, in one line; empty if it can."""
    graded: bool = False
    """Each gap has its own difficulty."""
    python: bool = False
    """It is closed in Python or a comment, wherever it shows: nothing is compiled."""
    unit: str = ""
    """What ``Gap.size`` counts: ``lines``, ``places``."""
    few: int = 0
    """The largest easy size; 0 if size does not matter."""
    apart: bool = False
    """Listed only if requested by name."""
    unknown: Callable[[Tree], Mapping[str, str]] = _no_keys
    """Dispatch keys about which this tree cannot tell, with reasons."""


@dataclass(frozen=True, slots=True)
class KindCount:
    """The number of matching gaps of a kind, or why it is unknown."""

    kind: str
    difficulty: Difficulty
    """That of all of them, or the kind's own."""
    title: str
    count: int
    lacks: str = ""
    possible: int = 0
    """How many of them have no evidence that somebody wants them."""


@dataclass(frozen=True, slots=True)
class KeyCount:
    """The number of kernels missing for a dispatch key, or why it is unknown."""

    key: str
    count: int
    lacks: str = ""
    possible: int = 0


@dataclass(frozen=True, slots=True)
class GapList:
    """The answer: counts of each kind, and the gaps by usefulness."""

    source: SourceInfo
    counts: tuple[KindCount, ...]
    gaps: tuple[Gap, ...]
    keys: tuple[KeyCount, ...] = ()
    """Missing kernels by dispatch key, most first."""


@dataclass(frozen=True, slots=True)
class GapFilter:
    """A filter of gaps; empty fields match everything."""

    kinds: tuple[str, ...] = ()
    """Including ``apart`` ones; by default all others."""
    difficulty: str = ""
    key: str = ""
    """A dispatch key or device, ``MPS``, in any case."""
    module: str = ""
    """A ``python_module``, ``linalg``, or a folder: ``aten/src/ATen/native/mps``, ``sparse``."""
    owner: str = ""
    """Part of an owner's name."""
    has: tuple[str, ...] = ()
    """Available means: words of ``indexes.queries.gaps.requirements.MEANS``."""
    text: str = ""
    """Words that must all occur in what is shown."""
    confidence: str = ""
    """``likely`` or ``possible``."""
