"""What torchgen writes for one operator, and that as JSON by the contract (``docs/json.md``)."""

from __future__ import annotations

from dataclasses import dataclass

from indexes.model.vocabulary import Location, SourceInfo
from indexes.serialize.answers import Object, envelope, shape


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a file that a build generates."""

    location: Location
    """Where it would stand in the build."""
    family: str
    """Which of the generated files it is in, whatever shard: ``VariableType.cpp``."""
    text: str
    template: Location | None
    """The placeholder that it stands for; None in a file that has no template."""
    placeholder: str
    generator: Location
    function: str
    """The function that makes it."""


@dataclass(frozen=True, slots=True)
class Absence:
    """Files that a build generates and that have nothing for the operator."""

    families: tuple[str, ...]
    reason: str
    """In the words of the generator's source; empty where it was not asked about the operator."""
    location: Location | None
    function: str
    comment: str
    """What the source says there; its author's words."""
    because: tuple[Because, ...] = ()


@dataclass(frozen=True, slots=True)
class Because:
    """A line on which a reason rests: a collection that names the operator, or what was asked."""

    text: str
    location: Location


@dataclass(frozen=True, slots=True)
class Generated:
    """What the generators of a tree write for an operator."""

    op: str
    source: SourceInfo
    generators: str
    """Whose: ``torchgen of this tree``, ``torchgen of the installed torch 2.13.0``."""
    note: str
    """Why those and no others; empty where they are the tree's own."""
    pieces: tuple[Piece, ...]
    absences: tuple[Absence, ...]


shape(Piece, "path line end_line family text template placeholder generator function")
shape(Absence, "families reason place=location function comment because")
shape(Because, "text place=location")


def generated_json(answer: Generated) -> Object:
    """The answer of ``torchnav generated``."""
    return envelope(
        answer.source,
        op=answer.op,
        generators=answer.generators,
        note=answer.note,
        pieces=answer.pieces,
        absences=answer.absences,
    )
