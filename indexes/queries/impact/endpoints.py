"""Ends of the walk: Python names of operators, which operators are listed, and how the rest is
summarized."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from indexes.linking.python.paths import bindings, entries, place_of, skipping_rule
from indexes.model.files import module_name
from indexes.model.impact import Folded, ReachedApi, ReachedOperator, Step
from indexes.model.vocabulary import Confidence, Location
from indexes.queries.impact.facts import ImpactFacts
from indexes.queries.impact.walk import RANK
from indexes.queries.python_names.finding import Finder
from indexes.store.registrations import StoredPython

_PUBLIC = ("functional", "method", "module", "alias")


def worst(first: Confidence, *others: Confidence) -> Confidence:
    """The weakest of some confidences."""
    return max((first, *others), key=lambda one: RANK[one])


def python_names(
    operators: Sequence[ReachedOperator], steps: Sequence[Step], facts: ImpactFacts, finder: Finder
) -> tuple[ReachedApi, ...]:
    """The Python functions, methods and modules that lead to the operators, or are reached."""
    found: dict[str, ReachedApi] = {}
    python = facts.python
    for api in (*_functions(steps, facts), *_exported(steps, finder)):
        found.setdefault(api.name, api)
    for one in operators:
        for name, location, rule, confidence in _names(one, python, facts):
            sure = worst(one.confidence, confidence)
            before = found.get(name) or ReachedApi(name, location, rule, (), sure)
            if one.name not in before.operators:
                found[name] = replace(before, operators=(*before.operators, one.name))
    return tuple(found.values())


def _names(
    one: ReachedOperator, python: StoredPython, facts: ImpactFacts
) -> Iterator[tuple[str, Location | None, str, Confidence]]:
    native = facts.native(one.name)
    if native is None or ("generated" in native.tags and "view_copy" not in native.tags):
        return
    if skipping_rule(native, python):
        return
    paths = [binding.path for binding in bindings(native)]
    for path in paths:
        yield path, native.location, "the generated binding of its entry", "exact"
    names = list(paths)
    for entry in entries(paths, python):
        names.append(entry.name)
        yield entry.name, place_of(entry.found), f"returns what {entry.through} gives", "by rule"
    for name in names:
        for found in python.by_target(name):
            if found[1].kind == "module":
                yield found[1].symbol, place_of(found), f"forward calls {name}", "by rule"


def _functions(steps: Sequence[Step], facts: ImpactFacts) -> Iterator[ReachedApi]:
    """Public functions that are reached as Python code."""
    python = facts.python
    for step in steps:
        where = step.location
        if step.kind == "python" and where is not None:
            rows = python.about(_PUBLIC, step.symbol, where)
            for symbol in dict.fromkeys(fact.symbol for fact in rows):
                rule = "its Python code is reached"
                yield ReachedApi(symbol, where, rule, (), step.way_confidence)


def _exported(steps: Sequence[Step], finder: Finder) -> Iterator[ReachedApi]:
    """Public functions and classes that change or that call what does: ``torch.optim.SGD``."""
    calling: dict[int | None, str] = {}
    for step in steps:
        where = step.location
        if step.kind == "python" and where is not None and _calls(step, calling.get(step.parent)):
            calling[step.id] = where.path
            module = module_name(where.path)
            outer = step.symbol.removeprefix(f"{module}.").partition(".")[0]
            name = finder.shortened(f"{module}.{outer}")
            is_public = name.startswith("torch.") and "._" not in name
            if is_public and name in finder.public_names(outer):
                rule = "its Python code is reached"
                yield ReachedApi(name, where, rule, (), step.way_confidence)


def _calls(step: Step, parent: str | None) -> bool:
    """Whether a step changes itself, or runs a function of the file ``parent``: one that is named
    in a table of another file may never be called from there."""
    if step.parent is None:
        return True
    same = step.location is not None and step.location.path == parent
    return parent is not None and (same or step.rule.startswith("calls it"))


MAX_CALLERS = 30
"""Most callers listed."""
_ALL = "--all lists them"


def fold(operators: Sequence[ReachedOperator]) -> tuple[list[ReachedOperator], list[Folded]]:
    """The operators to list, and the others counted by reason."""
    listed = [one for one in operators if not one.dispatches]
    names = {_word(one.name) for one in listed}
    folded: dict[str, int] = {}
    callers = 0
    for one in sorted(operators, key=lambda one: not _is_near(one, names)):
        if not one.dispatches:
            continue
        why = _reason(one, _is_near(one, names), callers)
        if why:
            folded[why] = folded.get(why, 0) + 1
        else:
            callers += 1
            listed.append(one)
    return listed, [Folded(why, count, _ALL) for why, count in folded.items()]


def _reason(one: ReachedOperator, near: bool, callers: int) -> str:
    if callers >= MAX_CALLERS:
        return "operators that call those"
    if one.composite and not near:
        return "composite operators, which reach those only with tensors of these dispatch keys"
    if one.confidence == "ambiguous":
        return "operators that reach those only if an ambiguous name refers to them"
    return ""


def elsewhere(other: Mapping[str, Iterable[str]], reached: Iterable[str]) -> list[Folded]:
    """Operators that call what is reached only in kernels for other dispatch keys."""
    left = set(other) - set(reached)
    if not left:
        return []
    keys = {key for op in left for key in other[op]}
    named = ", ".join(sorted(keys)[:3]) + (" ..." if len(keys) > 3 else "")
    why = f"operators that call those in kernels for other dispatch keys ({named})"
    return [Folded(why, len(left), "torchnav impact OPERATOR lists its callers with any tensors")]


def _is_near(one: ReachedOperator, names: set[str]) -> bool:
    return _word(one.name) in names


def _word(name: str) -> str:
    base = name.rpartition("::")[2].partition(".")[0].strip("_")
    for ending in ("_backward_data", "_backward", "_copy", "_out"):
        base = base.removesuffix(ending)
    return base


def without_folded(
    steps: Sequence[Step], operators: Sequence[ReachedOperator], listed: Sequence[ReachedOperator]
) -> tuple[tuple[Step, ...], list[ReachedOperator]]:
    """The steps without those that lead only to folded operators, renumbered."""
    shown = {one.step for one in listed}
    gone = {one.step for one in operators} - shown
    kept: set[int] = set()
    for step in reversed(steps):
        own = step.id not in gone and (not step.dispatches or step.kind in ("python", "test"))
        if own or step.id in shown or step.id in kept:
            kept.add(step.id)
            if step.parent is not None:
                kept.add(step.parent)
    numbers = {old: new for new, old in enumerate(sorted(kept))}
    found = [
        replace(
            step,
            id=numbers[step.id],
            parent=numbers.get(-1 if step.parent is None else step.parent),
        )
        for step in steps
        if step.id in kept
    ]
    return tuple(found), [replace(one, step=numbers[one.step]) for one in listed]
