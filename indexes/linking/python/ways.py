"""Python's ways in: the names under which people call an operator, the best known first.

A binding is generated for each variant of a YAML entry; Python functions pass calls on to it, or
stand under its own name and call it (``torch.einsum`` in torch/functional.py, ``Tensor.norm`` in
torch/_tensor.py); modules of torch.nn call those functions in ``forward``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from indexes.linking.facts import Link
from indexes.linking.python.paths import (
    Binding,
    Entry,
    Found,
    PythonIndex,
    bindings,
    entries,
    place_of,
    skipping_rule,
)
from indexes.model.regex import regex
from indexes.model.vocabulary import Confidence, Location, NativeFunction, Role
from indexes.readers.python.facts import PythonFact, unpack

_RANKS = (
    regex(r"torch(?:\.[a-z]\w*)*\.[a-z]\w*$"),
    regex(r"torch\.nn\.functional\.[a-z]\w*$"),
    regex(r"torch\.Tensor\.[a-z]\w*$"),
    regex(r"torch\.nn\.[A-Z]\w*$"),
)
"""What a name is, public functions first; torch.nn.functional's come after the others."""
_BASE = {"torch": "torch._VF", "torch.Tensor": "torch._C.TensorBase"}
"""Where a binding is still found when Python defines a function of its name."""


def python_ways(op: NativeFunction, facts: PythonIndex) -> tuple[Link, ...]:
    """The Python names that lead to an operator: functions of torch and its modules, those of
    torch.nn.functional, methods, modules of torch.nn, then private names."""
    made = bindings(op)
    found = list(entries([one.path for one in made], facts))
    names = [*(one.path for one in made), *(entry.name for entry in found)]
    shadows = {one.path: list(_shadows(one, facts)) for one in made}
    links = [
        *(link for one in shadows.values() for link in one),
        *_bindings(op, made, [path for path, one in shadows.items() if one], facts),
        *(_entry(entry) for entry in found),
        *_modules(names, facts),
    ]
    return tuple(sorted(dict.fromkeys(links), key=lambda link: _order(link, op)))


def names_of(op: NativeFunction, facts: PythonIndex) -> tuple[str, ...]:
    """The bindings of an operator, and the names that pass calls on to them."""
    paths = [binding.path for binding in bindings(op)]
    return (*paths, *(entry.name for entry in entries(paths, facts)))


def python_link(
    role: Role,
    found: Found,
    rule: str,
    sure: Confidence = "exact",
    symbol: str = "",
    note: str = "",
) -> Link:
    """A link to a row of a Python file."""
    path, fact = found
    where = place_of(found)
    return Link(role, symbol or fact.symbol, where, rule, sure, note, _evidence(path, fact))


def _evidence(path: str, fact: PythonFact) -> tuple[Location, ...]:
    detail = unpack(fact.detail)
    lines = [detail[key] for key in ("at", "call", "forward") if key in detail]
    return tuple(Location(path, int(line), int(line)) for line in lines if line.isdigit())


def _order(link: Link, op: NativeFunction) -> tuple[int, bool]:
    """By the kind of name, then those that bear the operator's own name."""
    name = link.symbol
    rank = next((at for at, kind in enumerate(_RANKS) if kind.match(name)), len(_RANKS))
    if name.startswith("torch.nn.functional."):
        rank = 1
    own = op.name.strip("_").replace("_", "").lower()
    return rank, name.rpartition(".")[2].replace("_", "").lower() != own


# ------------------------------------------------------------------------- bindings


def _shadows(binding: Binding, facts: PythonIndex) -> Iterator[Link]:
    """The Python function under the public name of a binding, which calls it or stands for it."""
    rows = [row for row in facts.by_target(binding.path) if row[1].symbol == binding.path]
    rows = [row for row in rows if row[1].kind in ("functional", "method", "alias")]
    called = [row for row in rows if "binding" in unpack(row[1].detail)]
    for path, fact in (called or rows)[:1]:
        does = "and calls the binding" if called else "in the place of the binding"
        rule = f"{path} defines {binding.path} {does}"
        yield python_link("python", (path, fact), rule, "exact" if called else "by rule")


def _bindings(
    op: NativeFunction, made: Sequence[Binding], shadowed: Sequence[str], facts: PythonIndex
) -> Iterator[Link]:
    """The generated binding: which template and generator make it."""
    skipped = skipping_rule(op, facts)
    if "generated" in op.tags and "view_copy" not in op.tags:
        return
    for binding in made:
        name = _beneath(binding.path) if binding.path in shadowed else binding.path
        if skipped:
            rule = f"no binding is generated: the generator skips {skipped[1].symbol!r}"
            yield Link("python", name, place_of(skipped), rule, "by rule")
            continue
        generators = [row for row in facts.by_target(binding.chosen_by) if row[1].kind == "binding"]
        for generator in generators:
            yield _generated(op, name, generator)
        if not generators:
            rule = f"{binding.chosen_by} makes the binding; its generator is not in this tree"
            yield Link("python", name, op.location, rule, "by rule")


def _beneath(path: str) -> str:
    """The name of a binding whose public name a Python function has taken."""
    owner, _, name = path.rpartition(".")
    return f"{_BASE.get(owner, owner)}.{name}"


def _generated(op: NativeFunction, path: str, generator: Found) -> Link:
    source, fact = generator
    template = Location(f"{source.rpartition('/')[0]}/templates/{fact.symbol}", 0)
    rule = f"binding THPVariable_{op.name} in {fact.symbol}, generated from this template"
    evidence = (place_of(generator), op.location)
    return Link("python", path, template, rule, "by rule", evidence=evidence)


# -------------------------------------------------------------- functions and modules


def _entry(entry: Entry) -> Link:
    _, fact = entry.found
    if fact.kind == "alias":
        rule = f"{entry.name} is assigned from {entry.through}"
        return python_link("python", entry.found, rule, symbol=entry.name)
    rule = f"returns what {entry.through} gives"
    if not entry.through.startswith("torch.Tensor."):
        return python_link("python", entry.found, rule, symbol=entry.name)
    link = python_link("python", entry.found, rule, "by rule", symbol=entry.name)
    return replace(link, note="a method of an argument, taken for a tensor")


def _modules(names: Sequence[str], facts: PythonIndex) -> Iterator[Link]:
    for name in names:
        for path, fact in facts.by_target(name):
            detail = unpack(fact.detail)
            if fact.kind == "module" and ("returned" in detail or "binding" in detail):
                yield python_link("python", (path, fact), f"forward calls {name}")
