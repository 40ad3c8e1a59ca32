"""Gaps as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from indexes.queries.gaps.model import Gap, GapList, KeyCount, KindCount
from navigator.text.answers import entry, wrap
from navigator.text.clean import clean
from navigator.text.markdown import code, heading, place, table, words

_EVIDENCE = 4
"""Lines of evidence for each gap; JSON has all."""


def count_lines(answer: GapList) -> Iterator[str]:
    """The number of gaps of each kind, or why it is unknown."""
    for one in answer.counts:
        if one.lacks:
            yield clean(f"{one.difficulty:<7} {one.kind:<16}     ? {one.title}")
            yield from wrap(f"unknown: {one.lacks}", " " * 31)
        elif one.count:
            yield clean(
                f"{one.difficulty:<7} {one.kind:<16} {one.count:>5} {one.title}{_unsure(one)}"
            )
    if none := [count.kind for count in answer.counts if not (count.count or count.lacks)]:
        yield from wrap(f"none that match: {', '.join(none)}", "")
    if len(answer.counts) == 1:
        yield from _key_lines(answer.keys)


def _unsure(kind_count: KindCount | KeyCount) -> str:
    return f" ({kind_count.possible:,} of them only possible)" if kind_count.possible else ""


def _key_lines(keys: Sequence[KeyCount]) -> Iterator[str]:
    """Missing kernels by dispatch key."""
    for one in keys:
        if one.lacks:
            yield from wrap(f"{one.key} unknown: {one.lacks}", " " * 24)
        else:
            yield clean(f"{'':<24} {one.count:>5} {one.key}{_unsure(one)}")


_NAMES = 10
"""Maximum number of lines of names."""


def name_lines(gaps: Sequence[Gap]) -> Iterator[str]:
    """The names that a kind's gaps concern, in a few lines."""
    names = dict.fromkeys(gap.name.partition(".")[0] for gap in gaps if gap.op)
    lines = list(wrap(", ".join(names), "  ")) if len(names) > 1 else []
    yield from lines[:_NAMES]
    if len(lines) > _NAMES:
        shown = " ".join(lines[:_NAMES]).count(",")
        yield f"  ... {len(names) - shown:,} more names: --json"


def gap_lines(gap: Gap) -> Iterator[str]:
    """What is missing, why it is a gap, where to look and how to begin."""
    age = f", {gap.age_days / 365.25:.1f} years old" if gap.age_days is not None else ""
    sure = ", possible" if gap.confidence == "possible" else ""
    title = f"{gap.id} ({gap.difficulty}{sure}{age})"
    yield from entry(title, gap.location, gap.what, f"because {gap.rule}")
    if gap.effort:
        yield from wrap(gap.effort, "    ")
    others = [one for one in gap.evidence if one != gap.location]
    for one in others[:_EVIDENCE]:
        yield clean(f"      see {one}")
    if len(others) > _EVIDENCE:
        yield f"      ... and {len(others) - _EVIDENCE} more"
    if gap.owners:
        yield from wrap(f"reviewed by {', '.join(gap.owners)}", "    ")
    yield clean(f"    -> {gap.contribute}")


def gap_markdown(answer: GapList, gaps: Sequence[Gap]) -> Iterator[str]:
    """A table of counts, and gaps by kind."""
    yield f"# Openings in PyTorch {words(answer.source.version)}"
    yield ""
    yield from table(("difficulty", "kind", "count", "what"), map(_count_row, answer.counts))
    for count in answer.counts:
        found = [gap for gap in gaps if gap.kind == count.kind]
        if found:
            yield from heading(2, words(count.title))
        for gap in found:
            yield from _item(answer, gap)


def _count_row(one: KindCount) -> tuple[str, ...]:
    if one.lacks:
        return one.difficulty, code(one.kind), "?", words(f"{one.title} (unknown: {one.lacks})")
    return one.difficulty, code(one.kind), f"{one.count:,}", words(one.title)


def _item(answer: GapList, gap: Gap) -> Iterator[str]:
    places = dict.fromkeys((gap.location, *gap.evidence))
    yield f"- **{words(gap.name)}** ({gap.difficulty}): {words(gap.what)}"
    yield f"  - why: {words(gap.rule)}"
    yield f"  - see {', '.join(place(answer.source, one) for one in places)}"
    yield f"  - begin: {code(gap.contribute)}"
