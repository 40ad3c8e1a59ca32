"""Labs as plain text and as a page of Markdown."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence

from indexes.source.permalinks import permalink
from navigator.labs.cells import Cell, Lab
from navigator.labs.report import LINK, LabReport, Link, Status
from navigator.text.answers import source_lines, version_words, wrap
from navigator.text.clean import clean, markdown_code, markdown_link, markdown_text, printable

_SIGN = {"holds": "ok", "failed": "FAILED"}
_FENCE = re.compile(r"`{3,}")


def list_lines(labs: Sequence[Lab]) -> Iterator[str]:
    """Every lab in reading order: its name, topic and requirements."""
    widest = max(len(lab.name) for lab in labs)
    for lab in labs:
        needs = f"  (needs {', '.join(lab.needs)})" if lab.needs else ""
        yield f"{lab.number:>2}  {lab.name:{widest}}  {lab.title}{needs}"


# -------------------------------------------------------------------------- plain text


def lab_lines(report: LabReport) -> Iterator[str]:
    """A lab from its title to the targets of its links."""
    for number, cell in enumerate(report.lab.cells):
        yield from _narration(report, cell) if cell.is_markdown else _code(report, cell, number)
    yield from wrap(_summary(report), "")
    yield from source_lines(report.source)


def _narration(report: LabReport, cell: Cell) -> Iterator[str]:
    for paragraph in cell.text.split("\n\n"):
        text = LINK.sub(lambda found: _link_text(report.links[found[1]]), paragraph)
        if text.startswith("#"):
            heading, _, text = text.partition("\n")
            yield clean(heading)
        for part in re.split(r"\n(?=- )", text):  # keep list items separate
            yield from wrap(part, "")
        yield ""


def _link_text(link: Link) -> str:
    return f"{link.name} ({_link_place(link)})"


def _link_place(link: Link) -> str:
    if link.location is None:
        return "not found in this source"
    more = f" and {link.others} more" if link.others else ""
    return f"{link.location}{more}"


def _code(report: LabReport, cell: Cell, number: int) -> Iterator[str]:
    for line, text in enumerate(cell.text.splitlines(), cell.line):
        yield printable(f"  {line:>3}  {text}".rstrip())
    yield from (printable(f"       | {line}") for line in _output(report, number))
    for claim in cell.claims:
        status = report.status(claim, number)
        where = f"{report.lab.path.name}:{claim.line}"
        yield clean(f"   {_SIGN.get(status, status)}: {claim.text}  ({where})")
    for failure in _failure_lines(report, number):
        yield from (printable(f"   {line}") for line in failure.splitlines())
    yield ""


def _output(report: LabReport, number: int) -> list[str]:
    """The output of a cell; the lab's own path is shortened to its name."""
    run = report.cell_run(number)
    folder = f"{report.lab.path.parent}{os.sep}"
    return run.output.replace(folder, "").splitlines() if run else []


def _failure_lines(report: LabReport, number: int) -> Iterator[str]:
    """Why a cell was not run, or its error."""
    run = report.cell_run(number)
    if run and run.skipped:
        yield f"skipped: {run.skipped}"
    if run and run.error:
        yield f"{report.lab.path.name}:{run.error_line}: {run.error}"


def _summary(report: LabReport) -> str:
    """How many claims hold, and the tree of the links."""
    claims, run = report.lab.claims, report.run
    lost = sum(link.location is None for link in report.links.values())
    links = f"{len(report.links) - lost} of {len(report.links)} links found in this source"
    if run is None:
        return f"{_count(len(claims), 'claim')}, not run; {links}."
    held = sum(
        report.status(claim, number) == "holds"
        for number, cell in enumerate(report.lab.cells)
        for claim in cell.claims
    )
    ended = f"; the lab ended early: {run.ended}" if run.ended else ""
    whose = f"with torch {run.torch_version}"
    return f"{held} of {_count(len(claims), 'claim')} checked {whose}{ended}; {links}."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


# ---------------------------------------------------------------------------- Markdown


def lab_page(report: LabReport) -> Iterator[str]:
    """A lab as a page: narration, code, output and claims, then the targets of its links."""
    for number, cell in enumerate(report.lab.cells):
        yield from (
            _page_text(report, cell) if cell.is_markdown else _page_code(report, cell, number)
        )
    yield "---"
    yield ""
    yield from _page_links(report)
    yield f"{_summary(report)} Links: {version_words(report.source)}."
    yield f"Made by `torchnav lab {report.lab.name} --markdown FILE`."


def _page_text(report: LabReport, cell: Cell) -> Iterator[str]:
    text = LINK.sub(lambda found: _page_link(report, report.links[found[1]]), cell.text)
    yield from map(printable, text.splitlines())
    yield ""


def _page_link(report: LabReport, link: Link) -> str:
    if link.location is None:
        return f"{markdown_code(link.name)} (not found in this source)"
    place = link.location
    return markdown_link(link.name, permalink(report.source, place.path, place.line))


def _page_code(report: LabReport, cell: Cell, number: int) -> Iterator[str]:
    yield from _fenced("python", cell.text.splitlines())
    if output := _output(report, number):
        yield from _fenced("text", output)
    results = [f"- {_sign(report.status(one, number))} {clean(one.text)}" for one in cell.claims]
    results += [f"- {clean(failure_line)}" for failure_line in _failure_lines(report, number)]
    if results:
        yield from (*results, "")


def _sign(status: Status) -> str:
    return {"holds": "✓", "failed": "✗"}.get(status, f"{status}:")


def _fenced(language: str, lines: Iterable[str]) -> Iterator[str]:
    yield f"```{language}"
    yield from (_FENCE.sub("``", printable(line)) for line in lines)
    yield "```"
    yield ""


def _page_links(report: LabReport) -> Iterator[str]:
    if not report.links:
        return
    yield "| name | where |"
    yield "|---|---|"
    for link in report.links.values():
        where = (
            markdown_code(_link_place(link))
            if link.location
            else f"absent: {markdown_text(link.absent)}"
        )
        yield f"| {markdown_code(link.name)} | {where} |"
    yield ""
