"""Answers as plain text, the same in a terminal and a pipe, 80 columns if possible.

Text from source files and traces passes ``clean`` first.
"""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from indexes.model.answers import (
    Card,
    CardLine,
    DeviceKernelAnswer,
    EngineFunction,
    Hit,
    Member,
    Route,
    Way,
)
from indexes.model.files import in_extension
from indexes.model.vocabulary import Confidence, Location, Problem, SourceInfo
from navigator.text.clean import clean

WIDTH = 80
_NARROWEST = 40


def wrap(text: str, indent: str, width: int = WIDTH) -> Iterator[str]:
    """``text`` in lines of at most ``width`` columns; longer words stay whole."""
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
    """A confidence in words; with a ``form``, empty for what is certain."""
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
    """The source of an answer, and what that source lacks."""
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
    """A name, its place and a note."""
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


def engine_lines(
    functions: Iterable[tuple[EngineFunction, Iterable[tuple[str, int]]]],
) -> Iterator[str]:
    """The functions of the engine, with their calls into the rest of autograd."""
    for function, outside in functions:
        calls = dict.fromkeys(f"{name} (line {line})" for name, line in function.calls)
        others = dict.fromkeys(f"{name} (line {line})" for name, line in outside)
        title = f"{function.name} [{', '.join(function.phases)}]"
        listed = [one for one in (_listed("calls ", calls), _listed("and ", others)) if one]
        yield from entry(title, function.location, function.comment, "; ".join(listed))


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
    for problem in problems:
        yield clean(f"  {mark}{problem.place}: {problem.message}")


def where_text(location: Location) -> str:
    """A place as printable text."""
    return clean(str(location))


# ------------------------------------------------------------------ cards and routes

_LABEL = 10
"""The width of labels."""
_ROOM = WIDTH - _LABEL
_TWO_LINES = ("CPU", "CUDA", "MPS")


class CardRow(NamedTuple):
    """A row of a card: its line, None for the schema, and its parts, side by side."""

    line: CardLine | None
    text: str
    place: str = ""
    note: str = ""

    def __str__(self) -> str:
        return "  ".join(filter(None, self[1:]))


_MOST_LINES = 16


def card_lines(card: Card) -> Iterator[str]:
    """A card in at most 80 columns and 16 lines. Long routes lose steps after the first one, long
    paths their first folders; the computing function and its line are always shown."""
    schema = [*map(str, schema_rows(card, WIDTH))]
    yield from schema
    spare = _MOST_LINES - len(schema) - len(card.lines)
    for line in card.lines:
        label = f" {line.label} ".ljust(_LABEL)
        first, *more = card_line_rows(line, WIDTH - len(label), 2 if spare > 0 else 1)
        spare -= len(more)
        yield clean(f"{label}{first}")
        yield from (clean(f"{'':{_LABEL}}{one}") for one in more)


def schema_rows(card: Card, width: int) -> Iterator[CardRow]:
    """The schema in two rows of at most ``width`` columns, with the kind of operator."""
    first, *more = wrap(card.schema, "", width)
    room = width - len(card.kind) - 2
    last = " ".join(more)
    if more or len(first) > room:
        yield CardRow(None, first)
    else:
        last = first
    if len(last) > room:
        last = f"{last[: room - 4].rstrip()} ..."
    yield CardRow(None, f"{last:<{room}}", "", card.kind)


def card_line_rows(line: CardLine, room: int, most: int = 2) -> Iterator[CardRow]:
    """A card line without its label, in at most ``room`` columns and ``most`` rows."""
    place = str(line.location or "")
    whole = CardRow(line, line.text, place, line.note)
    if len(str(whole)) <= room:
        yield whole
    elif most > 1 and line.label in _TWO_LINES:
        yield CardRow(line, shortened_way(line.text, room))
        yield _place_and_note(line, place, room)
    elif most > 1 and line.label == "grad" and line.note:
        yield _one_line(replace(line, note=""), place, room)._replace(line=line)
        yield CardRow(line, "", "", _fitting(line.note.split(" · "), room))
    else:
        yield _one_line(line, place, room)


def _place_and_note(line: CardLine, place: str, room: int) -> CardRow:
    parts = line.note.split(" · ") if line.note else []
    while parts and len(place) + 2 + len(" · ".join(parts)) > room:
        name = place.rpartition("/")[2]
        if len(name) + 6 + len(" · ".join(parts)) <= room:
            place = shortened_path(place, room - 2 - len(" · ".join(parts)))
        else:
            parts = _with_one_less(parts)
    return CardRow(line, "", shortened_path(place, room), " · ".join(parts))


def _with_one_less(parts: Sequence[str]) -> list[str]:
    """The parts of a note with the last one counted instead of shown."""
    *kept, last = parts
    count, _, is_count = last.partition(" ")
    if is_count != "more":
        return [*kept, "1 more"]
    return [*kept[:-1], f"{int(count) + 1} more"] if kept else []


def _fitting(parts: Sequence[str], room: int) -> str:
    """The first parts of a note that fit, at least one, and the number of the others."""
    for shown in range(len(parts), 0, -1):
        left = len(parts) - shown
        text = " · ".join([*parts[:shown], *([f"{left} more"] if left else [])])
        if len(text) <= room:
            return text
    more = f" · {len(parts) - 1} more" if len(parts) > 1 else ""
    return f"{parts[0][: room - len(more) - 4].rstrip()} ...{more}"


_OTHER_WAYS = 9
_IN_ONE_FILE = 4
"""Most other ways that end in one file and have lines of their own."""


