"""Ranks the files to change for a new operator: by how many similar operators are named there, and
by how many commits that added one touched them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from indexes.queries.contribution.family import Mention
from indexes.queries.contribution.neighbours import Neighbour, as_like, base_of
from indexes.queries.contribution.precedents import Precedent

Certainty = Literal["surely", "perhaps"]

_NEAREST = 5
"""Similar operators that vote, weighted by similarity, with ties."""
_NEAR = 0.6
"""Operators less similar than this share of the nearest do not vote, however many they are."""
_STEEP, _STEEP_COMMITS = 3, 2
"""The powers of likeness by which operators and commits count: the nearest decide."""
_ENOUGH = 3
"""Fewest commits from which conclusions are drawn."""
_NAMED_KERNEL, _NAMED_LIST = 0.5, 0.3
"""How much names count beside history: a kernel goes where the neighbour's is, whereas lists of
names gather what has been added in ten years."""
_SURELY, _PERHAPS, _SURELY_FOLDER = 0.35, 0.15, 0.5
_SURELY_NAMED, _PERHAPS_NAMED = 0.65, 0.35
_SURELY_KERNEL, _PERHAPS_KERNEL = 0.5, 0.25
"""Without history: the part of the operators like it that are named in a file.

All of these are where recall and precision were best on pull requests that added operators
(``python -m benchmarks.new_operators``)."""

_LIKE = 0.5
"""Least similarity of an operator that votes."""


@dataclass(frozen=True, slots=True)
class FileEvidence:
    """The evidence for a file."""

    path: str
    score: float
    certainty: Certainty
    named: tuple[Mention, ...]
    """The lines that name similar operators, the most similar first."""
    voters: int
    """The number of operators searched for."""
    touched: int
    """The number of commits that touched it."""
    commits: int

    @property
    def why(self) -> str:
        """The evidence in words."""
        parts = []
        if self.voters:
            parts.append(f"it names {len(self.named)} of the {self.voters} most similar operators")
        if self.commits:
            parts.append(f"{self.touched} of {self.commits} commits that added one changed it")
        return "; ".join(parts)


def rank(
    mentions: Mapping[str, Iterable[Mention]],
    family: Sequence[Neighbour],
    relatives: Sequence[Neighbour],
    precedents: Sequence[Precedent],
    kernel_folders: frozenset[str],
) -> tuple[FileEvidence, ...]:
    """The files, most certain first.

    Parameters:
        family: The most similar operators, whose kernels show where a kernel goes.
        relatives: Those of its namespace, for lists of public names.
        kernel_folders: The folders of kernels.
    """
    before = precedents if len(precedents) >= _ENOUGH else ()
    touched = _touched(before)
    polls = _votes(family), _votes(relatives)
    trust = min(1.0, max((one.likeness for one in family), default=0.0) / _LIKE)
    found = {}
    for path in {*mentions, *touched}:
        is_kernel = path.rpartition("/")[0] in kernel_folders
        votes = polls[0] if is_kernel else polls[1]
        named = [one for one in mentions.get(path, ()) if one.member in votes]
        named.sort(key=lambda one: -votes[one.member])
        share = sum(votes[one.member] for one in named)
        weight = _NAMED_KERNEL if is_kernel else _NAMED_LIST
        score = weight * share + (1 - weight) * touched[path] if before else trust * share
        if certainty := _certainty(score, bool(before), is_kernel):
            count = sum(path in one.files for one in before)
            if before and not count:  # what nobody has had to change lately is not sure
                certainty = "perhaps"
            found[path] = FileEvidence(
                path, score, certainty, tuple(named), len(votes), count, len(before)
            )
    if before:
        for path in _of_folders(found.values(), kernel_folders, polls[0], before):
            found[path] = replace(found[path], certainty="surely")
    return tuple(sorted(found.values(), key=lambda one: (-one.score, one.path)))


def _of_folders(
    found: Iterable[FileEvidence],
    kernel_folders: frozenset[str],
    votes: Mapping[str, float],
    precedents: Sequence[Precedent],
) -> Iterator[str]:
    """The likeliest file of each kernel folder that needs one, if it is not clear which."""
    folders: defaultdict[tuple[str, str], list[FileEvidence]] = defaultdict(list)
    for one in found:
        folder, _, name = one.path.rpartition("/")
        if folder in kernel_folders:
            folders[folder, name.rpartition(".")[2]].append(one)
    total = sum(one.likeness**_STEEP_COMMITS for one in precedents)
    for files in folders.values():
        paths = {one.path for one in files}
        named = {mention.member for one in files for mention in one.named}
        touching = [one for one in precedents if not paths.isdisjoint(one.files)]
        touched = sum(one.likeness**_STEEP_COMMITS for one in touching) / total
        share = sum(votes[member] for member in named)
        score = _NAMED_KERNEL * share + (1 - _NAMED_KERNEL) * touched
        if score >= _SURELY_FOLDER and all(one.certainty != "surely" for one in files):
            yield max(files, key=lambda one: one.score).path


def _certainty(score: float, has_history: bool, is_kernel: bool) -> Certainty | None:
    named = (_SURELY_KERNEL, _PERHAPS_KERNEL) if is_kernel else (_SURELY_NAMED, _PERHAPS_NAMED)
    surely, perhaps = (_SURELY, _PERHAPS) if has_history else named
    if score >= surely:
        return "surely"
    return "perhaps" if score >= perhaps else None


def _votes(neighbours: Sequence[Neighbour]) -> dict[str, float]:
    """The weight of each operator; 1 in total."""
    nearest = [*neighbours[:_NEAREST]]
    nearest += (one for one in neighbours[_NEAREST:] if as_like(one, nearest[-1]))
    least = max((one.likeness for one in nearest), default=0.0) * _NEAR
    near = (one for one in nearest if one.likeness >= least)
    weights = {base_of(one.native.name): one.likeness**_STEEP for one in near}
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()} if total else {}


def _touched(precedents: Sequence[Precedent]) -> Mapping[str, float]:
    """The share of commits that touched each file, weighted by similarity."""
    total = sum(one.likeness**_STEEP_COMMITS for one in precedents)
    shares: defaultdict[str, float] = defaultdict(float)
    for one in precedents:
        for path in one.files:
            shares[path] += one.likeness**_STEEP_COMMITS / total
    return shares
