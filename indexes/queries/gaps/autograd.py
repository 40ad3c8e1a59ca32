"""Derivatives missing in derivatives.yaml: forward mode, and formulas with not_implemented."""

from __future__ import annotations

import re
from collections.abc import Iterator

from indexes.model.regex import regex
from indexes.model.vocabulary import DerivativeEntry, Formula, FormulaSet
from indexes.queries.gaps.model import Gap, Kind
from indexes.queries.gaps.statements import Statement, expected_failures
from indexes.queries.gaps.tree import Tree

_NOT_IMPLEMENTED = regex(r"^[\"']?\s*not_implemented\(\s*\"([^\"]*)\"")
_TESTS = tuple(f"functorch/test/test_{name}.py" for name in ("ops", "vmap", "eager_transforms"))
"""functorch's tests while it had a folder of its own."""
_FORWARD = regex(r"NYI:?\s*forward[- ]AD\s*(?:for|with|of)?\s*(?:aten::)?(\w+)", re.IGNORECASE)


def lacks(tree: Tree) -> str:
    return (
        "" if tree.source.locate("derivatives.yaml") else "derivatives.yaml is not in this source"
    )


def find_forward(tree: Tree) -> Iterator[Gap]:
    """Entries with reverse-mode but no forward-mode formulas."""
    stated = _stated(tree)
    seen: set[str] = set()
    for entry in tree.index.derivative_rows():
        op = entry.op
        formulas = next((one for one in entry.sets if one.key == "Default"), None)
        if formulas is None or op not in tree.natives or not _is_differentiated(formulas):
            continue
        if any(f.kind == "forward" for f in formulas.formulas):
            continue
        name = tree.natives[op].name
        notes = stated.get(name, [])
        if name not in seen and (notes or _is_wanted(tree, op)):
            seen.add(name)
            yield _forward_gap(op, entry, notes)


def _is_differentiated(formulas: FormulaSet) -> bool:
    """Whether its formulas compute gradients and none is not_implemented."""
    gradients = [f for f in formulas.formulas if f.kind == "gradient"]
    return bool(gradients) and not any(_NOT_IMPLEMENTED.match(f.text) for f in gradients)


def _is_wanted(tree: Tree, op: str) -> bool:
    """Whether it is public, for ordinary tensors, and tested by OpInfo, hence in forward mode
    too."""
    if op not in tree.public_set or not tree.opinfos(op) or tree.is_composite(op):
        return False
    return tree.is_dense(op) or "CompositeExplicitAutograd" in tree.keys(op)


def _stated(tree: Tree) -> dict[str, list[Statement]]:
    """functorch's test notes "NYI: forward AD for ...", by operator name."""
    found: dict[str, list[Statement]] = {}
    for path in (*tree.paths("test/functorch/test_%.py"), *_TESTS):
        for one in expected_failures(tree.text(path), path):
            if match := _FORWARD.search(one.comment):
                found.setdefault(match[1], []).append(one)
    return found


def _forward_gap(op: str, entry: DerivativeEntry, notes: list[Statement]) -> Gap:
    what = f"no forward-mode derivative for {op}"
    rule = "derivatives.yaml has a gradient for it and no forward-mode formula (result: ...)"
    if notes:
        rule += f'; {notes[0].group} expects it to fail: "{notes[0].comment}"'
    lines = (entry.location, *(note.location for note in notes))
    return Gap(entry.location, what, rule, lines, op, keys=("Autograd",), stated=bool(notes))


def find_unimplemented(tree: Tree) -> Iterator[Gap]:
    """Formulas of public operators that say not_implemented("..."). What a composite operator calls
    is differentiated in its place, but where a key has a kernel of its own."""
    seen: set[str] = set()
    for entry in tree.index.derivative_rows():
        if entry.op not in tree.public_set:
            continue
        for one in entry.sets:
            formulas = [f for f in one.formulas if _NOT_IMPLEMENTED.match(f.text)]
            if one.key == "Default" and tree.is_composite(entry.op):
                continue
            if formulas and tree.natives[entry.op].name not in seen:
                seen.add(tree.natives[entry.op].name)
                yield _formula_gap(tree, entry.op, one.key, formulas)


def _formula_gap(tree: Tree, op: str, key: str, formulas: list[Formula]) -> Gap:
    key = "Autograd" if key == "Default" else key
    inputs = ", ".join(name for f in formulas for name in f.inputs)
    what = f"no derivative of {op} for {inputs}" + (f" ({key})" if key != "Autograd" else "")
    rule = f"derivatives.yaml says {formulas[0].text.strip(chr(39))}: it raises when it is needed"
    lines = [f.location for f in formulas]
    lines.append(tree.natives[op].location)
    return Gap(lines[0], what, rule, tuple(lines), op, keys=(key,), stated=True)


KINDS = (
    Kind(
        "forward-mode", "medium", "derivatives without a forward-mode formula", find_forward, lacks
    ),
    Kind(
        "derivative", "medium", "derivatives said to be not implemented", find_unimplemented, lacks
    ),
)
