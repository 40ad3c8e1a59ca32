"""Answers as plain text: the same bytes on a terminal and in a pipe, 80 columns where it can.

Text that comes from source or traces passes ``clean`` before it is written.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from indexes.model.places import DeviceKernelAnswer, EngineFunction, Hit, Member
from indexes.model.vocabulary import Confidence, Location, Problem, SourceInfo
from navigator.text.clean import clean

WIDTH = 80
_NARROWEST = 40


def wrap(text: str, indent: str, width: int = WIDTH) -> Iterator[str]:
    """``text`` in lines of at most so many columns; a word that is longer stays whole."""
    return iter(
        textwrap.wrap(
            " ".join(clean(text).split()),
            max(width, len(indent) + _NARROWEST),
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
    )


def sureness(confidence: Confidence, form: str = "") -> str:
    """How sure a link is, in the words of people; with a ``form``, nothing of what is certain."""
    word = "inferred" if confidence == "by rule" else confidence
    if not form:
        return word
    return "" if confidence == "exact" else form.format(word)


# ------------------------------------------------------------------------------ source


def version_words(info: SourceInfo) -> str:
    """``PyTorch 2.7.0 (checkout) at 134179474539``."""
    commit = f" at {info.commit[:12]}" if info.commit else ""
    edited = ", with uncommitted edits" if info.dirty else ""
    return f"PyTorch {clean(info.version)} ({info.kind}){commit}{edited}"


def source_lines(info: SourceInfo) -> Iterator[str]:
    """Which source an answer was read from, and what that source lacks."""
    yield f"source: {version_words(info)}"
    for name, folder in info.roots:
        yield clean(f"  with @{name}: {folder}")
    for one in info.missing:
        what, _, command = one.rpartition(": ")
        yield from wrap(f"not here: {what}", "  ")
        yield clean(f"    -> {command}")


def overload_lines(others: Sequence[str]) -> Iterator[str]:
    yield from wrap(f"other overloads: {', '.join(others)}", "")


# ------------------------------------------------------------------ places and look-ups


def entry(title: str, where: object, *more: str) -> Iterator[str]:
    """What something is called, where it stands and what there is to say of it."""
    yield clean(title)
    yield clean(f"    {where}")
    for text in more:
        yield from wrap(text, "    ")


def hit_lines(hits: Iterable[Hit]) -> Iterator[str]:
    for hit in hits:
        leads = f" -> {hit.op}" if hit.op and hit.op != hit.name else ""
        yield from entry(f"{hit.kind} {hit.name}{leads}", hit.location, hit.detail)


def member_lines(members: Iterable[Member]) -> Iterator[str]:
    for member in members:
        bits = f" : {member.bits}" if member.bits is not None else ""
        named = zip(member.accessor_names, member.accessors, strict=False)
        accessors = _listed("accessors: ", [f"{name} (line {at.line})" for name, at in named])
        title = f"{member.type} {member.name}{bits}"
        yield from entry(title, member.location, member.comment, accessors)


def engine_lines(functions: Iterable[EngineFunction]) -> Iterator[str]:
    for function in functions:
        phase = f" [{function.phase}]" if function.phase else ""
        calls = dict.fromkeys(f"{name} (line {line})" for name, line in function.calls)
        title = f"{function.name}{phase}"
        yield from entry(title, function.location, function.comment, _listed("calls ", calls))


def _listed(title: str, names: Iterable[str]) -> str:
    return f"{title}{', '.join(names)}" if names else ""


def device_kernel_lines(answer: DeviceKernelAnswer) -> Iterator[str]:
    yield clean(answer.name)
    for role, one in (("source", answer.source), ("launched by", answer.launcher)):
        if one:
            yield clean(f"  {role} {one.qualified}")
            yield f"      {where_text(one.location)}"
    if answer.library:
        yield clean(f"  library {answer.library}")
    for one in answer.candidates:
        yield clean(f"  candidate {one.qualified}  {where_text(one.location)}")
    yield from wrap(f"{answer.rule} ({sureness(answer.confidence)})" if answer.rule else "", "  ")
    yield from wrap(answer.reason, "  ")


def problem_lines(problems: Iterable[Problem], mark: str = "") -> Iterator[str]:
    for one in problems:
        yield clean(f"  {mark}{one.place}: {one.message}")


def where_text(location: Location) -> str:
    """A place, fit for a terminal."""
    return clean(str(location))
