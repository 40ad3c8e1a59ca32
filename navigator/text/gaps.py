"""Gaps as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from indexes.model.vocabulary import Location
from indexes.queries.gaps.model import Gap, GapList
from indexes.source.source import permalink
from navigator.text.answers import wrap
from navigator.text.clean import clean, markdown_code, markdown_link, markdown_text

_EVIDENCE = 4
"""Lines of evidence that are shown of each gap; JSON has all."""


def count_lines(answer: GapList) -> Iterator[str]:
    """How many gaps of each kind there are, or why that cannot be told here."""
    for one in answer.counts:
        if one.lacks:
            yield clean(f"{one.difficulty:<7} {one.kind:<15}     ? {one.title}")
            yield from wrap(f"cannot be told: {one.lacks}", " " * 30)
        else:
            yield clean(f"{one.difficulty:<7} {one.kind:<15} {one.count:>5} {one.title}")


def gap_lines(gap: Gap) -> Iterator[str]:
    """What is missing, why it is a gap, where to look and how to begin."""
    age = f", {gap.age_days / 365.25:.1f} years old" if gap.age_days is not None else ""
    yield clean(f"{gap.kind} {gap.name} ({gap.difficulty}{age})")
    yield clean(f"    {gap.location}")
    yield from wrap(gap.what, "    ")
    yield from wrap(f"because {gap.rule}", "    ")
    others = [one for one in gap.evidence if one != gap.location]
    for one in others[:_EVIDENCE]:
        yield clean(f"      see {one}")
    if len(others) > _EVIDENCE:
        yield f"      ... and {len(others) - _EVIDENCE} more lines"
    if gap.owners:
        yield from wrap(f"reviewed by {', '.join(gap.owners)}", "    ")
    yield clean(f"    -> {gap.contribute}")


def gap_markdown(answer: GapList, gaps: Sequence[Gap]) -> Iterator[str]:
    """A table of counts, and a list of gaps by kind."""
    yield f"# Openings in PyTorch {markdown_text(answer.source.version)}"
    yield ""
    yield "| difficulty | kind | count | what |"
    yield "|---|---|---|---|"
    for one in answer.counts:
        count = "?" if one.lacks else f"{one.count:,}"
        words = f"{one.title} (cannot be told: {one.lacks})" if one.lacks else one.title
        yield f"| {one.difficulty} | `{one.kind}` | {count} | {markdown_text(words)} |"
    titles = {one.kind: one.title for one in answer.counts}
    order = {one.kind: at for at, one in enumerate(answer.counts)}
    by_kind = sorted(gaps, key=lambda gap: order[gap.kind])
    for kind, group in groupby(by_kind, key=lambda gap: gap.kind):
        yield ""
        yield f"## {markdown_text(titles[kind])}"
        yield ""
        for gap in group:
            yield from _item(answer, gap)


def _item(answer: GapList, gap: Gap) -> Iterator[str]:
    yield f"- **{markdown_text(gap.name)}** ({gap.difficulty}): {markdown_text(gap.what)}"
    yield f"  - why: {markdown_text(gap.rule)}"
    places = ", ".join(_link(answer, one) for one in dict.fromkeys((gap.location, *gap.evidence)))
    yield f"  - see {places}"
    yield f"  - begin: {markdown_code(gap.contribute)}"


def _link(answer: GapList, place: Location) -> str:
    return markdown_link(str(place), permalink(answer.source, place.path, place.line))
