"""Checks of derivative entries: their lines, Node names, and the functions in formulas."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from indexes.linking.formulas import formula_functions
from indexes.model.regex import regex
from indexes.model.vocabulary import DerivativeEntry
from indexes.queries.index import Index
from indexes.readers.yaml.formulas import formula_calls

_ENTRY = regex(r"^- name:\s*(.+?)\s*$")
_CALLED = regex(r"(\w+)\s*\(")
_NODE = regex(r"\w+Backward\d+(?:_copy)?$")


def misplaced_formulas(entries: Iterable[DerivativeEntry], index: Index) -> tuple[int, list[str]]:
    """How many entries and formulas there are, and those whose line says otherwise, or that
    a count of the file's lines finds and the index does not."""
    path = index.source.locate("derivatives.yaml")
    if path is None:
        return 0, []
    lines = index.read(path).split("\n")
    total = 0
    wrong = []
    seen = set()
    for entry in entries:
        total += 1
        seen.add(entry.location.line)
        named = _ENTRY.match(lines[entry.location.line - 1])
        if named is None or named[1].partition("(")[0] != entry.op:
            wrong.append(f"{entry.location}: the entry of {entry.op} is not on this line")
        for one in entry.sets:
            for formula in one.formulas:
                total += 1
                text = lines[formula.location.line - 1]
                if not any(name in text for name in formula.inputs):
                    where = f"{formula.location}: {', '.join(formula.inputs)}"
                    wrong.append(f"{where} of {entry.op} is not on this line")
    for number, line in enumerate(lines, 1):
        if (named := _ENTRY.match(line)) and number not in seen:
            wrong.append(f"{path}:{number}: the entry of {named[1].partition('(')[0]} is not read")
    return total, wrong


def nodes_of(index: Index, live: frozenset[str]) -> tuple[list[str], list[str]]:
    """Names of ours that the running torch does not know, and of its generated classes that
    no overload of ours records."""
    rows = index.facts.store.query("SELECT DISTINCT grad_fn,op FROM nodes")
    ours = {row[0] for row in rows}
    # torchgen makes no Python classes for the Nodes of foreach operators.
    unknown = sorted({row[0] for row in rows if not row[1].startswith("_foreach_")} - live)
    unexplained = sorted(name for name in live - ours if _NODE.match(name))
    return unknown, unexplained


@dataclass(slots=True)
class Functions:
    """What the names called in formulas were linked to, in counts of (formula, name)."""

    defined: int = 0
    operators: int = 0
    other: int = 0
    """The standard library, and constructors of classes."""
    absent: list[str] = field(default_factory=list)
    """Nothing of the name is declared in the tree, nor an operator of its YAML."""
    unresolved: list[str] = field(default_factory=list)


def _declared(index: Index) -> frozenset[str]:
    """Names that FunctionsManual.h calls functions, defined or not."""
    path = index.source.locate("torch/csrc/autograd/FunctionsManual.h")
    return frozenset(_CALLED.findall(index.read(path))) if path else frozenset()


def functions_of(index: Index, entries: Iterable[DerivativeEntry]) -> Functions:
    """Links the functions of every formula."""
    found = Functions()
    declared = _declared(index)
    for entry in entries:
        linked = formula_functions(entry, index.facts)
        called = {
            (name, formula.location.line)
            for one_set in entry.sets
            for formula in one_set.formulas
            for name in formula_calls(formula.text)
        }
        found.other += len(called - {(one.name, one.formula.location.line) for one in linked})
        for one in linked:
            if one.definition:
                found.defined += 1
            elif one.operator:
                found.operators += 1
            else:
                simple = one.name.rpartition("::")[2]
                known = simple in declared or any(
                    k.definition.kind == "function" for k in index.facts.named(simple)
                )
                why = "there is one of this name" if known else "not in this tree"
                line = f"{one.formula.location}: {one.name} in {entry.op}: {why}"
                (found.unresolved if known else found.absent).append(line)
    return found