def route_lines(routes: Sequence[Route], room: int) -> Iterator[str]:
    """Routes below a card in at most ``room`` lines: other routes on one line each, then the usual
    ones step by step. Omitted ones are counted."""
    devices = [group for group in _by_device(routes) if group[0].device in _TWO_LINES]
    others = [list(_other_routes(group)) for group in devices]
    most = min(_OTHER_WAYS, room - 2)
    shown = [line for group in _evenly(others, most) for line in group]
    yield from shown
    trees = [list(_route_tree(group[:1])) for group in devices]
    room -= len(shown)
    for number, tree in enumerate(trees):
        fitting = room // (len(trees) - number)
        if fitting > 2:
            yield from _without_middle(tree, fitting)
            room -= min(len(tree), fitting)


def _evenly(groups: Sequence[Sequence[str]], most: int) -> Iterator[Sequence[str]]:
    """The first items of each group, as evenly as possible."""
    for number, group in enumerate(groups):
        share = max(1, most // (len(groups) - number))
        yield group[:share]
        most -= min(share, len(group))


def _other_routes(routes: Sequence[Route]) -> Iterator[str]:
    """One line for each function that computes on other than usual routes; of many that stand in
    one file, the first and the number of the others."""
    ends = {one.steps[-1]: one for one in reversed(routes)}
    ends.pop(routes[0].steps[-1])
    files: dict[str, list[Route]] = defaultdict(list)
    for route in reversed(ends.values()):
        files[route.location.path].append(route)
    for group in files.values():
        if len(group) > _IN_ONE_FILE:
            yield _other_route(group[0], f"{len(group) - 1} more in this file")
        else:
            yield from map(_other_route, group)


def _other_route(route: Route, note: str = "") -> str:
    note = note or next((one for one in reversed(route.conditions) if len(one) < 30), "")
    word = "with" if route.beside else "else"
    line = CardLine(route.device, " > ".join((word, *(route.steps[1:] or route.steps))), note=note)
    row = _one_line(line, str(route.location), _ROOM)
    return clean(f" {route.device:<{_LABEL - 1}}{row}")


def _without_middle(tree: Sequence[str], room: int) -> Iterator[str]:
    """Replaces lines in the middle by their number."""
    if len(tree) <= room:
        yield from tree
        return
    head = (room - 1) // 2
    tail = len(tree) - (room - 1 - head)
    yield from (*tree[:head], f"{'':7}... {tail - head} more steps: --chain", *tree[tail:])


def _by_device(routes: Iterable[Route]) -> Iterable[list[Route]]:
    """The routes that compute, by device."""
    devices: dict[str, list[Route]] = defaultdict(list)
    for route in routes:
        if route.kind != "none":
            devices[route.device].append(route)
    return devices.values()


def _route_tree(routes: Sequence[Route]) -> Iterator[str]:
    """The steps of routes, one a line."""
    for route in routes:
        steps = [*route.via[1:], Way(route.symbol, route.location)]
        for depth, one in enumerate(steps):
            yield clean(_route_line(route, one, depth, depth == len(steps) - 1))


def _route_line(route: Route, one: Way, depth: int, is_end: bool) -> str:
    head = f"{route.device:<5}" if not depth else f"{'':5}"
    note = ", ".join(filter(None, (route.kind, route.note))) if is_end else ""
    symbol = one.symbol.removeprefix("at::").removeprefix("native::")
    text = f"{head}{'  ' * min(depth, 10)}{symbol.replace('(anonymous)::', '')}"
    return _step_line(text, str(one.location), note)


def _step_line(text: str, place: str, note: str) -> str:
    """A step with its place and note on a line. The path is shortened first, then the note, and the
    function's name last: a line number stays whole."""
    name = _file_name(place)
    room = WIDTH - len(name) - 2
    notes = [f"  {one}" for one in (note, note.partition(", ")[0]) if one]
    end = next((one for one in notes if len(text) + len(one) <= room), "")
    text = text if len(text) <= room else f"{text[: room - 4]} ..."
    return f"{text}  {shortened_path(place, WIDTH - len(text) - len(end) - 2)}{end}"


def _one_line(line: CardLine, place: str, room: int) -> CardRow:
    """A card line on one line. The path is shortened first, then the note, then the steps of the
    route, and the file before the name of the last function. File names stay whole."""
    name = _file_name(place)
    for note in (line.note, ""):
        note_width = len(note) + 2 if note else 0
        if (left := room - len(line.text) - note_width - 2) >= len(name) + 4:
            return CardRow(line, line.text, shortened_path(place, left), note)
    left = room - len(name) - 2
    text = shortened_way(line.text, left)
    if len(text) > left or (text.endswith("...") and len(name) > room // 2):
        return CardRow(line, shortened_way(line.text, room)[:room])
    return CardRow(line, text, name)


def _file_name(place: str) -> str:
    """A place without its folders, except for an extension's name."""
    root = f"{place.partition('/')[0]}/.../" if in_extension(place) else ""
    return root + place.rpartition("/")[2]


def shortened_way(way: str, room: int) -> str:
    """A route without middle steps, or a text without its end, to fit."""
    *before, last = way.split(" > ")
    if not before:
        return way if len(way) <= room else f"{way[: room - 4].rstrip()} ..."
    shown = way
    for left in range(1, len(before) + 1):
        if len(shown) <= room:
            break
        start = min(1, len(before) - left)  # the last steps are the most useful
        shown = " > ".join([*before[:start], "...", *before[start + left :], last])
    return shown if len(shown) <= room else last


def shortened_path(place: str, room: int) -> str:
    """A place without its first folders, except for an extension's name, to fit."""
    root, rest = "", place
    if in_extension(place):
        root, _, rest = place.partition("/")
        root += "/"
    while len(place) > room and "/" in rest:
        rest = rest.partition("/")[2]
        place = f"{root}.../{rest}"
    return place if len(place) <= room else rest
