"""``torchnav lab``: short programs that show how PyTorch works, run and linked to its source."""

from __future__ import annotations

import click
from click.exceptions import Exit

from indexes.model.errors import NotFound, Progress, SourceError, UsageError
from indexes.queries.naming.near import near
from indexes.source.torch_install import target_python
from navigator.cli.session import Settings, json_option, pass_settings, write_page
from navigator.cli.terminal import ProgressLine
from navigator.labs.cells import Lab, all_labs
from navigator.labs.report import LabReport, lab_json, links
from navigator.labs.running import LabRun, run_lab
from navigator.text.labs import lab_lines, lab_page, list_lines


@click.command()
@click.argument("name", required=False, default="")
@click.option("--no-run", is_flag=True, help="Show the lab and its links without running it.")
@click.option("--markdown", metavar="FILE", help="Write the lab as a Markdown page; - is stdout.")
@json_option
@pass_settings
def lab(settings: Settings, name: str, no_run: bool, markdown: str | None) -> None:
    """Run a lab: a short program about one part of PyTorch that checks what it claims.

    Without NAME, lists the labs in reading order. A lab runs with the Python that has torch; the
    names in its text link to your source. The exit code is 1 if a claim does not hold.
    """
    labs = all_labs()
    if not name:
        if markdown:
            raise UsageError("--markdown writes the page of one lab: name it")
        _write_list(settings, labs)
        return
    report = _report(settings, _named(name, labs), not no_run)
    if markdown:
        write_page(settings, markdown, "\n".join(lab_page(report)) + "\n")
    if settings.json or not markdown:
        settings.answer(report.as_json, lambda: lab_lines(report))
    if not report.holds:
        raise Exit(1)


def _write_list(settings: Settings, labs: tuple[Lab, ...]) -> None:
    if settings.json:
        settings.write({"schema_version": 1, "labs": [lab_json(one) for one in labs]})
    else:
        settings.terminal.write(list_lines(labs))


def _named(name: str, labs: tuple[Lab, ...]) -> Lab:
    """The lab with this name, number or file name. Raises NotFound."""
    for one in labs:
        if name.casefold() in (one.name, str(one.number), one.path.stem, one.path.name):
            return one
    names = [one.name for one in labs]
    raise NotFound(f"no lab named {name!r}", near(name, names) or tuple(names[:5]))


def _report(settings: Settings, one: Lab, run_it: bool) -> LabReport:
    target = target_python()
    if run_it and target.torch is None:
        raise SourceError("no Python with torch was found: name one with --python")
    index = settings.index()
    run = _run(settings, one, target.path) if run_it else None
    return LabReport(one, links(one, index), index.info, run)


def _run(settings: Settings, one: Lab, python: str) -> LabRun:
    code = [number for number, cell in enumerate(one.cells) if not cell.is_markdown]
    with ProgressLine() as progress:

        def cell_done(number: int) -> None:
            progress(Progress(f"lab {one.name}", code.index(number) + 1, len(code)))

        progress(Progress(f"lab {one.name}", 0, len(code)))
        return run_lab(one, python, settings.tree, settings.cache, cell_done)
