"""Dispatch paths as plain text, side by side: a column for each switch, a row for each key."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from string import ascii_lowercase

from indexes.model.dispatch import KeyCause, PathStep, SwitchPath, SwitchPaths
from indexes.queries.dispatch_path.live import LiveSwitch
from navigator.text.answers import wrap
from navigator.text.clean import clean

_SIGNS = {"excluded": "x", "falls through": "-", "raises": "!"}
_LEGEND = "1 2 3: kernels in order; - falls through; x excluded; ! raises; . not in the set"


def path_lines(answer: SwitchPaths, live: Sequence[LiveSwitch] | None = None) -> Iterator[str]:
    """The paths of an operator, the effect of each switch, and why each key takes part."""
    name = answer.op if "::" in answer.op else f"aten::{answer.op}"
    yield clean(f"{name} on {answer.backend}: the keys that a call passes")
    yield ""
    columns = dict(zip(ascii_lowercase, answer.paths, strict=False))
    for letter, path in columns.items():
        yield clean(f"  {letter} {path.switch:<17}{path.meaning}")
    yield ""
    yield from _matrix(answer, columns)
    yield ""
    yield "what each switch changes"
    for path in answer.paths:
        yield from _switch_lines(path)
    yield ""
    yield "the keys, and why"
    for step in _different(answer.paths):
        yield from _step_lines(step)
    if live is not None:
        yield ""
        yield from _live_lines(live)


def _matrix(answer: SwitchPaths, columns: dict[str, SwitchPath]) -> Iterator[str]:
    keys = [key for key in answer.order if any(_cell(p, key) != "." for p in answer.paths)]
    width = max((len(key) for key in keys), default=0)
    yield f"  {'':<{width}}  {' '.join(columns)}"
    for key in keys:
        yield clean(f"  {key:<{width}}  {' '.join(_cell(p, key) for p in answer.paths)}")
    yield from wrap(_LEGEND, "  ")


def _cell(path: SwitchPath, key: str) -> str:
    """What happens at a key: the number of its kernel if that runs, or a sign."""
    if path.unknown:
        return "?"
    if key in path.kernels:
        return str(path.kernels.index(key) + 1)
    signs = [_SIGNS[step.action] for step in path.steps if step.key == key]
    return signs[-1] if signs else "."


def _switch_lines(path: SwitchPath) -> Iterator[str]:
    yield clean(f"  {path.switch}")
    if path.unknown:
        yield from wrap(f"unknown from this tree: {path.unknown}", "    ")
        return
    for change, causes in groupby(path.changes, _change):
        yield from wrap(f"{' '.join(cause.key for cause in causes)}: {change}", "    ")
    if path.note:
        where = f" ({path.note_location})" if path.note_location else ""
        yield from wrap(f"{path.note}{where}", "    ")
    yield from wrap(f"-> {' > '.join(path.kernels) or 'nothing'}: {path.end}", "    ")


def _change(cause: KeyCause) -> str:
    sets = {"tensor": "the tensor's set", "included": "the thread's included set"}
    where = sets.get(cause.change.removeprefix("not "), "the thread's excluded set")
    way = "out of" if cause.change.startswith("not ") else "in"
    at = f" ({cause.location})" if cause.location else ""
    return f"{way} {where}, {cause.words}{at}"


def _different(paths: Sequence[SwitchPath]) -> list[PathStep]:
    """The distinct steps of all paths."""
    found: dict[tuple[object, ...], PathStep] = {}
    for path in paths:
        for step in path.steps:
            found.setdefault((step.key, step.action, step.then), step)
    return list(found.values())


def _step_lines(step: PathStep) -> Iterator[str]:
    yield clean(f"  {step.key} {step.action}")
    if step.cause:
        yield from wrap(_change(step.cause), "    ")
    if step.slot and step.slot.kernel and not step.slot.fallthrough:
        where = step.slot.definition or step.slot.registration
        yield from wrap(f"{step.slot.kernel} [{step.slot.kind}]{_at(where)}", "    ")
    if step.then:
        yield from wrap(f"-> {step.then}{_at(step.then_location)}", "    ")


def _at(where: object) -> str:
    return f" ({where})" if where else ""


def _live_lines(live: Sequence[LiveSwitch]) -> Iterator[str]:
    """Torch's answer; for all switches but the first, only the changes of the key sets."""
    yield "the installed torch: its sets, and its keys that are no fallthrough"
    for one in live:
        verdict = {True: "agrees", False: "differs", None: "not compared"}[one.agrees]
        yield from wrap(f"{one.switch}: {verdict}{f': {one.why}' if one.why else ''}", "  ")
        if one.tensor:
            before = None if one is live[0] else live[0]
            yield from wrap("; ".join(_set_words(one, before)), "    ")
            yield from wrap(f"in order: {' '.join(one.kernels)}", "    ")


def _set_words(live_switch: LiveSwitch, before: LiveSwitch | None) -> Iterator[str]:
    for name in ("tensor", "included", "excluded"):
        now = getattr(live_switch, name)
        then = getattr(before, name) if before else ()
        signs = [f"+{key}" for key in now if key not in then]
        gone = [f"-{key}" for key in then if key not in now]
        words = " ".join([*signs, *gone] if before else now)
        if words or not before:
            yield f"{name} {words or 'nothing'}"
    if before and live_switch.tensor == before.tensor and live_switch.included == before.included:
        yield from () if live_switch.excluded != before.excluded else ("sets as for plain",)
