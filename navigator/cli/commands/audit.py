"""``torchnav audit``: how much of a tree is linked, and how well."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import click

from indexes.model.errors import SourceError
from indexes.queries.audit.compilers import (
    compiler_measures,
    documented,
    library_measures,
    python_measures,
)
from indexes.queries.audit.errors import error_measure
from indexes.queries.audit.measure import Measure
from indexes.queries.audit.report import (
    LiveFacts,
    chained,
    drawn,
    launches,
    lengths,
    measures,
    named,
    screens,
)
from indexes.queries.audit.ways import read_computing
from indexes.queries.dispatch_path.live import PROBE
from indexes.queries.index import Index
from indexes.serialize.answers import envelope, shape
from navigator.cli.commands.op import default_answer
from navigator.cli.session import Settings, json_option, pass_settings, say
from navigator.live.installed import (
    is_installed,
    live_compilers,
    live_libraries,
    live_names,
    live_torch,
)
from navigator.text.answers import source_lines, wrap
from navigator.text.clean import clean
from navigator.trace.readers import read_trace
from navigator.trace.trace import Trace

shape(Measure, "name bar kept=met total counts short")

_FEW = 5
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@click.option("--acceptance", metavar="DIR", type=_FOLDER, help="Score tables of right answers.")
@click.option("--kernels", metavar="FILE", type=_FILE, help="Score names of device kernels (.tsv).")
@click.option("--names", is_flag=True, help="Compare Python names with the installed torch.")
@click.option("--traces", metavar="DIR", type=_FOLDER, help="Link the device kernels of traces.")
@click.option(
    "--answers", is_flag=True, help="Query every operator and public name (takes minutes)."
)
@click.option(
    "--errors", is_flag=True, help="Look up every error that tests expect (takes minutes)."
)
@click.option("--draw", metavar="N", type=int, help="Sample N steps of the graph to check by hand.")
@click.option(
    "--seed",
    metavar="N",
    type=int,
    default=0,
    help="The seed for --draw, for the same steps each time.",
)
@click.option("--no-live", is_flag=True, help="Do not compare with the installed torch.")
@click.option("--full", is_flag=True, help="List every item that fails.")
@json_option
@pass_settings
def audit(
    settings: Settings,
    acceptance: Path | None,
    kernels: Path | None,
    names: bool,
    traces: Path | None,
    answers: bool,
    errors: bool,
    draw: int | None,
    seed: int,
    no_live: bool,
    full: bool,
) -> int:
    """Check how much of the tree the index links, and how correctly.

    Prints one line for each requirement, with counts. Exit code 1 if one is not met.
    """
    index = settings.index()
    live = None if no_live else _live(index)
    done = []
    questions = (
        measures(index, live, acceptance, kernels),
        _compiled(index) if live else (),
        () if no_live else _libraries(index),
        _screened(index, acceptance) if acceptance else (),
        _answered(index) if answers else (),
        _expected(index) if errors else (),
        _python(index) if names else (),
        _traced(index, traces) if traces else (),
        (drawn(index, draw, seed),) if draw else (),
    )
    for measure in chain.from_iterable(questions):
        done.append(measure)
        if not settings.json:
            settings.terminal.write(_lines(measure, full))
    all_met = all(measure.met is not False for measure in done)
    settings.answer(
        lambda: envelope(index.info, kept=all_met, measures=done), lambda: source_lines(index.info)
    )
    return int(not all_met)


def _live(index: Index) -> LiveFacts | None:
    """Facts from the installed torch; tables only if the tree is its source."""
    same = is_installed(index.info)
    if not same:
        say("the installed torch is of another version: Node names and tables are not compared")
        return None
    operators = [op for op in index.dispatch.operators() if "::" not in op]
    try:
        torch = live_torch([*operators, PROBE])
    except SourceError as error:
        say(str(error))
        return None
    return LiveFacts(torch.version, True, torch.tables, torch.nodes)


def _compiled(index: Index) -> Iterator[Measure]:
    """Lowerings, decompositions and OpInfos, compared with the installed torch."""
    try:
        live = live_compilers()
    except SourceError as error:
        say(str(error))
        return
    yield from compiler_measures(index, live)


def _libraries(index: Index) -> Iterator[Measure]:
    """Operators outside aten, compared with the installed torch."""
    try:
        live = live_libraries()
    except SourceError as error:
        say(str(error))
        return
    yield from library_measures(index, live, is_installed(index.info))


def _python(index: Index) -> Iterator[Measure]:
    """Definitions of public Python names, compared with the installed torch."""
    if not is_installed(index.info):
        say("the installed torch is of another version: Python names are not compared")
        return
    yield from python_measures(index, live_names(documented(index)))


def _screened(index: Index, folder: Path) -> Iterator[Measure]:
    """The first answers for operators verified by hand."""
    table = folder / "computing.jsonl"
    if not table.is_file():
        return
    answer = cache(lambda op: list(default_answer(index, op)))
    yield screens((one, answer(one.op)) for one in read_computing(table))


def _answered(index: Index) -> Iterator[Measure]:
    """The answer for every operator, and the routes of every public name."""
    names = [operator.full_name for operator in index.operators()]
    yield lengths((name, sum(1 for _ in default_answer(index, name))) for name in names)
    yield from named(index)


def _expected(index: Index) -> Iterator[Measure]:
    """Error messages that the tree's tests expect."""
    yield error_measure(index)


def _traced(index: Index, folder: Path) -> Iterator[Measure]:
    """Device kernels in the traces of a folder, by where their names lead and whether the chains of
    the operators that launched them contain them."""
    for path in sorted(folder.glob("*.json*")):
        trace = read_trace(path)
        kernels = list(trace.kernels())
        yield launches(index, path.name, [kernel.name for kernel in kernels])
        in_operators = ((one.name, _enclosing_operators(trace, one.op_id)) for one in kernels)
        yield from chained(index, path.name, in_operators)


def _enclosing_operators(trace: Trace, row: int | None) -> list[str]:
    """ATen operators that contain a row, starting with the row itself."""
    found = []
    while row is not None:
        one = trace.op(row)
        if one.kind == "op" and one.name.startswith("aten::"):
            found.append(one.name.removeprefix("aten::"))
        row = one.parent
    return found


_VERDICTS = {True: "kept", False: "NOT MET", None: "not measured here"}


def _lines(measure: Measure, full: bool) -> Iterator[str]:
    yield f"{measure.name}: {_VERDICTS[measure.met]}"
    counts = ", ".join(f"{name} {count:,}" for name, count in measure.counts.items())
    yield from wrap(f"{measure.total:,}: {counts}", "    ")
    yield from wrap(f"bar: {measure.bar}", "    ")
    shown = measure.short if full else measure.short[:_FEW]
    for line in shown:
        yield clean(f"    - {line}")
    if len(measure.short) > len(shown):
        yield f"    ... {len(measure.short) - len(shown)} more: torchnav audit --full"
    yield ""
