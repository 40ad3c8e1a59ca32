"""A lab with its results: narration, code, output, claims, and links from the narration to source.

``[[AccumulateGrad]]`` links to the definition of a name, ``[[addmm: CPU]]`` to a line of an
operator's card: ``CPU``, ``CUDA``, ``grad``, ``Python`` and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from indexes.model.answers import Hit, NameMatch
from indexes.model.errors import NotFound
from indexes.model.vocabulary import Location, SourceInfo
from indexes.queries.index import Index
from indexes.serialize.answers import Object, envelope, shape, to_object
from navigator.labs.cells import Cell, Claim, Lab
from navigator.labs.running import CellRun, LabRun

LINK = re.compile(r"\[\[([^\[\]]+)\]\]")


@dataclass(frozen=True, slots=True)
class Link:
    """A name in the narration, and its place."""

    name: str
    """The name as written."""
    location: Location | None
    others: int = 0
    """Number of other places that match equally well."""
    absent: str = ""
    """Why there is no place: what the tree lacks."""


def names_in(lab: Lab) -> tuple[str, ...]:
    """The names that the narration links, without repetition."""
    texts = (cell.text for cell in lab.cells if cell.is_markdown)
    return tuple(dict.fromkeys(name for text in texts for name in LINK.findall(text)))


def links(lab: Lab, index: Index) -> Mapping[str, Link]:
    """Each name of a lab, looked up in the tree of an index."""
    return {name: look_up(name, index) for name in names_in(lab)}


def look_up(name: str, index: Index) -> Link:
    """The place of a name, or why there is none."""
    operator, _, label = name.partition(": ")
    try:
        match = index.meant(operator)
        return _card_line(name, label, match, index) if label else _place(name, match, index)
    except NotFound as error:
        return Link(name, None, absent=str(error))


def _card_line(name: str, label: str, match: NameMatch, index: Index) -> Link:
    """A line of the card of an operator."""
    if not match.overloads:
        raise NotFound(f"{match.text} is not an operator in PyTorch {index.info.version}")
    for line in index.card(match.overloads[0]).lines:
        if line.label == label:
            return Link(name, line.location, absent="" if line.location else line.text)
    raise NotFound(f"no {label} of {match.overloads[0]} is known in PyTorch {index.info.version}")


def _place(name: str, match: NameMatch, index: Index) -> Link:
    if hits := _best(match.hits):
        others = len(hits) - 1 if match.confidence == "ambiguous" else 0
        return Link(name, hits[0].location, others)
    native = index.native(match.overloads[0]) if match.overloads else None
    if native is None:
        raise NotFound(f"{match.text} has no location of its own")
    return Link(name, native.location)


def _best(hits: Iterable[Hit]) -> list[Hit]:
    """Prefers a class to its constructors, and a definition to a declaration."""
    found = list(hits)
    return [hit for hit in found if hit.kind == "class"] or found


Status = Literal["holds", "failed", "not reached", "skipped", "not run"]


@dataclass(frozen=True, slots=True)
class LabReport:
    """A lab, its links in one tree and, if it was run, the result of each cell."""

    lab: Lab
    links: Mapping[str, Link]
    source: SourceInfo
    run: LabRun | None = None

    @property
    def holds(self) -> bool:
        """Whether no cell or claim failed."""
        return self.run is None or self.run.holds(self.lab)

    def cell_run(self, number: int) -> CellRun | None:
        """The result of a cell; None if it was not run."""
        return self.run.cells.get(number) if self.run else None

    def status(self, claim: Claim, number: int) -> Status:
        """The result of a claim of a cell."""
        run = self.cell_run(number)
        if run is None:
            return "not run"
        if run.skipped:
            return "skipped"
        if claim.line in run.checked and run.error_line != claim.line:
            return "holds"
        return "failed" if run.error_line == claim.line else "not reached"

    def as_json(self) -> Object:
        """As described in docs/json.md."""
        cells: list[Object] = [
            self._narration(cell) if cell.is_markdown else self._code(cell, number)
            for number, cell in enumerate(self.lab.cells)
        ]
        return envelope(
            self.source,
            lab=lab_json(self.lab),
            torch=self.run.torch_version if self.run else None,
            holds=None if self.run is None else self.holds,
            ended=self.run.ended if self.run else "",
            cells=cells,
        )

    def _narration(self, cell: Cell) -> Object:
        found = [self.links[name] for name in LINK.findall(cell.text)]
        return to_object(cell, "kind line text links", kind="markdown", links=found)

    def _code(self, cell: Cell, number: int) -> Object:
        run = self.cell_run(number) or CellRun()
        failed: Object = {"line": run.error_line, "message": run.error}
        return to_object(
            cell,
            "kind line text needs output skipped error claims",
            kind="code",
            output=run.output,
            skipped=run.skipped,
            error=failed if run.error else None,
            claims=[
                to_object(one, "line text", status=self.status(one, number)) for one in cell.claims
            ],
        )


shape(Link, "name path line? others absent")


def lab_json(lab: Lab) -> Object:
    """An entry of the list of labs."""
    keys = "name number title summary needs claims file=path.name"
    return to_object(lab, keys, claims=len(lab.claims))
