"""``torchnav ranks``: compares the traces of many ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import click

from indexes.model.errors import NotFound, Progress
from indexes.model.vocabulary import SCHEMA_VERSION
from indexes.serialize.answers import Object, shape, to_json, to_object
from indexes.source.source import cache_folder
from navigator.cli.session import Settings, json_option, pass_settings, say
from navigator.cli.terminal import ProgressLine
from navigator.text.clean import clean
from navigator.trace.figures.collectives import Skew
from navigator.trace.model import BadRank, Rank
from navigator.trace.ranks.files import rank_files
from navigator.trace.ranks.reduce import read_on_cluster, read_ranks
from navigator.trace.ranks.stored import complete
from navigator.trace.ranks.summary import RunSummary, Spread, summarise
from navigator.trace.wording import duration

shape(
    Rank,
    "rank=number path rows span_us compute_us communication_us exposed_us overlap idle_us"
    " on_device problems",
)
shape(BadRank, "path reason")
Results = Iterator[Rank | BadRank]
_SPREAD = "kind name ranks count min_us median_us max_us total_us slowest imbalance"
_SKEW = "name number ranks start_us end_us last"
_SHOWN = 12
"""Maximum number of ranks, and of names of a kind, in text; JSON has all."""
_KINDS = {
    "kernel": "kernels, device time",
    "operator": "operators, self time",
    "phase": "phases, CPU",
    "device phase": "phases, device",
}


@click.command()
@click.option(
    "-j",
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Traces to read at the same time; default: one per core.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Read them on a Dask cluster, given its scheduler: tcp://HOST:8786.",
)
@click.argument("traces", metavar="FOLDER|PATTERN|URL")
@json_option
@pass_settings
def ranks(settings: Settings, traces: str, jobs: int | None, cluster: str | None) -> None:
    """Compare traces of many ranks: time by operator, kernel and phase.

    Shows the slowest rank for each, stragglers, and how much communication is hidden behind
    computation. Results are cached: each trace is read once.
    """
    files = rank_files(traces)
    if not files:
        raise NotFound(f"{traces} has no .json file, compressed or not")
    with ProgressLine() as line:
        summary = _summary(settings, files, partial(_read, jobs, cluster, line))
    if not summary.ranks:
        raise NotFound(f"{traces} has no trace: {summary.bad[0].path} {summary.bad[0].reason}")
    settings.answer(lambda: _json(traces, summary), lambda: _text(traces, summary))


def _read(
    jobs: int | None, cluster: str | None, line: ProgressLine, files: Sequence[str]
) -> Iterator[Rank | BadRank]:
    def progress(done: int) -> None:
        line(Progress("ranks", done, len(files)))

    if cluster is not None and files:
        return read_on_cluster(files, cluster, progress)
    return read_ranks(files, jobs or 0, progress)


def _summary(
    settings: Settings, files: Sequence[str], read: Callable[[Sequence[str]], Results]
) -> RunSummary:
    """From the cache, if its folder can be written."""
    try:
        folder = (settings.cache or cache_folder()) / "ranks"
        return summarise(complete(folder, files, read))
    except OSError as error:
        say(f"the results are not cached: {error}")
        return summarise(read(files))


def _json(traces: str, summary: RunSummary) -> Object:
    return {
        "schema_version": SCHEMA_VERSION,
        "folder": traces,
        "ranks": to_json(summary.ranks),
        "stragglers": [rank.number for rank in summary.stragglers],
        "times": [to_object(spread, _SPREAD) for spread in summary.spreads],
        "collectives": [to_object(skew, _SKEW) for skew in summary.skews],
        "bad": to_json(summary.bad),
    }


def _text(traces: str, summary: RunSummary) -> Iterator[str]:
    count = len(summary.ranks)
    on = "devices" if any(rank.on_device for rank in summary.ranks) else "the CPU"
    yield f"{clean(traces)}: {count} ranks, {sum(r.rows for r in summary.ranks):,} rows"
    yield from (f"not read   {clean(bad.path)}: {clean(bad.reason)}" for bad in summary.bad)
    for rank in summary.ranks:
        yield from (f"problem    rank {rank.number}: {clean(problem)}" for problem in rank.problems)
    yield from _stragglers(summary)
    yield ""
    columns = ("span", "compute", "comm.", "exposed", "idle")
    yield f"{'rank':>6}  " + "  ".join(f"{name:>9}" for name in columns) + f"  ({on})"
    yield from map(_rank_line, sorted(summary.ranks, key=lambda r: -r.compute_us)[:_SHOWN])
    if count > _SHOWN:
        yield f"        ... and {count - _SHOWN} that compute less: --json"
    yield from _skew_lines(summary.skews)
    for kind, words in _KINDS.items():
        yield from _spread_lines(words, [one for one in summary.spreads if one.kind == kind])


def _stragglers(summary: RunSummary) -> Iterator[str]:
    for rank in summary.stragglers:
        factor = rank.compute_us / summary.median_compute_us if summary.median_compute_us else 0
        yield (
            f"straggler  rank {rank.number} computes {duration(rank.compute_us)}, "
            f"{factor:.2f}x the median"
        )


def _rank_line(rank: Rank) -> str:
    times = (rank.span_us, rank.compute_us, rank.communication_us, rank.exposed_us, rank.idle_us)
    return f"{rank.number:>6}  " + "  ".join(f"{duration(time):>9}" for time in times)


def _spread_lines(words: str, spreads: list[Spread]) -> Iterator[str]:
    if not spreads:
        return
    yield ""
    yield f"{'min':>9}  {'median':>9}  {'max':>9}  {'slowest':>7}  {'max/med':>7}  {words}"
    for one in spreads[:_SHOWN]:
        times = "  ".join(f"{duration(t):>9}" for t in (one.min_us, one.median_us, one.max_us))
        ratio = f"{one.imbalance:.2f}" if one.imbalance is not None else "-"
        yield f"{times}  {one.slowest:>7}  {ratio:>7}  {clean(one.name)}"


def _skew_lines(skews: Sequence[Skew]) -> Iterator[str]:
    """The ranks that the others wait for, and the collectives with the longest waits."""
    if not skews:
        return
    yield ""
    rank, often = Counter(skew.last for skew in skews).most_common(1)[0]
    yield f"rank {rank} comes last to {often} of {len(skews)} collectives, if all ranks share them"
    yield f"{'wait':>9}  {'end':>9}  {'last':>7}  from the first rank to the last"
    for skew in skews[:_SHOWN]:
        times = "  ".join(f"{duration(t):>9}" for t in (skew.start_us, skew.end_us))
        yield f"{times}  {skew.last:>7}  {clean(skew.name)} #{skew.number}"
