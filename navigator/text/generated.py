"""What torchgen writes for an operator as text: an overview, then the code."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from indexes.model.errors import NotFound
from indexes.model.vocabulary import Location
from indexes.queries.naming.near import near
from navigator.live.generated.query import Absence, Generated, Piece
from navigator.text.answers import wrap
from navigator.text.clean import clean

_ORDER = (
    "python_variable",
    "python_torch",
    "python_",
    "TensorBody",
    "Function.h",
    "Operator.h",
    "Operators.cpp",
    "RegisterBackendSelect",
    "TraceType",
    "ADInplaceOrView",
    "VariableType",
    "Functions.",
    "RegisterCPU",
    "RegisterComposite",
    "Register",
    "NativeMetaFunction",
    "NativeFunction",
)
"""Order of a call through the files, by prefixes of their names; others come last."""
_OFF_THE_ROAD = ("python_functions", "python_return", "RegisterSchema", "RegisterFunctional")
_STOPS = 13
"""The number of these that a call passes."""
_HINT = "more: --full for the code of all pieces, --only NAME for those of one file"


def generated_lines(answer: Generated, full: bool, only: str) -> Iterator[str]:
    """The overview, then the code: that on a call's path, all of it, or one file's.

    Raises:
        NotFound: If ``only`` is not one of the files.
    """
    pieces = sorted(answer.pieces, key=lambda one: (_rank(one.family), one.location))
    if only:
        pieces = _chosen(answer, only)
    else:
        yield from _overview(answer, pieces, full)
    for piece in pieces if full or only else _way(pieces):
        yield from _code(piece)
    if not (full or only):
        yield from ("", _HINT)


def _rank(name: str) -> int:
    if not name.startswith(_OFF_THE_ROAD):
        for at, beginning in enumerate(_ORDER):
            if name.startswith(beginning):
                return at
    return len(_ORDER)


def _chosen(answer: Generated, only: str) -> list[Piece]:
    found = [piece for piece in answer.pieces if piece.family.lower().startswith(only.lower())]
    if not found:
        absent = {name: absence for absence in answer.absences for name in absence.families}
        for name, one in absent.items():
            if name.lower().startswith(only.lower()):
                raise NotFound(f"{name} has nothing for {answer.op}: {' '.join(_why(one))}")
        names = sorted({one.family for one in answer.pieces}, key=_rank)[:8]
        raise NotFound(f"no generated file begins with {only}", near(only, names) or tuple(names))
    return found


def _way(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces that a call passes: of the kernel's registrations only the first."""
    registered = next((one.family for one in pieces if one.family.startswith("Register")), "")
    for piece in pieces:
        skipped = piece.family.startswith("Register") and piece.family != registered
        if (_rank(piece.family) < _STOPS and not skipped) or piece.family == registered:
            yield piece


def _overview(answer: Generated, pieces: Iterable[Piece], full: bool) -> Iterator[str]:
    yield clean(f"{answer.op}: what {answer.generators} writes, as a call goes down")
    if answer.note:
        yield from wrap(answer.note, "  ")
    yield ""
    yield from _columns("file:lines", "template:line", "generator:line")
    for _, group in groupby(pieces, lambda one: one.location.path):
        yield from _row(list(group))
    yield from _absences(answer, full)


def _absences(answer: Generated, full: bool) -> Iterator[str]:
    """Why files have nothing for the operator; without ``full``, only files on a call's path."""
    python = any(piece.family.startswith("python_") for piece in answer.pieces)
    ranked = sorted(answer.absences, key=lambda one: min(map(_rank, one.families)))
    shown = [
        one for one in ranked if full or any(_is_expected(name, python) for name in one.families)
    ]
    if not shown:
        return
    yield ""
    yield "no code for it in"
    for one in shown:
        yield from _absence(one)
    rest = sum(len(one.families) for one in ranked if one not in shown)
    if rest:
        yield f"  and {rest} more files: --full"


def _is_expected(family: str, python: bool) -> bool:
    """Whether readers would expect a file on a call's path."""
    return _rank(family) < _STOPS and not (python and family.startswith("python_"))


def _row(pieces: Sequence[Piece]) -> Iterator[str]:
    """The pieces of one file."""
    places = [piece.location for piece in pieces]
    lines = ",".join(f"{a}-{b}" if b > a else f"{a}" for _, a, b in places)
    templates = _listed(one.template for one in pieces if one.template)
    generators = _listed(one.generator for one in pieces)
    yield from _columns(f"{os.path.basename(places[0].path)}:{lines}", templates or "-", generators)


def _columns(file: str, template: str, generator: str) -> Iterator[str]:
    """A row of the table; on two lines if the first column is too narrow."""
    rest = f"{template:<27} {generator}"
    if len(file) > _FILE:
        yield clean(f"  {file}")
        file = ""
    yield clean(f"  {file:<{_FILE}} {rest}")


_FILE = 41
"""Width of the column of files and lines."""


def _listed(places: Iterable[Location]) -> str:
    """Places in short: each file name once, with its lines."""
    lines: dict[str, dict[int, None]] = {}
    for place in places:
        lines.setdefault(os.path.basename(place.path), {})[place.line] = None
    return " ".join(f"{name}:{','.join(map(str, found))}" for name, found in lines.items())


def _absence(absence: Absence) -> Iterator[str]:
    yield from wrap(" ".join(absence.families), "  ")
    for line in _why(absence):
        yield from wrap(line, "      ")


def _why(absence: Absence) -> Iterator[str]:
    """The reason, its comment, and its evidence."""
    place = f" ({absence.location})" if absence.location else ""
    nested = f"{absence.function} returned nothing: " if absence.function else ""
    yield f"{nested}{absence.reason or 'no reason was found where it is written'}{place}"
    if absence.comment:
        yield f"# {absence.comment}"
    for because in absence.because:
        yield f"{because.text} ({because.location})"


def _code(piece: Piece) -> Iterator[str]:
    where = piece.location
    yield ""
    yield clean(f"{where} to line {where.end_line}" if where.end_line > where.line else str(where))
    if piece.template:
        yield clean(f"    template   {piece.template} ${{{piece.placeholder}}}")
    yield clean(f"    generator  {piece.generator} {piece.function}")
    yield ""
    for line in piece.text.split("\n"):
        yield clean(line)
