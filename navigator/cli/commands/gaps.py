"""``torchnav gaps``: missing features of this tree that could be contributed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date

import click

from indexes.model.errors import NotFound
from indexes.model.lines import grouped
from indexes.queries.gaps.find import find_gaps, with_ages, with_owners
from indexes.queries.gaps.kinds import KINDS
from indexes.queries.gaps.model import CONFIDENCES, Gap, GapFilter, GapList
from indexes.queries.gaps.requirements import MEANS
from indexes.queries.naming.keys import known_key
from indexes.serialize.gaps import gaps_json
from navigator.cli.session import Choice, Settings, pass_settings, places_option, say
from navigator.text.answers import source_lines
from navigator.text.clean import clean
from navigator.text.gaps import count_lines, gap_lines, gap_markdown, name_lines

_LIMIT = 20
_FEW = 3
_SOME = 5
"""Limit for each kind in JSON and Markdown, if several kinds are requested."""
_CONFIDENCES = Choice(CONFIDENCES)
_LEVELS = Choice(("easy", "medium", "hard"))
_KINDS = Choice(tuple(kind.name for kind in KINDS))


@click.command()
@click.argument("text", nargs=-1)
@click.option("--kind", "kinds", type=_KINDS, multiple=True, help="Only this kind; repeatable.")
@click.option(
    "--todo", is_flag=True, help="Only TODO and FIXME comments, which are omitted by default."
)
@click.option("--difficulty", type=_LEVELS, help="Only gaps of this difficulty.")
@click.option(
    "--confidence", type=_CONFIDENCES, help="Only gaps with this certainty of being wanted."
)
@click.option("--key", metavar="KEY", default="", help="Only for this device or dispatch key: MPS.")
@click.option("--module", metavar="NAME", default="", help="Only in this module or folder.")
@click.option("--owner", metavar="NAME", default="", help="Only in files that NAME owns.")
@click.option("--no-gpu", "no_gpu", is_flag=True, help="Only gaps that you can test without a GPU.")
@click.option("--mac", is_flag=True, help="Only gaps that you can test on a Mac.")
@click.option("--hour", is_flag=True, help="Only easy gaps that need no build.")
@click.option("--python-only", is_flag=True, help="Only gaps in Python code, which need no build.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(min=0),
    default=None,
    help=f"Show N gaps; by default {_FEW} of each kind, or {_LIMIT} of one. JSON and Markdown have"
    f" {_SOME} of each kind, or all of one.",
)
@click.option("--age", is_flag=True, help="Show the age of the lines, from git.")
@click.option("--markdown", is_flag=True, help="Write Markdown.")
@places_option
@pass_settings
def gaps(
    settings: Settings,
    text: tuple[str, ...],
    kinds: tuple[str, ...],
    todo: bool,
    difficulty: str | None,
    confidence: str | None,
    key: str,
    module: str,
    owner: str,
    no_gpu: bool,
    mac: bool,
    hour: bool,
    python_only: bool,
    limit: int | None,
    age: bool,
    markdown: bool,
) -> None:
    """List what is missing in this tree, easy gaps first, each with the lines that prove it.

    Every word of TEXT must match. Kinds that this source cannot answer say why.
    """
    index = settings.index()
    key = known_key(key, index) if key else ""
    options = zip(MEANS, (no_gpu, mac, hour, python_only), strict=True)
    query = GapFilter(
        (*kinds, *(["todo"] if todo else ())),
        difficulty or "",
        key,
        module,
        owner,
        tuple(name for name, is_set in options if is_set),
        " ".join(text),
        confidence or "",
    )
    answer = find_gaps(index, query, owners=False)
    whole = settings.json or markdown
    chosen = answer.gaps if whole and key and limit is None else _first(answer.gaps, limit, whole)
    shown = replace(answer, gaps=with_owners(index, chosen))
    if age:
        aged, note = with_ages(index, shown.gaps, date.today())
        shown = replace(shown, gaps=aged)
        if note:
            say(f"ages: {note}")
    if answer.gaps or not settings.json:
        settings.answer(
            lambda: gaps_json(shown, len(answer.gaps) - len(chosen)),
            lambda: gap_markdown(shown, shown.gaps) if markdown else _text(shown, answer.gaps),
        )
    if not answer.gaps:
        raise NotFound(_nothing(answer))


def _nothing(answer: GapList) -> str:
    """Says that nothing matches, and which kinds this source cannot answer."""
    unknown = [f"{count.kind}: {count.lacks}" for count in answer.counts if count.lacks]
    unknown += [f"{one.key}: {one.lacks}" for one in answer.keys if one.lacks]
    return "; ".join(["no matching gaps", *unknown])


def _first(gaps: Sequence[Gap], limit: int | None, whole: bool) -> tuple[Gap, ...]:
    """The most useful gaps: the requested number, else a few of each kind. ``whole``, for programs
    and files, means all gaps of a single kind, and more of several."""
    if limit is not None:
        return tuple(gaps[:limit])
    groups = grouped((gap.kind, gap) for gap in gaps)
    if len(groups) == 1:
        return tuple(gaps if whole else gaps[:_LIMIT])
    few = _SOME if whole else _FEW
    return tuple(gap for group in groups.values() for gap in group[:few])


def _text(shown: GapList, every: Sequence[Gap]) -> Iterator[str]:
    total = len(every)
    yield from count_lines(shown)
    if len(shown.counts) == 1:
        yield from name_lines(every)
    counted = {count.kind for count in shown.counts}
    unasked = [kind for kind in KINDS if kind.apart and kind.name not in counted]
    if unasked and len(shown.counts) > 1:
        yield f"not counted: {', '.join(f'--kind {kind.name}' for kind in unasked)}"
    if len({gap.kind for gap in shown.gaps}) > 1:
        yield from ("", *_listed(shown.gaps))
    else:
        yield from (line for gap in shown.gaps for line in ("", *gap_lines(gap)))
    if total > len(shown.gaps):
        yield from ("", f"... {total - len(shown.gaps):,} more: --limit {total}, or a filter")
    yield from ("", *source_lines(shown.source))


def _listed(gaps: Sequence[Gap]) -> Iterator[str]:
    """Gaps of several kinds as one list."""
    for gap in gaps:
        yield clean(f"{gap.id}  {gap.location}") + "  (possible)" * (gap.confidence == "possible")
    yield from ("", "torchnav gaps --kind KIND lists a kind; torchnav contribute ID plans a change")
