"""Why a program ended with an error: what ``torchnav why`` answers, live or from a recording."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from indexes.model.answers import Hit
from indexes.model.errors import TorchnavError
from indexes.model.regex import regex
from indexes.model.vocabulary import SCHEMA_VERSION, DerivativeEntry, Formula
from indexes.queries.index import Index
from indexes.queries.pasted import pasted
from indexes.serialize.answers import Object, dumps, to_object
from navigator.text.why import why_lines

Place = tuple[str, int]
"""A line of the program."""

MODIFIED = regex(r"is at version (\d+); expected version (\d+)")
_HIT = "kind name path line detail op"


@dataclass(frozen=True, slots=True)
class Write:
    """A call that changed a tensor in place."""

    storage: int
    """The storage that it wrote to."""
    before: int
    after: int
    """The tensor's version before and after it."""
    call: str
    """``Tensor.mul_``; in a recording the operator, ``aten::mul_.Tensor``."""
    through: str
    """Shape of the tensor that it wrote through, and whether that is a view."""
    line: Place | None
    """The line of the program."""
    with_grad: bool | None
    """Whether gradients were recorded; None if unknown."""


@dataclass(frozen=True, slots=True)
class Cause:
    """A saved value that was written to before its node used it."""

    node: str
    made_at: Place | None
    """The line whose call made the node."""
    code: Place | None
    """The backward of a Function that the program defines."""
    saved: tuple[str, ...]
    """The names of the value in formulas."""
    shape: tuple[int, ...]
    entry: DerivativeEntry | None
    formulas: tuple[Formula, ...]
    """The formulas that need the value."""
    writes: tuple[Write, ...]
    """Writes since it was saved, in order."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a program ended with an error."""

    error: str
    raised_at: Place | None
    """The line of the program."""
    causes: tuple[Cause, ...]
    made: tuple[tuple[str, Place], ...] = ()
    """Where the tensors of the failed call were made: description and line."""
    note: str = ""
    call: str = ""
    """The call of torch that failed: ``torch.nn.functional.linear``."""
    given: tuple[str, ...] = ()
    """Its tensors."""
    said_by: tuple[Hit, ...] = ()
    """The lines that can have raised it, then the running operators, outermost first."""

    def __str__(self) -> str:
        return "\n".join(why_lines(self))

    def as_json(self) -> str:
        """One line of JSON, as described in docs/json.md."""
        made = [{"what": what, **(place_json(line) or {})} for what, line in self.made]
        fields = to_object(
            self,
            "error raised_at causes made note call? given said_by",
            raised_at=place_json(self.raised_at),
            causes=[_cause_json(cause) for cause in self.causes],
            made=made,
            said_by=[to_object(one, _HIT) for one in self.said_by],
        )
        return dumps({"schema_version": SCHEMA_VERSION, **fields})


def _cause_json(cause: Cause) -> Object:
    return to_object(
        cause,
        "node made_at saved shape entry formulas writes",
        made_at=place_json(cause.made_at),
        entry=cause.entry and to_object(cause.entry, "op path line"),
        formulas=[to_object(formula, "text path line") for formula in cause.formulas],
        writes=[
            to_object(write, "call through before after with_grad", at=place_json(write.line))
            for write in cause.writes
        ],
    )


def place_json(line: Place | None) -> dict[str, Any] | None:
    """A line of the program as JSON."""
    return {"file": line[0], "line": line[1]} if line else None


def needing(formulas: Iterable[Formula], saved: Sequence[str]) -> Iterator[Formula]:
    """The formulas that name a saved value, without repetition."""
    for formula in dict.fromkeys(formulas):
        if any(re.search(rf"\b{re.escape(name)}\b", formula.text) for name in saved):
            yield formula


def said_by(error: str, index: Index, file: str = "") -> tuple[Hit, ...]:
    """The lines that can have raised an error, and the operators in its stack.

    Parameters:
        error: The type and the message, with the C++ stack if present.
        file: The Python file that raised it or called the C++ code that did; others are excluded.
    """
    try:
        match = index.resolve(error)
    except TorchnavError:
        return ()
    hits = match.hits if match.kind == "error" else ()
    in_file = tuple(hit for hit in hits if file.endswith(f"/{hit.location.path}"))
    return in_file or tuple(hit for hit in hits if not (file and hit.location.path.endswith(".py")))


def no_line_note(error: str, index: Index) -> str:
    """The message if no line is known to raise an error."""
    place = pasted(error).raised_from
    where = f", which was raised from {place[0]}:{place[1]} of the torch that ran" if place else ""
    more = "; torchnav clone brings its C++" if index.info.kind == "wheel" else ""
    return (
        f"no line of {index.info.version} ({index.info.kind}) is known to raise this{where}{more}"
    )
