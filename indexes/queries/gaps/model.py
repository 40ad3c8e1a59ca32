"""The vocabulary of gaps: what is missing, why that is a gap, and where to begin."""

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
    """One opening for a contribution. Its first evidence is the line that makes it a gap."""

    location: Location
    what: str
    """One line: what is missing."""
    rule: str
    """One line: by which rule of PyTorch it is a gap."""
    evidence: tuple[Location, ...] = ()
    op: str | None = None
    """The overload whose chain it belongs to."""
    name: str = ""
    """The operator, or the function that it stands in; a path where there is neither. A finder
    may leave it out for the operator's."""
    subject: str = ""
    """What of its kind it is: ``MPS/gcd``, ``Tensor.matmul``, ``at::native::foo``. A finder may
    leave it out where that is the name."""
    keys: tuple[str, ...] = ()
    """Dispatch keys or devices that it is about."""
    stated: bool = False
    """PyTorch's own files call it a gap, by a test that is expected to fail, a formula
    ``not_implemented``, an error message: not only a rule does."""
    difficulty: Difficulty = "medium"
    """That of its kind, unless the kind has gaps of several."""
    size: int = 0
    """How much there is to change, in lines or names; of its kind the small ones come first."""
    confidence: Confidence = "likely"
    """Whether the evidence says that somebody wants it, or only that it is not there."""

    # What follows is the same for every kind: ``find_gaps`` fills it in.
    kind: str = ""
    """A name of ``indexes.queries.gaps.kinds.KINDS``: ``batch-rule``, ``todo`` ..."""
    module: str = ""
    """``python_module`` of the operator: ``linalg``, ``nn``."""
    uses: int = 0
    """Calls by that name in the indexed C++: how much hangs on it."""
    needs: tuple[str, ...] = ()
    """``build`` where C++ has to be compiled, and devices: ``cuda``, ``mac``."""
    effort: str = ""
    """How much there is to do, in words: ``3 places, needs a build``."""
    number: int = 1
    """Which it is, by place, of those of its kind and subject: ``:2`` at the end of an id."""
    owners: tuple[str, ...] = ()
    age_days: int | None = None
    """Days since the line was last changed; None where the history does not say."""

    @property
    def id(self) -> str:
        """Its name among all gaps of a tree: ``kernel/MPS/gcd``."""
        number = f":{self.number}" if self.number > 1 else ""
        return f"{self.kind}/{self.subject or self.name}{number}"

    @property
    def contribute(self) -> str:
        """The command that prepares the change."""
        return f"torchnav contribute {quote(self.id)}"


def subject_of(function: Definition) -> str:
    """The subject of a gap in a C++ function: its qualified name, unnamed namespaces left out."""
    return function.qualified.replace("(anonymous)::", "")


def _nothing(_tree: Tree) -> str:
    return ""


def _no_keys(_tree: Tree) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of gap, and how it is found."""

    name: str
    difficulty: Difficulty
    title: str
    find: Callable[[Tree], Iterable[Gap]]
    lacks: Callable[[Tree], str] = _nothing
    """Why this tree cannot tell, in one line; empty where it can."""
    graded: bool = False
    """Each gap says itself how difficult it is."""
    python: bool = False
    """What closes it is written in Python, wherever it shows itself."""
    unit: str = ""
    """What ``Gap.size`` counts: ``lines``, ``places``."""
    few: int = 0
    """So many of them at most are easy; 0 where the size does not matter."""
    apart: bool = False
    """Listed only for who asks for this kind by its name."""
    unknown: Callable[[Tree], Mapping[str, str]] = _no_keys
    """Dispatch keys of which this tree cannot tell, each with the reason."""


@dataclass(frozen=True, slots=True)
class KindCount:
    """How many gaps of a kind fit, or why that cannot be told."""

    kind: str
    difficulty: Difficulty
    title: str
    count: int
    lacks: str = ""
    possible: int = 0
    """How many of them nothing in the tree says that somebody wants."""


@dataclass(frozen=True, slots=True)
class KeyCount:
    """How many kernels a dispatch key misses, or why that cannot be told."""

    key: str
    count: int
    lacks: str = ""
    possible: int = 0


@dataclass(frozen=True, slots=True)
class GapList:
    """The answer: counts of each kind, and the gaps in order of usefulness."""

    source: SourceInfo
    counts: tuple[KindCount, ...]
    gaps: tuple[Gap, ...]
    keys: tuple[KeyCount, ...] = ()
    """Missing kernels by dispatch key, most first."""


@dataclass(frozen=True, slots=True)
class GapFilter:
    """Which gaps are wanted. Empty fields leave nothing out."""

    kinds: tuple[str, ...] = ()
    """Also those that are apart; without any, all others."""
    difficulty: str = ""
    key: str = ""
    """A dispatch key or device, ``MPS``; upper and lower case are the same."""
    module: str = ""
    """A ``python_module``, ``linalg``, or a folder: ``aten/src/ATen/native/mps``, ``sparse``."""
    owner: str = ""
    """Part of an owner's name."""
    has: tuple[str, ...] = ()
    """What one has: words of ``indexes.queries.gaps.requirements.MEANS``."""
    text: str = ""
    """Words, each of which must occur in what is shown."""
    confidence: str = ""
    """``likely`` or ``possible``."""
