"""A lab with what came of it: its narration with its links, its code, output and claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from indexes.model.vocabulary import SourceInfo
from indexes.serialize.answers import Object, envelope
from navigator.labs.cells import Cell, Claim, Lab
from navigator.labs.links import LINK, Link
from navigator.labs.running import CellRun, LabRun

Status = Literal["holds", "failed", "not reached", "skipped", "not run"]


@dataclass(frozen=True, slots=True)
class LabReport:
    """A lab, its links in one tree and, if it was run, what came of each cell."""

    lab: Lab
    links: Mapping[str, Link]
    source: SourceInfo
    run: LabRun | None = None

    @property
    def holds(self) -> bool:
        """Whether nothing that was run failed."""
        return self.run is None or self.run.holds(self.lab)

    def cell_run(self, number: int) -> CellRun | None:
        """What came of a cell; None if it was not run."""
        return self.run.cells.get(number) if self.run else None

    def status(self, claim: Claim, number: int) -> Status:
        """What is known of a claim of a cell."""
        run = self.cell_run(number)
        if run is None:
            return "not run"
        if run.skipped:
            return "skipped"
        if claim.line in run.checked and run.error_line != claim.line:
            return "holds"
        return "failed" if run.error_line == claim.line else "not reached"

    def as_json(self) -> Object:
        """All of it, by the contract in docs/json.md."""
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
        found = [_link_json(self.links[name]) for name in LINK.findall(cell.text)]
        return {"kind": "markdown", "line": cell.line, "text": cell.text, "links": found}

    def _code(self, cell: Cell, number: int) -> Object:
        run = self.cell_run(number) or CellRun()
        failed: Object = {"line": run.error_line, "message": run.error}
        return {
            "kind": "code",
            "line": cell.line,
            "text": cell.text,
            "needs": [*cell.needs],
            "output": run.output,
            "skipped": run.skipped,
            "error": failed if run.error else None,
            "claims": [
                {"line": one.line, "text": one.text, "status": self.status(one, number)}
                for one in cell.claims
            ],
        }


def lab_json(lab: Lab) -> Object:
    """A lab in the list of labs."""
    return {
        "name": lab.name,
        "number": lab.number,
        "title": lab.title,
        "summary": lab.summary,
        "needs": [*lab.needs],
        "claims": len(lab.claims),
        "file": lab.path.name,
    }


def _link_json(link: Link) -> Object:
    place = link.location
    return {
        "name": link.name,
        "path": place.path if place else None,
        "line": place.line or None if place else None,
        "others": link.others,
        "absent": link.absent,
    }
